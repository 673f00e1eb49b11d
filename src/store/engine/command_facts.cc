// SPDX-License-Identifier: Apache-2.0
// replace facts, versions 2 to 5.
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <tuple>

#include "core/base/assert.h"
#include "store/db/bulk.h"
#include "store/db/command.h"
#include "store/db/command_fields.h"
#include "store/db/fact_names.h"
#include "store/db/fact_rows.h"
#include "store/engine/fact_history.h"

namespace bunraku::store {

namespace {

using Package = std::tuple<std::string, std::string, std::string>;

class Facts final : public PreparedCommand {
public:
    Facts(const CommandHeader& header, std::string_view body, const CommandOptions& options)
        : header_(header) {
        read(body, options.blocklist);
    }

    Result<Applied> apply(Writer& writer) override {
        Writer::Node node = BUNRAKU_TRY(writer.node(certname_, Writer::IfMissing::Create));
        Database& db = writer.db();
        std::string steady_before;  // empty if unknown
        bool known = false, same = false, same_packages = false, had_packages = false;
        if (!node.created) {
            Statement s = BUNRAKU_TRY(
                db.prepare("SELECT producer_timestamp, hash, package_digest, steady_hash"
                           " FROM factsets WHERE certname_id = ?"));
            s.bind(node.id);
            if (BUNRAKU_TRY(s.step())) {
                if (s.integer(0) > producer_timestamp_) return Applied::Obsolete;
                known = true;
                same = s.blob(1) == bytes_of(hash_);
                had_packages = !s.is_null(2);
                steady_before = s.blob(3);
                same_packages =
                    had_packages && has_packages_ && s.blob(2) == bytes_of(package_digest_);
            }
        }
        BUNRAKU_TRY_VOID(writer.reactivate(node, producer_timestamp_));
        // A change of facts that differ in every run does not create a version.
        const Digest steady = steady_hash(rows_);
        if (steady_before != bytes_of(steady)) {
            BUNRAKU_TRY_VOID(
                remember_facts(writer, node.id, producer_timestamp_, steady, steady_before, rows_));
        }
        if (!same) BUNRAKU_TRY_VOID(put_facts(writer, node.id));
        std::int64_t names = BUNRAKU_TRY(fact_name_set(writer, rows_));
        // A command without an inventory removes the stored one, as in PuppetDB.
        if (!same_packages && (has_packages_ || had_packages)) {
            BUNRAKU_TRY_VOID(put_packages(writer, node.id));
        }
        std::int64_t environment = BUNRAKU_TRY(writer.environment(environment_));
        std::int64_t producer = BUNRAKU_TRY(writer.producer(producer_));
        Statement s = BUNRAKU_TRY(db.prepare(
            known ? "UPDATE factsets SET hash = ?, package_digest = ?, environment_id = ?,"
                    " producer_id = ?, producer_timestamp = ?, timestamp = ?, name_set_id = ?,"
                    " steady_hash = ? WHERE certname_id = ?"
                  : "INSERT INTO factsets (hash, package_digest, environment_id, producer_id,"
                    " producer_timestamp, timestamp, name_set_id, steady_hash, certname_id)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"));
        s.bind_blob(bytes_of(hash_));
        has_packages_ ? s.bind_blob(bytes_of(package_digest_)) : s.bind_null();
        bind_id(s, environment);
        bind_id(s, producer);
        s.bind(producer_timestamp_).bind(header_.received).bind(names);
        s.bind_blob(bytes_of(steady)).bind(node.id);
        BUNRAKU_TRY_VOID(s.run_later());
        return same ? Applied::Unchanged : Applied::Stored;
    }

private:
    void read(std::string_view body, const FactsBlocklist& blocklist) {
        codec::JsonCursor json(body);
        int v = header_.version;
        // The oldest senders wrap the JSON in a string.
        if (v < 4 && json.kind() == codec::JsonCursor::Kind::String) {
            unwrapped_ = std::string(json.string());
            json.finish();
            return read_map(unwrapped_, blocklist);
        }
        read_map(body, blocklist);
    }

    void read_map(std::string_view body, const FactsBlocklist& blocklist) {
        codec::JsonCursor json(body);
        int v = header_.version;
        const char* command = "replace facts";
        if (json.kind() != codec::JsonCursor::Kind::Object) json.fail("facts must be a JSON map");
        bool has_values = false, has_environment = false, has_timestamp = false,
             has_producer = false;
        json.enter_object();
        std::string_view raw;
        while (json.next_key(&raw)) {
            std::string dashed;
            std::string_view key = raw;
            if (v < 4) {
                dashed = dashes_to_underscores(raw);
                key = dashed;
            }
            if (key == (v < 4 ? "name" : "certname")) {
                certname_ = read_text(json, key);
            } else if (key == "environment") {
                environment_ = read_optional_text(json, key).value_or("");
                has_environment = true;
            } else if (key == "producer") {
                producer_ = read_optional_text(json, key).value_or("");
                has_producer = true;
            } else if (key == "producer_timestamp") {
                auto time = read_optional_time(json, key);
                has_timestamp = time.has_value();
                producer_timestamp_ = time.value_or(0);
            } else if (key == "values") {
                read_values(json, blocklist);
                has_values = true;
            } else if (key == "package_inventory") {
                read_packages(json);
            } else if (key == "timestamp") {
                json.skip();  // The receiver's time is used instead.
            } else {
                unknown_field(command, key);
            }
        }
        json.finish();
        if (certname_.empty()) missing_field(command, v < 4 ? "name" : "certname");
        if (!has_values) missing_field(command, "values");
        if (!has_environment && v >= 3) missing_field(command, "environment");
        if (!has_timestamp && v >= 4) missing_field(command, "producer_timestamp");
        if (!has_producer && v >= 5) missing_field(command, "producer");
        if (!has_timestamp || v < 3) producer_timestamp_ = header_.received;
        if (v < 5) producer_.clear();
    }

