// SPDX-License-Identifier: Apache-2.0
// Runs statements, variables and calls of a native template.
#include "language/erb/render.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/value/build.h"

namespace bunraku::erb {

std::string Renderer::run() {
    locals_.resize(static_cast<std::size_t>(program_.locals));
    variables_.resize(program_.variables.size());
    BUNRAKU_ASSERT(program_.body && depth_ == 0 && out_.empty());
    RV ignored;
    if (exec(*program_.body, ignored) != Flow::Normal) fall_back("next outside of a block");
    return std::move(out_);
}

Renderer::Flow Renderer::exec(const Node& node, RV& result) {
    step();
    switch (node.kind) {
        case N::Text:
            out_ += node.text;
            if (out_.size() > (256u << 20)) fall_back("too much memory");
            result = RV{};
            result.t = T::Output;
            return Flow::Normal;
        case N::Output: {
            line_ = node.line;
            const RV v = eval(*node.a);
            heap_.print(out_, v);
            result = RV{};
            result.t = T::Output;
            return Flow::Normal;
        }
        case N::Seq: {
            result = RV::nil();
            for (const Node* each : node.list)
                if (const Flow flow = exec(*each, result); flow != Flow::Normal) return flow;
            return Flow::Normal;
        }
        case N::If: {
            if (node.line > 0) line_ = node.line;
            const Node* chosen = eval(*node.a).truthy() ? node.b : node.c;
            if (chosen) return exec(*chosen, result);
            result = RV::nil();
            return Flow::Normal;
        }
        case N::And:
        case N::Or: {
            result = eval(*node.a);
            if (result.truthy() == (node.kind == N::Or)) return Flow::Normal;
            return exec(*node.b, result);
        }
        case N::Case: return exec_case(node, result);
        case N::While: return exec_while(node, result);
        case N::For: return exec_for(node, result);
        case N::Next:
        case N::Break:
        case N::Return:
            result = node.a ? eval(*node.a) : RV::nil();
            return node.kind == N::Next    ? Flow::Next
                   : node.kind == N::Break ? Flow::Break
                                           : Flow::Return;
        default: result = eval(node); return Flow::Normal;
    }
}

bool Renderer::case_equal(const RV& option, const RV& subject) {
    switch (option.t) {
        case T::Class: return is_a(subject, option.symbol_name());
        case T::Regex:
            if (!subject.is(T::Str) && !subject.is(T::Sym)) {
                match_.reset();
                return false;
            }
            return match(*option.re->regex, subject);
        case T::Range: {
            const RV args[] = {subject};
            return range_method(option, M::include_, args, nullptr).truthy();
        }
        case T::Opaque: fall_back("case with an object");
        default: return heap_.equal(option, subject);
    }
}

Renderer::Flow Renderer::exec_case(const Node& node, RV& result) {
    const RV subject = node.a ? eval(*node.a) : RV::nil();
    for (const Node* when : node.list) {
        for (const Node* option : when->list) {
            const RV v = eval(*option);
            if (node.a ? case_equal(v, subject) : v.truthy()) return exec(*when->b, result);
        }
    }
    if (node.b) return exec(*node.b, result);
    result = RV::nil();
    return Flow::Normal;
}

Renderer::Flow Renderer::exec_while(const Node& node, RV& result) {
    while (eval(*node.a).truthy() != node.flag) {
        step();
        RV v;
        const Flow flow = exec(*node.b, v);
        if (flow == Flow::Break || flow == Flow::Return) {
            result = v;
            return flow == Flow::Break ? Flow::Normal : flow;
        }
    }
    result = RV::nil();
    return Flow::Normal;
}

Renderer::Flow Renderer::exec_for(const Node& node, RV& result) {
    BUNRAKU_ASSERT(!node.list.empty());
    RV over = eval(*node.a);
    result = over;
    if (over.is(T::Hash)) over = pairs(over);
    if (over.is(T::Range)) over = range_method(over, M::to_a, {}, nullptr);
    if (!over.is(T::Array)) unknown(over, M::each);
    for (std::uint32_t i = 0; i < heap_.items(over).size; ++i) {
        const RV item = over.a->items[i];
        if (node.list.size() == 1) {
            locals_[static_cast<std::size_t>(node.list[0]->slot)] = item;
        } else {
            spread(node.list, item);
        }
        RV v;
        const Flow flow = exec(*node.b, v);
        if (flow == Flow::Break || flow == Flow::Return) {
            result = v;
            return flow == Flow::Break ? Flow::Normal : flow;
        }
    }
    return Flow::Normal;
}

RV Renderer::read_variable(int slot, std::string_view below) {
    BUNRAKU_ASSERT(slot >= 0 && static_cast<std::size_t>(slot) < variables_.size());
    auto& variable = variables_[static_cast<std::size_t>(slot)];
    if (!variable.read) {
        variable.read = true;
        if (shared_.find(program_.variables[static_cast<std::size_t>(slot)].view()))
            fall_back("a variable that setvar set");
        if (const auto v =
                host_.variable(program_.variables[static_cast<std::size_t>(slot)], below)) {
            variable.value = object(program_.variables[static_cast<std::size_t>(slot)].view(), *v);
            variable.set = !v->is_undef();
        }
    } else {
        host_.read_again(program_.variables[static_cast<std::size_t>(slot)], below);
    }
    return variable.value;
}

RV Renderer::eval(const Node& node) {
    step();
    switch (node.kind) {
        case N::Nil: return RV::nil();
        case N::True: return RV::boolean(true);
        case N::False: return RV::boolean(false);
        case N::Int: return RV::integer(node.i);
        case N::Float: return RV::floating(node.f);
        case N::Str: return heap_.string_view(node.text);
        case N::DStr: return interpolated(node);
        case N::Sym: return RV::symbol(node.text);
        case N::Const: {
            RV v = RV::symbol(node.text);
            v.t = T::Class;
            return v;
        }
        case N::Array: {
            RV out = heap_.array(node.list.size());
            for (const Node* each : node.list) heap_.push(*out.a, eval(*each));
            return out;
        }
        case N::Hash: {
            RV out = heap_.hash();
            BUNRAKU_ASSERT(node.list.size() % 2 == 0);
            for (std::size_t i = 0; i + 1 < node.list.size(); i += 2) {
                const RV key = eval(*node.list[i]);
                heap_.set(*out.h, key, eval(*node.list[i + 1]));
            }
            return out;
        }
        case N::Range: {
            const RV from = eval(*node.a);
            const RV to = eval(*node.b);
            if (!from.is(T::Int) || !to.is(T::Int)) fall_back("a range of something else");
            return heap_.range(from, to, node.flag);
        }
        case N::Regex:
        case N::DRegex: {
            RV out;
            out.t = T::Regex;
            const regex::Regex* regex = node.regex;
            if (node.kind == N::DRegex) {
                const RV text = interpolated(node);
                auto compiled =
                    regex::Regex::cached(text.s->view(), static_cast<std::uint32_t>(node.slot));
                if (!compiled) fall_back("a regular expression that does not compile");
                auto kept = std::make_unique<std::shared_ptr<const regex::Regex>>(*compiled);
                regex = heap_.arena().own(std::move(kept))->get();
            }
            out.re = heap_.arena().make<RegexRef>(regex);
            return out;
        }
        case N::Group: return group(static_cast<std::size_t>(node.slot));
        case N::IVar: return read_variable(node.slot, node.below);
        case N::LVar:
            BUNRAKU_ASSERT(node.slot >= 0 && static_cast<std::size_t>(node.slot) < locals_.size());
            return locals_[static_cast<std::size_t>(node.slot)];
        case N::Scope: {
            RV v;
            v.t = T::Scope;
            return v;
        }
        case N::Assign:
        case N::OpAssign:
        case N::OrAssign:
        case N::AndAssign: return assign(node);
        case N::Multi: {
            const RV v = eval(*node.a);
            spread(node.list, v);
            return v;
        }
        case N::Not: {
            const RV v = eval(*node.a);
            return RV::boolean(!v.truthy());
        }
        case N::Defined:
            if (node.a->kind == N::LVar) return str("local-variable");
            read_variable(node.a->slot);
            return variables_[static_cast<std::size_t>(node.a->slot)].set ? str("instance-variable")
                                                                          : RV::nil();
        case N::Call: return eval_call(node);
        case N::Function: return function_call(node);
        case N::Define:
            defined_.resize(program_.functions.size());
            BUNRAKU_ASSERT(static_cast<std::size_t>(node.slot) < defined_.size());
            defined_[static_cast<std::size_t>(node.slot)] = true;
            return RV::symbol("method");
        case N::LocalCall: return own_call(node);
        case N::Kernel: return kernel(node);
        default: {
            RV out;
            if (exec(node, out) != Flow::Normal) fall_back("next inside of an expression");
            return out;
        }
    }
}

RV Renderer::interpolated(const Node& node) {
    std::string text;
    for (const Node* each : node.list) {
        if (each->kind == N::Str) {
            text += each->text;
            continue;
        }
        const RV v = eval(*each);
        if (v.is(T::Regex) || v.is(T::Opaque)) fall_back("interpolation of an object");
        heap_.print(text, v);
    }
    return str(text);
}

RV Renderer::assign_to(const Node& target, const RV& v) {
    if (v.is(T::Output) || v.is(T::Scope)) fall_back("the output in a variable");
    if (v.is(T::ScopeHash)) fall_back("scope.to_hash in a variable");
    BUNRAKU_ASSERT(target.kind == N::LVar || target.kind == N::IVar);
    BUNRAKU_ASSERT(target.slot >= 0 &&
                   static_cast<std::size_t>(target.slot) <
                       (target.kind == N::LVar ? locals_.size() : variables_.size()));
    if (target.kind == N::LVar) {
        locals_[static_cast<std::size_t>(target.slot)] = v;
    } else {
        variables_[static_cast<std::size_t>(target.slot)] = {v, true, true};
    }
    return v;
}

void Renderer::spread(std::span<const Node* const> targets, const RV& v) {
    if (!v.is(T::Array)) {
        for (std::size_t i = 0; i < targets.size(); ++i)
            assign_to(*targets[i], i == 0 ? v : RV::nil());
        return;
    }
    const RV items = heap_.copy_array(v);
    for (std::size_t i = 0; i < targets.size(); ++i)
        assign_to(*targets[i], i < items.a->size ? items.a->items[i] : RV::nil());
}

RV Renderer::assign(const Node& node) {
    const Node& target = *node.a;
    if (target.kind == N::Call) {  // a[i] = v
        if (target.flag || target.list.size() != 1) fall_back("an odd assignment");
        const RV self = eval(*target.a);
        const RV key = eval(*target.list[0]);
        if (!self.is(T::Array) && !self.is(T::Hash)) unknown(self, M::op_index);
        RV v;
        if (node.kind == N::Assign) {
            v = eval(*node.b);
        } else {
            const RV old = invoke(self, M::op_index, {&key, 1}, nullptr);
            if (node.kind == N::OrAssign && old.truthy()) return old;
            if (node.kind == N::AndAssign && !old.truthy()) return old;
            v = eval(*node.b);
            if (node.kind == N::OpAssign) v = invoke(old, node.method, {&v, 1}, nullptr);
        }
        if (v.is(T::Output) || v.is(T::Scope)) fall_back("the output in a variable");
        const RV args[] = {key, v};
        invoke(self, M::store, args, nullptr);
        return v;
    }
    if (node.kind == N::Assign) return assign_to(target, eval(*node.b));
    const RV old = eval(target);
    if (node.kind == N::OrAssign) return old.truthy() ? old : assign_to(target, eval(*node.b));
    if (node.kind == N::AndAssign) return !old.truthy() ? old : assign_to(target, eval(*node.b));
    const RV v = eval(*node.b);
    return assign_to(target, invoke(old, node.method, {&v, 1}, nullptr));
}

RV Renderer::eval_call(const Node& node) {
    if (node.a->kind == N::Scope) return scope_call(node);
    const RV self = eval(*node.a);
    if (node.method == M::none_such) {
        if (self.is(T::Nil) && !node.flag)
            ruby_error(fmt::format("undefined method `{}' for nil:NilClass", node.text));
        fall_back(fmt::format("the method '{}'", node.text));
    }
    if (node.flag && self.is(T::Nil)) return RV::nil();
    std::array<RV, 6> args;
    if (node.list.size() > args.size()) fall_back("many arguments");
    for (std::size_t i = 0; i < node.list.size(); ++i) {
        args[i] = eval(*node.list[i]);
        if (args[i].is(T::Output)) fall_back("the output as an argument");
    }
    if (node.line > 0) line_ = node.line;
    // The most common call: hash['key'].
    if (node.method == M::op_index && self.is(T::Hash) && node.list.size() == 1) {
        RV out;
        return heap_.lookup(self, args[0], out) ? out : RV::nil();
    }
    return invoke(self, node.method, {args.data(), node.list.size()}, node.block);
}

RV Renderer::lookup(const RV& name, std::string_view below) {
    if (!name.is(T::Str)) fall_back("a variable name that is not a string");
    if (const RV* shared = shared_.find(name.s->view())) return *shared;
    const auto v = host_.lookup(name.s->view(), below);
    if (!v) ruby_error(fmt::format("Undefined variable '{}'; ", name.s->view()));
    return object(name.s->view(), *v);
}

/// Returns the value of a variable. Puppet freezes its own hashes.
RV Renderer::object(std::string_view name, const Value& v) {
    // An empty array has no address, so its name identifies it.
    const void* place = nullptr;
    if (v.is_hash()) place = &v.as_hash();
    const bool empty = v.is_array() && v.as_array().empty();
    if (v.is_array() && !empty) place = v.as_array().data();
    const auto last = name.starts_with("::") ? name.substr(2) : name;
    if ((!place && !empty) || last == "facts" || last == "trusted" || last == "server_facts")
        return heap_.from_puppet(v);
    for (const auto& each : shared_.objects)
        if (each.place == place && each.object.is(T::Hash) == v.is_hash() &&
            (!empty || each.name == name))
            return each.object;
    const RV out = heap_.from_puppet(v, true);
    shared_.objects.push_back({place, out, std::string(name), v});
    return out;
}

RV Renderer::scope_call(const Node& node) {
    line_ = node.line;
    if (node.method == M::call_function) {
        if (node.list.size() != 2) fall_back("call_function with other arguments");
        const RV name = eval(*node.list[0]);
        const RV args = eval(*node.list[1]);
        if (!name.is(T::Str) || !args.is(T::Array)) fall_back("call_function with other arguments");
        std::vector<Value> values;
        for (std::uint32_t i = 0; i < heap_.items(args).size; ++i)
            values.push_back(heap_.to_puppet(args.a->items[i], host_.arena()));
        return heap_.from_puppet(host_.call_function(name.s->view(), values, false));
    }
    if (node.method == M::to_hash && node.list.empty()) {
        RV out;
        out.t = T::ScopeHash;
        return out;
    }
    if (node.list.empty() || node.list.size() > 2) fall_back("scope with other arguments");
    const RV name = eval(*node.list[0]);
    if (node.method == M::setvar && node.list.size() == 2) {
        const RV v = eval(*node.list[1]);
        if (!name.is(T::Str) || v.t > T::Hash) fall_back("an odd setvar");
        const auto text = name.s->view();
        if (text.find(':') != std::string_view::npos || shared_.find(text) || host_.lookup(text))
            fall_back("a variable that is set already");
        shared_.variables.emplace_back(std::string(text), v);
        return v;
    }
    if (node.list.size() != 1) fall_back("scope with other arguments");
    switch (node.method) {
        case M::op_index:
        case M::lookupvar: return lookup(name, node.below);
        case M::include_: {
            if (!name.is(T::Str)) fall_back("a variable name that is not a string");
            if (const RV* shared = shared_.find(name.s->view()))
                return RV::boolean(!shared->is(T::Nil));
            const auto v = host_.lookup(name.s->view());
            return RV::boolean(v && !v->is_undef());
        }
        default: fall_back("a method of scope");
    }
}

RV Renderer::function_call(const Node& node) {
    line_ = node.line;
    if (node.list.size() != 1) fall_back("a function with other arguments");
    const RV args = eval(*node.list[0]);
    if (!args.is(T::Array)) fall_back("a function with other arguments");
    std::vector<Value> values;
    for (std::uint32_t i = 0; i < heap_.items(args).size; ++i) {
        // Legacy functions differ in how they treat nil.
        if (args.a->items[i].is(T::Nil)) fall_back("undef as argument of a function");
        values.push_back(heap_.to_puppet(args.a->items[i], host_.arena()));
    }
    if (node.text == "warning" || node.text == "notice" || node.text == "info" ||
        node.text == "debug" || node.text == "err") {
        shared_.calls.push_back({std::string(node.text), values});
        RV out;
        out.t = T::Output;  // No code uses the result of a logging function.
        return out;
    }
    return heap_.from_puppet(host_.call_function(node.text, values, true));
}

RV Renderer::kernel(const Node& node) {
    line_ = node.line;
    if (node.kernel == K::file)
        return host_.file().empty() ? RV::nil() : heap_.string_view(host_.file());
    const RV v = eval(*node.list[0]);
    if (v.is(T::Output) || v.is(T::Scope) || v.is(T::Enumerator)) fall_back("an odd argument");
    switch (node.kernel) {
        case K::Array:
            switch (v.t) {
                case T::Nil: return heap_.array();
                case T::Array: return v;
                case T::Hash: return pairs(v);
                case T::Range: return range_method(v, M::to_a, {}, nullptr);
                case T::Opaque:
                case T::Match: fall_back("Array() of an object");
                default: {
                    RV out = heap_.array(1);
                    heap_.push(*out.a, v);
                    return out;
                }
            }
        case K::String: return v.is(T::Str) ? v : str(heap_.to_s(v));
        case K::Integer: {
            if (v.is(T::Int)) return v;
            if (v.is(T::Nil)) ruby_error("can't convert nil into Integer");
            if (!v.is(T::Str)) fall_back("Integer() of something else");
            const auto text = v.s->view();
            const auto digits = text.substr(text.starts_with('-') ? 1 : 0);
            const bool plain = !digits.empty() && digits.size() < 18 &&
                               digits.find_first_not_of("0123456789") == std::string_view::npos &&
                               (digits.size() == 1 || digits[0] != '0');
            if (!plain) fall_back("Integer() of an odd string");
            std::int64_t n = 0;
            std::from_chars(text.data(), text.data() + text.size(), n);
            return RV::integer(n);
        }
        case K::Float: {
            if (v.is(T::Float)) return v;
            if (v.is(T::Int)) return RV::floating(static_cast<double>(v.i));
            if (!v.is(T::Str)) fall_back("Float() of something else");
            const std::string text(v.s->view());
            const auto dot = text.find('.');
            const auto digits = [](std::string_view s) {
                return !s.empty() && s.find_first_not_of("0123456789") == std::string_view::npos;
            };
            if (!digits(text.substr(0, dot)) ||
                (dot != std::string::npos && !digits(text.substr(dot + 1))))
                fall_back("Float() of an odd string");
            return RV::floating(std::strtod(text.c_str(), nullptr));
        }
        case K::format: {
            if (!v.is(T::Str)) fall_back("format() of something else");
            RV args = heap_.array(node.list.size());
            for (std::size_t i = 1; i < node.list.size(); ++i)
                heap_.push(*args.a, eval(*node.list[i]));
            const bool named = args.a->size == 1 && args.a->items[0].is(T::Hash);
            return format(v.s->view(), named ? args.a->items[0] : args);
        }
        case K::has_variable: {
            const auto name = heap_.to_s(v);
            if (const RV* shared = shared_.find(name)) return RV::boolean(!shared->is(T::Nil));
            const auto found = host_.lookup(name);
            return RV::boolean(found && !found->is_undef());
        }
        case K::require: {
            // The subset needs no library, and no code uses the result of `require`.
            RV out;
            out.t = T::Output;
            return out;
        }
        case K::raise:
            if (!v.is(T::Str)) fall_back("raise of something else");
            ruby_error(std::string(v.s->view()));
        default: fall_back("a function");
    }
}

RV Renderer::own_call(const Node& node) {
    if (node.slot < 0) fall_back("a name that is not known");
    const auto index = static_cast<std::size_t>(node.slot);
    if (index >= defined_.size() || !defined_[index]) fall_back("a method that is not defined yet");
    const Function& function = program_.functions[index];
    std::vector<RV> args;
    for (const Node* each : node.list) args.push_back(eval(*each));
    BUNRAKU_ASSERT(args.size() == function.parameters.size());
    BUNRAKU_ASSERT(function.first <= function.last &&
                   static_cast<std::size_t>(function.last) <= locals_.size());
    if (++depth_ > 100) fall_back("nested too deep");
    const auto first = locals_.begin() + function.first;
    const std::vector<RV> before(first, locals_.begin() + function.last);
    std::fill(first, locals_.begin() + function.last, RV::nil());
    for (std::size_t i = 0; i < args.size(); ++i)
        locals_[static_cast<std::size_t>(function.parameters[i])] = args[i];
    // Each method has its own $~.
    std::optional<regex::Match> match;
    match.swap(match_);
    const auto subject = match_subject_;
    RV out;
    exec(*function.body, out);
    match_.swap(match);
    match_subject_ = subject;
    std::copy(before.begin(), before.end(), locals_.begin() + function.first);
    BUNRAKU_ASSERT(depth_ > 0);
    --depth_;
    return out;
}

void Renderer::bind(const Block::Parameter& parameter, const RV& v) {
    if (parameter.nested.empty()) {
        BUNRAKU_ASSERT(parameter.slot >= 0 &&
                       static_cast<std::size_t>(parameter.slot) < locals_.size());
        locals_[static_cast<std::size_t>(parameter.slot)] = v;
        return;
    }
    for (std::size_t i = 0; i < parameter.nested.size(); ++i) {
        const bool list = v.is(T::Array);
        RV item;
        if (list && i < heap_.items(v).size) item = v.a->items[i];
        if (!list && i == 0) item = v;
        bind(parameter.nested[i], item);
    }
}

bool Renderer::yield(const Block& block, Args args, RV& out) {
    step();
    if (block.symbol != M::none_such) {
        out = invoke(args[0], block.symbol, args.subspan(1), nullptr);
        return true;
    }
    for (const int slot : block.locals) locals_[static_cast<std::size_t>(slot)] = RV::nil();
    const auto& parameters = block.parameters;
    if (args.size() == 1 && parameters.size() > 1 && args[0].is(T::Array)) {
        const Array& a = heap_.items(args[0]);
        for (std::size_t i = 0; i < parameters.size(); ++i)
            bind(parameters[i], i < a.size ? a.items[i] : RV::nil());
    } else {
        for (std::size_t i = 0; i < parameters.size(); ++i)
            bind(parameters[i], i < args.size() ? args[i] : RV::nil());
    }
    if (++depth_ > 100) fall_back("nested too deep");
    const Flow flow = exec(*block.body, out);
    BUNRAKU_ASSERT(depth_ > 0);
    --depth_;
    return flow != Flow::Break;
}

bool Renderer::match(const regex::Regex& regex, const RV& subject, std::size_t start) {
    // A copy, because the string may change before the template reads $1.
    const auto text = subject.is(T::Sym) ? subject.symbol_name() : subject.s->view();
    match_subject_ =
        subject.is(T::Str) && subject.s->capacity > 0 ? heap_.arena().copy(text) : text;
    match_ = regex.search(match_subject_, start);
    return match_.has_value();
}

RV Renderer::group(std::size_t i) {
    if (!match_ || !match_->took_part(i)) return RV::nil();
    return str(match_->group(match_subject_, i));
}

void Renderer::unknown(const RV& self, M method) {
    if (self.is(T::Nil)) no_method(self, method);
    fall_back(fmt::format("the method '{}' of {}", method_name(method), class_name(self)));
}

void Renderer::no_method(const RV& self, M method) {
    std::string text;
    if (self.is(T::Nil) || self.is(T::True) || self.is(T::False)) {
        heap_.inspect(text, self);
        // Kernel has a private method of that name.
        ruby_error(fmt::format("{} method `{}' {}for {}:{}",
                               method == M::select ? "private" : "undefined", method_name(method),
                               method == M::select ? "called " : "", text, class_name(self)));
    }
    unknown(self, method);
}

}  // namespace bunraku::erb
