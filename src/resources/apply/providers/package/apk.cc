// SPDX-License-Identifier: Apache-2.0
// The provider apk for Alpine Linux. Puppet does not have one; the attributes mean the same as in
// other providers.
#include "core/base/text.h"
#include "resources/apply/types/package/package_provider.h"

namespace bunraku::apply {

namespace {

bool is_alpine(Context& c) { return platform(c).name == "alpine"; }

// Parses "NAME-VERSION-rN ARCHITECTURE {ORIGIN} (LICENCE) [STATE]"; the version begins with a
// digit.
std::optional<PackageState> parse_apk(std::string_view line) {
    const std::string_view word = line.substr(0, line.find(' '));
    const std::size_t release = word.rfind("-r");
    const std::size_t dash =
        release == std::string_view::npos || release == 0 ? release : word.rfind('-', release - 1);
    if (dash == std::string_view::npos || dash == 0 || word[dash + 1] < '0' ||
        word[dash + 1] > '9') {
        return std::nullopt;
    }
    return PackageState{.name = std::string(word.substr(0, dash)),
                        .versions = {std::string(word.substr(dash + 1))}};
}

std::vector<PackageState> query_packages(Context& context, std::vector<std::string> argv) {
    argv.insert(argv.begin(), {command_path(context, "apk"), "list"});
    std::vector<PackageState> out;
    const std::string output = execute(context, argv, {.combine = false, .query = true}).output;
    for (std::string_view line : base::lines(output))
        if (auto p = parse_apk(line)) out.push_back(std::move(*p));
    return out;
}

std::vector<PackageState> list_apk(Context& context, const std::string&) {
    return query_packages(context, {"--installed"});
}

class Apk final : public PackageProvider {
public:
    using PackageProvider::PackageProvider;

    std::optional<PackageState> query() override {
        for (PackageState& p : query_packages(context_, {"--installed", name()}))
            if (p.name == name()) return std::move(p);
        return std::nullopt;
    }
    void install() override {
        const std::string source = resource_.text("source");
        std::vector<std::string> argv{command_path(context_, "apk"), "add"};
        if (wanted() == "latest") argv.emplace_back("--upgrade");
        for (std::string& o : options("install_options")) argv.push_back(std::move(o));
        argv.push_back(!source.empty() ? source : versioned() ? name() + "=" + wanted() : name());
        execute(context_, argv);
    }
    void uninstall() override {
        std::vector<std::string> argv{command_path(context_, "apk"), "del"};
        for (std::string& o : options("uninstall_options")) argv.push_back(std::move(o));
        argv.push_back(name());
        execute(context_, argv);
    }
    std::string latest() override {
        for (const PackageState& p : query_packages(context_, {"--upgradable", name()}))
            if (p.name == name()) return p.versions.front();
        return state().versions.front();
    }
};

}  // namespace

const ProviderClass& provider_package_apk() {
    static constexpr PackageProviderClass kClass{
        {.name = "apk",
         .suitable = [](Context& c) { return has_command(c, "apk"); },
         .features = "installable uninstallable upgradeable versionable install_options "
                     "uninstall_options",
         .prefetches = true,
         .default_for = [](Context& c) { return is_alpine(c) ? 1 : 0; },
         .depth = 1},
        make_package_provider<Apk>,
        list_apk};
    return kClass;
}

}  // namespace bunraku::apply
