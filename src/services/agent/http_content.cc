// SPDX-License-Identifier: Apache-2.0
#include "services/agent/http_content.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

#include "compile/site/store_access.h"
#include "core/base/civil_time.h"
#include "core/base/text.h"
#include "core/codec/base64.h"
#include "core/sys/clock.h"
#include "services/agent/download.h"

namespace bunraku::agent {

using apply::ContentMetadata;
using base::Result;

namespace {

std::string hex_of(std::string_view bytes) {
    std::string out;
    for (const char c : bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
    return out;
}

// Returns a strong entity tag as a checksum if it has the form of one, otherwise "". Its length
// tells the kind (OpenVox 8.26, file_serving/http_metadata).
std::string digest_in_tag(std::string_view tag) {
    if (tag.starts_with("W/")) return {};
    std::string hex;
    for (const char c : tag)
        if (c != '"') hex += c;
    hex = base::lower(base::trim(hex));
    if (!std::ranges::all_of(hex, [](unsigned char c) { return std::isxdigit(c) != 0; })) return {};
    const char* kind = hex.size() == 64   ? "sha256"
                       : hex.size() == 40 ? "sha1"
                       : hex.size() == 32 ? "md5"
                                          : nullptr;
    return kind ? fmt::format("{{{}}}{}", kind, hex) : std::string();
}

}  // namespace

HttpContent::HttpContent(const config::Settings& settings, std::string user_agent,
                         std::function<bool()> stopped)
    : settings_(settings), user_agent_(std::move(user_agent)), stopped_(std::move(stopped)) {}

http::Client& HttpContent::client() {
    if (!client_) {
        auto options = site::tls_options(settings_, user_agent_);
        options.system_authorities = true;
        options.trust_store = settings_.text("ssl_trust_store");
        options.stopped = stopped_;
        client_ = std::make_unique<http::Client>(std::move(options));
    }
    return *client_;
}

Result<std::optional<HttpContent::Checksums>> HttpContent::ask(const std::string& uri) {
    if (const auto it = known_.find(uri); it != known_.end()) return it->second;
    http::ClientRequest request{.method = "HEAD", .url = uri};
    auto answer = BUNRAKU_TRY(client().send(request));
    if (answer.status == 403 || answer.status == 405) {
        request.method = "GET";
        request.headers.set("Range", "bytes=0-0");
        // A server without support for ranges sends the whole file, which is discarded.
        answer = BUNRAKU_TRY(client().download(request, [](std::string_view) { return true; }));
    }
    if (answer.status / 100 != 2) return std::nullopt;
    Checksums found;
    if (const auto md5 = codec::base64_decode(answer.headers.get("Content-MD5"));
        md5 && !md5->empty())
        found["md5"] = "{md5}" + hex_of(*md5);
    for (const char* kind : {"md5", "sha1", "sha256"}) {
        const auto header = answer.headers.get(fmt::format("X-Checksum-{}", kind));
        if (!header.empty()) found[kind] = fmt::format("{{{}}}{}", kind, header);
    }
    if (auto tag = digest_in_tag(answer.headers.get("ETag")); !tag.empty()) found["etag"] = tag;
    const auto changed = http::parse_http_date(answer.headers.get("Last-Modified"));
    // A time of the server is shown in UTC, as OpenVox does.
    found["mtime"] =
        "{mtime}" + (changed ? base::iso_text(base::civil_time(*changed), 0, " UTC", ' ')
                             : sys::local_text(sys::make_real_clock()->now_ns()));
    known_[uri] = found;
    return found;
}

Result<std::optional<ContentMetadata>> HttpContent::metadata(const std::string& uri,
                                                             const apply::ContentQuery& query) {
    auto found = BUNRAKU_TRY(ask(uri));
    if (!found) return std::nullopt;
    ContentMetadata out{.uri = uri, .relative = ".", .status = {}, .has_owner = false};
    out.status.kind = sys::FileKind::File;
    if (query.checksum.empty()) return out;
    for (const std::string& kind : {query.checksum, std::string("sha256"), std::string("sha1"),
                                    std::string("md5"), std::string("mtime")}) {
        if (const auto it = found->find(kind); it != found->end()) {
            out.checksum = it->second;
            break;
        }
    }
    return out;
}

Result<std::optional<std::vector<ContentMetadata>>> HttpContent::search(
    const std::string&, const apply::ContentSearch&) {
    return base::failure("cannot lookup multiple files");
}

Result<std::unique_ptr<sys::Reader>> HttpContent::open(const std::string& uri) {
    return agent::download(client(), {.url = uri});
}

}  // namespace bunraku::agent
