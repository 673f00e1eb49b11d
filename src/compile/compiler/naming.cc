// SPDX-License-Identifier: Apache-2.0
#include "compile/compiler/naming.h"

#include <algorithm>

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
                // An invalid title has no names.
            }
        }
    }
    return {{of(type).namevar, std::string(title)}};
}

namespace {

/// Reports whether a definition is the body of Class[TITLE] or Node[TITLE].
bool is_body_of(const syntax::Node& definition, const catalog::Ref& ref) {
    if (ref.type == "Class") {
        return environment::definition_name(definition) == "class " + base::lower(ref.title);
    }
    const auto* node = syntax::as<syntax::NodeDefinition>(&definition);
    return node && std::ranges::any_of(node->host_matches, [&](const syntax::Node* match) {
               const std::string_view text = match->text();
               return text == ref.title || text == "'" + ref.title + "'" ||
                      text == '"' + ref.title + '"';
           });
}

std::optional<catalog::Place> body_in(const environment::ParsedFile* file,
                                      const catalog::Ref& ref) {
    if (!file || !file->tree) return std::nullopt;
    for (const syntax::Node* definition : file->tree->program->definitions) {
        if (!is_body_of(*definition, ref)) continue;
        const auto where = definition->where();
        return catalog::Place{std::string(where.file), where.line};
    }
    return std::nullopt;
}

}  // namespace

std::optional<catalog::Place> TypeNames::body_of(const catalog::Ref& ref) const {
    if (!environment_ || (ref.type != "Class" && ref.type != "Node")) return std::nullopt;
    const auto manifests = environment_->main_manifests();
    if (ref.type == "Class" && ref.title == "main") {
        if (manifests.empty() || !manifests[0]->tree) return std::nullopt;
        return catalog::Place{std::string(manifests[0]->tree->source->file()), 1};
    }
    for (const auto& file : manifests) {
        if (auto place = body_in(file.get(), ref)) return place;
    }
    if (ref.type == "Node") return std::nullopt;
    for (const auto& [module, path] : environment_->manifest_candidates(base::lower(ref.title))) {
        if (auto place = body_in(environment_->parse_manifest(path).get(), ref)) return place;
    }
    return std::nullopt;
}

}  // namespace bunraku::compiler
