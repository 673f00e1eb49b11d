// SPDX-License-Identifier: Apache-2.0
// The provider puppet_gem: gems of the Ruby in the package puppet-agent.
#include "resources/apply/providers/package/gem.h"

namespace bunraku::apply {
namespace {

constexpr const char* kGem = "/opt/puppetlabs/puppet/bin/gem";

class PuppetGem final : public Gem {
public:
    using Gem::Gem;

protected:
    std::string usual() const override { return kGem; }
};

std::vector<PackageState> list(Context& context, const std::string& command) {
    return Gem::list(context, "puppet_gem", command.empty() ? kGem : command, {"--local"});
}

}  // namespace

const ProviderClass& provider_package_puppet_gem() {
    static constexpr PackageProviderClass kClass{
        {.name = "puppet_gem",
         .suitable = [](Context& c) { return has_command(c, kGem); },
         .features = "installable uninstallable upgradeable versionable version_ranges "
                     "install_options uninstall_options targetable",
         .prefetches = true,
         .depth = 0},
        make_package_provider<PuppetGem>,
        list};
    return kClass;
}

}  // namespace bunraku::apply
