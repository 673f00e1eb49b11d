// SPDX-License-Identifier: Apache-2.0
// `deploy`: creates environments from branches, with the configuration of r10k.
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <optional>

#include "cli/command.h"
#include "core/base/number.h"
#include "core/codec/json_text.h"
#include "core/config/munge.h"
#include "core/sys/signals.h"
#include "core/sys/system.h"
#include "core/sys/terminal.h"
#include "core/sys/wording.h"
#include "modules/module/deploy.h"
#include "modules/module/trust.h"

namespace bunraku::cli {

namespace {

using base::Level;
using codec::json_string;
using What = module::DeployedEnvironment::What;

std::string_view what_text(What what) {
    switch (what) {
        case What::Unchanged: return "unchanged";
        case What::Deployed: return "deployed";
        case What::Failed: return "failed";
        case What::Removed: return "removed";
        case What::Prepared: return "prepared";
    }
    return "";
}

struct DeployArguments {
    std::string config, cachedir, environment, override_branch, parallel, format = "yaml";
    std::string keep_for;
    bool modules = false, no_force = false, force = false, now = false, json = false, fetch = false,
         detail = false;
};

int report(const base::Result<std::vector<module::DeployedEnvironment>>& done, bool json,
           base::LogSink& log) {
    if (!done) {
        log.log(Level::Err, sys::plain_text(done.error().message));
        return done.error().code == 16 ? 16 : 1;
    }
    int counts[5] = {};
    std::string text;
    for (const auto& e : *done) {
        ++counts[static_cast<int>(e.what)];
        std::string restored;
        for (const auto& path : e.restored)
            restored += (restored.empty() ? "" : ",") + json_string(path);
        text += fmt::format(
            "{}\n  {{\"name\":{},\"path\":{},\"source\":{},\"branch\":{},\"commit\":{},"
            "\"what\":\"{}\",\"modules\":{},\"restored\":[{}],\"error\":{}}}",
            text.empty() ? "" : ",", json_string(e.name), json_string(e.path),
            json_string(e.source), json_string(e.branch), json_string(e.commit), what_text(e.what),
            e.modules, restored, e.error.empty() ? "null" : json_string(e.error));
    }
    if (json) {
        fmt::print("[{}\n]\n", text);
    } else {
        const int prepared = counts[static_cast<int>(What::Prepared)];
        fmt::print("{} deployed, {}{} unchanged, {} removed, {} failed\n",
                   counts[static_cast<int>(What::Deployed)],
                   prepared > 0 ? fmt::format("{} prepared, ", prepared) : "",
                   counts[static_cast<int>(What::Unchanged)],
                   counts[static_cast<int>(What::Removed)], counts[static_cast<int>(What::Failed)]);
    }
    return counts[static_cast<int>(What::Failed)] == 0 ? 0 : 1;
}

/// The output of r10k's `deploy display`: YAML with symbols, or JSON.
int display(const module::DeployOptions& options, const DeployArguments& o,
            const std::vector<std::string>& names, sys::System& system, base::LogSink& log) {
    auto listed = module::list_deployment(options, o.fetch, system, log);
    if (!listed) {
        log.log(Level::Err, sys::plain_text(listed.error().message));
        return 1;
    }
    const bool yaml = o.format != "json";
    std::string out = yaml ? "---\n:sources:\n" : "{\n  \"sources\": [";
    bool first = true;
    for (const auto& l : *listed) {
        const module::DeploySource& s = *l.source;
        const std::string prefix = s.prefix_by_name   ? "true"
                                   : s.prefix.empty() ? ""
                                   : yaml             ? s.prefix
                                                      : json_string(s.prefix);
        std::string rows;
        for (const auto& e : l.environments) {
            if (!names.empty() && std::find(names.begin(), names.end(), e.dirname) == names.end()) {
                continue;
            }
            if (yaml && !o.detail) {
                rows += fmt::format("\n  - {}", e.dirname);
            } else if (yaml) {
                rows += fmt::format("\n  - :name: {}\n    :signature: {}\n    :status: :{}", e.name,
                                    e.signature, e.status);
                if (!e.modules.empty()) rows += "\n    :modules:";
                for (const auto& m : e.modules) rows += "\n    - " + m;
            } else if (!o.detail) {
                rows +=
                    fmt::format("{}\n        {}", rows.empty() ? "" : ",", json_string(e.dirname));
            } else {
                std::string modules;
                for (const auto& m : e.modules) {
                    modules += (modules.empty() ? "" : ", ") + json_string(m);
                }
                rows += fmt::format(
                    "{}\n        {{\"name\": {}, \"signature\": {}, \"status\": {}, "
                    "\"modules\": [{}]}}",
                    rows.empty() ? "" : ",", json_string(e.name), json_string(e.signature),
                    json_string(e.status), modules);
            }
        }
        if (yaml) {
            out +=
                fmt::format("- :name: :{}\n  :basedir: {}\n{}  :remote: {}\n  :environments:{}\n",
                            s.name, json_string(s.basedir),
                            prefix.empty() ? "" : fmt::format("  :prefix: {}\n", prefix),
                            json_string(s.remote), rows.empty() ? " []" : rows);
        } else {
            out += fmt::format(
                "{}\n    {{\n      \"name\": {},\n      \"basedir\": {},\n{}      "
                "\"remote\": {},\n      \"environments\": [{}\n      ]\n    }}",
                first ? "" : ",", json_string(s.name), json_string(s.basedir),
                prefix.empty() ? "" : fmt::format("      \"prefix\": {},\n", prefix),
                json_string(s.remote), rows);
        }
        first = false;
    }
    if (!yaml) out += "\n  ]\n}\n";
    std::fwrite(out.data(), 1, out.size(), stdout);
    return 0;
}

void add_options(OptionParser& options, DeployArguments& o) {
    options.value("r10k", &o.config);
    options.value("c", &o.config);
    options.value("cachedir", &o.cachedir);
    options.value("environment", &o.environment);
    options.value("e", &o.environment);
    options.value("default-branch-override", &o.override_branch);
    options.value("parallel", &o.parallel);
    options.value("format", &o.format);
    options.flag("modules", &o.modules);
    options.flag("m", &o.modules);
    options.flag("puppetfile", &o.modules);
    options.flag("p", &o.modules);
    options.flag("force", &o.force);
    options.flag("no-force", &o.no_force);
    options.flag("now", &o.now);
    options.value("keep-for", &o.keep_for);
    options.flag("json", &o.json);
    options.flag("fetch", &o.fetch);
    options.flag("detail", &o.detail);
}

/// Reads the configuration file of the options, or the first usual one, and sets its proxy for this
/// process. Logs problems. Sets `exit_code` if it returns nullopt.
std::optional<module::DeployConfig> read_config(const DeployArguments& o, sys::FileSystem& files,
                                                base::LogSink& log, int& exit_code) {
    std::string path = o.config;
    for (const char* usual : {"r10k.yaml", "/etc/puppetlabs/r10k/r10k.yaml", "/etc/r10k.yaml"}) {
        if (path.empty() && files.is_file(usual)) path = usual;
    }
    if (path.empty()) {
        log.log(Level::Err,
                "No configuration file given, no config file found in current directory, and no "
                "global config present");
        exit_code = 8;
        return std::nullopt;
    }
    auto text = files.read(path);
    auto config = text ? module::read_deploy_config(*text, sys::expand_path(path))
                       : base::Result<module::DeployConfig>(std::unexpected(text.error()));
    if (!config) {
        log.log(Level::Err, sys::plain_text(config.error().message));
        exit_code = 1;
        return std::nullopt;
    }
    for (const std::string& warning : config->warnings) log.log(Level::Warning, warning);
    // Like r10k, applies the proxy to all requests of this process, including those of git.
    if (!config->proxy.empty()) {
        for (const char* name : {"http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"})
            ::setenv(name, config->proxy.c_str(), 1);
    }
    return std::move(*config);
}

/// Combines the configuration with the options and settings, except --keep-for.
module::DeployOptions deploy_options(const DeployArguments& o, module::DeployConfig config,
                                     const config::Settings& settings) {
    module::DeployOptions d;
    d.config = std::move(config);
    const std::string cachedir = o.cachedir.empty() ? d.config.cachedir : o.cachedir;
    // r10k's own cache in this folder looks similar but has another layout.
    d.cache = cachedir.empty() ? settings.text("module_working_dir")
                               : sys::expand_path(cachedir) + "/bunraku";
    d.forge.url = settings.text("module_repository");
    d.forge.authorization = settings.text("forge_authorization");
    d.forge.module_groups = settings.text("module_groups");
    d.forge.trust_store = settings.text("ssl_trust_store");
    d.forge.trust = module::ForgeTrust::of(settings.text("confdir"), settings.text("vardir"));
    d.forge.proxies = http::ProxyRules::of_settings(settings);
    if (settings.on_command_line("module_repository")) d.config.forge_url.clear();
    d.modules = o.modules;
    d.branch_override = o.override_branch;
    d.force = o.force;
    d.now = o.now;
    d.keep_edits = o.no_force;
    if (d.config.pool_size > 4) d.parallel = std::max(d.parallel, std::min(64, d.config.pool_size));
    if (!o.parallel.empty()) d.parallel = std::clamp(std::atoi(o.parallel.c_str()), 1, 64);
    return d;
}

int run_deploy(Invocation& invocation) {
    DeployArguments o;
    OptionParser options(invocation);
    add_options(options, o);
    std::vector<std::string> words;
    if (!options.parse(&words)) return options.exit_code();
    const auto console = make_console_sink(options);
    const auto log = std::make_unique<sys::ProgressLog>(*console);
    const auto usage = [&](std::string_view text) {
        fmt::print(stderr, "Error: {}\nTry '{} help deploy' for usage\n", text, invocation.program);
        return 1;
    };
    if (words.empty()) return usage("deploy what? environment, module, display or rollback");
    const std::string action = words[0];
    words.erase(words.begin());

    sys::RealSystem real;
    sys::System& system = real.system();
    int exit_code = 0;
    auto config = read_config(o, system.files, *log, exit_code);
    if (!config) return exit_code;
    module::DeployOptions d = deploy_options(o, std::move(*config), invocation.settings);
    if (!o.keep_for.empty()) {
        const auto seconds = config::duration_seconds(o.keep_for);
        const auto number = base::parse_integer<std::int64_t>(seconds.value_or(""));
        if (!number)
            return usage(
                fmt::format("Invalid value '{}' for --keep-for: expected a duration", o.keep_for));
        d.keep_for = *number;
    }
    sys::catch_stop_signals();
    d.stopped = [] { return sys::stop_signal() != 0; };

    if (action == "environment") {
        d.environments = words;
        return report(module::deploy_environments(d, system, *log), o.json, *log);
    }
    if (action == "module") {
        if (words.empty()) return usage("deploy module takes at least one name");
        d.only_modules = words;
        if (!o.environment.empty()) d.environments = {o.environment};
        return report(module::deploy_modules(d, system, *log), o.json, *log);
    }
    if (action == "display" || action == "list") return display(d, o, words, system, *log);
    if (action == "rollback") {
        if (words.size() != 1) return usage("deploy rollback takes one name");
        auto commit = module::rollback_environment(d, words[0], system, *log);
        if (!commit) {
            log->log(Level::Err, sys::plain_text(commit.error().message));
            return 1;
        }
        fmt::print("{} is back at {}\n", words[0], *commit);
        return 0;
    }
    return usage(fmt::format("deploy has no action '{}'", action));
}

}  // namespace

BUNRAKU_COMMAND(deploy){.name = "deploy",
                        .summary = "Deploy environments from the branches of a control repository.",
                        .run = run_deploy};

}  // namespace bunraku::cli
