// SPDX-License-Identifier: Apache-2.0
// File URIs (RFC 8089), by which the protocol names documents.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bunraku::lsp {

/// Returns the absolute, normalised path of a file URI; nullopt for other schemes, for other hosts
/// and for invalid escapes.
std::optional<std::string> path_of_uri(std::string_view uri);
/// Returns the URI of an absolute path.
std::string uri_of_path(std::string_view path);

}  // namespace bunraku::lsp
