// SPDX-License-Identifier: Apache-2.0
// Methods of all objects, and those of numbers, symbols, nil, ranges and matches.
#include <array>
#include <cmath>
#include <fmt/format.h>

#include "core/regex/escape.h"
#include "language/erb/render.h"
#include "language/function/yaml_text.h"

namespace bunraku::erb {

namespace {

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
    const std::int64_t q = a / b;
    return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}

double number(const RV& v) { return v.is(T::Int) ? static_cast<double>(v.i) : v.f; }
bool numeric(const RV& v) { return v.is(T::Int) || v.is(T::Float); }

std::int64_t checked(std::int64_t a, std::int64_t b, M method) {
    std::int64_t out = 0;
    const bool overflow = method == M::op_add   ? __builtin_add_overflow(a, b, &out)
                          : method == M::op_sub ? __builtin_sub_overflow(a, b, &out)
                                                : __builtin_mul_overflow(a, b, &out);
    if (overflow) fall_back("a large number");
    return out;
}

/// Converts the result of Float#round, #floor and others to an Integer.
RV to_integer(double d) {
    if (!(std::fabs(d) < 9e18)) fall_back("a large number");
    return RV::integer(static_cast<std::int64_t>(d));
}

double ruby_modulo(double a, double b) {
    if (std::isinf(b) && !std::isinf(a)) fall_back("an odd number");
    double m = std::fmod(a, b);
    if (b * m < 0) m += b;
    return m;
}

}  // namespace

bool Renderer::is_a(const RV& v, std::string_view cls) {
    if (v.is(T::Opaque) || v.t >= T::Scope) fall_back("is_a? of an object");
    const auto name = class_name(v);
    if (cls == name || cls == "Object") return true;
    if (cls == "Numeric") return numeric(v);
    if (cls == "Comparable") return numeric(v) || v.is(T::Str) || v.is(T::Sym);
    if (cls == "Enumerable")
        return v.is(T::Array) || v.is(T::Hash) || v.is(T::Range) || v.is(T::Enumerator);
    return false;
}

/// Answers only for names with a certain result; others fall back.
bool Renderer::responds_to(const RV& v, std::string_view name) {
    struct Row {
        std::string_view name;
        std::string_view classes;  // "A"rray "H"ash "S"tring "I"nteger "F"loat "N"il s"Y"mbol
    };
    static constexpr std::array<Row, 24> rows{
        {{"each", "AH"},    {"each_pair", "H"}, {"each_with_index", "AH"},
         {"keys", "H"},     {"values", "H"},    {"has_key?", "H"},
         {"key?", "H"},     {"join", "A"},      {"map", "AH"},
         {"collect", "AH"}, {"sort", "AH"},     {"flatten", "AH"},
         {"to_a", "AHN"},   {"to_ary", "A"},    {"to_h", "AHN"},
         {"to_hash", "H"},  {"to_str", "S"},    {"to_sym", "SY"},
         {"to_i", "SIFN"},  {"empty?", "AHSY"}, {"length", "AHSY"},
         {"split", "S"},    {"upcase", "SY"},   {"to_s", "AHSIFNY"}}};
    char code = 0;
    switch (v.t) {
        case T::Array: code = 'A'; break;
        case T::Hash: code = 'H'; break;
        case T::Str: code = 'S'; break;
        case T::Int: code = 'I'; break;
        case T::Float: code = 'F'; break;
        case T::Nil: code = 'N'; break;
        case T::Sym: code = 'Y'; break;
        default: break;
    }
    for (const auto& row : rows)
        if (row.name == name && code != 0) return row.classes.find(code) != std::string_view::npos;
    fall_back(fmt::format("respond_to? of '{}'", name));
}

