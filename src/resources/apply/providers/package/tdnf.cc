// SPDX-License-Identifier: Apache-2.0
// The provider tdnf.
#include "resources/apply/providers/package/yum.h"

namespace bunraku::apply {
namespace {

class Tdnf final : public Dnf {
public:
    using Dnf::Dnf;

protected:
    std::string_view program() const override { return "tdnf"; }
};

}  // namespace

const ProviderClass& provider_package_tdnf() {
    static constexpr PackageProviderClass kClass{
        {.name = "tdnf",
         .suitable = [](Context& c) { return has_command(c, "tdnf") && rpm_suitable(c); },
         .features = "installable uninstallable upgradeable purgeable versionable version_ranges "
                     "install_only install_options uninstall_options virtual_packages",
         .prefetches = true,
         .default_for = [](Context& c) { return platform(c).name == "photonos" ? 1 : 0; },
         .depth = 8},
        make_package_provider<Tdnf>,
        list_rpm};
    return kClass;
}

}  // namespace bunraku::apply
