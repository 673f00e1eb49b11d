// SPDX-License-Identifier: Apache-2.0
// bunraku catalog: Puppet's face of the same name. It finds a catalog by the name of its node,
// whereas `bunraku compile` takes a manifest (docs/design/0090-catalog-and-compile-commands.md).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/actions.h"
#include "cli/catalog_history.h"
#include "cli/catalog_why.h"
#include "cli/command.h"
#include "cli/node_options.h"
#include "compile/compiler/external_nodes.h"
#include "compile/site/agent_catalog.h"
#include "compile/site/fact_sources.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/codec/yaml.h"
#include "core/value/build.h"
#include "core/value/from_yaml.h"
#include "core/value/rich_data.h"
#include "core/value/text.h"
#include "core/value/yaml_document.h"
#include "resources/catalog/catalog_graph.h"
#include "services/agent/apply_session.h"
#include "services/agent/download.h"
#include "services/agent/node_facts.h"
#include "services/agent/open_link.h"

namespace bunraku::cli {

namespace {

using base::PuppetError;
using value::Value;

struct Action {
    std::string_view name;
    std::size_t least, most;  ///< number of arguments
    /// true if Puppet's errors mention that the indirection failed to find the catalog
    bool finds;
};
constexpr Action kActions[] = {
    {"apply", 0, 0, false},  {"compile", 0, 1, true}, {"download", 0, 0, false},
    {"find", 0, 1, true},    {"info", 0, 0, false},   {"save", 1, 1, false},
    {"select", 2, 2, false},
};
constexpr std::string_view kTermini[] = {"compiler", "json",          "msgpack", "puppetdb",
                                         "rest",     "store_configs", "yaml"};
constexpr std::string_view kFormats[] = {"", "console", "json", "rich_data_json", "yaml", "dot"};

const Value* at(const Value* hash, std::string_view key) {
    return hash && hash->is_hash() ? hash->as_hash().find(key) : nullptr;
}

/// One run of the face in one run mode.
class Face {
public:
    explicit Face(Invocation& invocation) : invocation_(invocation), options_(invocation) {
        node_.add_to(options_);
        options_.value("terminus", &terminus_);
        options_.value("render-as", &format_);
        options_.value("database", &history_.database);
        options_.value("by", &history_.by);
        options_.value("since", &history_.since);
        options_.flag("json", &history_.json);
        options_.flag("all", &history_.all);
        options_.flag("recent", &history_.recent);
        options_.value("url", &url_);
    }

    bool parse(std::vector<std::string>* positional) { return options_.parse(positional); }
    int exit_code() const { return options_.exit_code(); }

    int run(const std::string& action_name, const std::vector<std::string>& arguments) {
        sink_ = make_console_sink(options_, Streams::Puppet);
        const std::string& program = invocation_.program;
        if (is_history_action(action_name)) return run_history(action_name, arguments);
        if (action_name == "why") return run_why(arguments);
        const auto* action = std::ranges::find(kActions, action_name, &Action::name);
        if (action == std::end(kActions)) {
            sink_->log(base::Level::Err,
                       action_name.empty()
                           ? fmt::format("No action given.  See `{} help catalog`.", program)
                           : fmt::format("'catalog' has no '{}' action.  See `{} help catalog`.",
                                         action_name, program));
            return 1;
        }
        if (std::ranges::find(kFormats, format_) == std::end(kFormats)) {
            fmt::print(stderr,
                       "Error: Could not parse application options: I don't know how to render "
                       "'{}'\n",
                       format_);
            return 1;
        }
        try {
            const std::size_t count = arguments.size();
            if (count < action->least || count > action->most) {
                throw base::plain_error(
                    fmt::format("{} catalog {} takes {} argument{}, but you gave {}", program,
                                action_name, action->most, action->most == 1 ? "" : "s", count));
            }
            perform(*action, arguments);
        } catch (const PuppetError& error) {
            const std::string& suffix = suffix_;
            report_error(*sink_, error, suffix);
            if (action->finds && finding_) {
                report_error(
                    *sink_,
                    base::plain_error(fmt::format("Could not call 'find' on 'catalog': {}{}",
                                                  error.full_text(), suffix)),
                    "");
            }
            sink_->log(base::Level::Err,
                       fmt::format("Try '{} help catalog {}' for usage", program, action_name));
            return 1;
        }
        return std::fflush(stdout) == 0 ? status_ : 1;
    }

private:
    int run_why(const std::vector<std::string>& arguments) {
        try {
            if (arguments.size() != 1)
                throw base::plain_error("catalog why takes one argument: the name of a node");
            return explain_cache(invocation_.settings, arguments[0], url_, history_.json);
        } catch (const PuppetError& error) {
            report_error(*make_console_sink(options_), error, "");
            return 1;
        }
    }
    int run_history(const std::string& action, const std::vector<std::string>& arguments) {
        try {
            return run_catalog_history(invocation_, action, arguments, history_);
        } catch (const PuppetError& error) {
            report_error(*make_console_sink(options_), error, "");
            return 1;
        }
    }
    bool server_mode() const { return invocation_.settings.run_mode() == "server"; }

