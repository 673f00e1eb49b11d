// SPDX-License-Identifier: Apache-2.0
#include "services/lsp/message.h"

#include "core/value/exact_json.h"
#include "core/value/hash_access.h"
#include "core/value/rich_data.h"
#include "services/lsp/json_writer.h"

namespace bunraku::lsp {

std::string id_text(const value::Value& id) {
    return id.is_string() ? codec::json_string(id.as_string()) : value::to_json(id);
}

std::expected<Message, RpcError> parse_message(std::string_view content) {
    Message message;
    message.arena = std::make_shared<base::Arena>(content.size() + 4096);
    const auto parsed = value::parse_editor_json(*message.arena, content);
    if (!parsed) return std::unexpected(RpcError{ErrorCode::ParseError, parsed.error().message});
    if (!parsed->is_hash())
        return std::unexpected(RpcError{ErrorCode::InvalidRequest, "A message must be an object"});
    const auto* id = value::at(*parsed, "id");
    const bool has_id = id && (id->is_string() || id->is_integer());
    if (id && !has_id && !id->is_undef()) {
        return std::unexpected(
            RpcError{ErrorCode::InvalidRequest, "An id must be a number or a string"});
    }
    if (has_id) message.id = id_text(*id);
    const auto* method = value::at(*parsed, "method");
    if (!method) {
        if (!value::at(*parsed, "result") && !value::at(*parsed, "error")) {
            return std::unexpected(RpcError{ErrorCode::InvalidRequest, "A message has no method",
                                            has_id ? message.id : "null"});
        }
        message.kind = Message::Kind::Response;
        return message;
    }
    if (!method->is_string()) {
        return std::unexpected(RpcError{ErrorCode::InvalidRequest, "A method must be a string",
                                        has_id ? message.id : "null"});
    }
    message.kind = has_id ? Message::Kind::Request : Message::Kind::Notification;
    message.method = std::string(method->as_string());
    if (const auto* params = value::at(*parsed, "params")) message.params = *params;
    return message;
}

std::string response_text(std::string_view id, std::string_view result) {
    JsonWriter out;
    out.object().member("jsonrpc", "2.0").key("id").raw(id).key("result").raw(result).end_object();
    return out.take();
}

std::string error_text(const RpcError& error) {
    JsonWriter out;
    out.object().member("jsonrpc", "2.0").key("id").raw(error.id).key("error").object();
    out.member("code", static_cast<int>(error.code)).member("message", error.message);
    out.end_object().end_object();
    return out.take();
}

std::string notification_text(std::string_view method, std::string_view params) {
    JsonWriter out;
    out.object().member("jsonrpc", "2.0").member("method", method).key("params").raw(params);
    out.end_object();
    return out.take();
}

std::string request_text(std::int64_t id, std::string_view method, std::string_view params) {
    JsonWriter out;
    out.object().member("jsonrpc", "2.0").member("id", id).member("method", method);
    out.key("params").raw(params).end_object();
    return out.take();
}

}  // namespace bunraku::lsp
