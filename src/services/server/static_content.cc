// SPDX-License-Identifier: Apache-2.0
#include "services/server/static_content.h"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <mutex>

#include "core/base/assert.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/codec/digest.h"
#include "core/codec/json_text.h"
#include "core/sys/clock.h"
#include "core/sys/disk.h"
#include "net/http/message.h"
#include "services/server/content_mark.h"

namespace bunraku::server {

using base::Result;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000, kDay = 86'400 * kSecond;

/// Returns the first of the agent's checksum kinds that this server supports.
std::string common_checksum(std::string_view theirs) {
    for (const auto name : base::words(theirs, ".")) {
        const bool lite = name.ends_with("lite");
        if (codec::digest_kind(lite ? name.substr(0, name.size() - 4) : name) || name == "mtime" ||
            name == "ctime" || name == "none")
            return std::string(name);
    }
    return {};
}

/// A file of a module that a resource refers to.
struct StaticSource {
    std::string uri;  ///< without trailing slashes
    std::string key;  ///< for example "modules/ntp/ntp.conf"
};

/// Returns the sources of a resource. Empty if one of them is not a module's file on this server.
std::vector<StaticSource> sources_of(const catalog::Resource& resource) {
    std::vector<std::string> texts;
    const auto* given = resource.parameter("source");
    if (given && given->is_string()) texts.emplace_back(given->as_string());
    if (given && given->is_array())
        for (const auto& one : given->as_array()) {
            if (!one.is_string()) return {};
            texts.emplace_back(one.as_string());
        }
    std::vector<StaticSource> out;
    for (auto& text : texts) {
        while (text.ends_with('/')) text.pop_back();
        constexpr std::string_view kHere = "puppet:///modules/";
        if (!text.starts_with(kHere)) return {};
        auto key = http::percent_decode(std::string_view(text).substr(10));
        if (!key) return {};
        out.push_back({std::move(text), std::move(*key)});
    }
    return out;
}

std::string word_of(const catalog::Resource& resource, std::string_view name) {
    const auto* value = resource.parameter(name);
    if (!value) return {};
    if (value->is(value::Kind::Boolean)) return value->truthy() ? "true" : "false";
    return value->is_string() ? std::string(value->as_string()) : std::string();
}

FileRequest static_request(const catalog::Resource& resource, const std::string& checksum) {
    FileRequest out;
    out.follow_links = word_of(resource, "links") == "follow";
    out.checksum = word_of(resource, "checksum");
    if (out.checksum.empty()) out.checksum = checksum;
    if (out.checksum == "etag") out.checksum = "md5";  // as for a file request
    const auto permissions = word_of(resource, "source_permissions");
    out.real_owner = permissions == "use" || permissions == "use_when_creating";
    const auto recurse = word_of(resource, "recurse");
    out.search.recurse = recurse == "true" || recurse == "remote";
    const auto* limit = resource.parameter("recurselimit");
    if (limit && limit->is_integer()) out.search.limit = limit->as_integer();
    const auto* most = resource.parameter("max_files");
    if (most && most->is_integer()) out.search.max_files = most->as_integer();
    const auto* ignore = resource.parameter("ignore");
    if (ignore && ignore->is_string()) out.search.ignore.emplace_back(ignore->as_string());
    if (ignore && ignore->is_array())
        for (const auto& one : ignore->as_array())
            if (one.is_string()) out.search.ignore.emplace_back(one.as_string());
    return out;
}

/// Returns the path of a module's file in catalogs: relative to the environment's folder, as in
/// puppetserver. For files outside that folder, returns a path that is the same in every
/// environment.
std::string content_path_of(const std::string& path, const StaticSource& source,
                            const environment::Environment& environment) {
    const auto root = environment.directory() + "/";
    if (!environment.directory().empty() && path.starts_with(root)) return path.substr(root.size());
    const auto slash = source.key.find('/', 8);
    return slash == std::string::npos
               ? source.key + "/files"
               : source.key.substr(0, slash) + "/files" + source.key.substr(slash);
}

/// The separator between path and digest in a `content_uri`. With the digest, another server that
/// does not know the code id can check whether its own file has the same content.
constexpr std::string_view kDigestMark = "~sha256-";

std::string content_uri_of(const std::string& path) {
    return "puppet:///" + http::percent_encode(path, "/");
}

bool is_sha256(std::string_view text) {
    return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

}  // namespace

std::string StaticContent::content_path(std::string_view digest) const {
    return fmt::format("{}/content/{}/{}", folder_, digest.substr(0, 2), digest);
}
std::string StaticContent::list_path(std::string_view code_id) const {
    return fmt::format("{}/code/{}", folder_, code_id);
}

Result<void> StaticContent::keep(const std::string& digest, const std::string& from) {
    BUNRAKU_ASSERT(is_sha256(digest));
    {
        const std::lock_guard lock(mutex_);
        if (contents_.contains(digest)) return {};
    }
    const auto to = content_path(digest);
    if (!sys::disk().exists(to)) {
        BUNRAKU_TRY_VOID(sys::disk().make_directories(std::string(sys::directory_name(to)), 0750));
        const auto fill = [&](const sys::Write& write) -> Result<void> {
            codec::Digest seen(codec::DigestKind::Sha256);
            Result<void> written;
            BUNRAKU_TRY_VOID(sys::disk().read_chunks(from, [&](std::string_view bytes) {
                seen.update(bytes);
                written = write(bytes);
                return written.has_value();
            }));
            BUNRAKU_TRY_VOID(written);
            if (seen.hex() != digest)
                return base::failure(fmt::format("{} changed while it was read", from));
            return {};
        };
        BUNRAKU_TRY_VOID(sys::disk().replace_from(to, fill, {.mode = 0640}));
    }
    const std::lock_guard lock(mutex_);
    contents_.insert(digest);
    return {};
}

Result<void> StaticContent::keep_list(const std::string& code_id, const std::string& list) {
    BUNRAKU_ASSERT(is_sha256(code_id));
    const auto now = sys::make_real_clock()->now_ns();
    {
        const std::lock_guard lock(mutex_);
        const auto it = lists_.find(code_id);
        if (it != lists_.end() && now - it->second < kDay) return {};
    }
    const auto path = list_path(code_id);
    if (sys::disk().exists(path)) {
        BUNRAKU_TRY_VOID(sys::disk().set_mtime(path, now));
    } else {
        BUNRAKU_TRY_VOID(
            sys::disk().make_directories(std::string(sys::directory_name(path)), 0750));
        BUNRAKU_TRY_VOID(sys::disk().replace(path, list, {.mode = 0640}));
    }
    const std::lock_guard lock(mutex_);
    lists_[code_id] = now;
    return {};
}

StaticContent::Inlined StaticContent::inline_files(const catalog::Catalog& catalog,
                                                   const environment::Environment& environment,
                                                   std::string_view checksums, base::LogSink& log) {
    const auto checksum = common_checksum(checksums);
    if (checksum.empty()) {
        throw base::plain_error(fmt::format(
            "Unable to find a common checksum type between agent '{}' and master '{}'.", checksums,
            "[:sha256, :sha256lite, :md5, :md5lite, :sha1, :sha1lite, :sha512, "
            ":sha384, :sha224, :mtime, :ctime, :none]"));
    }
    const std::shared_lock whole(cleaning_);
    Inlined out;
    std::string single, recursive;
    std::map<std::string, std::string> paths;  // maps content paths to digests
    const auto add = [](std::string& to, std::string_view title, std::string_view json) {
        if (!to.empty()) to += ',';
        codec::append_json_string(to, title);
        to += ':';
        to += json;
    };
    for (const auto& resource : catalog.resources) {
        if (resource.ref.type != "File" || resource.virtual_) continue;
        if (word_of(resource, "ensure") == "absent") continue;
        const auto sources = sources_of(resource);
        if (sources.empty()) continue;
        auto wanted = static_request(resource, checksum);
        wanted.files = &environment.files();
        // The resource's additions. All of them are dropped if one of its files cannot be cached.
        std::map<std::string, std::string> own;
        const auto take = [&](FileFacts& facts, const StaticSource& source) {
            const bool top = !facts.relative || *facts.relative == ".";
            const auto full = top ? facts.path : sys::join(facts.path, *facts.relative);
            const auto path = content_path_of(full, source, environment);
            facts.content_uri = content_uri_of(path);
            if (facts.type != "file") return true;
            const auto place = environment.files().place(full);
            const auto status = sys::disk().stat(place);
            if (!status || status->size > kMaxSize) return false;
            auto digest = files_.digests().of("sha256", place, *status);
            auto kept =
                digest ? keep(*digest, place) : Result<void>(std::unexpected(digest.error()));
            if (!kept) {
                log.log(base::Level::Warning,
                        fmt::format("Could not cache the content of {} for static catalogs: {}",
                                    full, kept.error().message));
                return false;
            }
            own[path] = *digest;
            facts.content_uri += std::string(kDigestMark) + *digest;
            return true;
        };
        std::string json;
        bool whole_resource = true;
        const bool has_times = wanted.checksum == "mtime" || wanted.checksum == "ctime";
        const auto record = [&](std::string path) {
            auto stamp = environment.files().stat(path);
            auto content = has_times
                               ? std::string()
                               : content_mark(files_.digests(), environment.files().place(path));
            out.seen.push_back({std::move(path), stamp, std::move(content)});
        };
        for (const auto& source : sources)
            for (auto& path : files_.places(environment, source.key, catalog.name))
                record(std::move(path));
        if (wanted.search.recurse) {
            for (const auto& source : sources) {
                const auto folders = files_.search(environment, source.key, catalog.name);
                if (folders.empty()) continue;
                std::string list;
                std::vector<std::string> broken;
                for (auto& facts : files_.walk(folders, wanted, &broken)) {
                    BUNRAKU_ASSERT(facts.relative.has_value());
                    if (*facts.relative != ".") record(sys::join(facts.path, *facts.relative));
                    whole_resource = whole_resource && take(facts, source);
                    if (!list.empty()) list += ',';
                    write_json(list, facts);
                }
                // The agent requests the files itself then, and receives the error.
                whole_resource = whole_resource && broken.empty();
                for (auto& path : broken) record(std::move(path));
                add(json, source.uri, "[" + list + "]");
                if (word_of(resource, "sourceselect") != "all") break;
            }
            if (!whole_resource || json.empty()) continue;
            add(recursive, resource.ref.title, "{" + json + "}");
        } else {
            for (const auto& source : sources) {
                const auto found = files_.find(environment, source.key, catalog.name);
                if (!found) continue;
                auto facts = files_.look(*found, std::nullopt, wanted);
                // A broken link; the agent reports it.
                if (!facts) break;
                facts->source = source.uri;
                if (take(*facts, source)) write_json(json, *facts);
                break;
            }
            if (json.empty()) continue;
            add(single, resource.ref.title, json);
        }
        paths.merge(own);
    }
    if (single.empty() && recursive.empty()) return out;
    std::string list;
    for (const auto& [path, digest] : paths) list += fmt::format("{} {}\n", digest, path);
    out.code_id = codec::hex_digest(codec::DigestKind::Sha256, list);
    if (auto kept = keep_list(out.code_id, list); !kept) {
        log.log(base::Level::Warning,
                fmt::format(
                    "Could not cache the content of a static catalog, so {} gets a normal one: {}",
                    catalog.name, kept.error().message));
        return {};
    }
    if (!single.empty()) out.json += fmt::format(R"(,"metadata":{{{}}})", single);
    if (!recursive.empty()) out.json += fmt::format(R"(,"recursive_metadata":{{{}}})", recursive);
    return out;
}

StaticContent::Address StaticContent::address_of(std::string_view content_path) {
    const auto at = content_path.rfind(kDigestMark);
    if (at == std::string_view::npos) return {content_path, {}};
    const auto digest = content_path.substr(at + kDigestMark.size());
    if (!is_sha256(digest)) return {content_path, {}};
    return {content_path.substr(0, at), digest};
}

std::optional<std::string> StaticContent::digest_of(const std::string& code_id,
                                                    const Address& address) const {
    if (!address.digest.empty()) return std::string(address.digest);
    if (!is_sha256(code_id)) return std::nullopt;
    const auto list = sys::disk().read(list_path(code_id));
    if (!list) return std::nullopt;
    for (const auto line : base::split(*list, '\n')) {
        if (line.size() == 65 + address.path.size() && line.substr(65) == address.path)
            return std::string(line.substr(0, 64));
    }
    return std::nullopt;
}

std::optional<std::string> StaticContent::find(std::string_view digest) {
    auto content = content_path(digest);
    const auto status = sys::disk().stat(content);
    // A file truncated by a crash must not be returned.
    const auto seen = status ? files_.digests().of("sha256", content, *status)
                             : Result<std::string>(std::unexpected(status.error()));
    if (!seen || *seen != digest) return std::nullopt;
    return content;
}

std::optional<std::string> StaticContent::find_among(const std::string& digest,
                                                     const std::vector<std::string>& places) {
    const std::shared_lock whole(cleaning_);
    for (const auto& place : places) {
        const auto status = sys::disk().stat(place);
        if (!status || status->kind != sys::FileKind::File || status->size > kMaxSize) continue;
        const auto seen = files_.digests().of("sha256", place, *status);
        // `keep` verifies its copy, because the file may change meanwhile.
        if (seen && *seen == digest && keep(digest, place)) return content_path(digest);
    }
    return std::nullopt;
}

Result<std::string> StaticContent::add(const std::string& digest, std::string_view bytes) {
    const std::shared_lock whole(cleaning_);
    if (!is_sha256(digest) || codec::hex_digest(codec::DigestKind::Sha256, bytes) != digest)
        return base::failure(fmt::format("The content does not have the digest {}", digest));
    auto path = content_path(digest);
    BUNRAKU_TRY_VOID(sys::disk().make_directories(std::string(sys::directory_name(path)), 0750));
    BUNRAKU_TRY_VOID(sys::disk().replace(path, bytes, {.mode = 0640}));
    const std::lock_guard lock(mutex_);
    contents_.insert(digest);
    return path;
}

void StaticContent::clean(std::int64_t seconds, base::LogSink& log) {
    const std::unique_lock whole(cleaning_);
    auto& disk = sys::disk();
    const auto before = sys::make_real_clock()->now_ns() - seconds * kSecond;
    const auto names = disk.list(folder_ + "/code");
    if (!names) return;  // nothing is cached, or the folder is unreadable
    std::set<std::string, std::less<>> named;
    for (const auto& name : *names) {
        const auto path = list_path(name);
        const auto status = disk.stat(path);
        if (status && status->mtime_ns < before) {
            if (disk.remove(path)) continue;
        }
        const auto list = disk.read(path);
        if (!list) {
            log.log(base::Level::Warning, list.error().message);
            return;
        }
        for (const auto line : base::split(*list, '\n')) named.emplace(line.substr(0, 64));
    }
    for (const auto& folder :
         disk.list(folder_ + "/content").value_or(std::vector<std::string>())) {
        const auto below = fmt::format("{}/content/{}", folder_, folder);
        const auto digests = disk.list(below);
        if (!digests) continue;
        for (const auto& digest : *digests)
            if (!named.contains(digest)) (void)disk.remove(sys::join(below, digest));
    }
    const std::lock_guard lock(mutex_);
    contents_.clear();
    lists_.clear();
}

}  // namespace bunraku::server
