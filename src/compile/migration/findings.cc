// SPDX-License-Identifier: Apache-2.0
#include "compile/migration/findings.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

#include "compile/migration/environments.h"
#include "compile/reference/documents.h"
#include "compile/site/puppetdb_client.h"
#include "core/base/text.h"
#include "core/codec/ini.h"
#include "core/codec/yaml.h"
#include "core/config/known_settings.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "core/sys/process.h"
#include "language/environment/conf.h"
#include "language/ruby/process.h"
#include "modules/module/installed.h"
#include "net/http/auth_conf.h"
#include "net/pki/authority.h"

namespace bunraku::migration {

namespace {

using Weight = MigrationFinding::Weight;

class Check {
public:
    Check(const config::Settings& settings, base::LogSink& log) : settings_(settings), log_(log) {}

    std::vector<MigrationFinding> run() {
        puppet_conf();
        puppetdb_conf();
        auth_conf();
        authority();
        classifier();
        other_files();
        const auto folders = environment_folders(settings_, files_);
        for (const auto& folder : folders) environment(folder);
        if (folders.empty())
            add(Weight::Note, settings_.text("environmentpath"), "contains no environment");
        hiera(settings_.text("hiera_config"), true);
        if (ruby_ > 0 && ruby::find_ruby(settings_.text("ruby_program")).empty())
            add(Weight::Broken, "ruby",
                fmt::format("{} modules contain Ruby code, but this machine has no Ruby", ruby_));
        return std::move(findings_);
    }

private:
    void add(Weight weight, std::string where, std::string text) {
        findings_.push_back({weight, std::move(where), std::move(text)});
    }

    void puppet_conf() {
        const std::string path = settings_.text("config");
        const auto text = files_.read(path);
        if (!text) {
            add(Weight::Note, path, "does not exist or cannot be read; the defaults apply");
            return;
        }
        const auto ini = codec::parse_ini(*text);
        if (!ini) {
            add(Weight::Broken, path, ini.error().message);
            return;
        }
        for (const auto& section : ini->sections) {
            for (const auto& entry : section.entries) {
                const std::string where = fmt::format("{} [{}]", path, section.name);
                const auto* idle = config::find_idle_setting(entry.name);
                if (config::is_gone_setting(entry.name)) {
                    add(Weight::Note, where,
                        entry.name + " was removed in Puppet 8 and has no effect");
                } else if (idle) {
                    add(Weight::Differs, where,
                        fmt::format("{} has no effect here: {}", entry.name, idle->instead));
                } else if (!config::is_known_setting(entry.name)) {
                    add(Weight::Note, where,
                        entry.name + " is not a setting of Puppet 8; a module may read it");
                }
            }
        }
        if (const auto problem = settings_.start_problem()) add(Weight::Broken, path, *problem);
        if (const auto problem = settings_.any_problem()) add(Weight::Broken, path, *problem);
    }

    void puppetdb_conf() {
        const std::string path = sys::join(settings_.text("confdir"), "puppetdb.conf");
        const auto text = files_.read(path);
        if (!text) return;
        const auto config = site::PuppetdbConfig::parse(*text, path);
        if (!config) {
            add(Weight::Broken, path, config.error().message);
            return;
        }
        add(Weight::Note, path,
            fmt::format("exported resources and facts go to {}; without this file the store is the "
                        "server's own",
                        fmt::join(config->server_urls, ", ")));
    }

    void auth_conf() {
        const auto read = http::read_authorization(settings_, log_);
        if (!read) add(Weight::Broken, "auth.conf", read.error().message);
    }

    /// Reports a CA that cannot move back to puppetserver, which signs with RSA keys only.
    void authority() {
        const std::string path = settings_.text("cakey");
        if (!files_.exists(path)) {
            const bool rsa = settings_.text("ca_key_type") == "rsa";
            if (!rsa && !files_.exists(settings_.text("hostcert"))) {
                add(Weight::Note, path,
                    "a new CA gets a P-256 key, but puppetserver 7 and 8 only sign with "
                    "RSA keys: set ca_key_type = rsa to be able to move back");
            }
            return;
        }
        const auto key = pki::read_private_key(path);
        if (!key) {
            add(Weight::Broken, path, key.error().message);
        } else if (!key->is_rsa()) {
            add(Weight::Note, path,
                "the key of the CA is not RSA, but puppetserver 7 and 8 only sign with RSA keys: "
                "this CA cannot be moved back to them");
        } else if (settings_.is_set("ca_key_type") && settings_.text("ca_key_type") != "rsa") {
            add(Weight::Note, "ca_key_type",
                "the next authority of a roll-over gets a P-256 key, and puppetserver 7 and 8 "
                "sign with RSA only: from then on there is no way back. Without this setting it "
                "stays RSA");
        }
    }

