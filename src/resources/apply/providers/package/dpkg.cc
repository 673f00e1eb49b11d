// SPDX-License-Identifier: Apache-2.0
// The provider dpkg. One query returns all installed packages.
#include "resources/apply/providers/package/dpkg.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

#include "core/base/text.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

constexpr std::string_view kFormat = "${Status} ${Package} ${Version}\\n";
constexpr std::string_view kFormatProvides = "${Status} ${Package} ${Version} [${Provides}]\\n";

/// A package in the output of dpkg-query.
struct Line {
    std::string error;
    PackageState state;
};

std::optional<Line> parse_line(std::string_view line) {
    auto w = base::texts(base::words(line, " \t\n'"));
    if (w.size() < 4) return std::nullopt;
    std::string version = w.size() > 4 && w[4][0] != '[' ? w[4] : "";
    if (w[2] == "not-installed") version = "purged";
    for (std::string_view half :
         {"config-files", "half-installed", "unpacked", "half-configured"}) {
        if (w[2] == half) version = "absent";
    }
    return Line{w[1], {.name = w[3], .versions = {version}, .held = w[0] == "hold"}};
}

bool names_package(std::string_view line, std::string_view package) {
    for (std::size_t at = line.find(package); at != std::string_view::npos;
         at = line.find(package, at + 1)) {
        std::size_t end = at + package.size();
        bool before = at > 0 && (line[at - 1] == ' ' || line[at - 1] == '[');
        bool after = end < line.size() && (line[end] == ',' || line[end] == ']');
        bool named = end < line.size() && line[end] == ' ' && before;
        if ((before && after) || named) return true;
    }
    return false;
}

}  // namespace

bool dpkg_suitable(Context& context) {
    for (std::string_view name : {"/usr/bin/dpkg", "/usr/bin/dpkg-deb", "/usr/bin/dpkg-query"}) {
        if (!has_command(context, name)) return false;
    }
    return true;
}

// Reads the same file as dpkg-query. Returns nullopt if only dpkg knows the current state: if it
// has changes that are not yet in the file, or if it uses another folder.
std::optional<std::vector<PackageState>> read_status(Context& context) {
    sys::FileSystem& files = context.system.files;
    if (std::getenv("DPKG_ADMINDIR") || std::getenv("DPKG_ROOT")) return std::nullopt;
    const auto pending = files.list("/var/lib/dpkg/updates");
    if (!pending || !pending->empty()) return std::nullopt;
    const auto text = files.read("/var/lib/dpkg/status");
    if (!text) return std::nullopt;
    struct Stanza {
        std::string_view package, architecture, status, version;
    };
    std::vector<Stanza> stanzas;
    Stanza one;
    const auto end = [&] {
        if (!one.package.empty() && !one.status.ends_with("not-installed")) stanzas.push_back(one);
        one = {};
    };
    constexpr std::pair<std::string_view, std::string_view Stanza::*> kFields[] = {
        {"Package:", &Stanza::package},
        {"Architecture:", &Stanza::architecture},
        {"Status:", &Stanza::status},
        {"Version:", &Stanza::version}};
    // The file has about a megabyte, most of which is not needed, so lines are not copied.
    for (std::string_view rest = *text; !rest.empty();) {
        const auto line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
        if (line.empty()) end();
        if (line.empty() || line.front() == ' ') continue;
        for (const auto& [name, field] : kFields)
            if (line.starts_with(name)) one.*field = base::trim(line.substr(name.size()));
    }
    end();
    std::ranges::stable_sort(stanzas, {},
                             [](const Stanza& s) { return std::pair(s.package, s.architecture); });
    std::vector<PackageState> out;
    out.reserve(stanzas.size());
    for (const Stanza& s : stanzas) {
        if (auto l = parse_line(fmt::format("{} {} {}", s.status, s.package, s.version)))
            out.push_back(std::move(l->state));
    }
    return out;
}

