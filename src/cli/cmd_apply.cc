// SPDX-License-Identifier: Apache-2.0
// bunraku apply: compiles a manifest (or reads a catalog) and applies it to this machine.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/node_options.h"
#include "compile/compiler/explained_error.h"
#include "compile/site/report_processors.h"
#include "core/base/jitter.h"
#include "core/base/number.h"
#include "core/base/plain_error.h"
#include "core/sys/clock.h"
#include "core/sys/disk.h"
#include "core/sys/signals.h"
#include "core/sys/wording.h"
#include "core/value/build.h"
#include "core/value/rich_data.h"
#include "language/hiera/errors.h"
#include "language/types/rich_data.h"
#include "resources/apply/run.h"
#include "resources/catalog/agent_json.h"
#include "services/agent/apply_session.h"
#include "services/agent/http_content.h"
#include "services/agent/lazy_bucket.h"
#include "services/agent/log_destinations.h"

namespace bunraku::cli {

using base::PuppetError;

namespace {

std::string read_whole(const std::string& path) {
    if (path == "-") {
        std::string out;
        char buffer[65536];
        for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, stdin)) > 0;) {
            out.append(buffer, n);
        }
        return out;
    }
    std::ifstream in(path, std::ios::binary);
    if (!in)
        throw base::plain_error(fmt::format("No such file or directory @ rb_sysopen - {}", path));
    return {std::istreambuf_iterator<char>(in), {}};
}

struct Request {
    std::vector<std::string> code, logdest, positional;
    std::string catalog_file;
    std::optional<std::string> catalog_text;  ///< replaces the content of the file
    bool print_report = false;
    bool detailed_exitcodes = false, test = false, loadclasses = false;
    bool parseonly = false, use_nodes = false;
};

/// Ends the program with this status; all messages have been printed.
struct Exit {
    int status;
};

/// Returns " on node NAME", which Puppet appends to the error of a failed compile. Returns an empty
/// string for errors that Puppet's compiler does not wrap: lookup errors without a code, other
/// `PreformattedError`s, and exceptions that Ruby's rescue does not catch.
std::string on_node(const PuppetError& error, const std::string& node) {
    const auto* explained = dynamic_cast<const compiler::ExplainedError*>(&error);
    const bool lookup = explained ? explained->of_lookup
                                  : dynamic_cast<const hiera::LookupError*>(&error) != nullptr;
    return (lookup && error.issue_code().empty()) || error.issue_code() == "PREFORMATTED" ||
                   error.issue_code() == "SCRIPT_ERROR"
               ? std::string()
               : " on node " + node;
}

/// Applies the setting `priority`. Like Puppet, ignores a lack of permission.
void set_priority(const config::Settings& settings) {
    if (const auto value = base::parse_integer<int>(settings.text("priority"))) {
        (void)::setpriority(PRIO_PROCESS, 0, *value);
    }
}

/// Sets the defaults in which `puppet apply` differs from the settings.
void set_defaults(config::Settings& settings) {
    if (!settings.is_set("default_file_terminus")) {
        settings.set("default_file_terminus", "file_server");
    }
    if (!settings.is_set("write_catalog_summary")) settings.set("write_catalog_summary", "false");
}

class Apply {
public:
    Apply(Invocation& invocation, const NodeOptions& node, Request& request, base::LogSink& console)
        : invocation_(invocation),
          node_(node),
          request_(request),
          console_(console),
          site_(invocation.settings, site_options(console)) {}

