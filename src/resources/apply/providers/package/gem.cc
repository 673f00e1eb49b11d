// SPDX-License-Identifier: Apache-2.0
// The provider gem: gems of the Ruby on the PATH, or of the program in `command`.
#include "resources/apply/providers/package/gem.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/text.h"
#include "resources/apply/types/package/versions.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

// A version requirement that RubyGems supports: "~> 1.0", ">= 1, < 2".
struct Requirement {
    std::string_view operation;
    GemVersion version;

    bool holds(const GemVersion& v) const {
        const int c = v.compare(version);
        if (operation == "!=") return c != 0;
        if (operation == "<") return c < 0;
        if (operation == ">") return c > 0;
        if (operation == "<=") return c <= 0;
        if (operation == ">=") return c >= 0;
        if (operation != "~>") return c == 0;
        // For the upper limit, drop the last number and increment the one before it.
        GemVersion end = version;
        while (std::any_of(end.segments.begin(), end.segments.end(),
                           [](const auto& s) { return s.index() == 1; })) {
            end.segments.pop_back();
        }
        if (end.segments.size() > 1) end.segments.pop_back();
        if (!end.segments.empty()) std::get<0>(end.segments.back()) += 1;
        return c >= 0 && v.compare(end) < 0;
    }
};

std::optional<std::vector<Requirement>> requirements(std::string_view text) {
    std::vector<Requirement> out;
    for (std::string_view part : base::words(text, ",")) {
        part = base::trim(part);
        const std::size_t end = std::min(part.find_first_not_of("<>=!~"), part.size());
        std::string_view operation;
        for (std::string_view known : {"=", "!=", "<", ">", "<=", ">=", "~>"}) {
            if (part.substr(0, end) == known) operation = known;
        }
        if (operation.size() != end) return std::nullopt;
        auto version = GemVersion::parse(base::trim(part.substr(end)));
        if (!version) return std::nullopt;
        out.push_back({operation, std::move(*version)});
    }
    return out;
}

// Reports whether RubyGems can read the text. Otherwise it may be one of Puppet's ranges, such
// as "> 1 < 2" without a comma.
bool for_rubygems(std::string_view wanted) {
    return wanted.find(',') != std::string_view::npos || requirements(wanted).has_value();
}

}  // namespace

std::string Gem::usual_gem(Context& context) {
    return has_command(context, "gem") ? command_path(context, "gem") : std::string();
}

std::string Gem::command() const {
    const std::string given = resource_.text("command");
    return given.empty() ? usual() : given;
}

Executed Gem::run(Context& context, std::string_view provider, const std::string& command,
                  std::vector<std::string> arguments) {
    if (command.empty()) {
        throw PuppetError(
            fmt::format("Provider {} package command is not functional on this host", provider));
    }
    const auto status = context.system.files.stat(command);
    if (!status || status->kind != sys::FileKind::File) {
        throw PuppetError(fmt::format(
            "Provider {} package command '{}' does not exist on this host", provider, command));
    }
    arguments.insert(arguments.begin(), command);
    return execute(context, arguments);
}

// Parses lines of NAME (VERSION, VERSION, default: VERSION).
std::vector<PackageState> Gem::list(Context& context, std::string_view provider,
                                    const std::string& command,
                                    std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "list");
    std::string output;
    try {
        output = run(context, provider, command, std::move(arguments)).output;
    } catch (const PuppetError& e) {
        if (e.issue_code() != "EXECUTION_FAILURE") throw;
        throw PuppetError(fmt::format("Could not list gems: {}", e.message()));
    }
    std::vector<PackageState> out;
    for (std::string_view line : base::lines(output)) {
        const std::size_t open = line.find('('), close = line.rfind(')'),
                          end = line.find_first_of(" \t");
        if (open == std::string_view::npos || close == std::string_view::npos || close < open ||
            end >= open || end == 0) {
            if (!base::trim(line).empty()) {
                context.message(Level::Warning, fmt::format("Could not match {}", line));
            }
            continue;
        }
        PackageState p{.name = std::string(line.substr(0, end)), .list = true, .command = command};
        for (std::string_view version : base::words(line.substr(open + 1, close - open - 1), ",")) {
            version = base::trim(version);
            if (version.starts_with("default: ")) version.remove_prefix(9);
            p.versions.emplace_back(version.substr(0, version.find(' ')));
        }
        if (!p.versions.empty()) out.push_back(std::move(p));
    }
    return out;
}

std::optional<PackageState> Gem::query() {
    auto found =
        list(context_, resource_.provider_name(), command(), {"--local", "\\A" + name() + "\\z"});
    if (found.empty()) return std::nullopt;
    return std::move(found.front());
}

