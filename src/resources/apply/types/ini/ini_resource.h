// SPDX-License-Identifier: Apache-2.0
// Code shared by ini_setting and ini_subsetting: display of values, and access to the file.
#pragma once

#include "resources/apply/types/ini/settings_file.h"

namespace bunraku::apply {

class IniResource : public ModuleResource {
public:
    using ModuleResource::ModuleResource;
    std::span<const ProviderClass* const> provider_classes() const override;

    void validate_value(const Attribute& a, const Value& v) override;
    Value default_for(const Attribute& a) override;
    Lines lines_allowed(const Attribute& a) const override {
        return a.name == "path" ? Lines::Any : Lines::Continued;
    }
    std::string is_text(const Param& p, const Value& is) const override;
    std::string should_text(const Param& p, const Value& should) const override;

protected:
    SettingsFile& settings();
    void forget_file() { file_.reset(); }
    SettingsFile::Name setting() const;
    virtual IniStyle style() const;

private:
    std::string shown(const Param& p, const Value& v) const;

    std::optional<SettingsFile> file_;
};

}  // namespace bunraku::apply
