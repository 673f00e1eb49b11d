// SPDX-License-Identifier: Apache-2.0
// replace catalog, versions 2 to 9. Known bytes are not parsed again: first all resources and edges
// are compared as a whole, then each resource.
#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <unordered_map>
#include <utility>

#include "core/base/assert.h"
#include "resources/catalog/relations.h"
#include "resources/catalog/wire.h"
#include "resources/catalog/wire_format.h"
#include "store/db/command.h"
#include "store/db/command_fields.h"
#include "store/db/secrets.h"
#include "store/engine/catalog_rows.h"
#include "store/engine/tags.h"

namespace bunraku::store {

namespace {

using catalog::WireField;

constexpr std::size_t kMaxResources = 2'000'000;
/// The member in which catalogs for agents list the names of Sensitive parameters.
constexpr std::string_view kSensitiveNames = "sensitive_parameters";

struct RefKey {
    std::string_view type, title;
    bool operator==(const RefKey&) const = default;
};
struct RefHash {
    std::size_t operator()(const RefKey& k) const noexcept {
        std::hash<std::string_view> h;
        return h(k.title) * 31 + h(k.type);
    }
};

std::optional<std::int64_t> edge_kind(std::string_view name) {
    auto kind = catalog::relationship_from_name(name);
    if (!kind) return std::nullopt;
    return static_cast<std::int64_t>(*kind);
}

class Catalog final : public PreparedCommand {
public:
    Catalog(const CommandHeader& header, std::string_view body)
        : header_(header), format_(catalog::find_wire_format(header.version)) {
        read(body);
    }

    Result<Applied> apply(Writer& writer) override {
        try {
            return put(writer);
        } catch (const codec::JsonError& e) {
            return base::failure(e.message);
        }
    }

    Result<std::optional<Applied>> apply_unchanged(Writer& writer) override {
        if (!writer.db().pipelines() || row_.wire_digest.empty()) return std::nullopt;
        BUNRAKU_TRY_VOID(guard_digest(writer));
        if (row_.wire_digest.empty()) return std::nullopt;
        if (!BUNRAKU_TRY(renew_unchanged_catalog(writer, certname_, row_))) return std::nullopt;
        return Applied::Unchanged;
    }

    std::span<const std::int64_t> new_exports() const override { return new_exports_; }

private:
    void read(std::string_view body) {
        // Senders of versions 1 to 3 may wrap the JSON in a string.
        if (codec::JsonCursor text(body);
            header_.version < 4 && text.kind() == codec::JsonCursor::Kind::String) {
            body = kept_.emplace_back(text.string());
            text.finish();
        }
        if (is_literal_catalog(header_)) check_literally(body);
        codec::JsonCursor json(body);
        if (json.kind() != codec::JsonCursor::Kind::Object)
            json.fail("a catalog must be a JSON map");
        read_object(json, header_.version < 4);
        json.finish();
        const char* command = "replace catalog";
        if (certname_.empty()) missing_field(command, dashed() ? "name" : "certname");
        if (!has_version_) missing_field(command, "version");
        if (resources_.empty()) missing_field(command, "resources");
        if (edges_.empty()) missing_field(command, "edges");
        if (!dashed() && !has_timestamp_) missing_field(command, "producer_timestamp");
        if (has(WireField::CodeId) && !has_code_id_) missing_field(command, "code_id");
        if (has(WireField::CatalogUuid) && !has_catalog_uuid_)
            missing_field(command, "catalog_uuid");
        if (has(WireField::Producer) && !has_producer_) missing_field(command, "producer");
        // Fields that the version does not have are ignored.
        if (!has(WireField::CatalogUuid)) row_.catalog_uuid = row_.transaction_uuid;
        if (!has(WireField::CodeId)) row_.code_id.reset();
        if (!has(WireField::Producer)) row_.producer.clear();
        if (!has(WireField::JobId)) row_.job_id.reset();
        if (!has_timestamp_ || !has(WireField::ProducerTimestamp))
            row_.producer_timestamp = header_.received;
        row_.received = header_.received;
        if (resources_.front() != '[') throw codec::JsonError{"'resources' must be an array"};
        if (edges_.front() != '[') throw codec::JsonError{"'edges' must be an array"};
        Digest digest = Sha1().number(1).part(resources_).part(edges_).digest();
        row_.wire_digest = bytes_of(digest);
    }

    bool has(WireField field) const { return format_ && format_->has(field); }
    /// Reports whether keys have dashes and the node is called `name`, as before version 6.
    bool dashed() const { return !format_ || format_->literal; }

