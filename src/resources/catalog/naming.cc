// SPDX-License-Identifier: Apache-2.0
#include "resources/catalog/naming.h"

#include <algorithm>

#include "core/base/assert.h"
#include "core/base/work_limit.h"
#include "resources/catalog/json_text.h"

namespace bunraku::catalog {

TypeNaming Naming::of(std::string_view) const { return {}; }

std::vector<std::pair<std::string_view, std::string>> Naming::parse_title(
    std::string_view type, std::string_view title) const {
    return {{of(type).namevar, std::string(title)}};
}

std::optional<Place> Naming::body_of(const Ref&) const { return std::nullopt; }

const Naming& plain_naming() {
    static const Naming naming;
    return naming;
}

bool has_internal_title(const Resource& resource) {
    return resource.ref.title == "main" &&
           (resource.ref.type == "Class" || resource.ref.type == "Stage");
}

std::string name_value(const Resource& resource, const Naming& naming) {
    TypeNaming type = naming.of(resource.ref.type);
    BUNRAKU_ASSERT(!type.namevar.empty());
    const Value* declared = resource.parameter(type.namevar);
    if (!declared) declared = resource.parameter("name");
    if (declared) {
        // A Sensitive name must not leave the catalog as an alias.
        if (declared->is(value::Kind::Sensitive)) return {};
        return plain_text(*declared);
    }
    for (auto& [name, text] : naming.parse_title(resource.ref.type, resource.ref.title)) {
        if (name == type.namevar) return std::move(text);
    }
    return {};
}

static void add_alias(std::vector<std::string>& out, std::string alias, const Resource& resource) {
    if (alias.empty() || alias == resource.ref.title) return;
    if (std::find(out.begin(), out.end(), alias) == out.end()) out.push_back(std::move(alias));
    BUNRAKU_ASSERT(!out.empty());
}

static void add_alias_values(std::vector<std::string>& out, const Value& v,
                             const Resource& resource) {
    base::step();
    if (v.is_array()) {
        for (const Value& item : v.as_array()) add_alias_values(out, item, resource);
    } else if (!v.is_undef()) {
        add_alias(out, plain_text(v), resource);
    }
}

std::vector<std::string> all_aliases(const Resource& resource, const Naming& naming,
                                     bool partial_names) {
    std::vector<std::string> out;
    TypeNaming type = naming.of(resource.ref.type);
    if (const Value* declared = resource.parameter("alias")) {
        add_alias_values(out, *declared, resource);
    }
    if (type.isomorphic && (!type.composite || partial_names)) {
        add_alias(out, name_value(resource, naming), resource);
    }
    if (!type.composite) {
        for (const std::string& alias : resource.aliases) add_alias(out, alias, resource);
    }
    return out;
}

bool is_type_name(std::string_view type) {
    bool start = true;
    for (std::size_t i = 0; i < type.size(); ++i) {
        char c = type[i];
        if (start) {
            if (c < 'A' || c > 'Z') return false;
            start = false;
        } else if (c == ':') {
            if (i + 1 >= type.size() || type[i + 1] != ':') return false;
            ++i;
            BUNRAKU_ASSERT(type[i - 1] == ':' && type[i] == ':');
            start = true;
        } else if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')) {
            return false;
        }
    }
    return !start;
}

}  // namespace bunraku::catalog
