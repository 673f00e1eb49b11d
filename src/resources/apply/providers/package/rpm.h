// rpm, and what the managers on top of it share with it.
#pragma once

#include <functional>

#include "resources/apply/types/package/package_provider.h"
#include "resources/apply/types/package/versions.h"

namespace bunraku::apply {

bool rpm_suitable(Context& context);
std::vector<PackageState> list_rpm(Context& context, const std::string& command);

class Rpm : public PackageProvider {
public:
    using PackageProvider::PackageProvider;
    std::optional<PackageState> query() override;
    void install() override;
    void uninstall() override;
    std::string latest() override;
    bool satisfied(const PackageState& is, const std::string& wanted) override;

protected:
    /// A range counts too, as yum, dnf and zypper have it.
    bool satisfies_range(const PackageState& is, const std::string& wanted);
    /// The newest version of `on_offer` for a range; what is no range, or is offered by nobody, as
    /// it is.
    std::string best_version(const std::string& wanted,
                             const std::function<std::vector<std::string>()>& on_offer);
};

}  // namespace bunraku::apply
