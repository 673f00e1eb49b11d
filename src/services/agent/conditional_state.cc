// SPDX-License-Identifier: Apache-2.0
#include "services/agent/conditional_state.h"

#include <fmt/format.h>

#include "compile/site/conditional_headers.h"
#include "core/base/arena.h"
#include "core/base/text.h"
#include "core/codec/json_text.h"
#include "core/value/hash_access.h"
#include "core/value/rich_data.h"
#include "net/http/message.h"

namespace bunraku::agent {

std::optional<ConditionalState> ConditionalState::load(sys::FileSystem& files,
                                                       const std::string& path) {
    const auto text = files.read(path);
    if (!text) return std::nullopt;
    base::Arena arena(4096);
    const auto data = value::parse_json(arena, *text);
    if (!data || !data->is_hash()) return std::nullopt;
    ConditionalState out;
    out.server = text_at(*data, "server");
    out.asked = text_at(*data, "asked");
    out.environment = text_at(*data, "environment");
    out.etag = text_at(*data, "etag");
    out.plugins = text_at(*data, "plugins");
    const auto* facts = at(*data, "facts");
    const auto* reported = at(*data, "told_ns");
    if (out.etag.empty() || !facts || !facts->is_array() || !reported || !reported->is_integer())
        return std::nullopt;
    for (const auto& one : facts->as_array())
        if (one.is_string()) out.facts.emplace_back(one.as_string());
    out.reported_ns = reported->as_integer();
    out.report = text_at(*data, "report");
    out.report_identity = text_at(*data, "report_identity");
    return out;
}

base::Result<void> ConditionalState::save(sys::FileSystem& files, const std::string& path) const {
    std::string list;
    for (const auto& fact : facts)
        list += fmt::format("{}{}", list.empty() ? "" : ",", codec::json_string(fact));
    return files.replace(
        path,
        fmt::format(R"({{"server":{},"asked":{},"environment":{},"etag":{},"plugins":{},)"
                    R"("facts":[{}],"told_ns":{},"report":{},"report_identity":{}}})",
                    codec::json_string(server), codec::json_string(asked),
                    codec::json_string(environment), codec::json_string(etag),
                    codec::json_string(plugins), list, reported_ns, codec::json_string(report),
                    codec::json_string(report_identity)),
        {.mode = 0640});
}

bool ConditionalState::take(const http::ClientResponse& answer) {
    etag = answer.headers.get("ETag");
    plugins = answer.headers.get(site::kPluginsHeader);
    facts.clear();
    if (etag.empty() || plugins.empty()) return false;
    for (const auto word : base::words(answer.headers.get(site::kPathsHeader), " ")) {
        auto path = http::percent_decode(word);
        if (!path) return false;
        facts.push_back(std::move(*path));
    }
    return true;
}

}  // namespace bunraku::agent
