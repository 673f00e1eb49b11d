// SPDX-License-Identifier: Apache-2.0
// The steps of a lookup as a tree, and the text that `lookup --explain` prints.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/assert.h"
#include "core/value/value.h"

namespace bunraku::hiera {

using value::Value;

/// One step of a lookup. This struct covers all node classes of Puppet::Pops::Lookup::Explainer,
/// 8.11.
struct ExplainNode {
    enum class Kind {
        Root,
        Top,  ///< Searching for "KEY"
        InvalidKey,
        MergeSource,  ///< Using merge options from "lookup_options" hash
        Module,
        Interpolate,
        Merge,
        Global,
        DataProvider,
        Path,
        Uri,
        SubLookup,
        Segment,
        Scope,
    };
    enum class Event {
        None,
        Found,
        FoundInOverrides,
        FoundInDefaults,
        NotFound,
        LocationNotFound,
        ModuleNotFound,
        ModuleProviderNotFound,
        Result,
    };
    Kind kind = Kind::Root;
    Event event = Event::None;
    std::string name;  ///< Key, provider, path or strategy, depending on the kind.
    std::string
        /// Path and Uri: the text before interpolation; DataProvider: path of the configuration.
        original;
    std::string key;  ///< Key of the event.
    Value value;
    Value options;  ///< Merge: options without "strategy"; undef if there are none.
    std::vector<std::string> texts;
    ExplainNode* parent = nullptr;
    std::vector<std::unique_ptr<ExplainNode>> branches;
};

/// Records the steps. Values must outlive it.
class Explainer {
public:
    explicit Explainer(bool only_options = false) : only_options_(only_options), current_(&root_) {}
    Explainer(const Explainer&) = delete;

    /// Begins a step; its destructor ends the step.
    class Step {
    public:
        /// Copies the texts only if there is an explainer.
        Step(Explainer* explainer, ExplainNode::Kind kind, std::string_view name,
             std::string_view original = {})
            : explainer_(explainer) {
            if (explainer_) enter(kind, name, original);
        }
        ~Step() {
            if (explainer_) leave();
        }
        Step(const Step&) = delete;
        ExplainNode* node() const {
            BUNRAKU_ASSERT((node_ == nullptr) == (explainer_ == nullptr));
            return node_;
        }

    private:
        void enter(ExplainNode::Kind kind, std::string_view name, std::string_view original);
        void leave();
        Explainer* explainer_;
        ExplainNode* node_ = nullptr;
    };

    void found(std::string_view key, const Value& v,
               ExplainNode::Event event = ExplainNode::Event::Found);
    void not_found(std::string_view key);
    void event(ExplainNode::Event event) { current_->event = event; }
    void result(const Value& v);
    void merge_source(std::string_view source);
    void module(std::string_view name, ExplainNode::Event event);
    void text(std::string text) { current_->texts.push_back(std::move(text)); }

    bool only_options() const { return only_options_; }
    const ExplainNode& root() const { return root_; }
    /// Returns the whole tree in Puppet's layout.
    std::string to_string() const;
    /// Returns the tree as data. Texts that are Symbols in Ruby begin with kSymbol.
    Value to_data(base::Arena& arena) const;
    static constexpr char kSymbol = '\1';

private:
    bool only_options_;
    ExplainNode root_;
    ExplainNode* current_;
};

}  // namespace bunraku::hiera
