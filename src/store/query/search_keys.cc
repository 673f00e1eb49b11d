// SPDX-License-Identifier: Apache-2.0
#include "store/query/search_keys.h"

#include <charconv>
#include <cmath>
#include <fmt/format.h>

#include "core/codec/sha1.h"

namespace bunraku::query {

namespace {

constexpr std::size_t kLongestMatch = 200;

std::int64_t first_bytes(const codec::Sha1Digest& d) {
    std::uint64_t out = 0;
    for (std::size_t i = 0; i < sizeof out; ++i) out = out << 8 | d[i];
    return static_cast<std::int64_t>(out);
}

/// Returns the same text for equal numbers, such as 1, 1.0 and 10e-1.
std::string same_number(std::string_view text) {
    const char* end = text.data() + text.size();
    std::int64_t whole = 0;
    auto as_whole = std::from_chars(text.data(), end, whole);
    if (as_whole.ec == std::errc{} && as_whole.ptr == end) return fmt::format("{}", whole);
    double d = 0;
    auto as_double = std::from_chars(text.data(), end, d);
    if (as_double.ec != std::errc{} || as_double.ptr != end) return std::string(text);
    if (d == std::floor(d) && std::fabs(d) < 9e15) {
        return fmt::format("{}", static_cast<std::int64_t>(d));
    }
    return fmt::format("{}", d);
}

}  // namespace

std::string match_of(std::string_view canonical) {
    if (canonical.size() <= kLongestMatch) return std::string(canonical);
    return "sha1:" + codec::to_hex(codec::sha1(canonical));
}

bool is_scalar_json(std::string_view canonical) {
    return !canonical.empty() && canonical[0] != '{' && canonical[0] != '[' && canonical != "null";
}

std::int64_t parameter_hash(std::string_view name, std::string_view canonical) {
    bool number =
        !canonical.empty() && (canonical[0] == '-' || (canonical[0] >= '0' && canonical[0] <= '9'));
    codec::Sha1 sum;
    sum.part(name);
    number ? sum.part(same_number(canonical)) : sum.part(canonical);
    return first_bytes(sum.digest());
}

std::int64_t type_hash(std::string_view type) {
    return first_bytes(codec::sha1(type)) & 0x7fffffff;
}

}  // namespace bunraku::query
