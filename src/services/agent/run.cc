// SPDX-License-Identifier: Apache-2.0
#include "services/agent/run.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fmt/format.h>
#include <iterator>

#include "compile/compiler/change.h"
#include "compile/site/conditional_headers.h"
#include "compile/site/fact_sources.h"
#include "core/base/assert.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/codec/digest.h"
#include "core/codec/json_text.h"
#include "core/codec/yaml.h"
#include "core/value/build.h"
#include "core/value/from_yaml.h"
#include "core/value/hash_access.h"
#include "core/value/rich_data.h"
#include "language/environment/conf.h"
#include "language/types/rich_data.h"
#include "resources/apply/storage.h"
#include "resources/catalog/agent_json.h"
#include "resources/facts/facts.h"
#include "services/agent/conditional_state.h"
#include "services/agent/download.h"
#include "services/agent/fact_limits.h"
#include "services/agent/node_facts.h"
#include "services/agent/plugins.h"
#include "services/agent/server_content.h"
#include "services/agent/server_link.h"
#include "services/agent/undeclared.h"

namespace bunraku::agent {

using apply::error_text;
using base::Level;
using base::PuppetError;
using value::Value;

namespace {

constexpr std::string_view kCatalogTypes = "application/vnd.puppet.rich+json, application/json";

class AgentRun {
public:
    explicit AgentRun(RunOptions& options)
        : o_(options),
          settings_(options.settings),
          context_(options.context),
          files_(context_.system.files),
          link_(settings_, options.ssl, options.user_agent, options.stopped, options.network),
          content_(link_),
          bucket_(link_, settings_) {
        node_ = settings_.text("node_name_value");
        if (node_.empty()) node_ = settings_.text("certname");
        environment_ = settings_.text("environment");
        if (environment_.empty()) environment_ = "production";
        asked_environment_ = environment_;
    }

    int run() {
        o_.applying.host = node_;
        o_.applying.run_mode = "agent";
        context_.options.transactionstorefile = settings_.text("transactionstorefile");
        o_.applying.announce = false;
        o_.applying.announce_end = true;
        o_.applying.store_report = false;
        context_.options.environment = environment_;
        context_.content = &content_;
        context_.bucket_server = &bucket_;
        apply::Run run(context_, o_.sink, o_.applying);
        report_ = &run.report();
        report_->job_id = o_.job_id;
        try {
            attempt(run);
        } catch (const apply::Stopped& e) {
            if (e.signal() != SIGINT) log_message(Level::Err, "Could not run: " + e.message());
        } catch (const PuppetError& e) {
            log_message(Level::Err, "Failed to apply catalog: " + error_text(e));
        } catch (const std::exception& e) {
            log_message(Level::Err, std::string("Failed to apply catalog: ") + e.what());
        }
        report_->cached_catalog_status = cached_status_;
        auto result = run.finish();
        if (settings_.boolean("summarize"))
            std::fputs(apply::summary_text(*result.report, context_).c_str(), stdout);
        if (settings_.boolean("report")) send_report(*result.report);
        return result.exit_status;
    }

private:
    /// A catalog as received, parsed once.
    struct Received {
        std::string json;
        std::shared_ptr<base::Arena> arena = std::make_shared<base::Arena>(256 * 1024);
        base::Result<Value> data;
        std::string environment;  ///< empty if it is not a catalog

        explicit Received(std::string text)
            : json(std::move(text)), data(value::parse_json(*arena, json)) {
            if (data) environment = text_at(*data, "environment");
        }
    };

    void log_message(Level level, std::string text) { context_.message(level, std::move(text)); }
    bool strict() const { return settings_.boolean("strict_environment_mode"); }
    double measured(std::int64_t begin) const {
        return static_cast<double>(context_.system.clock.monotonic_ns() - begin) / 1e9;
    }
    std::int64_t now() const { return context_.system.clock.monotonic_ns(); }
    void take(std::string environment) {
        BUNRAKU_ASSERT(report_ != nullptr);
        environment_ = std::move(environment);
        link_.environment = environment_;
        context_.options.environment = environment_;
        report_->environment = environment_;
    }

