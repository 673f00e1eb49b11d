// SPDX-License-Identifier: Apache-2.0
// The recorded steps of a compile, in order: each expression with its value, the origin of each
// variable, and the origin of each parameter. Only a compile whose catalog will be explained
// records them.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compile/compiler/resource.h"
#include "language/evaluator/host.h"
#include "language/evaluator/watcher.h"

namespace bunraku::compiler {

class Collector;
class Compilation;

class History final : public evaluator::Watcher {
public:
    /// The id of an event. An event has a larger id than the events that contain it.
    using Id = std::uint32_t;
    static constexpr Id kStart = 0;  ///< the compile itself

    /// The origin of a variable's value.
    enum class From : std::uint8_t {
        Unset,
        Assignment,  ///< `source`
        Argument,    ///< by the call `source`
        Parameter,   ///< of the class or define `resource`, including title and name
        Top,         ///< fact, trusted data, or parameter of the classifier
        Setting
    };

    /// One evaluated expression, one body of a class, define or node, or a variable that other code
    /// read.
    struct Event {
        const syntax::Node* node = nullptr;  ///< null if it is not in a manifest
        std::string_view name;               ///< name of a variable
        Value value;
        bool failed = false;
        From from = From::Unset;
        Id parent = kStart;
        Id end = 0;     ///< id after the last event inside this one
        Id source = 0;  ///< event that set the variable
        const Scope* scope = nullptr;
        /// True inside the body of a lambda, function or template, whose scopes are reused.
        bool local = false, in_function = false;
        const Resource* resource = nullptr;  ///< for a body or a variable
    };

    /// The origin of a parameter's value.
    struct Origin {
        enum class Kind : std::uint8_t {
            Attribute,  ///< attribute of the declaration; set by a function if `site` is null
            Data,       ///< lookup of the class parameter
            Default,    ///< default of the definition; `event` is its expression
            ResourceDefault,
            Override,
            Collector,    ///< override of a collector
            Relation,     ///< relationship arrow
            Requirement,  ///< function `require`
            Container,    ///< metaparameter of the container `other`
            Import,       ///< exported by another node
            Classifier
        };
        Kind kind = Kind::Attribute;
        std::string_view parameter;
        Id event = kStart;                   ///< the statement
        const syntax::Node* site = nullptr;  ///< node within the statement
        const Resource* other = nullptr;
        bool appended = false;  ///< True if the value was appended to the previous one.
    };

    /// One reason why a class is in the catalog.
    struct Inclusion {
        const Resource* resource = nullptr;
        Id event = kStart;                   ///< kStart means the classifier
        const Resource* subclass = nullptr;  ///< the class that inherits from it
    };

    /// A collector or a call of `realize`, with the resources that it realized.
    struct Collection {
        const Collector* collector = nullptr;
        Id event = kStart;
        std::vector<const Resource*> found;
    };

    /// `ended` is called when the compile ends, with or without an error, while its data still
    /// exists. The history does not record the actions of `ended`.
    explicit History(std::function<void(const History&, Compilation&)> ended)
        : ended_(std::move(ended)) {}

    /// Maximum number of recorded expressions. The limit bounds the memory of long compiles.
    static constexpr std::size_t kMostEvents = 3'000'000;

    // ---- queries ----
    bool cut() const { return events_.size() >= kMostEvents; }
    const std::deque<Event>& events() const { return events_; }
    const Event& at(Id id) const { return events_[id]; }
    /// Returns the events directly inside one event.
    std::vector<Id> inside(Id id) const;
    /// Returns all origins that set the parameter. The value of the last one is in the catalog.
    std::vector<Origin> origins(const Resource& resource, std::string_view parameter) const;
    std::vector<Inclusion> inclusions(const Resource& resource) const;
    /// Returns the collections that realized a virtual or exported resource.
    std::vector<const Collection*> collections(const Resource& resource) const;
    const std::vector<Collection>& all_collections() const { return collections_; }
    /// Returns the statement that declared the resource, or nullopt if it was not a statement.
    std::optional<Id> declaration(const Resource& resource) const;
    /// Returns the event of the resource's body.
    std::optional<Id> body(const Resource& resource) const;
    /// Returns the resource whose body contains an event, or null.
    const Resource* body_around(Id id) const;

