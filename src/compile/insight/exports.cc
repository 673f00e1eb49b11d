// SPDX-License-Identifier: Apache-2.0
#include "compile/insight/exports.h"

#include <algorithm>
#include <tuple>

#include "core/base/text.h"
#include "core/value/rich_data.h"
#include "resources/catalog/restore.h"

namespace bunraku::insight {

namespace {

using catalog::CollectorQuery;

std::string json(base::Arena& arena, const value::Value& v) {
    return value::to_json(value::to_rich_data(arena, v));
}

bool fits(const CollectorQuery* query, const Export& item, base::Arena& arena) {
    if (!query) return true;
    using Kind = CollectorQuery::Kind;
    switch (query->kind) {
        case Kind::And:
            return fits(query->left.get(), item, arena) && fits(query->right.get(), item, arena);
        case Kind::Or:
            return fits(query->left.get(), item, arena) || fits(query->right.get(), item, arena);
        case Kind::Equal:
        case Kind::NotEqual: break;
    }
    const std::string wanted = json(arena, query->operand);
    bool equal = false;
    if (query->attribute == "tag") {
        const std::string tag = query->operand.is_string()
                                    ? base::lower(std::string(query->operand.as_string()))
                                    : std::string();
        equal = std::ranges::find(item.tags, tag) != item.tags.end();
    } else if (query->attribute == "title") {
        equal = query->operand.is_string() && query->operand.as_string() == item.title;
    } else {
        equal = std::ranges::any_of(item.parameters, [&](const auto& p) {
            return p.first == query->attribute && p.second == wanted;
        });
    }
    return equal == (query->kind == Kind::Equal);
}

}  // namespace

std::vector<Export> exports_of(const catalog::Catalog& catalog) {
    std::vector<Export> out;
    for (const auto& r : catalog.resources) {
        if (!r.exported) continue;
        Export made{.type = r.ref.type,
                    .title = r.ref.title,
                    .file = r.file,
                    .line = r.line,
                    .tags = r.tags,
                    .parameters = {}};
        std::ranges::sort(made.tags);
        for (const auto& p : r.parameters)
            made.parameters.emplace_back(p.name, json(*catalog.arena, p.value));
        out.push_back(std::move(made));
    }
    std::ranges::sort(out, [](const Export& a, const Export& b) {
        return std::tie(a.type, a.title) < std::tie(b.type, b.title);
    });
    return out;
}

site::CollectorAnswer answered_with(std::shared_ptr<const Exports> exports) {
    return [exports](compiler::ExportedSource& store, std::string_view type,
                     const CollectorQuery* query, std::string_view except, base::Arena& arena,
                     const value::TypedFactory& make_typed)
               -> base::Result<std::vector<catalog::ExportedResource>> {
        auto out = store.find(type, query, except, arena, make_typed);
        if (!out) return out;
        std::erase_if(*out, [&](const auto& item) { return exports->contains(item.certname); });
        for (const auto& [certname, all] : *exports) {
            if (certname == except) continue;
            for (const auto& item : all) {
                if (item.type != type || !fits(query, item, arena)) continue;
                catalog::ExportedResource found;
                found.certname = certname;
                found.resource.ref = {item.type, item.title};
                found.resource.file = item.file;
                found.resource.line = item.line;
                found.resource.tags = item.tags;
                found.resource.exported = found.resource.virtual_ = true;
                for (const auto& [name, text] : item.parameters) {
                    auto data = value::parse_json(arena, arena.copy(text));
                    if (!data) return base::failure(data.error().message);
                    found.resource.parameters.push_back(
                        {name, catalog::restore_value(arena, *data, make_typed)});
                }
                out->push_back(std::move(found));
            }
        }
        std::ranges::stable_sort(*out, [](const auto& a, const auto& b) {
            return std::tie(a.certname, a.resource.ref.title) <
                   std::tie(b.certname, b.resource.ref.title);
        });
        return out;
    };
}

}  // namespace bunraku::insight
