// SPDX-License-Identifier: Apache-2.0
// What the handlers of all requests share.
#pragma once

#include <chrono>
#include <expected>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "services/lsp/fleet_work.h"
#include "services/lsp/json_writer.h"
#include "services/lsp/message.h"
#include "services/lsp/module_source.h"
#include "services/lsp/node_values.h"
#include "services/lsp/workspace.h"

namespace bunraku::lsp {

/// The parts of the client's capabilities that change what the server sends.
struct ClientFeatures {
    bool rename_files = false;  ///< workspaceEdit.resourceOperations
    bool create_files = false;
    bool document_changes = false;
    bool watch_files = false;  ///< dynamic registration of didChangeWatchedFiles
    bool refresh_hints = false;
    bool refresh_lenses = false;
};

enum class Phase : std::uint8_t { Created, Initialized, ShutDown };

/// A command that runs on a thread.
struct RunningCommand {
    std::string id;  ///< of the request
    std::future<base::Result<std::string>> result;
};

/// How many nodes read the inputs of an environment. A thread counts them, because that compiles
/// the fleet.
struct CountedUsage {
    FleetWork::Usage counts;  ///< of the last time
    bool known = false;
    bool stale = true;  ///< whether files changed since it began
    std::future<base::Result<FleetWork::Usage>> result;
    std::chrono::steady_clock::time_point began;
    /// Before this time, changes cause no new count.
    std::chrono::steady_clock::time_point not_before;
};

struct State {
    explicit State(std::shared_ptr<const environment::Files> files) : workspace(std::move(files)) {}

    Workspace workspace;
    Encoding encoding = Encoding::Utf16;
    ClientFeatures client;
    Phase phase = Phase::Created;
    std::string version;  ///< of the program, for the client
    /// Values of Hiera and facts for the chosen node; null if the program provides none.
    std::unique_ptr<NodeValues> node;
    /// Analyses of the fleet with these facts; null if the program provides none.
    std::shared_ptr<FleetWork> fleet;
    /// Modules and releases for Puppetfiles; null if the program provides none.
    std::unique_ptr<ModuleSource> modules;
    std::string facts_source;
    std::optional<RunningCommand> command;
    std::map<std::string, CountedUsage> usage;  ///< by the folder of the environment
    /// Documents whose diagnostics must be sent again, and whether those of all are affected.
    std::set<std::string> stale;
    /// Documents that were closed: their paths and the URIs that the client uses for them.
    std::map<std::string, std::string> closed;
    bool all_stale = false;
};

/// The result of a request as JSON, or its error.
using Answer = std::expected<std::string, RpcError>;

inline std::unexpected<RpcError> invalid_params(std::string message) {
    return std::unexpected(RpcError{ErrorCode::InvalidParams, std::move(message)});
}
inline std::unexpected<RpcError> request_failed(std::string message) {
    return std::unexpected(RpcError{ErrorCode::RequestFailed, std::move(message)});
}

/// The document of a request, which need not be open.
struct DocumentPlace {
    std::string path;
    Group group = 0;
    FileKind kind{};
    std::shared_ptr<const FileText> text;
    const IndexedFile* indexed = nullptr;  ///< null if the file has no symbols
    std::uint32_t offset = 0;              ///< of the request's position

    /// Returns the shortest occurrence at the offset; null if there is none.
    const Occurrence* occurrence() const;
    std::string_view slice(Span span) const;
};

/// Reads `textDocument` and, if the request has one, `position`.
std::expected<DocumentPlace, RpcError> document_of(const State& state, const value::Value& params);
DocumentPlace document_at(const State& state, const std::string& path);

/// A place that an answer names.
struct FoundPlace {
    std::string path;
    Span span;
    friend bool operator==(const FoundPlace&, const FoundPlace&) = default;
};

/// Converts spans to ranges. Reads each file once.
class RangeFinder {
public:
    explicit RangeFinder(const State& state) : state_(state) {}
    Range range(const std::string& path, Span span);
    /// Returns the text of a file; an empty text if it cannot be read.
    const FileText& text(const std::string& path);
    void write_location(JsonWriter& out, const FoundPlace& place);
    std::string locations(const std::vector<FoundPlace>& places);

private:
    const State& state_;
    std::map<std::string, std::shared_ptr<const FileText>> texts_;
};

/// Returns the URI of a path: that of the open document, if there is one.
std::string uri_for(const State& state, const std::string& path);

}  // namespace bunraku::lsp