    /// Throws unless the body conforms exactly to the specification of its wire format.
    void check_literally(std::string_view body) const {
        auto catalog = catalog::read_wire(header_.version, body);
        if (!catalog) {
            throw codec::JsonError{fmt::format("Catalog wire format version {}: {}",
                                               header_.version, catalog.error().message)};
        }
    }

    void read_object(codec::JsonCursor& json, bool wrapped) {
        json.enter_object();
        std::string_view raw;
        while (json.next_key(&raw)) {
            // Versions up to 3 contain everything under "data".
            if (wrapped && raw == "data" && json.kind() == codec::JsonCursor::Kind::Object) {
                read_object(json, false);
                continue;
            }
            std::string with_underscores;
            std::string_view key = raw;
            if (dashed()) {
                with_underscores = dashes_to_underscores(raw);
                key = with_underscores;
            }
            if (key == "resources") {
                resources_ = json.skip();
            } else if (key == "edges") {
                edges_ = json.skip();
            } else if (key == (dashed() ? "name" : "certname")) {
                certname_ = read_text(json, key);
            } else if (key == "version") {
                // The compiler's default version is a number in its own JSON.
                row_.version = json.kind() == codec::JsonCursor::Kind::Number
                                   ? std::string(json.number())
                                   : read_text(json, key);
                has_version_ = true;
            } else if (key == "environment") {
                row_.environment = read_optional_text(json, key).value_or("");
            } else if (key == "transaction_uuid") {
                row_.transaction_uuid = read_run_uuid(json, key);
            } else if (key == "catalog_uuid") {
                row_.catalog_uuid = read_run_uuid(json, key);
                has_catalog_uuid_ = true;
            } else if (key == "code_id") {
                row_.code_id = read_optional_text(json, key);
                has_code_id_ = true;
            } else if (key == "job_id") {
                row_.job_id = read_optional_text(json, key);
            } else if (key == "producer") {
                row_.producer = read_optional_text(json, key).value_or("");
                has_producer_ = true;
            } else if (key == "producer_timestamp") {
                auto time = read_optional_time(json, key);
                has_timestamp_ = time.has_value();
                row_.producer_timestamp = time.value_or(0);
            } else {
                json.skip();
            }
        }
    }

    /// Formats 4 and 5 accept any string here.
    std::optional<std::string> read_run_uuid(codec::JsonCursor& json, std::string_view field) {
        return dashed() ? read_optional_text(json, field) : read_optional_uuid(json, field);
    }

    Result<Applied> put(Writer& writer) {
        BUNRAKU_TRY_VOID(guard_digest(writer));
        Writer::Node node = BUNRAKU_TRY(writer.node(certname_, Writer::IfMissing::Create));
        bool same = false;
        if (!node.created) {
            Statement s = BUNRAKU_TRY(writer.db().prepare(
                "SELECT producer_timestamp, wire_digest FROM catalogs WHERE certname_id = ?"));
            s.bind(node.id);
            if (BUNRAKU_TRY(s.step())) {
                if (s.integer(0) > row_.producer_timestamp) return Applied::Obsolete;
                same = !s.is_null(1) && s.blob(1) == row_.wire_digest;
            }
        }
        BUNRAKU_TRY_VOID(writer.reactivate(node, row_.producer_timestamp));
        if (same) {
            BUNRAKU_TRY_VOID(renew_catalog(writer, node.id, row_));
            return Applied::Unchanged;
        }
        std::vector<Writer::ResourceRef> refs = BUNRAKU_TRY(resources(writer));
        std::vector<PackedEdge> edges = edges_by_position();
        BUNRAKU_ASSERT(refs.size() == positions_.size());
        Digest hash = content_hash(certname_, refs, edges);
        CatalogChange change = BUNRAKU_TRY(store_content(writer, node.id, refs, edges, hash, row_));
        // Only catalogs compiled in this process have agent data.
        Statement s = BUNRAKU_TRY(
            writer.db().prepare("DELETE FROM catalog_agent_data WHERE certname_id = ?"));
        s.bind(node.id);
        BUNRAKU_TRY_VOID(s.run_later());
        BUNRAKU_ASSERT(new_exports_.empty() && change.exported.size() <= change.inserted);
        new_exports_ = std::move(change.exported);
        bool changed = node.created || change.inserted || change.deleted;
        return changed ? Applied::Stored : Applied::Unchanged;
    }

