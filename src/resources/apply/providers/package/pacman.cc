// SPDX-License-Identifier: Apache-2.0
// The provider pacman. With `allow_virtual`, a group counts as a package. Its version is the list
// of its members, and it is installed if all members are.
#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "core/base/text.h"
#include "resources/apply/types/package/package_provider.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

constexpr const char* kPacman = "/usr/bin/pacman";
constexpr const char* kYaourt = "/usr/bin/yaourt";
using Versions = std::map<std::string, std::string, std::less<>>;

bool arch(Context& c) { return platform(c).named({"archlinux", "manjarolinux", "artix"}); }

Versions installed(Context& context) {
    Versions out;
    try {
        const std::string output = execute(context, {kPacman, "--query"}).output;
        for (std::string_view line : base::lines(output)) {
            const auto w = base::words(line, " \t\r");
            if (w.size() >= 2) {
                out.emplace(w[0], w[1]);
            } else if (!line.empty()) {
                context.message(Level::Warning, fmt::format("Failed to match line '{}'", line));
            }
        }
    } catch (const PuppetError& e) {
        if (e.issue_code() != "EXECUTION_FAILURE") throw;
        throw PuppetError("Error getting installed packages");
    }
    return out;
}

// Returns the groups whose packages are all installed. If `only` is not a group, returns none.
Versions installed_groups(Context& context, const Versions& packages, const std::string& only) {
    std::vector<std::string> argv{kPacman, "--sync", "-gg"};
    if (!only.empty()) argv.push_back(only);
    std::string output;
    try {
        output = execute(context, argv).output;
    } catch (const PuppetError& e) {
        if (only.empty() || e.issue_code() != "EXECUTION_FAILURE") throw;
        return {};
    }
    std::map<std::string, std::vector<std::string>, std::less<>> groups;
    for (std::string_view line : base::lines(output)) {
        const auto w = base::words(line, " \t\r");
        if (w.size() >= 2) groups[std::string(w[0])].emplace_back(w[1]);
    }
    Versions out;
    for (auto& [group, members] : groups) {
        std::sort(members.begin(), members.end());
        std::string text;
        bool whole = true;
        for (const std::string& m : members) {
            const auto it = packages.find(m);
            if (it == packages.end()) {
                whole = false;
                break;
            }
            text += (text.empty() ? "" : ", ") + m + " " + it->second;
        }
        if (whole) out.emplace(group, text);
    }
    return out;
}

std::vector<PackageState> list(Context& context, const std::string&) {
    std::vector<PackageState> out;
    const Versions packages = installed(context);
    for (const auto& [name, version] : packages)
        out.push_back({.name = name, .versions = {version}});
    for (const auto& [name, version] : installed_groups(context, packages, {})) {
        out.push_back({.name = name, .versions = {version}});
    }
    return out;
}

class Pacman final : public PackageProvider {
public:
    using PackageProvider::PackageProvider;

    std::optional<PackageState> query() override {
        const Versions packages = installed(context_);
        const Versions groups = installed_groups(context_, packages, name());
        if (const auto g = groups.find(name()); g != groups.end()) {
            if (resource_.flag("allow_virtual"))
                return PackageState{.name = name(), .versions = {g->second}};
            context_.message(Level::Warning,
                             fmt::format("{} is a group, but allow_virtual is false.", name()));
            return std::nullopt;
        }
        const auto p = packages.find(name());
        if (p == packages.end()) return std::nullopt;
        return PackageState{.name = name(), .versions = {p->second}};
    }

    void install() override {
        if (const std::string source = resource_.text("source"); !source.empty()) {
            execute(context_,
                    {kPacman, "--noconfirm", "--noprogressbar", "--upgrade", local(source)});
        } else {
            if (group() && !resource_.flag("allow_virtual")) {
                resource_.fail(fmt::format(
                    "Refusing to install package group {}, because allow_virtual is false.",
                    name()));
            }
            std::vector<std::string> argv{tool(), "--noconfirm", "--needed", "--noprogressbar"};
            for (std::string& o : options("install_options")) argv.push_back(std::move(o));
            argv.emplace_back("--sync");
            argv.push_back(name());
            execute(context_, argv);
        }
        if (!query()) resource_.fail(fmt::format("Could not find package '{}'", name()));
    }

    void uninstall() override { remove(false); }
    void purge() override { remove(true); }

    std::string latest() override {
        const bool of_group = group();
        const char* format = of_group ? "%n %v" : "%v";
        try {
            const std::string output =
                execute(context_, {kPacman, "--sync", "--print", "--print-format", format, name()})
                    .output;
            auto lines = base::texts(base::lines(output));
            std::sort(lines.begin(), lines.end());
            std::string out;
            for (const std::string& l : lines) out += (out.empty() ? "" : ", ") + l;
            return out;
        } catch (const PuppetError& e) {
            if (of_group || e.issue_code() != "EXECUTION_FAILURE" || !yaourt()) throw;
        }
        const std::string output = execute(context_, {kYaourt, "-Qma", name()}).output;
        std::string found;
        for (std::string_view line : base::lines(output)) {
            const auto w = base::words(line, " \t\r");
            if (found.empty() && line.starts_with("aur") && w.size() > 1) found = w[1];
        }
        return found;
    }

private:
    bool yaourt() const { return context_.system.files.exists(kYaourt); }
    std::string tool() const { return yaourt() ? kYaourt : kPacman; }

    bool group() {
        try {
            return !execute(context_, {kPacman, "--sync", "--groups", name()}).output.empty();
        } catch (const PuppetError& e) {
            if (e.issue_code() != "EXECUTION_FAILURE") throw;
            return false;
        }
    }

    // Downloads a source to a local file, unless pacman itself can fetch it.
    std::string local(const std::string& source) {
        const std::size_t colon = source.find(':');
        const std::string scheme =
            base::lower(source.substr(0, colon == std::string::npos ? 0 : colon));
        if (scheme.empty() || scheme == "http" || scheme == "https" || scheme == "ftp")
            return source;
        if (scheme == "file") {
            const std::size_t path =
                source.find('/', source.find("//") == colon + 1 ? colon + 3 : colon);
            return path == std::string::npos ? std::string() : source.substr(path);
        }
        if (scheme == "puppet") resource_.fail("puppet:// URL is not supported by pacman");
        resource_.fail(fmt::format("Source {} is not supported by pacman", source));
    }

    void remove(bool configuration_too) {
        const bool of_group = group();
        if (of_group && !resource_.flag("allow_virtual")) {
            resource_.fail(fmt::format(
                "Refusing to uninstall package group {}, because allow_virtual is false.", name()));
        }
        std::vector<std::string> argv{tool(), "--noconfirm", "--noprogressbar"};
        for (std::string& o : options("uninstall_options")) argv.push_back(std::move(o));
        argv.emplace_back("--remove");
        if (of_group) argv.emplace_back("--recursive");
        if (configuration_too) argv.emplace_back("--nosave");
        argv.push_back(name());
        execute(context_, argv);
    }
};

}  // namespace

const ProviderClass& provider_package_pacman() {
    static constexpr PackageProviderClass kClass{
        {.name = "pacman",
         .suitable = [](Context& c) { return arch(c) && has_command(c, kPacman); },
         .features = "installable uninstallable upgradeable purgeable install_options "
                     "uninstall_options virtual_packages",
         .prefetches = true,
         .default_for = [](Context& c) { return arch(c) ? 1 : 0; },
         .depth = 5},
        make_package_provider<Pacman>,
        list};
    return kClass;
}

}  // namespace bunraku::apply