    void perform(const Action& action, const std::vector<std::string>& arguments) {
        const auto& settings = invocation_.settings;
        if (terminus_.empty()) terminus_ = settings.text("catalog_terminus");
        if (terminus_.empty()) terminus_ = "compiler";
        if (std::ranges::find(kTermini, terminus_) == std::end(kTermini)) {
            throw base::plain_error(fmt::format(
                "Could not set 'catalog' terminus to '{0}' (Could not find terminus {0} for "
                "indirection catalog); valid terminus types are {1}",
                terminus_, fmt::join(kTermini, ", ")));
        }
        std::string node = arguments.empty() ? settings.text("certname") : arguments[0];
        if (action.name == "info") {
            print(fmt::format("Run mode '{}': {}", settings.run_mode(), terminus_));
        } else if (action.name == "save") {
            throw base::plain_error(
                "Could not call 'save' on 'catalog': no catalog can be given on the command line");
        } else if (action.name == "download") {
            finding_ = true;
            download(node);
        } else if (action.name == "apply") {
            const auto found = find(node);
            if (!found) throw base::plain_error(fmt::format("Could not find catalog for {}", node));
            status_ = apply_found_catalog(invocation_, *found, *sink_);
        } else if (action.name == "select") {
            if (const auto found = find(node)) select(*found, arguments[1]);
        } else if (const auto found = find(node)) {
            print(rendered(*found));
        }
    }

    /// Fetches the catalog of this node from the server and stores it for the terminus `json`.
    void download(const std::string& node) {
        // The server and certificate are those of the agent, regardless of the run mode of this
        // command.
        config::Settings settings = invocation_.settings;
        if (const auto loaded = settings.load_file(settings.text("config"), "agent"); !loaded)
            throw base::plain_error(loaded.error().message);
        sys::RealSystem real;
        const auto link = agent::open_link(settings, *sink_, real.system(), user_agent(settings));
        if (!link) throw base::plain_error(link.error().message);
        auto request = (*link)->request("POST", (*link)->url("catalog/" + node),
                                        "application/vnd.puppet.rich+json, application/json");
        request.headers.set("Content-Type", "application/x-www-form-urlencoded");
        const Value facts = agent::facts_document(
            arena_, settings, node, site::machine_facts(arena_, settings, nullptr, *sink_),
            real.system().clock.now_ns());
        // Encoded twice, as agents have always sent them.
        request.body = agent::encoded({{"environment", settings.text("environment")},
                                       {"facts_format", "application/json"},
                                       {"facts", http::percent_encode(value::to_json(facts))}});
        const auto answer = (*link)->send(std::move(request));
        if (!answer) throw base::plain_error(answer.error().message);
        if (answer->status != 200) throw base::plain_error(agent::refusal_text(*answer));
        const auto to = fmt::format("{}/catalog", settings.text("client_datadir"));
        auto& files = real.system().files;
        apply::unwrap(files.make_directories(to, 0750));
        apply::unwrap(
            files.replace(fmt::format("{}/{}.json", to, node), answer->body, {.mode = 0640}));
        sink_->log(base::Level::Notice, "Saved catalog for " + node);
    }

    static void print(std::string text) {
        if (!text.ends_with('\n')) text += '\n';
        std::fwrite(text.data(), 1, text.size(), stdout);
    }

