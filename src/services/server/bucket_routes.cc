// SPDX-License-Identifier: Apache-2.0
// The filebucket in which agents store backups: /puppet/v3/file_bucket_file/TYPE/DIGEST[/PATH].
// Files are stored in `bucketdir` with Puppet's layout (Puppet 8.11,
// indirector/file_bucket_file/file.rb).
#include <cerrno>
#include <fmt/format.h>

#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/codec/digest.h"
#include "core/codec/json_text.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "services/server/compiler.h"
#include "services/server/puppet_api.h"

namespace bunraku::server {

using http::Request;
using http::Response;

namespace {

/// Size limit; a backup contains a whole file.
constexpr std::uint64_t kMaxFile = std::uint64_t{1} << 30;
constexpr std::string_view kBytes = "application/octet-stream";

struct Key {
    codec::DigestKind kind{};
    std::string digest, path;
};

Key key_of(const Request& request) {
    std::string_view rest = request.param("key");
    if (rest.empty())
        throw ApiError(400, fmt::format("No request key specified in {}", request.path));
    const auto take = [&] {
        const auto slash = rest.find('/');
        const auto part = rest.substr(0, slash);
        rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
        return part;
    };
    Key out;
    const std::string name(take());
    const auto kind = codec::digest_kind(name);
    if (!kind) {
        throw base::plain_error(
            fmt::format("Unsupported checksum type {}", codec::json_string(name)));
    }
    const bool with_digest = !rest.empty();
    out.digest = take();
    // "//tmp/x" and "/tmp/x" are the same file.
    while (rest.starts_with('/')) rest.remove_prefix(1);
    out.path = rest;
    if (out.digest.size() != codec::hex_digest(*kind, "").size() ||
        out.digest.find_first_not_of("0123456789abcdef") != std::string::npos) {
        throw base::plain_error(
            fmt::format("Invalid checksum {}",
                        with_digest ? codec::json_string(out.digest) : std::string("nil")));
    }
    out.kind = *kind;
    return out;
}

class ServerBucket {
public:
    explicit ServerBucket(Compiler& compiler) : compiler_(compiler) {}

    Response get(const Request& request) {
        compiler_.require_environment(environment_name(request));
        if (request.query_value("list_all"))
            throw base::plain_error("Listing remote file buckets is not allowed");
        const auto key = key_of(request);
        const auto path = folder(key.digest) + "/contents";
        const auto status = files_.stat(path);
        if (!status || !was_at(key)) throw not_found("file_bucket_file", request.param("key"));
        if (request.method == "GET") accepted(request, {kBytes});
        if (const auto* other = request.query_value("diff_with"); other && request.method == "GET")
            throw ApiError(400,
                           "The server does not compare files: download both and compare them");
        Response out;
        out.headers.set("Content-Type", "application/octet-stream");
        out.compressible = false;
        if (request.method == "GET")
            out.file = Response::File{.path = path, .offset = 0, .length = status->size};
        return out;
    }

    Response put(const Request& request) {
        compiler_.require_environment(environment_name(request));
        accepted_or_json(request, std::span(&kBytes, 1));
        (void)body_format(request, {kBytes});
        const auto key = key_of(request);
        auto body = http::decoded_body(request, kMaxFile);
        if (body.status != 0) throw ApiError(body.status, body.message);
        if (codec::hex_digest(key.kind, body.body) != key.digest) {
            throw ApiError(400,
                           fmt::format("The request body does not have the digest {}", key.digest));
        }
        const auto check = [](auto result) {
            if (!result) throw base::plain_error(result.error().message);
        };
        const auto at = folder(key.digest);
        check(files_.make_directories(at, 0750));
        const auto contents = at + "/contents";
        const auto there = files_.read(contents);
        // A file that does not match its digest is damaged, and is replaced.
        if (!there || codec::hex_digest(key.kind, *there) != key.digest)
            check(files_.replace(contents, body.body, {.mode = 0440, .sync = true}));
        if (!key.path.empty() && key.path.find('\n') == std::string::npos) {
            const std::lock_guard lock(mutex_);
            if (!was_at(key)) check(files_.append(at + "/paths", "/" + key.path + "\n", 0640));
        }
        Response out;
        out.headers.set("Content-Type", "application/octet-stream");
        return out;
    }

private:
    /// Reports whether the content was saved from the path of the key. An empty path matches any.
    /// The list may contain paths without the leading slash.
    bool was_at(const Key& key) const {
        if (key.path.empty()) return true;
        const auto paths = "\n" + files_.read(folder(key.digest) + "/paths").value_or("");
        return paths.find("\n/" + key.path + "\n") != std::string::npos ||
               paths.find("\n" + key.path + "\n") != std::string::npos;
    }
    /// Uses eight levels of folders with one digit each, so that no folder grows large.
    std::string folder(std::string_view digest) const {
        std::string out = compiler_.settings().text("bucketdir");
        for (const char c : digest.substr(0, 8)) {
            out += '/';
            out += c;
        }
        return out + "/" + std::string(digest);
    }
    Compiler& compiler_;
    sys::FileSystem& files_ = sys::disk();
    std::mutex mutex_;
};

}  // namespace

void mount_bucket(http::Router& router, Compiler& compiler) {
    auto bucket = std::make_shared<ServerBucket>(compiler);
    http::RouteOptions options;
    options.max_body = kMaxFile;
    const auto add = [&](std::string_view method,
                         Response (ServerBucket::*handler)(const Request&)) {
        router.add(
            method, "/puppet/v3/file_bucket_file/{key*}", compiler.authorization().access(),
            [bucket, &compiler, handler](Request& request) {
                return answered(compiler.log(), request,
                                [&] { return ((*bucket).*handler)(request); });
            },
            options);
    };
    add("GET", &ServerBucket::get);
    add("HEAD", &ServerBucket::get);
    add("PUT", &ServerBucket::put);
}

}  // namespace bunraku::server
