// SPDX-License-Identifier: Apache-2.0
// An API of Bunraku: explains why a node's catalog was compiled, or that the cache contained it.
#include <fmt/format.h>

#include "core/codec/json_text.h"
#include "resources/catalog/wire_time.h"
#include "services/server/compiler.h"
#include "services/server/json_answers.h"
#include "services/server/puppet_api.h"

namespace bunraku::server {

namespace {

using http::Request;
using http::Response;

std::string decision_json(std::string_view node, const CacheDecision& decision) {
    std::string details;
    for (const auto& one : decision.details)
        details += (details.empty() ? "" : ",") + codec::json_string(one);
    return fmt::format(
        R"({{"node":{},"environment":{},"served":{},"reason":{},"details":[{}],"time":"{}",)"
        R"("served_total":{},"compiled_total":{}}})",
        codec::json_string(node), codec::json_string(decision.environment), decision.served,
        decision.served ? "null" : codec::json_string(decision.reason), details,
        catalog::format_wire_time(decision.at_ns / 1'000'000), decision.served_total,
        decision.compiled_total);
}

}  // namespace

void mount_cache(http::Router& router, Compiler& compiler) {
    router.add(
        "GET", "/bunraku/v1/catalog-cache/{node}", administrators(compiler.authorization()),
        [&compiler](Request& request) {
            const std::string node(request.param("node"));
            const auto decision = compiler.catalog_cache().reasons().find(node);
            if (!decision) {
                return json_error(
                    404,
                    fmt::format("{} has not requested a catalog since this server started", node));
            }
            return Response::json(200, decision_json(node, *decision));
        });
}

}  // namespace bunraku::server
