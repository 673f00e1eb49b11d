// SPDX-License-Identifier: Apache-2.0
// The provider pip for Python packages.
#include "resources/apply/providers/package/pip.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/text.h"
#include "resources/apply/types/package/versions.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

PipVersion version_of(Context& context, const std::string& command) {
    Execute o;
    o.fail_on_error = false;
    const std::string output = execute(context, {command, "--version"}, o).output;
    std::optional<PipVersion> version;
    for (std::string_view line : base::lines(output)) {
        const auto w = base::words(line, " \t\r");
        if (!version && w.size() > 1 && w[0] == "pip") version = PipVersion::parse(w[1]);
    }
    if (!version) throw PuppetError("Cannot resolve pip version");
    return *version;
}

bool before(const PipVersion& a, std::string_view b) {
    return a.compare(*PipVersion::parse(b)) < 0;
}

}  // namespace

std::string Pip::usual(Context& context, std::initializer_list<std::string_view> programs) {
    for (std::string_view p : programs) {
        if (has_command(context, p)) return command_path(context, p);
    }
    return {};
}

std::string Pip::usual() const { return usual(context_, {"pip", "pip-python", "pip2", "pip-2"}); }

std::string Pip::command() const {
    const std::string given = resource_.text("command");
    const std::string command = given.empty() ? usual() : given;
    if (command.empty()) {
        throw PuppetError(fmt::format("Provider {} package command is not functional on this host",
                                      resource_.provider_name()));
    }
    const auto status = context_.system.files.stat(command);
    if (!status || status->kind != sys::FileKind::File) {
        throw PuppetError(
            fmt::format("Provider {} package command '{}' does not exist on this host",
                        resource_.provider_name(), command));
    }
    return command;
}

// Parses lines of NAME==VERSION, NAME===VERSION or NAME @ URL@VERSION.
std::vector<PackageState> Pip::list(Context& context, const std::string& command) {
    std::vector<PackageState> out;
    if (command.empty()) return out;
    std::vector<std::string> argv{command, "freeze"};
    const PipVersion tool = version_of(context, command);
    const bool all = !before(tool, "8.1.0");
    if (all) argv.emplace_back("--all");
    Execute o;
    o.combine = false;
    const std::string output = execute(context, argv, o).output;
    for (std::string_view line : base::lines(output)) {
        line = base::trim(line);
        std::size_t name = line.find("=="), version = std::string_view::npos;
        if (name != std::string_view::npos) {
            version = line.find_first_not_of('=', name);
        } else if (name = line.find(" @ "); name != std::string_view::npos) {
            version = line.rfind('@');
            version = version > name + 2 ? version + 1 : std::string_view::npos;
        }
        if (version == std::string_view::npos || version >= line.size()) continue;
        out.push_back({.name = std::string(line.substr(0, name)),
                       .versions = {std::string(line.substr(version))},
                       .command = command});
    }
    return out;
}

std::optional<PackageState> Pip::query() {
    for (PackageState& p : list(context_, command())) {
        if (base::same_ignoring_case(p.name, name())) return std::move(p);
    }
    return std::nullopt;
}

// Requests an impossible version, because pip then lists the available ones.
std::vector<std::string> Pip::on_offer() {
    const std::string tool = command();
    const PipVersion version = version_of(context_, tool);
    std::vector<std::string> argv{tool, "install", name() + "==9!0dev0+x"};
    if (!before(version, "20.2.5") && before(version, "21.1")) {
        argv.emplace_back("--use-deprecated=legacy-resolver");
    }
    for (std::string& o : options("install_options")) argv.push_back(std::move(o));
    Execute o;
    o.fail_on_error = false;
    const std::string output = execute(context_, argv, o).output;
    std::vector<std::string> out;
    const std::size_t at = output.find("from versions: ");
    if (at == std::string::npos) return out;
    const std::size_t end = output.find(')', at);
    for (std::string_view v :
         base::words(std::string_view(output).substr(at + 15, end - at - 15), ", ")) {
        out.emplace_back(v);
    }
    std::stable_sort(out.begin(), out.end(), [](const std::string& a, const std::string& b) {
        const auto x = PipVersion::parse(a), y = PipVersion::parse(b);
        return x && y && x->compare(*y) < 0;
    });
    return out;
}

std::string Pip::latest() {
    auto all = on_offer();
    return all.empty() ? std::string() : std::move(all.back());
}

bool Pip::satisfied(const PackageState& is, const std::string& wanted) {
    if (is.gone()) return false;
    const auto range = VersionRange<PipVersion>::parse(wanted);
    if (!range) {
        debug(fmt::format("Cannot parse {} as a pip version range", wanted));
        return false;
    }
    const auto version = PipVersion::parse(is.versions.front());
    if (!version) debug(fmt::format("Cannot parse {} as a pip version", is.versions.front()));
    return version && range->includes(*version);
}

void Pip::install() {
    std::vector<std::string> argv{command(), "install", "-q"};
    for (std::string& o : options("install_options")) argv.push_back(std::move(o));
    const std::string want = wanted(), source = resource_.text("source");
    if (!source.empty()) {
        argv.push_back(fmt::format("{}{}#egg={}", source, versioned() ? "@" + want : "", name()));
    } else if (want == "latest") {
        argv.emplace_back("--upgrade");
        argv.push_back(name());
    } else if (!versioned()) {
        argv.push_back(name());
    } else {
        const auto range = VersionRange<PipVersion>::parse(want);
        if (!range)
            debug(fmt::format("Cannot parse {} as a pip version range, falling through.", want));
        if (!range || range->exact()) {
            argv.push_back(name() + "==" + want);
        } else if (auto best = best_of(*range, on_offer())) {
            argv.push_back(name() + "==" + *best);
        } else {
            debug(fmt::format("No available version for package {} is included in range {}", name(),
                              want));
            // pip reports the error itself.
            std::string text;
            for (std::string_view word : base::words(want, " \t")) {
                text += (text.empty() ? "" : ",") + std::string(word);
            }
            argv.push_back(name() + " " + text);
        }
    }
    execute(context_, argv);
}

void Pip::uninstall() { execute(context_, {command(), "uninstall", "-y", "-q", name()}); }

const ProviderClass& provider_package_pip() {
    static constexpr PackageProviderClass kClass{
        {.name = "pip",
         .suitable = [](Context&) { return true; },  // for the same reason as in gem
         .features = "installable uninstallable upgradeable versionable version_ranges "
                     "install_options targetable",
         .prefetches = true,
         .depth = 0},
        make_package_provider<Pip>,
        [](Context& c, const std::string& command) {
            return Pip::list(c, command.empty()
                                    ? Pip::usual(c, {"pip", "pip-python", "pip2", "pip-2"})
                                    : command);
        }};
    return kClass;
}

}  // namespace bunraku::apply