std::string Gem::latest() {
    std::vector<std::string> arguments{"--remote"};
    if (const std::string source = resource_.text("source"); !source.empty()) {
        arguments.emplace_back("--source");
        arguments.push_back(source);
    }
    arguments.push_back("\\A" + name() + "\\z");
    const auto found = list(context_, resource_.provider_name(), command(), std::move(arguments));
    if (found.empty()) throw PuppetError(fmt::format("Could not find package {}", name()));
    return found.front().versions.front();
}

bool Gem::satisfied(const PackageState& is, const std::string& wanted) {
    if (is.gone()) return false;
    const auto any = [&](auto&& test) {
        return std::any_of(is.versions.begin(), is.versions.end(), [&](const std::string& v) {
            const auto version = GemVersion::parse(v);
            if (!version) debug(fmt::format("Cannot parse {} as a ruby gem version", v));
            return version && test(*version);
        });
    };
    if (for_rubygems(wanted)) {
        const auto all = requirements(wanted);
        // A requirement that RubyGems cannot read fails during installation.
        return all && any([&](const GemVersion& v) {
                   return std::all_of(all->begin(), all->end(),
                                      [&](const Requirement& r) { return r.holds(v); });
               });
    }
    const auto range = VersionRange<GemVersion>::parse(wanted);
    if (!range) {
        debug(fmt::format("Cannot parse {} as a ruby gem version range", wanted));
        return false;
    }
    return any([&](const GemVersion& v) { return range->includes(v); });
}

void Gem::install(bool with_version) {
    std::vector<std::string> arguments{"install"};
    for (std::string& o : options("install_options")) arguments.push_back(std::move(o));
    if (versioned() && with_version) {
        std::string want = wanted();
        if (!for_rubygems(want)) {
            if (VersionRange<GemVersion>::parse(want)) {
                // RubyGems requires a comma between the two conditions.
                std::string text;
                for (std::string_view word : base::words(want, " \t"))
                    text += (text.empty() ? "" : ", ") + std::string(word);
                want = std::move(text);
            } else {
                debug(fmt::format("Cannot parse {} as a ruby gem version range. Falling through.",
                                  want));
            }
        }
        arguments.emplace_back("-v");
        arguments.push_back(std::move(want));
    }
    const auto tool = GemVersion::parse(
        base::trim(run(context_, resource_.provider_name(), command(), {"--version"}).output));
    if (tool && tool->compare(*GemVersion::parse("2.0.0")) < 0) {
        arguments.emplace_back("--no-rdoc");
        arguments.emplace_back("--no-ri");
    } else {
        arguments.emplace_back("--no-document");
    }
    const std::string source = resource_.text("source");
    const std::string scheme =
        base::lower(source.substr(0, source.find(':') == std::string::npos ? 0 : source.find(':')));
    if (source.empty()) {
        arguments.push_back(name());
    } else if (scheme.empty()) {
        arguments.push_back(source);
    } else if (scheme == "file") {
        const std::size_t path = source.find('/', source.find("://") == 4 ? 7 : 5);
        arguments.push_back(path == std::string::npos ? source : source.substr(path));
    } else if (scheme == "puppet") {
        throw PuppetError("puppet:// URLs are not supported as gem sources");
    } else {
        arguments.insert(arguments.end(), {"--source", source, name()});
    }
    const std::string output =
        run(context_, resource_.provider_name(), command(), std::move(arguments)).output;
    // The exit status may be 0 even after an error.
    if (output.find("ERROR") != std::string::npos) {
        resource_.fail(fmt::format("Could not install: {}", base::trim(output)));
    }
}

void Gem::uninstall() {
    std::vector<std::string> arguments{"uninstall", "--executables", "--all", name()};
    for (std::string& o : options("uninstall_options")) arguments.push_back(std::move(o));
    const std::string output =
        run(context_, resource_.provider_name(), command(), std::move(arguments)).output;
    if (output.find("ERROR") != std::string::npos) {
        resource_.fail(fmt::format("Could not uninstall: {}", base::trim(output)));
    }
}

std::vector<PackageState> list_gem(Context& context, const std::string& command) {
    const std::string tool = command.empty() ? Gem::usual_gem(context) : command;
    if (tool.empty()) return {};
    return Gem::list(context, "gem", tool, {"--local"});
}

const ProviderClass& provider_package_gem() {
    static constexpr PackageProviderClass kClass{
        {.name = "gem",
         // The program may depend on the resource, so a missing program is reported when it is
         // used.
         .suitable = [](Context&) { return true; },
         .features = "installable uninstallable upgradeable versionable version_ranges "
                     "install_options uninstall_options targetable",
         .prefetches = true,
         .depth = 0},
        make_package_provider<Gem>,
        list_gem};
    return kClass;
}

}  // namespace bunraku::apply
