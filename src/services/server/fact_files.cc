// SPDX-License-Identifier: Apache-2.0
#include "services/server/fact_files.h"

#include <fmt/format.h>

#include "compile/compiler/external_nodes.h"
#include "compile/site/fact_sources.h"
#include "core/sys/clock.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "core/value/build.h"
#include "core/value/hash_access.h"
#include "core/value/rich_data.h"
#include "core/value/yaml_document.h"
#include "resources/apply/storage.h"

namespace bunraku::server {

using value::Value;

namespace {

/// Returns the terminus or cache for facts in routes.yaml: "yaml" or "json". Empty if it is
/// neither.
std::string routed_terminus(const config::Settings& settings) {
    const auto path = settings.text("route_file");
    const auto text = sys::disk().read(path);
    if (!text) return {};
    base::Arena arena(16 * 1024);
    const auto routes = compiler::yaml_value(arena, *text, path);
    if (!routes) return {};
    for (const char* application : {"server", "master"}) {
        const Value* facts = at(*routes, application);
        if (facts) facts = at(*facts, "facts");
        for (const char* what : {"terminus", "cache"}) {
            const auto name = facts ? text_at(*facts, what) : std::string();
            if (name == "yaml" || name == "json") return name;
        }
    }
    return {};
}

std::string terminus_of(const config::Settings& settings) {
    if (const auto own = settings.text("facts_terminus"); own == "yaml" || own == "json")
        return own;
    if (const auto routed = routed_terminus(settings); !routed.empty()) return routed;
    return settings.text("node_terminus") == "exec" ? "json" : "";
}

}  // namespace

Value facts_to_keep(base::Arena& arena, const std::string& node, const Value& facts,
                    const Value& sent) {
    value::HashBuilder out(arena, 4);
    out.set("name", value::make_string(arena, node));
    out.set("values", facts);
    for (const char* time : {"timestamp", "expiration"})
        if (const auto text = sent.is_hash() ? text_at(sent, time) : std::string(); !text.empty())
            out.set(time, value::make_string(arena, text));
    if (!out.find("timestamp")) {
        const auto now = apply::iso8601_local(sys::make_real_clock()->now_ns());
        out.set("timestamp", value::make_string(arena, now));
    }
    return out.build();
}

FactFiles FactFiles::of_settings(const config::Settings& settings, base::LogSink& log) {
    const auto terminus = terminus_of(settings);
    if (terminus.empty()) return {"", false, log};
    const bool yaml = terminus == "yaml";
    return {(yaml ? settings.text("yamldir") : settings.text("server_datadir")) + "/facts", yaml,
            log};
}

void FactFiles::save(const std::string& node, const Value& facts) const {
    if (folder_.empty() || !site::is_file_name(node)) return;
    auto& files = sys::disk();
    const auto path = fmt::format("{}/{}.{}", folder_, node, yaml_ ? "yaml" : "json");
    auto done = files.make_directories(folder_, 0750);
    if (done) {
        done = files.replace(
            path,
            yaml_ ? value::yaml_document(facts, "--- !ruby/object:Puppet::Node::Facts")
                  : value::to_json(facts),
            {.mode = 0660, .uid = {}, .gid = {}});
    }
    if (!done) {
        log_.log(base::Level::Err, fmt::format("Could not write the facts of {} to {}: {}", node,
                                               path, done.error().message));
    }
}

}  // namespace bunraku::server
