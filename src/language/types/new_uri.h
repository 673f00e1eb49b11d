// SPDX-License-Identifier: Apache-2.0
// Splits URIs into parts like Ruby's URI library.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bunraku::types {

/// The RFC 3986 parts of a URI. Missing parts are nullopt. `path` is set unless `opaque` is.
struct UriParts {
    std::optional<std::string> scheme, userinfo, host, port, path, query, fragment, opaque;

    /// Parses a URI. Throws PuppetError with Ruby's text ("bad URI(is not URI?): \"a b\"").
    static UriParts parse(std::string_view text);
    std::string to_string() const;
};

}  // namespace bunraku::types
