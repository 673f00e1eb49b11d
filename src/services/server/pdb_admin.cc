// SPDX-License-Identifier: Apache-2.0
#include "services/server/pdb_admin.h"

#include <fmt/format.h>
#include <unistd.h>

#include "core/base/text_view.h"
#include "core/codec/json_cursor.h"
#include "core/codec/json_text.h"
#include "net/http/local_socket.h"
#include "resources/catalog/wire_time.h"
#include "services/server/json_answers.h"
#include "store/db/secrets.h"
#include "store/db/statistics.h"
#include "store/db/writer.h"
#include "store/engine/archive.h"
#include "store/engine/exports.h"
#include "store/engine/store.h"

namespace bunraku::server {

namespace {

using http::Request;
using http::Response;

constexpr std::uint64_t kMaxArchive = 8ULL << 30;

/// The body of an admin command.
struct AdminCommand {
    std::string command, certname;
    std::vector<std::string> collected;
    bool version_ok = false, list_ok = false, map_ok = false, odd_key = false;
    store::CleanWhat what;
};

/// Reads one of the names of `clean`'s payload, or ["purge_nodes", {"batch_limit": N}].
bool read_clean_item(codec::JsonCursor& json, store::CleanWhat& what) {
    using Kind = codec::JsonCursor::Kind;
    auto set = [&](std::string_view name) {
        if (name == "expire_nodes") {
            what.expire_nodes = true;
        } else if (name == "purge_nodes") {
            what.purge_nodes = true;
        } else if (name == "purge_reports") {
            what.purge_reports = true;
        } else if (name == "purge_resource_events") {
            what.purge_events = true;
        } else if (name == "gc_packages") {
            what.packages = true;
        } else if (name == "other" || name == "gc_catalogs" || name == "gc_fact_paths") {
            what.other = true;  // "other" includes the two others.
        } else {
            return false;
        }
        return true;
    };
    if (json.kind() == Kind::String) return set(json.string());
    if (json.kind() != Kind::Array) return false;
    json.enter_array();
    bool ok = json.next_element() && json.kind() == Kind::String && json.string() == "purge_nodes";
    if (!ok || !json.next_element() || json.kind() != Kind::Object) return false;
    what.purge_nodes = true;
    bool limited = false;
    json.enter_object();
    std::string_view key;
    while (json.next_key(&key)) {
        if (key != "batch_limit" || json.kind() != Kind::Number) return false;
        std::int64_t limit = json.integer();
        if (limit < 0) return false;
        what.purge_batch = static_cast<std::size_t>(limit);
        limited = true;
    }
    return limited && !json.next_element();
}

AdminCommand read_command(std::string_view body) {
    using Kind = codec::JsonCursor::Kind;
    AdminCommand out;
    codec::JsonCursor json(body);
    json.enter_object();
    std::string_view raw;
    while (json.next_key(&raw)) {
        std::string key(raw);
        if (key == "command" && json.kind() == Kind::String) {
            out.command = std::string(json.string());
        } else if (key == "version" && json.kind() == Kind::Number) {
            out.version_ok = json.integer() == 1;
        } else if (key == "payload" && json.kind() == Kind::Array) {
            out.list_ok = true;
            bool any = false;
            json.enter_array();
            while (json.next_element()) {
                any = true;
                if (!read_clean_item(json, out.what)) {
                    out.list_ok = false;
                    return out;
                }
            }
            if (!any) out.what = store::CleanWhat::all();
        } else if (key == "payload" && json.kind() == Kind::Object) {
            json.enter_object();
            out.map_ok = true;
            while (json.next_key(&raw)) {
                if (raw == "certname" && json.kind() == Kind::String) {
                    out.certname = std::string(json.string());
                } else if (raw == "collected" && json.kind() == Kind::Array) {
                    json.enter_array();
                    while (json.next_element()) out.collected.emplace_back(json.string());
                } else {
                    out.map_ok = false;
                    json.skip();
                }
            }
        } else {
            out.odd_key |= key != "command" && key != "version" && key != "payload";
            json.skip();
        }
    }
    json.finish();
    return out;
}

Response invalid_command(std::string_view body, std::string_view why) {
    return json_error(
        400, fmt::format("Invalid command {}: {}", codec::json_string(body.substr(0, 2000)), why));
}

/// Responds with the result of `work`, which runs with the connection for writing.
template <class Work>
Response with_writer(store::Service& service, const Work& work) {
    std::string answer;
    auto done = service.with_writer([&](store::Writer& writer) -> base::Result<void> {
        answer = BUNRAKU_TRY(work(writer));
        return {};
    });
    if (!done) return json_error(500, done.error().message);
    return Response::json(200, std::move(answer));
}

/// Runs commands that the `bunraku` program sends to the server that owns its SQLite file. They are
/// only available on the server's local socket. Returns nullopt if `command` is not one of them.
std::optional<Response> run_local_command(store::Service& service, const AdminCommand& command) {
    using base::Result;
    if (command.command == "compact") {
        return with_writer(service, [](store::Writer& writer) -> Result<std::string> {
            const auto before = BUNRAKU_TRY(store::store_figures(writer.db())).bytes;
            BUNRAKU_TRY_VOID(store::compact(writer.db()));
            const auto after = BUNRAKU_TRY(store::store_figures(writer.db())).bytes;
            return fmt::format("{{\"before\":{},\"after\":{}}}", before, after);
        });
    }
    if (command.command == "adopt_key") {
        return with_writer(service, [](store::Writer& writer) -> Result<std::string> {
            return fmt::format("{{\"given_up\":{}}}", BUNRAKU_TRY(store::adopt_key(writer)));
        });
    }
    if (command.command == "remember_collections" && command.map_ok && !command.certname.empty()) {
        return with_writer(service, [&](store::Writer& writer) -> Result<std::string> {
            BUNRAKU_TRY_VOID(
                store::remember_collections(writer, command.certname, command.collected));
            return std::string("{\"ok\":true}");
        });
    }
    return std::nullopt;
}

Response run_command(store::Service& service, Request& request) {
    http::DecodedBody body = http::decoded_body(request, 1 << 20);
    if (body.status != 0) return json_error(body.status, body.message);
    AdminCommand command;
    try {
        command = read_command(body.body);
    } catch (const codec::JsonError& e) {
        return json_error(400, e.message);
    }
    if (request.peer.address == http::kLocalPeer && command.version_ok) {
        if (auto answer = run_local_command(service, command)) return std::move(*answer);
    }
    if (command.command == "clean") {
        if (!command.version_ok || !command.list_ok || command.odd_key) {
            return invalid_command(body.body,
                                   "the version must be 1, and the payload a list of "
                                   "expire_nodes, purge_nodes, purge_reports, "
                                   "purge_resource_events, gc_packages and other");
        }
        auto done = service.clean(command.what);
        if (!done) return json_error(500, done.error().message);
        if (*done) return Response::json(200, "{\"ok\":true}");
        return Response::json(409,
                              "{\"kind\":\"conflict\",\"msg\":\"Another cleanup is already in "
                              "progress\",\"details\":null}");
    }
    if (command.command == "delete") {
        if (!command.version_ok || !command.map_ok || command.odd_key || command.certname.empty()) {
            return invalid_command(body.body,
                                   "the version must be 1, and the payload have a certname");
        }
        auto done = service.delete_node(command.certname);
        if (!done) return json_error(500, done.error().message);
        return Response::json(200, "{\"deleted\":" + codec::json_string(command.certname) + "}");
    }
    return invalid_command(body.body, "Valid commands types are: 'clean' and 'delete'");
}

Response export_archive(const std::shared_ptr<store::Service>& service, Request& request) {
    const std::string* profile = request.query_value("anonymization_profile");
    auto made = store::ArchiveExport::start(
        service->options().database, profile ? std::string_view(*profile) : std::string_view());
    if (!made) return json_error(made.error().code == 0 ? 400 : 500, made.error().message);
    Response out;
    out.headers.set("Content-Type", "application/octet-stream");
    out.headers.set("Content-Disposition",
                    fmt::format("attachment; filename=\"puppetdb-export-{}.tgz\"",
                                catalog::format_wire_time(store::now_ms())));
    out.compressible = false;
    std::shared_ptr<store::ArchiveExport> archive = std::move(*made);
    out.producer = [archive](std::string& piece) {
        piece.clear();
        auto more = archive->next(piece);
        // Aborts the response, so that the client notices that the archive is truncated.
        if (!more) throw std::runtime_error(more.error().message);
        return *more;
    };
    return out;
}

/// Returns the field "archive" of a multipart/form-data body. Empty if it does not exist.
std::string_view multipart_field(base::TextView body BUNRAKU_LIFETIMEBOUND,
                                 std::string_view content_type) {
    std::size_t at = content_type.find("boundary=");
    if (at == std::string_view::npos) return {};
    std::string_view boundary = content_type.substr(at + 9);
    if (boundary.starts_with('"')) {
        boundary = boundary.substr(1, boundary.find('"', 1) - 1);
    } else {
        boundary = boundary.substr(0, boundary.find_first_of("; \t"));
    }
    if (boundary.empty()) return {};
    std::string mark = "--" + std::string(boundary);
    for (std::size_t start = body.find(mark); start != std::string_view::npos;) {
        start += mark.size();
        std::size_t head_end = body.find("\r\n\r\n", start);
        std::size_t next = body.find("\r\n" + mark, start);
        if (head_end == std::string_view::npos || next == std::string_view::npos) return {};
        std::string_view head = body.substr(start, head_end - start);
        if (head_end < next && head.find("name=\"archive\"") != std::string_view::npos) {
            return body.substr(head_end + 4, next - head_end - 4);
        }
        start = body.find(mark, next + 2);
    }
    return {};
}

Response import_archive(store::Service& service, Request& request) {
    std::string_view type = request.headers.get("Content-Type");
    std::string_view bytes = request.body;
    if (type.starts_with("multipart/form-data")) bytes = multipart_field(request.body, type);
    if (bytes.empty()) return json_error(400, "The request has no field 'archive'");
    auto done = store::import_archive(
        bytes, [&](const store::CommandHeader& header, std::string body) -> base::Result<void> {
            auto ticket = service.submit(header, std::move(body));
            if (!ticket) return std::unexpected(ticket.error());
            return {};
        });
    if (!done) return json_error(done.error().code == 0 ? 400 : 503, done.error().message);
    return Response::json(200, "{\"ok\":true}");
}

Response summary(store::Service& service) {
    auto reader = service.reader();
    if (!reader) return json_error(503, reader.error().message);
    auto stats = store::summary_statistics(**reader);
    if (!stats) return json_error(500, stats.error().message);
    return Response::json(200, std::move(*stats));
}

}  // namespace

void add_admin_routes(http::Router& router, std::shared_ptr<store::Service> service) {
    const auto access = http::Access::listed();
    http::RouteOptions plain, large;
    large.max_body = kMaxArchive;
    router.add(
        "POST", "/pdb/admin/v1/cmd", access,
        [service](Request& request) { return run_command(*service, request); }, plain);
    router.add(
        "GET", "/pdb/admin/v1/archive", access,
        [service](Request& request) { return export_archive(service, request); }, plain);
    router.add(
        "POST", "/pdb/admin/v1/archive", access,
        [service](Request& request) { return import_archive(*service, request); }, large);
    router.add(
        "*", "/pdb/admin/v1/summary-stats", access,
        [service](Request&) { return summary(*service); }, plain);
}

}  // namespace bunraku::server
