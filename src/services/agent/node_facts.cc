// SPDX-License-Identifier: Apache-2.0
#include "services/agent/node_facts.h"

#include <fmt/format.h>

#include "core/value/build.h"
#include "core/value/rich_data.h"
#include "resources/apply/storage.h"
#include "resources/facts/facts.h"
#include "services/agent/download.h"
#include "services/agent/open_link.h"

namespace bunraku::agent {

using value::Value;

Value facts_document(base::Arena& arena, const config::Settings& settings, std::string_view node,
                     const Value& facts, std::int64_t now_ns) {
    const auto until = now_ns + settings.integer("runinterval") * 1'000'000'000;
    value::HashBuilder out(arena, 4);
    out.set("name", value::make_string(arena, node));
    out.set("values", facts);
    out.set("timestamp", value::make_string(arena, apply::iso8601_local(now_ns)));
    out.set("expiration", value::make_string(arena, apply::iso8601_local(until)));
    return out.build();
}

base::Result<void> upload_facts(const config::Settings& settings, base::LogSink& log,
                                sys::System& system, const std::string& user_agent,
                                const Value& facts, http::Network* network) {
    std::string node = settings.text("node_name_value");
    if (const auto fact = settings.text("node_name_fact"); !fact.empty())
        if (const Value own = facts::dig(facts, fact); own.is_string()) node = own.as_string();
    const auto opened = open_link(settings, log, system, user_agent, network);
    if (!opened) {
        // The reason was logged already.
        if (opened.error().code == kNoCertificate) return base::failure("");
        return base::failure(opened.error().message);
    }
    ServerLink& link = **opened;
    const std::string& address = link.address();
    log.log(base::Level::Notice, fmt::format("Uploading facts for '{}' to '{}'", node,
                                             address.substr(0, address.rfind(':'))));
    base::Arena arena;
    auto request = link.request("PUT", link.url("facts/" + node), "application/json");
    request.headers.set("Content-Type", "application/json");
    request.body =
        value::to_json(facts_document(arena, settings, node, facts, system.clock.now_ns()));
    const auto answer = link.send(std::move(request));
    if (!answer) return base::failure(answer.error().message);
    if (answer->status < 200 || answer->status >= 300) return base::failure(refusal_text(*answer));
    return {};
}

}  // namespace bunraku::agent
