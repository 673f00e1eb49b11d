// SPDX-License-Identifier: Apache-2.0
// The table of pages. A page is one file in pages/ and one line in pages.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/base/result.h"
#include "services/console/visit.h"

namespace bunraku::console {

/// WholeFleet means that a page shows data of all environments at once. Viewers of some
/// environments cannot use it.
enum class Scope : std::uint8_t { Filtered, WholeFleet };

struct Page {
    std::string_view method;      ///< GET or POST
    std::string_view path;        ///< below /console, as for http::Router
    std::string_view parameters;  ///< names of the query, separated by blanks; others are refused
    Right right = Right::View;
    Scope scope = Scope::Filtered;
    base::Result<Response> (*show)(Visit&) = nullptr;
};

std::span<const Page> all_pages();

/// An error with this code becomes a page with the status 404 and the error's message.
inline constexpr int kNotFound = 404;
inline std::unexpected<base::Error> not_found(std::string message) {
    return base::failure(std::move(message), kNotFound);
}

}  // namespace bunraku::console
