// SPDX-License-Identifier: Apache-2.0
// The provider apt, and code that aptitude shares with it.
#pragma once

#include "resources/apply/providers/package/dpkg.h"

namespace bunraku::apply {

bool apt_suitable(Context& context);

class Apt : public Dpkg {
public:
    using Dpkg::Dpkg;
    void install() override;
    void uninstall() override;
    void purge() override;
    std::string latest() override;
    bool satisfied(const PackageState& is, const std::string& wanted) override;
    void flush() override;
    void fetch(const std::vector<std::string>& names) override;
    bool fetches() const override { return true; }

protected:
    /// Returns the manager's command line with apt-get's arguments.
    virtual std::vector<std::string> manager(std::vector<std::string> arguments) const;
    /// Returns a package file to install instead of a package from the repositories.
    virtual std::string source() const { return resource_.text("source"); }

private:
    std::string best_version(const std::string& wanted);
    void check_cdrom() const;
    void preseed();
    std::vector<std::string> removal();
};

}  // namespace bunraku::apply