RV Renderer::invoke(const RV& self, M method, Args args, const Block* block) {
    step();
    if (self.is(T::Output) || self.is(T::Scope)) fall_back("a method of the output");
    if (self.is(T::ScopeHash)) return scope_hash_method(method, args, block);
    if (block && (args.size() > 2)) unknown(self, method);
    switch (method) {
        case M::nil:
            if (!args.empty()) break;
            return RV::boolean(self.is(T::Nil));
        case M::op_eq: return RV::boolean(heap_.equal(self, args[0]));
        case M::op_ne: return RV::boolean(!heap_.equal(self, args[0]));
        case M::eql:
            if (args.size() != 1) break;
            return RV::boolean(heap_.same(self, args[0]));
        case M::is_a:
        case M::kind_of:
            if (args.size() != 1 || !args[0].is(T::Class)) break;
            return RV::boolean(is_a(self, args[0].symbol_name()));
        case M::instance_of:
            if (args.size() != 1 || !args[0].is(T::Class) || class_name(self).empty()) break;
            return RV::boolean(class_name(self) == args[0].symbol_name());
        case M::class_: {
            if (!args.empty() || class_name(self).empty()) break;
            RV v = RV::symbol(class_name(self));
            v.t = T::Class;
            return v;
        }
        case M::respond_to:
            if (args.size() != 1) break;
            return RV::boolean(responds_to(self, heap_.to_s(args[0])));
        case M::to_s:
            if (!args.empty()) break;
            return self.is(T::Str) ? self : str(heap_.to_s(self));
        case M::inspect: {
            if (!args.empty()) break;
            std::string out;
            heap_.inspect(out, self);
            return str(out);
        }
        case M::op_cmp: {
            const int c = heap_.compare(self, args[0]);
            return c == 2 ? RV::nil() : RV::integer(c);
        }
        case M::freeze:
            // No native code can detect whether these values are frozen.
            if (!args.empty() || self.is(T::Str) || self.is(T::Array) || self.is(T::Hash)) break;
            return self;
        case M::dup:
        case M::clone:
            if (!args.empty()) break;
            if (self.is(T::Str)) return str(self.s->view());
            if (self.is(T::Array)) return heap_.copy_array(self);
            if (self.is(T::Hash)) return heap_.copy_hash(self);
            if (self.t <= T::Float || self.is(T::Sym)) return self;
            break;
        case M::to_json: {
            if (!args.empty() || block) break;
            std::string out;
            json(out, self, 0);
            return str(out);
        }
        case M::to_yaml: {
            if (!args.empty() || block || !(self.is(T::Hash) || self.is(T::Array))) break;
            return str(function::yaml_text(heap_.to_puppet(self, host_.arena())));
        }
        case M::op_nmatch: {
            const RV v = invoke(self, M::op_match, args, nullptr);
            return RV::boolean(!v.truthy());
        }
        default: break;
    }
    switch (self.t) {
        case T::Str: return string_method(self, method, args, block);
        case T::Array: return array_method(self, method, args, block);
        case T::Hash: return hash_method(self, method, args, block);
        case T::Int: return integer_method(self, method, args, block);
        case T::Float: return float_method(self, method, args);
        case T::Sym: return symbol_method(self, method, args);
        case T::Nil: return nil_method(method, args);
        case T::Range: return range_method(self, method, args, block);
        case T::Regex: return regex_method(self, method, args);
        case T::Match: return match_method(self, method, args);
        case T::Enumerator: return enumerator_method(self, method, args, block);
        case T::Class: return class_method(self, method, args);
        case T::True:
        case T::False:
            if (args.size() == 1 && (method == M::op_and || method == M::op_or)) {
                const bool other = args[0].truthy();
                return RV::boolean(method == M::op_and ? self.truthy() && other
                                                       : self.truthy() || other);
            }
            if (method == M::op_xor && args.size() == 1)
                return RV::boolean(self.truthy() != args[0].truthy());
            if (method == M::each || method == M::join || method == M::empty ||
                method == M::op_index || method == M::split)
                no_method(self, method);
            break;
        case T::Opaque:
            if (method == M::unwrap && self.v->is(value::Kind::Sensitive) && args.empty())
                return heap_.from_puppet(self.v->unwrap());
            break;
        default: break;
    }
    unknown(self, method);
}

