// SPDX-License-Identifier: Apache-2.0
// `facts`: Puppet's face of the same name, for this machine's facts.
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <map>

#include "cli/command.h"
#include "cli/node_options.h"
#include "compile/site/fact_sources.h"
#include "compile/site/view.h"
#include "core/base/plain_error.h"
#include "core/regex/regex.h"
#include "core/sys/system.h"
#include "core/value/build.h"
#include "core/value/rich_data.h"
#include "core/value/text.h"
#include "core/value/yaml_document.h"
#include "language/environment/environment.h"
#include "resources/facts/facts.h"
#include "resources/facts/format.h"
#include "services/agent/node_facts.h"

namespace bunraku::cli {

namespace {

using base::Level;
using value::Value;

struct FactsAction {
    std::string_view name;
    std::size_t least, most;  ///< number of arguments
};
/// `show` takes any number of arguments, and is the default if none of these actions is given.
constexpr FactsAction kFactsActions[] = {
    {"diff", 1, 2}, {"find", 0, 1}, {"info", 0, 0}, {"upload", 0, 0}};
constexpr std::string_view kFactsTermini[] = {"facter", "json", "puppetdb", "store_configs",
                                              "yaml"};
constexpr std::string_view kRenderings[] = {"", "console", "flat", "json", "yaml"};

/// Sorts hashes by key, recursively, as in Facter's output.
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

/// Collects the leaves by their paths: "os.release.major", "processors.models.0".
void flatten(const std::string& path, const Value& v, std::map<std::string, Value>& out) {
    const auto below = [&](const std::string& key) {
        return path.empty() ? key : path + "." + key;
    };
    if (v.is_hash() && v.as_hash().size() > 0) {
        for (const value::Entry& e : v.as_hash())
            flatten(below(value::to_text(e.key)), e.value, out);
    } else if (v.is_array() && !v.as_array().empty()) {
        std::size_t number = 0;
        for (const Value& item : v.as_array()) flatten(below(std::to_string(number++)), item, out);
    } else {
        out[path] = v;
    }
}

class FactsFace {
public:
    explicit FactsFace(Invocation& invocation) : invocation_(invocation), options_(invocation) {
        options_.flag("json", &json_);
        options_.flag("j", &json_);
        options_.flag("yaml", &yaml_);
        options_.flag("y", &yaml_);
        options_.flag("value-only", &value_only_);
        options_.flag("no-external-facts", &no_external_);
        options_.value("external-dir", &external_);
        options_.list("custom-dir", &custom_);
        options_.flag("no-custom-facts", &no_custom_);
        options_.flag("show-legacy", &legacy_);
        options_.flag("no-block", &no_block_);
        options_.flag("no-cache", &no_cache_);
        options_.flag("timing", &timing_);
        options_.value("config-file", &config_);
        options_.value("render-as", &format_);
        options_.value("terminus", &terminus_);
        options_.list("exclude", &excluded_);
    }

    int run() {
        std::vector<std::string> names;
        if (!options_.parse(&names)) return options_.exit_code();
        if (std::ranges::find(kRenderings, format_) == std::end(kRenderings)) {
            fmt::print(stderr,
                       "Error: Could not parse application options: I don't know how to render "
                       "'{}'\n",
                       format_);
            return 1;
        }
        if (yaml_) format_ = "yaml";
        sink_ = make_console_sink(options_, Streams::Puppet);
        // `puppet facts show NAME` and `puppet facts NAME` are equivalent.
        std::string action = "show";
        if (!names.empty() &&
            (names[0] == "show" || std::ranges::find(kFactsActions, names[0], &FactsAction::name) !=
                                       std::end(kFactsActions))) {
            action = names[0];
            names.erase(names.begin());
        }
        try {
            const int status = perform(action, names);
            return std::fflush(stdout) == 0 ? status : 1;
        } catch (const base::PuppetError& error) {
            if (!error.full_text().empty()) report_error(*sink_, error, "");
            sink_->log(Level::Err, fmt::format("Try '{} help facts {}' for usage",
                                               invocation_.program, action));
            return 1;
        }
    }

private:
    int perform(const std::string& action, const std::vector<std::string>& names) {
        const auto* known = std::ranges::find(kFactsActions, action, &FactsAction::name);
        if (known != std::end(kFactsActions) &&
            (names.size() < known->least || names.size() > known->most)) {
            throw base::plain_error(fmt::format("{} facts {} takes {} argument{}, but you gave {}",
                                                invocation_.program, action, known->most,
                                                known->most == 1 ? "" : "s", names.size()));
        }
        if (terminus_.empty()) terminus_ = "facter";
        if (std::ranges::find(kFactsTermini, terminus_) == std::end(kFactsTermini)) {
            throw base::plain_error(fmt::format(
                "Could not set 'facts' terminus to '{0}' (Could not find terminus {0} for "
                "indirection facts); valid terminus types are {1}",
                terminus_, fmt::join(kFactsTermini, ", ")));
        }
        if (action == "find") return find(names);
        if (action == "info") return info();
        if (action == "upload") return upload();
        if (action == "diff") return diff(names);
        return show(names);
    }

