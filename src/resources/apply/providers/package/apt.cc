// SPDX-License-Identifier: Apache-2.0
// The provider apt.
#include "resources/apply/providers/package/apt.h"

#include <fmt/format.h>

#include "core/base/text.h"
#include "resources/apply/types/package/versions.h"

namespace bunraku::apply {

using base::PuppetError;

bool apt_suitable(Context& context) {
    if (!dpkg_suitable(context)) return false;
    for (std::string_view name : {"/usr/bin/apt-get", "/usr/bin/apt-cache", "/usr/bin/apt-mark",
                                  "/usr/bin/debconf-set-selections"}) {
        if (!has_command(context, name)) return false;
    }
    return true;
}

std::vector<std::string> Apt::manager(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "/usr/bin/apt-get");
    return arguments;
}

void Apt::install() {
    if (resource_.find("responsefile")) preseed();
    std::string want = wanted();
    if (versioned()) want = best_version(want);
    check_cdrom();
    std::vector<std::string> argv{"-q", "-y", "-o",
                                  keep_configuration() ? "DPkg::Options::=--force-confold"
                                                       : "DPkg::Options::=--force-confnew"};
    if (versioned()) argv.emplace_back("--allow-downgrades");
    for (std::string& o : options("install_options")) argv.push_back(std::move(o));
    argv.emplace_back("install");
    const std::string file = source();
    argv.push_back(!file.empty() ? file : versioned() ? name() + "=" + want : name());
    install_by(manager(std::move(argv)));
    if (file.empty() || want == "present") return;
    // The file may contain a version other than the requested one.
    const PackageState now = query().value_or(PackageState{.name = name(), .versions = {"absent"}});
    if (want != "latest" && !satisfied(now, want)) {
        throw PuppetError(fmt::format("Failed to update to version {}, got version {} instead",
                                      want, now.versions.front()));
    }
}

void Apt::fetch(const std::vector<std::string>& names) {
    try {
        check_cdrom();
    } catch (const PuppetError&) {
        return;
    }
    std::vector<std::string> argv{"-q", "-y", "-d"};
    for (std::string& o : options("install_options")) argv.push_back(std::move(o));
    argv.emplace_back("install");
    argv.insert(argv.end(), names.begin(), names.end());
    execute(context_, manager(std::move(argv)),
            {.fail_on_error = false,
             .environment = {{"DEBIAN_FRONTEND", "noninteractive"}},
             .query = true});
}

std::vector<std::string> Apt::removal() {
    if (resource_.find("responsefile")) preseed();
    std::vector<std::string> argv{"-y", "-q"};
    if (state().held) argv.emplace_back("--allow-change-held-packages");
    argv.emplace_back("remove");
    return argv;
}

void Apt::uninstall() {
    auto argv = removal();
    argv.push_back(name());
    run(manager(std::move(argv)));
}

void Apt::purge() {
    auto argv = removal();
    argv.emplace_back("--purge");
    argv.push_back(name());
    run(manager(std::move(argv)));
    // dpkg removes the configuration of a package that was removed earlier, which apt does not.
    Dpkg::purge();
}

std::string Apt::latest() {
    const std::string output = run({"/usr/bin/apt-cache", "policy", name()}).output;
    if (const std::size_t at = output.find("Candidate:"); at != std::string::npos) {
        const auto words = base::words(std::string_view(output).substr(at + 10), " \t\n'");
        if (!words.empty()) return std::string(words[0]);
    }
    resource_.err("Could not find latest version");
    return {};
}

bool Apt::satisfied(const PackageState& is, const std::string& wanted) {
    if (is.gone()) return false;
    const auto range = VersionRange<DebianVersion>::parse(wanted);
    if (!range) {
        debug(fmt::format("Cannot parse {} as a debian version range", wanted));
        return false;
    }
    const auto version = DebianVersion::parse(is.versions.front());
    if (!version) {
        debug(fmt::format("Cannot parse {} as a debian version", is.versions.front()));
        return false;
    }
    return range->includes(*version);
}

// Returns the newest available version within a range. A text that is not a range is returned
// unchanged.
std::string Apt::best_version(const std::string& wanted) {
    const auto range = VersionRange<DebianVersion>::parse(wanted);
    if (!range || range->exact()) return wanted;
    const std::string output = run({"/usr/bin/apt-cache", "madison", name()}).output;
    std::vector<std::string> on_offer;
    for (std::string_view line : base::lines(output)) {
        const std::size_t bar = line.find('|');
        if (bar == std::string_view::npos) continue;
        line.remove_prefix(bar + 1);
        const auto words = base::words(line.substr(0, line.find('|')), " \t\n'");
        if (!words.empty()) on_offer.emplace_back(words[0]);
    }
    if (auto best = best_of(*range, on_offer)) return *best;
    debug(
        fmt::format("No available version for package {} is included in range {}", name(), wanted));
    return wanted;
}

void Apt::check_cdrom() const {
    const std::string list =
        unwrap(context_.system.files.read_if_there("/etc/apt/sources.list")).value_or("");
    bool cdrom = false;
    for (std::string_view line : base::lines(list)) {
        const std::size_t at = line.find("cdrom:");
        cdrom = cdrom || (at != std::string_view::npos && line.find('#') > at);
    }
    if (cdrom && !resource_.flag("allowcdrom")) {
        throw PuppetError(
            "/etc/apt/sources.list contains a cdrom source; not installing.  Use 'allowcdrom' "
            "to override this failure.");
    }
}

void Apt::preseed() {
    const std::string file = resource_.text("responsefile");
    if (!file.empty() && unwrap(context_.system.files.there(file))) {
        resource_.info(fmt::format("Preseeding {} to debconf-set-selections", file));
        run({"/usr/bin/debconf-set-selections", file});
    } else {
        resource_.info("No responsefile specified or non existent, not preseeding anything");
    }
}

// Marks a package that Puppet installed as manually installed.
void Apt::flush() {
    const std::string want = wanted();
    if (want == "absent" || want == "purged" || resource_.find("mark")) return;
    run({"/usr/bin/apt-mark", "manual", name()});
}

const ProviderClass& provider_package_apt() {
    static constexpr PackageProviderClass kClass{
        {.name = "apt",
         .suitable = apt_suitable,
         .features = "installable uninstallable upgradeable purgeable versionable version_ranges "
                     "holdable install_options virtual_packages",
         .prefetches = true,
         .default_for = [](Context& c) { return platform(c).family == "debian" ? 1 : 0; },
         .depth = 6},
        make_package_provider<Apt>,
        list_dpkg,
        /*allow_virtual=*/false};
    return kClass;
}

}  // namespace bunraku::apply
