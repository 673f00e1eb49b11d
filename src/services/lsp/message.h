// SPDX-License-Identifier: Apache-2.0
// Messages of JSON-RPC 2.0.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/arena.h"
#include "core/base/result.h"
#include "core/value/value.h"

namespace bunraku::lsp {

/// Error codes of JSON-RPC and of the Language Server Protocol.
enum class ErrorCode : int {
    ParseError = -32700,
    InvalidRequest = -32600,
    MethodNotFound = -32601,
    InvalidParams = -32602,
    InternalError = -32603,
    ServerNotInitialized = -32002,
    RequestCancelled = -32800,
    ContentModified = -32801,
    RequestFailed = -32803,
};

/// A received message. Its values live as long as `arena`.
struct Message {
    enum class Kind : std::uint8_t { Request, Notification, Response };
    std::shared_ptr<base::Arena> arena;
    Kind kind = Kind::Notification;
    std::string id;  ///< the id as JSON; empty for a notification
    std::string method;
    value::Value params;  ///< a hash, an array or undef
};

/// An error response that the server sends for an invalid message.
struct RpcError {
    ErrorCode code = ErrorCode::InternalError;
    std::string message;
    std::string id = "null";
};

/// Returns the id of a message as JSON.
std::string id_text(const value::Value& id);
/// Parses the content of a message.
std::expected<Message, RpcError> parse_message(std::string_view content);

std::string response_text(std::string_view id, std::string_view result);
std::string error_text(const RpcError& error);
std::string notification_text(std::string_view method, std::string_view params);
std::string request_text(std::int64_t id, std::string_view method, std::string_view params);

}  // namespace bunraku::lsp
