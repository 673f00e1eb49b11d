// SPDX-License-Identifier: Apache-2.0
// deactivate node (versions 1 to 3), configure expiration and replace catalog inputs (version 1).
#include <fmt/format.h>
#include <set>
#include <utility>

#include "store/db/bulk.h"
#include "store/db/command.h"
#include "store/db/command_fields.h"

namespace bunraku::store {

namespace {

class Deactivate final : public PreparedCommand {
public:
    Deactivate(const CommandHeader& header, std::string_view body) {
        codec::JsonCursor json(body);
        timestamp_ = header.received;
        // Version 1 is a JSON string that contains JSON text, the certname.
        if (json.kind() == codec::JsonCursor::Kind::String && header.version < 3) {
            certname_ = std::string(json.string());
            if (certname_.size() > 1 && certname_.front() == '"') {
                codec::JsonCursor inner(certname_);
                certname_ = std::string(inner.string());
            }
            json.finish();
        } else {
            if (json.kind() != codec::JsonCursor::Kind::Object) json.fail("expected a JSON map");
            json.enter_object();
            std::string_view key;
            while (json.next_key(&key)) {
                if (key == "certname") {
                    certname_ = read_text(json, key);
                } else if (key == "producer_timestamp") {
                    timestamp_ = read_optional_time(json, key).value_or(header.received);
                } else {
                    unknown_field("deactivate node", key);
                }
            }
            json.finish();
        }
        if (certname_.empty()) missing_field("deactivate node", "certname");
    }

    Result<Applied> apply(Writer& writer) override {
        Writer::Node node = BUNRAKU_TRY(writer.node(certname_, Writer::IfMissing::Create));
        Database& db = writer.db();
        if (node.latest_report_timestamp > timestamp_) return Applied::Obsolete;
        for (const char* table : {"catalogs", "factsets"}) {
            Statement s = BUNRAKU_TRY(db.prepare(fmt::format(
                "SELECT 1 FROM {} WHERE certname_id = ? AND producer_timestamp > ?", table)));
            s.bind(node.id).bind(timestamp_);
            if (BUNRAKU_TRY(s.step())) return Applied::Obsolete;
        }
        if (node.deactivated && node.deactivated >= timestamp_) return Applied::Unchanged;
        Statement s = BUNRAKU_TRY(db.prepare("UPDATE certnames SET deactivated = ? WHERE id = ?"));
        s.bind(timestamp_).bind(node.id);
        BUNRAKU_TRY_VOID(s.run());
        return Applied::Stored;
    }

private:
    std::string certname_;
    std::int64_t timestamp_ = 0;
};

class Expiration final : public PreparedCommand {
public:
    Expiration(const CommandHeader& header, std::string_view body) : timestamp_(header.received) {
        codec::JsonCursor json(body);
        if (json.kind() != codec::JsonCursor::Kind::Object) json.fail("expected a JSON map");
        json.enter_object();
        std::string_view key;
        bool has_expire = false;
        while (json.next_key(&key)) {
            if (key == "certname") {
                certname_ = read_text(json, key);
            } else if (key == "producer_timestamp") {
                timestamp_ = read_optional_time(json, key).value_or(header.received);
            } else if (key == "expire") {
                has_expire = true;
                if (json.kind() != codec::JsonCursor::Kind::Object)
                    json.fail("'expire' must be a map");
                json.enter_object();
                while (json.next_key(&key)) {
                    if (key != "facts") json.fail("'expire' may only contain the key 'facts'");
                    facts_ = read_optional_boolean(json, "facts");
                }
            } else {
                unknown_field("configure expiration", key);
            }
        }
        json.finish();
        if (certname_.empty()) missing_field("configure expiration", "certname");
        if (!facts_) missing_field("configure expiration", has_expire ? "facts" : "expire");
    }