RV Renderer::nil_method(M method, Args args) {
    if (args.empty()) {
        switch (method) {
            case M::to_a: return heap_.array();
            case M::to_h: return heap_.hash();
            case M::to_i: return RV::integer(0);
            case M::to_f: return RV::floating(0);
            default: break;
        }
    }
    if (method == M::op_match && args.size() == 1) return RV::nil();
    if ((method == M::op_and || method == M::op_or) && args.size() == 1)
        return RV::boolean(method == M::op_or && args[0].truthy());
    no_method(RV::nil(), method);
}

RV Renderer::integer_method(const RV& self, M method, Args args, const Block* block) {
    const std::int64_t a = self.i;
    if (args.size() == 1 && args[0].is(T::Int) && !block) {
        const std::int64_t b = args[0].i;
        switch (method) {
            case M::op_add:
            case M::op_sub:
            case M::op_mul: return RV::integer(checked(a, b, method));
            case M::op_div:
                if (b == 0) ruby_error("divided by 0");
                if (b == -1) return RV::integer(checked(0, a, M::op_sub));
                return RV::integer(floor_div(a, b));
            case M::op_mod:
            case M::modulo:
                if (b == 0) ruby_error("divided by 0");
                if (b == -1) return RV::integer(0);
                return RV::integer(a - floor_div(a, b) * b);
            case M::op_pow: {
                if (b < 0) fall_back("a rational number");
                std::int64_t out = 1;
                if (b > 64 && a != 0 && a != 1 && a != -1) fall_back("a large number");
                for (std::int64_t i = 0; i < std::min<std::int64_t>(b, 64 + (b & 1)); ++i)
                    out = checked(out, a, M::op_mul);
                return RV::integer(out);
            }
            case M::op_lt: return RV::boolean(a < b);
            case M::op_le: return RV::boolean(a <= b);
            case M::op_gt: return RV::boolean(a > b);
            case M::op_ge: return RV::boolean(a >= b);
            case M::op_and: return RV::integer(a & b);
            case M::op_or: return RV::integer(a | b);
            case M::op_xor: return RV::integer(a ^ b);
            case M::op_shl:
                if (b < 0 || b > 62 || a < 0 || (a >> (62 - b)) != 0) fall_back("a large number");
                return RV::integer(a << b);
            case M::op_shr:
                if (b < 0 || b > 62) fall_back("a large number");
                return RV::integer(a >> b);
            case M::divmod:
                if (b == 0) ruby_error("divided by 0");
                if (b == -1) break;
                return heap_.pair(RV::integer(floor_div(a, b)),
                                  RV::integer(a - floor_div(a, b) * b));
            case M::to_s: {
                if (b < 2 || b > 36) break;
                std::string digits;
                std::uint64_t rest =
                    a < 0 ? 0 - static_cast<std::uint64_t>(a) : static_cast<std::uint64_t>(a);
                do {
                    digits.insert(
                        digits.begin(),
                        "0123456789abcdefghijklmnopqrstuvwxyz"[rest % static_cast<unsigned>(b)]);
                    rest /= static_cast<unsigned>(b);
                } while (rest > 0);
                return str(a < 0 ? "-" + digits : digits);
            }
            default: break;
        }
    }
    if (args.size() == 1 && args[0].is(T::Float))
        return float_method(RV::floating(static_cast<double>(a)), method, args);
    if (args.size() == 1 && (method == M::op_add || method == M::op_sub || method == M::op_mul ||
                             method == M::op_div)) {
        if (args[0].is(T::Nil)) ruby_error("nil can't be coerced into Integer");
        if (args[0].is(T::Str)) ruby_error("String can't be coerced into Integer");
    }
    if (args.size() == 2 && method == M::between && args[0].is(T::Int) && args[1].is(T::Int))
        return RV::boolean(a >= args[0].i && a <= args[1].i);
    if (block && method == M::times && args.empty()) {
        for (std::int64_t i = 0; i < a; ++i) {
            RV out;
            if (!yield1(*block, RV::integer(i), out)) return out;
        }
        return self;
    }
    if (block && (method == M::upto || method == M::downto) && args.size() == 1 &&
        args[0].is(T::Int)) {
        const std::int64_t by = method == M::upto ? 1 : -1;
        for (std::int64_t i = a; by > 0 ? i <= args[0].i : i >= args[0].i; i += by) {
            RV out;
            if (!yield1(*block, RV::integer(i), out)) return out;
        }
        return self;
    }
    if (!args.empty() || block) unknown(self, method);
    switch (method) {
        case M::to_i:
        case M::to_int:
        case M::round:
        case M::floor:
        case M::ceil:
        case M::truncate: return self;
        case M::to_f: return RV::floating(static_cast<double>(a));
        case M::succ:
        case M::next_: return RV::integer(checked(a, 1, M::op_add));
        case M::pred: return RV::integer(checked(a, 1, M::op_sub));
        case M::abs: return RV::integer(a < 0 ? checked(0, a, M::op_sub) : a);
        case M::op_neg: return RV::integer(checked(0, a, M::op_sub));
        case M::zero: return RV::boolean(a == 0);
        case M::positive: return RV::boolean(a > 0);
        case M::negative: return RV::boolean(a < 0);
        case M::even: return RV::boolean(a % 2 == 0);
        case M::odd: return RV::boolean(a % 2 != 0);
        default: unknown(self, method);
    }
}

