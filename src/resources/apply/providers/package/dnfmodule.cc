// SPDX-License-Identifier: Apache-2.0
// The provider dnfmodule: streams and profiles of DNF modules. `ensure` is the stream and `flavor`
// the profile. The command lines are those of OpenVox 8.19.
#include <fmt/format.h>

#include "core/base/text.h"
#include "resources/apply/types/package/package_provider.h"
#include "resources/apply/types/package/versions.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

constexpr const char* kDnf = "/usr/bin/dnf";

// Parses a line of `dnf module list`: NAME STREAM PROFILES SUMMARY, where [e], [i] and [x] mark
// what is enabled, installed and disabled. Other lines are headings or modules that are not used.
std::optional<PackageState> parse_module(std::string_view given) {
    std::string line;
    for (std::size_t at = 0; at < given.size();) {
        const bool is_default = given.substr(at).starts_with("[d]");
        if (!is_default) line += given[at];
        at += is_default ? 3 : 1;
    }
    const auto marked = [&](std::string_view mark) {
        const std::size_t at = line.find(mark);
        return at != std::string::npos && at + mark.size() < line.size() &&
               (line[at + mark.size()] == ',' || line[at + mark.size()] == ' ');
    };
    if (!marked("[e]") && !marked("[i]") && !marked("[x]")) return std::nullopt;
    const auto words = base::words(line, " \t\r");
    if (words.size() < 2) return std::nullopt;
    const bool disabled = line.find("[x]") != std::string::npos;
    PackageState out{.name = std::string(words[0]),
                     .versions = {disabled ? "disabled" : std::string(words[1])}};
    if (const std::size_t at = line.find("[i]"); at != std::string::npos) {
        const auto before = base::words(std::string_view(line).substr(0, at), " \t\r");
        if (!before.empty()) out.flavor = before.back();
    }
    return out;
}

std::vector<PackageState> modules(Context& context) {
    std::vector<PackageState> out;
    const std::string output = execute(context, {kDnf, "module", "list", "-y"}).output;
    for (std::string_view line : base::lines(output))
        if (auto one = parse_module(line)) out.push_back(std::move(*one));
    return out;
}

std::vector<PackageState> list_modules(Context& context, const std::string&) {
    const std::string version = execute(context, {kDnf, "--version"}).output;
    const auto words = base::words(version, " \t\r\n");
    if (words.empty() || RpmVersion::parse(words[0])->compare(*RpmVersion::parse("3.0.1")) < 0)
        throw PuppetError("Modules are not supported on DNF versions lower than 3.0.1");
    return modules(context);
}

class DnfModule final : public PackageProvider {
public:
    using PackageProvider::PackageProvider;

    std::optional<PackageState> query() override {
        for (PackageState& one : modules(context_))
            if (one.name == name()) return std::move(one);
        return std::nullopt;
    }

    void install() override {
        // Two streams of a module cannot be installed at the same time.
        if (!state().gone()) uninstall();
        std::string what = name();
        if (versioned()) what += ":" + wanted();
        if (has_flavor()) what += "/" + plain(resource_.should("flavor"));
        if (resource_.flag("enable_only")) return dnf("enable", what);
        try {
            dnf("install", what);
        } catch (const PuppetError& e) {
            // A module without a default profile can only be enabled. DNF does this by itself from
            // version 4.2.8 on.
            if (has_flavor() || !lacks_profile(e.message(), what)) throw;
            dnf("enable", what);
        }
    }
    void uninstall() override {
        dnf("remove", name());
        dnf("reset", name());
    }
    void disable() override { dnf("disable", name()); }
    void change_flavor() override {
        if (state().flavor != plain(resource_.should("flavor"))) install();
    }
    // The streams of a module have no order, so none is the latest.
    std::string latest() override { return state().versions.front(); }

private:
    void dnf(const char* action, const std::string& what) {
        execute(context_, {kDnf, "module", action, "-y", what});
    }
    static bool lacks_profile(std::string_view message, const std::string& what) {
        for (std::string_view line : base::lines(message)) {
            for (std::string_view kind : {"missing", "broken"})
                if (line == fmt::format("{} groups or modules: {}", kind, what)) return true;
        }
        return false;
    }
};

}  // namespace

const ProviderClass& provider_package_dnfmodule() {
    static constexpr PackageProviderClass kClass{
        {.name = "dnfmodule",
         .suitable = [](Context& c) { return has_command(c, kDnf); },
         .features = "installable uninstallable versionable purgeable supports_flavors disableable",
         .prefetches = true,
         // In Puppet it is one deeper than dnf, and is then the default of systems that Puppet does
         // not know. A module is not what `package` means there.
         .depth = 6},
        make_package_provider<DnfModule>,
        list_modules,
        /*allow_virtual=*/false};
    return kClass;
}

}  // namespace bunraku::apply
