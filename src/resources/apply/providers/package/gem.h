// SPDX-License-Identifier: Apache-2.0
// The provider gem, and code that puppet_gem shares with it.
#pragma once

#include "resources/apply/types/package/package_provider.h"

namespace bunraku::apply {

class Gem : public PackageProvider {
public:
    using PackageProvider::PackageProvider;
    std::optional<PackageState> query() override;
    void install() override { install(true); }
    void update() override { install(false); }
    void uninstall() override;
    std::string latest() override;
    bool satisfied(const PackageState& is, const std::string& wanted) override;

    /// Runs RubyGems' program `command`. Throws if it does not exist.
    static Executed run(Context& context, std::string_view provider, const std::string& command,
                        std::vector<std::string> arguments);
    static std::vector<PackageState> list(Context& context, std::string_view provider,
                                          const std::string& command,
                                          std::vector<std::string> arguments);

protected:
    /// Returns the default program, or an empty string if there is none.
    virtual std::string usual() const { return usual_gem(context_); }
    static std::string usual_gem(Context& context);

private:
    void install(bool with_version);
    std::string command() const;
    friend std::vector<PackageState> list_gem(Context& context, const std::string& command);
};

}  // namespace bunraku::apply