    void read_values(codec::JsonCursor& json, const FactsBlocklist& blocklist) {
        if (json.kind() != codec::JsonCursor::Kind::Object) json.fail("'values' must be a map");
        json.enter_object();
        std::string_view name;
        std::map<std::string, std::string> values;  // the last of equal names is used
        while (json.next_key(&name)) {
            if (blocklist.blocks(name)) {
                std::string ignored;
                json.canonical(ignored);
                continue;
            }
            std::string& value = values[std::string(name)];
            value.clear();
            json.canonical(value);
        }
        rows_.clear();
        rows_.reserve(values.size());
        Sha1 sum;
        for (auto& [key, value] : values) {
            FactRow& row = rows_.emplace_back();
            row.name = key;
            row.value = std::move(value);
            row.hash();
            sum.add(bytes_of(row.key));
        }
        hash_ = sum.digest();
    }

    void read_packages(codec::JsonCursor& json) {
        if (json.kind() == codec::JsonCursor::Kind::Null) {
            json.null();
            return;
        }
        if (json.kind() != codec::JsonCursor::Kind::Array)
            json.fail("'package_inventory' must be an array");
        has_packages_ = true;
        std::set<Package> all;
        json.enter_array();
        while (json.next_element()) {
            if (json.kind() != codec::JsonCursor::Kind::Array)
                json.fail("a package must be an array");
            std::string parts[3];
            int n = 0;
            json.enter_array();
            while (json.next_element()) {
                if (n == 3) json.fail("a package must have a name, a version and a provider");
                parts[n++] = read_text(json, "package_inventory");
            }
            if (n != 3) json.fail("a package must have a name, a version and a provider");
            all.emplace(std::move(parts[0]), std::move(parts[1]), std::move(parts[2]));
        }
        packages_.assign(all.begin(), all.end());
        Sha1 sum;
        for (const auto& [name, version, provider] : packages_) {
            sum.part(name).part(version).part(provider);
        }
        package_digest_ = sum.digest();
    }

    Result<void> put_facts(Writer& writer, std::int64_t node) {
        std::vector<std::int64_t> wanted = BUNRAKU_TRY(store_facts(writer, rows_));
        std::sort(wanted.begin(), wanted.end());
        return put_links(writer, "factset_facts", "fact_id", node, wanted, kGcFacts);
    }

    static Result<void> put_links(Writer& writer, std::string_view table, std::string_view column,
                                  std::int64_t node, const std::vector<std::int64_t>& wanted,
                                  int kind) {
        Database& db = writer.db();
        std::vector<std::int64_t> stored = BUNRAKU_TRY(linked_ids(db, table, column, node));
        std::vector<std::int64_t> added, removed;
        std::set_difference(wanted.begin(), wanted.end(), stored.begin(), stored.end(),
                            std::back_inserter(added));
        std::set_difference(stored.begin(), stored.end(), wanted.begin(), wanted.end(),
                            std::back_inserter(removed));
        BUNRAKU_ASSERT(std::ranges::is_sorted(wanted));
        BUNRAKU_ASSERT(stored.size() + added.size() == wanted.size() + removed.size());
        BUNRAKU_TRY_VOID(add_links(db, table, column, node, added));
        return remove_links(db, table, column, node, removed, kind);
    }

    Result<void> put_packages(Writer& writer, std::int64_t node) {
        Database& db = writer.db();
        std::vector<std::int64_t> ids;
        Statement find = BUNRAKU_TRY(
            db.prepare("SELECT id FROM packages WHERE name = ? AND version = ? AND provider = ?"));
        Statement make = BUNRAKU_TRY(
            db.prepare("INSERT INTO packages (name, version, provider) VALUES (?, ?, ?)"
                       " ON CONFLICT (name, version, provider) DO UPDATE SET name = excluded.name"
                       " RETURNING id"));
        for (const auto& [name, version, provider] : packages_) {
            Digest key = Sha1().part(name).part(version).part(provider).digest();
            if (const auto* known = writer.packages.find(key)) {
                ids.push_back(*known);
                continue;
            }
            find.reset();
            find.bind(name).bind(version).bind(provider);
            std::int64_t id = 0;
            if (BUNRAKU_TRY(find.step())) id = find.integer(0);
            find.reset();
            if (id == 0) {
                make.reset();
                make.bind(name).bind(version).bind(provider);
                if (BUNRAKU_TRY(make.step())) id = make.integer(0);
                BUNRAKU_TRY_VOID(make.run());
                make.reset();
            }
            BUNRAKU_ASSERT(id != 0);
            writer.packages.put(key, id);
            ids.push_back(id);
        }
        BUNRAKU_ASSERT(ids.size() == packages_.size());
        std::sort(ids.begin(), ids.end());
        return put_links(writer, "certname_packages", "package_id", node, ids, kGcPackages);
    }

    CommandHeader header_;
    std::string certname_, environment_, producer_, unwrapped_;
    std::int64_t producer_timestamp_ = 0;
    std::vector<FactRow> rows_;
    Digest hash_{}, package_digest_{};
    bool has_packages_ = false;
    std::vector<Package> packages_;
};

}  // namespace

std::unique_ptr<PreparedCommand> prepare_facts(const CommandHeader& header, std::string_view body,
                                               const CommandOptions& options) {
    return std::make_unique<Facts>(header, body, options);
}

}  // namespace bunraku::store
