// SPDX-License-Identifier: Apache-2.0
#include "services/agent/apply_session.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>

#include "core/config/compatibility.h"
#include "core/config/setting_lists.h"
#include "core/sys/ruby_folders.h"
#include "core/value/build.h"
#include "language/environment/conf.h"
#include "net/http/message.h"
#include "resources/facts/facts.h"

namespace bunraku::agent {
namespace {

// Parses a duration such as "32d", "12h" or "3600".
std::int64_t seconds_of(const std::string& text) {
    char* end = nullptr;
    long n = std::strtol(text.c_str(), &end, 10);
    switch (end ? *end : '\0') {
        case 'y': return n * 365L * 86400;
        case 'd': return n * 86400L;
        case 'h': return n * 3600L;
        case 'm': return n * 60L;
        default: return n;
    }
}

/// Returns the folders that Puppet's autoloader searches: the lib folders of modules, the machine's
/// plugin folder, and Ruby's load path.
std::vector<std::string> plugin_folders(const environment::Environment& environment,
                                        const std::string& libdir) {
    std::vector<std::string> out;
    for (const auto& module : environment.modules()) out.push_back(module.path + "/lib");
    if (!libdir.empty()) out.push_back(libdir);
    const auto& more = sys::ruby_plugin_folders();
    out.insert(out.end(), more.begin(), more.end());
    return out;
}

apply::RubyTypes::ProviderFiles provider_files(const std::vector<std::string>& folders) {
    namespace fs = std::filesystem;
    apply::RubyTypes::ProviderFiles out;
    const auto add = [&](const std::string& lib) {
        std::error_code none;
        for (const auto& type : fs::directory_iterator(lib + "/puppet/provider", none)) {
            if (!type.is_directory(none)) continue;
            auto& of_type = out[type.path().filename()];
            for (const auto& file : fs::directory_iterator(type.path(), none))
                if (file.path().extension() == ".rb") of_type.push_back(file.path());
        }
    };
    for (const std::string& lib : folders) add(lib);
    for (auto& [type, files] : out) std::ranges::sort(files);
    return out;
}

/// Creates the folders that Puppet creates before a run. The log folder belongs to the user and
/// group of the settings, if they exist. A failure does not stop the run.
void make_folders(const config::Settings& settings, sys::System& system) {
    for (const std::string_view name : {"plugindest", "pluginfactdest"}) {
        const std::string folder = settings.text(name);
        if (!folder.empty() && !system.files.exists(folder))
            (void)system.files.make_directories(folder, 0755);
    }
    const std::string folder = settings.text("logdir");
    if (folder.empty() || system.files.exists(folder)) return;
    if (!system.files.make_directories(folder, 0750) || !system.users.is_root()) return;
    const auto user = system.users.user(settings.text("user"));
    const auto group = system.users.group(settings.text("group"));
    if (user || group) {
        (void)system.files.set_owner(folder, user ? std::optional(user->uid) : std::nullopt,
                                     group ? std::optional(group->gid) : std::nullopt, false);
    }
}

apply::RunSettings run_settings_of(const config::Settings& s) {
    apply::RunSettings out;
    out.lastrunfile = s.text("lastrunfile");
    out.lastrunreport = s.text("lastrunreport");
    out.reportdir = s.text("reportdir");
    // Without reports, only the summary of the last run is written.
    const bool reports = s.boolean("report");
    if (!reports) out.lastrunreport.clear();
    out.store_report = false;
    const auto processors = report_processors(s);
    out.store_report = std::ranges::find(processors, "store") != processors.end();
    out.prerun_command = s.text("prerun_command");
    out.postrun_command = s.text("postrun_command");
    out.puppet_version = std::string(config::puppet_version(s.compatibility()));
    return out;
}

}  // namespace

ApplySession::ApplySession(const config::Settings& settings, base::LogSink& log, bool applies)
    : sink_(log, system_.clock),
      context_{.system = system_, .log = sink_},
      run_settings_(run_settings_of(settings)) {
    const config::Settings& s = settings;
    apply::Options& o = context_.options;
    o.noop = s.boolean("noop");
    o.show_diff = s.boolean("show_diff");
    o.ignoreschedules = s.boolean("ignoreschedules");
    o.default_schedules = s.boolean("default_schedules");
    o.evaltrace = s.boolean("evaltrace");
    o.graph = s.boolean("graph");
    o.merge_dependency_warnings = s.boolean("merge_dependency_warnings");
    o.exclude_unchanged_resources = s.boolean("exclude_unchanged_resources");
    o.preprocess_deferred = s.boolean("preprocess_deferred");
    o.tags = config::split_list(s.text("tags"));
    o.skip_tags = config::split_list(s.text("skip_tags"));
    if (auto v = s.text("digest_algorithm"); !v.empty()) o.digest_algorithm = v;
    o.diff = s.text("diff");
    o.diff_args = s.text("diff_args");
    o.level = s.compatibility();
    o.statefile = s.text("statefile");
    if (!o.statefile.empty())
        o.contentsfile = std::string(sys::directory_name(o.statefile)) + "/contents";
    // A setting that only Bunraku has.
    if (const auto v = s.get(std::string_view("full_check_interval"))) {
        const auto interval = environment::parse_ttl(*v, "full_check_interval");
        constexpr std::int64_t kNever = 100L * 365 * 86400;
        if (interval) o.full_check_interval = interval->value_or(kNever);
    }
    o.graphdir = s.text("graphdir");
    o.clientbucketdir = s.text("clientbucketdir");
    if (auto v = s.text("confdir"); !v.empty()) o.provider_folders = {v + "/providers"};
    o.statettl = seconds_of(s.text("statettl"));
    if (auto v = s.text("environment"); !v.empty()) o.environment = v;
    if (applies) make_folders(s, system_);
}

std::vector<std::string> report_processors(const config::Settings& settings) {
    if (!settings.boolean("report") || settings.text("reports") == "none") return {};
    return config::split_list(settings.text("reports"));
}

apply::RubyTypes::Parts ruby_parts(const site::Session& session, const config::Settings& settings) {
    apply::RubyTypes::Parts parts;
    parts.host = session.ruby_options();
    parts.file_of = [environment = session.environment()](std::string_view name) {
        return environment->ruby_type_file(name);
    };
    parts.setting = [&settings](std::string_view name) -> std::optional<std::string> {
        return settings.get(name);
    };
    // Providers need `osfamily`, even if it is not sent for a compile.
    parts.facts = [&session] {
        value::HashBuilder facts(*session.arena());
        const value::Value legacy = facts::legacy_facts(*session.arena(), session.facts());
        if (legacy.is_hash()) facts.merge(legacy.as_hash());
        facts.merge(session.facts().as_hash());
        return facts.build();
    };
    parts.plugin_folders = [environment = session.environment(), &settings] {
        return plugin_folders(*environment, settings.text("libdir"));
    };
    parts.provider_files = [folders = parts.plugin_folders] { return provider_files(folders()); };
    parts.host.timeout = std::chrono::hours(24);
    parts.host.memory_limit = std::uint64_t{8} << 30;
    parts.host.worker_limit = nullptr;
    return parts;
}

std::optional<std::string> ModuleContent::local_path(std::string_view given) {
    const std::string uri = http::percent_decode(given).value_or(std::string(given));
    // The URI has the form "puppet://SERVER/modules/NAME/PATH". The server part is ignored, because
    // this program replaces the server.
    std::size_t at = uri.find("://");
    if (at == std::string::npos) return std::nullopt;
    std::string_view path = std::string_view(uri).substr(at + 3);
    std::size_t slash = path.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    path.remove_prefix(slash + 1);
    constexpr std::string_view kModules = "modules/";
    if (!environment_) return std::nullopt;
    if (!path.starts_with(kModules)) return mounts_.find(*environment_, path, node_);
    path.remove_prefix(kModules.size());
    slash = path.find('/');
    std::string_view name = path.substr(0, slash);
    std::string_view rest =
        slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
    const environment::Module* module = environment_->module(name);
    if (!module) return std::nullopt;
    std::string files = sys::join(module->path, "files");
    std::string full = rest.empty() ? files : sys::expand_path(sys::join(files, rest));
    if (full != files && !full.starts_with(files + "/")) return std::nullopt;
    return full;
}

}  // namespace bunraku::agent
