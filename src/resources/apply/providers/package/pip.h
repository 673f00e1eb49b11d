// SPDX-License-Identifier: Apache-2.0
// The provider pip, and code that pip2 and pip3 share with it.
#pragma once

#include <initializer_list>

#include "resources/apply/types/package/package_provider.h"

namespace bunraku::apply {

class Pip : public PackageProvider {
public:
    using PackageProvider::PackageProvider;
    std::optional<PackageState> query() override;
    void install() override;
    void uninstall() override;
    std::string latest() override;
    bool satisfied(const PackageState& is, const std::string& wanted) override;

    /// Returns the first of `programs` that exists, or an empty string.
    static std::string usual(Context& context, std::initializer_list<std::string_view> programs);
    static std::vector<PackageState> list(Context& context, const std::string& command);

protected:
    virtual std::string usual() const;

private:
    std::string command() const;
    std::vector<std::string> on_offer();
};

}  // namespace bunraku::apply