    /// Returns the catalog in the agent format, or nullopt if the terminus does not have it.
    std::optional<std::string> find(const std::string& node) {
        finding_ = true;
        if (terminus_ == "compiler") return compile(node);
        if (terminus_ == "json" || terminus_ == "yaml") return stored_catalog(node);
        if (terminus_ == "puppetdb" || terminus_ == "store_configs")
            return std::nullopt;  // as in Puppet, these termini only store catalogs
        throw base::plain_error(fmt::format("Unknown terminus '{}'", terminus_));
    }

    std::string folder(std::string_view terminus) const {
        const auto& settings = invocation_.settings;
        if (terminus == "yaml")
            return server_mode() ? settings.text("yamldir") : settings.text("clientyamldir");
        return server_mode() ? settings.text("server_datadir") : settings.text("client_datadir");
    }

    /// Returns the stored catalog of a file terminus.
    std::optional<std::string> stored_catalog(const std::string& node) {
        if (node.starts_with("..") || node.find_first_of("/\\") != node.npos)
            throw base::plain_error("invalid key");
        const bool yaml = terminus_ == "yaml";
        const auto path =
            fmt::format("{}/catalog/{}.{}", folder(terminus_), node, yaml ? "yaml" : "json");
        auto text = environment::read_file(path);
        if (!text) {
            if (::access(path.c_str(), F_OK) != 0) return std::nullopt;
            throw base::plain_error(fmt::format("Could not read {}", path));
        }
        auto failed = [&](const std::string& why) {
            return base::plain_error(fmt::format("Could not parse {} data for catalog {}: {}",
                                                 yaml ? "YAML" : "JSON", node, why));
        };
        base::Result<Value> data = base::failure("");
        if (yaml) {
            const auto document =
                codec::parse_yaml(*text, path, codec::YamlDates::Text, "Puppet::Resource::Catalog");
            if (!document) throw failed(document.error().message);
            auto text_of = [&](const codec::YamlNode& n, bool) {
                return value::make_string(arena_, n.text);
            };
            data = value::from_yaml(arena_, *document, text_of);
        } else {
            data = value::parse_json(arena_, *text);
        }
        if (!data) throw failed(data.error().message);
        if (!data->is_hash()) throw failed("it is not a catalog");
        return value::to_json(*data);
    }

    /// Reads routes.yaml, which may select the terminus for facts and disable the storage of
    /// compiled catalogs. octocatalog-diff relies on it. Puppet looks up its entries by the name of
    /// the application.
    std::string route(std::string_view indirection, std::string_view what) {
        const auto path = invocation_.settings.text("route_file");
        const auto text = environment::read_file(path);
        if (!text) return {};
        const auto routes = compiler::yaml_value(arena_, *text, path);
        if (!routes)
            throw base::plain_error(
                fmt::format("Could not parse {}: {}", path, routes.error().message));
        for (const char* application : {"catalog", "server", "master"}) {
            const Value* v = at(at(at(&*routes, application), indirection), what);
            if (v && v->is_string()) return std::string(v->as_string());
        }
        return {};
    }

    /// Sets the source of the node's facts according to the terminus for facts.
    void gather_facts(site::Site& site, site::NodeRequest& request) {
        const auto& settings = invocation_.settings;
        const auto& node = request.node;
        base::Arena& arena = *request.arena;
        std::string terminus = route("facts", "terminus");
        if (terminus.empty()) terminus = settings.text("facts_terminus");
        if (terminus.empty() || terminus == "facter") {
            request.facts.kind = site::FactSource::Kind::Machine;
            return;
        }
        try {
            if (terminus == "yaml" || terminus == "json") {
                request.facts.values =
                    site::cached_facts(arena, folder(terminus), node, "." + terminus);
            } else if (terminus == "puppetdb" || terminus == "store_configs") {
                const auto store = site.store(*sink_, request.overlay);
                const auto known = site::split_trusted(
                    arena, site::stored_facts(arena, *store.operator->(), node));
                request.facts.values = known.facts;
                request.trusted.give(known.trusted);
            } else if (terminus != "memory") {
                throw base::plain_error(
                    fmt::format("Could not find terminus {} for indirection facts", terminus));
            }
        } catch (const PuppetError& e) {
            throw base::plain_error(fmt::format(
                "Failed when searching for node {0}: Could not retrieve facts for {0}: {1}", node,
                e.message()));
        }
    }

