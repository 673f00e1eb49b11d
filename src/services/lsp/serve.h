// SPDX-License-Identifier: Apache-2.0
// Runs a language server on a pair of descriptors.
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/sys/descriptor.h"
#include "services/lsp/server.h"

namespace bunraku::lsp {

/// Reads messages from `in` and writes answers to `out` until the client sends `exit` or closes
/// `in`. Returns the exit code of the protocol: 0 after `shutdown`, 1 otherwise. The error
/// describes a stream that is not valid, or an I/O error.
base::Result<int> serve(Server& server, int in, int out);

/// Connects to a client that listens on a port of this machine.
base::Result<sys::Descriptor> connect_to_port(const std::string& port);

}  // namespace bunraku::lsp