    void attempt(apply::Run& run) {
        BUNRAKU_ASSERT(report_ != nullptr && !session_);
        link_.environment = environment_;
        if (!link_.choose(o_.sink)) {
            if (!settings_.boolean("usecacheonfailure")) return;
            running_failure_ = true;
        }
        bool use_cached = settings_.boolean("use_cached_catalog");
        bool may_use_cache = settings_.boolean("usecacheonfailure");
        std::optional<Received> catalog;
        if (use_cached) {
            catalog = cached();
            if (catalog) {
                cached_status_ = "explicitly_requested";
                const auto theirs = catalog->environment;
                log_message(Level::Info,
                            fmt::format("Using cached catalog from environment '{}'", theirs));
                if (theirs != environment_ && !strict()) {
                    log_message(
                        Level::Notice,
                        fmt::format("Local environment: '{0}' doesn't match the environment of the "
                                    "cached catalog '{1}', switching agent to '{1}'.",
                                    environment_, theirs));
                    take(theirs);
                }
            } else {
                may_use_cache = false;
            }
        }
        // A cached catalog is of an earlier version, so its run does not begin with a new one.
        if (!catalog) link_.run = report_->transaction_uuid;
        catalog_unchanged_ = !use_cached && !running_failure_ && (catalog = confirmed_catalog());
        if (!catalog && !settings_.on_command_line("environment") && !strict()) ask_environment();
        log_message(Level::Info, fmt::format("Using environment '{}'", environment_));
        if (catalog_unchanged_) {
            log_message(Level::Info, "The server's catalog has not changed since the last run");
        } else if (!catalog) {
            if (!running_failure_ && server_knows_environment()) plugins();
            gather_facts();
            catalog = retrieve(may_use_cache);
        } else {
            gather_facts();
        }
        if (!catalog) return;
        auto theirs = catalog->environment;
        if (strict() && theirs != environment_) {
            log_message(
                Level::Err,
                fmt::format("Not using catalog because its environment '{}' does not match agent "
                            "specified environment '{}' and strict_environment_mode is set",
                            theirs, environment_));
            return;
        }
        for (int tries = 0; !theirs.empty() && theirs != environment_; ++tries) {
            if (tries > 3) {
                throw base::plain_error(fmt::format(
                    "Catalog environment didn't stabilize after {} fetches, aborting run", tries));
            }
            log_message(Level::Notice, apply::restart_text(environment_, theirs));
            take(theirs);
            plugins();
            gather_facts();
            catalog = retrieve(may_use_cache);
            catalog_unchanged_ = false;
            if (!catalog) return;
            theirs = catalog->environment;
        }
        apply(run, *catalog);
    }

    // -- conditional requests

    std::string conditional_state_path() const { return settings_.text("statedir") + "/rest.json"; }

