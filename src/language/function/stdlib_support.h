// What stdlib's function families share: Ruby's conversions and comparisons.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "language/function/support.h"

namespace bunraku::function {

/// Ruby's ==: like value::equal, but 1 == 1.0, at any depth of arrays and hash values.
bool ruby_equal(const Value& a, const Value& b);
/// True where `items` has one that is eql? to `v` (what Array#-, & and | ask).
bool contains(std::span<const Value> items, const Value& v);
/// Array#uniq.
std::vector<Value> unique(std::span<const Value> items);
/// Array#-.
std::vector<Value> difference(std::span<const Value> a, std::span<const Value> b);

/// Kernel#Float of a string: nullopt where it is none.
std::optional<double> strict_float(std::string_view s);
/// Kernel#Integer of a string: nullopt where it is none.
std::optional<std::int64_t> strict_integer(std::string_view s);
/// Kernel#Integer and Kernel#Float of a value's to_s.
std::optional<std::int64_t> strict_integer(const Value& v);
std::optional<double> strict_float(const Value& v);
/// String#to_f: the number in front, else 0.
double leading_float(std::string_view s);
/// to_i of strings, numbers and nil.
std::int64_t to_integer(const Value& v);
bool all_digits(std::string_view s);

/// String#inspect.
std::string inspect_string(std::string_view s);
/// inspect of any value.
std::string inspect(const Value& v);

/// True where the Ruby expression matches somewhere.
bool regex_match(std::string_view pattern, std::string_view s, std::uint32_t options = 0);
/// Replaces every `from`.
std::string replace_all(std::string_view s, std::string_view from, std::string_view to);

/// A warning that names the calling scope as its source, as the 3.x API logs.
void scope_warning(const Call& call, std::string message);
/// The entry of $facts at a path; undef where there is none.
Value fact_value(const Call& call, std::initializer_list<std::string_view> path);
/// The legacy or modern fact with the fully qualified name of the node.
std::string fqdn_of(const Call& call);
evaluator::Inputs& require_inputs(const Call& call);

/// stdlib's function `deprecation`: an error, a warning or nothing, by the setting strict.
void deprecation(const Call& call, std::string_view key, std::string_view message);
bool str2bool(const Value& v);
bool num2bool(const Value& v);

/// An IP address, or network, as Ruby's IPAddr reads them.
struct IpAddress {
    bool v6 = false;
    std::array<unsigned char, 16> bytes{};
    int prefix = 0;
    bool includes(const IpAddress& other) const;
    std::string to_text() const;
};
std::optional<IpAddress> parse_ip(std::string_view text);

/// Data of codec as values: JSON text, YAML text. Throws PuppetError.
Value json_value(const Call& call, std::string_view text);
Value yaml_value(const Call& call, std::string_view text, std::string_view file);

/// Whether a resource is declared with the given parameters (stdlib's defined_with_params).
bool defined_with_params(const Call& call, std::string_view type, std::string_view title,
                         const value::HashRep* params);

}  // namespace bunraku::function
