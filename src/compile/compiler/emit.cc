// SPDX-License-Identifier: Apache-2.0
// Conversion of the compile's state into an immutable catalog.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "compile/compiler/compilation.h"
#include "core/base/uuid.h"

namespace bunraku::compiler {

namespace {

/// Maps the names of files if the environment's folder is a link to a versioned folder. Names use
/// the link, unless the setting `report_configured_environmentpath` is off
/// (Environment#externalize_path).
class FileNames {
public:
    explicit FileNames(const environment::Environment& environment) {
        const auto& spec = environment.spec();
        if (!spec.setting || spec.setting("versioned_environment_dirs") != "true" ||
            spec.setting("report_configured_environmentpath") == "false" || !spec.directory.empty())
            return;
        for (const auto& parent : spec.environmentpath) {
            const auto linked = parent + "/" + environment.name();
            if (!environment.stat(linked).directory) continue;
            if (linked != environment.directory()) {
                real_ = environment.directory();
                linked_ = linked;
            }
            return;
        }
    }
    std::string operator()(std::string_view file) const {
        if (real_.empty() || !file.starts_with(real_)) return std::string(file);
        return linked_ + std::string(file.substr(real_.size()));
    }

private:
    std::string real_, linked_;
};

bool is_relation(std::string_view parameter) {
    return parameter == "before" || parameter == "notify" || parameter == "require" ||
           parameter == "subscribe";
}

/// Returns the items of nested arrays as one array, without undef.
Value flattened(base::Arena& arena, const Value& array) {
    std::vector<Value> items;
    const auto flatten = [&](auto&& self, const Value& item) -> void {
        if (item.is_array()) {
            for (const auto& inner : item.as_array()) self(self, inner);
        } else if (!item.is_undef()) {
            items.push_back(item);
        }
    };
    flatten(flatten, array);
    return Value::array(arena.copy(std::span<const Value>(items)));
}

/// Adds the parameters that have a value. The resources of a catalog have lower-case parameter
/// names, as in Puppet::Resource; the last of several equal names wins.
void emit_parameters(base::Arena& arena, const Resource& resource,
                     std::vector<catalog::Parameter>& out) {
    out.reserve(resource.params.size());
    bool lowered = false;
    for (const auto& p : resource.params) {
        if (p.value.is_undef()) continue;
        const Value v =
            p.value.is_array() && is_relation(p.name) ? flattened(arena, p.value) : p.value;
        std::string name(downcase(arena, p.name));
        lowered = lowered || name != p.name;
        const auto same =
            lowered ? std::ranges::find(out, name, &catalog::Parameter::name) : out.end();
        if (same != out.end()) {
            same->value = v;
        } else {
            out.push_back({std::move(name), v});
        }
    }
}

}  // namespace

std::shared_ptr<catalog::Catalog> Compilation::emit() {
    const FileNames file_name(*request_.environment);
    auto out = std::make_shared<catalog::Catalog>();
    out->arena = request_.arena;
    out->name = request_.node.name;
    out->environment = request_.environment->name();
    out->code_id = request_.code_id;
    out->catalog_uuid = base::random_uuid();
    if (version_) {
        out->version = *version_;
        out->version_is_number = false;
    } else {
        // The version is only a label, so what it reads is not part of the trace.
        const environment::Trace::Recording unseen(nullptr);
        out->version = std::to_string(request_.inputs->now_ns() / 1'000'000'000);
    }

    constexpr auto kGone = ~std::uint32_t{0};
    std::vector<std::uint32_t> place(table_.all().size(), kGone);
    out->resources.reserve(table_.all().size());
    for (const Resource* r : table_.all()) {
        if (r->virtual_ && !r->exported) continue;
        place[r->position] = static_cast<std::uint32_t>(out->resources.size());
        catalog::Resource& made = out->resources.emplace_back();
        made.ref = {std::string(r->type.name), std::string(r->title)};
        made.file = file_name(r->file);
        made.line = r->line;
        made.exported = r->exported;
        made.virtual_ = r->virtual_;
        made.kind = r->kind;
        made.title_is_text = r->title_is_text;
        made.tags.reserve(r->tags.ids().size());
        for (auto id : r->tags.ids()) made.tags.emplace_back(tag_table_.text(id));
        for (auto alias : table_.aliases(*r)) {
            if (alias.find('\0') == std::string_view::npos && alias != r->title)
                made.aliases.emplace_back(alias);
        }
        emit_parameters(arena(), *r, made.parameters);
    }
    // Sorts edges by target, in the order of Puppet's graph.
    for (const Resource* r : table_.all()) {
        if (place[r->position] == kGone) continue;
        for (const Resource* source : r->contained_in) {
            if (place[source->position] == kGone) continue;
            out->edges.push_back({place[source->position], place[r->position]});
        }
    }
    for (auto c : classes_) out->classes.emplace_back(c);
    Tags all(arena());
    for (auto c : classes_) compiler::tag(all, tag_table_, c);
    all.merge(tags_);
    for (auto id : all.ids()) out->tags.emplace_back(tag_table_.text(id));
    return out;
}

}  // namespace bunraku::compiler
