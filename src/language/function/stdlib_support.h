// SPDX-License-Identifier: Apache-2.0
// Helpers that stdlib's function families share: Ruby's conversions and comparisons.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "language/function/support.h"

namespace bunraku::function {

/// Compares like Ruby's ==: as value::equal, but 1 == 1.0 at any depth of arrays and hash values.
bool ruby_equal(const Value& a, const Value& b);
/// Reports whether `items` contains a value that is eql? to `v`, as Array#-, & and | check.
bool contains(std::span<const Value> items, const Value& v);
/// Computes Array#uniq.
std::vector<Value> unique(std::span<const Value> items);
/// Computes Array#-.
std::vector<Value> difference(std::span<const Value> a, std::span<const Value> b);

/// Converts a string like Kernel#Float. Returns nullopt if it is not a number.
std::optional<double> strict_float(std::string_view s);
/// Converts a string like Kernel#Integer. Returns nullopt if it is not an integer.
std::optional<std::int64_t> strict_integer(std::string_view s);
/// Applies Kernel#Integer or Kernel#Float to a value's to_s.
std::optional<std::int64_t> strict_integer(const Value& v);
std::optional<double> strict_float(const Value& v);
/// Converts like String#to_f: returns the leading number, or 0 if there is none.
double leading_float(std::string_view s);
/// An integer of any size as the nearest one of 64 bits.
struct NearestInteger {
    std::int64_t n = 0;
    int beyond = 0;  ///< -1 below the 64 bits, 1 above them
    auto operator<=>(const NearestInteger&) const = default;
};
/// Applies to_i to strings, numbers and nil.
NearestInteger nearest_integer(const Value& v);
/// Does the same. Throws if the integer does not fit into 64 bits.
std::int64_t to_integer(const Value& v);
bool all_digits(std::string_view s);

/// Returns String#inspect.
std::string inspect_string(std::string_view s);
/// Returns Ruby's inspect of any value.
std::string inspect(const Value& v);

/// Reports whether the Ruby regular expression matches anywhere in the string.
bool regex_match(std::string_view pattern, std::string_view s, std::uint32_t options = 0);
/// Replaces every occurrence of `from`.
std::string replace_all(std::string_view s, std::string_view from, std::string_view to);

/// Logs a warning with the calling scope as its source, as the 3.x API does.
void scope_warning(const Call& call, std::string message);
/// Returns the entry of $facts at a path, or undef if there is none.
Value fact_value(const Call& call, std::initializer_list<std::string_view> path);
/// Returns the node's fully qualified name from the legacy or the modern fact.
std::string fqdn_of(const Call& call);
evaluator::Inputs& require_inputs(const Call& call);

/// Implements stdlib's function `deprecation`. Depending on the setting strict, it throws an error,
/// logs a warning or does nothing.
void deprecation(const Call& call, std::string_view key, std::string_view message);
bool str2bool(const Value& v);
bool num2bool(const Value& v);

/// An IP address or network, parsed like Ruby's IPAddr.
struct IpAddress {
    bool v6 = false;
    std::array<unsigned char, 16> bytes{};
    int prefix = 0;
    bool includes(const IpAddress& other) const;
    std::string to_text() const;
};
std::optional<IpAddress> parse_ip(std::string_view text);

/// Parses JSON or YAML text to a value. Throws PuppetError on invalid text.
Value json_value(const Call& call, std::string_view text);
Value yaml_value(const Call& call, std::string_view text, std::string_view file);

/// Reports whether a resource is declared with the given parameters (stdlib's defined_with_params).
bool defined_with_params(const Call& call, std::string_view type, std::string_view title,
                         const value::HashRep* params);

}  // namespace bunraku::function
