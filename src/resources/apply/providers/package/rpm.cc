// SPDX-License-Identifier: Apache-2.0
// The provider rpm.
#include "resources/apply/providers/package/rpm.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/text.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

constexpr std::string_view kFormat =
    "%{NAME} %|EPOCH?{%{EPOCH}}:{0}| %{VERSION} %{RELEASE} %{ARCH}\\n";

struct Installed {
    std::string name, version, release, architecture, full;  ///< `full` is EPOCH:VERSION-RELEASE
};

std::optional<Installed> parse_line(Context& context, std::string_view line) {
    const auto w = base::texts(base::words(line, " \t\r'"));
    if (w.size() != 5) {
        context.message(Level::Debug, fmt::format("Failed to match rpm line {}", line));
        return std::nullopt;
    }
    std::string full = w[2] + "-" + w[3];
    if (w[1] != "0") full = w[1] + ":" + full;
    return Installed{w[0], w[2], w[3], w[4], std::move(full)};
}

// Parses lines. Consecutive lines with the same name are versions of one package.
std::vector<PackageState> parse(Context& context, std::string_view output) {
    std::vector<PackageState> out;
    for (std::string_view line : base::lines(output)) {
        if (line.empty()) continue;
        auto p = parse_line(context, line);
        if (!p) continue;
        if (out.empty() || out.back().name != p->name) out.push_back({.name = p->name});
        BUNRAKU_ASSERT(out.back().name == p->name);
        auto& versions = out.back().versions;
        if (std::find(versions.begin(), versions.end(), p->full) == versions.end()) {
            versions.push_back(std::move(p->full));
        }
    }
    return out;
}

}  // namespace

bool rpm_suitable(Context& context) { return has_command(context, "rpm"); }

std::vector<PackageState> list_rpm(Context& context, const std::string&) {
    try {
        std::string output = execute(context, {command_path(context, "rpm"), "-qa", "--nosignature",
                                               "--nodigest", "--qf", std::string(kFormat)})
                                 .output;
        auto lines = base::texts(base::lines(output));
        std::sort(lines.begin(), lines.end());
        output.clear();
        for (const std::string& l : lines) output += l + "\n";
        return parse(context, output);
    } catch (const PuppetError& e) {
        if (e.issue_code() != "EXECUTION_FAILURE") throw;
        throw PuppetError("Failed to list packages");
    }
}

std::optional<PackageState> Rpm::query() {
    std::vector<std::string> argv{
        command_path(context_, "rpm"), "-q", name(), "--nosignature", "--nodigest", "--qf",
        std::string(kFormat)};
    std::string output;
    for (const bool by_what_it_provides : {false, true}) {
        if (by_what_it_provides) argv.emplace_back("--whatprovides");
        try {
            output = execute(context_, argv).output;
            break;
        } catch (const PuppetError& e) {
            if (e.issue_code() != "EXECUTION_FAILURE") throw;
            if (by_what_it_provides || !resource_.flag("allow_virtual")) return std::nullopt;
        }
    }
    auto all = parse(context_, output);
    if (all.empty()) return std::nullopt;
    return std::move(all.front());
}

std::string Rpm::latest() {
    const std::string source = resource_.text("source");
    if (source.empty()) resource_.fail("RPMs must specify a package source");
    const auto found =
        parse(context_, execute(context_, {command_path(context_, "rpm"), "-q", "--qf",
                                           std::string(kFormat), "-p", source})
                            .output);
    return found.empty() ? std::string() : found.front().versions.front();
}

void Rpm::install() {
    const std::string source = resource_.text("source");
    if (source.empty()) resource_.fail("RPMs must specify a package source");
    const PackageState& now = state();
    const std::string want = wanted();
    // rpm fails if the version is already installed.
    if (want == now.versions.front() || (want == "latest" && now.versions.front() == latest()))
        return;
    std::vector<std::string> argv{command_path(context_, "rpm")};
    if (now.gone()) {
        argv.emplace_back("-i");
    } else {
        argv.emplace_back("-U");
        argv.emplace_back("--oldpackage");
    }
    for (std::string& o : options("install_options")) argv.push_back(std::move(o));
    argv.push_back(source);
    execute(context_, argv);
}

void Rpm::uninstall() {
    // The name of a resource may include version, release and architecture. In that case only that
    // version is removed.
    std::vector<std::string> argv{command_path(context_, "rpm"), "-e"};
    for (std::string& o : options("uninstall_options")) argv.push_back(std::move(o));
    std::string output;
    try {
        output = execute(context_, {command_path(context_, "rpm"), "-q", name(), "--nosignature",
                                    "--nodigest", "--qf", std::string(kFormat)})
                     .output;
    } catch (const PuppetError& e) {
        if (e.issue_code() != "EXECUTION_FAILURE") throw;
    }
    std::vector<Installed> installed;
    for (std::string_view line : base::lines(output)) {
        if (line.empty()) continue;
        if (auto p = parse_line(context_, line)) installed.push_back(std::move(*p));
    }
    if (installed.empty()) {
        argv.push_back(name());
    } else if (const Installed& p = installed.front();
               !name().starts_with(p.name + "-" + p.version) && resource_.flag("install_only")) {
        for (const Installed& one : installed) argv.push_back(p.name + "-" + one.full);
    } else {
        const std::string version = p.name + "-" + p.version, release = version + "-" + p.release;
        std::string what = name().starts_with(release)   ? release
                           : name().starts_with(version) ? version
                                                         : p.name;
        if (name().ends_with("." + p.architecture)) what += "." + p.architecture;
        argv.push_back(std::move(what));
    }
    execute(context_, argv);
}

bool Rpm::satisfied(const PackageState& is, const std::string& wanted) {
    if (is.gone() || (is.versions.size() > 1 && !resource_.flag("install_only"))) return false;
    const RpmVersion should = *RpmVersion::parse(wanted);
    return std::any_of(is.versions.begin(), is.versions.end(), [&](const std::string& v) {
        return should.compare_wanted(*RpmVersion::parse(v)) == 0;
    });
}

bool Rpm::satisfies_range(const PackageState& is, const std::string& wanted) {
    const auto range = VersionRange<RpmVersion>::parse(wanted);
    if (!range) debug(fmt::format("Cannot parse {} as a RPM version range", wanted));
    if (!range || range->exact()) return Rpm::satisfied(is, wanted);
    if (is.gone() || (is.versions.size() > 1 && !resource_.flag("install_only"))) return false;
    return std::any_of(is.versions.begin(), is.versions.end(), [&](const std::string& v) {
        return range->includes(*RpmVersion::parse(v));
    });
}

std::string Rpm::best_version(const std::string& wanted,
                              const std::function<std::vector<std::string>()>& on_offer) {
    const auto range = VersionRange<RpmVersion>::parse(wanted);
    if (!range) debug(fmt::format("Cannot parse {} as a RPM version range", wanted));
    if (!range || range->exact()) return wanted;
    if (auto best = best_of(*range, on_offer())) return *best;
    debug(
        fmt::format("No available version for package {} is included in range {}", name(), wanted));
    return wanted;
}

const ProviderClass& provider_package_rpm() {
    static constexpr PackageProviderClass kClass{
        {.name = "rpm",
         .suitable = rpm_suitable,
         .features =
             "installable uninstallable upgradeable versionable install_only install_options "
             "uninstall_options virtual_packages",
         .prefetches = true,
         .depth = 5},
        make_package_provider<Rpm>,
        list_rpm};
    return kClass;
}

}  // namespace bunraku::apply
