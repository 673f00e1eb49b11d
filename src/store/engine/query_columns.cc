// SPDX-License-Identifier: Apache-2.0
#include "store/engine/query_columns.h"

#include <cmath>
#include <fmt/format.h>

#include "core/codec/json_text.h"
#include "resources/catalog/wire_time.h"

namespace bunraku::store {

namespace {

void append_number(std::string& out, double d) {
    if (!std::isfinite(d)) {
        out += "null";
    } else if (d == std::floor(d) && std::fabs(d) < 9e15) {
        fmt::format_to(std::back_inserter(out), "{}", static_cast<std::int64_t>(d));
    } else {
        fmt::format_to(std::back_inserter(out), "{}", d);
    }
}

void append_hex(std::string& out, std::string_view bytes) {
    static constexpr char kHex[] = "0123456789abcdef";
    out += '"';
    for (char c : bytes) {
        out += kHex[static_cast<unsigned char>(c) >> 4];
        out += kHex[static_cast<unsigned char>(c) & 15];
    }
    out += '"';
}

}  // namespace

void append_column(std::string& out, const Statement& s, int i, query::OutputColumn::Kind kind) {
    if (s.is_null(i)) {
        out += "null";
        return;
    }
    switch (kind) {
        case query::OutputColumn::Text: codec::append_json_string(out, s.text(i)); break;
        case query::OutputColumn::Bool: out += s.boolean(i) ? "true" : "false"; break;
        case query::OutputColumn::Number:
            switch (s.type(i)) {
                case Statement::Type::Integer:
                    fmt::format_to(std::back_inserter(out), "{}", s.integer(i));
                    break;
                case Statement::Type::Real: append_number(out, s.real(i)); break;
                default: {
                    // The text of PostgreSQL's numeric, such as "256" or "10.5000000000000000".
                    std::string_view text = s.text(i);
                    if (text == "NaN" || text.find("nfinity") != std::string_view::npos) {
                        out += "null";
                        break;
                    }
                    if (text.find('.') != std::string_view::npos) {
                        while (text.ends_with('0')) text.remove_suffix(1);
                        if (text.ends_with('.')) text.remove_suffix(1);
                    }
                    out += text;
                }
            }
            break;
        case query::OutputColumn::Time:
            out += '"';
            out += catalog::format_wire_time(s.integer(i));
            out += '"';
            break;
        case query::OutputColumn::Hash: append_hex(out, s.blob(i)); break;
        case query::OutputColumn::Json:
        case query::OutputColumn::Nested: out += s.text(i); break;
    }
}

}  // namespace bunraku::store
