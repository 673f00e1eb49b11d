// SPDX-License-Identifier: Apache-2.0
#include "compile/site/fact_sources.h"

#include <algorithm>
#include <fmt/format.h>
#include <unistd.h>

#include "compile/site/store_access.h"
#include "core/base/plain_error.h"
#include "core/sys/system.h"
#include "core/value/build.h"
#include "core/value/hash_access.h"

namespace bunraku::site {

using value::Value;

std::vector<facts::NodeFacts> read_fact_file(base::Arena& arena, const std::string& path) {
    const auto text = environment::read_file(path);
    if (!text) throw base::plain_error(fmt::format("Could not read {}", path));
    auto documents = facts::read_documents(arena, *text, path);
    if (!documents) throw base::plain_error(documents.error().message);
    return std::move(*documents);
}

facts::NodeFacts read_fact_file(base::Arena& arena, const std::string& path,
                                const std::string& node) {
    auto one = facts::facts_of(read_fact_file(arena, path), node, path);
    if (!one) throw base::plain_error(one.error().message);
    return std::move(*one);
}

bool is_file_name(std::string_view node) {
    return !node.empty() && !node.starts_with("..") &&
           node.find_first_of(std::string_view("/\\\0", 3)) == std::string_view::npos;
}

Value cached_facts(base::Arena& arena, const std::string& folder, const std::string& node,
                   std::string_view ending) {
    if (!is_file_name(node)) throw base::plain_error("invalid key");
    const std::string path = fmt::format("{}/facts/{}{}", folder, node, ending);
    const auto text = environment::read_file(path);
    if (!text) {
        if (::access(path.c_str(), F_OK) != 0) return {};
        throw base::plain_error(fmt::format("Could not read {}", path));
    }
    const auto documents = facts::read_documents(arena, *text, path);
    if (!documents) {
        std::string why = documents.error().message;
        if (const std::string own = fmt::format("Could not parse {}: ", path); why.starts_with(own))
            why.erase(0, own.size());
        throw base::plain_error(fmt::format("Could not parse {} data for facts {}: {}",
                                            ending == ".yaml" ? "YAML" : "JSON", node, why));
    }
    auto one = facts::facts_of(*documents, node, path);
    if (!one) throw base::plain_error(one.error().message);
    return one->values;
}

KnownFacts split_trusted(base::Arena& arena, const Value& stored) {
    const Value* trusted = at(stored, "trusted");
    // A node may have another fact with this name.
    if (!trusted || !trusted->is_hash() || !at(*trusted, "authenticated")) return {stored, {}};
    value::HashBuilder facts(arena);
    facts.merge(stored.as_hash());
    facts.erase(Value::string("trusted"));
    return {facts.build(), *trusted};
}

Value stored_facts(base::Arena& arena, StoreAccess& store, const std::string& node) {
    auto text = [&](std::string_view s) { return value::make_string(arena, s); };
    const Value mine = value::make_array(arena, {text("="), text("certname"), text(node)});
    const Value columns = value::make_array(arena, {text("name"), text("value")});
    const Value query = value::make_array(
        arena,
        {text("from"), text("facts"), value::make_array(arena, {text("extract"), columns, mine})});
    auto rows = store.query(query, arena);
    if (!rows) {
        throw base::plain_error(
            fmt::format("Could not retrieve facts for {}: {}", node, rows.error().message));
    }
    value::HashBuilder facts(arena);
    if (rows->is_array()) {
        for (const Value& row : rows->as_array()) {
            const Value* name = row.is_hash() ? row.as_hash().find("name") : nullptr;
            const Value* value = row.is_hash() ? row.as_hash().find("value") : nullptr;
            if (name && value) facts.set(*name, *value);
        }
    }
    return facts.build();
}

void add_server_versions(value::HashBuilder& facts, config::Compatibility level) {
    if (const auto name = config::implementation(level); !name.empty())
        facts.set("serverimplementation", Value::string(name));
    facts.set("serverversion", Value::string(config::puppet_version(level)));
}

Value own_server_facts(base::Arena& arena, config::Compatibility level) {
    sys::RealSystem real;
    facts::Options wanted;
    wanted.names = {"networking"};
    const Value networking = facts::collect(arena, real.system(), wanted);
    value::HashBuilder b(arena);
    add_server_versions(b, level);
    for (const auto& [name, fact] :
         {std::pair("servername", "networking.fqdn"), std::pair("serverip", "networking.ip"),
          std::pair("serverip6", "networking.ip6")}) {
        if (const Value v = facts::dig(networking, fact); !v.is_undef()) b.set(name, v);
    }
    return b.build();
}

void add_fact_folders(const config::Settings& settings, const environment::Environment* environment,
                      facts::Options& wanted) {
    for (auto& dir : facts::facterlib_directories())
        wanted.custom_directories.push_back(std::move(dir));
    static const std::vector<environment::Module> kNone;
    for (const auto& module : environment ? environment->modules() : kNone) {
        const std::string place = environment->files().place(module.path);
        wanted.custom_directories.push_back(place + "/lib/facter");
        wanted.library_directories.push_back(place + "/lib");
        wanted.external_directories.push_back(place + "/facts.d");
    }
    for (auto& dir : settings.list("factpath")) wanted.custom_directories.push_back(std::move(dir));
    if (auto dir = settings.text("pluginfactdest"); !dir.empty())
        wanted.external_directories.push_back(std::move(dir));
    if (auto program = settings.text("ruby_program"); !program.empty())
        wanted.ruby_program = std::move(program);
    wanted.setting = [settings](std::string_view name) { return settings.get(name); };
}

/// Logs a message for each existing folder of facts, as Puppet does.
static void log_fact_folders(const config::Settings& settings,
                             const environment::Environment& environment, sys::FileSystem& files,
                             base::LogSink& log) {
    const auto log_if_exists = [&](const std::string& folder) {
        if (files.is_directory(folder)) log.log(base::Level::Info, "Loading facts");
    };
    for (const auto& module : environment.modules()) {
        const std::string place = environment.files().place(module.path);
        log_if_exists(place + "/lib/facter");
        log_if_exists(place + "/plugins/facter");
    }
    for (const auto& folder : settings.list("factpath")) log_if_exists(folder);
}

Value machine_facts(base::Arena& arena, const config::Settings& settings,
                    const environment::Environment* environment, base::LogSink& log) {
    facts::Options wanted;
    sys::RealSystem real;
    facts::PuppetLog facter_log(log);
    wanted.log = &facter_log;
    wanted.debug = facter_log.enabled(base::Level::Debug);
    wanted.conf = facts::read_facter_conf(real.system().files, facts::kFacterConfPath, &facter_log);
    wanted.environment = facts::environment_facts();
    wanted.external_directories =
        facts::default_external_directories(real.system().users.is_root());
    wanted.legacy = settings.boolean("include_legacy_facts");
    wanted.level = settings.compatibility();
    facts::apply_conf(wanted);
    add_fact_folders(settings, environment, wanted);
    if (environment && facter_log.enabled(base::Level::Info))
        log_fact_folders(settings, *environment, real.system().files, log);
    return facts::with_local_facts(arena, facts::collect(arena, real.system(), wanted), settings);
}

}  // namespace bunraku::site
