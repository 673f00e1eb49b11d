// SPDX-License-Identifier: Apache-2.0
// The provider yum. The command lines are those of OpenVox 8.24: dnf5 does not know the options -d
// and -e and the command erase, and without -y a check stops at a repository with a new key.
#include "resources/apply/providers/package/yum.h"

#include <fmt/format.h>

#include "core/base/text.h"

namespace bunraku::apply {

using base::PuppetError;

// Returns the repository options in install_options, which also apply to queries.
std::vector<std::string> Yum::repository_options() const {
    std::vector<std::string> out;
    const auto given = options("install_options");
    for (std::string_view option : {"--disablerepo", "--enablerepo", "--disableexcludes"}) {
        for (const std::string& one : given) {
            if (one.starts_with(std::string(option) + "=")) out.push_back(one);
        }
    }
    return out;
}

std::vector<std::string> Yum::on_offer() {
    std::vector<std::string> argv{command_path(context_, program()), "list", name(),
                                  "--showduplicates"};
    for (std::string& o : repository_options()) argv.push_back(std::move(o));
    const std::string output = execute(context_, argv).output;
    std::vector<std::string> out;
    bool available = false;
    for (std::string_view line : base::lines(output)) {
        if (available) {
            if (const auto w = base::words(line, " \t"); w.size() > 1) out.emplace_back(w[1]);
        }
        // dnf5 writes the heading with a small p.
        available = available || line.find("Available Packages") != std::string_view::npos ||
                    line.find("Available packages") != std::string_view::npos;
    }
    return out;
}

void Yum::install() {
    const std::string tool = command_path(context_, program());
    const auto extra = options("install_options");
    const auto run = [&](std::vector<std::string> before, std::string_view operation,
                         std::string what) {
        before.insert(before.begin(), tool);
        before.insert(before.end(), extra.begin(), extra.end());
        before.emplace_back(operation);
        before.push_back(std::move(what));
        return execute(context_, before).output;
    };
    std::string what = name();
    if (!resource_.flag("allow_virtual")) run({"-y"}, "list", what);
    const std::string want = wanted(), source = resource_.text("source");
    debug(fmt::format("Ensuring => {}", want));
    std::string_view operation = "install";
    std::optional<std::string> version;
    if (want == "latest") {
        const auto now = query();
        if (now && !now->gone()) operation = update_command();
    } else if (!versioned() || !source.empty()) {
        if (versioned()) version = want;
        if (!source.empty()) what = source;
    } else {
        version = best_version(want, [&] { return on_offer(); });
        // A version selected from a range is written without its epoch.
        if (*version != want) {
            if (const auto colon = version->find(':'); colon != std::string::npos)
                version->erase(0, colon + 1);
        }
        what += "-" + *version;
        // Move the architecture from the name to the end, after the version.
        if (const auto arch = rpm_architecture(name())) {
            const std::string dotted = "." + std::string(*arch);
            what.erase(what.find(dotted), dotted.size());
            what += dotted;
        }
    }
    if (version && versioned()) {
        if (const auto now = query(); now && !now->gone()) {
            const int newer = RpmVersion::parse(*version)->compare_wanted(
                *RpmVersion::parse(now->versions.front()));
            if (resource_.flag("install_only") || newer > 0) {
                operation = update_command();
            } else if (newer < 0) {
                operation = "downgrade";
            }
        }
    }
    const std::string output = run({"-y"}, operation, what);
    if (output.find(fmt::format("No package {} available.", what)) != std::string::npos) {
        throw PuppetError(fmt::format("Could not find package {}", what));
    }
    if (!version) return;
    const auto now = query();
    if (!now) throw PuppetError(fmt::format("Could not find package {}", name()));
    if (now->versions.front() != *version && !satisfied(*now, want)) {
        throw PuppetError(fmt::format("Failed to update to version {}, got version {} instead",
                                      *version, plain(now->value(context_))));
    }
}

void Yum::purge() {
    execute(context_, {command_path(context_, program()), "-y", "remove", name()});
}

std::string Yum::latest() {
    std::vector<std::string> argv{command_path(context_, program()), "-y", "check-update"};
    for (std::string& o : repository_options()) argv.push_back(std::move(o));
    Execute o;
    o.fail_on_error = false;
    o.combine = false;
    const Executed done = execute(context_, argv, o);
    const std::string asked = fmt::format("{} check-update", argv.front());
    if (done.status == 0) {
        debug(fmt::format("{} exited with 0; no package updates available.", asked));
    } else if (done.status != 100) {
        context_.message(
            Level::Warning,
            fmt::format("Could not check for updates, '{}' exited with {}", asked, done.status));
    } else {
        // Lines contain name and architecture, version and repository. A line with a long name is
        // wrapped. Sections after the list are ignored.
        std::vector<std::string_view> tuple;
        bool listed = true;
        std::optional<std::string> found;
        for (std::string_view line : base::lines(done.output)) {
            for (std::string_view end : {"Obsoleting", "Security:", "Update"}) {
                if (line.starts_with(end)) listed = false;
            }
            if (!listed || found) continue;
            if (base::trim(line).empty()) tuple.clear();
            for (std::string_view w : base::words(line, " \t\r")) {
                tuple.push_back(w);
                if (tuple.size() < 3) continue;
                const std::size_t dot = tuple[0].rfind('.');
                if (dot != std::string_view::npos && tuple[1].find('-') != std::string_view::npos &&
                    (tuple[0] == name() || tuple[0].substr(0, dot) == name())) {
                    found = std::string(tuple[1]);
                }
                tuple.clear();
            }
        }
        if (found) return found->find(':') == std::string::npos ? "0:" + *found : *found;
    }
    if (state().gone()) throw PuppetError("Tried to get latest on a missing package");
    debug(fmt::format("Yum didn't find updates, current version ({}) is the latest",
                      plain(state().value(context_))));
    return state().versions.front();
}

const ProviderClass& provider_package_yum() {
    static constexpr PackageProviderClass kClass{
        {.name = "yum",
         .suitable = [](Context& c) { return has_command(c, "yum") && rpm_suitable(c); },
         .features = "installable uninstallable upgradeable purgeable versionable version_ranges "
                     "install_only install_options uninstall_options virtual_packages",
         .prefetches = true,
         .default_for =
             [](Context& c) {
                 const Platform& os = platform(c);
                 if (os.family == "redhat" && os.major.size() == 1 && os.major[0] >= '4' &&
                     os.major[0] <= '7')
                     return 2;
                 return os.name == "amazon" ? 1 : 0;
             },
         .depth = 6},
        make_package_provider<Yum>,
        list_rpm};
    return kClass;
}

}  // namespace bunraku::apply