    Result<Applied> apply(Writer& writer) override {
        Writer::Node node = BUNRAKU_TRY(writer.node(certname_, Writer::IfMissing::Create));
        BUNRAKU_TRY_VOID(writer.reactivate(node, timestamp_));
        Statement s = BUNRAKU_TRY(writer.db().prepare(
            "UPDATE certnames SET facts_expire = ?, facts_expire_updated = ? WHERE id = ?"
            " AND (facts_expire_updated IS NULL OR facts_expire_updated < ?)"));
        s.bind(*facts_).bind(timestamp_).bind(node.id).bind(timestamp_);
        BUNRAKU_TRY_VOID(s.run());
        return writer.db().changes() > 0 ? Applied::Stored : Applied::Obsolete;
    }

private:
    std::string certname_;
    std::int64_t timestamp_;
    std::optional<bool> facts_;
};

class Inputs final : public PreparedCommand {
public:
    Inputs(const CommandHeader& header, std::string_view body) : timestamp_(header.received) {
        codec::JsonCursor json(body);
        if (json.kind() != codec::JsonCursor::Kind::Object) json.fail("expected a JSON map");
        json.enter_object();
        std::string_view key;
        bool has_inputs = false, has_uuid = false;
        while (json.next_key(&key)) {
            if (key == "certname") {
                certname_ = read_text(json, key);
            } else if (key == "producer_timestamp") {
                timestamp_ = read_optional_time(json, key).value_or(header.received);
            } else if (key == "catalog_uuid") {
                catalog_uuid_ = read_uuid(json, key);
                has_uuid = true;
            } else if (key == "inputs") {
                has_inputs = true;
                read_inputs(json);
            } else {
                std::string ignored;
                json.canonical(ignored);
            }
        }
        json.finish();
        if (certname_.empty()) missing_field("replace catalog inputs", "certname");
        if (!has_inputs) missing_field("replace catalog inputs", "inputs");
        if (!has_uuid) missing_field("replace catalog inputs", "catalog_uuid");
        Sha1 sum;
        for (const auto& [type, name] : inputs_) sum.part(type).part(name);
        hash_ = sum.digest();
    }

    Result<Applied> apply(Writer& writer) override {
        // An empty list is ignored, as in PuppetDB.
        if (inputs_.empty()) return Applied::Unchanged;
        Writer::Node node = BUNRAKU_TRY(writer.node(certname_, Writer::IfMissing::Create));
        Database& db = writer.db();
        // Inputs that are older than the stored ones reactivate the node, too. They do not prevent
        // its deactivation.
        BUNRAKU_TRY_VOID(writer.reactivate(node, timestamp_));
        bool same = false;
        {
            Statement s = BUNRAKU_TRY(db.prepare(
                "SELECT producer_timestamp, hash FROM catalog_inputs WHERE certname_id = ?"));
            s.bind(node.id);
            if (BUNRAKU_TRY(s.step())) {
                if (s.integer(0) >= timestamp_) return Applied::Obsolete;
                same = s.blob(1) == bytes_of(hash_);
            }
        }
        {
            Statement s = BUNRAKU_TRY(db.prepare(
                "INSERT INTO catalog_inputs (certname_id, catalog_uuid, producer_timestamp, hash)"
                " VALUES (?, ?, ?, ?) ON CONFLICT (certname_id) DO UPDATE SET"
                " catalog_uuid = excluded.catalog_uuid, hash = excluded.hash,"
                " producer_timestamp = excluded.producer_timestamp"));
            s.bind(node.id).bind(catalog_uuid_).bind(timestamp_).bind_blob(bytes_of(hash_));
            BUNRAKU_TRY_VOID(s.run_later());
        }
        if (same) return Applied::Unchanged;
        {
            Statement s =
                BUNRAKU_TRY(db.prepare("DELETE FROM catalog_input_contents WHERE certname_id = ?"));
            s.bind(node.id);
            BUNRAKU_TRY_VOID(s.run_later());
        }
        Bulk rows(db, "catalog_input_contents",
                  {{"certname_id", Bulk::Type::Integer},
                   {"type", Bulk::Type::Text},
                   {"name", Bulk::Type::Text}});
        for (const auto& [type, name] : inputs_) {
            rows.integer(node.id).text(type).text(name);
            BUNRAKU_TRY_VOID(rows.end_row());
        }
        BUNRAKU_TRY_VOID(rows.flush());
        return Applied::Stored;
    }

private:
    void read_inputs(codec::JsonCursor& json) {
        if (json.kind() != codec::JsonCursor::Kind::Array) json.fail("'inputs' must be an array");
        json.enter_array();
        while (json.next_element()) {
            if (json.kind() != codec::JsonCursor::Kind::Array)
                json.fail("an input must be an array");
            std::string parts[2];
            int n = 0;
            json.enter_array();
            while (json.next_element()) {
                if (n == 2) json.fail("an input must have a type and a name");
                parts[n++] = read_text(json, "inputs");
            }
            if (n != 2) json.fail("an input must have a type and a name");
            inputs_.emplace(std::move(parts[0]), std::move(parts[1]));
        }
    }

    std::string certname_;
    std::int64_t timestamp_;
    std::string catalog_uuid_;
    std::set<std::pair<std::string, std::string>> inputs_;
    Digest hash_{};
};

}  // namespace

std::unique_ptr<PreparedCommand> prepare_deactivate(const CommandHeader& header,
                                                    std::string_view body) {
    return std::make_unique<Deactivate>(header, body);
}

std::unique_ptr<PreparedCommand> prepare_expiration(const CommandHeader& header,
                                                    std::string_view body) {
    return std::make_unique<Expiration>(header, body);
}

std::unique_ptr<PreparedCommand> prepare_inputs(const CommandHeader& header,
                                                std::string_view body) {
    return std::make_unique<Inputs>(header, body);
}

}  // namespace bunraku::store
