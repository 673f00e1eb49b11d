// SPDX-License-Identifier: Apache-2.0
#include "compile/compiler/ruby_functions.h"

#include <algorithm>
#include <fmt/format.h>

#include "language/evaluator/closure.h"
#include "language/syntax/parser.h"
#include "language/types/factory.h"
#include "language/types/iterator.h"
#include "language/types/mismatch.h"

namespace bunraku::compiler {

using base::PuppetError;
using evaluator::Callable;
using evaluator::Completion;
using evaluator::Interpreter;
using evaluator::Scope;
using templates::RubySession;
using value::Kind;
using value::Value;

namespace {

/// Looks up a type in the function's local types first, then in the compile.
struct LocalTypes final : types::Loader {
    types::Loader* outer = nullptr;
    std::vector<std::shared_ptr<const syntax::Tree>> trees;
    std::vector<std::pair<std::string_view, const types::Type*>> all;

    const types::Type* find_type(std::string_view name) override {
        for (const auto& [n, t] : all)
            if (n == name) return t;
        return outer ? outer->find_type(name) : nullptr;
    }
};

/// A parsed signature with its types.
struct Parsed {
    const types::CallableType* callable = nullptr;
    const types::Type* returns = nullptr;
    std::vector<std::string_view> names;
    std::string_view block_name;
    std::string_view method;
    bool mismatch = false;
    int minimum = 0;
    int maximum = 0;  ///< -1 means unlimited
};

using Form = ruby::Signature::Parameter::Form;

class RubyFunction final : public Callable {
public:
    RubyFunction(RubySession& session, const ruby::FunctionInfo& info)
        : session_(session), info_(info) {}
    virtual ~RubyFunction() = default;

    const types::Type* signature(Interpreter& in) const override;
    Value call(Interpreter& in, Scope& scope, std::span<const Value> args, const Callable* block,
               const syntax::Node* site) const override;
    std::string_view name() const override { return info_.name; }
    std::pair<int, int> arity() const override;
    std::vector<std::string_view> parameter_names() const override;

private:
    const std::vector<Parsed>& parsed(Interpreter& in) const;
    int choose(Interpreter& in, std::span<const Value> args, const Callable* block) const;
    Value invoke(Interpreter& in, Scope& scope, int signature, std::span<const Value> args,
                 const Callable* block) const;

