// SPDX-License-Identifier: Apache-2.0
// The messages that start and end a session and that change documents.
#pragma once

#include "services/lsp/state.h"

namespace bunraku::lsp {

Answer on_initialize(State& state, const value::Value& params);
Answer on_shutdown(State& state, const value::Value& params);

// Notifications. The error describes parameters that are not valid; it is only logged.
using Notified = std::expected<void, RpcError>;
Notified on_initialized(State& state, const value::Value& params);
Notified on_did_open(State& state, const value::Value& params);
Notified on_did_change(State& state, const value::Value& params);
Notified on_did_close(State& state, const value::Value& params);
Notified on_did_save(State& state, const value::Value& params);
Notified on_watched_files(State& state, const value::Value& params);
Notified on_workspace_folders(State& state, const value::Value& params);
Notified on_file_operations(State& state, const value::Value& params);
Notified on_configuration(State& state, const value::Value& params);

}  // namespace bunraku::lsp