std::vector<PackageState> list_dpkg(Context& context, const std::string&) {
    if (auto known = read_status(context)) return std::move(*known);
    Execute o;
    o.combine = false;
    o.query = true;
    const Executed done =
        execute(context, {"/usr/bin/dpkg-query", "-W", "--showformat", std::string(kFormat)}, o);
    std::vector<PackageState> out;
    for (std::string_view line : base::lines(done.output)) {
        if (auto l = parse_line(line)) out.push_back(std::move(l->state));
    }
    return out;
}

Executed Dpkg::run(std::vector<std::string> argv) {
    Execute o;
    o.environment = {{"DEBIAN_FRONTEND", "noninteractive"},
                     {"APT_LISTBUGS_FRONTEND", "none"},
                     {"APT_LISTCHANGES_FRONTEND", "none"}};
    return execute(context_, argv, o);
}

std::optional<PackageState> Dpkg::query() {
    std::string package = name();
    PackageState missing{.name = package, .versions = {"purged"}};
    try {
        if (resource_.flag("allow_virtual")) {
            Executed all =
                run({"/usr/bin/dpkg-query", "-W", "--showformat", std::string(kFormatProvides)});
            std::optional<Line> provider;
            for (std::string_view line : base::lines(all.output)) {
                if (!provider && names_package(line, package)) provider = parse_line(line);
            }
            if (provider && provider->state.name != package) {
                context_.message(Level::Info, fmt::format("Package {} is virtual, defaulting to {}",
                                                          package, provider->state.name));
                package = provider->state.name;
                resource_.set("name", context_.string(package));
            }
        }
        Executed one =
            run({"/usr/bin/dpkg-query", "-W", "--showformat", std::string(kFormat), package});
        std::optional<Line> line;
        for (std::string_view l : base::lines(one.output)) {
            if (!line) line = parse_line(l);
        }
        if (!line) {
            missing.versions = {"absent"};
            return missing;
        }
        if (line->error != "ok") {
            throw PuppetError(
                fmt::format("Package {}, version {} is in error state: {}", line->state.name,
                            line->state.versions.front(), line->error),
                "PACKAGE_STATE");
        }
        return std::move(line->state);
    } catch (const PuppetError& e) {
        if (e.issue_code() != "EXECUTION_FAILURE") throw;
        return missing;
    }
}

void Dpkg::install() {
    const std::string source = resource_.text("source");
    if (source.empty()) throw PuppetError("You cannot install dpkg packages without a source");
    install_by({"/usr/bin/dpkg", keep_configuration() ? "--force-confold" : "--force-confnew", "-i",
                source});
}

void Dpkg::install_by(std::vector<std::string> argv) {
    const bool back = is_word(resource_.should("mark"), "hold");
    if (state().held) hold(false);
    try {
        run(std::move(argv));
    } catch (...) {
        if (back) hold(true);
        throw;
    }
    if (back) hold(true);
}

void Dpkg::uninstall() { run({"/usr/bin/dpkg", "-r", name()}); }
void Dpkg::purge() { run({"/usr/bin/dpkg", "--purge", name()}); }

void Dpkg::hold(bool on) {
    Execute o;
    o.fail_on_error = false;
    o.combine = false;
    o.input = name() + (on ? " hold\n" : " install\n");
    execute(context_, {"/usr/bin/dpkg", "--set-selections"}, o);
}

std::string Dpkg::latest() {
    const std::string source = resource_.text("source");
    if (source.empty()) {
        resource_.fail("Could not update: You cannot install dpkg packages without a source");
    }
    const std::string output = run({"/usr/bin/dpkg-deb", "--show", source}).output;
    const auto words = base::words(output, " \t\n'");
    if (words.size() < 2) throw PuppetError("Could not find latest version");
    return std::string(words[1]);
}

const ProviderClass& provider_package_dpkg() {
    static constexpr PackageProviderClass kClass{
        {.name = "dpkg",
         .suitable = dpkg_suitable,
         .features = "installable uninstallable upgradeable purgeable holdable virtual_packages",
         .prefetches = true,
         .depth = 5},
        make_package_provider<Dpkg>,
        list_dpkg,
        /*allow_virtual=*/false};
    return kClass;
}

}  // namespace bunraku::apply