RV Renderer::float_method(const RV& self, M method, Args args) {
    const double a = self.f;
    if (args.size() == 1 && numeric(args[0])) {
        const double b = number(args[0]);
        switch (method) {
            case M::op_add: return RV::floating(a + b);
            case M::op_sub: return RV::floating(a - b);
            case M::op_mul: return RV::floating(a * b);
            case M::op_div: return RV::floating(a / b);
            case M::op_mod:
            case M::modulo: return RV::floating(ruby_modulo(a, b));
            case M::op_lt: return RV::boolean(a < b);
            case M::op_le: return RV::boolean(a <= b);
            case M::op_gt: return RV::boolean(a > b);
            case M::op_ge: return RV::boolean(a >= b);
            case M::round: {
                if (!args[0].is(T::Int) || args[0].i < 1 || args[0].i > 9 || !(std::fabs(a) < 1e6))
                    break;
                // Same as round_half_up in Ruby's float.c.
                const double s = std::pow(10.0, static_cast<double>(args[0].i));
                double f = std::round(a * s);
                if (a > 0) {
                    if ((f + 0.5) / s <= a) f += 1;
                } else if ((f - 0.5) / s >= a) {
                    f -= 1;
                }
                return RV::floating(f / s);
            }
            default: break;
        }
    }
    if (!args.empty()) unknown(self, method);
    if (!std::isfinite(a)) fall_back("an odd number");
    switch (method) {
        case M::to_f: return self;
        case M::to_i:
        case M::to_int:
        case M::truncate: return to_integer(std::trunc(a));
        case M::round: return to_integer(std::round(a));
        case M::floor: return to_integer(std::floor(a));
        case M::ceil: return to_integer(std::ceil(a));
        case M::abs: return RV::floating(std::fabs(a));
        case M::op_neg: return RV::floating(-a);
        case M::zero: return RV::boolean(a == 0);
        case M::positive: return RV::boolean(a > 0);
        case M::negative: return RV::boolean(a < 0);
        default: unknown(self, method);
    }
}

RV Renderer::symbol_method(const RV& self, M method, Args args) {
    if (!args.empty()) unknown(self, method);
    switch (method) {
        case M::to_sym: return self;
        case M::length:
        case M::size: return RV::integer(static_cast<std::int64_t>(char_count(self.symbol_name())));
        case M::empty: return RV::boolean(self.size == 0);
        default: unknown(self, method);
    }
}

