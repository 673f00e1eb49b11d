// SPDX-License-Identifier: Apache-2.0
// The provider opkg for OpenWrt and TurrisOS.
#include <fmt/format.h>

#include "core/base/text.h"
#include "resources/apply/types/package/package_provider.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

bool is_openwrt(Context& c) { return platform(c).named({"openwrt", "turrisos"}); }

// Parses "NAME - VERSION".
std::optional<PackageState> parse_opkg(std::string_view line) {
    const auto w = base::words(line, " \t\r");
    if (w.size() < 3 || w[1] != "-") return std::nullopt;
    return PackageState{.name = std::string(w[0]), .versions = {std::string(w[2])}};
}

std::optional<std::string> version_in(const std::string& output) {
    for (std::string_view line : base::lines(output))
        if (auto found = parse_opkg(line)) return found->versions.front();
    return std::nullopt;
}

std::vector<PackageState> list_opkg(Context& context, const std::string&) {
    std::vector<PackageState> out;
    try {
        const std::string output =
            execute(context, {command_path(context, "opkg"), "list-installed"}).output;
        for (std::string_view line : base::lines(output)) {
            if (auto p = parse_opkg(line)) {
                out.push_back(std::move(*p));
            } else {
                context.message(Level::Warning, fmt::format("Failed to match line {}", line));
            }
        }
    } catch (const PuppetError& e) {
        if (e.issue_code() != "EXECUTION_FAILURE") throw;
    }
    return out;
}

class Opkg final : public PackageProvider {
public:
    using PackageProvider::PackageProvider;

    std::optional<PackageState> query() override {
        try {
            auto version = version_in(opkg({"list-installed", name()}));
            if (!version) return std::nullopt;
            return PackageState{.name = name(), .versions = {std::move(*version)}};
        } catch (const PuppetError& e) {
            if (e.issue_code() != "EXECUTION_FAILURE") throw;
            return PackageState{.name = name(), .versions = {"purged"}};
        }
    }

    void install() override {
        // A reboot deletes the package lists.
        const auto lists = context_.system.files.list("/var/opkg-lists");
        if (!lists) throw_system(lists.error());
        if (lists->empty()) opkg({"update"});
        const std::string source = resource_.text("source");
        opkg({"--force-overwrite", "install", source.empty() ? name() : source});
    }
    void uninstall() override { opkg({"remove", name()}); }
    std::string latest() override {
        return version_in(opkg({"list", name()})).value_or(std::string());
    }

private:
    std::string opkg(std::vector<std::string> argv) {
        argv.insert(argv.begin(), command_path(context_, "opkg"));
        return execute(context_, argv).output;
    }
};

}  // namespace

const ProviderClass& provider_package_opkg() {
    static constexpr PackageProviderClass kClass{
        {.name = "opkg",
         .suitable = [](Context& c) { return is_openwrt(c) && has_command(c, "opkg"); },
         .features = "installable uninstallable upgradeable",
         .prefetches = true,
         .default_for = [](Context& c) { return is_openwrt(c) ? 1 : 0; },
         .depth = 5},
        make_package_provider<Opkg>,
        list_opkg};
    return kClass;
}

}  // namespace bunraku::apply