    /// Replaces the digest of resources that may contain secrets with a keyed one, so that it
    /// cannot confirm a guess. Drops the digest if the store has no keys.
    Result<void> guard_digest(const Writer& writer) {
        if (std::exchange(guarded_, true)) return {};
        if (!contains_text(resources_, "__ptype") && !contains_text(resources_, kSensitiveNames))
            return {};
        if (Secrets* secrets = writer.secrets().get()) {
            row_.wire_digest = bytes_of(BUNRAKU_TRY(secrets->digest(row_.wire_digest)));
        } else {
            row_.wire_digest.clear();
        }
        return {};
    }

    /// Returns `text` if it is part of the body. Otherwise it was escaped there, and a stored copy
    /// is returned.
    std::string_view keep(std::string_view text, std::string_view body) {
        if (text.data() >= body.data() && text.data() <= body.data() + body.size()) return text;
        return kept_.emplace_back(text);
    }

    /// Reads the type or title of a resource.
    std::string_view read_name(codec::JsonCursor& json, std::string_view field) {
        const std::size_t begin = json.offset();
        const std::string_view text = json.string();
        // Text without escapes is a view of the document itself.
        const bool escaped = keep(text, resources_).data() != text.data();
        if (escaped && has_nul(resources_.substr(begin, json.offset() - begin))) {
            json.fail(fmt::format("'{}' may not contain U+0000", field));
        }
        return escaped ? kept_.back() : text;
    }

    Result<std::vector<Writer::ResourceRef>> resources(Writer& writer) {
        std::vector<Writer::ResourceRef> refs;
        std::vector<std::size_t> unknown;
        std::vector<Digest> digests;
        std::vector<ResourceRow> rows;
        codec::JsonCursor json(resources_);
        json.enter_array();
        while (json.next_element()) {
            if (json.kind() != codec::JsonCursor::Kind::Object)
                json.fail("a resource must be a map");
            if (refs.size() >= kMaxResources) json.fail("there are too many resources");
            std::size_t start = json.offset();
            RefKey key;
            bool has_type = false, has_title = false;
            json.enter_object();
            std::string_view name;
            while (json.next_key(&name)) {
                if (name == "type") {
                    key.type = read_name(json, "type");
                    has_type = true;
                } else if (name == "title") {
                    key.title = read_name(json, "title");
                    has_title = true;
                } else {
                    json.skip();
                }
            }
            if (!has_type || !has_title) json.fail("a resource needs a type and a title");
            std::string_view raw = resources_.substr(start, json.offset() - start);
            auto position = static_cast<std::uint32_t>(refs.size());
            if (!positions_.emplace(key, position).second) {
                throw codec::JsonError{
                    fmt::format("Duplicate resource '{}[{}]' in the catalog", key.type, key.title)};
            }
            Digest digest = sha1(raw);
            if (const auto* known = writer.resources.find(digest)) {
                refs.push_back(*known);
                continue;
            }
            unknown.push_back(refs.size());
            digests.push_back(digest);
            refs.emplace_back();
            rows.push_back(BUNRAKU_TRY(read_resource(raw, writer.secrets().get())));
        }
        json.finish();
        std::vector<Writer::ResourceRef> made = BUNRAKU_TRY(store_resources(writer, rows));
        BUNRAKU_ASSERT(made.size() == rows.size() && rows.size() == unknown.size());
        BUNRAKU_ASSERT(unknown.size() == digests.size() && refs.size() == positions_.size());
        for (std::size_t i = 0; i < unknown.size(); ++i) {
            refs[unknown[i]] = made[i];
            writer.resources.put(digests[i], made[i]);
        }
        return refs;
    }