RV Renderer::range_method(const RV& self, M method, Args args, const Block* block) {
    const std::int64_t from = self.r->from.i;
    const std::int64_t to = self.r->to.i - (self.r->exclusive ? 1 : 0);
    switch (method) {
        case M::include_:
        case M::member:
            if (args.size() != 1) break;
            if (args[0].is(T::Int)) return RV::boolean(args[0].i >= from && args[0].i <= to);
            if (args[0].is(T::Float) && !self.r->exclusive)
                return RV::boolean(args[0].f >= static_cast<double>(from) &&
                                   args[0].f <= static_cast<double>(to));
            if (args[0].is(T::Float) || args[0].is(T::Opaque)) break;
            return RV::boolean(false);
        case M::first:
            if (!args.empty()) break;
            return self.r->from;
        case M::last:
            if (!args.empty()) break;
            return self.r->to;
        case M::each:
            if (!block || !args.empty()) break;
            for (std::int64_t i = from; i <= to; ++i) {
                RV out;
                if (!yield1(*block, RV::integer(i), out)) return out;
            }
            return self;
        default: {
            if (method != M::to_a && method != M::map && method != M::collect &&
                method != M::each_with_index && method != M::select && method != M::reject &&
                method != M::inject && method != M::reduce && method != M::sum &&
                method != M::entries && method != M::find && method != M::any && method != M::all &&
                method != M::sort_by && method != M::reverse_each && method != M::each_slice &&
                method != M::each_with_object && method != M::zip)
                break;
            if (to - from > 1'000'000) fall_back("a large range");
            RV all = heap_.array();
            for (std::int64_t i = from; i <= to; ++i) heap_.push(*all.a, RV::integer(i));
            if ((method == M::to_a || method == M::entries) && args.empty()) return all;
            return enumerate(self, all, method, args, block);
        }
    }
    unknown(self, method);
}

RV Renderer::regex_method(const RV& self, M method, Args args) {
    if (args.size() != 1 || !(args[0].is(T::Str) || args[0].is(T::Nil) || args[0].is(T::Sym)))
        unknown(self, method);
    if (args[0].is(T::Nil) && method != M::match_p) {
        if (method != M::op_match && method != M::match) unknown(self, method);
        match_.reset();
        return RV::nil();
    }
    switch (method) {
        case M::match_p:
            if (args[0].is(T::Nil)) return RV::boolean(false);
            return RV::boolean(self.re->regex->search(heap_.to_s(args[0])).has_value());
        case M::op_match:
        case M::match: return invoke(args[0], method, {&self, 1}, nullptr);
        default: unknown(self, method);
    }
}

/// Runs Regexp.escape, File.basename and similar methods.
RV Renderer::class_method(const RV& self, M method, Args args) {
    const auto name = self.symbol_name();
    if (name == "JSON" && args.size() == 1 && (args[0].is(T::Array) || args[0].is(T::Hash)) &&
        (method == M::generate || method == M::pretty_generate)) {
        std::string out;
        json(out, args[0], 0, method == M::pretty_generate);
        return str(out);
    }
    if (args.size() != 1 || !args[0].is(T::Str)) unknown(self, method);
    const auto text = args[0].s->view();
    if (name == "Regexp" && method == M::escape) return str(regex::escape(text));
    const bool plain =
        !text.empty() && !text.ends_with('/') && text.find("//") == std::string_view::npos;
    const auto slash = text.rfind('/');
    if (name == "File" && plain && method == M::basename)
        return str(slash == std::string_view::npos ? text : text.substr(slash + 1));
    if (name == "File" && plain && method == M::dirname)
        return str(slash == std::string_view::npos ? "."
                   : slash == 0                    ? "/"
                                                   : text.substr(0, slash));
    unknown(self, method);
}

