// SPDX-License-Identifier: Apache-2.0
// The core of evaluation: one switch over the kinds of nodes, with located errors and bounded
// recursion.
#include "language/evaluator/interpreter.h"

#include <algorithm>
#include <pthread.h>

#include "core/base/assert.h"
#include "core/base/work_limit.h"
#include "language/evaluator/evaluation.h"
#include "language/evaluator/watcher.h"
#include "language/types/kinds.h"

namespace bunraku::evaluator {

using namespace syntax;

namespace {

/// Returns the end of this thread's stack, or 0 if it is unknown. It is determined once per thread:
/// for the main thread the C library reads /proc/self/maps, which takes longer than a small
/// compile.
std::uintptr_t stack_end() {
    static thread_local const std::uintptr_t end = [] {
        pthread_attr_t attributes;
        if (pthread_getattr_np(pthread_self(), &attributes) != 0) return std::uintptr_t{0};
        void* low = nullptr;
        std::size_t size = 0;
        const int failed = pthread_attr_getstack(&attributes, &low, &size);
        pthread_attr_destroy(&attributes);
        return failed ? std::uintptr_t{0} : reinterpret_cast<std::uintptr_t>(low);
    }();
    return end;
}

/// Returns the lowest address that a frame may have: the end of the stack plus a reserve for the
/// innermost calls.
std::uintptr_t stack_limit() {
    // A value may have the depth value::kMaxDepth, and code that walks it uses one or two frames
    // per level.
    constexpr std::uintptr_t kReserve = 2 * 1024 * 1024;
    constexpr std::uintptr_t kDefault = 6 * 1024 * 1024;
    const auto frame_address = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    const std::uintptr_t end = stack_end();
    if (end == 0 || end >= frame_address) return frame_address - kDefault;
    const std::uintptr_t available = frame_address - end;
    // An unlimited stack (ulimit -s unlimited) also gets a limit, so that recursion does not
    // exhaust the memory.
    if (available > 64 * 1024 * 1024) return frame_address - 32 * 1024 * 1024;
    return end + std::min(kReserve, available / 4);
}

}  // namespace

const types::Type* Interpreter::Impl::find_type(std::string_view name) {
    return in.hosts_.definitions ? in.hosts_.definitions->find_type(in, name) : nullptr;
}

Interpreter::Interpreter(base::Arena& arena, base::LogSink& log, const FunctionTable& functions,
                         Hosts hosts, Options options)
    : arena_(arena),
      log_(log),
      functions_(functions),
      hosts_(hosts),
      options_(options),
      types_{arena, nullptr},
      stack_floor_(stack_limit()),
      impl_(std::make_unique<Impl>(*this)) {
    types_.loader = impl_.get();
    types_.clock_read = [] { environment::Trace::record(environment::Read::Clock, ""); };
    top_ = new_scope(ScopeKind::Top, nullptr);
    BUNRAKU_ASSERT(options_.max_depth > 0);
}

Interpreter::~Interpreter() = default;

Scope* Interpreter::new_scope(ScopeKind kind, Scope* parent) {
    BUNRAKU_ASSERT((kind == ScopeKind::Top) == (parent == nullptr));
    return arena_.make<Scope>(arena_, kind, parent);
}

Value Interpreter::evaluate(const Node* node, Scope& scope) {
    return Evaluation::eval(*this, node, scope);
}

Value Interpreter::evaluate_body(const Node* body, Scope& scope) {
    // The body belongs to a class, a define or a node.
    impl_->walks.discard(body);
    const Value v = Evaluation::eval(*this, body, scope);
    switch (pending_) {
        case Completion::Normal: return v;
        case Completion::Next:
        case Completion::Return: return take_completion();
        case Completion::Break: break;
    }
    return Evaluation::illegal_completion(*this);
}

Value Interpreter::evaluate_program(const Program& program, Scope& scope) {
    struct Frame {
        Interpreter& in;
        Interpreter::CallFrame link;
        ~Frame() { Evaluation::frame(in) = link.outer; }
    } const frame{*this, {&program, frame_}};
    frame_ = &frame.link;
    // Only commands that do not record a trace use the value of a manifest.
    impl_->walks.discard(program.body);
    const Value v = Evaluation::eval(*this, program.body, scope);
    BUNRAKU_ASSERT(frame_ == &frame.link);
    return pending_ == Completion::Normal ? v : Evaluation::illegal_completion(*this);
}

Value Evaluation::illegal_completion(Interpreter& in) {
    const Completion what = in.pending_;
    const Node* site = in.pending_site_;
    BUNRAKU_ASSERT(what != Completion::Normal);
    in.take_completion();
    BUNRAKU_ASSERT(in.pending_ == Completion::Normal && !in.pending_site_);
    const std::string_view name = what == Completion::Next    ? "next"
                                  : what == Completion::Break ? "break"
                                                              : "return";
    base::PuppetError error(fmt::format("{}() from context where this is illegal", name),
                            what == Completion::Break ? "ILLEGAL_BREAK" : "",
                            base::PuppetError::Class::Plain);
    base::Location where = site ? site->where() : base::Location{};
    where.column = 0;
    if (where.file.empty()) where.file = "unknown";
    throw error.at(std::move(where));
}

Value Interpreter::take_completion() {
    BUNRAKU_ASSERT(pending_ != Completion::Normal);
    pending_ = Completion::Normal;
    const Value v = pending_value_;
    pending_value_ = Value::undef();
    pending_site_ = nullptr;
    return v;
}

void Interpreter::set_pending(Completion completion, const Value& v, const Node* site) {
    BUNRAKU_ASSERT(completion != Completion::Normal);
    pending_ = completion;
    pending_value_ = v;
    pending_site_ = site;
}

void Interpreter::fail(std::string message, std::string_view issue_code, const Node* site) {
    base::PuppetError error(std::move(message), std::string(issue_code));
    if (site) error.at(site->where());
    throw error;
}

void Interpreter::warn_once(std::string message, std::string_view issue_code, const Node* site,
                            std::string_view key) {
    if (!impl_->warned.insert(key.empty() ? message : std::string(key)).second) return;
    warn(std::move(message), issue_code, site);
}

void Interpreter::warn(std::string message, std::string_view issue_code, const Node* site) {
    if (!log_.enabled(base::Level::Warning)) return;
    base::Diagnostic record{.level = base::Level::Warning, .message = std::move(message)};
    if (site) record.where = site->where();
    record.issue_code = issue_code;
    log_.log(record);
}

void Interpreter::locate(base::PuppetError& error, const Node* site) {
    const std::string& code = error.issue_code();
    if (error.located() || !site || code == "SCRIPT_ERROR" || code == "PREFORMATTED") return;
    // The message of a plain exception from Ruby code is appended to a description of the
    // expression that it stopped. Issues are complete sentences.
    if (error.error_class() != base::PuppetError::Class::Parse && !error.verbatim &&
        (code.empty() || code == "TYPE_MISMATCH" || code == "RUNTIME_ERROR")) {
        base::PuppetError wrapped(
            fmt::format("Error while evaluating {}, {}", a_an(label(site)), error.message()),
            "RUNTIME_ERROR");
        for (const std::string& frame : error.trace()) wrapped.add_frame(frame);
        wrapped.authored = error.authored;
        error = std::move(wrapped);
    }
    error.at(site->where());
}

void Evaluation::check_depth(Interpreter& in) {
    if (reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) < in.stack_floor_)
        throw base::PuppetError("stack level too deep");
}

