// `config print` and `config set`: what settings are, and where they are written.
#include <cstdio>
#include <fmt/format.h>

#include "cli/command.h"
#include "codec/ini.h"
#include "sys/file_system.h"

namespace bunraku::cli {

namespace {

/// Puppet prints what has no value as an empty text, and unlimited durations by their word.
std::string printed(const config::Settings& settings, std::string_view name) {
    const config::SettingSpec* spec = config::find_setting(name);
    std::string text = settings.text(name);
    if (spec && spec->kind == config::SettingSpec::Kind::List) {
        std::string list;
        for (const std::string& item : settings.list(name)) {
            list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", item);
        }
        return "[" + list + "]";
    }
    return text;
}

int print_settings(const config::Settings& settings, const std::vector<std::string>& names) {
    if (names.size() == 1 && names[0] != "all") {
        if (!settings.get(names[0])) {
            // Puppet prints an empty line for a name it does not know.
            fmt::print("\n");
            return 0;
        }
        fmt::print("{}\n", printed(settings, names[0]));
        return 0;
    }
    std::vector<std::string> all = names;
    if (names.empty() || names[0] == "all") all = settings.names();
    for (const std::string& name : all) fmt::print("{} = {}\n", name, printed(settings, name));
    return 0;
}

int change_setting(const config::Settings& settings, const std::string& section,
                   const std::string& name, const std::string* value) {
    auto files = sys::make_real_file_system();
    const std::string path = settings.text("config");
    auto text = files->read(path);
    std::string old = text ? *text : "";
    std::string made = value ? codec::set_ini_value(old, section, name, *value)
                             : codec::remove_ini_value(old, section, name);
    auto directory = files->make_directories(std::string(sys::directory_name(path)), 0755);
    auto written = directory ? files->replace(path, made, {.mode = 0644}) : directory;
    if (!written) {
        fmt::print(stderr, "Error: {}\n", written.error().message);
        return 1;
    }
    return 0;
}

int run(Invocation& invocation) {
    std::string section;
    OptionParser options(invocation);
    options.value("section", &section);
    std::vector<std::string> words;
    if (!options.parse(&words)) return options.exit_code();
    if (words.empty()) {
        fmt::print(stderr, "Error: 'config' has no default action.  See `{} help config`.\n",
                   invocation.program);
        return 1;
    }
    const std::string action = words[0];
    words.erase(words.begin());
    if (!section.empty() && action == "print") {
        // The command line stays on top; only the file is read again for that section.
        auto loaded = invocation.settings.load_file(invocation.settings.text("config"), section);
        if (!loaded)
            throw base::PuppetError(loaded.error().message, "", base::PuppetError::Class::Plain);
    }
    if (section.empty()) section = "main";
    if (action == "print") return print_settings(invocation.settings, words);
    if (action == "set" && words.size() == 2) {
        return change_setting(invocation.settings, section, words[0], &words[1]);
    }
    if (action == "delete" && words.size() == 1) {
        return change_setting(invocation.settings, section, words[0], nullptr);
    }
    fmt::print(stderr, "Error: usage: {} config (print [NAME]... | set NAME VALUE | delete NAME)\n",
               invocation.program);
    return 1;
}

}  // namespace

BUNRAKU_COMMAND(config){
    .name = "config", .summary = "Interact with Puppet's settings.", .run = run};

}  // namespace bunraku::cli
