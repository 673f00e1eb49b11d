// SPDX-License-Identifier: Apache-2.0
// The provider aptitude.
#include <algorithm>
#include <fmt/format.h>

#include "core/base/text.h"
#include "resources/apply/providers/package/apt.h"

namespace bunraku::apply {
namespace {

class Aptitude final : public Apt {
public:
    using Apt::Apt;
    void install() override {
        Apt::install();
        forget();
        // aptitude exits successfully even if the package does not exist.
        if (state().gone()) {
            throw base::PuppetError(fmt::format("Could not find package {}", name()));
        }
    }
    bool fetches() const override { return false; }
    void purge() override { run({"/usr/bin/aptitude", "-y", "purge", name()}); }

protected:
    std::vector<std::string> manager(std::vector<std::string> arguments) const override {
        std::erase_if(arguments,
                      [](const std::string& a) { return a == "-q" || a == "--allow-downgrades"; });
        arguments.insert(arguments.begin(), "/usr/bin/aptitude");
        return arguments;
    }
    std::string source() const override { return {}; }
};

}  // namespace

const ProviderClass& provider_package_aptitude() {
    static constexpr PackageProviderClass kClass{
        {.name = "aptitude",
         .suitable =
             [](Context& c) { return apt_suitable(c) && has_command(c, "/usr/bin/aptitude"); },
         .features = "installable uninstallable upgradeable purgeable versionable holdable",
         .prefetches = true,
         .depth = 7},
        make_package_provider<Aptitude>,
        list_dpkg,
        /*allow_virtual=*/false};
    return kClass;
}

}  // namespace bunraku::apply
