// SPDX-License-Identifier: Apache-2.0
// File routes for agents: /puppet/v3/file_metadata, file_metadatas, file_content.
#include <algorithm>
#include <cctype>
#include <cstring>
#include <fmt/format.h>

#include "core/base/number.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/sys/disk.h"
#include "modules/module/deploy_folder.h"
#include "net/http/message.h"
#include "net/http/wire.h"
#include "services/server/compiler.h"
#include "services/server/content_peers.h"
#include "services/server/plugin_lists.h"
#include "services/server/puppet_api.h"

namespace bunraku::server {

using http::Request;
using http::Response;

namespace {

/// Reports whether Puppet's file server supports this checksum (OpenVox 8.26, util/checksums.rb).
bool known_checksum(std::string_view kind) {
    static constexpr std::string_view kKinds[] = {
        "sha256", "sha256lite", "md5",   "md5lite", "sha1", "sha1lite", "sha512",
        "sha384", "sha224",     "mtime", "ctime",   "none", "etag"};
    return std::ranges::find(kKinds, kind) != std::end(kKinds);
}

/// Parses a file request. Throws Puppet's error for invalid values.
FileRequest request_of(const Request& request, bool search) {
    FileRequest out;
    const auto text = [&](std::string_view name) {
        const auto* value = request.query_value(name);
        return value ? *value : std::string();
    };
    const auto links = text("links");
    out.follow_links = links == "follow";
    if (!out.follow_links && links != "manage" && request.query_value("links")) {
        throw base::plain_error(search
                                    ? fmt::format("Invalid :links value '{}'", links)
                                    : std::string(":links can only be set to :manage or :follow"));
    }
    if (const auto* kind = request.query_value("checksum_type")) {
        if (!known_checksum(*kind))
            throw base::plain_error(fmt::format("Unsupported checksum type {}", *kind));
        // An entity tag exists only on the web. The agent compares with the kind of the response.
        out.checksum = *kind == "etag" ? "md5" : *kind;
    }
    const auto permissions = text("source_permissions");
    out.real_owner = permissions == "use" || permissions == "use_when_creating";
    if (!out.real_owner && permissions != "ignore" && request.query_value("source_permissions"))
        throw base::plain_error(fmt::format("Unsupported source_permission {}", permissions));
    if (!search) return out;
    // An empty string is true, as in Ruby.
    const auto* recurse = request.query_value("recurse");
    out.search.recurse = recurse && *recurse != "false";
    out.search.limit = base::parse_integer<std::int64_t>(text("recurselimit"));
    const auto most = base::parse_integer<std::int64_t>(text("max_files"));
    out.search.max_files = most.value_or(0);
    if (out.search.recurse && !text("recurselimit").empty() && out.search.limit.value_or(-1) < 0)
        throw base::plain_error("comparison of Integer with String failed");
    if (out.search.recurse && !text("max_files").empty() && !most)
        throw base::plain_error("comparison of String with 0 failed");
    for (const auto& [name, value] : request.query)
        if (name == "ignore" || name == "ignore[]") out.search.ignore.push_back(value);
    return out;
}

/// Returns a key that identifies a search of a whole mount.
std::string query_of(const Request& request, std::string_view mount) {
    std::string out(mount);
    for (const auto& [name, value] : request.query) {
        for (const auto* part : {&name, &value}) out.append(1, '\0').append(*part);
    }
    return out;
}

class Files {
public:
    explicit Files(Compiler& compiler)
        : compiler_(compiler), peers_(compiler.settings(), compiler.log()) {}

    /// Reports whether static_content() may wait for another server.
    bool asks_peers() const { return peers_.configured(); }

    Response metadata(const Request& request) {
        const auto key = key_of(request);
        const auto found = find(request, key, "file_metadata", RunStep::Continues);
        if (!found) throw not_found("file_metadata", key);
        if (key.ends_with('/')) {
            const auto status = sys::disk().stat(found->place());
            if (status && status->kind == sys::FileKind::File)
                throw not_found("file_metadata", key);
        }
        auto wanted = request_of(request, false);
        wanted.files = &found->environment->files();
        auto facts = compiler_.files().look(found->path, std::nullopt, wanted);
        if (!facts) throw base::plain_error(facts.error().message);
        std::string json;
        write_json(json, *facts);
        return plain_data(request, std::move(json));
    }

