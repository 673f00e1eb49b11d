// SPDX-License-Identifier: Apache-2.0
// Implements to_s and inspect.
#include <fmt/format.h>

#include "core/base/redacted.h"
#include "core/base/work_limit.h"
#include "core/value/escapes.h"
#include "language/erb/ast.h"
#include "language/erb/value.h"

namespace bunraku::erb {

namespace {

void inspect_string(std::string& out, std::string_view text) {
    // Ruby's Unicode tables decide which other characters are printed unescaped.
    if (!ascii_only(text)) fall_back("inspect of text beyond ASCII");
    value::print_inspected_text(out, text);
}

bool plain_symbol(std::string_view name) {
    if (name.empty()) return false;
    const auto letter = [](char c) {
        return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    };
    if (!letter(name[0])) return false;
    for (std::size_t i = 1; i < name.size(); ++i) {
        const char c = name[i];
        if (letter(c) || (c >= '0' && c <= '9')) continue;
        return i + 1 == name.size() && (c == '?' || c == '!');
    }
    return true;
}

}  // namespace

void Heap::print(std::string& out, const RV& v) {
    switch (v.t) {
        case T::Nil: return;
        case T::Str: out += v.s->view(); return;
        case T::Sym:
        case T::Class: out += v.symbol_name(); return;
        case T::Range:
            print(out, v.r->from);
            out += v.r->exclusive ? "..." : "..";
            print(out, v.r->to);
            return;
        case T::Opaque:
            switch (v.v->kind()) {
                case value::Kind::Sensitive: out += base::kSensitiveText; return;
                case value::Kind::Type:
                case value::Kind::SemVer:
                case value::Kind::SemVerRange:
                case value::Kind::Uri: value::print(out, *v.v); return;
                default: fall_back("to_s of an object");
            }
        default: inspect(out, v);
    }
}

void Heap::inspect(std::string& out, const RV& v, int depth) {
    base::step();
    if (depth > 100) fall_back("nested too deep");
    if (out.size() > (64u << 20)) fall_back("too much memory");
    switch (v.t) {
        case T::Nil: out += "nil"; return;
        case T::False: out += "false"; return;
        case T::True: out += "true"; return;
        case T::Int: fmt::format_to(std::back_inserter(out), "{}", v.i); return;
        case T::Float: out += value::format_float(v.f); return;
        case T::Str: inspect_string(out, v.s->view()); return;
        case T::Sym:
            if (!plain_symbol(v.symbol_name())) fall_back("inspect of an odd symbol");
            out += ':';
            out += v.symbol_name();
            return;
        case T::Class: out += v.symbol_name(); return;
        case T::Array: {
            Array& a = items(v);
            out += '[';
            for (std::uint32_t i = 0; i < a.size; ++i) {
                if (i > 0) out += ", ";
                inspect(out, a.items[i], depth + 1);
            }
            out += ']';
            return;
        }
        case T::Hash: {
            Hash& h = entries(v);
            out += '{';
            for (std::uint32_t i = 0; i < h.size; ++i) {
                if (i > 0) out += ", ";
                inspect(out, h.entries[i].key, depth + 1);
                out += "=>";
                inspect(out, h.entries[i].value, depth + 1);
            }
            out += '}';
            return;
        }
        case T::Range:
            inspect(out, v.r->from, depth + 1);
            out += v.r->exclusive ? "..." : "..";
            inspect(out, v.r->to, depth + 1);
            return;
        default: fall_back("inspect of an object");
    }
}

}  // namespace bunraku::erb
