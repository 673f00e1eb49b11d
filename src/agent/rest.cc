#include "agent/rest.h"

#include <fmt/format.h>

#include "base/arena.h"
#include "base/text.h"
#include "codec/json_text.h"
#include "http/message.h"
#include "value/rich_data.h"

namespace bunraku::agent {

std::optional<AtRest> AtRest::load(sys::FileSystem& files, const std::string& path) {
    const auto text = files.read(path);
    if (!text) return std::nullopt;
    base::Arena arena(4096);
    const auto data = value::parse_json(arena, *text);
    if (!data || !data->is_hash()) return std::nullopt;
    AtRest out;
    const auto take = [&](std::string_view name, std::string& to) {
        const auto* found = data->as_hash().find(name);
        if (found && found->is_string()) to = found->as_string();
    };
    take("server", out.server);
    take("asked", out.asked);
    take("environment", out.environment);
    take("etag", out.etag);
    take("plugins", out.plugins);
    const auto* facts = data->as_hash().find("facts");
    const auto* told = data->as_hash().find("told_ns");
    if (out.etag.empty() || !facts || !facts->is_array() || !told || !told->is_integer())
        return std::nullopt;
    for (const auto& one : facts->as_array())
        if (one.is_string()) out.facts.emplace_back(one.as_string());
    out.told_ns = told->as_integer();
    return out;
}

base::Result<void> AtRest::save(sys::FileSystem& files, const std::string& path) const {
    std::string list;
    for (const auto& fact : facts)
        list += fmt::format("{}{}", list.empty() ? "" : ",", codec::json_string(fact));
    return files.replace(
        path,
        fmt::format(R"({{"server":{},"asked":{},"environment":{},"etag":{},"plugins":{},)"
                    R"("facts":[{}],"told_ns":{}}})",
                    codec::json_string(server), codec::json_string(asked),
                    codec::json_string(environment), codec::json_string(etag),
                    codec::json_string(plugins), list, told_ns),
        {.mode = 0640});
}

bool AtRest::take(const http::ClientResponse& answer) {
    etag = answer.headers.get("ETag");
    plugins = answer.headers.get(kPluginsHeader);
    facts.clear();
    if (etag.empty() || plugins.empty()) return false;
    for (const auto word : base::words(answer.headers.get(kPathsHeader), " ")) {
        auto path = http::percent_decode(word);
        if (!path) return false;
        facts.push_back(std::move(*path));
    }
    return true;
}

}  // namespace bunraku::agent
