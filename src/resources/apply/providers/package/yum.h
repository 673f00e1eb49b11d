// SPDX-License-Identifier: Apache-2.0
// The provider yum, and code that dnf and tdnf share with it.
#pragma once

#include "resources/apply/providers/package/rpm.h"

namespace bunraku::apply {

class Yum : public Rpm {
public:
    using Rpm::Rpm;
    void install() override;
    void purge() override;
    std::string latest() override;
    bool satisfied(const PackageState& is, const std::string& wanted) override {
        return satisfies_range(is, wanted);
    }

protected:
    virtual std::string_view program() const { return "yum"; }
    virtual std::string_view update_command() const { return "update"; }

private:
    std::vector<std::string> repository_options() const;
    std::vector<std::string> on_offer();
};

class Dnf : public Yum {
public:
    using Yum::Yum;

protected:
    std::string_view program() const override { return "dnf"; }
    std::string_view update_command() const override { return "upgrade"; }
};

}  // namespace bunraku::apply
