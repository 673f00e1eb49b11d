// dpkg, and what apt and aptitude share with it.
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
    /// Never asks anybody anything.
    Executed run(std::vector<std::string> argv);
    /// Installs by `argv`; a hold is lifted for that and comes back.
    void install_by(std::vector<std::string> argv);
    bool keep_configuration() const { return is_word(resource_.get("configfiles"), "keep"); }
};

}  // namespace bunraku::apply