    int run() {
        std::shared_ptr<catalog::Catalog> catalog;
        try {
            catalog = request_.catalog_file.empty() && !request_.catalog_text ? compile()
                                                                              : read_catalog();
        } catch (const Exit& e) {
            return e.status;
        } catch (const PuppetError& e) {
            // An error that Puppet's compiler does not rescue ends the program.
            const bool ends = compiling_ && e.issue_code() == "SCRIPT_ERROR";
            report_error(console_, e, compiling_ ? on_node(e, session_->node()) : std::string(),
                         ends ? "Could not run: " : "");
            return 1;
        }
        agent::ApplySession session(invocation_.settings, console_);
        apply::Context& context = session.context();
        auto& module_files = sys::disk();
        agent::ModuleContent content(context, module_files, invocation_.settings, session_->node(),
                                     session_->environment());
        context.content = &content;
        agent::HttpContent web(invocation_.settings, session_->view().user_agent(),
                               [&context] { return static_cast<bool>(context.stop_request()); });
        context.web_content = &web;
        agent::LazyBucket bucket(invocation_.settings, console_, context.system,
                                 user_agent(invocation_.settings));
        context.bucket_server = &bucket;
        context.options.environment = session_->environment()->name();
        context.resolve_deferred = [&](const value::Value& v) {
            return session_->resolve_deferred(v);
        };
        sys::catch_stop_signals(true);
        context.stop = [] { return apply::StopRequest{sys::stop_signals(), sys::stop_signal()}; };

        apply::RubyTypes ruby_types(
            context, [this] { return agent::ruby_parts(*session_, invocation_.settings); });
        context.ruby_types = &ruby_types;

        apply::RunSettings run = session.run_settings();
        run.config_retrieval = seconds_;
        run.host = session_->node();
        run.asked_environment = asked_environment_;
        std::unique_ptr<apply::RalCatalog> ral;
        try {
            ral = apply::RalCatalog::from(context, *catalog);
            catalog.reset();
            ral->finalize();
            if (invocation_.settings.boolean("write_catalog_summary")) {
                apply::write_catalog_summary(context, *ral, invocation_.settings.text("classfile"),
                                             invocation_.settings.text("resourcefile"));
            }
        } catch (const PuppetError& e) {
            session.sink().log(base::Level::Err, apply::error_text(e));
            return 1;
        } catch (const std::exception& e) {
            session.sink().log(base::Level::Err, e.what());
            return 1;
        }
        auto result = apply::run_catalog(context, session.sink(), *ral, run);
        process(*result.report, context, ruby_types, session.sink());
        if (invocation_.settings.boolean("summarize")) {
            std::fputs(apply::summary_text(*result.report, context).c_str(), stdout);
        }
        if (request_.print_report) {
            auto report =
                value::parse_json(*session_->arena(), apply::report_json(*result.report, context));
            if (report) fmt::print("{}\n", value::to_pretty_json(*report));
        }
        // The program ends after the run, so the catalog is not destroyed; the operating system
        // frees the memory.
        [[maybe_unused]] static const apply::RalCatalog* ended = nullptr;
        ended = ral.release();
        if (sys::stop_signal() == SIGINT) std::puts("Exiting");
        std::fflush(stdout);
        if (sys::stop_signal() != 0) return 1;
        if (!result.saved) return 1;
        // For a catalog from a file, Puppet always exits with 0.
        if (!request_.catalog_file.empty() || request_.catalog_text) return 0;
        if (result.exit_status < 0) return 1;
        return request_.detailed_exitcodes ? result.exit_status : 0;
    }

private:
    /// Runs the processors of the setting `reports`, except for the local copy.
    void process(const apply::Report& report, apply::Context& context, apply::RubyTypes& types,
                 base::LogSink& log) {
        const auto processors = agent::report_processors(invocation_.settings);
        if (std::ranges::all_of(processors, [](const auto& n) { return n == "store"; })) return;
        const auto data =
            value::parse_json(*session_->arena(), apply::report_json(report, context));
        if (!data) return;
        site::process_report(
            session_->shared_view(), processors,
            {.data = *data, .yaml = [&] { return apply::report_yaml(report, context); }},
            [&](std::string_view name, const value::Value& sent) {
                return types.process_report(name, sent);
            },
            log);
    }

