// Files for agents: /puppet/v3/file_metadata, file_metadatas, file_content.
#include <fmt/format.h>

#include "base/number.h"
#include "base/plain_error.h"
#include "server/compiler.h"
#include "server/puppet_api.h"
#include "sys/file_system.h"

namespace bunraku::server {

using http::Request;
using http::Response;

namespace {

FileWish wish_of(const Request& request) {
    FileWish out;
    const auto text = [&](std::string_view name) {
        const auto* value = request.query_value(name);
        return value ? *value : std::string();
    };
    out.follow_links = text("links") == "follow";
    if (auto kind = text("checksum_type"); !kind.empty()) out.checksum = std::move(kind);
    const auto permissions = text("source_permissions");
    out.real_owner = permissions == "use" || permissions == "use_when_creating";
    out.search.recurse = text("recurse") == "true" || text("recurse") == "remote";
    out.search.limit = base::parse_integer<std::int64_t>(text("recurselimit"));
    out.search.max_files = base::parse_integer<std::int64_t>(text("max_files")).value_or(0);
    for (const auto& [name, value] : request.query)
        if (name == "ignore" || name == "ignore[]") out.search.ignore.push_back(value);
    return out;
}

class Files {
public:
    explicit Files(Compiler& compiler) : compiler_(compiler) {}

    Response metadata(const Request& request) {
        const auto key = key_of(request);
        const auto found = find(request, key);
        if (!found) throw not_found("file_metadata", key);
        const auto wish = wish_of(request);
        auto facts = compiler_.files().look(*found, std::nullopt, wish);
        if (!facts) throw base::plain_error(facts.error().message);
        std::string json;
        write_json(json, *facts);
        return plain_data(request, std::move(json));
    }

    Response metadatas(const Request& request) {
        const auto key = key_of(request);
        const auto environment = compiler_.environment(environment_name(request));
        const auto folders = compiler_.files().search(*environment, key, request.peer.name());
        if (folders.empty()) {
            // What no module has is still a mount: an agent takes 404 for a missing environment.
            if (key == "plugins" || key == "pluginfacts" || key == "locales")
                return plain_data(request, "[]");
            throw ApiError(404,
                           fmt::format("Could not find instances in file_metadata with '{}'", key),
                           "RESOURCE_NOT_FOUND");
        }
        std::string json = "[";
        for (const auto& facts : compiler_.files().walk(folders, wish_of(request))) {
            if (json.size() > 1) json += ',';
            write_json(json, facts);
        }
        return plain_data(request, json + "]");
    }

    Response content(const Request& request) {
        accepted(request, {"application/octet-stream"});
        const auto key = key_of(request);
        const auto found = find(request, key);
        if (!found) throw not_found("file_content", key);
        return file(*found, key);
    }

private:
    static std::string key_of(const Request& request) {
        std::string key(request.param("key"));
        if (key.empty())
            throw ApiError(400, fmt::format("No request key specified in {}", request.path));
        return key;
    }
    std::optional<std::string> find(const Request& request, const std::string& key) {
        const auto name = environment_name(request);
        const auto node = request.peer.name();
        auto found = compiler_.files().find(*compiler_.recent_environment(name), key, node);
        // A module may have come a moment ago.
        if (!found) found = compiler_.files().find(*compiler_.environment(name), key, node);
        return found;
    }
    static Response file(const std::string& path, const std::string& key) {
        static const auto disk = sys::make_real_file_system();
        const auto status = disk->stat(path);
        if (!status || status->kind != sys::FileKind::File) throw not_found("file_content", key);
        if (!disk->access(path, 4))
            throw base::plain_error(fmt::format("Permission denied @ rb_sysopen - {}", path));
        Response out;
        out.headers.set("Content-Type", "application/octet-stream");
        out.file = Response::File{.path = path, .offset = 0, .length = status->size};
        return out;
    }
    Compiler& compiler_;
};

}  // namespace

void mount_files(http::Router& router, Compiler& compiler) {
    auto files = std::make_shared<Files>(compiler);
    const auto add = [&](std::string_view pattern, Response (Files::*handler)(const Request&)) {
        router.add("GET", pattern, compiler.authorization().access(),
                   [files, &compiler, handler](Request& request) {
                       return answered(compiler.log(),
                                       [&] { return ((*files).*handler)(request); });
                   });
    };
    add("/puppet/v3/file_metadata/{key*}", &Files::metadata);
    add("/puppet/v3/file_metadatas/{key*}", &Files::metadatas);
    add("/puppet/v3/file_content/{key*}", &Files::content);
}

}  // namespace bunraku::server
