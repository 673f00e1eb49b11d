// Reading JSON documents with complete validation: every complaint names its place inside the
// document, "resources[3].tags[0]: expected a string, got null".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "resources/catalog/catalog.h"

namespace bunraku::catalog {

/// Ends the reading of one document; caught at its door, where it becomes a base::Error.
struct DocumentError {
    std::string message;
};

/// A place in a document, as a chain of steps on the stack; costs nothing until something is wrong.
struct Path {
    const Path* up = nullptr;
    std::string_view key = {};
    std::ptrdiff_t index = -1;

    Path operator[](std::string_view k) const { return {this, k, -1}; }
    Path operator[](std::size_t i) const { return {this, {}, static_cast<std::ptrdiff_t>(i)}; }
    std::string text() const;
    [[noreturn]] void fail(std::string_view what) const;
};

/// "null", "a string", "an integer"...
std::string_view json_kind(const Value& v);

std::string_view expect_string(const Value& v, const Path& at);
bool expect_boolean(const Value& v, const Path& at);
std::int64_t expect_integer(const Value& v, const Path& at);
std::span<const Value> expect_array(const Value& v, const Path& at);
const value::HashRep& expect_object(const Value& v, const Path& at);
/// Fails where the key is absent.
const Value& expect_key(const value::HashRep& object, std::string_view key, const Path& at);

/// JSON text to values: strict UTF-8 first, so that the message says at which byte.
base::Result<Value> parse_document(base::Arena& arena, std::string_view text);

/// Splits "Type[title]". False where it is no reference.
bool split_reference(std::string_view text, std::string_view* type, std::string_view* title);

}  // namespace bunraku::catalog