    int show(const std::vector<std::string>& names) {
        if (value_only_ && names.size() != 1) {
            value_only_ = false;
            sink_->log(Level::Warning,
                       "Incorrect use of --value-only argument; it can only be used when querying "
                       "for a single fact!");
        }
        facts::PuppetLog facter_log(*sink_);
        facts::Options wanted = facter_options(facter_log);
        if (names.empty()) {
            print(sorted(arena_, machine()));
            return 0;
        }
        const Value local = facts::with_local_facts(arena_, Value::undef(), invocation_.settings);
        const auto found = facts::resolve(arena_, real_.system(), wanted, names);
        value::HashBuilder some(arena_);
        for (const std::string& name : names) {
            std::vector<facts::Resolved> own;
            for (const facts::Resolved& fact : found)
                if (fact.query == name) own.push_back(fact);
            Value v = facts::query_value(facts::assemble(arena_, own, wanted), name);
            if (const Value* added = local.as_hash().find(name)) v = *added;
            // Like Puppet, treats a missing fact as an empty string. The warning is an addition of
            // Bunraku.
            if (v.is_undef()) {
                sink_->log(Level::Warning, fmt::format("There is no fact '{}'", name));
                v = Value::string("");
            }
            some.set(value::make_string(arena_, name), v);
        }
        const Value shown = sorted(arena_, some.build());
        print(value_only_ ? *shown.as_hash().find(names[0]) : shown);
        return 0;
    }

    /// Prints Puppet's document for a node: name, values and timestamp.
    int find(const std::vector<std::string>& names) {
        const auto& settings = invocation_.settings;
        const std::string node = names.empty() ? settings.text("certname") : names[0];
        Value values;
        if (terminus_ == "facter") {
            values = machine();
        } else if (terminus_ == "yaml" || terminus_ == "json") {
            const bool server = settings.run_mode() == "server";
            std::string folder;
            if (terminus_ == "yaml") {
                folder = server ? settings.text("yamldir") : settings.text("clientyamldir");
            } else {
                folder = server ? settings.text("server_datadir") : settings.text("client_datadir");
            }
            values = site::cached_facts(arena_, folder, node, "." + terminus_);
        } else {
            site::Site site(settings, site_options(*sink_));
            const auto store = site.store(*sink_);
            values = site::stored_facts(arena_, *store.operator->(), node);
            if (values.is_hash() && values.as_hash().size() == 0) values = Value::undef();
        }
        // Like Puppet, prints nothing if nothing is found.
        if (values.is_undef()) return 0;
        const Value document = agent::facts_document(arena_, settings, node, sorted(arena_, values),
                                                     real_.system().clock.now_ns());
        if (format_ == "yaml") {
            write(value::yaml_document(document, "--- !ruby/object:Puppet::Node::Facts"));
        } else {
            write(value::to_pretty_json(document) + "\n");
        }
        return 0;
    }

    int info() {
        const auto text =
            fmt::format("Run mode '{}': {}", invocation_.settings.run_mode(), terminus_);
        print(value::make_string(arena_, text));
        return 0;
    }

    int upload() {
        // The server and certificate are those of the agent, regardless of the run mode of this
        // command.
        config::Settings settings = invocation_.settings;
        if (const auto loaded = settings.load_file(settings.text("config"), "agent"); !loaded)
            throw base::plain_error(loaded.error().message);
        const auto done =
            agent::upload_facts(settings, *sink_, real_.system(), user_agent(settings), machine());
        if (!done) throw base::plain_error(done.error().message);
        return 0;
    }

    /// Compares a file of facts with the current facts or with another file. Puppet 8 does not have
    /// this action, and that of Puppet 7 compares two versions of Facter. The output format is that
    /// of Puppet 7.
    int diff(const std::vector<std::string>& names) {
        std::vector<std::shared_ptr<const regex::Regex>> excluded;
        for (const std::string& pattern : excluded_) {
            auto compiled = regex::Regex::cached(pattern);
            if (!compiled)
                throw base::plain_error(
                    fmt::format("Invalid pattern '{}': {}", pattern, compiled.error().message));
            excluded.push_back(std::move(*compiled));
        }
        std::map<std::string, Value> before, after;
        flatten("", site::read_fact_file(arena_, names[0], "").values, before);
        flatten("",
                names.size() > 1 ? site::read_fact_file(arena_, names[1], "").values : machine(),
                after);
        const auto leaves_out = [&](const std::string& path) {
            return std::ranges::any_of(excluded,
                                       [&](const auto& pattern) { return pattern->matches(path); });
        };
        const auto same = [](const Value& a, const Value& b) {
            return value::to_json(a) == value::to_json(b);
        };
        std::map<std::string, std::pair<const Value*, const Value*>> changed;
        for (const auto& [path, v] : before) changed[path].first = &v;
        for (const auto& [path, v] : after) changed[path].second = &v;
        value::HashBuilder out(arena_);
        for (const auto& [path, sides] : changed) {
            const auto& [was, is] = sides;
            if (leaves_out(path) || (was && is && same(*was, *is))) continue;
            value::HashBuilder one(arena_, 2);
            if (is) one.set("new_value", *is);
            if (was) one.set("old_value", *was);
            out.set(value::make_string(arena_, path), one.build());
        }
        const int status = out.size() == 0 ? 0 : 2;
        print(out.build());
        return status;
    }