    std::string compile(const std::string& node) {
        if (node.ends_with(".pp") && ::access(node.c_str(), F_OK) == 0) {
            sink_->log(base::Level::Warning,
                       fmt::format("'{}' is taken as the name of a node: manifests are compiled by "
                                   "'bunraku compile'",
                                   node));
        }
        site::Site site(invocation_.settings, site_options(*sink_));
        auto request = node_.request();
        request.node = node;
        if (node_.server_facts.empty()) request.server_facts.kind = site::ServerFacts::Kind::Own;
        request.trusted.otherwise = site::TrustedSource::Otherwise::Clientcert;
        if (node_.facts.empty()) gather_facts(site, request);
        const auto session = site.session(std::move(request), *sink_);
        suffix_ = " on node " + session->node();
        const auto begin = std::chrono::steady_clock::now();
        const auto compiled = session->compile();
        suffix_.clear();
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
        sink_->log(base::Level::Notice,
                   fmt::format("Compiled catalog for {} in environment {} in {:.2f} seconds", node,
                               compiled.environment->name(), taken.count()));
        if (compiled.view->storeconfigs()) {
            const auto cache = route("catalog", "cache");
            if (cache.empty() || cache == "store_configs" || cache == "puppetdb")
                site.store(compiled, *sink_);
        }
        return site::agent_catalog(compiled, site::VirtualResources::Omit, *sink_);
    }

    Value parsed(const std::string& json) {
        auto data = value::parse_json(arena_, json);
        if (!data) throw base::plain_error(data.error().message);
        return *data;
    }

    std::string rendered(const std::string& json) {
        if (format_ == "json" || format_ == "rich_data_json") return json;
        const Value data = parsed(json);
        if (format_ == "yaml")
            return value::yaml_document(data, "--- !ruby/object:Puppet::Resource::Catalog");
        return format_ == "dot" ? catalog::dot_graph(data) : value::to_pretty_json(data);
    }

    void select(const std::string& json, const std::string& type) {
        const Value data = parsed(json);
        std::vector<Value> chosen;
        std::string references;
        auto folded = [](std::string_view s) {
            std::string out(s);
            base::make_lower(out);
            return out;
        };
        const Value* resources = at(&data, "resources");
        if (resources && resources->is_array()) {
            for (const Value& r : resources->as_array()) {
                const Value *mine = at(&r, "type"), *title = at(&r, "title");
                if (!mine || !title || (type != "*" && folded(mine->as_string()) != folded(type)))
                    continue;
                chosen.push_back(r);
                references += fmt::format("{}{}[{}]", references.empty() ? "" : "\n",
                                          mine->as_string(), value::to_text(*title));
            }
        }
        const Value list = value::make_array(arena_, chosen);
        if (format_ == "json" || format_ == "rich_data_json") {
            print(value::to_json(list));
        } else if (format_ == "yaml") {
            print(value::yaml_document(list, "---"));
        } else {
            print(references);
        }
    }

    Invocation& invocation_;
    OptionParser options_;
    NodeOptions node_;
    base::Arena arena_;
    std::unique_ptr<base::LogSink> sink_;
    std::string terminus_, format_, url_;
    HistoryFlags history_;
    int status_ = 0;
    std::string suffix_;  // " on node NAME" during a compile
    bool finding_ = false;
};

int run_catalog(Invocation& invocation) {
    // `compile` runs in the run mode of a server, with its section of puppet.conf and its folders.
    Invocation server = invocation;
    Face face(invocation);
    std::vector<std::string> positional, arguments;
    if (!face.parse(&positional)) return face.exit_code();
    std::string action = take_action(positional, arguments);
    if (action != "compile" && action != "why" && !is_history_action(action))
        return face.run(action, arguments);
    if (auto settings = load_settings(server.args, "server")) {
        server.settings = std::move(*settings);
    } else {
        return 1;
    }
    Face compiling(server);
    positional.clear();
    if (!compiling.parse(&positional)) return compiling.exit_code();
    return compiling.run(action, arguments);
}

}  // namespace

BUNRAKU_COMMAND(catalog){.name = "catalog",
                         .summary = "Compile, show and apply the catalogs of nodes.",
                         .run = run_catalog};

}  // namespace bunraku::cli
