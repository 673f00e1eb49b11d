// SPDX-License-Identifier: Apache-2.0
#include "services/server/content_peers.h"

#include <fmt/format.h>

#include "compile/site/store_access.h"
#include "core/base/text.h"
#include "core/codec/digest.h"
#include "core/config/setting_aliases.h"
#include "net/http/client.h"
#include "services/server/static_content.h"

namespace bunraku::server {

namespace {

/// Marks a request of a peer.
constexpr const char* kPeerHeader = "Bunraku-Content-Peer";
/// An agent waits for the response, so that a peer that does not respond must not take long.
constexpr std::chrono::seconds kConnectTimeout{3}, kContentTimeout{15};

}  // namespace

base::Result<std::vector<std::string>> ContentPeers::urls_of(const config::Settings& settings) {
    std::vector<std::string> out;
    const auto text = config::aliased_setting(settings, "static-content-peers");
    for (auto url : base::words(text, " ,\t\n")) {
        while (url.ends_with('/')) url.remove_suffix(1);
        if (!url.starts_with("https://") || url.size() == 8) {
            return base::failure(fmt::format(
                "The setting static-content-peers must list URLs such as https://HOST:8140, not {}",
                url));
        }
        out.emplace_back(url);
    }
    return out;
}

ContentPeers::ContentPeers(const config::Settings& settings, base::LogSink& log)
    : settings_(settings), log_(log) {
    if (auto urls = urls_of(settings)) urls_ = std::move(*urls);
}

std::optional<std::string> ContentPeers::fetch(const http::Request& request, std::string_view path,
                                               std::string_view digest) const {
    if (urls_.empty() || request.headers.has(kPeerHeader)) return std::nullopt;
    auto options = site::tls_options(settings_, "Bunraku");
    options.connect_timeout = kConnectTimeout;
    options.timeout = kContentTimeout;
    options.max_body = StaticContent::kMaxSize;
    http::Client client(std::move(options));
    std::string query;
    for (const char* name : {"environment", "code_id"}) {
        const auto* value = request.query_value(name);
        query += fmt::format("{}{}={}", query.empty() ? "?" : "&", name,
                             http::percent_encode(value ? *value : std::string()));
    }
    for (const auto& url : urls_) {
        http::ClientRequest question;
        question.url = fmt::format("{}/puppet/v3/static_file_content/{}{}", url,
                                   http::percent_encode(path, "/"), query);
        question.headers.set(kPeerHeader, "1");
        auto answer = client.send(question);
        if (!answer) {
            log_.log(base::Level::Warning, answer.error().message);
            continue;
        }
        if (answer->status != 200) continue;
        if (codec::hex_digest(codec::DigestKind::Sha256, answer->body) == digest)
            return std::move(answer->body);
        log_.log(base::Level::Warning,
                 fmt::format("{} returned other bytes than those of {}", url, path));
    }
    return std::nullopt;
}

}  // namespace bunraku::server