inline Value Evaluation::eval_located(Interpreter& in, const Node* node, Scope& scope) {
    try {
        check_depth(in);
        base::step();
        return eval_compound(in, node, scope);
    } catch (base::PuppetError& error) {
        // Preformatted messages of lookups have no location.
        if (error.located() || error.verbatim) throw;
        in.locate(error, node);
        throw;
    } catch (const std::bad_alloc&) {
        base::PuppetError wrapped("failed to allocate memory", "NO_MEMORY");
        in.locate(wrapped, node);
        throw wrapped;
    } catch (const std::exception& error) {
        base::PuppetError wrapped(error.what());
        in.locate(wrapped, node);
        throw wrapped;
    }
}

Value Evaluation::eval(Interpreter& in, const Node* node, Scope& scope) {
    if (!node) return Value::undef();
    switch (node->kind) {
        case NodeKind::LiteralString: return Value::string(to<LiteralString>(node).value);
        case NodeKind::LiteralInteger: return Value::integer(to<LiteralInteger>(node).value);
        case NodeKind::QualifiedName: return Value::string(to<QualifiedName>(node).value);
        case NodeKind::LiteralBoolean: return Value::boolean(to<LiteralBoolean>(node).value);
        case NodeKind::LiteralUndef:
        case NodeKind::Nop: return Value::undef();
        case NodeKind::LiteralDefault: return Value::default_value();
        case NodeKind::LiteralFloat: return Value::floating(to<LiteralFloat>(node).value);
        case NodeKind::LiteralRegularExpression:
            return Value::regexp(static_cast<const value::RegexpRep*>(
                to<LiteralRegularExpression>(node).regexp_rep));
        case NodeKind::VariableExpression: {
            if (in.watcher) [[unlikely]]
                return eval_watched(in, node, scope);
            const auto& variable_node = to<VariableExpression>(node);
            if (!variable_node.qualified && !variable_node.numeric) [[likely]]
                if (const Value* v = find_variable(scope, variable_node.name)) {
                    in.fact_reads.variable(variable_node, variable_node.name.view(), v);
                    in.impl_->walks.variable(in.fact_reads, variable_node, *v);
                    return *v;
                }
            return variable(in, variable_node, scope);
        }
        case NodeKind::HostClassDefinition:
        case NodeKind::ResourceTypeDefinition:
        case NodeKind::NodeDefinition:
        case NodeKind::FunctionDefinition:
        case NodeKind::PlanDefinition:
        case NodeKind::TypeAlias:
        case NodeKind::TypeDefinition:
        case NodeKind::TypeMapping: return Value::undef();
        default: break;
    }
    if (in.watcher) [[unlikely]]
        return eval_watched(in, node, scope);
    return eval_located(in, node, scope);
}

