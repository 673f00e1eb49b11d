// Contents that are fetched: they go through a file without a name, so that no memory bounds them.
#pragma once

#include <memory>

#include "core/base/result.h"
#include "core/sys/file_system.h"
#include "net/http/client.h"

namespace bunraku::agent {

/// Fetches a body whole before the first byte of it is given. What a server refuses is an error in
/// Puppet's words: "Error 404 on SERVER: ...".
base::Result<std::unique_ptr<sys::Reader>> download(http::Client& client,
                                                    const http::ClientRequest& request);

/// "Error 500 on SERVER: TEXT": the message of a JSON answer, or else what stands in it
/// (Puppet 8.11, http/errors.rb).
std::string refusal_text(const http::ClientResponse& answer);

}  // namespace bunraku::agent
