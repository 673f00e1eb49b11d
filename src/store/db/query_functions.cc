// SPDX-License-Identifier: Apache-2.0
// SQLite versions of PostgreSQL's functions for JSON, regular expressions and to_char. Every
// connection registers them (see sqlite_functions.h).
#include "store/db/query_functions.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <sqlite3.h>

#include "core/base/assert.h"
#include "core/base/number.h"
#include "core/base/text_view.h"
#include "core/codec/json_text.h"
#include "resources/catalog/wire_time.h"
#include "store/db/scalar_function.h"
#include "store/query/are_regex.h"
#include "store/query/ast.h"
#include "store/query/number_text.h"
#include "store/query/time_text.h"

namespace bunraku::store {

namespace {

std::string_view text_of(sqlite3_value* v) {
    const auto* p = reinterpret_cast<const char*>(sqlite3_value_text(v));
    if (!p) return {};
    return {p, static_cast<std::size_t>(sqlite3_value_bytes(v))};
}

bool is_null(sqlite3_value* v) { return sqlite3_value_type(v) == SQLITE_NULL; }

void give(sqlite3_context* context, std::string_view text) {
    sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

// --- Traversal of JSON without building it

void skip_blanks(std::string_view s, std::size_t& i) {
    while (i < s.size() && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n' || s[i] == '\r')) ++i;
}

bool skip_string(std::string_view s, std::size_t& i) {
    BUNRAKU_ASSERT(i < s.size() && s[i] == '"');
    for (++i; i < s.size(); ++i) {
        if (s[i] == '\\') {
            ++i;
        } else if (s[i] == '"') {
            ++i;
            return true;
        }
    }
    return false;
}

bool skip_value(std::string_view s, std::size_t& i) {
    skip_blanks(s, i);
    int depth = 0;
    while (i < s.size()) {
        char c = s[i];
        if (c == '"') {
            if (!skip_string(s, i)) return false;
        } else if (c == '{' || c == '[') {
            ++depth;
            ++i;
            continue;
        } else if (c == '}' || c == ']') {
            if (--depth < 0) return false;
            ++i;
        } else if (c == ',' || c == ':') {
            if (depth == 0) return true;
            ++i;
            continue;
        } else if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
            ++i;
            if (depth == 0) return true;
            continue;
        } else {
            while (i < s.size() && !std::strchr(",:]} \t\r\n", s[i])) ++i;
        }
        if (depth == 0) return true;
    }
    return depth == 0;
}

/// Whether a numeric step may be the index of an array element.
enum class Digits : std::uint8_t { Names, Indexes };

/// Returns the value of a member or element. Returns an empty view if it does not exist.
std::string_view step_into(base::TextView s BUNRAKU_LIFETIMEBOUND, const query::Ast& part,
                           Digits digits) {
    std::size_t i = 0;
    skip_blanks(s, i);
    if (i >= s.size()) return {};
    if (s[i] == '[') {
        std::int64_t wanted = -1;
        if (part.is_int()) {
            wanted = part.as_int();
        } else if (digits == Digits::Indexes && part.as_text().size() < 10) {
            if (auto n = base::parse_integer<std::uint32_t>(part.as_text())) wanted = *n;
        }
        if (wanted < 0) return {};
        ++i;
        for (std::int64_t n = 0;; ++n) {
            skip_blanks(s, i);
            if (i >= s.size() || s[i] == ']') return {};
            std::size_t start = i;
            if (!skip_value(s, i)) return {};
            if (n == wanted) return s.substr(start, i - start);
            skip_blanks(s, i);
            if (i >= s.size() || s[i] != ',') return {};
            ++i;
        }
    }
    // PostgreSQL stores a scalar as an array of one element, which is visible to "->".
    if (s[i] != '{' && digits == Digits::Names && part.is_int() && part.as_int() == 0)
        return s.substr(i);
    if (s[i] != '{' || !part.is_text()) return {};
    std::string key;
    codec::append_json_string(key, part.as_text());
    ++i;
    for (;;) {
        skip_blanks(s, i);
        if (i >= s.size() || s[i] != '"') return {};
        std::size_t start = i;
        if (!skip_string(s, i)) return {};
        std::string_view name = s.substr(start, i - start);
        bool same = name == key;
        if (!same && name.find('\\') != std::string_view::npos) {
            try {
                same = query::read_query_json(name).as_text() == part.as_text();
            } catch (const query::QueryError&) {
                same = false;
            }
        }
        skip_blanks(s, i);
        if (i >= s.size() || s[i] != ':') return {};
        ++i;
        skip_blanks(s, i);
        start = i;
        if (!skip_value(s, i)) return {};
        if (same) return s.substr(start, i - start);
        skip_blanks(s, i);
        if (i >= s.size() || s[i] != ',') return {};
        ++i;
    }
}

// --- Order and containment as in jsonb

int rank(const query::Ast& a) {
    switch (a.kind()) {
        case query::Ast::Kind::Null: return 0;
        case query::Ast::Kind::Text: return 1;
        case query::Ast::Kind::Int:
        case query::Ast::Kind::Real: return 2;
        case query::Ast::Kind::Bool: return 3;
        case query::Ast::Kind::Array: return 4;
        case query::Ast::Kind::Map: return 5;
    }
    return 0;
}

std::vector<std::size_t> sorted_keys(const query::Ast& map) {
    BUNRAKU_ASSERT(map.keys().size() == map.size());
    std::vector<std::size_t> order(map.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    // jsonb sorts shorter keys first.
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        const std::string &x = map.keys()[a], &y = map.keys()[b];
        return x.size() != y.size() ? x.size() < y.size() : x < y;
    });
    return order;
}

int compare(const query::Ast& a, const query::Ast& b) {
    if (rank(a) != rank(b)) return rank(a) < rank(b) ? -1 : 1;
    switch (a.kind()) {
        case query::Ast::Kind::Null: return 0;
        case query::Ast::Kind::Text: return a.as_text().compare(b.as_text());
        case query::Ast::Kind::Bool:
            return static_cast<int>(a.as_bool()) - static_cast<int>(b.as_bool());
        case query::Ast::Kind::Int:
            if (b.is_int()) {
                return a.as_int() < b.as_int() ? -1 : a.as_int() > b.as_int() ? 1 : 0;
            }
            [[fallthrough]];
        case query::Ast::Kind::Real:
            return a.as_real() < b.as_real() ? -1 : a.as_real() > b.as_real() ? 1 : 0;
        case query::Ast::Kind::Array:
            if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
            for (std::size_t i = 0; i < a.size(); ++i) {
                if (int c = compare(a[i], b[i])) return c;
            }
            return 0;
        case query::Ast::Kind::Map: {
            if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
            auto x = sorted_keys(a), y = sorted_keys(b);
            for (std::size_t i = 0; i < x.size(); ++i) {
                if (int c = a.keys()[x[i]].compare(b.keys()[y[i]])) return c;
                if (int c = compare(a[x[i]], b[y[i]])) return c;
            }
            return 0;
        }
    }
    return 0;
}

bool contains(const query::Ast& whole, const query::Ast& part, bool top) {
    if (part.is_map()) {
        if (!whole.is_map()) return false;
        for (std::size_t i = 0; i < part.size(); ++i) {
            const query::Ast* v = whole.find(part.keys()[i]);
            if (!v || !contains(*v, part[i], false)) return false;
        }
        return true;
    }
    if (part.is_array()) {
        if (!whole.is_array()) return false;
        return std::all_of(part.items().begin(), part.items().end(), [&](const query::Ast& wanted) {
            return std::any_of(
                whole.items().begin(), whole.items().end(),
                [&](const query::Ast& there) { return contains(there, wanted, false); });
        });
    }
    if (whole.is_array() && top) {
        return std::any_of(whole.items().begin(), whole.items().end(),
                           [&](const query::Ast& there) { return compare(there, part) == 0; });
    }
    return compare(whole, part) == 0;
}

/// Prints JSON as PostgreSQL prints jsonb.
void print_jsonb(const query::Ast& a, std::string& out, bool compact = false) {
    if (a.is_array()) {
        out += '[';
        bool first = true;
        for (const query::Ast& item : a.items()) {
            if (!first) out += compact ? "," : ", ";
            first = false;
            print_jsonb(item, out, compact);
        }
        out += ']';
    } else if (a.is_map()) {
        out += '{';
        bool first = true;
        for (std::size_t i : sorted_keys(a)) {
            if (!first) out += compact ? "," : ", ";
            first = false;
            codec::append_json_string(out, a.keys()[i]);
            out += compact ? ":" : ": ";
            print_jsonb(a[i], out, compact);
        }
        out += '}';
    } else {
        write_json(a, out);
    }
}

/// Appends bytes that sort in the order of jsonb.
void sort_key(const query::Ast& a, std::string& out) {
    out += static_cast<char>(rank(a) + 1);
    auto number = [&](std::uint64_t bits) {
        for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(bits >> shift);
    };
    switch (a.kind()) {
        case query::Ast::Kind::Null: break;
        case query::Ast::Kind::Text:
            out += a.as_text();
            out += '\0';
            break;
        case query::Ast::Kind::Bool: out += a.as_bool() ? '\2' : '\1'; break;
        case query::Ast::Kind::Int:
        case query::Ast::Kind::Real: {
            double d = a.as_real() == 0 ? 0.0 : a.as_real();
            std::uint64_t bits = 0;
            std::memcpy(&bits, &d, sizeof bits);
            number(bits >> 63 ? ~bits : bits | (1ull << 63));
            break;
        }
        case query::Ast::Kind::Array:
            number(a.size());
            for (const query::Ast& item : a.items()) sort_key(item, out);
            break;
        case query::Ast::Kind::Map:
            number(a.size());
            for (std::size_t i : sorted_keys(a)) {
                out += a.keys()[i];
                out += '\0';
                sort_key(a[i], out);
            }
            break;
    }
}

bool read(std::string_view json, query::Ast* out) {
    try {
        *out = query::read_query_json(json);
        return true;
    } catch (const query::QueryError&) {
        return false;
    }
}

/// Reports whether a JSON text is an object or an array.
bool is_container(std::string_view json) {
    std::size_t i = 0;
    skip_blanks(json, i);
    return i < json.size() && (json[i] == '{' || json[i] == '[');
}

// --- SQL functions

void regexp(sqlite3_context* context, int, sqlite3_value** argv) {
    if (is_null(argv[0]) || is_null(argv[1])) return;
    try {
        using Kept = std::shared_ptr<const query::AreRegex>;
        auto* kept = static_cast<Kept*>(sqlite3_get_auxdata(context, 0));
        Kept regex = kept ? *kept : query::AreRegex::cached(text_of(argv[0]));
        sqlite3_result_int(context, regex->matches(text_of(argv[1])));
        if (!kept) {
            sqlite3_set_auxdata(context, 0, new Kept(regex),
                                [](void* p) { delete static_cast<Kept*>(p); });
        }
    } catch (const query::QueryError& e) {
        sqlite3_result_error(context, e.message.c_str(), static_cast<int>(e.message.size()));
    } catch (...) {
        sqlite3_result_error_nomem(context);
    }
}

void append_shown(std::string& out, char kind, sqlite3_value* v) {
    if (is_null(v)) {
        out += "null";
        return;
    }
    switch (kind) {
        case 's': codec::append_json_string(out, text_of(v)); break;
        case 'b': out += sqlite3_value_int(v) ? "true" : "false"; break;
        case 't':
            out += '"';
            out += catalog::format_wire_time(sqlite3_value_int64(v));
            out += '"';
            break;
        case 'o': {
            std::string t = catalog::format_wire_time(sqlite3_value_int64(v));
            t.pop_back();
            while (t.back() == '0') t.pop_back();
            if (t.back() == '.') t.pop_back();
            // Restores zeros that do not belong to the fraction.
            if (t.size() < 19) t = catalog::format_wire_time(sqlite3_value_int64(v)).substr(0, 19);
            fmt::format_to(std::back_inserter(out), "\"{}+00:00\"", t);
            break;
        }
        case 'x': {
            static constexpr char kHex[] = "0123456789abcdef";
            const auto* p = static_cast<const unsigned char*>(sqlite3_value_blob(v));
            int n = sqlite3_value_bytes(v);
            out += '"';
            for (int i = 0; i < n; ++i) {
                out += kHex[p[i] >> 4];
                out += kHex[p[i] & 15];
            }
            out += '"';
            break;
        }
        default: out += text_of(v);
    }
}

/// Implements json_text('{"a":%s,"b":%j}', a, b), which fills values into a JSON template.
void json_text(sqlite3_context* context, int argc, sqlite3_value** argv) {
    std::string out;
    std::string_view format = text_of(argv[0]);
    int next = 1;
    for (std::size_t i = 0; i < format.size(); ++i) {
        if (format[i] == '%' && i + 1 < format.size() && next < argc) {
            append_shown(out, format[++i], argv[next++]);
        } else {
            out += format[i];
        }
    }
    give(context, out);
}

struct Gathered {
    std::string* text;
};

void join_step(sqlite3_context* context, int, sqlite3_value** argv) {
    auto* g = static_cast<Gathered*>(sqlite3_aggregate_context(context, sizeof(Gathered)));
    if (!g) return sqlite3_result_error_nomem(context);
    if (!g->text) g->text = new std::string();
    *g->text += g->text->empty() ? '[' : ',';
    *g->text += is_null(argv[0]) ? std::string_view("null") : text_of(argv[0]);
}

void join_end(sqlite3_context* context) {
    auto* g = static_cast<Gathered*>(sqlite3_aggregate_context(context, 0));
    if (!g || !g->text) return;
    *g->text += ']';
    give(context, *g->text);
    delete g->text;
    g->text = nullptr;
}

void members_step(sqlite3_context* context, int, sqlite3_value** argv) {
    auto* g = static_cast<Gathered*>(sqlite3_aggregate_context(context, sizeof(Gathered)));
    if (!g) return sqlite3_result_error_nomem(context);
    if (!g->text) g->text = new std::string();
    *g->text += g->text->empty() ? '{' : ',';
    codec::append_json_string(*g->text, text_of(argv[0]));
    *g->text += ':';
    *g->text += is_null(argv[1]) ? std::string_view("null") : text_of(argv[1]);
}

void members_end(sqlite3_context* context) {
    auto* g = static_cast<Gathered*>(sqlite3_aggregate_context(context, 0));
    if (!g || !g->text) return give(context, "{}");
    *g->text += '}';
    give(context, *g->text);
    delete g->text;
    g->text = nullptr;
}

/// Returns the value at the path in the second argument, a JSON array of steps.
template <Digits D>
void json_at(sqlite3_context* context, int, sqlite3_value** argv) {
    if (is_null(argv[0]) || is_null(argv[1])) return;
    auto* kept = static_cast<query::Ast*>(sqlite3_get_auxdata(context, 1));
    query::Ast own;
    if (!kept && !read(text_of(argv[1]), &own)) return;
    const query::Ast& path = kept ? *kept : own;
    std::string_view at = text_of(argv[0]);
    for (const query::Ast& part : path.items()) {
        at = step_into(at, part, D);
        if (at.empty()) break;
    }
    if (!at.empty()) give(context, at);
    if (!kept) {
        sqlite3_set_auxdata(context, 1, new query::Ast(std::move(own)),
                            [](void* p) { delete static_cast<query::Ast*>(p); });
    }
}

/// Implements json_plain(json), PostgreSQL's "#>> '{}'".
void json_plain(sqlite3_context* context, int, sqlite3_value** argv) {
    if (is_null(argv[0])) return;
    std::string_view json = text_of(argv[0]);
    if (json == "null") return;
    if (!json.empty() && (json[0] == '"' || is_container(json))) {
        query::Ast a;
        if (!read(json, &a)) return;
        if (a.is_text()) return give(context, a.as_text());
        std::string out;
        print_jsonb(a, out);
        return give(context, out);
    }
    give(context, json);
}

void jsonb_typeof(sqlite3_context* context, int, sqlite3_value** argv) {
    if (is_null(argv[0])) return;
    std::string_view json = text_of(argv[0]);
    std::size_t i = 0;
    skip_blanks(json, i);
    if (i >= json.size()) return;
    switch (json[i]) {
        case '{': return give(context, "object");
        case '[': return give(context, "array");
        case '"': return give(context, "string");
        case 't':
        case 'f': return give(context, "boolean");
        case 'n': return give(context, "null");
        default: return give(context, "number");
    }
}

void jsonb_cmp(sqlite3_context* context, int, sqlite3_value** argv) {
    if (is_null(argv[0]) || is_null(argv[1])) return;
    query::Ast a, b;
    if (!read(text_of(argv[0]), &a) || !read(text_of(argv[1]), &b)) return;
    // In jsonb, a bare scalar compares as an array of one element, so an empty array is less.
    const auto empty = [](const query::Ast& v) { return v.is_array() && v.size() == 0; };
    const auto scalar = [](const query::Ast& v) { return !v.is_array() && !v.is_map(); };
    int c = empty(a) && scalar(b) ? -1 : scalar(a) && empty(b) ? 1 : compare(a, b);
    sqlite3_result_int(context, c < 0 ? -1 : c > 0 ? 1 : 0);
}

void jsonb_contains(sqlite3_context* context, int, sqlite3_value** argv) {
    if (is_null(argv[0]) || is_null(argv[1])) return;
    query::Ast a, b;
    if (!read(text_of(argv[0]), &a) || !read(text_of(argv[1]), &b)) return;
    sqlite3_result_int(context, contains(a, b, true));
}

void json_sort_key(sqlite3_context* context, int, sqlite3_value** argv) {
    if (is_null(argv[0])) return;
    query::Ast a;
    std::string key;
    if (read(text_of(argv[0]), &a)) sort_key(a, key);
    sqlite3_result_blob64(context, key.data(), key.size(), SQLITE_TRANSIENT);
}

/// Appends the same JSON with keys in jsonb's order (shorter ones first) and without blanks.
/// Returns false if the text is not well-formed, or if a key contains escapes.
bool order_json(std::string_view s, std::size_t& i, std::string& out, int depth) {
    BUNRAKU_ASSERT(depth >= 0 && i <= s.size());
    skip_blanks(s, i);
    if (i >= s.size() || depth > query::kMaxQueryDepth) return false;
    bool object = s[i] == '{';
    if (!object && s[i] != '[') {
        std::size_t start = i;
        if (!skip_value(s, i)) return false;
        std::string_view value = s.substr(start, i - start);
        while (!value.empty() && (value.back() == ' ' || value.back() == '\n'))
            value.remove_suffix(1);
        out += value;
        return !value.empty();
    }
    char end = object ? '}' : ']';
    out += s[i++];
    struct Member {
        std::string_view key;
        std::size_t at, size;  ///< position and size in `out`
    };
    std::vector<Member> members;
    std::size_t begin = out.size();
    bool sorted = true;
    for (bool first = true;; first = false) {
        skip_blanks(s, i);
        if (i >= s.size()) return false;
        if (s[i] == end) {
            ++i;
            break;
        }
        if (!first) {
            if (s[i] != ',') return false;
            ++i;
            skip_blanks(s, i);
        }
        if (!object && out.size() > begin) out += ',';
        std::size_t start = out.size();
        std::string_view key;
        if (object) {
            std::size_t from = i;
            if (i >= s.size() || s[i] != '"' || !skip_string(s, i)) return false;
            key = s.substr(from + 1, i - from - 2);
            // jsonb orders by the length of the decoded key, so a key with escapes cannot be
            // compared here.
            if (key.find('\\') != std::string_view::npos) return false;
            skip_blanks(s, i);
            if (i >= s.size() || s[i] != ':') return false;
            ++i;
            out += s.substr(from, key.size() + 2);
            out += ':';
        }
        if (!order_json(s, i, out, depth + 1)) return false;
        if (!object) continue;
        if (!members.empty()) {
            std::string_view last = members.back().key;
            if (last.size() != key.size() ? last.size() > key.size() : last > key) sorted = false;
        }
        members.push_back({key, start, out.size() - start});
    }
    if (object && !members.empty()) {
        if (!sorted) {
            std::stable_sort(members.begin(), members.end(), [](const Member& a, const Member& b) {
                return a.key.size() != b.key.size() ? a.key.size() < b.key.size() : a.key < b.key;
            });
        }
        std::string joined;
        joined.reserve(out.size() - begin + members.size());
        for (const Member& m : members) {
            if (!joined.empty()) joined += ',';
            joined.append(out, m.at, m.size);
        }
        BUNRAKU_ASSERT(joined.size() + 1 == out.size() - begin + members.size());
        out.resize(begin);
        out += joined;
    }
    out += end;
    return true;
}

void json_ordered_function(sqlite3_context* context, int, sqlite3_value** argv) {
    if (is_null(argv[0])) return;
    std::string_view json = text_of(argv[0]);
    if (!is_container(json)) return give(context, json);
    std::string out;
    out.reserve(json.size() + 16);
    std::size_t i = 0;
    if (order_json(json, i, out, 0)) return give(context, out);
    // Keys with escapes take the slow path.
    query::Ast a;
    if (!read(json, &a)) return give(context, json);
    out.clear();
    print_jsonb(a, out, true);
    give(context, out);
}

/// Implements json_any_member(object, name pattern, value pattern): reports whether the name and
/// the JSON text of any member match.
void json_any_member(sqlite3_context* context, int, sqlite3_value** argv) {
    if (is_null(argv[0]) || is_null(argv[1]) || is_null(argv[2])) return;
    try {
        auto name = query::AreRegex::cached(text_of(argv[1])),
             value = query::AreRegex::cached(text_of(argv[2]));
        query::Ast a;
        bool found = false;
        if (read(text_of(argv[0]), &a) && a.is_map()) {
            for (std::size_t i = 0; i < a.size() && !found; ++i) {
                found = name->matches(a.keys()[i]) && value->matches(to_json(a[i]));
            }
        }
        sqlite3_result_int(context, found);
    } catch (const query::QueryError& e) {
        sqlite3_result_error(context, e.message.c_str(), static_cast<int>(e.message.size()));
    }
}

void time_to_char_function(sqlite3_context* context, int, sqlite3_value** argv) {
    if (is_null(argv[0]) || is_null(argv[1]) || text_of(argv[1]).empty()) return;
    give(context, query::time_to_char(sqlite3_value_int64(argv[0]), text_of(argv[1])));
}

void number_to_char_function(sqlite3_context* context, int, sqlite3_value** argv) {
    if (is_null(argv[0]) || is_null(argv[1])) return;
    give(context, query::number_to_char(sqlite3_value_double(argv[0]), text_of(argv[1])));
}

}  // namespace

void register_query_functions(sqlite3* db) {
    const auto scalar = [&](const char* name, int arity, ScalarFunction f) {
        add_function(db, name, arity, f);
    };
    scalar("regexp", 2, regexp);
    scalar("json_text", -1, guarded<json_text>);
    scalar("json_steps", 2, guarded<json_at<Digits::Names>>);      // PostgreSQL's "->"
    scalar("json_at_path", 2, guarded<json_at<Digits::Indexes>>);  // PostgreSQL's "#>"
    scalar("json_plain", 1, guarded<json_plain>);
    scalar("jsonb_typeof", 1, guarded<jsonb_typeof>);
    scalar("jsonb_cmp", 2, guarded<jsonb_cmp>);
    scalar("jsonb_contains", 2, guarded<jsonb_contains>);
    scalar("json_sort_key", 1, guarded<json_sort_key>);
    scalar("json_ordered", 1, guarded<json_ordered_function>);
    scalar("json_any_member", 3, guarded<json_any_member>);
    scalar("time_to_char", 2, guarded<time_to_char_function>);
    scalar("number_to_char", 2, guarded<number_to_char_function>);
    sqlite3_create_function_v2(db, "json_join", 1, kFunctionFlags, nullptr, nullptr,
                               guarded<join_step>, join_end, nullptr);
    sqlite3_create_function_v2(db, "json_members", 2, kFunctionFlags, nullptr, nullptr,
                               guarded<members_step>, members_end, nullptr);
}

}  // namespace bunraku::store
