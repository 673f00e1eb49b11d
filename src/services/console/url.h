// SPDX-License-Identifier: Apache-2.0
// Addresses below /console.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace bunraku::console {

inline constexpr std::string_view kRoot = "/console";

/// Builds an address. Segments and parameters are percent-encoded.
class Url {
public:
    /// Url({"nodes", "a/b"}) is "/console/nodes/a%2Fb".
    Url(std::initializer_list<std::string_view> segments);
    /// Adds a parameter, unless its value is empty.
    Url&& with(std::string_view name, std::string_view value) &&;
    Url& with(std::string_view name, std::string_view value) &;
    const std::string& text() const { return text_; }
    operator std::string_view() const { return text_; }  // NOLINT: a target for links

private:
    void add(std::string_view name, std::string_view value);
    std::string text_;
    bool has_query_ = false;
};

}  // namespace bunraku::console
