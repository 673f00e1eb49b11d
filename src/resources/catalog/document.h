// SPDX-License-Identifier: Apache-2.0
// Reads JSON documents with complete validation. Every error names its path inside the document,
// for example "resources[3].tags[0]: expected a string, got null".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "resources/catalog/catalog.h"

namespace bunraku::catalog {

/// An exception that ends the reading of one document. The public reading functions catch it and
/// return a base::Error.
struct DocumentError {
    std::string message;
};

/// A path inside a document, as a chain of steps on the stack. It costs nothing until an error
/// occurs.
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
/// Returns the value of the key; fails if the key is absent.
const Value& expect_key(const value::HashRep& object, std::string_view key, const Path& at);

/// Parses a JSON text. Checks the UTF-8 encoding first, so that the error message gives the byte
/// position.
base::Result<Value> parse_document(base::Arena& arena, std::string_view text);

/// Splits "Type[title]". Returns false if `text` is not a reference.
bool split_reference(std::string_view text, std::string_view* type, std::string_view* title);

}  // namespace bunraku::catalog
