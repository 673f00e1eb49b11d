// SPDX-License-Identifier: Apache-2.0
#include "services/agent/server_content.h"

#include <fmt/format.h>
#include <optional>

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

/// Reads a file's metadata from a server's response. Returns nullopt if it is a kind of file that
/// cannot be managed.
std::optional<ContentMetadata> read_metadata(const Value& described, std::string uri) {
    ContentMetadata out{.uri = std::move(uri), .relative = ".", .status = {}};
    const auto type = text_at(described, "type");
    if (type == "file") {
        out.status.kind = sys::FileKind::File;
    } else if (type == "directory") {
        out.status.kind = sys::FileKind::Directory;
    } else if (type == "link") {
        out.status.kind = sys::FileKind::Link;
    } else {
        return std::nullopt;
    }
    out.status.mode = number_at(described, "mode") & 07777;
    out.status.uid = number_at(described, "owner");
    out.status.gid = number_at(described, "group");
    out.destination = text_at(described, "destination");
    if (const Value* checksum = at(described, "checksum"))
        out.checksum = text_at(*checksum, "value");
    return out;
}

/// Reports whether a relative path stays inside its root.
bool stays_below(std::string_view relative) {
    if (relative.empty() || relative.starts_with('/')) return false;
    for (const auto part : base::words(relative, "/"))
        if (part == "..") return false;
    return relative.find('\0') == std::string_view::npos;
}

std::string key_of(const std::string& uri, bool follow) { return (follow ? "f" : "m") + uri; }

/// Returns the URI in the form in which a static catalog names a source.
std::string without_slashes(std::string uri) {
    while (uri.ends_with('/')) uri.pop_back();
    return uri;
}

/// Returns a key that identifies a search of a folder.
std::string key_of_search(const std::string& uri, bool follow, std::optional<std::int64_t> limit,
                          const std::vector<std::string>& ignore) {
    std::string out = key_of(uri, follow) + '\0' + (limit ? std::to_string(*limit) : "");
    for (const auto& pattern : ignore) out += '\0' + pattern;
    return out;
}

/// Returns a parameter of a resource in a catalog, or null if it does not exist.
const Value* parameter(const Value& resource, std::string_view name) {
    const Value* parameters = at(resource, "parameters");
    return parameters ? at(*parameters, name) : nullptr;
}

std::vector<std::string> texts_of(const Value* v) {
    std::vector<std::string> out;
    if (v && v->is_string()) out.emplace_back(v->as_string());
    if (v && v->is_array())
        for (const Value& one : v->as_array())
            if (one.is_string()) out.emplace_back(one.as_string());
    return out;
}

std::string_view word(const Value* v) {
    return v && v->is_string() ? v->as_string() : std::string_view{};
}

bool uses_permissions(const Value& resource) {
    return word(parameter(resource, "source_permissions")).starts_with("use");
}

constexpr std::string_view kJson = "application/json";

std::string child_uri(const std::string& uri, const std::string& relative) {
    return relative == "." ? uri : fmt::format("{}/{}", uri, http::percent_encode(relative, "/"));
}

