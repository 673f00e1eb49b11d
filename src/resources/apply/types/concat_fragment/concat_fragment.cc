// SPDX-License-Identifier: Apache-2.0
#include "resources/apply/types/concat_fragment/concat_fragment.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/value/text.h"
#include "resources/apply/module_releases.h"
#include "resources/apply/ral_catalog.h"
#include "resources/apply/registry.h"
#include "resources/apply/ruby_text.h"

namespace bunraku::apply {

using base::PuppetError;

bool ConcatFragment::does(const Given& given) const { return given("alias").is_undef(); }

void ConcatFragment::validate_value(const Attribute& a, const Value& v) {
    if (a.name == "target" && !v.is_string()) throw PuppetError("Target must be a String");
    if (a.name == "content" && !v.is_string()) throw PuppetError("Content must be a String");
    if (a.name == "source" && !v.is_string() && !v.is_array())
        throw PuppetError("Content must be a String or Array");
    if (a.name != "order") return;
    if (!v.is_string() && !v.is_integer()) throw PuppetError("$order is not a string or integer.");
    if (plain(v).find_first_of(":\n/") != std::string::npos)
        throw PuppetError("Order cannot contain '/', ':', or '\\n'.");
}

Value ConcatFragment::default_for(const Attribute& a) {
    return a.name == "order" ? Value::string("10") : Value::undef();
}

void ConcatFragment::validate() {
    const bool content = find("content"), source = find("source");
    if (!find("target") && !find("tag")) throw PuppetError("No 'target' or 'tag' set");
    if (!content && !source) throw PuppetError("Set either 'source' or 'content'");
    if (content && source) throw PuppetError("Can't use 'source' and 'content' at the same time");
}

void ConcatFragment::set_sensitive(std::vector<std::string> names) {
    Param* content = find("content");
    if (content && module_level(context_, spec_.name) >= kConcatSecretContent) {
        if (std::erase(names, "content") > 0) content->sensitive = true;
    }
    Resource::set_sensitive(std::move(names));
}

bool ConcatFragment::belongs_to(const Resource& file) const {
    const Value target = get("target"), tag = get("tag"), wanted = file.get("tag");
    if (target.is_string() &&
        (target.as_string() == file.text("path") || target.as_string() == file.title()))
        return true;
    if (tag.is_undef() || wanted.is_undef()) return false;
    if (same(tag, wanted)) return true;
    return wanted.is_array() && module_level(context_, spec_.name) >= kConcatSecretFile &&
           std::ranges::any_of(wanted.as_array(), [&](const Value& one) { return same(one, tag); });
}

void ConcatFragment::collect_auto_relations(std::vector<AutoRelation>&) const {
    for (const Resource* r : catalog->resources())
        if (r->type_name() == "concat_file" && belongs_to(*r)) return;
    const Value tag = get("tag");
    std::string tags;
    value::print_ruby_to_s(tags, tag);
    warning(fmt::format("Target Concat_file with path or title '{}' {}not found in the catalog",
                        text("target"), tag.is_undef() ? "" : fmt::format("or tag '{} ", tags)));
}

std::unique_ptr<Resource> make_concat_fragment(Context& context, const TypeSpec& spec) {
    return std::make_unique<ConcatFragment>(context, spec);
}

}  // namespace bunraku::apply
