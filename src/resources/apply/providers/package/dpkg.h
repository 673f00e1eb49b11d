// SPDX-License-Identifier: Apache-2.0
// The provider dpkg, and code that apt and aptitude share with it.
#pragma once

#include "resources/apply/types/package/package_provider.h"

namespace bunraku::apply {

bool dpkg_suitable(Context& context);
std::vector<PackageState> list_dpkg(Context& context, const std::string& command);

class Dpkg : public PackageProvider {
public:
    using PackageProvider::PackageProvider;
    std::optional<PackageState> query() override;
    void install() override;
    void uninstall() override;
    void purge() override;
    void hold(bool on) override;
    std::string latest() override;

protected:
    /// Runs a command that never prompts the user.
    Executed run(std::vector<std::string> argv);
    /// Installs with the command `argv`. Removes a hold before and restores it afterwards.
    void install_by(std::vector<std::string> argv);
    bool keep_configuration() const { return is_word(resource_.get("configfiles"), "keep"); }
};

}  // namespace bunraku::apply