/// Runs a method on scope.to_hash, which contains the variables that are set and not undef.
RV Renderer::scope_hash_method(M method, Args args, const Block* block) {
    const bool by_name = method == M::op_index || method == M::has_key || method == M::key_p ||
                         method == M::include_;
    if (!by_name || args.size() != 1 || !args[0].is(T::Str)) {
        if (!shared_.variables.empty()) fall_back("a variable that setvar set");
        const Value all = host_.variables();
        if (!all.is_hash()) fall_back("scope.to_hash");
        RV hash = heap_.hash();
        for (const auto& e : all.as_hash())
            if (!e.value.is_undef())
                heap_.set(*hash.h, heap_.from_puppet(e.key), heap_.from_puppet(e.value));
        return hash_method(hash, method, args, block);
    }
    const auto name = args[0].s->view();
    if (shared_.find(name) || name.find(':') != std::string_view::npos)
        fall_back("an odd name in scope.to_hash");
    const auto v = host_.lookup(name);
    const bool there = v && !v->is_undef();
    switch (method) {
        case M::op_index: return there ? object(name, *v) : RV::nil();
        default: return RV::boolean(there);
    }
}

RV Renderer::match_method(const RV& self, M method, Args args) {
    const auto& m = self.m->match;
    const auto part = [&](std::size_t i) {
        return m.took_part(i) ? str(m.group(self.m->subject, i)) : RV::nil();
    };
    if (method == M::op_index && args.size() == 1 && args[0].is(T::Int)) {
        std::int64_t i = args[0].i;
        if (i < 0) i += static_cast<std::int64_t>(m.groups.size());
        return i < 0 ? RV::nil() : part(static_cast<std::size_t>(i));
    }
    if ((method == M::to_a || method == M::captures) && args.empty()) {
        RV out = heap_.array();
        for (std::size_t i = method == M::to_a ? 0 : 1; i < m.groups.size(); ++i)
            heap_.push(*out.a, part(i));
        return out;
    }
    unknown(self, method);
}

RV Renderer::enumerator_method(const RV& self, M method, Args args, const Block* block) {
    using Kind = Enumerator::Kind;
    const auto kind = self.e->kind;
    RV array;
    array.t = T::Array;
    array.a = self.e->array;
    std::int64_t offset = 0;
    if (method == M::with_index && args.size() <= 1) {
        if (args.size() == 1 && !args[0].is(T::Int)) unknown(self, method);
        if (args.size() == 1) offset = args[0].i;
    } else if (!args.empty()) {
        unknown(self, method);
    }
    // Methods such as each_with_index.map iterate over pairs of item and index.
    if (kind == Kind::EachWithIndex && method != M::with_index) {
        RV with_number = heap_.array();
        for (std::uint32_t i = 0; i < heap_.items(array).size; ++i)
            heap_.push(*with_number.a, heap_.pair(array.a->items[i], RV::integer(i)));
        if (method == M::to_a) return with_number;
        if (block && (method == M::map || method == M::collect || method == M::select ||
                      method == M::reject || method == M::each || method == M::flat_map))
            return enumerate(self, with_number, method, args, block);
        unknown(self, method);
    }
    const bool indexed =
        method == M::with_index || (method == M::each_with_index && kind != Kind::EachWithIndex);
    if (!block || !indexed || kind == Kind::EachWithIndex) unknown(self, method);
    RV out = heap_.array();
    for (std::uint32_t i = 0; i < heap_.items(array).size; ++i) {
        const RV item = array.a->items[i];
        RV v;
        if (!yield2(*block, item, RV::integer(i + offset), v)) return v;
        if (kind == Kind::Map) heap_.push(*out.a, v);
        if ((kind == Kind::Select && v.truthy()) || (kind == Kind::Reject && !v.truthy()))
            heap_.push(*out.a, item);
    }
    return kind == Kind::Each ? array : out;
}

}  // namespace bunraku::erb
