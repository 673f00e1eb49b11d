// apt, and what aptitude shares with it.
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
    /// The command line of the manager for apt-get's arguments.
    virtual std::vector<std::string> manager(std::vector<std::string> arguments) const;
    /// A file in place of what the repositories have.
    virtual std::string source() const { return resource_.text("source"); }

private:
    std::string best_version(const std::string& wanted);
    void check_cdrom() const;
    void preseed();
    std::vector<std::string> removal();
};

}  // namespace bunraku::apply