    static Result<ResourceRow> read_resource(std::string_view raw, Secrets* secrets) {
        ResourceRow row;
        std::vector<std::string> sensitive;
        codec::JsonCursor json(raw);
        bool has_tags = false, has_exported = false;
        row.parameters = "{}";
        json.enter_object();
        std::string_view key;
        while (json.next_key(&key)) {
            if (key == "type") {
                row.type = json.string();
            } else if (key == "title") {
                row.title = json.string();
            } else if (key == "exported") {
                if (json.kind() != codec::JsonCursor::Kind::Boolean) {
                    json.fail("'exported' must be a boolean");
                }
                row.exported = json.boolean();
                has_exported = true;
            } else if (key == "file") {
                row.file = read_optional_text(json, "file");
            } else if (key == "line") {
                if (json.kind() == codec::JsonCursor::Kind::Null) {
                    json.null();
                } else {
                    row.line = json.integer();
                }
            } else if (key == "tags") {
                row.tags = read_tags(json, row);
                has_tags = true;
            } else if (key == "parameters" && json.kind() == codec::JsonCursor::Kind::Null) {
                json.null();
            } else if (key == "parameters") {
                if (json.kind() != codec::JsonCursor::Kind::Object) {
                    json.fail("'parameters' must be a map");
                }
                row.parameters.clear();
                json.canonical(row.parameters);
            } else if (key == kSensitiveNames && json.kind() == codec::JsonCursor::Kind::Array) {
                json.enter_array();
                while (json.next_element())
                    sensitive.emplace_back(read_text(json, kSensitiveNames));
            } else {
                std::string ignored;
                json.canonical(ignored);
            }
        }
        for (auto [has, field] : {std::pair{has_tags, "tags"}, {has_exported, "exported"}}) {
            if (!has) {
                throw codec::JsonError{
                    fmt::format("Resource '{}[{}]' has no '{}'", row.type, row.title, field)};
            }
        }
        SplitParameters split = split_secrets(row.parameters, sensitive);
        row.parameters = std::move(split.shown);
        row.exact = std::move(split.exact);
        BUNRAKU_TRY_VOID(row.hash(secrets));
        return row;
    }

    static std::string read_tags(codec::JsonCursor& json, const ResourceRow& row) {
        std::vector<std::string> tags;
        json.enter_array();
        while (json.next_element()) {
            if (json.kind() != codec::JsonCursor::Kind::String) json.fail("a tag must be a string");
            tags.emplace_back(json.string());
            if (!valid_tag(tags.back())) {
                throw codec::JsonError{fmt::format(
                    "Resource '{}[{}]' has an invalid tag '{}'. Tags must match the pattern /{}/.",
                    row.type, row.title, tags.back(), kTagPattern)};
            }
        }
        return tags_json(std::move(tags));
    }

    std::uint32_t position(codec::JsonCursor& json) {
        RefKey key;
        json.enter_object();
        std::string_view name;
        while (json.next_key(&name)) {
            if (name == "type") {
                key.type = keep(json.string(), edges_);
            } else if (name == "title") {
                key.title = keep(json.string(), edges_);
            } else {
                json.skip();
            }
        }
        auto at = positions_.find(key);
        if (at == positions_.end()) {
            throw codec::JsonError{
                fmt::format("Edge refers to resource '{}[{}]', which doesn't exist in "
                            "the catalog.",
                            key.type, key.title)};
        }
        BUNRAKU_ASSERT(at->second < positions_.size());
        return at->second;
    }

    std::vector<PackedEdge> edges_by_position() {
        std::vector<PackedEdge> out;
        codec::JsonCursor json(edges_);
        json.enter_array();
        while (json.next_element()) {
            if (json.kind() != codec::JsonCursor::Kind::Object) json.fail("an edge must be a map");
            PackedEdge edge{-1, -1, -1};
            json.enter_object();
            std::string_view key;
            while (json.next_key(&key)) {
                if (key == "source") {
                    edge.source = position(json);
                } else if (key == "target") {
                    edge.target = position(json);
                } else if (key == "relationship") {
                    std::string_view name = json.string();
                    auto kind = edge_kind(name);
                    if (!kind) {
                        throw codec::JsonError{
                            fmt::format("Edge has invalid relationship type '{}'", name)};
                    }
                    edge.kind = *kind;
                } else {
                    json.skip();
                }
            }
            if (edge.source < 0 || edge.target < 0 || edge.kind < 0) {
                json.fail("an edge needs source, target and relationship");
            }
            out.push_back(edge);
        }
        json.finish();
        std::sort(out.begin(), out.end());
        out.erase(std::unique(out.begin(), out.end()), out.end());
        return out;
    }

    CommandHeader header_;
    const catalog::WireFormat* format_;  ///< null for versions before 4
    std::string certname_;
    CatalogRow row_;
    std::string_view resources_, edges_;
    bool has_version_ = false, has_timestamp_ = false, has_code_id_ = false,
         has_catalog_uuid_ = false, has_producer_ = false;
    bool guarded_ = false;  ///< guard_digest() was called
    std::unordered_map<RefKey, std::uint32_t, RefHash> positions_;
    std::vector<std::int64_t> new_exports_;
    std::deque<std::string> kept_;
};

}  // namespace

std::unique_ptr<PreparedCommand> prepare_catalog(const CommandHeader& header,
                                                 std::string_view body) {
    return std::make_unique<Catalog>(header, body);
}

}  // namespace bunraku::store
