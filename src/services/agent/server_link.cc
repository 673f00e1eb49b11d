// SPDX-License-Identifier: Apache-2.0
#include "services/agent/server_link.h"

#include <fmt/format.h>

#include "compile/site/conditional_headers.h"
#include "core/base/text.h"
#include "core/config/compatibility.h"
#include "net/http/network.h"
#include "net/http/resuming_network.h"
#include "services/agent/server_default.h"

namespace bunraku::agent {

using base::Result;

namespace {

http::ClientOptions client_options(const config::Settings& settings, const SslFiles& files,
                                   std::string user_agent, std::function<bool()> stopped,
                                   http::Network* network) {
    http::ClientOptions out;
    out.network = network;
    out.user_agent = std::move(user_agent);
    out.stopped = std::move(stopped);
    files.use(out);
    out.proxies = http::ProxyRules::of_settings(settings);
    const auto seconds = [&](config::SettingName name, std::chrono::milliseconds otherwise) {
        const auto text = settings.text(name);
        if (text.empty() || text == "unlimited") return otherwise;
        return std::chrono::milliseconds(settings.integer(name) * 1000);
    };
    out.connect_timeout = seconds("http_connect_timeout", std::chrono::minutes(2));
    out.timeout = seconds("http_read_timeout", std::chrono::minutes(10));
    return out;
}

}  // namespace

std::string encoded(const Query& query) {
    std::string out;
    for (const auto& [name, value] : query) {
        if (!out.empty()) out += '&';
        out += http::percent_encode(name) + "=" + http::percent_encode(value);
    }
    return out;
}

ServerLink::ServerLink(const config::Settings& settings, const SslFiles& files,
                       std::string user_agent, std::function<bool()> stopped,
                       http::Network* network)
    : settings_(settings),
      sockets_(http::resuming_sockets(settings.text("statedir") + "/tls_session")),
      client_(client_options(settings, files, std::move(user_agent), std::move(stopped),
                             network ? network : sockets_.get())),
      address_(fmt::format("{}:{}", settings.text("server"), settings.text("serverport"))) {}

ServerLink::~ServerLink() = default;

bool ServerLink::choose(base::LogSink& log) {
    const auto list = settings_.list("server_list");
    if (const auto usable = check_server_setting(settings_, log, false); !usable) {
        log.log(base::Level::Err, usable.error().message);
        return false;
    }
    if (list.empty()) return true;
    const auto level = settings_.compatibility();
    from_list_ = true;
    for (const auto& entry : list) {
        address_ = entry.find(':') == std::string::npos
                       ? fmt::format("{}:{}", entry, settings_.text("serverport"))
                       : entry;
        const auto answer =
            client_.get(fmt::format("https://{}/status/v1/simple/server", address_));
        if (answer && answer->status == 200) {
            log.log(base::Level::Debug,
                    fmt::format("Selected {} server from the `server_list` setting: {}",
                                config::product(level, "puppet"), address_));
            return true;
        }
        log.log(base::Level::Debug,
                answer ? fmt::format("{} server {} is unavailable: {} {}", config::product(level),
                                     address_, answer->status, http::reason(answer->status))
                       : fmt::format("Unable to connect to server from server_list setting: {}",
                                     answer.error().message));
    }
    log.log(base::Level::Err,
            fmt::format("Could not select a functional {} server from server_list: '{}'",
                        config::product(level, "puppet"), settings_.text("server_list")));
    return false;
}

std::string ServerLink::url(std::string_view path, const Query& query,
                            std::string_view address) const {
    std::string out = fmt::format("https://{}/puppet/v3/{}",
                                  address.empty() ? std::string_view(address_) : address,
                                  http::percent_encode(path, "/"));
    Query all = query;
    all.emplace_back("environment", environment);
    return out + "?" + encoded(all);
}

http::ClientRequest ServerLink::request(std::string method, std::string url,
                                        std::string_view accept) const {
    http::ClientRequest out{.method = std::move(method), .url = std::move(url)};
    out.headers.set("Accept", accept);
    out.headers.set("X-Puppet-Version", config::puppet_version(settings_.compatibility()));
    if (!run.empty()) out.headers.set(site::kRunHeader, run);
    return out;
}

Result<http::ClientResponse> ServerLink::get(std::string_view path, const Query& query,
                                             std::string_view accept) {
    return client_.send(request("GET", url(path, query), accept));
}

Result<http::ClientResponse> ServerLink::send(http::ClientRequest request) {
    return client_.send(request);
}

}  // namespace bunraku::agent
