// SPDX-License-Identifier: Apache-2.0
#include "cli/rollout_client.h"

#include <cstdlib>
#include <fmt/format.h>

#include "cli/command.h"
#include "compile/site/store_access.h"
#include "core/base/plain_error.h"
#include "core/value/hash_access.h"
#include "core/value/rich_data.h"

namespace bunraku::cli {

namespace {

http::ClientOptions client_options(const config::Settings& settings) {
    auto out = site::tls_options(settings, fmt::format("Bunraku/{}", kVersion));
    if (const char* token = std::getenv("BUNRAKU_TOKEN"); token && *token)
        out.authorization = fmt::format("Bearer {}", token);
    return out;
}

}  // namespace

std::string RolloutAnswer::error() const {
    const auto text = value::text_at(data, "error");
    return text.empty() ? fmt::format("The server answered {}: {}", status, body) : text;
}

RolloutClient::RolloutClient(const config::Settings& settings, std::string url)
    : url_(std::move(url)), client_(client_options(settings)), arena_(64 * 1024) {
    if (url_.empty())
        url_ = fmt::format("https://{}:{}", settings.text("server"), settings.text("serverport"));
    while (url_.ends_with('/')) url_.pop_back();
}

RolloutAnswer RolloutClient::send(std::string_view method, std::string_view path,
                                  std::string body) {
    http::ClientRequest request{.method = std::string(method),
                                .url = fmt::format("{}/bunraku/v1{}", url_, path),
                                .headers = {},
                                .body = std::move(body)};
    if (!request.body.empty()) request.headers.set("Content-Type", "application/json");
    auto answer = client_.send(request);
    if (!answer) throw base::plain_error(answer.error().message);
    RolloutAnswer out{.status = answer->status, .body = std::move(answer->body), .data = {}};
    const auto data = value::parse_json(arena_, out.body);
    if (data) out.data = *data;
    if (!data && out.status < 400) throw base::plain_error(data.error().message);
    return out;
}

RolloutAnswer RolloutClient::get(std::string_view path) {
    auto out = send("GET", path);
    if (out.status / 100 != 2) throw base::plain_error(out.error());
    return out;
}

}  // namespace bunraku::cli
