// `facts`: this machine's facts as JSON or YAML.
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>

#include "cli/catalog_output.h"
#include "cli/command.h"
#include "cli/node_options.h"
#include "environment/environment.h"
#include "facts/facts.h"
#include "site/fact_sources.h"
#include "site/view.h"
#include "sys/system.h"
#include "value/build.h"
#include "value/rich_data.h"

namespace bunraku::cli {

namespace {

using value::Value;

/// Hashes in order of their keys, all the way down: what Facter prints.
Value sorted(base::Arena& arena, const Value& v) {
    if (v.is_array()) {
        std::vector<Value> items;
        for (const Value& item : v.as_array()) items.push_back(sorted(arena, item));
        return value::make_array(arena, items);
    }
    if (!v.is_hash()) return v;
    std::vector<value::Entry> entries(v.as_hash().begin(), v.as_hash().end());
    std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
        return a.key.as_string() < b.key.as_string();
    });
    value::HashBuilder hash(arena, entries.size());
    for (const value::Entry& e : entries) hash.set(e.key, sorted(arena, e.value));
    return hash.build();
}

/// The custom facts of the environment's modules, as `puppet facts` finds them.
void add_module_facts(config::Settings& settings, base::LogSink& log, facts::Options& wanted) {
    site::NodeRequest request;
    request.sources.no_manifest = true;
    std::shared_ptr<const environment::Environment> environment;
    try {
        environment = site::Site(settings, site_options(log)).environment(request);
    } catch (const base::PuppetError&) {
        // This machine's own facts need none.
    }
    site::add_fact_folders(settings, environment.get(), wanted);
}

int run(Invocation& invocation) {
    bool json = false, yaml = false, value_only = false, no_external = false;
    bool no_custom = false, legacy = false;
    std::string render, external;
    std::vector<std::string> custom;
    OptionParser options(invocation);
    options.flag("json", &json);
    options.flag("j", &json);
    options.flag("yaml", &yaml);
    options.flag("y", &yaml);
    options.flag("value-only", &value_only);
    options.flag("no-external-facts", &no_external);
    options.value("external-dir", &external);
    options.list("custom-dir", &custom);
    options.flag("no-custom-facts", &no_custom);
    options.flag("show-legacy", &legacy);
    options.value("render-as", &render);
    std::vector<std::string> names;
    if (!options.parse(&names)) return options.exit_code();
    // `puppet facts show NAME` and `puppet facts NAME` are the same.
    if (!names.empty() && (names[0] == "show" || names[0] == "find")) {
        const bool find = names[0] == "find";
        names.erase(names.begin());
        if (find) {
            names.clear();  // the name of a node, which can only be this one
            legacy = invocation.settings.boolean("include_legacy_facts");
        }
    }
    if (render == "yaml") yaml = true;
    if (!render.empty() && render != "yaml" && render != "json") {
        fmt::print(stderr, "Error: I don't know how to render '{}'\n", render);
        return 1;
    }
    auto sink = make_console_sink(options, Streams::Puppet);
    base::Arena arena(128 * 1024);
    sys::RealSystem real;
    facts::Options wanted;
    facts::PuppetLog facter_log(*sink);
    wanted.log = &facter_log;
    wanted.debug = facter_log.enabled(base::Level::Debug);
    wanted.conf = facts::read_facter_conf(real.system().files, facts::kFacterConfPath, &facter_log);
    wanted.environment = facts::environment_facts();
    wanted.legacy = legacy;
    for (const std::string& n : names) wanted.names.push_back(n.substr(0, n.find('.')));
    if (!external.empty()) {
        wanted.external_directories = {external};
    } else if (!no_external) {
        wanted.external_directories =
            facts::default_external_directories(real.system().users.is_root());
    }
    if (external.empty() && !no_external) facts::apply_conf(wanted);
    if (!no_custom) {
        if (!custom.empty()) wanted.custom_directories = facts::facterlib_directories();
        wanted.custom_directories.insert(wanted.custom_directories.end(), custom.begin(),
                                         custom.end());
        const auto folders = wanted.external_directories;
        if (custom.empty()) add_module_facts(invocation.settings, *sink, wanted);
        if (!external.empty() || no_external) wanted.external_directories = folders;
    }
    if (value_only && names.size() != 1) {
        value_only = false;
        sink->log(base::Level::Warning,
                  "Incorrect use of --value-only argument; it can only be used when querying for a "
                  "single fact!");
    }
    Value all = facts::collect(arena, real.system(), wanted);
    // As Puppet: what is not there is an empty text; it does not say so.
    const auto value_of = [&](const std::string& name) {
        const Value found = facts::dig(all, name);
        if (!found.is_undef()) return found;
        sink->log(base::Level::Warning, fmt::format("There is no fact '{}'", name));
        return Value::string("");
    };
    Value shown = all;
    if (!names.empty()) {
        value::HashBuilder some(arena);
        for (const std::string& n : names) {
            if (value_only) break;
            some.set(value::make_string(arena, n), value_of(n));
        }
        shown = some.build();
        if (value_only) {
            const Value one = value_of(names[0]);
            std::string text = one.is_hash() || one.is_array()
                                   ? value::to_pretty_json(sorted(arena, one))
                                   : value::to_text(one);
            fmt::print("{}\n", text);
            return 0;
        }
    }
    shown = sorted(arena, shown);
    const std::string text =
        yaml ? yaml_document(shown, "---") : value::to_pretty_json(shown) + "\n";
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
}

}  // namespace

BUNRAKU_COMMAND(facts){.name = "facts", .summary = "Show the facts of this machine.", .run = run};

}  // namespace bunraku::cli
