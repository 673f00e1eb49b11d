// Ruby code within one compile: the child it runs in, and what it may ask the compile.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "language/environment/environment.h"
#include "language/evaluator/interpreter.h"
#include "language/ruby/host.h"
#include "language/template/answers.h"

namespace bunraku::templates {

using evaluator::Interpreter;
using evaluator::Scope;
using value::Value;

/// What Ruby code asks of the catalog beyond evaluator::CatalogHost.
class CatalogQueries {
public:
    virtual ~CatalogQueries() = default;
    /// Names of the evaluated classes, in order (catalog.classes).
    virtual std::vector<std::string> class_names() = 0;
    /// Tags of the catalog, and of the resource a scope belongs to.
    virtual std::vector<std::string> catalog_tags() = 0;
    virtual std::vector<std::string> scope_tags(Scope& scope) = 0;
    /// (type, title) of everything declared so far.
    virtual std::vector<std::pair<std::string, std::string>> declared_resources() = 0;
    /// The parameters of a declared resource, a hash; nullopt: not declared.
    virtual std::optional<Value> resource_parameters(std::string_view type,
                                                     std::string_view title) = 0;
    virtual std::vector<std::string> resource_tags(std::string_view type,
                                                   std::string_view title) = 0;
    /// The type and title of the resource whose body a scope is; empty for top scope.
    virtual std::pair<std::string, std::string> scope_resource(Scope& scope) = 0;
    /// The resource defaults in force in a scope, a hash.
    virtual Value scope_defaults(Scope& scope, std::string_view type) = 0;

    // Classes that Ruby code makes (the three steps that functions such as require_package take).
    /// TypeCollection#add_hostclass: a class without a body. Throws where the name is taken.
    virtual void define_class(std::string_view name) = 0;
    /// Catalog#add_resource of a class: its resource, not evaluated. Throws where it is there.
    virtual void add_class_resource(std::string_view name) = 0;
    /// Resource::Type#evaluate_code. A class that was evaluated is listed once more, as in Puppet,
    /// and the answer is false: Puppet fails then, as the new resource is in no catalog.
    virtual bool evaluate_class(std::string_view name) = 0;
};

/// One per compile; gives its child back when it dies.
class RubySession {
public:
    explicit RubySession(std::shared_ptr<const environment::Environment> environment);
    ~RubySession();

    using Settings = std::function<std::optional<std::string>(std::string_view)>;
    /// The pool of an environment, made with the settings that `in` has; outside of a compile (it
    /// is null) with those given.
    static std::shared_ptr<ruby::Pool> pool_of(const environment::Environment& environment,
                                               Interpreter* in, const Settings& settings = {});

    ruby::Pool& pool(Interpreter& in);
    /// The child, taken on first use.
    ruby::Host& host(Interpreter& in);
    const environment::Environment& environment() const { return *environment_; }
    /// What `make`, which calls Ruby with these callbacks, gives: kept from before where it fits.
    Value answered(Interpreter& in, Scope& scope, const RubyQuestion& question,
                   const std::function<Value(ruby::Callbacks&)>& make);
    /// ruby::Host::memory of the child at work; null: there is none.
    std::shared_ptr<void>* process_memory() const { return lease_ ? &lease_->memory() : nullptr; }
    /// Set by the compile that has the session; null: there is no catalog to ask.
    CatalogQueries* catalog = nullptr;

    /// Numbers for values and lambdas that Ruby holds while the compile lasts.
    std::uint64_t keep(const Value& v);
    Value kept(std::uint64_t handle) const;
    /// The same for a lambda during one call; release it after.
    std::uint64_t keep_block(const evaluator::Callable& block);
    void release_block(std::uint64_t handle);
    /// Variables that Ruby code has set: it may still be changing the value it keeps.
    void note_set(std::string_view name) { set_by_ruby_.emplace_back(name); }
    bool was_set(std::string_view name) const {
        for (const auto& each : set_by_ruby_)
            if (each == name) return true;
        return false;
    }
    const evaluator::Callable* block(std::uint64_t handle) const;

private:
    std::shared_ptr<const environment::Environment> environment_;
    std::shared_ptr<ruby::Pool> pool_;
    std::optional<std::unique_ptr<RubyAnswers>> answers_;  ///< null: none are kept
    ruby::Pool::Lease lease_;
    std::vector<std::string> set_by_ruby_;
    std::vector<Value> kept_;
    std::vector<const evaluator::Callable*> blocks_;
};

/// The program of a command line where its answer is declared to depend on nothing but its
/// arguments (the setting pure_commands); empty: it is not.
std::string pure_program(Interpreter& in, std::string_view command);

/// What Ruby code read is a read of the compile at work.
void note_read(const environment::Environment& environment, const ruby::ReadNote& note);
/// The reads of a description that outlives the compile in which it was made.
void note_reads(const environment::Environment& environment,
                const std::vector<ruby::ReadNote>& notes);

/// The callbacks of one call: variables are those of `scope`.
class RubyCallbacks final : public ruby::Callbacks {
public:
    RubyCallbacks(RubySession& session, Interpreter& in, Scope& scope)
        : session_(session), in_(in), scope_(scope) {}

    Value call_function(std::string_view name, std::span<const Value> args,
                        std::uint64_t block) override;
    Value yield(std::uint64_t block, std::span<const Value> args) override;
    std::optional<Value> variable(std::string_view name) override;
    void set_variable(std::string_view name, const Value& value) override;
    void log(base::Level level, std::string_view message) override;
    Value request(std::string_view what, std::span<const Value> args, base::Arena& arena) override;
    base::Arena* keeper() override { return &in_.arena(); }
    std::uint64_t keep(const Value& v) override { return session_.keep(v); }
    Value kept(std::uint64_t handle) override { return session_.kept(handle); }
    std::uint64_t runtime_id(const Value& v) override;
    Value make(std::string_view tag, const Value& payload, base::Arena& arena) override;

private:
    Value variables(bool global);
    Value scope_info();
    Value undefined_variable(std::string_view name);
    Value catalog_request(std::string_view what, std::span<const Value> args, bool* known);
    Value module_request(std::string_view what, std::span<const Value> args, bool* known);

    RubySession& session_;
    Interpreter& in_;
    Scope& scope_;
};

/// ruby::Host::ask_hiera3 with the compile's child (hiera::Hiera3Backends).
Value ask_hiera3(RubySession& session, Interpreter& in, Scope& scope, const Value& request);

}  // namespace bunraku::templates