    // ---- recording, called by the compile ----
    void begin(Compilation& compilation);
    void end();
    void enter(const syntax::Node& node, Scope& scope) override;
    void leave(const Value* v) override;
    void variable_read(Scope& scope, std::string_view name, const Value* v) override;
    void enter_body(const Resource& resource, const syntax::Node* definition);
    void leave_body();
    void declared(const Resource& resource, std::span<const evaluator::Attribute> attributes,
                  Origin::Kind kind);
    void set(const Resource& resource, std::string_view parameter, Origin::Kind kind,
             const Resource* other = nullptr);
    /// Records that a parameter got the default of the definition. Unless the default is a literal,
    /// its evaluation is the last event.
    void set_by_definition(const Resource& resource, const syntax::Parameter& parameter);
    void set_by_default(const Resource& resource, std::string_view parameter, const Scope* scope);
    void default_set(const Scope& scope, std::string_view type,
                     std::span<const evaluator::Attribute> attributes);
    void collecting(const Collector& collector, std::span<const evaluator::Attribute> overrides);
    void collected(const Collector& collector, const Resource& resource);
    /// Records that `over` is the override of a collector.
    void overriding(const Collector& collector, const Resource& over);
    void merged(const Resource& target, const Resource& over, const Param& param);
    void included(const Resource& resource, const Resource* subclass = nullptr);
    void related(std::size_t count) { relations_.resize(count, current_); }
    void relation(std::size_t number) { relation_ = number; }

private:
    struct Name {
        const void* owner;
        std::string_view name;
        bool operator==(const Name&) const = default;
    };
    struct NameHash {
        std::size_t operator()(const Name& n) const {
            return std::hash<std::string_view>()(n.name) ^ std::hash<const void*>()(n.owner);
        }
    };
    struct DefaultKey {
        const Scope* scope;
        std::string_view type, parameter;
        bool operator==(const DefaultKey&) const = default;
    };
    Event& add(const syntax::Node* node, const Scope* scope);
    Origin origin(std::string_view parameter, const syntax::Node* site, Origin::Kind kind) const;
    void find_source(Event& event, const Scope& scope, std::string_view name);

    std::function<void(const History&, Compilation&)> ended_;
    Compilation* compilation_ = nullptr;
    std::deque<Event> events_;
    Id current_ = kStart;
    std::unordered_map<Name, Id, NameHash> assigned_;
    struct Opened {
        Id call = kStart, first = kStart;
    };
    std::unordered_map<const Scope*, Opened> opened_;  ///< scopes of lambdas and functions
    std::unordered_map<const Resource*, std::vector<Origin>> origins_;
    std::unordered_map<const Resource*, Id> declarations_, bodies_;
    std::vector<std::pair<DefaultKey, Origin>> defaults_;
    std::vector<Inclusion> inclusions_;
    std::vector<Collection> collections_;
    std::vector<std::pair<const Collector*, std::vector<Origin>>> collector_overrides_;
    std::vector<Id> relations_;
    std::size_t relation_ = 0;
};

/// Records a body while it is evaluated. Does nothing without a history.
class RecordedBody {
public:
    RecordedBody(History* history, const Resource& resource, const syntax::Node* definition)
        : history_(history) {
        if (history_) [[unlikely]]
            history_->enter_body(resource, definition);
    }
    ~RecordedBody() {
        if (history_) [[unlikely]]
            history_->leave_body();
    }
    RecordedBody(const RecordedBody&) = delete;
    RecordedBody& operator=(const RecordedBody&) = delete;

private:
    History* history_;
};

}  // namespace bunraku::compiler
