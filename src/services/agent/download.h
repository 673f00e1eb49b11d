// SPDX-License-Identifier: Apache-2.0
// Downloads of contents. They are buffered in a file without a name, so memory does not limit their
// size.
#pragma once

#include <memory>

#include "core/base/result.h"
#include "core/sys/file_system.h"
#include "net/http/client.h"

namespace bunraku::agent {

/// Downloads the whole body before it returns the reader. If the server refuses, the error has
/// Puppet's text: "Error 404 on SERVER: ...".
base::Result<std::unique_ptr<sys::Reader>> download(http::Client& client,
                                                    const http::ClientRequest& request);

/// Returns "Error 500 on SERVER: TEXT". TEXT is the message of a JSON response, or otherwise the
/// whole body (Puppet 8.11, http/errors.rb).
std::string refusal_text(const http::ClientResponse& answer);

}  // namespace bunraku::agent