    /// Returns the catalog of the last run if the server confirms that nothing it depends on has
    /// changed.
    std::optional<Received> confirmed_catalog() {
        auto known = ConditionalState::load(files_, conditional_state_path());
        if (!known || known->server != link_.address() || known->asked != environment_)
            return std::nullopt;
        const auto age = context_.system.clock.now_ns() - known->reported_ns;
        if (age < 0 || age > facts_interval() * 1'000'000'000) return std::nullopt;
        const auto path = cached_catalog_path(settings_);
        auto json = files_.read(path);
        if (!json || fmt::format("\"{}\"", codec::short_digest(*json)) != known->etag)
            return std::nullopt;
        gather_facts();
        const auto begin = now();
        const auto asked = environment_;
        link_.environment = known->environment;
        auto request =
            link_.request("GET", link_.url("catalog/" + node_, run_query()), kCatalogTypes);
        request.headers.set("If-None-Match", known->etag);
        request.headers.set(site::kFactsHeader, compiler::facts_fingerprint(facts_, known->facts));
        request.headers.set(site::kPluginsHeader, known->plugins);
        const auto answer = link_.send(std::move(request));
        if (!answer || answer->status != 304) {
            link_.environment = asked;
            return std::nullopt;
        }
        retrieval_ = measured(begin);
        has_removals_ = !answer->headers.get(site::kRemovalsHeader).empty();
        take(known->environment);
        return Received(std::move(*json));
    }

    /// Returns the interval in seconds after which the server receives all facts, even if the
    /// catalog does not depend on them.
    std::int64_t facts_interval() const {
        constexpr std::int64_t kTwoHours = 7200;
        const auto text = settings_.get(std::string_view("facts_interval"));
        if (!text) return kTwoHours;
        const auto seconds = environment::parse_ttl(*text, "facts_interval");
        return seconds && *seconds ? **seconds : kTwoHours;
    }

    /// Returns the parameters that every catalog request contains, with or without facts.
    Query fixed_query() const {
        const std::string all = settings_.text("supported_checksum_types");
        std::string checksums;
        for (const auto name : base::words(all, ", "))
            checksums += (checksums.empty() ? "" : ".") + std::string(name);
        return {{"check_environment", "true"},
                {"static_catalog", "true"},
                {"checksum_type", checksums}};
    }

    Query run_query() const {
        auto query = fixed_query();
        query.emplace_back("transaction_uuid", report_->transaction_uuid);
        return query;
    }

    void remember(const http::ClientResponse& answer, std::string asked) {
        ConditionalState known;
        known.server = link_.address();
        known.asked = std::move(asked);
        known.environment = environment_;
        known.reported_ns = context_.system.clock.now_ns();
        // Without this state, the next run requests everything.
        if (known.take(answer)) {
            (void)known.save(files_, conditional_state_path());
        } else {
            (void)files_.remove(conditional_state_path());
        }
    }

    // -- the environment

    /// Returns the environment of the last run, if the server chose it.
    std::optional<std::string> last_environment() {
        const auto path = settings_.text("lastrunfile");
        const auto text = files_.read(path);
        if (!text) return std::nullopt;
        const auto document = codec::parse_yaml(*text, path);
        if (!document) return std::nullopt;
        base::Arena arena;
        const Value summary = value::from_yaml(
            arena, *document,
            [&](const codec::YamlNode& n, bool) { return value::make_string(arena, n.text); });
        const Value* application =
            summary.is_hash() ? summary.as_hash().find("application") : nullptr;
        const auto value = [&](const char* key) {
            return application ? text_at(*application, key) : std::string();
        };
        if (value("run_mode") != "agent") return std::nullopt;
        const auto converged = value("converged_environment");
        if (converged.empty() || converged == value("initial_environment")) return std::nullopt;
        return converged;
    }

    void ask_environment() {
        if (settings_.boolean("use_last_environment")) {
            if (auto last = last_environment()) return take(std::move(*last));
        }
        if (running_failure_) return;
        const auto begin = now();
        Query query{{"transaction_uuid", report_->transaction_uuid}, {"fail_on_404", "true"}};
        if (settings_.is_set("environment"))
            query.emplace_back("configured_environment", settings_.text("environment"));
        const auto answer = link_.get("node/" + node_, query, "application/json");
        std::string problem;
        if (!answer) {
            problem = answer.error().message;
        } else if (answer->status != 200) {
            problem = refusal_text(*answer);
        } else {
            base::Arena arena;
            const auto node = value::parse_json(arena, answer->body);
            const auto chosen = node ? text_at(*node, "environment") : std::string();
            if (!chosen.empty()) {
                if (chosen != environment_) {
                    log_message(
                        Level::Notice,
                        fmt::format("Local environment: '{0}' doesn't match server specified node "
                                    "environment '{1}', switching agent to '{1}'.",
                                    environment_, chosen));
                }
                take(chosen);
            }
            report_->add_time("node_retrieval", measured(begin));
            return;
        }
        log_message(Level::Warning,
                    "Unable to fetch my node definition, but the agent run will continue:");
        log_message(Level::Warning, problem);
    }

    /// Reports whether the server has the environment, so that plugins can be synchronized.
    bool server_knows_environment() {
        const auto answer = link_.get("file_metadatas/plugins",
                                      {{"recurse", "false"},
                                       {"links", "manage"},
                                       {"checksum_type", settings_.text("digest_algorithm")},
                                       {"source_permissions", "ignore"}},
                                      "application/json");
        if (!answer) {
            log_message(Level::Err, answer.error().message);
            return false;
        }
        if (answer->status == 200) return true;
        if (answer->status != 404) {
            log_message(Level::Err, refusal_text(*answer));
            return false;
        }
        if (strict()) {
            throw base::plain_error(
                fmt::format("Environment '{}' not found on server, aborting run.", environment_));
        }
        log_message(Level::Notice,
                    fmt::format("Environment '{}' not found on server, skipping initial "
                                "pluginsync.",
                                environment_));
        return false;
    }

    // -- plugins and facts

    void plugins() {
        const auto begin = now();
        try {
            synchronize_plugins(settings_, context_.system, o_.sink, content_, environment_,
                                context_.stop);
        } catch (const apply::Stopped&) {
            throw;
        } catch (const PuppetError& e) {
            if (settings_.boolean("ignore_plugin_errors") ||
                !settings_.boolean("usecacheonfailure"))
                throw;
            log_message(Level::Err, error_text(e));
            running_failure_ = true;
        }
        report_->add_time("plugin_sync", measured(begin));
    }

    void gather_facts() {
        const auto begin = now();
        arena_ = std::make_shared<base::Arena>(256 * 1024);
        log_message(Level::Info, "Loading facts");
        Value found = o_.facts ? o_.facts(*arena_)
                               : site::machine_facts(*arena_, settings_, nullptr, o_.sink);
        if (settings_.is_set("environment") && found.is_hash()) {
            value::HashBuilder all(*arena_, found.as_hash().size() + 1);
            all.merge(found.as_hash());
            all.set("agent_specified_environment",
                    value::make_string(*arena_, settings_.text("environment")));
            found = all.build();
        }
        facts_ = found;
        if (const auto name = settings_.text("node_name_fact"); !name.empty()) {
            const Value own = facts::dig(facts_, name);
            if (own.is_string()) node_ = own.as_string();
            report_->host = node_;
        }
        check_fact_limits(settings_, facts_, [this](Level level, std::string text) {
            log_message(level, std::move(text));
        });
        report_->add_time("fact_generation", measured(begin));
    }

    std::string facts_document() const {
        BUNRAKU_ASSERT(arena_ != nullptr);
        return value::to_json(agent::facts_document(*arena_, settings_, node_, facts_,
                                                    context_.system.clock.now_ns()));
    }

    // -- the catalog

    std::optional<Received> cached() {
        const auto path = cached_catalog_path(settings_);
        if (!files_.exists(path)) return std::nullopt;
        const auto begin = now();
        auto text = files_.read(path);
        retrieval_ = measured(begin);
        if (!text) {
            log_message(Level::Err,
                        "Could not retrieve catalog from cache: " + text.error().message);
            return std::nullopt;
        }
        return Received(std::move(*text));
    }

    std::optional<Received> retrieve(bool may_use_cache) {
        if (running_failure_) {
            if (auto found = cached()) {
                cached_status_ = "on_failure";
                log_message(Level::Info, fmt::format("Using cached catalog from environment '{}'",
                                                     found->environment));
                return found;
            }
        }
        if (auto found = fetch()) return found;
        std::optional<Received> found;
        if (!may_use_cache) {
            log_message(Level::Warning, "Not using cache on failed catalog");
        } else if ((found = cached())) {
            const auto theirs = found->environment;
            if (theirs != environment_) {
                log_message(
                    Level::Err,
                    fmt::format("Not using cached catalog because its environment '{}' does not "
                                "match '{}'",
                                theirs, environment_));
                found.reset();
            } else {
                cached_status_ = "on_failure";
                log_message(Level::Info,
                            fmt::format("Using cached catalog from environment '{}'", theirs));
            }
        }
        if (!found) log_message(Level::Err, "Could not retrieve catalog; skipping run");
        return found;
    }

    std::optional<Received> fetch() {
        const auto begin = now();
        const auto failed = [&](const std::string& why) {
            log_message(Level::Err, "Could not retrieve catalog from remote server: " + why);
            return std::nullopt;
        };
        auto facts = http::percent_encode(facts_document());
        check_payload_size(settings_, facts.size(), [this](Level level, std::string text) {
            log_message(level, std::move(text));
        });
        Query form{{"facts_format", "application/json"},
                   {"facts", std::move(facts)},
                   {"environment", environment_},
                   {"configured_environment",
                    settings_.is_set("environment") ? settings_.text("environment") : ""},
                   {"transaction_uuid", report_->transaction_uuid},
                   {"job_id", o_.job_id}};
        for (auto& one : fixed_query()) form.push_back(std::move(one));
        std::erase_if(form, [](const auto& e) { return e.second.empty(); });
        auto request = link_.request("POST", link_.url("catalog/" + node_), kCatalogTypes);
        request.headers.set("Content-Type", "application/x-www-form-urlencoded");
        request.headers.set(site::kFactsHeader, "all");
        request.body = encoded(form);
        auto answer = link_.send(std::move(request));
        retrieval_ = measured(begin);
        if (!answer) return failed(answer.error().message);
        if (answer->status != 200) return failed(refusal_text(*answer));
        has_removals_ = !answer->headers.get(site::kRemovalsHeader).empty();
        Received received(std::move(answer->body));
        const auto& data = received.data;
        if (!data || !data->is_hash())
            return failed(fmt::format("Could not intern from rich_data_json: {}",
                                      data ? "it is not a catalog" : data.error().message));
        // Otherwise the catalog of another node would be applied here.
        if (const auto name = text_at(*data, "name"); name != node_)
            return failed(fmt::format("The server sent the catalog of '{}'", name));
        if (!context_.options.noop && received.environment == environment_)
            remember(*answer, asked_environment_);
        return received;
    }

    void apply(apply::Run& run, const Received& received) {
        BUNRAKU_ASSERT(arena_ != nullptr && !session_ && !catalog_);
        const auto begin = now();
        site::NodeRequest request;
        request.node = node_;
        request.arena = arena_;
        request.facts.values = facts_;
        request.trusted.otherwise = site::TrustedSource::Otherwise::Clientcert;
        request.classification = site::Unclassified();
        request.sources.code = "";
        request.sources.modulepath = std::vector<std::string>();
        request.overlay.set("environment", environment_);
        request.overlay.set("storeconfigs", "false");
        request.compile_mode.own_settings = true;
        session_ = o_.site.session(std::move(request), o_.sink);
        auto catalog = read(received);
        if (catalog.name != node_ &&
            config::changed(settings_.compatibility(), config::Change::CatalogName)) {
            log_message(Level::Err,
                        fmt::format("Catalog name '{}' does not match this node's certname '{}'",
                                    catalog.name, node_));
        }
        remove_undeclared(catalog);
        if (received.data) content_.know(*received.data);
        context_.resolve_deferred = [&](const Value& v) { return session_->resolve_deferred(v); };
        ruby_ = std::make_unique<apply::RubyTypes>(context_,
                                                   [this] { return o_.ruby_parts(*session_); });
        context_.ruby_types = ruby_.get();
        catalog_ = apply::RalCatalog::from(context_, catalog);
        catalog_->finalize();
        if (settings_.boolean("write_catalog_summary")) {
            apply::write_catalog_summary(context_, *catalog_, settings_.text("classfile"),
                                         settings_.text("resourcefile"));
        }
        report_->add_time("convert_catalog", measured(begin));
        // The catalog of a noop run was compiled with noop's facts, so it must not replace the
        // cached catalog.
        if (!context_.options.noop && cached_status_ == "not_used" && !catalog_unchanged_)
            keep(received.json);
        o_.applying.config_retrieval = retrieval_;
        run.apply(*catalog_);
    }

    /// Adds resources to the catalog that remove what is no longer declared, if the setting
    /// `undeclared` or an undone rollout requires it. They are not part of the cached catalog.
    void remove_undeclared(catalog::Catalog& catalog) {
        const auto options = UndeclaredOptions::read(settings_);
        if (!options) log_message(Level::Err, options.error().message);
        // An old catalog does not show what the present one declares.
        if (cached_status_ != "not_used") return;
        std::vector<Leftover> all;
        if (has_removals_)
            add_leftovers(all, "removals?" + encoded({{"environment", environment_}}),
                          removable_types());
        if (options && options->remove)
            add_leftovers(all, "undeclared?limit=10000", options->types);
        if (!all.empty()) add_removals(catalog, std::move(all), files_, o_.sink);
    }

    /// Adds the resources of these types in a list of the server.
    void add_leftovers(std::vector<Leftover>& all, const std::string& list,
                       const std::vector<std::string>& types) {
        const auto answer = link_.send(
            link_.request("GET",
                          fmt::format("https://{}/bunraku/v1/nodes/{}/{}", link_.address(),
                                      http::percent_encode(node_), list),
                          "application/json"));
        std::string problem;
        if (!answer) {
            problem = answer.error().message;
        } else if (answer->status != 200) {
            problem = refusal_text(*answer);
        } else if (auto leftovers = read_leftovers(answer->body, types); !leftovers) {
            problem = leftovers.error().message;
        } else {
            std::ranges::move(*leftovers, std::back_inserter(all));
            return;
        }
        log_message(Level::Warning,
                    "Could not find out which resources are no longer declared: " + problem);
    }

    catalog::Catalog read(const Received& received) {
        BUNRAKU_ASSERT(arena_ != nullptr && received.arena != nullptr);
        types_.emplace(types::Context{.arena = *arena_});
        const auto make_typed = types::rich_data_factory(*types_);
        auto catalog = received.data && codec::is_utf8(received.json)
                           ? catalog::read_agent_json(received.arena, *received.data, make_typed)
                           : catalog::read_agent_json(received.json, make_typed);
        if (!catalog) {
            throw base::plain_error(fmt::format(
                "Could not deserialize catalog from rich_data_json: {}", catalog.error().message));
        }
        return std::move(*catalog);
    }

    void keep(const std::string& json) {
        log_message(Level::Info, fmt::format("Caching catalog for {}", node_));
        const auto path = cached_catalog_path(settings_);
        auto saved = files_.make_directories(std::string(sys::directory_name(path)), 0750);
        if (saved) saved = files_.replace(path, json, {.mode = 0640, .sync = true});
        if (!saved)
            log_message(Level::Err, "Could not cache the catalog: " + saved.error().message);
    }

    // -- the report

    void send_report(const apply::Report& report) {
        // If a run changed nothing, the agent can send the name of its last report instead of a
        // whole one, provided that the server caches catalogs.
        auto known = report.status == "unchanged" && !report.noop && !report.noop_pending
                         ? ConditionalState::load(files_, conditional_state_path())
                         : std::nullopt;
        if (known && known->server != link_.address()) known.reset();
        const auto identity = known ? apply::report_identity(report) : std::string();
        if (known && !known->report.empty() && known->report_identity == identity) {
            const auto answer =
                put_report(apply::report_difference_json(report, context_), known->report);
            if (!answer || answer->status != 412) return log_refusal(answer);
        }
        const auto answer = put_report(apply::report_json(report, context_), known ? "new" : "");
        log_refusal(answer);
        if (!known || !answer) return;
        known->report = answer->headers.get(site::kReportHeader);
        known->report_identity = identity;
        (void)known->save(files_, conditional_state_path());
    }

    base::Result<http::ClientResponse> put_report(std::string body, const std::string& as) {
        auto request = link_.request("PUT", link_.url("report/" + node_), "application/json");
        request.headers.set("Content-Type", "application/json");
        if (!as.empty()) request.headers.set(site::kReportHeader, as);
        request.body = std::move(body);
        return link_.send(std::move(request));
    }

    void log_refusal(const base::Result<http::ClientResponse>& answer) {
        if (!answer) {
            log_message(Level::Err, "Could not send report: " + answer.error().message);
        } else if (answer->status / 100 != 2) {
            log_message(Level::Err, "Could not send report: " + refusal_text(*answer));
        }
    }

    RunOptions& o_;
    const config::Settings& settings_;
    apply::Context& context_;
    sys::FileSystem& files_;
    ServerLink link_;
    ServerContent content_;
    ServerBucket bucket_;
    apply::Report* report_ = nullptr;
    std::string node_, environment_, asked_environment_, cached_status_ = "not_used";
    bool running_failure_ = false;
    bool catalog_unchanged_ = false;  ///< true if the cached catalog is still valid
    bool has_removals_ = false;       ///< true if the server may list something to remove
    double retrieval_ = 0;
    std::shared_ptr<base::Arena> arena_;
    Value facts_;
    std::optional<types::Context> types_;
    std::unique_ptr<site::Session> session_;
    std::unique_ptr<apply::RubyTypes> ruby_;
    std::unique_ptr<apply::RalCatalog> catalog_;
};

}  // namespace

int run(RunOptions& options) {
    AgentRun run(options);
    return run.run();
}

std::string cached_catalog_path(const config::Settings& settings) {
    auto name = settings.text("node_name_value");
    if (name.empty()) name = settings.text("certname");
    return fmt::format("{}/catalog/{}.json", settings.text("client_datadir"), name);
}

}  // namespace bunraku::agent
