// SPDX-License-Identifier: Apache-2.0
// The provider zypper.
#include <fmt/format.h>

#include "core/base/text.h"
#include "resources/apply/providers/package/rpm.h"

namespace bunraku::apply {
namespace {

constexpr const char* kZypper = "/usr/bin/zypper";

// Returns the columns of a zypper table without surrounding spaces.
std::vector<std::string_view> columns(std::string_view line) {
    std::vector<std::string_view> out;
    while (true) {
        const std::size_t bar = line.find('|');
        out.push_back(base::trim(line.substr(0, bar)));
        if (bar == std::string_view::npos) return out;
        line.remove_prefix(bar + 1);
    }
}

bool suse(Context& c) { return platform(c).named({"suse", "sles", "sled", "opensuse"}); }

class Zypper final : public Rpm {
public:
    using Rpm::Rpm;

    void install() override {
        const std::string want = wanted();
        debug(fmt::format("Ensuring => {}", want));
        std::string what = name();
        if (versioned()) what += "-" + best_version(want, [&] { return on_offer(); });
        std::vector<std::string> argv{kZypper, "--quiet"};
        // These two are global options of zypper. All others are options of its install command.
        std::vector<std::string> extra;
        for (std::string& o : options("install_options")) {
            (o == "--no-gpg-check" || o == "--no-gpg-checks" ? argv : extra)
                .push_back(std::move(o));
        }
        for (std::string_view o : {"install", "--auto-agree-with-licenses", "--no-confirm"}) {
            argv.emplace_back(o);
        }
        argv.insert(argv.end(), extra.begin(), extra.end());
        if (!resource_.flag("allow_virtual") && !versioned()) argv.emplace_back("--name");
        argv.push_back(what);
        execute(context_, argv);
        if (!query()) throw base::PuppetError(fmt::format("Could not find package {}", name()));
    }

    void uninstall() override { execute(context_, {kZypper, "remove", "--no-confirm", name()}); }

    std::string latest() override {
        const std::string output = execute(context_, {kZypper, "list-updates"}).output;
        std::string found;
        for (std::string_view line : base::lines(output)) {
            const auto c = columns(line);
            if (c.size() > 4 && c[0] == "v" && c[2] == name()) found = c[4];
        }
        return found.empty() ? state().versions.front() : found;
    }

    bool satisfied(const PackageState& is, const std::string& wanted) override {
        return satisfies_range(is, wanted);
    }

private:
    std::vector<std::string> on_offer() {
        const std::string output =
            execute(context_, {kZypper, "search", "--match-exact", "--type", "package",
                               "--uninstalled-only", "-s", name()})
                .output;
        std::vector<std::string> out;
        for (std::string_view line : base::lines(output)) {
            const auto c = columns(line);
            if (c.size() > 3 && c[1] == name()) out.emplace_back(c[3]);
        }
        return out;
    }
};

}  // namespace

const ProviderClass& provider_package_zypper() {
    static constexpr PackageProviderClass kClass{
        {.name = "zypper",
         .suitable =
             [](Context& c) { return suse(c) && has_command(c, kZypper) && rpm_suitable(c); },
         .features =
             "installable uninstallable upgradeable versionable install_only install_options "
             "uninstall_options virtual_packages",
         .prefetches = true,
         .default_for = [](Context& c) { return suse(c) ? 1 : 0; },
         .depth = 6},
        make_package_provider<Zypper>,
        list_rpm};
    return kClass;
}

}  // namespace bunraku::apply
