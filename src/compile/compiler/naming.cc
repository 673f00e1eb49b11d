#include "compile/compiler/naming.h"

#include "compile/compiler/ruby_types.h"
#include "core/base/text.h"
#include "resources/restype/spec.h"

namespace bunraku::compiler {

catalog::TypeNaming TypeNames::of(std::string_view type) const {
    catalog::TypeNaming naming;
    if (type == "Class" || type.find(':') != std::string_view::npos) return naming;
    auto name = base::lower(type);
    if (const auto* spec = restype::find_type(name)) {
        naming.composite = spec->composite_namevar;
        naming.isomorphic = spec->isomorphic;
        if (!naming.composite) naming.namevar = spec->namevar();
        return naming;
    }
    if (!environment_) return naming;
    if (const auto* spec = find_ruby_type(*environment_, name)) {
        naming.composite = spec->composite_namevar;
        naming.isomorphic = spec->isomorphic;
        if (!naming.composite) naming.namevar = spec->namevar();
        return naming;
    }
    auto it = ruby_namevars_.find(name);
    if (it == ruby_namevars_.end()) {
        auto file = environment_->ruby_type_file(name);
        it = ruby_namevars_
                 .emplace(name, file ? environment_->ruby_type_namevar(*file) : std::string("name"))
                 .first;
    }
    naming.namevar = it->second;
    return naming;
}

std::vector<std::pair<std::string_view, std::string>> TypeNames::parse_title(
    std::string_view type, std::string_view title) const {
    if (type != "Class" && type.find(':') == std::string_view::npos) {
        if (const auto* spec = restype::find_type(base::lower(type))) {
            return restype::parse_title(*spec, title);
        }
        const auto* spec =
            environment_ ? find_ruby_type(*environment_, base::lower(type)) : nullptr;
        if (spec) {
            try {
                return restype::parse_title(*spec, title);
            } catch (const base::PuppetError&) {
                // Such a title names nothing.
            }
        }
    }
    return {{of(type).namevar, std::string(title)}};
}

}  // namespace bunraku::compiler
