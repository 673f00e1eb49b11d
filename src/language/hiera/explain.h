// What a lookup did, as a tree, and the text `lookup --explain` prints of it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/value/value.h"

namespace bunraku::hiera {

using value::Value;

/// One step of a lookup (the node classes of Puppet::Pops::Lookup::Explainer, 8.11, as one struct).
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
    std::string name;  ///< key, provider, path, strategy, ... by kind
    std::string
        original;  ///< Path and Uri: before interpolation; DataProvider: the configuration's path
    std::string key;  ///< of the event
    Value value;
    Value options;  ///< Merge: without "strategy"; undef: none
    std::vector<std::string> texts;
    ExplainNode* parent = nullptr;
    std::vector<std::unique_ptr<ExplainNode>> branches;
};

/// Records the steps. Values must outlive it.
class Explainer {
public:
    explicit Explainer(bool only_options = false) : only_options_(only_options), current_(&root_) {}
    Explainer(const Explainer&) = delete;

    /// Enters a step; the scope object leaves it.
    class Step {
    public:
        /// Copies the texts only where there is an explainer.
        Step(Explainer* explainer, ExplainNode::Kind kind, std::string_view name,
             std::string_view original = {})
            : explainer_(explainer) {
            if (explainer_) enter(kind, name, original);
        }
        ~Step() {
            if (explainer_) leave();
        }
        Step(const Step&) = delete;
        ExplainNode* node() const { return node_; }

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
    /// The whole tree in Puppet's layout.
    std::string to_string() const;
    /// The tree as data. Texts that Ruby has as Symbols begin with kSymbol.
    Value to_data(base::Arena& arena) const;
    static constexpr char kSymbol = '\1';

private:
    bool only_options_;
    ExplainNode root_;
    ExplainNode* current_;
};

}  // namespace bunraku::hiera
