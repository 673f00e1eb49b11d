// SPDX-License-Identifier: Apache-2.0
// Helpers that several function families share.
#pragma once

#include <fmt/format.h>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/text_view.h"
#include "core/value/build.h"
#include "core/value/encoding.h"
#include "core/value/text.h"
#include "core/value/value.h"
#include "language/evaluator/function.h"
#include "language/evaluator/interpreter.h"

namespace bunraku::function {

using evaluator::Builtin;
using evaluator::Call;
using evaluator::Overload;
using value::Value;

/// Throws an error of the function itself. The evaluator wraps it as "Error while evaluating a
/// Function Call, ...".
template <class... Args>
[[noreturn]] void argument_error(fmt::format_string<Args...> format, Args&&... args) {
    throw base::PuppetError(fmt::format(format, std::forward<Args>(args)...));
}

/// Returns Puppet's message for a failed command, with the output stripped.
std::string failed_execution(std::string_view command, int status, std::string_view output);

inline Value text(const Call& call, std::string_view s) {
    return value::make_string(call.arena(), s);
}
/// Like the other overload, but in the encoding of `like`, as Ruby's string methods return it.
inline Value text(const Call& call, std::string_view s, const Value& like) {
    return text(call, s).in_encoding(like.is_bytes());
}
inline Value text(const Call& call, const value::JoinedText& joined) {
    return text(call, joined.text()).in_encoding(joined.is_bytes());
}
inline Value list(const Call& call, const std::vector<Value>& items) {
    return value::make_array(call.arena(), items);
}

using value::flatten_into;

/// Returns every element of an Iterable (array, hash as [k, v] pairs, characters of a string,
/// integer range, iterator).
std::vector<Value> elements(const Call& call, const Value& iterable);

/// Throws if the setting `tasks` is on, because `operation` needs a catalog.
void require_catalog(const Call& call, std::string_view operation);

/// Returns the name that Ruby messages show for the class of a value: "String", "Integer", "Hash"
/// and so on.
std::string_view ruby_class(const Value& v);

/// Returns the number of UTF-8 characters.
std::size_t characters(std::string_view s);
/// Returns the number of characters of a string, or of bytes for a binary string.
inline std::size_t characters(const Value& v) {
    return v.is_bytes() ? v.as_string().size() : characters(v.as_string());
}
/// Returns the characters of a string as views into it.
std::vector<std::string_view> split_characters(base::TextView s BUNRAKU_LIFETIMEBOUND);

/// Logs a deprecation once per compile: once for its key, or for its message if there is no key.
void warn_deprecated(const Call& call, std::string_view message, std::string_view key = {});
/// Implements Puppet.warn_once of kind "deprecations". The message ends with the location of the
/// call, or with a note that the location is unknown.
void warn_once(const Call& call, std::string message, bool with_location = false);

/// Returns a regex from a String (compiled), a Regexp value or a Regexp type. The arena owns it.
const regex::Regex& pattern_of(const Call& call, const Value& pattern, std::uint32_t options = 0);

/// Returns Ruby's `to_s` of a value in code that builds strings: "" for undef, true, numbers, and
/// inspect for nested values.
std::string ruby_to_s(const Value& v);
/// Appends ruby_to_s of the value, as Ruby's Array#join does.
void append_to_s(value::JoinedText& out, const Value& v);
/// Returns Ruby's `inspect`: nil, "quoted", [1, 2], {"a"=>1}.
std::string ruby_inspect(const Value& v);

/// Formats values like Ruby's Kernel#sprintf, with Ruby's error messages.
std::string ruby_sprintf(std::string_view format, std::span<const Value> args);
/// Formats the arguments of a call: the first argument is the format for the others.
Value formatted(const Call& call);

}  // namespace bunraku::function
