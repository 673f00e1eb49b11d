// SPDX-License-Identifier: Apache-2.0
// The provider dnf.
#include "resources/apply/providers/package/yum.h"

namespace bunraku::apply {

const ProviderClass& provider_package_dnf() {
    static constexpr PackageProviderClass kClass{
        {.name = "dnf",
         .suitable = [](Context& c) { return has_command(c, "dnf") && rpm_suitable(c); },
         .features = "installable uninstallable upgradeable purgeable versionable version_ranges "
                     "install_only install_options uninstall_options virtual_packages",
         .prefetches = true,
         .default_for =
             [](Context& c) {
                 const Platform& os = platform(c);
                 if (os.name == "amazon" && os.major == "2023") return 2;
                 const bool old = os.name == "fedora"
                                      ? os.major >= "19" && os.major <= "21"
                                      : os.major.size() == 1 && os.major >= "4" && os.major <= "7";
                 return os.family == "redhat" && !old ? 1 : 0;
             },
         .depth = 7},
        make_package_provider<Dnf>,
        list_rpm};
    return kClass;
}

}  // namespace bunraku::apply
