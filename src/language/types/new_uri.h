// The parts of URIs, as Ruby's URI library takes them apart.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bunraku::types {

/// RFC 3986 parts; absent ones are nullopt. `path` is there unless `opaque` is.
struct UriParts {
    std::optional<std::string> scheme, userinfo, host, port, path, query, fragment, opaque;

    /// Throws PuppetError with Ruby's text ("bad URI(is not URI?): \"a b\"").
    static UriParts parse(std::string_view text);
    std::string to_string() const;
};

}  // namespace bunraku::types
