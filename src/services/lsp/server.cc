// SPDX-License-Identifier: Apache-2.0
#include "services/lsp/server.h"

#include <exception>
#include <fmt/format.h>
#include <utility>

#include "services/lsp/commands.h"
#include "services/lsp/diagnose.h"
#include "services/lsp/lifecycle.h"
#include "services/lsp/methods.h"

namespace bunraku::lsp {

namespace {

std::string log_message(std::string_view text) {
    JsonWriter out;
    out.object().member("type", 2).member("message", text).end_object();
    return notification_text("window/logMessage", out.text());
}

std::string empty_diagnostics(std::string_view uri) {
    JsonWriter out;
    out.object().member("uri", uri).key("diagnostics").array().end_array();
    out.end_object();
    return notification_text("textDocument/publishDiagnostics", out.text());
}

/// Returns the registration of the files that the index contains.
std::string watch_registration() {
    JsonWriter out;
    out.object().key("registrations").array().object();
    out.member("id", "files").member("method", "workspace/didChangeWatchedFiles");
    out.key("registerOptions").object().key("watchers").array();
    for (const char* pattern : {"**/*.{pp,epp,erb,rb,yaml,yml,eyaml,json}", "**/environment.conf"})
        out.object().member("globPattern", pattern).end_object();
    out.end_array().end_object().end_object().end_array().end_object();
    return out.take();
}

}  // namespace

Server::Server(std::shared_ptr<const environment::Files> files, std::unique_ptr<NodeValues> node)
    : state_(std::move(files)) {
    state_.node = std::move(node);
}

std::string Server::cancelled(std::string_view id) {
    return error_text({ErrorCode::RequestCancelled, "The request was cancelled", std::string(id)});
}

std::vector<std::string> Server::handle(std::string_view content) {
    const auto message = parse_message(content);
    if (!message) return {error_text(message.error())};
    switch (message->kind) {
        case Message::Kind::Response: return {};
        case Message::Kind::Request: return request(*message);
        case Message::Kind::Notification: return notify(*message);
    }
    return {};
}

std::vector<std::string> Server::request(const Message& message) {
    const auto refuse = [&](ErrorCode code, std::string text) {
        return std::vector{error_text({code, std::move(text), message.id})};
    };
    if (state_.phase == Phase::Created && message.method != "initialize")
        return refuse(ErrorCode::ServerNotInitialized, "The server is not initialized");
    if (state_.phase == Phase::ShutDown)
        return refuse(ErrorCode::InvalidRequest, "The server has been shut down");
    const bool command = message.method == "workspace/executeCommand";
    const RequestMethod* method = find_request(message.method);
    if (!method && !command)
        return refuse(ErrorCode::MethodNotFound, fmt::format("Unknown method {}", message.method));
    try {
        if (command) {
            const auto started = start_command(state_, message);
            if (started) return {};
            return refuse(started.error().code, started.error().message);
        }
        auto answer = method->handle(state_, message.params);
        if (answer) return {response_text(message.id, *answer)};
        answer.error().id = message.id;
        return {error_text(answer.error())};
    } catch (const std::exception& error) {
        return refuse(ErrorCode::InternalError, error.what());
    }
}

std::vector<std::string> Server::notify(const Message& message) {
    if (message.method == "exit") {
        ended_ = true;
        return {};
    }
    if (state_.phase != Phase::Initialized) return {};
    const NotificationMethod* method = find_notification(message.method);
    if (!method) {
        // Names that begin with "$/" are optional.
        if (message.method.starts_with("$/")) return {};
        return {log_message(fmt::format("Unknown notification {}", message.method))};
    }
    std::vector<std::string> out;
    try {
        const auto done = method->handle(state_, message.params);
        if (!done)
            out.push_back(log_message(fmt::format("{}: {}", message.method, done.error().message)));
    } catch (const std::exception& error) {
        out.push_back(log_message(fmt::format("{}: {}", message.method, error.what())));
    }
    if (message.method == "workspace/didChangeConfiguration" && state_.client.refresh_hints)
        out.push_back(request_text(next_id_++, "workspace/inlayHint/refresh", "null"));
    if (message.method == "initialized")
        for (std::string& text : after_initialized()) out.push_back(std::move(text));
    return out;
}

std::vector<std::string> Server::after_initialized() {
    if (!state_.client.watch_files) return {};
    return {request_text(next_id_++, "client/registerCapability", watch_registration())};
}

bool Server::busy() const { return state_.command.has_value() || is_counting(state_); }

std::vector<std::string> Server::idle() {
    std::vector<std::string> out = finished_commands(state_);
    if (finish_counts(state_) && state_.client.refresh_lenses)
        out.push_back(request_text(next_id_++, "workspace/codeLens/refresh", "null"));
    for (const auto& [path, uri] : std::exchange(state_.closed, {}))
        if (!state_.workspace.find_open(path)) out.push_back(empty_diagnostics(uri));
    auto stale = std::exchange(state_.stale, {});
    if (std::exchange(state_.all_stale, false))
        for (const auto& [path, file] : state_.workspace.open_files()) stale.insert(path);
    for (const std::string& path : stale) {
        const OpenFile* file = state_.workspace.find_open(path);
        if (!file) continue;
        try {
            out.push_back(notification_text("textDocument/publishDiagnostics",
                                            published_diagnostics(state_, *file)));
        } catch (const std::exception& error) {
            out.push_back(log_message(fmt::format("{}: {}", path, error.what())));
        }
    }
    return out;
}

}  // namespace bunraku::lsp
