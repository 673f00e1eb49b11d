// SPDX-License-Identifier: Apache-2.0
#include "resources/apply/types/ini/ini_resource.h"

#include "core/codec/digest.h"
#include "resources/apply/module_releases.h"

namespace bunraku::apply {
namespace {

bool ini_suitable(Context&) { return true; }
constexpr ProviderClass kIniRuby{.name = "ruby", .suitable = ini_suitable};
constexpr const ProviderClass* kIniProviders[] = {&kIniRuby};

}  // namespace

std::span<const ProviderClass* const> IniResource::provider_classes() const {
    return kIniProviders;
}

void IniResource::validate_value(const Attribute& a, const Value& v) {
    if (a.name == "path") return check_absolute(v);
    Resource::validate_value(a, v);
}

Value IniResource::default_for(const Attribute& a) {
    if (a.name == "ensure") return Value::string("present");
    if (a.name == "section") return Value::string("");
    if (a.name == "show_diff") return Value::string("true");
    if (a.name == "key_val_separator") return Value::string(" = ");
    return {};
}

std::string IniResource::shown(const Param& p, const Value& v) const {
    if (p.spec->name != "value") return display(v);
    const std::string how = context_.options.show_diff ? text("show_diff") : "";
    if (how == "true") return plain(v.is_undef() ? Value::string("") : v);
    if (how == "md5")
        return "{md5}" +
               codec::hex_digest(codec::DigestKind::Md5, v.is_undef() ? std::string() : plain(v));
    return "[redacted sensitive information]";
}
std::string IniResource::is_text(const Param& p, const Value& is) const { return shown(p, is); }
std::string IniResource::should_text(const Param& p, const Value& should) const {
    return shown(p, should);
}

SettingsFile::Name IniResource::setting() const {
    const Value v = get("setting");
    return v.is_undef() ? std::nullopt : SettingsFile::Name(plain(v));
}

IniStyle IniResource::style() const {
    IniStyle out;
    out.separator = text("key_val_separator");
    out.level = module_level(context_, spec_.name);
    return out;
}

SettingsFile& IniResource::settings() {
    if (!file_) file_.emplace(context_, text("path"), style());
    return *file_;
}

}  // namespace bunraku::apply