    RubySession& session_;
    const ruby::FunctionInfo& info_;
    mutable std::vector<Parsed> parsed_;
    mutable LocalTypes local_;
};

const std::vector<Parsed>& RubyFunction::parsed(Interpreter& in) const {
    if (!parsed_.empty() || info_.signatures.empty()) return parsed_;
    auto& outer = in.types();
    local_.outer = outer.loader;
    types::Context ctx{outer.arena, info_.local_types.empty() ? outer.loader : &local_};
    for (const auto& [name, text] : info_.local_types) {
        local_.trees.push_back(syntax::parse("", text));
        auto* alias =
            types::make_type_alias(ctx, ctx.arena.copy(name), local_.trees.back()->program->body);
        alias->loader = &local_;
        local_.all.emplace_back(alias->name, alias);
    }
    auto parse = [&](const std::string& text) -> const types::Type* {
        try {
            return types::parse_type(ctx, text);
        } catch (const PuppetError& error) {
            throw PuppetError(fmt::format(
                "Function Load Error for function '{}': Parsing of type string '\"{}\"' failed "
                "with message: <{}>.\n",
                info_.name, text, error.message()));
        }
    };
    std::vector<Parsed> all;
    for (const auto& signature : info_.signatures) {
        Parsed p;
        std::vector<const types::Type*> list;
        for (const auto& parameter : signature.parameters) {
            list.push_back(parse(parameter.type));
            p.names.push_back(parameter.name);
            const bool repeats =
                parameter.form == Form::Repeated || parameter.form == Form::RequiredRepeated;
            if (parameter.form == Form::Required || parameter.form == Form::RequiredRepeated)
                ++p.minimum;
            p.maximum = repeats ? -1 : p.maximum + 1;
        }
        const auto* params = types::make_tuple_type(
            ctx, list, types::Range{p.minimum, p.maximum < 0 ? types::kMax : p.maximum});
        const types::Type* block = nullptr;
        if (!signature.block_type.empty()) {
            block = parse(signature.block_type);
            if (!signature.block_required) block = types::make_optional(ctx, block);
            p.block_name = signature.block_name;
        }
        if (!signature.return_type.empty()) p.returns = parse(signature.return_type);
        p.callable = types::make_callable(ctx, params, block, p.returns);
        p.method = signature.dispatch_name;
        p.mismatch = signature.mismatch;
        all.push_back(std::move(p));
    }
    parsed_ = std::move(all);
    return parsed_;
}

int RubyFunction::choose(Interpreter& in, std::span<const Value> args,
                         const Callable* block) const {
    const types::Type* block_type = block ? block->signature(in) : nullptr;
    const auto& all = parsed(in);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto given = static_cast<int>(args.size());
        if (given < all[i].minimum || (all[i].maximum >= 0 && given > all[i].maximum)) continue;
        if (types::accepts_call(in.types(), all[i].callable, args, block_type))
            return static_cast<int>(i);
    }
    return -1;
}

Value RubyFunction::invoke(Interpreter& in, Scope& scope, int signature,
                           std::span<const Value> args, const Callable* block) const {
    // Converts iterators, which exist only in the evaluator, to arrays for Ruby code.
    std::vector<Value> changed;
    for (std::size_t i = 0; i < args.size(); ++i) {
        if (!args[i].is(Kind::Iterator)) continue;
        if (changed.empty()) changed.assign(args.begin(), args.end());
        changed[i] = types::to_array(in.types(),
                                     *static_cast<const types::Iterator*>(args[i].as_extension()));
    }
    if (!changed.empty()) args = changed;

    struct Block {
        RubySession& session;
        std::uint64_t handle;
        ~Block() { session.release_block(handle); }
    } const kept{session_, block ? session_.keep_block(*block) : 0};
    const templates::RubyQuestion question{fmt::format("function {}", info_.name),
                                           fmt::format("{} {}", info_.file, signature), args,
                                           info_.legacy, block != nullptr};
    try {
        return session_.answered(in, scope, question, [&](ruby::Callbacks& callbacks) {
            return session_.host(in).call_function(info_, signature, args, kept.handle,
                                                   block ? block->block_arity() : 0, callbacks,
                                                   in.arena());
        });
    } catch (const ruby::Unwind&) {
        // A `next`, `break` or `return` is pending; the interpreter continues with it.
        return Value::undef();
    }
}

Value RubyFunction::call(Interpreter& in, Scope& scope, std::span<const Value> args,
                         const Callable* block, const syntax::Node*) const {
    if (info_.legacy) {
        const auto given = static_cast<int>(args.size());
        if (info_.arity >= 0 ? given != info_.arity : given < -(info_.arity + 1)) {
            throw PuppetError(
                info_.arity >= 0
                    ? fmt::format("{}(): Wrong number of arguments given ({} for {})", info_.name,
                                  given, info_.arity)
                    : fmt::format("{}(): Wrong number of arguments given ({} for minimum {})",
                                  info_.name, given, -(info_.arity + 1)));
        }
        return invoke(in, scope, -1, args, nullptr);
    }
    const int chosen = choose(in, args, block);
    if (chosen < 0) {
        std::vector<types::Signature> signatures;
        for (const auto& p : parsed(in)) {
            if (p.mismatch) continue;
            types::Signature s;
            s.type = p.callable;
            s.parameter_names = p.names;
            if (!p.block_name.empty()) s.block_name = p.block_name;
            signatures.push_back(std::move(s));
        }
        auto text = types::describe_call(in.types(), info_.name, signatures, args,
                                         block ? block->signature(in) : nullptr);
        throw PuppetError(text.value_or(fmt::format("'{}' cannot be called so", info_.name)));
    }
    const Parsed& p = parsed(in)[static_cast<std::size_t>(chosen)];
    const Value result = invoke(in, scope, chosen, args, block);
    if (in.pending() != Completion::Normal) return result;
    if (p.mismatch) throw PuppetError(fmt::format("'{}' {}", info_.name, value::to_text(result)));
    if (p.returns) {
        types::assert_instance(
            in.types(), fmt::format("value returned from function '{}' has wrong type,", p.method),
            p.returns, result);
    }
    return result;
}

const types::Type* RubyFunction::signature(Interpreter& in) const {
    auto& ctx = in.types();
    if (info_.legacy) {
        const auto [required, maximum] = arity();
        const types::Type* any = types::defaults().any;
        return types::make_callable(
            ctx,
            types::make_tuple_type(ctx, types::Types(&any, 1),
                                   types::Range{required, maximum < 0 ? types::kMax : maximum}),
            nullptr, nullptr);
    }
    std::vector<const types::Type*> all;
    for (const auto& p : parsed(in))
        if (!p.mismatch) all.push_back(p.callable);
    return all.size() == 1 ? all[0] : types::make_variant(ctx, all);
}

std::pair<int, int> RubyFunction::arity() const {
    if (info_.legacy)
        return info_.arity >= 0 ? std::pair(info_.arity, info_.arity)
                                : std::pair(-(info_.arity + 1), -1);
    int required = 1 << 20, maximum = 0;
    for (const auto& s : info_.signatures) {
        int low = 0, high = 0;
        for (const auto& p : s.parameters) {
            const bool repeats = p.form == Form::Repeated || p.form == Form::RequiredRepeated;
            if (p.form == Form::Required || p.form == Form::RequiredRepeated) ++low;
            high = repeats ? -1 : high + 1;
        }
        required = std::min(required, low);
        if (maximum >= 0) maximum = high < 0 ? -1 : std::max(maximum, high);
    }
    return {info_.signatures.empty() ? 0 : required, maximum};
}

std::vector<std::string_view> RubyFunction::parameter_names() const {
    std::vector<std::string_view> out;
    if (!info_.signatures.empty())
        for (const auto& p : info_.signatures[0].parameters) out.push_back(p.name);
    return out;
}

/// A function that calls the built-in one if the arguments are usual, and the module's Ruby
/// otherwise. The first unusual call loads the Ruby.
class UsualFunction final : public Callable {
public:
    UsualFunction(RubySession& session, std::string file, const evaluator::Builtin& builtin,
                  const evaluator::FunctionTable& table)
        : session_(session), file_(std::move(file)), builtin_(builtin), native_(builtin, table) {}
    virtual ~UsualFunction() = default;

