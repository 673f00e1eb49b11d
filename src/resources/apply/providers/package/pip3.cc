// SPDX-License-Identifier: Apache-2.0
// The provider pip3.
#include "resources/apply/providers/package/pip.h"

namespace bunraku::apply {
namespace {

std::string program(Context& context) { return Pip::usual(context, {"pip3"}); }

class Pip3 final : public Pip {
public:
    using Pip::Pip;

protected:
    std::string usual() const override { return program(context_); }
};

}  // namespace

const ProviderClass& provider_package_pip3() {
    static constexpr PackageProviderClass kClass{
        {.name = "pip3",
         .suitable =
             [](Context&) { return true; },  // a missing program is reported on use, as for gem
         .features = "installable uninstallable upgradeable versionable version_ranges "
                     "install_options targetable",
         .prefetches = true,
         .depth = 0},
        make_package_provider<Pip3>,
        [](Context& c, const std::string& command) {
            return Pip::list(c, command.empty() ? program(c) : command);
        }};
    return kClass;
}

}  // namespace bunraku::apply
