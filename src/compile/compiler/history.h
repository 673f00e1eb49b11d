// What a compile did, in order: every expression with its value, who made each variable, and who
// gave each parameter. For those who are to explain a node's catalog; other compiles keep none.
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
    /// The number of an event. What contains others has a smaller one.
    using Id = std::uint32_t;
    static constexpr Id kStart = 0;  ///< the compile itself

    /// Where a variable's value is from.
    enum class From : std::uint8_t {
        Unset,
        Assignment,  ///< `source`
        Argument,    ///< of the call `source`
        Parameter,   ///< of the class or define `resource`, title and name among them
        Top,         ///< facts, what is trusted, the classifier's parameters
        Setting
    };

    /// One expression that was evaluated; the body of a class, define or node; or a variable that
    /// other code asked for.
    struct Event {
        const syntax::Node* node = nullptr;  ///< null: none of the manifests'
        std::string_view name;               ///< of a variable
        Value value;
        bool failed = false;
        From from = From::Unset;
        Id parent = kStart;
        Id end = 0;     ///< one behind the last one in it
        Id source = 0;  ///< of a variable
        const Scope* scope = nullptr;
        /// It stands in the body of a lambda, a function or a template (scopes are used again).
        bool local = false, in_function = false;
        const Resource* resource = nullptr;  ///< of a body, and of a variable
    };

    /// Who gave a parameter its value.
    struct Origin {
        enum class Kind : std::uint8_t {
            Attribute,  ///< of the declaration; without `site`: by a function
            Data,       ///< a lookup of the class's parameter
            Default,    ///< the definition's own; `event`: its expression
            ResourceDefault,
            Override,
            Collector,    ///< its override
            Relation,     ///< an arrow
            Requirement,  ///< function require
            Container,    ///< a metaparameter of `other`
            Import,       ///< as another node exported it
            Classifier
        };
        Kind kind = Kind::Attribute;
        std::string_view parameter;
        Id event = kStart;                   ///< the statement
        const syntax::Node* site = nullptr;  ///< in the statement
        const Resource* other = nullptr;
        bool appended = false;  ///< to what was there before
    };

    /// Who put a class into the catalog.
    struct Inclusion {
        const Resource* resource = nullptr;
        Id event = kStart;               ///< kStart: the classifier
        const Resource* heir = nullptr;  ///< the class that inherits from it
    };

    /// A collector or a call of realize, and what it made real.
    struct Collection {
        const Collector* collector = nullptr;
        Id event = kStart;
        std::vector<const Resource*> found;
    };

    /// Called when the compile has ended, well or not, while all that it made is there. What it
    /// does is no part of the history.
    explicit History(std::function<void(const History&, Compilation&)> ended)
        : ended_(std::move(ended)) {}

    /// Beyond, no more expressions are kept: a compile may do more than memory holds.
    static constexpr std::size_t kMostEvents = 3'000'000;

    // ---- what happened ----
    bool cut() const { return events_.size() >= kMostEvents; }
    const std::deque<Event>& events() const { return events_; }
    const Event& at(Id id) const { return events_[id]; }
    /// The events right below one.
    std::vector<Id> inside(Id id) const;
    /// Those that set it, the last one's value is the catalog's.
    std::vector<Origin> origins(const Resource& resource, std::string_view parameter) const;
    std::vector<Inclusion> inclusions(const Resource& resource) const;
    /// Who made a virtual or exported one real.
    std::vector<const Collection*> collections(const Resource& resource) const;
    const std::vector<Collection>& all_collections() const { return collections_; }
    /// The statement that declared it; nullopt: it was no statement.
    std::optional<Id> declaration(const Resource& resource) const;
    /// Where its body was evaluated.
    std::optional<Id> body(const Resource& resource) const;
    /// The body in which an event is; null: none.
    const Resource* body_around(Id id) const;

    // ---- what the compile tells ----
    void begin(Compilation& compilation);
    void end();
    void enter(const syntax::Node& node, Scope& scope) override;
    void leave(const Value* v) override;
    void asked(Scope& scope, std::string_view name, const Value* v) override;
    void enter_body(const Resource& resource, const syntax::Node* definition);
    void leave_body();
    void declared(const Resource& resource, std::span<const evaluator::Attribute> attributes,
                  Origin::Kind kind);
    void set(const Resource& resource, std::string_view parameter, Origin::Kind kind,
             const Resource* other = nullptr);
    /// By the definition's own expression, which was evaluated last if it is no literal.
    void set_by_definition(const Resource& resource, const syntax::Parameter& parameter);
    void set_by_default(const Resource& resource, std::string_view parameter, const Scope* scope);
    void default_set(const Scope& scope, std::string_view type,
                     std::span<const evaluator::Attribute> attributes);
    void collecting(const Collector& collector, std::span<const evaluator::Attribute> overrides);
    void collected(const Collector& collector, const Resource& resource);
    /// `over` is a collector's override.
    void overriding(const Collector& collector, const Resource& over);
    void merged(const Resource& target, const Resource& over, const Param& param);
    void included(const Resource& resource, const Resource* heir = nullptr);
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

/// Tells of a body for as long as it is evaluated; without a history it does nothing.
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