    void classifier() {
        const std::string terminus = settings_.text("node_terminus");
        if (terminus == "exec") {
            const std::string program = settings_.text("external_nodes");
            const std::string file = program.substr(0, program.find(' '));
            if (!files_.access(file, 1 /* X_OK */))
                add(Weight::Broken, "external_nodes", fmt::format("{} is not executable", program));
        } else if (terminus != "plain" && !terminus.empty()) {
            add(Weight::Differs, "node_terminus",
                fmt::format("'{}' is not supported here: use plain or exec", terminus));
        }
        static constexpr std::string_view kKnown[] = {"store", "log", "http", "puppetdb", "none"};
        const std::string reports = settings_.text("reports");
        for (const auto part : base::split(reports, ',')) {
            const auto name = base::trim(part);
            if (!name.empty() && std::ranges::find(kKnown, name) == std::end(kKnown))
                add(Weight::Note, "reports",
                    fmt::format("'{}' must be a Ruby report processor of a module", name));
        }
    }

    void other_files() {
        const std::string routes = settings_.text("route_file");
        if (const auto text = files_.read(routes)) {
            const auto data = codec::parse_yaml(*text, routes);
            if (!data) {
                add(Weight::Broken, routes, data.error().message);
            } else {
                for (const auto& part : data->entries)
                    for (const auto& route : part.second.entries)
                        for (const auto& kind : route.second.entries)
                            if (kind.second.text != "puppetdb" && kind.second.text != "yaml" &&
                                kind.second.text != "json" && kind.second.text != "compiler" &&
                                kind.second.text != "facter")
                                add(Weight::Differs, routes,
                                    fmt::format("{}: {}: the terminus {} is not supported",
                                                route.first.text, kind.first.text,
                                                kind.second.text));
            }
        }
        if (files_.exists(settings_.text("deviceconfig")))
            add(Weight::Differs, settings_.text("deviceconfig"),
                "network devices are not supported: keep `puppet device` on its machine");
        const std::string gems = "/opt/puppetlabs/server/data/puppetserver/jruby-gems/gems";
        if (const auto names = files_.list(gems); names && !names->empty())
            add(Weight::Note, gems,
                fmt::format("gems of puppetserver are not used; install them for the system's Ruby "
                            "if modules need them: {}",
                            fmt::join(*names, ", ")));
    }

    void environment(const std::string& folder) {
        base::MemorySink messages;
        std::shared_ptr<const environment::Environment> opened;
        try {
            opened = open_environment(settings_, folder, messages);
        } catch (const base::PuppetError& e) {
            add(Weight::Broken, folder, e.full_text());
            return;
        }
        for (const auto& record : messages.records) add(Weight::Note, folder, record.message);
        if (const auto conflict = opened->conflict(); !conflict.empty())
            add(Weight::Broken, folder, conflict);
        std::size_t manifests = 0;
        const auto check = [&](const std::string& in, const char* part) {
            for (const auto& name_there :
                 reference::files_below(opened->files(), in, part, ".pp")) {
                const std::string file = in + "/" + name_there;
                ++manifests;
                const auto parsed = opened->parse_file(file);
                if (!parsed) continue;
                if (parsed->error) add(Weight::Broken, file, parsed->error->full_text());
                for (const auto& finding : parsed->findings)
                    if (finding.level >= base::Level::Err)
                        add(Weight::Broken, file,
                            fmt::format("{} (line {})", finding.message, finding.where.line));
            }
        };
        check(folder, "manifests");
        hiera(folder + "/hiera.yaml", false);
        for (const auto& module : opened->modules()) {
            if (!seen_.insert(module.path).second) continue;
            for (const char* part : {"manifests", "functions", "types"}) check(module.path, part);
            hiera(module.path + "/hiera.yaml", false);
            ruby_of(module.path, *opened);
        }
        add(Weight::Note, folder,
            fmt::format("{} modules, {} manifests not already checked in another environment",
                        opened->modules().size(), manifests));
        const auto installed = module::InstalledModules::load(opened->modulepath());
        if (!installed) {
            add(Weight::Broken, folder, installed.error().message);
            return;
        }
        for (const auto* module : installed->effective())
            for (const auto& unmet : installed->unmet(*module))
                add(Weight::Note, module->path,
                    unmet.reason == module::InstalledModules::Unmet::Reason::Missing
                        ? fmt::format("needs {} ({}), which is not installed", unmet.name,
                                      unmet.constraint)
                        : fmt::format("needs {} {}, but {} is installed", unmet.name,
                                      unmet.constraint, unmet.installed_version));
    }

