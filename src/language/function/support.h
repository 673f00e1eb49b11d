// Small helpers that several function families share.
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

/// An error of the function itself; the evaluator words it "Error while evaluating a Function Call,
/// ...".
template <class... Args>
[[noreturn]] void argument_error(fmt::format_string<Args...> format, Args&&... args) {
    throw base::PuppetError(fmt::format(format, std::forward<Args>(args)...));
}

/// What Puppet says of a command that failed: with its output stripped.
std::string failed_execution(std::string_view command, int status, std::string_view output);

inline Value text(const Call& call, std::string_view s) {
    return value::make_string(call.arena(), s);
}
/// The same in the encoding of `like`: what Ruby's methods of a string answer.
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

/// Every element of an Iterable (array, hash as [k, v] pairs, string's characters, integer range,
/// iterator).
std::vector<Value> elements(const Call& call, const Value& iterable);

/// Throws where the setting `tasks` is on: NAME needs a catalog.
void require_catalog(const Call& call, std::string_view operation);

/// The name Ruby messages give to the class of a value: "String", "Integer", "Hash", ...
std::string_view ruby_class(const Value& v);

/// Number of UTF-8 characters.
std::size_t characters(std::string_view s);
/// Number of characters of a string; of one of bytes these.
inline std::size_t characters(const Value& v) {
    return v.is_bytes() ? v.as_string().size() : characters(v.as_string());
}
/// The characters of a string, as views into it.
std::vector<std::string_view> split_characters(base::TextView s BUNRAKU_LIFETIMEBOUND);

/// A deprecation that is said once a compile: once for its key, or else for its text.
void warn_deprecated(const Call& call, std::string_view message, std::string_view key = {});
/// Puppet.warn_once of kind "deprecations": the text goes on with the place of the call, or says
/// that there is none.
void warn_once(const Call& call, std::string message, bool placed = false);

/// A regex from a String (compiled), a Regexp value or a Regexp type; keeps it alive in the arena.
const regex::Regex& pattern_of(const Call& call, const Value& pattern, std::uint32_t options = 0);

/// Ruby's `to_s` of a value as it reaches string-building Ruby code: undef is "", true, numbers,
/// nested inspect.
std::string ruby_to_s(const Value& v);
/// Appends ruby_to_s as Ruby's Array#join does.
void append_to_s(value::JoinedText& out, const Value& v);
/// Ruby's `inspect`: nil, "quoted", [1, 2], {"a"=>1}.
std::string ruby_inspect(const Value& v);

/// Ruby's Kernel#sprintf over values, with Ruby's error texts.
std::string ruby_sprintf(std::string_view format, std::span<const Value> args);
/// The text of a call whose first argument is the format of the others.
Value formatted(const Call& call);

}  // namespace bunraku::function
