// SPDX-License-Identifier: Apache-2.0
#include "resources/catalog/document.h"

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/codec/json_text.h"
#include "core/value/rich_data.h"
#include "resources/catalog/json_text.h"

namespace bunraku::catalog {

std::string Path::text() const {
    if (!up) return {};
    BUNRAKU_ASSERT(up != this && (index < 0 || key.empty()));
    std::string out = up->text();
    if (index >= 0) {
        out += fmt::format("[{}]", index);
        return out;
    }
    bool simple = !key.empty();
    for (char c : key) {
        simple = simple && (std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-');
    }
    if (simple) {
        if (!out.empty()) out += '.';
        out += key;
    } else {
        out += '[';
        codec::append_json_string(out, key);
        out += ']';
    }
    return out;
}

void Path::fail(std::string_view what) const {
    std::string path_text = text();
    throw DocumentError{path_text.empty() ? std::string(what)
                                          : fmt::format("{}: {}", path_text, what)};
}

std::string_view json_kind(const Value& v) {
    switch (v.kind()) {
        case value::Kind::Undef: return "null";
        case value::Kind::Boolean: return "a boolean";
        case value::Kind::Integer: return "an integer";
        case value::Kind::Float: return "a float";
        case value::Kind::String: return "a string";
        case value::Kind::Array: return "an array";
        case value::Kind::Hash: return "an object";
        default: return "something else";
    }
}

static void expect(bool ok, std::string_view wanted, const Value& v, const Path& at) {
    if (!ok) at.fail(fmt::format("expected {}, got {}", wanted, json_kind(v)));
}

std::string_view expect_string(const Value& v, const Path& at) {
    expect(v.is_string(), "a string", v, at);
    return v.as_string();
}

bool expect_boolean(const Value& v, const Path& at) {
    expect(v.is(value::Kind::Boolean), "a boolean", v, at);
    return v.as_boolean();
}

std::int64_t expect_integer(const Value& v, const Path& at) {
    expect(v.is_integer(), "an integer", v, at);
    return v.as_integer();
}

std::span<const Value> expect_array(const Value& v, const Path& at) {
    expect(v.is_array(), "an array", v, at);
    return v.as_array();
}

const value::HashRep& expect_object(const Value& v, const Path& at) {
    expect(v.is_hash(), "an object", v, at);
    return v.as_hash();
}

const Value& expect_key(const value::HashRep& object, std::string_view key, const Path& at) {
    const Value* v = object.find(key);
    if (!v) at[key].fail("required key is missing");
    return *v;
}

base::Result<Value> parse_document(base::Arena& arena, std::string_view text) {
    std::size_t bad = codec::first_invalid_utf8(text);
    if (bad != std::string_view::npos) {
        BUNRAKU_ASSERT(bad < text.size());
        return base::failure(fmt::format("not valid UTF-8 at byte {}", bad));
    }
    return value::parse_json(arena, text);
}

bool split_reference(std::string_view text, std::string_view* type, std::string_view* title) {
    std::size_t open = text.find_first_of("[]");
    if (open == std::string_view::npos || open == 0 || text[open] != '[') return false;
    if (text.back() != ']' || text.size() < open + 3) return false;
    *type = text.substr(0, open);
    *title = text.substr(open + 1, text.size() - open - 2);
    BUNRAKU_ASSERT(!type->empty() && !title->empty());
    BUNRAKU_ASSERT(type->size() + title->size() + 2 == text.size());
    return true;
}

}  // namespace bunraku::catalog
