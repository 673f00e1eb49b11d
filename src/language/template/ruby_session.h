// SPDX-License-Identifier: Apache-2.0
// Ruby code within one compile: the child that runs it, and its requests to the compile.
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

/// The requests of Ruby code to the catalog beyond evaluator::CatalogHost.
class CatalogQueries {
public:
    virtual ~CatalogQueries() = default;
    /// Returns the names of the evaluated classes, in order (catalog.classes).
    virtual std::vector<std::string> class_names() = 0;
    /// Returns the tags of the catalog, and those of the resource that a scope belongs to.
    virtual std::vector<std::string> catalog_tags() = 0;
    virtual std::vector<std::string> scope_tags(Scope& scope) = 0;
    /// Returns (type, title) of all resources declared so far.
    virtual std::vector<std::pair<std::string, std::string>> declared_resources() = 0;
    /// Returns the parameters of a declared resource as a hash; nullopt if it is not declared.
    virtual std::optional<Value> resource_parameters(std::string_view type,
                                                     std::string_view title) = 0;
    virtual std::vector<std::string> resource_tags(std::string_view type,
                                                   std::string_view title) = 0;
    /// Returns the type and title of the resource whose body the scope is; empty for top scope.
    virtual std::pair<std::string, std::string> scope_resource(Scope& scope) = 0;
    /// Returns the resource defaults that apply in a scope, as a hash.
    virtual Value scope_defaults(Scope& scope, std::string_view type) = 0;

    // Classes that Ruby code creates, in the three steps of functions such as require_package.
    /// TypeCollection#add_hostclass: defines a class without a body. Throws if the name is taken.
    virtual void define_class(std::string_view name) = 0;
    /// Catalog#add_resource of a class: adds its resource without evaluating it. Throws if it
    /// exists.
    virtual void add_class_resource(std::string_view name) = 0;
    /// Resource::Type#evaluate_code. For a class that was already evaluated, it lists the class
    /// once more, as Puppet does, and returns false. Puppet then fails, because the new resource is
    /// in no catalog.
    virtual bool evaluate_class(std::string_view name) = 0;
};

/// The Ruby session of one compile. Its destructor returns the child to the pool.
class RubySession {
public:
    explicit RubySession(std::shared_ptr<const environment::Environment> environment);
    ~RubySession();

    using Settings = std::function<std::optional<std::string>(std::string_view)>;
    /// Returns the pool of an environment. It is created with the settings of `in`. Outside of a
    /// compile `in` is null, and `settings` are used.
    static std::shared_ptr<ruby::Pool> pool_of(const environment::Environment& environment,
                                               Interpreter* in, const Settings& settings = {});

    ruby::Pool& pool(Interpreter& in);
    /// Returns the child, which is taken from the pool at the first call.
    ruby::Host& host(Interpreter& in);
    const environment::Environment& environment() const { return *environment_; }
    /// Returns the result of `make`, which calls Ruby with these callbacks, or that of a valid
    /// memo.
    Value answered(Interpreter& in, Scope& scope, const RubyQuestion& question,
                   const std::function<Value(ruby::Callbacks&)>& make);
    /// Returns ruby::Host::memory of the current child; null if there is none.
    std::shared_ptr<void>* process_memory() const { return lease_ ? &lease_->memory() : nullptr; }
    /// Set by the compile that owns the session; null if there is no catalog.
    CatalogQueries* catalog = nullptr;

    /// Stores a value that Ruby refers to by number during the compile.
    std::uint64_t keep(const Value& v);
    Value kept(std::uint64_t handle) const;
    /// Stores a lambda for one call; release_block removes it.
    std::uint64_t keep_block(const evaluator::Callable& block);
    void release_block(std::uint64_t handle);
    /// Records a variable that Ruby code has set, because Ruby may still change its value.
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
    std::optional<std::unique_ptr<RubyAnswers>> answers_;  ///< Null if memos are off.
    ruby::Pool::Lease lease_;
    std::vector<std::string> set_by_ruby_;
    std::vector<Value> kept_;
    std::vector<const evaluator::Callable*> blocks_;
};

/// Returns the program of a command line if the setting pure_commands lists it; otherwise empty.
/// The output of such a program depends on its arguments only.
std::string pure_program(Interpreter& in, std::string_view command);

/// Records a read of Ruby code as a read of the current compile.
void note_read(const environment::Environment& environment, const ruby::ReadNote& note);
/// Records the reads of a description that outlives the compile in which it was made.
void note_reads(const environment::Environment& environment,
                const std::vector<ruby::ReadNote>& notes);

/// The callbacks of one call; `scope` provides the variables.
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

/// Calls ruby::Host::ask_hiera3 with the compile's child (hiera::Hiera3Backends).
Value ask_hiera3(RubySession& session, Interpreter& in, Scope& scope, const Value& request);

}  // namespace bunraku::templates
