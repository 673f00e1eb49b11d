// SPDX-License-Identifier: Apache-2.0
// A signed-in user of the console, with the user's rights.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bunraku::console {

/// Each right includes those before it.
enum class Right : std::uint8_t { View, Operate, Administer };

/// Parses "viewer", "operator" or "admin".
inline std::optional<Right> right_of_role(std::string_view role) {
    if (role == "viewer") return Right::View;
    if (role == "operator") return Right::Operate;
    if (role == "admin") return Right::Administer;
    return std::nullopt;
}
inline std::string_view role_name(Right right) {
    switch (right) {
        case Right::View: return "viewer";
        case Right::Operate: return "operator";
        case Right::Administer: return "admin";
    }
    return "viewer";
}

struct Viewer {
    /// How the identity was proved.
    enum class Via : std::uint8_t { Certificate, Proxy, Token, Link };
    std::string name;
    Right right = Right::View;
    std::vector<std::string> environments;  ///< empty means all
    Via via = Via::Certificate;

    bool may(Right needed) const { return right >= needed; }
    bool sees_all() const { return environments.empty(); }
    bool sees(std::string_view environment) const {
        return sees_all() || std::ranges::find(environments, environment) != environments.end();
    }
    bool operator==(const Viewer&) const = default;
};
inline std::string_view via_name(Viewer::Via via) {
    switch (via) {
        case Viewer::Via::Certificate: return "certificate";
        case Viewer::Via::Proxy: return "proxy";
        case Viewer::Via::Token: return "token";
        case Viewer::Via::Link: return "link";
    }
    return "";
}

}  // namespace bunraku::console
