// SPDX-License-Identifier: Apache-2.0
#include "compile/site/running_store.h"

#include <chrono>
#include <fmt/format.h>
#include <thread>
#include <utility>

#include "core/codec/json_cursor.h"
#include "core/codec/json_text.h"
#include "core/sys/descriptor.h"
#include "net/http/local_socket.h"
#include "net/http/network.h"
#include "resources/catalog/wire_time.h"
#include "store/db/owner.h"

namespace bunraku::site {

using base::failure;
using base::Result;

namespace {

constexpr int kTimeoutSeconds = 3600;  // compacting a large store may take long

http::ClientOptions options_for(http::Network& network) {
    http::ClientOptions out;
    out.network = &network;
    out.timeout = std::chrono::seconds(kTimeoutSeconds + 60);
    return out;
}

/// Returns the error in a response: the member "error" or "msg", or the whole body.
std::string reason_of(const http::ClientResponse& answer) {
    std::string out;
    try {
        codec::JsonCursor json(answer.body);
        json.enter_object();
        std::string_view key;
        while (json.next_key(&key)) {
            const bool wanted = key == "error" || key == "msg";
            if (wanted && json.kind() == codec::JsonCursor::Kind::String) {
                out = std::string(json.string());
            } else {
                json.skip();
            }
        }
    } catch (const codec::JsonError&) {
        out.clear();
    }
    return out.empty() ? fmt::format("{} {}", answer.status, answer.body) : out;
}

}  // namespace

RunningStore::RunningStore(std::string socket)
    : network_(http::local_network(std::move(socket))), client_(options_for(*network_)) {}
RunningStore::~RunningStore() = default;

Result<std::unique_ptr<RunningStore>> RunningStore::find(const std::string& database) {
    const std::string socket = store::owner_socket(database);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    for (;;) {
        if (!store::has_owner(database)) return nullptr;
        const auto probe = http::connect_local(socket);
        if (probe) {
            sys::Descriptor(*probe).close();
            return std::unique_ptr<RunningStore>(new RunningStore(socket));
        }
        if (std::chrono::steady_clock::now() > end) {
            return failure(
                fmt::format("A server uses the store {}, and does not answer on {}. Is it an older "
                            "version? Restart it, or stop it",
                            database, probe.error().message));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
}

Result<std::string> RunningStore::post(std::string target, std::string body) {
    http::ClientRequest request;
    request.method = "POST";
    request.url = "http://localhost" + std::move(target);
    request.headers.set("Content-Type", "application/json");
    request.body = std::move(body);
    auto answer = BUNRAKU_TRY(client_.send(request));
    if (answer.status != 200) return failure(reason_of(answer));
    return std::move(answer.body);
}

Result<void> RunningStore::submit(const store::CommandHeader& header, std::string body) {
    std::string target =
        fmt::format("/pdb/cmd/v1?command={}&version={}&certname={}&secondsToWaitForCompletion={}",
                    http::percent_encode(store::command_name(header.kind)), header.version,
                    http::percent_encode(header.certname), kTimeoutSeconds);
    if (header.producer_timestamp != 0) {
        target += "&producer-timestamp=" +
                  http::percent_encode(catalog::format_wire_time(header.producer_timestamp));
    }
    BUNRAKU_TRY(post(std::move(target), std::move(body)));
    return {};
}

Result<std::string> RunningStore::admin(std::string_view command, std::string_view payload) {
    return post("/pdb/admin/v1/cmd", fmt::format("{{\"command\":{},\"version\":1,\"payload\":{}}}",
                                                 codec::json_string(command), payload));
}

Result<void> RunningStore::remember_collections(std::string_view certname,
                                                const std::vector<std::string>& names) {
    std::string list;
    for (const auto& name : names) list += (list.empty() ? "" : ",") + codec::json_string(name);
    BUNRAKU_TRY(admin("remember_collections", fmt::format("{{\"certname\":{},\"collected\":[{}]}}",
                                                          codec::json_string(certname), list)));
    return {};
}

}  // namespace bunraku::site
