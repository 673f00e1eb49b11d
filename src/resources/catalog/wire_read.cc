// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <set>

#include "core/base/assert.h"
#include "core/base/diagnostic.h"
#include "resources/catalog/document.h"
#include "resources/catalog/index.h"
#include "resources/catalog/restore.h"
#include "resources/catalog/wire_format.h"
#include "resources/catalog/wire_time.h"

namespace bunraku::catalog {

namespace {

/// Reports whether `tag` is a valid tag in lower case: a letter, digit or underscore, followed by
/// any of those and ":", ".", "-".
bool is_tag(std::string_view tag) {
    for (std::size_t i = 0; i < tag.size(); ++i) {
        auto c = static_cast<unsigned char>(tag[i]);
        bool word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c >= 0x80;
        if (!word && (i == 0 || (c != ':' && c != '.' && c != '-'))) return false;
    }
    return !tag.empty();
}

std::string_view spec_type(const Value& v, const Path& at) {
    std::string_view type = expect_string(v, at);
    if (!is_type_name(type)) {
        at.fail(fmt::format("the type '{}' must be capitalized in every segment", type));
    }
    return type;
}

class WireReader {
public:
    WireReader(const WireFormat& format, std::shared_ptr<base::Arena> arena) : format_(format) {
        out_.catalog.arena = std::move(arena);
        out_.catalog.version_is_number = false;
    }

    WireCatalog run(const Value& document) {
        BUNRAKU_ASSERT(out_.catalog.resources.empty() && out_.relations.empty());
        const value::HashRep& object = expect_object(document, root_);
        if (format_.literal) refuse_unknown_top(object);
        // Read the resources first, because the edges are checked against them.
        const Value* edges = nullptr;
        for (const WireKey& key : format_.keys) {
            const Value* v = object.find(key.name);
            if (!v) {
                if (!key.optional) root_[key.name].fail("required key is missing");
                continue;
            }
            if (v->is_undef() && key.nullable) continue;
            if (key.field == WireField::Edges) {
                edges = v;
            } else {
                read_field(key, *v);
            }
        }
        if (out_.catalog.catalog_uuid.empty() && out_.envelope.transaction_uuid) {
            out_.catalog.catalog_uuid = *out_.envelope.transaction_uuid;
        }
        if (edges) read_edges(*edges);
        BUNRAKU_ASSERT(out_.catalog.edges.size() <= out_.relations.size());
        return std::move(out_);
    }

private:
    void refuse_unknown_top(const value::HashRep& object) {
        for (const value::Entry& e : object) {
            bool known = false;
            for (const WireKey& key : format_.keys) known = known || key.name == e.key.as_string();
            if (!known) unknown_key(root_, e.key.as_string());
        }
    }

    [[noreturn]] void unknown_key(const Path& at, std::string_view key) {
        at[key].fail(fmt::format("unknown key in a catalog of version {}", format_.version));
    }

    void refuse_unknown(const value::HashRep& object, std::span<const std::string_view> known,
                        const Path& at) {
        if (!format_.literal) return;
        for (const value::Entry& e : object) {
            if (std::find(known.begin(), known.end(), e.key.as_string()) == known.end()) {
                unknown_key(at, e.key.as_string());
            }
        }
    }

    void read_field(const WireKey& key, const Value& v) {
        BUNRAKU_ASSERT(key.field != WireField::Edges);
        Path at = root_[key.name];
        Catalog& catalog = out_.catalog;
        WireEnvelope& envelope = out_.envelope;
        switch (key.field) {
            case WireField::Certname:
                catalog.name = expect_string(v, at);
                if (catalog.name.empty()) at.fail("may not be empty");
                return;
            case WireField::Version: catalog.version = expect_string(v, at); return;
            case WireField::Environment: catalog.environment = expect_string(v, at); return;
            case WireField::TransactionUuid:
                envelope.transaction_uuid = expect_string(v, at);
                return;
            case WireField::CatalogUuid: catalog.catalog_uuid = expect_string(v, at); return;
            case WireField::CodeId: catalog.code_id = expect_string(v, at); return;
            case WireField::JobId: envelope.job_id = expect_string(v, at); return;
            case WireField::Producer: envelope.producer = expect_string(v, at); return;
            case WireField::ProducerTimestamp: {
                std::string_view text = expect_string(v, at);
                auto time = parse_wire_time(text);
                if (!time) at.fail(fmt::format("'{}' is not an ISO 8601 date and time", text));
                envelope.producer_timestamp = *time;
                envelope.has_producer_timestamp = true;
                return;
            }
            case WireField::Resources: return read_resources(v);
            case WireField::Edges: return;
        }
        BUNRAKU_ASSERT(false);
    }

    void read_resources(const Value& v) {
        Path at = root_["resources"];
        auto items = expect_array(v, at);
        BUNRAKU_ASSERT(out_.catalog.resources.empty());
        out_.catalog.resources.resize(items.size());
        std::set<std::pair<std::string_view, std::string_view>> seen;
        for (std::size_t i = 0; i < items.size(); ++i) {
            Path here = at[i];
            Resource& r = out_.catalog.resources[i];
            read_resource(items[i], here, r);
            if (!seen.emplace(r.ref.type, r.ref.title).second) {
                here.fail(fmt::format("duplicate resource {}", r.ref.to_string()));
            }
        }
        BUNRAKU_ASSERT(seen.size() == out_.catalog.resources.size());
    }