    /// Returns this machine's facts, including those that a Puppet run adds.
    Value machine() {
        facts::PuppetLog facter_log(*sink_);
        legacy_ = legacy_ || invocation_.settings.boolean("include_legacy_facts");
        return facts::with_local_facts(
            arena_, facts::collect(arena_, real_.system(), facter_options(facter_log)),
            invocation_.settings);
    }

    facts::Options facter_options(facts::PuppetLog& log) {
        facts::Options wanted;
        wanted.log = &log;
        wanted.debug = log.enabled(Level::Debug);
        wanted.conf = facts::read_facter_conf(
            real_.system().files, config_.empty() ? facts::kFacterConfPath : config_, &log);
        wanted.environment = facts::environment_facts();
        wanted.legacy = legacy_;
        wanted.level = invocation_.settings.compatibility();
        wanted.setting = [settings = invocation_.settings](std::string_view name) {
            return settings.get(name);
        };
        wanted.block = !no_block_;
        wanted.cache = !no_cache_;
        if (timing_)
            wanted.timing = [](const std::string& what, double seconds) {
                fmt::print("{}, took: ({:.6f}) seconds\n", what, seconds);
            };
        if (!external_.empty()) {
            wanted.external_directories = {external_};
        } else if (!no_external_) {
            wanted.external_directories =
                facts::default_external_directories(real_.system().users.is_root());
        }
        if (external_.empty() && !no_external_) facts::apply_conf(wanted);
        if (!no_custom_) {
            if (!custom_.empty()) wanted.custom_directories = facts::facterlib_directories();
            wanted.custom_directories.insert(wanted.custom_directories.end(), custom_.begin(),
                                             custom_.end());
            const auto folders = wanted.external_directories;
            if (custom_.empty()) add_module_facts(wanted);
            if (!external_.empty() || no_external_) wanted.external_directories = folders;
        }
        return wanted;
    }

    /// Adds the custom facts of the environment's modules, as `puppet facts` does.
    void add_module_facts(facts::Options& wanted) {
        site::NodeRequest request;
        request.sources.no_manifest = true;
        std::shared_ptr<const environment::Environment> environment;
        try {
            environment =
                site::Site(invocation_.settings, site_options(*sink_)).environment(request);
        } catch (const base::PuppetError&) {
            // This machine's own facts do not need an environment.
        }
        site::add_fact_folders(invocation_.settings, environment.get(), wanted);
    }

    static void write(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

    /// Like Puppet, pretty-prints hashes and lists unless JSON was requested explicitly.
    void print(const Value& v) {
        if (format_ == "yaml") {
            write(value::yaml_document(v, "---"));
        } else if (format_ == "json") {
            write(value::to_json(v) + "\n");
        } else if (format_ == "flat" && (v.is_hash() || v.is_array())) {
            std::map<std::string, Value> leaves;
            flatten("", v, leaves);
            for (const auto& [path, leaf] : leaves)
                write(fmt::format("{}={}\n", path, value::to_text(leaf)));
        } else if (v.is_hash() || v.is_array()) {
            write(value::to_pretty_json(v) + "\n");
        } else {
            write(value::to_text(v) + "\n");
        }
    }

    Invocation& invocation_;
    OptionParser options_;
    bool json_ = false, yaml_ = false, value_only_ = false, no_external_ = false;
    bool no_custom_ = false, legacy_ = false, no_block_ = false, no_cache_ = false;
    bool timing_ = false;
    std::string format_, external_, config_, terminus_;
    std::vector<std::string> custom_, excluded_;
    std::unique_ptr<base::LogSink> sink_;
    base::Arena arena_{128 * 1024};
    sys::RealSystem real_;
};

int run_facts(Invocation& invocation) { return FactsFace(invocation).run(); }

}  // namespace

BUNRAKU_COMMAND(facts){.name = "facts",
                       .summary = "Show the facts of this machine.",
                       .run = run_facts,
                       .system_errors = SystemErrors::Puppet};

}  // namespace bunraku::cli