    /// Waits for the random time of --splay.
    void splay() {
        if (!invocation_.settings.boolean("splay")) return;
        const long limit = std::max(0L, invocation_.settings.integer("splaylimit"));
        const long seconds = base::random_between(0, limit);
        console_.log(base::Level::Info,
                     fmt::format("Sleeping for {} seconds (splay is enabled)", seconds));
        sys::make_real_clock()->sleep_ns(seconds * 1'000'000'000L);
    }

    /// Reads the classes that the last agent run wrote to `classfile`, to replace those of the
    /// classifier.
    void load_classes(site::NodeRequest& request) {
        const std::string path = invocation_.settings.text("classfile");
        if (::access(path.c_str(), F_OK) != 0) return;
        if (::access(path.c_str(), R_OK) != 0) {
            fmt::print(stderr, "{} is not readable\n", path);
            throw Exit{63};
        }
        auto& classes = request.classes.emplace();
        std::ifstream in(path);
        for (std::string name; in >> name;) classes.push_back(std::move(name));
    }

    /// Opens a session for this machine in its environment. `code` replaces the manifest.
    void open(const std::string& manifest, std::optional<std::string> code) {
        auto request = node_.request();
        if (node_.facts.empty()) request.facts.kind = site::FactSource::Kind::Machine;
        // The only server fact is the environment.
        if (node_.server_facts.empty()) {
            request.server_facts =
                site::ServerFacts::given(value::HashBuilder(*request.arena).build());
        }
        asked_environment_ = node_.environment.empty() ? invocation_.settings.text("environment")
                                                       : node_.environment;
        request.sources.manifest = manifest;
        request.sources.code = std::move(code);
        request.compile_mode = {.manifest_required = true,
                                .folder_required = true,
                                .own_settings = true,
                                .ends_run = true};
        if (request_.loadclasses) load_classes(request);
        session_ = site_.session(std::move(request), console_);
        // From here on, the settings of the selected environment apply.
        invocation_.settings = session_->view().settings();
    }

    std::shared_ptr<catalog::Catalog> compile() {
        std::optional<std::string> code;
        std::string manifest;
        if (!request_.code.empty()) {
            code = fmt::format("{}", fmt::join(request_.code, "\n"));
        } else if (request_.positional.empty()) {
            code = read_whole("-");
        } else {
            manifest = request_.positional[0];
            if (!std::ifstream(manifest)) {
                throw base::plain_error(
                    fmt::format("Could not run: Could not find file {}", manifest));
            }
            if (request_.positional.size() > 1) {
                std::vector<std::string> rest(request_.positional.begin() + 1,
                                              request_.positional.end());
                console_.log(base::Level::Warning,
                             fmt::format("Only one file can be applied per run.  Skipping {}",
                                         fmt::join(rest, ", ")));
            }
        }
        splay();
        open(manifest, std::move(code));
        compiling_ = true;
        auto begin = now();
        auto compiled = session_->compile();
        if (compiled.view->storeconfigs()) site_.store(compiled, console_);
        seconds_ = now() - begin;
        console_.log(
            base::Level::Notice,
            fmt::format("Compiled catalog for {} in environment {} in {} seconds", compiled.node,
                        compiled.environment->name(), sys::seconds_text(seconds_)));
        return compiled.catalog;
    }

    std::shared_ptr<catalog::Catalog> read_catalog() {
        const std::string text =
            request_.catalog_text ? *request_.catalog_text : read_whole(request_.catalog_file);
        open("", std::string());
        types_.emplace(types::Context{.arena = *session_->arena()});
        auto read = catalog::read_agent_json(text, types::rich_data_factory(*types_));
        if (!read) {
            throw base::plain_error(fmt::format(
                "Could not deserialize catalog from rich_data_json: {}", read.error().message));
        }
        return std::make_shared<catalog::Catalog>(std::move(*read));
    }

    static double now() {
        timespec t{};
        clock_gettime(CLOCK_MONOTONIC, &t);
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
    }

    Invocation& invocation_;
    const NodeOptions& node_;
    Request& request_;
    base::LogSink& console_;
    site::Site site_;
    std::unique_ptr<site::Session> session_;
    std::optional<types::Context> types_;
    std::string asked_environment_;
    double seconds_ = 0;
    bool compiling_ = false;
};

int run_apply(Invocation& invocation) {
    OptionParser options(invocation);
    NodeOptions node;
    Request request;
    node.add_to(options);
    options.list("e", &request.code);
    options.list("execute", &request.code);
    options.list("logdest", &request.logdest);
    options.list("l", &request.logdest);
    options.value("catalog", &request.catalog_file);
    options.value("c", &request.catalog_file);
    options.value("apply", &request.catalog_file);
    options.flag("detailed-exitcodes", &request.detailed_exitcodes);
    options.flag("test", &request.test);
    options.flag("t", &request.test);
    options.flag("loadclasses", &request.loadclasses);
    options.flag("L", &request.loadclasses);
    options.flag("json", &request.print_report);
    options.flag("parseonly", &request.parseonly);
    // accepted without effect, as in Puppet: node blocks are always used
    options.flag("use-nodes", &request.use_nodes);
    if (!options.parse(&request.positional)) return options.exit_code();
    if (request.parseonly) {
        fmt::print("--parseonly has been removed. Please use '{} parser validate <manifest>'\n",
                   invocation.program);
        return 1;
    }
    if (!invocation.settings.text("node_name_fact").empty())
        throw base::plain_error("The setting node_name_fact is not supported by apply");
    if (request.test) {
        if (!options.log_level) options.log_level = base::Level::Info;
        request.detailed_exitcodes = true;
        invocation.settings.set("show_diff", "true");
        invocation.settings.set("splay", "false");
    }
    if (invocation.settings.boolean("noop") && !options.log_level) {
        options.log_level = base::Level::Notice;
    }
    auto console =
        make_console_sink(options, request.print_report ? Streams::Errors : Streams::Puppet);
    if (request.logdest.empty()) request.logdest = {invocation.settings.text("logdest")};
    auto sink = agent::make_log_destinations(request.logdest, std::move(console), options.log_level,
                                             invocation.settings.text("syslogfacility"));
    if (!sink) {
        fmt::print(stderr,
                   "Error: Could not parse application options: Could not set logdest to {}.\n{}\n",
                   fmt::join(request.logdest, ","), sink.error().message);
        return 1;
    }
    set_priority(invocation.settings);
    set_defaults(invocation.settings);
    return Apply(invocation, node, request, **sink).run();
}

}  // namespace

int apply_found_catalog(Invocation& invocation, std::string json, base::LogSink& log) {
    const NodeOptions node;
    Request request;
    request.catalog_text = std::move(json);
    request.print_report = true;
    return Apply(invocation, node, request, log).run();
}

BUNRAKU_COMMAND(apply){.name = "apply",
                       .summary = "Compile a manifest and apply it to this machine.",
                       .run = run_apply,
                       .system_errors = SystemErrors::Puppet};

}  // namespace bunraku::cli