    Response metadatas(const Request& request) {
        if (!request.query_value("environment")) return without_environment("file_metadatas");
        const auto key = key_of(request);
        const auto environment =
            compiler_.environment(request, environment_name(request), step_of(request, key));
        const auto node = name_of(request);
        compiler_.files().check(key, node, "search", "file_metadata");
        const auto mount = std::string_view(key).substr(0, key.find('/'));
        if (mount == "plugins" || mount == "pluginfacts" || mount == "locales") {
            auto wanted = request_of(request, true);
            const auto type = accepted(request, data_formats());
            wanted.watch = true;
            wanted.without_broken = true;
            const auto list = plugins_.get(environment, query_of(request, mount), [&] {
                return metadatas(*environment, key, node, wanted);
            });
            if (list->packed.empty() || type != "application/json" ||
                !http::accepts_gzip(request.headers.get("Accept-Encoding")))
                return json_as(type, list->json);
            auto out = json_as(type, list->packed);
            mark_packed(out);
            return out;
        }
        if (compiler_.files().search(*environment, key, node).empty())
            throw ApiError(404,
                           fmt::format("Could not find instances in file_metadata with '{}'", key),
                           "RESOURCE_NOT_FOUND");
        return plain_data(request, metadatas(*environment, key, node, request_of(request, true)));
    }

    std::string metadatas(const environment::Environment& environment, const std::string& key,
                          std::string_view node, FileRequest wanted) {
        wanted.files = &environment.files();
        auto folders = compiler_.files().search(environment, key, node, wanted.watch);
        if (folders.empty()) {
            // If no module has such a folder, the agent still needs a root to copy. The root is
            // then the modules' folder itself, without content (Puppet 8.11,
            // file_serving/mount/plugins.rb).
            wanted.search.recurse = false;
            folders = compiler_.files().roots(environment);
        }
        std::string json = "[";
        // A broken link in one module's lib does not prevent the download of other plugins. For
        // files of a resource, any broken link is an error, as in Puppet: otherwise `purge` would
        // remove the rest.
        std::vector<std::string> broken;
        for (const auto& facts :
             compiler_.files().walk(folders, wanted, wanted.without_broken ? &broken : nullptr)) {
            if (json.size() > 1) json += ',';
            write_json(json, facts);
        }
        return json + "]";
    }

    Response content(const Request& request) {
        if (!request.query_value("environment")) return without_environment("file_content");
        const auto key = key_of(request);
        const auto found = find(request, key, "file_content", RunStep::Continues);
        if (!found) throw not_found("file_content", key);
        accepted(request, {"application/octet-stream"});
        if (const auto status = sys::disk().stat(found->place());
            status && status->kind == sys::FileKind::Directory) {
            Response out;
            out.headers.set("Content-Type", "application/octet-stream");
            return out;
        }
        return file(found->place(), key);
    }