    /// Reports Ruby code that does not work: most Ruby runs in a child process, except code that
    /// changes Puppet itself.
    void ruby_of(const std::string& path, const environment::Environment& environment) {
        const auto found = [&](const char* part) {
            return reference::files_below(environment.files(), path, std::string("lib/") + part,
                                          ".rb")
                .size();
        };
        static constexpr std::pair<const char*, const char*> kHooks[] = {
            {"puppet/indirector", "Ruby termini are not supported"},
            {"puppet/face", "subcommands in Ruby are not supported"},
            {"puppet/application", "subcommands in Ruby are not supported"},
            {"puppet/util/network_device", "network devices are not supported"},
            {"puppet/transport", "transports of the resource API are not supported"},
            {"puppet/node", "Ruby node termini are not supported"}};
        for (const auto& [part, text] : kHooks)
            if (found(part) > 0) add(Weight::Differs, path, fmt::format("lib/{}: {}", part, text));
        if (!environment.files().list(path + "/lib").empty()) ++ruby_;
        if (!environment.files().list(path + "/plans").empty() ||
            !environment.files().list(path + "/tasks").empty())
            add(Weight::Note, path, "tasks and plans are served to Bolt; only Bolt runs them");
    }

    void hiera(const std::string& path, bool global) {
        const auto text = files_.read(path);
        if (!text) {
            if (global && settings_.is_set("hiera_config"))
                add(Weight::Note, path, "hiera_config does not exist");
            return;
        }
        const auto data = codec::parse_yaml(*text, path);
        if (!data) {
            add(Weight::Broken, path, data.error().message);
            return;
        }
        std::string version;
        for (const auto& entry : data->entries) {
            if (entry.first.text == "version") version = fmt::format("{}", entry.second.integer);
            if (entry.first.text == ":backends" || entry.first.text == ":hierarchy") version = "3";
            if (entry.first.text == "hierarchy" || entry.first.text == "default_hierarchy") {
                for (const auto& level : entry.second.items) level_of(path, level);
            }
            if (entry.first.text == "defaults") level_of(path, entry.second);
        }
        if (version == "3")
            add(Weight::Note, path,
                global ? "Hiera 3 is supported, including Ruby backends; version 5 is faster"
                       : "Hiera 3 only works in the global layer");
        if (version == "4")
            add(Weight::Note, path,
                "Hiera 4 is supported; version 5 has the same features and more");
    }

    void level_of(const std::string& path, const codec::YamlNode& level) {
        for (const auto& entry : level.entries) {
            const auto& key = entry.first.text;
            if (key == "hiera3_backend")
                add(Weight::Note, path,
                    fmt::format("hiera3_backend {} runs in Ruby", entry.second.text));
            if (key != "options") continue;
            for (const auto& option : entry.second.entries) {
                const bool is_key = option.first.text == "pkcs7_private_key" ||
                                    option.first.text == "pkcs7_public_key";
                if (is_key && option.second.text.find("%{") == std::string::npos &&
                    !files_.access(option.second.text, 4 /* R_OK */))
                    add(Weight::Broken, path,
                        fmt::format("{} {} cannot be read", option.first.text, option.second.text));
                if (option.first.text == "gpg_gnupghome")
                    add(Weight::Differs, path, "eyaml with GPG needs its Ruby gem");
            }
        }
    }

    const config::Settings& settings_;
    base::LogSink& log_;
    sys::FileSystem& files_ = sys::disk();
    std::vector<MigrationFinding> findings_;
    std::set<std::string> seen_;
    std::size_t ruby_ = 0;
};

}  // namespace

std::vector<MigrationFinding> migration_findings(const config::Settings& settings,
                                                 base::LogSink& log) {
    return Check(settings, log).run();
}

std::vector<std::string_view> settings_without_effect() {
    std::vector<std::string_view> out;
    for (const auto& one : config::idle_settings()) out.push_back(one.name);
    return out;
}

}  // namespace bunraku::migration
