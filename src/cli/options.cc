// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/usage.h"
#include "compile/reference/help_text.h"
#include "core/base/did_you_mean.h"
#include "core/base/text.h"
#include "core/config/known_settings.h"
#include "core/config/settings_table.h"

namespace bunraku::cli {

namespace {

/// Converts dashes to underscores. Settings have underscores, but options may use dashes too.
std::string canonical(std::string_view name) {
    std::string text(name);
    std::replace(text.begin(), text.end(), '-', '_');
    return text;
}

/// Makes the output of a command JSON by whichever options it has for that; false if it has none.
template <class Option>
bool ask_for_json(std::vector<Option>& options) {
    bool found = false;
    for (Option& option : options) {
        if (option.name == "json" && option.flag) {
            *option.flag = true;
        } else if (option.name == "render_as" && option.value) {
            *option.value = "json";
        } else {
            continue;
        }
        found = true;
    }
    if (found) return true;
    for (Option& option : options) {
        if (option.name != "format" || !option.value) continue;
        *option.value = "json";
        return true;
    }
    return false;
}

/// Sets PATH from the setting `path`, and appends the folders of administrative programs, which are
/// not in the PATH of ordinary users. Puppet 8.11 does the same (defaults.rb).
void set_search_path(const config::Settings& settings) {
    std::string path = settings.text("path");
    if (path == "none") {
        const char* inherited = std::getenv("PATH");
        if (!inherited) return;
        path = inherited;
    }
    for (const std::string_view folder : {"/usr/sbin", "/sbin"}) {
        const auto folders = base::words(path, ":");
        if (std::ranges::find(folders, folder) != folders.end()) continue;
        if (!path.empty()) path += ':';
        path += folder;
    }
    ::setenv("PATH", path.c_str(), 1);
}

std::optional<bool> parse_boolean(std::string_view text) {
    if (text == "true" || text == "yes" || text == "1") return true;
    if (text == "false" || text == "no" || text == "0") return false;
    return std::nullopt;
}

/// Returns the error for an unknown `--setting NAME=..`, or an empty string. Commands that compile
/// accept names from other versions of Puppet, which `$settings::NAME` returns, unless they are
/// probably misspelt.
std::string unknown_setting(std::string_view command, const std::string& name) {
    if (config::is_known_setting(name) || config::is_gone_setting(name)) return {};
    const auto near = config::similar_settings(name);
    constexpr std::string_view kCompile[] = {"compile", "eval", "lookup", "parser", "test"};
    const bool compiles = std::ranges::find(kCompile, command) != std::end(kCompile);
    if (near.empty() && compiles) return {};
    return fmt::format(
        "Unknown setting '{}'{}", name,
        near.empty() ? std::string() : fmt::format(": did you mean {}?", fmt::join(near, " or ")));
}

}  // namespace

void OptionParser::flag(std::string name, bool* target) {
    options_.push_back({.name = canonical(name), .flag = target});
}
void OptionParser::value(std::string name, std::string* target) {
    options_.push_back({.name = canonical(name), .value = target});
}
void OptionParser::list(std::string name, std::vector<std::string>* target) {
    options_.push_back({.name = canonical(name), .list = target});
}

void OptionParser::add_builtins() {
    // A command's own option of the same name is registered earlier and has precedence.
    flag("help", &help_requested);
    flag("h", &help_requested);
    flag("debug", &debug_);
    flag("d", &debug_);
    flag("verbose", &verbose_);
    flag("v", &verbose_);
    value("log-format", &log_format);
    flag("explain-errors", &explain_errors);
    value("log-level", &level_text_);
    value("color", &color);
    list("setting", &setting_pairs_);
}

bool OptionParser::plain_system_errors() const {
    return prints_plain_system_errors(invocation_.command);
}

std::string OptionParser::given_code() const {
    std::string code;
    for (const Option& option : options_) {
        if (option.name != "e" && option.name != "execute") continue;
        if (option.value) code += *option.value;
        if (!option.list) continue;
        for (const auto& part : *option.list) code += (code.empty() ? "" : "\n") + part;
    }
    return code;
}

namespace {

/// Implements --configprint: prints one value, or "name = value" for several or all settings.
/// Returns false if a name is unknown.
bool print_settings(const config::Settings& settings, const std::string& wanted) {
    std::vector<std::string> names;
    if (wanted == "all") {
        for (const auto& spec : config::kSettings) names.emplace_back(spec.name);
    } else {
        for (const std::string_view name : base::words(wanted, ", ")) names.emplace_back(name);
    }
    std::ranges::sort(names);
    for (const std::string& name : names) {
        if (!config::find_setting(name)) {
            fmt::print("invalid setting: {}\n", name);
            return false;
        }
        if (name == wanted) {
            fmt::print("{}\n", settings.text(name));
        } else {
            fmt::print("{} = {}\n", name, settings.text(name));
        }
    }
    return true;
}

}  // namespace

bool OptionParser::refuse(const std::string& text) {
    fmt::print(stderr, "Error: {}\n", text);
    return false;
}

bool OptionParser::fail(const std::string& text) {
    refuse("Could not parse application options: " + text);
    // Puppet prints no hint.
    if (invocation_.program != "puppet")
        fmt::print(stderr, "{}\n", usage_hint(invocation_.command, invocation_.program));
    return false;
}

const OptionParser::Option* OptionParser::lookup(std::string_view name, bool* ambiguous) const {
    *ambiguous = false;
    for (const Option& o : options_) {
        if (o.name == name) return &o;
    }
    if (name.size() < 2) return nullptr;
    const Option* found = nullptr;
    for (const Option& o : options_) {
        if (o.name.size() < 2 || !std::string_view(o.name).starts_with(name)) continue;
        if (found && found->name != o.name) {
            *ambiguous = true;
            return nullptr;
        }
        found = &o;
    }
    return found;
}

bool OptionParser::apply(const Option& option, std::string_view value, bool negated) {
    if (option.flag) {
        *option.flag = !negated;
        // If an option is both a flag of the command and a setting, set both.
        if (config::find_setting(option.name)) {
            invocation_.settings.set(option.name, negated ? "false" : "true");
        }
    } else if (option.value) {
        *option.value = value;
        // The option --path names a folder of code, but the setting is the PATH of programs.
        if (config::find_setting(option.name) && option.name != "path") {
            invocation_.settings.set(option.name, config::translated(value));
        }
    } else if (option.list) {
        option.list->emplace_back(value);
    } else if (option.boolean_setting) {
        invocation_.settings.set(option.setting, negated ? "false" : "true");
    } else {
        invocation_.settings.set(option.setting, config::translated(value));
    }
    return true;
}

bool OptionParser::parse_long(std::string_view text, std::size_t* index) {
    std::string_view name = text.substr(2), value;
    bool has_value = false;
    if (std::size_t eq = name.find('='); eq != std::string_view::npos) {
        value = name.substr(eq + 1);
        name = name.substr(0, eq);
        has_value = true;
    }
    const std::string key = canonical(name);
    bool ambiguous = false, negated = false;
    Option as_setting;
    const auto find_setting_option = [&](const std::string& n) -> const Option* {
        const config::SettingSpec* spec = config::find_setting(n);
        // A Bunraku setting that help pages list as an option.
        if (!spec && n != "full_check_interval") return nullptr;
        as_setting.setting = n;
        as_setting.name = n;
        as_setting.boolean_setting = spec && spec->kind == config::SettingSpec::Kind::Boolean;
        return &as_setting;
    };
    // Exact names have precedence, then settings, then prefixes.
    const Option* option = nullptr;
    for (const Option& o : options_) {
        if (o.name == key) {
            option = &o;
            break;
        }
    }
    if (!option) option = find_setting_option(key);
    if (!option && key.starts_with("no_")) {
        std::string positive = key.substr(3);
        option = lookup(positive, &ambiguous);
        if (!option) option = find_setting_option(positive);
        if (option && option->takes_value() && option->name != "color") option = nullptr;
        negated = option != nullptr;
        if (negated && option->name == "color") {
            color = "false";
            return true;
        }
    }
    if (!option && key == "json" && !has_value) {
        if (ask_for_json(options_)) return true;
        return fail(fmt::format("{} has no output in JSON", invocation_.command));
    }
    if (!option) option = lookup(key, &ambiguous);
    if (ambiguous) return fail(fmt::format("ambiguous option: {}", text));
    if (!option) {
        const std::string_view option_text = text.substr(0, name.size() + 2);
        const bool no = key.starts_with("no_");
        const std::string_view prefix = no ? "--no-" : "--";
        std::vector<std::string> names;
        for (const Option& o : options_)
            if (o.name.size() > 1 && !(no && o.takes_value())) names.push_back(o.name);
        for (const auto& spec : config::kSettings)
            if (!no || spec.kind == config::SettingSpec::Kind::Boolean)
                names.emplace_back(spec.name);
        const std::string near =
            base::did_you_mean(option_text.substr(prefix.size()), names, prefix);
        return fail(fmt::format("invalid option: {}{}{}", option_text, near.empty() ? "" : "\n",
                                base::trim(near)));
    }
    if (!option->takes_value()) {
        if (has_value) {
            auto truth = parse_boolean(value);
            if (!truth) return fail(fmt::format("invalid argument: {}", text));
            negated = !*truth;
        }
        return apply(*option, {}, negated);
    }
    if (!has_value) {
        if (*index + 1 >= invocation_.args.size()) {
            return fail(fmt::format("missing argument: {}", text));
        }
        value = invocation_.args[++*index];
    }
    return apply(*option, value, negated);
}

bool OptionParser::parse_short(std::string_view text, std::size_t* index) {
    // "-dv" is two flags; "-eCODE" is an option with its value.
    for (std::size_t i = 1; i < text.size(); ++i) {
        const Option* option = nullptr;
        for (const Option& o : options_) {
            if (o.name.size() == 1 && o.name[0] == text[i]) {
                option = &o;
                break;
            }
        }
        if (!option) return fail(fmt::format("invalid option: -{}", text[i]));
        if (!option->takes_value()) {
            apply(*option, {}, false);
            continue;
        }
        std::string_view value = text.substr(i + 1);
        if (value.empty()) {
            if (*index + 1 >= invocation_.args.size()) {
                return fail(fmt::format("missing argument: -{}", text[i]));
            }
            value = invocation_.args[++*index];
        }
        return apply(*option, value, false);
    }
    return true;
}

bool OptionParser::parse_words(std::vector<std::string>* positional) {
    const auto& args = invocation_.args;
    const auto has_short = [&](char letter) {
        return std::ranges::any_of(
            options_, [&](const Option& o) { return o.name == std::string_view(&letter, 1); });
    };
    for (std::size_t i = 0; i < args.size(); ++i) {
        std::string_view text = args[i];
        if (text == "--") {
            positional->insert(positional->end(), args.begin() + static_cast<long>(i) + 1,
                               args.end());
            break;
        }
        if (text.size() > 2 && text.starts_with("--")) {
            if (!parse_long(text, &i)) return false;
        } else if (text == "-o" && i + 1 < args.size() && !has_short('o')) {
            if (args[++i] != "json") return fail(fmt::format("-o is json, not '{}'", args[i]));
            if (!ask_for_json(options_))
                return fail(fmt::format("{} has no output in JSON", invocation_.command));
        } else if (text.size() > 1 && text[0] == '-') {
            if (!parse_short(text, &i)) return false;
        } else {
            positional->emplace_back(text);
        }
    }
    return true;
}

bool OptionParser::apply_settings() {
    for (const std::string& pair : setting_pairs_) {
        std::size_t eq = pair.find('=');
        if (eq == std::string::npos || eq == 0) {
            return fail(fmt::format("--setting needs KEY=VALUE, not '{}'", pair));
        }
        const auto name = pair.substr(0, eq);
        if (const auto problem = unknown_setting(invocation_.command, name); !problem.empty())
            return fail(problem);
        invocation_.settings.set(name, pair.substr(eq + 1));
    }
    for (const config::LevelChange& row : config::level_changes()) {
        const bool removed = row.kind == config::LevelChange::Kind::Removed &&
                             config::changed(invocation_.settings.compatibility(), row.change);
        if (removed && invocation_.settings.on_command_line(row.name))
            return fail(fmt::format("invalid option: --{}", row.name));
    }
    return true;
}

bool OptionParser::read_log_options() {
    if (log_format != "text" && log_format != "json" && log_format != "sarif") {
        return fail(fmt::format("--log-format is text, json or sarif, not '{}'", log_format));
    }
    if (level_text_.empty() && invocation_.settings.is_set("log_level")) {
        level_text_ = invocation_.settings.text("log_level");
    }
    if (!level_text_.empty()) {
        log_level = base::level_from_name(level_text_ == "error" ? "err" : level_text_);
        if (!log_level) {
            return refuse(
                fmt::format("Could not initialize global default settings: Invalid "
                            "loglevel {}",
                            level_text_));
        }
    }
    if (verbose_) log_level = base::Level::Info;
    if (debug_) log_level = base::Level::Debug;
    if (color.empty() && invocation_.settings.is_set("color")) {
        color = invocation_.settings.text("color");
    }
    return true;
}

bool OptionParser::parse(std::vector<std::string>* positional) {
    add_builtins();
    if (!parse_words(positional)) return false;
    if (help_requested) {
        const std::string help =
            reference::for_terminal(reference::help_text(command_help(invocation_.command)));
        std::fwrite(help.data(), 1, help.size(), stdout);
        return false;
    }
    if (!apply_settings()) return false;
    if (const auto names = invocation_.settings.text("configprint"); !names.empty()) {
        help_requested = print_settings(invocation_.settings, names);
        return false;
    }
    for (std::string_view gone : {"genconfig", "genmanifest"}) {
        if (invocation_.settings.is_set(gone) && invocation_.settings.text(gone) != "false") {
            return fail(fmt::format("--{} is not supported: see '{} config print'", gone,
                                    invocation_.program));
        }
    }
    if (!read_log_options()) return false;
    // `config` must work with invalid settings so that the user can repair them. It reports
    // problems itself.
    if (invocation_.command == "config") return true;
    if (auto problem = invocation_.settings.start_problem()) {
        return refuse("Could not initialize global default settings: " + *problem);
    }
    if (auto problem = invocation_.settings.any_problem()) return refuse(*problem);
    set_search_path(invocation_.settings);
    return true;
}

}  // namespace bunraku::cli
