// SPDX-License-Identifier: Apache-2.0
#include "cli/overview.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <vector>

#include "cli/build_info.h"
#include "cli/command.h"
#include "cli/version_details.h"
#include "compile/reference/help_page.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/codec/json_text.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"

namespace bunraku::cli {

namespace {

struct Group {
    std::string_view title;
    std::vector<std::string_view> commands;
};
/// A command that is not listed belongs to the last group.
const std::vector<Group>& groups() {
    static const std::vector<Group> all{
        {"This machine", {"apply", "agent", "resource", "facts", "facter", "filebucket", "ssl"}},
        {"Code and data",
         {"parser", "lint", "fmt", "compile", "catalog", "eval", "script", "lookup", "epp",
          "describe", "doc", "explain", "test", "generate", "lsp"}},
        {"A change before it is made", {"diff", "impact", "rollout", "whatif", "fleet", "migrate"}},
        {"Modules", {"module", "deploy", "forge"}},
        {"Server", {"server", "ca", "node", "report", "db", "query"}},
        {"The program itself", {"config", "doctor", "completion", "plugin", "device", "help"}},
    };
    return all;
}

std::string row(std::string_view name, std::string_view summary) {
    return fmt::format("    {:<12}  {}\n", name, summary);
}

constexpr std::string_view kHelpSummary = "Display this overview, or the help of a subcommand.";

std::string program_page(const reference::ManualTexts& texts) {
    std::string out = fmt::format(
        ".TH BUNRAKU 1 {} \"Bunraku {}\" \"Bunraku Manual\"\n.SH NAME\nbunraku, puppet, facter \\- "
        "Puppet's language, server, store and agent in one program\n.SH SYNOPSIS\n.B bunraku\n"
        ".I subcommand\n.RI [ options ]\n.RI [ action ]\n.RI [ options ]\n.SH DESCRIPTION\n"
        "Bunraku compiles Puppet code to catalogs, applies them, remembers what nodes share, and\n"
        "serves agents and modules, in the formats and protocols of Puppet 8.\n"
        "A link named\n.B puppet\nto the program behaves as puppet does, one named\n.B facter\nas "
        "facter.\nEvery Puppet setting is an option of every subcommand.\n",
        texts.date, texts.version);
    std::set<std::string_view> listed;
    for (const Group& group : groups()) {
        out += fmt::format(".SS {}\n", group.title);
        for (const auto name : group.commands) {
            const Command* command = find_command(name);
            if (!command) continue;
            listed.insert(name);
            out += fmt::format(".TP\n.BR bunraku\\-{} (1)\n{}\n", reference::roff(name),
                               reference::roff(command->summary));
        }
    }
    for (const Command* c : all_commands()) {
        if (listed.contains(c->name)) continue;
        out += fmt::format(".TP\n.BR bunraku\\-{} (1)\n{}\n", reference::roff(c->name),
                           reference::roff(c->summary));
    }
    out +=
        ".SH EXIT STATUS\nThose of Puppet: 0 on success, 1 on failure; with\n"
        ".B \\-\\-detailed\\-exitcodes\n2 for changes, 4 for failures, 6 for both.\n"
        ".SH FILES\n.TP\n.I /etc/puppetlabs/puppet/puppet.conf\nThe configuration; on a machine "
        "that Debian's package was set up on,\n.IR /etc/puppet/puppet.conf .\n"
        ".SH SEE ALSO\n.BR bunraku.conf (5)\n";
    return out;
}

std::string settings_page(const reference::ManualTexts& texts) {
    std::string out = fmt::format(
        ".TH BUNRAKU.CONF 5 {} \"Bunraku {}\" \"Bunraku Manual\"\n.SH NAME\nbunraku.conf \\- the "
        "settings of puppet.conf\n.SH DESCRIPTION\nSettings are set in\n.I puppet.conf\nbelow "
        "[main], [server], [agent] or [user], and on the command line as options:\n"
        ".B \\-\\-environment\n.IR production ,\n.BR \\-\\-no\\-noop .\n"
        ".B bunraku config print\nprints their values.\n.SH SETTINGS\n",
        texts.date, texts.version);
    for (const auto& s : config::kSettings) {
        out += fmt::format(".TP\n.B {}\n", reference::roff(s.name));
        std::string line;
        const std::string doc = reference::roff(s.doc);
        for (const auto word : base::words(doc)) {
            if (line.size() + word.size() > 76) {
                out += line + "\n";
                line.clear();
            }
            line += (line.empty() ? "" : " ") + std::string(word);
        }
        if (line.starts_with('.') || line.starts_with('\'')) line.insert(0, "\\&");
        out += line + "\n";
        const bool computed = s.default_value.starts_with("$~");
        if (!s.default_value.empty() && !computed)
            out += fmt::format("Default: {}\n", reference::roff(s.default_value));
    }
    return out + ".SH SEE ALSO\n.BR bunraku (1),\n.BR bunraku\\-config (1)\n";
}

}  // namespace

std::string overview(const std::string& program) {
    std::string out =
        fmt::format("\nUsage: {} <subcommand> [options] <action> [options]\n", program);
    std::set<std::string_view> listed;
    std::string rest;
    for (const Group& group : groups()) {
        out += fmt::format("\n  {}:\n", group.title);
        if (&group == &groups().back()) {
            for (const auto& g : groups()) listed.insert(g.commands.begin(), g.commands.end());
            for (const Command* c : all_commands())
                if (!listed.contains(c->name)) out += row(c->name, c->summary);
        }
        for (const auto name : group.commands) {
            if (name == "help") {
                out += row(name, kHelpSummary);
            } else if (const Command* command = find_command(name)) {
                out += row(name, command->summary);
            }
        }
    }
    return out +
           fmt::format(
               "\nSee '{0} help <subcommand>' for help on a specific subcommand, and\n"
               "'{0} help <subcommand> <action>' for help on one of its actions.\n"
               "Every Puppet setting is an option too: --environment NAME, --no-noop, ...\n"
               "The exit code is 0 on success and 1 on failure, unless a subcommand says more.\n"
               "Bunraku {1}, Puppet language {2}\n",
               program, kVersion, config::puppet_version(config::kDefaultLevel));
}

std::string overview_json() {
    std::string out;
    for (const Group& group : groups()) {
        for (const auto name : group.commands) {
            const Command* command = find_command(name);
            if (!command && name != "help") continue;
            out += fmt::format(R"({}{{"name":"{}","group":"{}","summary":{}}})",
                               out.empty() ? "" : ",\n ", name, group.title,
                               codec::json_string(command ? command->summary : kHelpSummary));
        }
    }
    return "[" + out + "]\n";
}

void write_manual(const std::string& folder) {
    auto& files = sys::disk();
    const auto write = [&](const std::string& name, const std::string& text) {
        const auto done = files.write(sys::join(folder, name), text, 0644);
        if (!done) throw base::plain_error(done.error().message);
    };
    for (const char* section : {"man1", "man5"})
        if (const auto made = files.make_directories(sys::join(folder, section), 0755); !made)
            throw base::plain_error(made.error().message);
    const BuildInfo& build = build_info();
    const reference::ManualTexts texts{.version = kVersion, .date = build.date};
    for (const Command* c : all_commands())
        write(fmt::format("man1/bunraku-{}.1", c->name),
              reference::manual_page(c->name, c->summary, command_help(c->name), texts));
    write("man1/bunraku.1", program_page(texts));
    write("man5/bunraku.conf.5", settings_page(texts));
}

std::string version_text(config::Compatibility level, VersionOutput output) {
    std::string out =
        fmt::format("bunraku {} (Puppet language {})\n", kVersion, config::puppet_version(level));
    const BuildInfo& build = build_info();
    out += fmt::format("level      {}\ncommit     {} of {}\nbuild      {}, {}\nlibraries  ",
                       config::level_name(level), build.commit, build.date, build.type,
                       build.compiler);
    std::string line;
    for (const auto& library : build.libraries) {
        if (line.size() + library.size() > 66) {
            out += line + "\n           ";
            line.clear();
        }
        line += (line.empty() ? "" : ", ") + library;
    }
    out += line + "\n";
    if (output == VersionOutput::Verbose)
        for (const auto& [about, text] : version_details())
            out += fmt::format("{:<10} {}\n", about, text);
    return out;
}

std::string version_json(config::Compatibility level, VersionOutput output) {
    using codec::json_string;
    const BuildInfo& build = build_info();
    std::string libraries;
    for (const auto& library : build.libraries)
        libraries += (libraries.empty() ? "" : ",") + json_string(library);
    std::string details;
    if (output == VersionOutput::Verbose)
        for (const auto& [about, text] : version_details())
            details += fmt::format(",{}:{}", json_string(about), json_string(text));
    return fmt::format(
        R"({{"version":{},"puppet_language":{},"compatibility":{},"commit":{},"date":{},"type":{},"compiler":{},)"
        R"("libraries":[{}]{}}})"
        "\n",
        json_string(kVersion), json_string(config::puppet_version(level)),
        json_string(config::level_name(level)), json_string(build.commit), json_string(build.date),
        json_string(build.type), json_string(build.compiler), libraries, details);
}

}  // namespace bunraku::cli
