// SPDX-License-Identifier: Apache-2.0
// `config print`, `set` and `delete`: prints settings, and changes them in the configuration file.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/node_options.h"
#include "compile/site/view.h"
#include "core/base/plain_error.h"
#include "core/codec/ini.h"
#include "core/codec/json_text.h"
#include "core/config/setting_lists.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "core/sys/wording.h"
#include "language/environment/environment.h"

namespace bunraku::cli {

namespace {

using Kind = config::SettingSpec::Kind;

std::string quoted_list(const std::vector<std::string>& items) {
    std::string out;
    for (const std::string& item : items) {
        out += fmt::format("{}\"{}\"", out.empty() ? "" : ", ", item);
    }
    return "[" + out + "]";
}

/// Returns a value as Puppet prints it. Throws if the value is invalid.
std::string printed(const config::Settings& settings, std::string_view name) {
    if (auto problem = settings.problem(name)) throw base::plain_error(*problem);
    const config::SettingSpec* spec = config::find_setting(name);
    if (spec && spec->kind == Kind::List) return quoted_list(settings.list(name));
    if (spec && spec->kind == Kind::Headers) {
        std::string out;
        for (const std::string& item : settings.list(name)) {
            out += (out.empty() ? "" : ", ") + quoted_list(config::split_path(item));
        }
        return "[" + out + "]";
    }
    return settings.text(name);
}

/// Adds the settings of environment.conf, which take precedence over puppet.conf but not over the
/// command line. They apply even without an environment.conf, because the environment's own folders
/// are the defaults.
void add_environment(config::Settings& settings, base::LogSink& log) {
    std::shared_ptr<const environment::Environment> found;
    try {
        found = site::Site(settings, site_options(log)).environment({});
        if (found->directory().empty()) found = nullptr;
    } catch (const base::PuppetError&) {
        // If the environment cannot be opened, nothing is added.
    }
    const auto add = [&](std::string_view name, std::string value) {
        // Only the command line has precedence, because no other source may set these three.
        if (!settings.is_set(name)) settings.set(std::string(name), std::move(value));
    };
    if (!found) {
        if (site::environment_spec(settings).name == "production") add("manifest", "no_manifest");
        return;
    }
    add("modulepath", fmt::format("{}", fmt::join(found->modulepath(), ":")));
    add("manifest", found->manifest());
    add("config_version", found->config_version());
    for (std::string_view name : {"environment_timeout", "environment_data_provider",
                                  "static_catalogs", "rich_data", "compatibility"}) {
        if (auto value = found->conf(name); value && !settings.on_command_line(name)) {
            settings.set(std::string(name), config::translated(*value));
        }
    }
}

int print_settings(config::Settings& settings, const std::vector<std::string>& names, bool as_json,
                   base::LogSink& log) {
    add_environment(settings, log);
    const bool everything = names.empty() || (names.size() == 1 && names[0] == "all");
    if (names.size() == 1 && !everything && !as_json) {
        // For an unknown name, Puppet prints an empty line.
        fmt::print("{}\n", config::find_setting(names[0]) ? printed(settings, names[0]) : "");
        return 0;
    }
    std::vector<std::string> all = names;
    if (everything) {
        all.clear();
        for (const auto& spec : config::kSettings) all.emplace_back(spec.name);
    }
    std::sort(all.begin(), all.end());
    std::string out;
    for (const std::string& name : all) {
        const auto value = config::find_setting(name) ? printed(settings, name) : "";
        if (as_json)
            out += fmt::format("{}{}:{}", out.empty() ? "{" : ",", codec::json_string(name),
                               codec::json_string(value));
        else
            out += fmt::format("{} = {}\n", name, value);
    }
    if (as_json) out += "}\n";
    std::fwrite(out.data(), 1, out.size(), stdout);
    return 0;
}

/// Returns the text of the configuration file, or nullopt if it does not exist. Throws on errors.
std::optional<std::string> read_config(const std::string& path) {
    auto text = sys::disk().read(path);
    if (text) return *text;
    if (text.error().code == ENOENT) return std::nullopt;
    throw base::plain_error(sys::plain_text(text.error().message));
}

void write_config(const std::string& path, const std::string& text) {
    auto& files = sys::disk();
    auto made = files.make_directories(std::string(sys::directory_name(path)), 0755);
    // Preserve the owner and permissions of the file.
    sys::WriteOptions options{.mode = 0644};
    if (auto old = files.stat(path))
        options = {.mode = old->mode, .uid = old->uid, .gid = old->gid};
    auto written = made ? files.replace(path, text, options) : made;
    if (!written) throw base::plain_error(sys::plain_text(written.error().message));
}

constexpr std::string_view kEnvironmentInMain =
    "The environment should be set in either the `[user]`, `[agent]`, or `[server]`\n"
    "section. Variables set in the `[agent]` section are used when running\n"
    "`puppet agent`. Variables set in the `[user]` section are used when running\n"
    "various other puppet subcommands, like `puppet apply` and `puppet module`; these\n"
    "require the defined environment directory to exist locally. Set the config\n"
    "section by using the `--section` flag. For example,\n"
    "`puppet config --section user set environment foo`. For more information, see\n"
    "https://puppet.com/docs/puppet/latest/configuration.html#environment";

/// Deletes `name` from `section` and prints its value. Returns false if it was not set.
bool take_out(std::string& text, const std::string& section, const std::string& name,
              std::string_view more) {
    const auto file = codec::parse_ini(text);
    const codec::IniEntry* entry = file ? file->find(section, name) : nullptr;
    if (!entry) return false;
    fmt::print("Deleted setting from '{}': '{} = {}'{}\n", section, name, entry->value, more);
    text = codec::remove_ini_value(text, section, name);
    return true;
}

int set_value(config::Settings& settings, std::string section, const std::string& name,
              const std::string& value, base::LogSink& log) {
    if (name == "environment" && section == "main") {
        log.log(base::Level::Warning, std::string(kEnvironmentInMain));
    }
    if (config::find_setting(name)) {
        const auto before = settings.start_problem();
        settings.set(name, config::translated(value));
        if (auto problem = settings.problem(name)) throw base::plain_error(*problem);
        if (auto problem = settings.start_problem(); problem && problem != before) {
            throw base::plain_error(*problem);
        }
    }
    const std::string path = settings.text("config");
    std::string text = read_config(path).value_or("");
    if (section == "master") {
        take_out(text, section, name, ", and adding it to 'server' section");
        section = "server";
    }
    write_config(path, codec::set_ini_value(text, section, name, value));
    return 0;
}

int delete_value(const config::Settings& settings, const std::string& section,
                 const std::string& name, base::LogSink& log) {
    const std::string path = settings.text("config");
    auto text = read_config(path);
    if (!text) {
        log.log(base::Level::Warning, fmt::format("The puppet.conf file does not exist {}", path));
        return 0;
    }
    std::vector<std::string> sections{section};
    if (section == "master" || section == "server") sections = {"master", "server"};
    bool found = false;
    for (const std::string& one : sections) found |= take_out(*text, one, name, "");
    if (found) {
        write_config(path, *text);
    } else {
        log.log(base::Level::Warning,
                fmt::format("No setting found in configuration file for section '{}' setting "
                            "name '{}'",
                            section, name));
    }
    return 0;
}

void expect_arguments(const Invocation& invocation, const std::string& action, std::size_t wanted,
                      std::size_t given) {
    if (given == wanted) return;
    throw base::plain_error(fmt::format("{} config {} takes {} argument{}, but you gave {}",
                                        invocation.program, action, wanted, wanted == 1 ? "" : "s",
                                        given));
}

int run_config(Invocation& invocation) {
    std::string section;
    std::string render_as;
    bool as_json = false;
    OptionParser options(invocation);
    options.value("section", &section);
    options.value("render-as", &render_as);
    options.flag("json", &as_json);
    std::vector<std::string> words;
    if (!options.parse(&words)) return options.exit_code();
    auto sink = make_console_sink(options);
    if (words.empty()) {
        throw base::plain_error(fmt::format(
            "'config' has no default action.  See `{} help config`.", invocation.program));
    }
    const std::string action = words[0];
    words.erase(words.begin());
    if (section.empty()) section = "main";
    config::Settings& settings = invocation.settings;
    if (action == "print") {
        if (!render_as.empty() && render_as != "console" && render_as != "json")
            throw base::plain_error(
                fmt::format("--render-as is console or json, not '{}'", render_as));
        as_json |= render_as == "json";
        // Reads the file again for that section; the command line retains its precedence. An error
        // is ignored here, because the first read has already reported it.
        (void)settings.load_file(settings.text("config"), section);
        if (auto problem = settings.start_problem()) {
            throw base::plain_error("Could not initialize global default settings: " + *problem);
        }
        if (!settings.is_set("name")) settings.set("name", "config");
        return print_settings(settings, words, as_json, *sink);
    }
    if (action == "set") {
        expect_arguments(invocation, action, 2, words.size());
        return set_value(settings, section, words[0], words[1], *sink);
    }
    if (action == "delete") {
        expect_arguments(invocation, action, 1, words.size());
        return delete_value(settings, section, words[0], *sink);
    }
    throw base::plain_error(fmt::format("'config' has no '{}' action.  See `{} help config`.",
                                        action, invocation.program));
}

}  // namespace

BUNRAKU_COMMAND(config){
    .name = "config", .summary = "Interact with Puppet's settings.", .run = run_config};

}  // namespace bunraku::cli
