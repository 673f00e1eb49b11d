// SPDX-License-Identifier: Apache-2.0
// The type ini_setting: a setting in a file with sections (puppetlabs-inifile).
#include <algorithm>
#include <fmt/format.h>

#include "core/base/number.h"
#include "resources/apply/registry.h"
#include "resources/apply/types/ini/ini_resource.h"

namespace bunraku::apply {
namespace {

bool is_switch(const Attribute& a) {
    return a.name == "force_new_section_creation" || a.name == "refreshonly";
}

/// Returns `indent_width` as a number, or nullopt if it is invalid.
std::optional<std::size_t> width_of(const Value& v) {
    if (v.is_integer() && v.as_integer() >= 0 && v.as_integer() < 4096)
        return static_cast<std::size_t>(v.as_integer());
    if (!v.is_string() || v.as_string().size() > 3) return std::nullopt;
    return base::parse_integer<std::size_t>(v.as_string());
}

class IniSetting final : public IniResource {
public:
    using IniResource::IniResource;

    bool does(const Given& given) const override {
        const Value width = given("indent_width"), setting = given("setting"), path = given("path");
        Value value = given("value");
        if (value.is(value::Kind::Sensitive)) value = value.unwrap();
        if (!text_or_nothing(value) && !value.is(value::Kind::Boolean) && !value.is_integer())
            return false;
        // A bug of the module makes whitespace at either end of a setting an error.
        if (setting.is_string() && match_of(pattern_of("^\\s|\\s$"), setting.as_string()))
            return false;
        return path.is_string() && (width.is_undef() || width_of(width)) &&
               all_texts_or_nothing(given, {"section", "setting", "key_val_separator",
                                            "section_prefix", "section_suffix", "indent_char"});
    }

    Value munge(const Attribute& a, const Value& v) override {
        if (is_switch(a)) return coerced(v);
        if (a.name == "value") return context_.string(stripped(plain(v)));
        return IniResource::munge(a, v);
    }
    Value default_for(const Attribute& a) override {
        if (a.name == "section_prefix") return Value::string("[");
        if (a.name == "section_suffix") return Value::string("]");
        if (a.name == "indent_char") return Value::string(" ");
        if (is_switch(a)) return Value::boolean(a.name == "force_new_section_creation");
        return IniResource::default_for(a);
    }
    void collect_auto_relations(std::vector<AutoRelation>& out) const override {
        out.push_back({Relation::Require, "file", std::string(sys::directory_name(text("path")))});
    }

    Value retrieve_property(const Param& p) override {
        if (p.spec->name == "ensure") return Value::string(exists() ? "present" : "absent");
        const auto found = settings().value(section(), setting());
        return found ? context_.string(*found) : Value::undef();
    }
    bool insync(Param& p, const Value& is) override {
        return flag("refreshonly") || IniResource::insync(p, is);
    }
    bool knows_corrections(const Param&) const override { return !flag("refreshonly"); }

    void sync(Param& p) override {
        if (p.spec->name == "value") return write();
        const std::string wanted = plain(should(p));
        call_value(*this, wanted, p.spec->name, [&] {
            if (wanted == "absent") {
                settings().remove(section(), setting());
                settings().save();
            } else {
                write();
            }
            forget_file();
        });
    }

    bool refreshable() const override { return true; }
    void refresh() override {
        if (!flag("refreshonly")) return;
        if (is_absent(should("ensure"))) {
            settings().remove(section(), setting());
            settings().save();
            forget_file();
        } else {
            write();
        }
    }

protected:
    IniStyle style() const override {
        IniStyle out = IniResource::style();
        out.prefix = text("section_prefix");
        out.suffix = text("section_suffix");
        out.indent = text("indent_char");
        out.width = width_of(get("indent_width"));
        return out;
    }

private:
    std::string section() const { return text("section"); }

    bool exists() {
        SettingsFile& f = settings();
        if (!setting() && style().level >= kIniSectionsExist) return f.has(section());
        if (f.has(section())) return f.value(section(), setting()).has_value();
        // If the section is missing and must not be created, treat the setting as absent.
        if (!flag("force_new_section_creation")) set("ensure", Value::string("absent"));
        return false;
    }

    void write() {
        const Value value = should("value");
        settings().set(section(), setting(),
                       value.is_undef() ? std::nullopt : std::optional(plain(value)));
        settings().save();
    }
};

}  // namespace

std::unique_ptr<Resource> make_ini_setting(Context& context, const TypeSpec& spec) {
    return std::make_unique<IniSetting>(context, spec);
}

}  // namespace bunraku::apply