    const types::Type* signature(Interpreter& in) const override { return rubys(in).signature(in); }
    Value call(Interpreter& in, Scope& scope, std::span<const Value> args, const Callable* block,
               const syntax::Node* site) const override {
        const bool usual = builtin_.usual({in, scope, args, block, site});
        const Callable& chosen = usual ? native_ : rubys(in);
        return chosen.call(in, scope, args, block, site);
    }
    std::string_view name() const override { return builtin_.name; }
    std::pair<int, int> arity() const override { return native_.arity(); }
    std::vector<std::string_view> parameter_names() const override {
        return native_.parameter_names();
    }

private:
    const Callable& rubys(Interpreter& in) const {
        if (!ruby_) ruby_ = make_ruby_function(in, session_, file_, builtin_.name);
        return *ruby_;
    }

    RubySession& session_;
    std::string file_;
    const evaluator::Builtin& builtin_;
    evaluator::BuiltinFunction native_;
    mutable const Callable* ruby_ = nullptr;
};

}  // namespace

const Callable* make_usual_function(Interpreter& in, RubySession& session, const std::string& file,
                                    const evaluator::Builtin& builtin) {
    return in.arena().own(std::make_unique<UsualFunction>(session, file, builtin, in.functions()));
}

const Callable* make_ruby_function(Interpreter& in, RubySession& session, const std::string& file,
                                   std::string_view name) {
    session.environment().depends_on(file);
    const auto& info = session.pool(in).function_info(file, name, &session.host(in));
    templates::note_reads(session.environment(), info.reads);
    return in.arena().own(std::make_unique<RubyFunction>(session, info));
}

}  // namespace bunraku::compiler