Value Evaluation::eval_watched(Interpreter& in, const Node* node, Scope& scope) {
    Watcher& watcher = *in.watcher;
    watcher.enter(*node, scope);
    Value v;
    try {
        v = node->kind == NodeKind::VariableExpression
                ? variable(in, to<VariableExpression>(node), scope)
                : eval_located(in, node, scope);
    } catch (...) {
        watcher.leave(nullptr);
        throw;
    }
    watcher.leave(&v);
    return v;
}

Value Evaluation::eval_compound(Interpreter& in, const Node* node, Scope& scope) {
    switch (node->kind) {
        case NodeKind::BlockExpression: return block(in, to<BlockExpression>(node), scope);
        case NodeKind::ParenthesizedExpression:
            return eval(in, to<ParenthesizedExpression>(node).expr, scope);
        case NodeKind::AccessExpression: return access(in, to<AccessExpression>(node), scope);
        case NodeKind::CallNamedFunctionExpression:
            return call_named(in, to<CallNamedFunctionExpression>(node), scope);
        case NodeKind::CallMethodExpression:
            return call_method(in, to<CallMethodExpression>(node), scope);
        case NodeKind::AssignmentExpression:
            return assignment(in, to<AssignmentExpression>(node), scope);
        case NodeKind::IfExpression: return if_expression(in, to<IfExpression>(node), scope);
        case NodeKind::UnlessExpression:
            return unless_expression(in, to<UnlessExpression>(node), scope);
        case NodeKind::CaseExpression: return case_expression(in, to<CaseExpression>(node), scope);
        case NodeKind::SelectorExpression: return selector(in, to<SelectorExpression>(node), scope);
        case NodeKind::ConcatenatedString:
            return concatenated(in, to<ConcatenatedString>(node), scope);
        case NodeKind::TextExpression: return text(in, to<TextExpression>(node), scope);
        case NodeKind::HeredocExpression: return heredoc(in, to<HeredocExpression>(node), scope);
        case NodeKind::LiteralList: return literal_list(in, to<LiteralList>(node), scope);
        case NodeKind::LiteralHash: return literal_hash(in, to<LiteralHash>(node), scope);
        case NodeKind::ComparisonExpression:
            return comparison(in, to<ComparisonExpression>(node), scope);
        case NodeKind::ArithmeticExpression:
            return arithmetic(in, to<ArithmeticExpression>(node), scope);
        case NodeKind::MatchExpression: return match(in, to<MatchExpression>(node), scope);
        case NodeKind::InExpression: return in_expression(in, to<InExpression>(node), scope);
        case NodeKind::AndExpression: {
            const auto& both = to<AndExpression>(node);
            BUNRAKU_EVAL(left, in, both.left, scope);
            if (!left.truthy()) return Value::boolean(false);
            BUNRAKU_EVAL(right, in, both.right, scope);
            return Value::boolean(right.truthy());
        }
        case NodeKind::OrExpression: {
            const auto& either = to<OrExpression>(node);
            BUNRAKU_EVAL(left, in, either.left, scope);
            if (left.truthy()) return Value::boolean(true);
            BUNRAKU_EVAL(right, in, either.right, scope);
            return Value::boolean(right.truthy());
        }
        case NodeKind::NotExpression: {
            BUNRAKU_EVAL(v, in, to<NotExpression>(node).expr, scope);
            return Value::boolean(!v.truthy());
        }
        case NodeKind::UnaryMinusExpression:
            return unary_minus(in, to<UnaryMinusExpression>(node), scope);
        case NodeKind::UnfoldExpression:
            return unfold_expression(in, to<UnfoldExpression>(node), scope);
        case NodeKind::QualifiedReference:
            return qualified_reference(in, to<QualifiedReference>(node));
        case NodeKind::ReservedWord: {
            const auto& word = to<ReservedWord>(node);
            if (word.future) return Value::string(word.word);
            fail(in, node, "RESERVED_WORD",
                 "Use of reserved word: {}, must be quoted if intended to be a String value",
                 word.word);
        }
        case NodeKind::ResourceExpression: return resource(in, to<ResourceExpression>(node), scope);
        case NodeKind::ResourceDefaultsExpression:
            return resource_defaults(in, to<ResourceDefaultsExpression>(node), scope);
        case NodeKind::ResourceOverrideExpression:
            return resource_override(in, to<ResourceOverrideExpression>(node), scope);
        case NodeKind::CollectExpression: return collect(in, to<CollectExpression>(node), scope);
        case NodeKind::RelationshipExpression:
            return relationship(in, to<RelationshipExpression>(node), scope);
        case NodeKind::EppExpression: return epp(in, to<EppExpression>(node), scope);
        case NodeKind::RenderStringExpression:
            if (in.epp_output) in.epp_output->append(to<RenderStringExpression>(node).value);
            return Value::undef();
        case NodeKind::RenderExpression: return render(in, to<RenderExpression>(node), scope);
        case NodeKind::Program: return eval(in, to<Program>(node).body, scope);
        case NodeKind::ApplyExpression:
            runtime_error("The 'bolt' library is required to apply a block of code");
        default: return Value::undef();
    }
}

const types::Type* Interpreter::evaluate_type(const Node* node, Scope& scope) {
    static const types::Type* const any = types::builtin_type("any");
    if (!node) return any;
    if (const types::Type* known = impl_->types.find(node)) return known;
    const Value v = Evaluation::eval(*this, node, scope);
    BUNRAKU_ASSERT(!v.is_type() || v.as_type());
    if (!v.is_type()) {
        Evaluation::fail(*this, node, "TYPE_MISMATCH", "Expected value of type Type, got {}",
                         generalized_type_name(*this, v));
    }
    impl_->types.set(node, v.as_type());
    return v.as_type();
}

void Interpreter::remember_type(const Node* node, const types::Type* type) {
    BUNRAKU_ASSERT(node && type);
    impl_->types.set(node, type);
}

}  // namespace bunraku::evaluator
