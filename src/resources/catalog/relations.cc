// SPDX-License-Identifier: Apache-2.0
#include "resources/catalog/relations.h"

#include <fmt/format.h>
#include <unordered_set>

#include "core/base/assert.h"
#include "core/base/work_limit.h"
#include "resources/catalog/document.h"
#include "resources/catalog/index.h"
#include "resources/catalog/json_text.h"

namespace bunraku::catalog {

namespace {

struct Metaparameter {
    std::string_view name;
    Relationship kind;
    bool forward;  ///< true if the resource with the metaparameter is managed first
};
constexpr Metaparameter kMetaparameters[] = {
    {"before", Relationship::Before, true},
    {"require", Relationship::RequiredBy, false},
    {"notify", Relationship::Notifies, true},
    {"subscribe", Relationship::SubscriptionOf, false},
};

constexpr std::string_view kNames[] = {"contains", "before", "required-by", "notifies",
                                       "subscription-of"};

class Collector {
public:
    Collector(const Catalog& catalog, const Naming& naming)
        : catalog_(catalog), index_(catalog, &naming) {}

    std::vector<Relation> run() {
        for (const Edge& e : catalog_.edges) {
            if (e.source >= catalog_.resources.size() || e.target >= catalog_.resources.size()) {
                throw DocumentError{"A containment edge points outside the catalog"};
            }
            if (absent(catalog_.resources[e.source]) || absent(catalog_.resources[e.target])) {
                continue;
            }
            add(e.source, e.target, Relationship::Contains);
        }
        for (std::uint32_t i = 0; i < catalog_.resources.size(); ++i) {
            const Resource& r = catalog_.resources[i];
            if (r.virtual_) continue;
            for (const Metaparameter& m : kMetaparameters) {
                if (const Value* v = r.parameter(m.name)) collect(i, m, *v);
            }
        }
        BUNRAKU_ASSERT(out_.size() == seen_.size());
        return std::move(out_);
    }

private:
    static bool absent(const Resource& r) { return r.virtual_ && !r.exported; }

    void add(std::uint32_t source, std::uint32_t target, Relationship kind) {
        BUNRAKU_ASSERT(source < catalog_.resources.size() && target < catalog_.resources.size());
        BUNRAKU_ASSERT(source < 1U << 30 && target < 1U << 31 && static_cast<unsigned>(kind) < 8);
        std::uint64_t key = (std::uint64_t{source} << 34) | (std::uint64_t{target} << 3) |
                            static_cast<std::uint64_t>(kind);
        if (seen_.insert(key).second) out_.push_back({source, target, kind});
    }

    void collect(std::uint32_t from, const Metaparameter& m, const Value& v) {
        BUNRAKU_ASSERT(from < catalog_.resources.size() && m.kind != Relationship::Contains);
        base::step();
        if (v.is_array()) {
            for (const Value& item : v.as_array()) collect(from, m, item);
            return;
        }
        if (v.is_undef()) return;
        if (v.is(value::Kind::Sensitive)) return collect(from, m, v.unwrap());
        std::string text = plain_text(v);
        std::string_view type, title;
        if (!split_reference(text, &type, &title) || !is_type_name(type)) {
            invalid(from, m, text,
                    fmt::format("{} doesn't seem to be in the correct format. Resource references "
                                "should be formatted as: Classname['title'] or "
                                "Modulename::Classname['title'] (take careful note of the "
                                "capitalization).",
                                text));
        }
        auto to = index_.resolve(type, title);
        BUNRAKU_ASSERT(!to || *to < catalog_.resources.size());
        if (!to || absent(catalog_.resources[*to])) {
            invalid(from, m, text, text + " doesn't seem to be in the catalog");
        }
        if (catalog_.resources[*to].virtual_) {
            invalid(from, m, text, text + " is exported but not collected");
        }
        m.forward ? add(from, *to, m.kind) : add(*to, from, m.kind);
    }

    [[noreturn]] void invalid(std::uint32_t from, const Metaparameter& m, const std::string& to,
                              const std::string& why) const {
        throw DocumentError{fmt::format("Invalid relationship: {} {{ {} => {} }}, because {}",
                                        catalog_.resources[from].ref.to_string(), m.name, to, why)};
    }

    const Catalog& catalog_;
    Index index_;
    std::vector<Relation> out_;
    std::unordered_set<std::uint64_t> seen_;
};

}  // namespace

std::string_view relationship_name(Relationship kind) {
    BUNRAKU_ASSERT(static_cast<std::size_t>(kind) < std::size(kNames));
    return kNames[static_cast<std::size_t>(kind)];
}

std::optional<Relationship> relationship_from_name(std::string_view name) {
    for (std::size_t i = 0; i < std::size(kNames); ++i) {
        if (kNames[i] == name) return static_cast<Relationship>(i);
    }
    return std::nullopt;
}

base::Result<std::vector<Relation>> relations(const Catalog& catalog, const Naming& naming) {
    try {
        return Collector(catalog, naming).run();
    } catch (const DocumentError& e) {
        return base::failure(e.message);
    }
}

}  // namespace bunraku::catalog