    void read_resource(const Value& v, const Path& at, Resource& r) {
        static constexpr std::string_view kKeys[] = {"type", "title", "aliases", "exported",
                                                     "file", "line",  "tags",    "parameters"};
        const value::HashRep& object = expect_object(v, at);
        refuse_unknown(object, kKeys, at);
        r.ref.type = spec_type(expect_key(object, "type", at), at["type"]);
        r.ref.title = expect_string(expect_key(object, "title", at), at["title"]);
        if (const Value* aliases = key(object, "aliases", at)) {
            read_strings(*aliases, at["aliases"], r.aliases);
        }
        r.exported = expect_boolean(expect_key(object, "exported", at), at["exported"]);
        if (const Value* file = key(object, "file", at)) {
            r.file = expect_string(*file, at["file"]);
        }
        if (const Value* line = key(object, "line", at)) {
            std::int64_t n = expect_integer(*line, at["line"]);
            if (n <= 0 || n > 0x7fffffff) {
                at["line"].fail(fmt::format("expected a positive integer, got {}", n));
            }
            r.line = static_cast<int>(n);
        }
        BUNRAKU_ASSERT(r.line >= 0 && r.tags.empty() && r.parameters.empty());
        Path tags = at["tags"];
        read_strings(expect_key(object, "tags", at), tags, r.tags);
        for (std::size_t i = 0; i < r.tags.size(); ++i) {
            if (!is_tag(r.tags[i])) {
                tags[i].fail(fmt::format("'{}' is not a valid tag", r.tags[i]));
            }
        }
        Path parameters = at["parameters"];
        for (const value::Entry& e :
             expect_object(expect_key(object, "parameters", at), parameters)) {
            std::string name(e.key.as_string());
            if (format_.literal) refuse_null(e.value, parameters[name]);
            if (e.value.is_undef()) continue;
            if (name == "alias" && !format_.literal) read_alias(e.value, parameters[name], r);
            r.parameters.push_back({std::move(name), e.value});
        }
    }

    /// Returns a key that only the literal formats require.
    const Value* key(const value::HashRep& object, std::string_view name, const Path& at) {
        const Value* v = object.find(name);
        if (format_.literal) return &expect_key(object, name, at);
        return v && !v->is_undef() ? v : nullptr;
    }

    void read_strings(const Value& v, const Path& at, std::vector<std::string>& into) {
        auto items = expect_array(v, at);
        into.reserve(items.size());
        for (std::size_t i = 0; i < items.size(); ++i) {
            into.emplace_back(expect_string(items[i], at[i]));
        }
    }

    void read_alias(const Value& v, const Path& at, Resource& r) {
        if (v.is_string()) {
            r.aliases.emplace_back(v.as_string());
        } else if (v.is_array()) {
            read_strings(v, at, r.aliases);
        }
    }

    void refuse_null(const Value& v, const Path& at) {
        if (v.is_undef()) at.fail("null is not allowed");
        if (v.is_array()) {
            auto items = v.as_array();
            for (std::size_t i = 0; i < items.size(); ++i) {
                refuse_null(items[i], at[i]);
            }
        } else if (v.is_hash()) {
            for (const value::Entry& e : v.as_hash()) {
                refuse_null(e.value, at[e.key.as_string()]);
            }
        }
    }

    std::uint32_t read_spec(const value::HashRep& edge, std::string_view end, const Index& index,
                            const Path& edge_at) {
        static constexpr std::string_view kKeys[] = {"type", "title"};
        Path at = edge_at[end];
        const value::HashRep& object = expect_object(expect_key(edge, end, edge_at), at);
        refuse_unknown(object, kKeys, at);
        std::string_view type = spec_type(expect_key(object, "type", at), at["type"]);
        std::string_view title = expect_string(expect_key(object, "title", at), at["title"]);
        auto found = index.by_title(type, title);
        if (!found) {
            at.fail(fmt::format("{}[{}] doesn't exist in the catalog's resources", type, title));
        }
        return *found;
    }

    void read_edges(const Value& v) {
        static constexpr std::string_view kKeys[] = {"source", "target", "relationship"};
        Path at = root_["edges"];
        auto items = expect_array(v, at);
        BUNRAKU_ASSERT(out_.relations.empty() && out_.catalog.edges.empty());
        Index index(out_.catalog);
        std::set<std::tuple<std::uint32_t, std::uint32_t, Relationship>> seen;
        for (std::size_t i = 0; i < items.size(); ++i) {
            Path here = at[i];
            const value::HashRep& edge = expect_object(items[i], here);
            refuse_unknown(edge, kKeys, here);
            std::uint32_t source = read_spec(edge, "source", index, here);
            std::uint32_t target = read_spec(edge, "target", index, here);
            Path where = here["relationship"];
            std::string_view name = expect_string(expect_key(edge, "relationship", here), where);
            auto kind = relationship_from_name(name);
            if (!kind) where.fail(fmt::format("'{}' is not a valid relationship", name));
            if (!seen.emplace(source, target, *kind).second) continue;
            BUNRAKU_ASSERT(source < out_.catalog.resources.size() &&
                           target < out_.catalog.resources.size());
            out_.relations.push_back({source, target, *kind});
            if (*kind == Relationship::Contains) out_.catalog.edges.push_back({source, target});
        }
    }

    const WireFormat& format_;
    WireCatalog out_;
    const Path root_;
};

}  // namespace

base::Result<WireCatalog> read_wire(int version, std::string_view json) {
    const WireFormat* format = find_wire_format(version);
    if (!format) {
        return base::failure(fmt::format("Unknown catalog wire format version {}", version));
    }
    BUNRAKU_ASSERT(format->version == version);
    auto arena = std::make_shared<base::Arena>();
    Value document = BUNRAKU_TRY(parse_document(*arena, json));
    try {
        return WireReader(*format, arena).run(document);
    } catch (const DocumentError& e) {
        return base::failure(e.message);
    } catch (const base::PuppetError& e) {
        return base::failure(e.message());
    }
}

}  // namespace bunraku::catalog
