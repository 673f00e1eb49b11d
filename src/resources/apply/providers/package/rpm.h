// SPDX-License-Identifier: Apache-2.0
// The provider rpm, and code that the managers based on it share.
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
    /// Reports whether the state satisfies a version or a range, as in yum, dnf and zypper.
    bool satisfies_range(const PackageState& is, const std::string& wanted);
    /// Returns the newest version of `on_offer` within a range. Returns `wanted` unchanged if it is
    /// not a range or if no available version is within it.
    std::string best_version(const std::string& wanted,
                             const std::function<std::vector<std::string>()>& on_offer);
};

}  // namespace bunraku::apply