    /// Returns a file in the version of a catalog's code id (static catalogs).
    Response static_content(const Request& request) {
        const auto text = [&](std::string_view name) {
            const auto* value = request.query_value(name);
            return value ? *value : std::string();
        };
        const std::string path(request.param("key"));
        const auto environment = text("environment"), code_id = text("code_id");
        if (environment.empty() || code_id.empty() || path.empty()) {
            return Response::text(400,
                                  "Error: A /static_file_content request requires an environment, "
                                  "a code-id, and a file-path");
        }
        if (!environment::valid_environment_name(environment)) {
            return Response::text(
                400,
                fmt::format("The environment must be purely alphanumeric, not '{}'", environment));
        }
        if (!std::all_of(code_id.begin(), code_id.end(), [](unsigned char c) {
                return std::isalnum(c) != 0 || std::strchr("-_;:", c);
            })) {
            return Response::text(400, fmt::format("Invalid code-id '{}'. Must contain only "
                                                   "alpha-numerics and '-', '_', ';', or ':'",
                                                   code_id));
        }
        const auto address = StaticContent::address_of(path);
        const auto parts = base::words(address.path, "/");
        const bool leads_outside = std::find(parts.begin(), parts.end(), "..") != parts.end();
        if (leads_outside || parts.size() < 4 ||
            (parts[2] != "files" && parts[2] != "lib" && parts[2] != "scripts" &&
             parts[2] != "tasks")) {
            return Response::text(403,
                                  "Request Denied: A /static_file_content request must be a file "
                                  "within the files, lib, scripts, or tasks directory of a "
                                  "module.");
        }
        // Returns only the exact content of the catalog. A file found by name may be of another
        // version.
        auto& contents = compiler_.static_content();
        const auto digest = contents.digest_of(code_id, address);
        if (!digest) throw not_found("static_file_content", path);
        auto kept = contents.find(*digest);
        if (!kept) kept = contents.find_among(*digest, static_file_paths(request, address.path));
        if (!kept) kept = of_peers(request, path, *digest);
        if (!kept) throw not_found("static_file_content", path);
        return file(*kept, path);
    }

private:
    /// Returns the paths where a file of a static catalog may be: in the current environment, and
    /// in the versions of it that `deploy` retains.
    std::vector<std::string> static_file_paths(const Request& request, std::string_view path) {
        const auto parts = base::words(path, "/");
        std::string key(parts[2] == "files" ? "modules" : parts[2] == "lib" ? "plugins" : parts[2]);
        for (std::size_t i = parts[2] == "lib" ? 3 : 1; i < parts.size(); ++i)
            if (i != 2) key += fmt::format("/{}", parts[i]);
        std::vector<std::string> out;
        if (const auto found = find(request, key, "static_file_content", RunStep::Looks))
            out.push_back(found->place());
        const auto base = compiler_.base_environment(environment_name(request));
        for (const auto& version : module::versions_beside(sys::disk(), base->directory()))
            out.push_back(sys::join(version, path));
        return out;
    }
    /// Returns the path of a content that another server of the site has, after caching it here.
    std::optional<std::string> of_peers(const Request& request, const std::string& path,
                                        const std::string& digest) {
        const auto bytes = peers_.fetch(request, path, digest);
        if (!bytes) return std::nullopt;
        auto added = compiler_.static_content().add(digest, *bytes);
        if (added) return std::move(*added);
        compiler_.log().log(base::Level::Warning, added.error().message);
        return std::nullopt;
    }
    static std::string key_of(const Request& request) {
        // "modules//ntp/ntp.conf" is the same file.
        std::string key;
        for (char c : request.param("key"))
            if (c != '/' || (!key.empty() && key.back() != '/')) key += c;
        if (key.empty())
            throw ApiError(400, fmt::format("No request key specified in {}", request.path));
        return key;
    }
    static Response without_environment(std::string_view indirection) {
        return Response::text(400, fmt::format("A {} request must include an `environment` or "
                                               "`versioned_project` query parameter.",
                                               indirection));
    }
    /// A file of an environment.
    struct Found {
        std::shared_ptr<const environment::Environment> environment;
        std::string path;  ///< below the environment's own folder
        std::string place() const { return environment->files().place(path); }
    };
    std::optional<Found> find(const Request& request, const std::string& key,
                              std::string_view indirection, RunStep step) {
        const auto name = environment_name(request);
        const auto node = name_of(request);
        const auto version = compiler_.version(request, name, step);
        auto environment = compiler_.recent_environment(name, version.get());
        compiler_.files().check(key, node, "find", indirection);
        auto path = compiler_.files().find(*environment, key, node);
        if (!path) {
            // The module may have been added within the last second.
            environment = compiler_.environment(name, version.get());
            path = compiler_.files().find(*environment, key, node);
        }
        if (!path) return std::nullopt;
        return Found{std::move(environment), std::move(*path)};
    }
    /// Returns the name of the client. Empty if it is unknown.
    std::string name_of(const Request& request) const {
        const auto client = compiler_.caller(request);
        return client ? client->name : std::string();
    }
    /// Every run of Puppet's agent that synchronizes plugins begins with a search of the plugins
    /// that does not recurse (since 6.25 and 7.10; no File resource sends one).
    static RunStep step_of(const Request& request, const std::string& key) {
        const auto* recurse = request.query_value("recurse");
        return key == "plugins" && recurse && *recurse == "false" ? RunStep::Begins
                                                                  : RunStep::Continues;
    }
    static Response file(const std::string& path, const std::string& key) {
        const auto status = sys::disk().stat(path);
        if (!status || status->kind != sys::FileKind::File || key.ends_with('/'))
            throw not_found("file_content", key);
        if (!sys::disk().access(path, 4))
            throw base::plain_error(fmt::format("Permission denied @ rb_sysopen - {}", path));
        Response out;
        out.headers.set("Content-Type", "application/octet-stream");
        out.file = Response::File{.path = path, .offset = 0, .length = status->size};
        return out;
    }
    Compiler& compiler_;
    PluginLists plugins_;
    ContentPeers peers_;
};

}  // namespace

void mount_files(http::Router& router, Compiler& compiler) {
    auto files = std::make_shared<Files>(compiler);
    const auto add = [&](std::string_view pattern, Response (Files::*handler)(const Request&),
                         http::RouteOptions options = {}) {
        router.add(
            "GET", pattern, compiler.authorization().access(),
            [files, &compiler, handler](Request& request) {
                return answered(compiler.log(), request,
                                [&] { return ((*files).*handler)(request); });
            },
            std::move(options));
    };
    add("/puppet/v3/file_metadata/{key*}", &Files::metadata);
    add("/puppet/v3/file_metadatas/{key*}", &Files::metadatas);
    add("/puppet/v3/file_content/{key*}", &Files::content);
    http::RouteOptions waiting;
    if (files->asks_peers()) waiting.may_wait = [](const Request&) { return true; };
    add("/puppet/v3/static_file_content/{key*}", &Files::static_content, std::move(waiting));
}

}  // namespace bunraku::server
