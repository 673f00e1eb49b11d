// SPDX-License-Identifier: Apache-2.0
#include "resources/catalog/parameters.h"

#include <utility>

#include "core/base/assert.h"

namespace bunraku::catalog {

namespace {

bool is_title(const Resource& resource, const ShownParameter& p) {
    if (has_internal_title(resource) || !resource.title_is_text) return false;
    if (!p.value) return p.text == resource.ref.title;
    return p.value->is_string() && p.value->as_string() == resource.ref.title;
}

void take(ShownParameter& shown, const Value& v) {
    shown.sensitive = v.is(value::Kind::Sensitive);
    shown.value = shown.sensitive ? &v.unwrap() : &v;
    BUNRAKU_ASSERT(shown.text.empty());
}

}  // namespace

std::vector<ShownParameter> shown_parameters(const Resource& resource, const Naming& naming) {
    std::string_view namevar = naming.of(resource.ref.type).namevar;
    // In every type, `name` is an alias of the namevar.
    auto canonical = [&](const Parameter& p) -> std::string_view {
        return p.name == "name" ? namevar : std::string_view(p.name);
    };
    BUNRAKU_ASSERT(!namevar.empty());
    std::vector<ShownParameter> out;
    out.reserve(resource.parameters.size() + 1);
    auto parts = naming.parse_title(resource.ref.type, resource.ref.title);
    for (auto& [name, text] : parts) {
        ShownParameter shown{.name = name, .value = nullptr, .text = {}, .sensitive = false};
        for (const Parameter& p : resource.parameters) {
            if (canonical(p) == name && !p.value.is_undef()) take(shown, p.value);
        }
        if (!shown.value) shown.text = std::move(text);
        BUNRAKU_ASSERT(!shown.sensitive || shown.value);
        if (name == namevar && is_title(resource, shown)) continue;
        out.push_back(std::move(shown));
    }
    for (const Parameter& p : resource.parameters) {
        if (p.value.is_undef()) continue;
        ShownParameter shown{
            .name = canonical(p), .value = nullptr, .text = {}, .sensitive = false};
        bool seen = false;
        for (const auto& part : parts) seen = seen || part.first == shown.name;
        if (seen) continue;
        take(shown, p.value);
        if (shown.name == namevar && is_title(resource, shown)) continue;
        out.push_back(std::move(shown));
    }
    BUNRAKU_ASSERT(out.size() <= parts.size() + resource.parameters.size());
    return out;
}

}  // namespace bunraku::catalog
