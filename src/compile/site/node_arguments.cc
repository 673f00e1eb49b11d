// SPDX-License-Identifier: Apache-2.0
#include "compile/site/node_arguments.h"

#include <fmt/format.h>

#include "core/base/plain_error.h"
#include "core/config/setting_lists.h"
#include "core/value/rich_data.h"
#include "core/value/text.h"

namespace bunraku::site {

using value::Value;

Value read_json_object(base::Arena& arena, const std::string& path) {
    auto text = environment::read_file(path);
    if (!text) throw base::plain_error(fmt::format("Could not read {}", path));
    auto data = value::parse_json(arena, *text);
    if (!data)
        throw base::plain_error(fmt::format("Could not parse {}: {}", path, data.error().message));
    if (!data->is_hash()) throw base::plain_error(fmt::format("{} is not a JSON object", path));
    return *data;
}

NodeRequest NodeArguments::request() const {
    NodeRequest out;
    out.arena = std::make_shared<base::Arena>(256 * 1024);
    out.node = node;
    out.code_id = code_id;
    if (!facts.empty()) {
        out.facts.kind = FactSource::Kind::File;
        out.facts.file = facts;
    }
    auto overlay = [&](const char* name, const std::string& text) {
        if (!text.empty()) out.overlay.set(name, text);
    };
    overlay("environment", environment);
    overlay("environmentpath", environmentpath);
    overlay("hiera_config", hiera_config);
    overlay("puppetdb_url", puppetdb_url);
    if (storeconfigs) out.overlay.set("storeconfigs", "true");
    if (modulepath != kNotGiven) out.sources.modulepath = config::split_path(modulepath);
    out.sources.revision = revision;
    if (!enc.empty())
        out.classification = compiler::read_classification(read_json_object(*out.arena, enc));
    if (!trusted.empty()) out.trusted.give(read_json_object(*out.arena, trusted));
    if (!server_facts.empty()) {
        out.server_facts = ServerFacts::given(read_json_object(*out.arena, server_facts));
    }
    if (!vars.empty()) {
        const value::Value given = read_json_object(*out.arena, vars);
        for (const auto& e : given.as_hash())
            out.variables.emplace_back(value::to_text(e.key), e.value);
    }
    return out;
}

}  // namespace bunraku::site
