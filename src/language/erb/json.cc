// SPDX-License-Identifier: Apache-2.0
// Writes JSON like to_json of Ruby's json library.
#include <cmath>

#include "core/base/work_limit.h"
#include "core/codec/json_text.h"
#include "core/regex/ruby_dialect.h"
#include "core/value/escapes.h"
#include "language/erb/render.h"

namespace bunraku::erb {

namespace {

void json_string(std::string& out, std::string_view text) {
    if (!regex::is_valid_utf8(text)) fall_back("text that is not UTF-8");
    if (text.find('\x7f') != std::string_view::npos) fall_back("an odd character in JSON");
    codec::append_json_string(out, text, codec::BadBytes::Keep);
}

}  // namespace

void Renderer::json(std::string& out, const RV& v, int depth, bool pretty) {
    base::step();
    const auto line = [&](int level) {
        if (!pretty) return;
        out += '\n';
        out.append(static_cast<std::size_t>(level) * 2, ' ');
    };
    if (depth > 90) fall_back("nested too deep");
    // The library's output for empty collections depends on its version.
    if (pretty && ((v.is(T::Array) && v.a->size == 0) || (v.is(T::Hash) && v.h->size == 0)))
        fall_back("an empty list in pretty JSON");
    switch (v.t) {
        case T::Nil: out += "null"; return;
        case T::True: out += "true"; return;
        case T::False: out += "false"; return;
        case T::Int: heap_.inspect(out, v); return;
        case T::Float:
            if (!std::isfinite(v.f)) fall_back("a number that JSON does not know");
            heap_.inspect(out, v);
            return;
        case T::Str: json_string(out, v.s->view()); return;
        case T::Array: {
            Array& a = heap_.items(v);
            out += '[';
            for (std::uint32_t i = 0; i < a.size; ++i) {
                if (i > 0) out += ',';
                line(depth + 1);
                json(out, a.items[i], depth + 1, pretty);
            }
            if (a.size > 0) line(depth);
            out += ']';
            return;
        }
        case T::Hash: {
            Hash& h = heap_.entries(v);
            out += '{';
            for (std::uint32_t i = 0; i < h.size; ++i) {
                if (i > 0) out += ',';
                line(depth + 1);
                const RV& key = h.entries[i].key;
                if (!key.is(T::Str) && !key.is(T::Int)) fall_back("an odd key in JSON");
                json_string(out, heap_.to_s(key));
                out += pretty ? ": " : ":";
                json(out, h.entries[i].value, depth + 1, pretty);
            }
            if (h.size > 0) line(depth);
            out += '}';
            return;
        }
        default: fall_back("to_json of an object");
    }
}

}  // namespace bunraku::erb