/// Reads the result of a search of `uri`.
Result<std::vector<ContentMetadata>> read_list(const std::string& uri, const Value& list) {
    std::vector<ContentMetadata> out;
    for (const Value& described : list.as_array()) {
        const auto relative = text_at(described, "relative_path");
        // The server's path determines where the file is written.
        if (!stays_below(relative))
            return base::failure(fmt::format("the server sent the path '{}'", relative));
        auto one = read_metadata(described, child_uri(uri, relative));
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
    const auto key = key_of(without_slashes(uri), query.follow_links);
    if (const auto it = known_.find(key); it != known_.end()) {
        const Answers& answers = it->second;
        if (answers.contains("")) return std::nullopt;
        if (const auto same = answers.find(kind); same != answers.end()) return same->second;
        if (query.checksum.empty()) return answers.begin()->second;
    }
    const Query asked{{"links", query.follow_links ? "follow" : "manage"},
                      {"checksum_type", kind},
                      {"source_permissions", "use"}};
    auto request = link_.request(
        "GET", link_.url("file_metadata/" + address->path, asked, address->server), kJson);
    const auto answer = BUNRAKU_TRY(link_.send(std::move(request)));
    std::optional<ContentMetadata> found;
    if (answer.status == 200) {
        base::Arena arena;
        const auto described = value::parse_json(arena, answer.body);
        if (described) found = read_metadata(*described, uri);
        if (!found) return base::failure("the server's response is not the metadata of a file");
    } else if (answer.status != 404) {
        return base::failure(refusal_text(answer), answer.status);
    }
    known_[key][found ? kind : ""] = found;
    return found;
}

Result<std::optional<std::vector<ContentMetadata>>> ServerContent::search(
    const std::string& uri, const apply::ContentSearch& search) {
    const auto address = address_of(uri);
    if (!address) return std::nullopt;
    const auto place = without_slashes(uri);
    const auto how = key_of_search(place, search.follow_links, search.limit, search.ignore);
    if (const auto it = folders_.find(how); it != folders_.end()) return it->second;
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
    if (!list || !list->is_array())
        return base::failure("the server's response is not a list of files");
    auto out = BUNRAKU_TRY(read_list(uri, *list));
    // The root of a mount, such as pluginfacts, may only support searches, so its metadata is
    // recorded here.
    for (const auto& one : out)
        if (one.relative == ".") known_[key_of(place, search.follow_links)][kind] = one;
    return out;
}

Result<std::unique_ptr<sys::Reader>> ServerContent::open(const std::string& uri) {
    const auto address = address_of(uri);
    if (!address) return base::failure(fmt::format("Cannot read the source {}", uri));
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
    const Value* resources = at(catalog, "resources");
    if (code_id_.empty() || !resources || !resources->is_array()) return;
    const Value* files = at(catalog, "metadata");
    const Value* folders = at(catalog, "recursive_metadata");
    for (const Value& resource : resources->as_array()) {
        if (text_at(resource, "type") != "File") continue;
        const auto title = text_at(resource, "title");
        const Value* file = files ? at(*files, title) : nullptr;
        const Value* tree = folders ? at(*folders, title) : nullptr;
        if (file && file->is_hash()) know_file(resource, *file);
        if (tree && tree->is_hash()) know_folders(resource, *tree);
    }
}

/// Records the metadata that the catalog contains for a resource without `recurse`. The catalog
/// names the source in use, so earlier sources in the list did not exist.
void ServerContent::know_file(const Value& resource, const Value& described) {
    const std::string source(text_at(described, "source"));
    const auto content = text_at(described, "content_uri");
    auto found = read_metadata(described, source);
    if (source.empty() || content.empty() || !found) return;
    const bool follow = text_at(described, "links") == "follow";
    for (const auto& one : texts_of(parameter(resource, "source"))) {
        if (without_slashes(one) == source) break;
        known_[key_of(without_slashes(one), follow)].try_emplace("");
    }
    const Value* checksum = at(described, "checksum");
    auto& answer = known_[key_of(source, follow)]
                         [checksum ? std::string(text_at(*checksum, "type")) : "sha256"];
    // Another resource may use the source without its mode and owner, and then the metadata does
    // not contain them.
    if (!answer || uses_permissions(resource)) answer = std::move(found);
    content_uris_[source] = content;
}

void ServerContent::know_folders(const Value& resource, const Value& described) {
    const bool follow = word(parameter(resource, "links")) == "follow";
    const bool all = word(parameter(resource, "sourceselect")) == "all";
    const Value* limit = parameter(resource, "recurselimit");
    const auto levels =
        limit && limit->is_integer() ? std::optional(limit->as_integer()) : std::nullopt;
    const auto ignore = texts_of(parameter(resource, "ignore"));
    bool any = false;
    for (const auto& text : texts_of(parameter(resource, "source"))) {
        const auto source = without_slashes(text);
        const auto how = key_of_search(source, follow, levels, ignore);
        const Value* list = at(described, source);
        if (!list || !list->is_array()) {
            // Sources after the first existing one are not searched.
            if (all || !any) {
                folders_[how] = std::nullopt;
                known_[key_of(source, follow)].try_emplace("");
            }
            continue;
        }
        auto found = read_list(source, *list);
        if (!found) continue;
        any = true;
        for (const auto& one : *found) {
            if (one.relative != ".") continue;
            const auto kind = one.checksum.substr(0, one.checksum.find('}'));
            known_[key_of(source, follow)][kind.empty() ? "sha256" : kind.substr(1)] = one;
        }
        for (const Value& one : list->as_array())
            content_uris_[child_uri(source, std::string(text_at(one, "relative_path")))] =
                text_at(one, "content_uri");
        folders_[how] = std::move(*found);
    }
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
