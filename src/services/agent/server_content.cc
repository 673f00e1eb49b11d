#include "services/agent/server_content.h"

#include <fmt/format.h>
#include <set>

#include "core/base/arena.h"
#include "core/base/text.h"
#include "core/value/hash_access.h"
#include "core/value/rich_data.h"
#include "services/agent/download.h"

namespace bunraku::agent {

using apply::ContentMetadata;
using base::Result;
using value::Value;

namespace {

std::uint32_t number_at(const Value& hash, std::string_view key) {
    const Value* v = at(hash, key);
    return v && v->is_integer() ? static_cast<std::uint32_t>(v->as_integer()) : 0;
}

/// What a server says of a file. nullopt: of a kind that cannot be managed.
std::optional<ContentMetadata> read_metadata(const Value& said, std::string uri) {
    ContentMetadata out{.uri = std::move(uri), .relative = ".", .status = {}};
    const auto type = text_at(said, "type");
    if (type == "file") {
        out.status.kind = sys::FileKind::File;
    } else if (type == "directory") {
        out.status.kind = sys::FileKind::Directory;
    } else if (type == "link") {
        out.status.kind = sys::FileKind::Link;
    } else {
        return std::nullopt;
    }
    out.status.mode = number_at(said, "mode") & 07777;
    out.status.uid = number_at(said, "owner");
    out.status.gid = number_at(said, "group");
    out.destination = text_at(said, "destination");
    if (const Value* checksum = at(said, "checksum")) out.checksum = text_at(*checksum, "value");
    return out;
}

/// A path that stays below where it starts.
bool stays_below(std::string_view relative) {
    if (relative.empty() || relative.starts_with('/')) return false;
    for (const auto part : base::words(relative, "/"))
        if (part == "..") return false;
    return relative.find('\0') == std::string_view::npos;
}

std::string key_of(const std::string& uri, bool follow) { return (follow ? "f" : "m") + uri; }

constexpr std::string_view kJson = "application/json";

std::string child_uri(const std::string& uri, const std::string& relative) {
    return relative == "." ? uri : fmt::format("{}/{}", uri, http::percent_encode(relative, "/"));
}

/// What a search of `uri` gives.
Result<std::vector<ContentMetadata>> read_list(const std::string& uri, const Value& list) {
    std::vector<ContentMetadata> out;
    for (const Value& said : list.as_array()) {
        const auto relative = text_at(said, "relative_path");
        // What it is called decides where it is written.
        if (!stays_below(relative))
            return base::failure(fmt::format("the server sent the path '{}'", relative));
        auto one = read_metadata(said, child_uri(uri, relative));
        if (!one) continue;
        one->relative = relative;
        if (one->status.kind == sys::FileKind::Directory && !one->checksum.starts_with("{ctime}"))
            one->checksum.clear();
        out.push_back(std::move(*one));
    }
    return out;
}

}  // namespace

std::optional<ServerContent::Address> ServerContent::address_of(const std::string& uri) {
    constexpr std::string_view kScheme = "puppet://";
    if (!uri.starts_with(kScheme)) return std::nullopt;
    const auto rest = std::string_view(uri).substr(kScheme.size());
    const auto slash = rest.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    const auto path = http::percent_decode(rest.substr(slash + 1));
    return Address{std::string(rest.substr(0, slash)),
                   path ? *path : std::string(rest.substr(slash + 1))};
}

Result<std::optional<ContentMetadata>> ServerContent::metadata(const std::string& uri,
                                                               const apply::ContentQuery& query) {
    const auto address = address_of(uri);
    if (!address) return std::nullopt;
    std::string kind = query.checksum.empty() ? query.likely_checksum : query.checksum;
    if (kind.empty()) kind = "sha256";
    const auto key = key_of(uri, query.follow_links);
    if (const auto it = known_.find(key);
        it != known_.end() && (it->second.kind == kind || query.checksum.empty()))
        return it->second.metadata;
    const Query asked{{"links", query.follow_links ? "follow" : "manage"},
                      {"checksum_type", kind},
                      {"source_permissions", "use"}};
    auto request = link_.request(
        "GET", link_.url("file_metadata/" + address->path, asked, address->server), kJson);
    const auto answer = BUNRAKU_TRY(link_.send(std::move(request)));
    std::optional<ContentMetadata> found;
    if (answer.status == 200) {
        base::Arena arena;
        const auto said = value::parse_json(arena, answer.body);
        if (said) found = read_metadata(*said, uri);
        if (!found) return base::failure("the server's answer is no metadata of a file");
    } else if (answer.status != 404) {
        return base::failure(refusal_text(answer), answer.status);
    }
    known_[key] = {kind, found};
    return found;
}

Result<std::optional<std::vector<ContentMetadata>>> ServerContent::search(
    const std::string& uri, const apply::ContentSearch& search) {
    const auto address = address_of(uri);
    if (!address) return std::nullopt;
    if (const auto it = folders_.find(uri); it != folders_.end()) return it->second;
    const std::string kind = search.likely_checksum.empty() ? "sha256" : search.likely_checksum;
    Query asked{{"recurse", search.recurse ? "true" : "false"},
                {"max_files", std::to_string(search.max_files)},
                {"links", search.follow_links ? "follow" : "manage"},
                {"checksum_type", kind},
                {"source_permissions", "use"}};
    if (search.limit) asked.emplace_back("recurselimit", std::to_string(*search.limit));
    for (const auto& pattern : search.ignore) asked.emplace_back("ignore", pattern);
    auto request = link_.request(
        "GET", link_.url("file_metadatas/" + address->path, asked, address->server), kJson);
    const auto answer = BUNRAKU_TRY(link_.send(std::move(request)));
    if (answer.status == 404) return std::nullopt;
    if (answer.status != 200) return base::failure(refusal_text(answer), answer.status);
    base::Arena arena;
    const auto list = value::parse_json(arena, answer.body);
    if (!list || !list->is_array()) return base::failure("the server's answer is no list of files");
    auto out = BUNRAKU_TRY(read_list(uri, *list));
    // The root of a mount, such as pluginfacts, may be something that can be searched only.
    for (const auto& one : out)
        if (one.relative == ".") known_[key_of(uri, search.follow_links)] = {kind, one};
    return out;
}

Result<std::unique_ptr<sys::Reader>> ServerContent::open(const std::string& uri) {
    const auto address = address_of(uri);
    if (!address) return base::failure(fmt::format("No way to {}", uri));
    std::string url = link_.url("file_content/" + address->path, {}, address->server);
    if (const auto it = content_uris_.find(uri); it != content_uris_.end()) {
        if (const auto fixed = address_of(it->second))
            url = link_.url("static_file_content/" + fixed->path, {{"code_id", code_id_}},
                            fixed->server);
    }
    return download(link_.client(),
                    link_.request("GET", std::move(url), "application/octet-stream"));
}

void ServerContent::know(const Value& catalog) {
    code_id_ = text_at(catalog, "code_id");
    const Value* metadata = at(catalog, "metadata");
    if (code_id_.empty()) return;
    know_folders(catalog);
    if (!metadata || !metadata->is_hash()) return;
    for (const auto& e : metadata->as_hash()) {
        const auto source = text_at(e.value, "source"), content = text_at(e.value, "content_uri");
        if (source.empty() || content.empty()) continue;
        auto found = read_metadata(e.value, source);
        if (!found) continue;
        const Value* checksum = at(e.value, "checksum");
        const bool follow = text_at(e.value, "links") == "follow";
        known_[key_of(source, follow)] = {checksum ? text_at(*checksum, "type") : "sha256",
                                          std::move(found)};
        content_uris_[source] = content;
    }
}

void ServerContent::know_folders(const Value& catalog) {
    const Value* recursive = at(catalog, "recursive_metadata");
    if (!recursive || !recursive->is_hash()) return;
    std::set<std::string> differ;
    for (const auto& resource : recursive->as_hash()) {
        if (!resource.value.is_hash()) continue;
        for (const auto& one : resource.value.as_hash()) {
            const std::string source(one.key.as_string());
            if (!one.value.is_array()) continue;
            auto list = read_list(source, one.value);
            if (!list) continue;
            std::map<std::string, std::string> uris;
            for (const Value& said : one.value.as_array())
                uris[child_uri(source, text_at(said, "relative_path"))] =
                    text_at(said, "content_uri");
            const auto [it, fresh] = folders_.try_emplace(source, std::move(*list));
            // Another resource searched it in another way: then each asks for itself.
            if (!fresh && it->second.size() != one.value.as_array().size()) differ.insert(source);
            content_uris_.merge(uris);
        }
    }
    for (const auto& source : differ) folders_.erase(source);
}

std::string ServerBucket::url(const Key& key, std::string_view path) const {
    std::string address;
    if (!key.server.empty() || key.port != 0) {
        address =
            fmt::format("{}:{}", key.server.empty() ? settings_.text("server") : key.server,
                        key.port != 0 ? std::to_string(key.port) : settings_.text("serverport"));
    }
    std::string name = fmt::format("file_bucket_file/{}/{}", key.kind, key.digest);
    if (!path.empty()) name += fmt::format("/{}", path);
    return link_.url(name, {}, address);
}

constexpr std::string_view kBytes = "application/octet-stream";

Result<bool> ServerBucket::has(const Key& key) {
    const auto answer = BUNRAKU_TRY(link_.send(link_.request("HEAD", url(key, ""), kBytes)));
    if (answer.status == 200) return true;
    if (answer.status == 404) return false;
    return base::failure(refusal_text(answer), answer.status);
}

Result<void> ServerBucket::save(const Key& key, const std::string& path,
                                const std::string& content) {
    auto request = link_.request("PUT", url(key, path), kBytes);
    request.headers.set("Content-Type", kBytes);
    request.body = content;
    const auto answer = BUNRAKU_TRY(link_.send(std::move(request)));
    if (answer.status / 100 != 2) return base::failure(refusal_text(answer), answer.status);
    return {};
}

Result<std::optional<std::string>> ServerBucket::content(const Key& key) {
    auto answer = BUNRAKU_TRY(link_.send(link_.request("GET", url(key, ""), kBytes)));
    if (answer.status == 404) return std::nullopt;
    if (answer.status != 200) return base::failure(refusal_text(answer), answer.status);
    return std::move(answer.body);
}

}  // namespace bunraku::agent
