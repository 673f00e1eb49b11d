// SPDX-License-Identifier: Apache-2.0
// store report, versions 3 to 8.
#include <algorithm>
#include <fmt/format.h>
#include <span>
#include <unordered_set>

#include "core/codec/json_cursor.h"
#include "core/codec/json_text.h"
#include "resources/catalog/json_text.h"
#include "resources/catalog/wire_time.h"
#include "store/db/bulk.h"
#include "store/db/command.h"
#include "store/db/command_fields.h"
#include "store/engine/report_rows.h"
#include "store/engine/undeclared.h"

namespace bunraku::store {

namespace {

/// The fields of a resource's change that the API returns.
struct Event {
    std::string status, type, title;
    std::int64_t timestamp = 0;
    std::optional<std::string> property, name, message, file;
    std::string new_value, old_value;  ///< canonical JSON; null if empty
    std::optional<std::int64_t> line;
    std::string containment_path, containing_class;
    std::optional<bool> corrective_change;

    Digest identity() const {
        Sha1 sum;
        sum.part(type).part(title).number(timestamp).part(status).part(new_value).part(old_value);
        for (const auto* text : {&property, &name, &message, &file}) {
            sum.number(text->has_value()).part(text->value_or(""));
        }
        return sum.number(line.value_or(-1)).digest();
    }
};

/// Checks the keys of an object: "All keys are required", and PuppetDB accepts no others.
class Keys {
public:
    Keys(std::string_view what, std::span<const std::string_view> required)
        : what_(what), required_(required) {}
    void note(std::string_view key) {
        for (std::size_t i = 0; i < required_.size(); ++i) {
            if (required_[i] == key) seen_ |= 1U << i;
        }
    }
    [[noreturn]] void unknown(std::string_view key) const {
        throw codec::JsonError{
            fmt::format("Invalid store report command: {} has an unknown key '{}'", what_, key)};
    }
    void check() const {
        for (std::size_t i = 0; i < required_.size(); ++i) {
            if (seen_ & 1U << i) continue;
            throw codec::JsonError{fmt::format(
                "Invalid store report command: {} is missing the key '{}'", what_, required_[i])};
        }
    }

private:
    std::string_view what_;
    std::span<const std::string_view> required_;
    std::uint32_t seen_ = 0;
};

// Version 8 added the last key of each list.
constexpr std::string_view kResourceKeys[] = {
    "skipped", "timestamp", "resource_type",    "resource_title",
    "file",    "line",      "containment_path", "corrective_change"};
constexpr std::string_view kEventKeys[] = {
    "status", "timestamp", "property", "new_value", "old_value", "message", "corrective_change"};
constexpr std::string_view kFlatKeys[] = {
    "status",        "timestamp",      "property", "new_value", "old_value",       "message",
    "resource_type", "resource_title", "file",     "line",      "containment_path"};
constexpr std::string_view kLogKeys[] = {"file",   "line", "level", "message",
                                         "source", "tags", "time"};
constexpr std::string_view kMetricKeys[] = {"category", "name", "value"};

std::span<const std::string_view> since_8(std::span<const std::string_view> keys, int version) {
    return version >= 8 ? keys : keys.first(keys.size() - 1);
}

class Report final : public PreparedCommand {
public:
    Report(const CommandHeader& header, std::string_view body, const CommandOptions& options)
        : header_(header), events_ttl_ms_(options.resource_events_ttl_ms) {
        read(body);
    }

    Result<Applied> apply(Writer& writer) override {
        Database& db = writer.db();
        Writer::Node node = BUNRAKU_TRY(writer.node(certname_, Writer::IfMissing::Create));
        BUNRAKU_TRY_VOID(writer.reactivate(node, producer_timestamp_));
        std::int64_t environment = BUNRAKU_TRY(writer.environment(environment_));
        std::int64_t producer = BUNRAKU_TRY(writer.producer(producer_));
        ReportKind kind{.environment = environment,
                        .producer = producer,
                        .report_format = report_format_,
                        .noop = noop_,
                        .noop_pending = noop_pending_,
                        .corrective_change = corrective_change_,
                        .status = status_,
                        .puppet_version = puppet_version_,
                        .configuration_version = configuration_version_,
                        .catalog_uuid = catalog_uuid_,
                        .code_id = code_id_,
                        .job_id = job_id_,
                        .cached_catalog_status = cached_catalog_status_};
        const ReportTexts texts(metrics_, logs_, events_.empty());
        kind.texts = texts.form();
        const KnownReport known = BUNRAKU_TRY(find_report(db, node.id, hash_, kind));
        if (known.duplicate) return Applied::Duplicate;
        const ReportKindRef ref =
            known.kind ? *known.kind : BUNRAKU_TRY(put_report_kind(db, node.id, kind));
        std::int64_t id = 0;
        {
            Statement s = BUNRAKU_TRY(db.prepare(
                "INSERT INTO reports (certname_id, kind_id, hash, start_time, end_time,"
                " producer_timestamp, receive_time, transaction_uuid, catalog_uuid, plan,"
                " event_count, numbers) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id"));
            s.bind(node.id).bind(ref.id).bind_blob(bytes_of(hash_)).bind(start_time_);
            s.bind(end_time_).bind(producer_timestamp_).bind(header_.received);
            bind_uuid(db, s, transaction_uuid_);
            bind_uuid(db, s, catalog_uuid_ == ref.catalog_uuid ? std::nullopt : catalog_uuid_);
            type_ == "plan" ? s.bind(1) : s.bind_null();
            events_.empty() ? s.bind_null() : s.bind(events_.size());
            texts.numbers().empty() ? s.bind_null() : s.bind_blob(texts.numbers());
            if (!BUNRAKU_TRY(s.step())) return base::failure("The report could not be stored");
            id = s.integer(0);
            BUNRAKU_TRY_VOID(s.run());
        }
        BUNRAKU_TRY_VOID(texts.store_rest(db, id));
        BUNRAKU_TRY_VOID(put_events(db, node.id, id));
        BUNRAKU_TRY_VOID(put_existence(db, node));
        if (type_ != "plan" && producer_timestamp_ > node.latest_report_timestamp) {
            Statement s =
                BUNRAKU_TRY(db.prepare("UPDATE certnames SET latest_report_id = ?,"
                                       " latest_report_timestamp = ? WHERE id = ?"));
            s.bind(id).bind(producer_timestamp_).bind(node.id);
            BUNRAKU_TRY_VOID(s.run_later());
            BUNRAKU_TRY_VOID(put_latest_events(db, node.id, id, environment));
        }
        return Applied::Stored;
    }

private:
    Result<void> put_events(Database& db, std::int64_t node, std::int64_t report) {
        using T = Bulk::Type;
        if (events_.empty()) return {};
        Bulk rows(db, "resource_events",
                  {{"certname_id", T::Integer},
                   {"report_id", T::Integer},
                   {"seq", T::Integer},
                   {"status", T::Text},
                   {"timestamp", T::Integer},
                   {"resource_type", T::Text},
                   {"resource_title", T::Text},
                   {"property", T::Text},
                   {"name", T::Text},
                   {"new_value", T::Json},
                   {"old_value", T::Json},
                   {"message", T::Text},
                   {"file", T::Text},
                   {"line", T::Integer},
                   {"containment_path", T::Json},
                   {"containing_class", T::Text},
                   {"corrective_change", T::Integer}});
        std::int64_t seq = 0;
        auto text = [&](const std::optional<std::string>& t) { t ? rows.text(*t) : rows.null(); };
        for (const Event& e : events_) {
            rows.integer(node).integer(report).integer(seq++).text(e.status).integer(e.timestamp);
            rows.text(e.type).text(e.title);
            text(e.property);
            text(e.name);
            rows.optional(e.new_value).optional(e.old_value);
            text(e.message);
            text(e.file);
            e.line ? rows.integer(*e.line) : rows.null();
            rows.optional(e.containment_path).optional(e.containing_class);
            e.corrective_change ? rows.integer(*e.corrective_change) : rows.null();
            BUNRAKU_TRY_VOID(rows.end_row());
        }
        return rows.flush();
    }

    /// Records which resources the agent has created or removed. A report that is older than the
    /// newest one creates nothing, because the resource may have been removed meanwhile.
    Result<void> put_existence(Database& db, const Writer::Node& node) {
        if (type_ == "plan") return {};
        const bool late = producer_timestamp_ <= node.latest_report_timestamp;
        std::vector<ExistenceChange> changes;
        for (const Event& e : events_) {
            if (e.status != "success" || !e.property) continue;
            const Existence change =
                existence_change(e.type, *e.property, e.old_value, e.new_value);
            // A corrective change restores what was there before, whoever created that.
            const bool counts =
                change == Existence::Removed || (change == Existence::Created && !late &&
                                                 e.corrective_change && !*e.corrective_change);
            if (counts) changes.push_back({e.type, e.title, change});
        }
        BUNRAKU_TRY_VOID(record_removed(db, node.id, producer_timestamp_, changes));
        return record_existence(db, node.id, changes);
    }

    /// Replaces the events of the node's previous newest report.
    Result<void> put_latest_events(Database& db, std::int64_t node, std::int64_t report,
                                   std::int64_t environment) {
        using T = Bulk::Type;
        {
            Statement s =
                BUNRAKU_TRY(db.prepare("DELETE FROM latest_events WHERE certname_id = ?"));
            s.bind(node);
            BUNRAKU_TRY_VOID(s.run_later());
        }
        if (events_.empty()) return {};
        Bulk rows(db, "latest_events",
                  {{"certname_id", T::Integer},
                   {"seq", T::Integer},
                   {"report_id", T::Integer},
                   {"environment_id", T::Integer},
                   {"status", T::Text},
                   {"timestamp", T::Integer},
                   {"resource_type", T::Text},
                   {"resource_title", T::Text},
                   {"containing_class", T::Text}});
        std::int64_t seq = 0;
        for (const Event& e : events_) {
            rows.integer(node).integer(seq++).integer(report);
            environment ? rows.integer(environment) : rows.null();
            rows.text(e.status).integer(e.timestamp).text(e.type).text(e.title);
            rows.optional(e.containing_class);
            BUNRAKU_TRY_VOID(rows.end_row());
        }
        return rows.flush();
    }

    void read(std::string_view body) {
        codec::JsonCursor json(body);
        int v = header_.version;
        if (json.kind() != codec::JsonCursor::Kind::Object)
            json.fail("a report must be a JSON map");
        json.enter_object();
        std::string_view raw;
        std::unordered_set<std::string> seen;
        while (json.next_key(&raw)) {
            std::string key = v < 5 ? dashes_to_underscores(raw) : std::string(raw);
            seen.insert(key);
            if (!field(json, key)) {
                // Keys that the conversion of older versions overwrites.
                bool renewed =
                    (key == "producer_timestamp" && v < 5) || (key == "resources" && v <= 5);
                if (!renewed) Keys("the report", {}).unknown(key);
                std::string ignored;
                json.canonical(ignored);
            }
        }
        json.finish();
        auto require = [&](std::initializer_list<std::string_view> keys) {
            for (std::string_view key : keys) {
                if (!seen.contains(std::string(key))) missing_field("store report", key);
            }
        };
        require({"certname", "puppet_version", "report_format", "configuration_version",
                 "start_time", "end_time", "environment", "transaction_uuid"});
        // Versions up to 7 may omit the lists of resources and events.
        if (v >= 4) require({"status"});
        if (v >= 5) require({"producer_timestamp", "noop", "metrics", "logs"});
        if (v >= 8) require({"resources"});
        if (v >= 7) require({"catalog_uuid", "code_id", "cached_catalog_status"});
        if (v >= 8) require({"producer", "noop_pending", "corrective_change"});
        if (certname_.empty()) missing_field("store report", "certname");
        if (!has_timestamp_) producer_timestamp_ = header_.received;
        if (v < 7) catalog_uuid_ = transaction_uuid_;
        if (v < 5) metrics_ = logs_ = "null";
        drop_duplicates();
        hash_ = Sha1()
                    .part(certname_)
                    .part(puppet_version_)
                    .number(report_format_)
                    .part(configuration_version_)
                    .number(start_time_)
                    .number(end_time_)
                    .number(producer_timestamp_)
                    .part(transaction_uuid_.value_or(""))
                    .digest();
    }

    bool field(codec::JsonCursor& json, const std::string& key) {
        int v = header_.version;
        if (key == "certname") {
            certname_ = read_text(json, key);
        } else if (key == "puppet_version") {
            puppet_version_ = read_text(json, key);
        } else if (key == "report_format") {
            if (json.kind() != codec::JsonCursor::Kind::Number) {
                json.fail("'report_format' must be an integer");
            }
            report_format_ = json.integer();
        } else if (key == "configuration_version") {
            configuration_version_ = read_text(json, key);
        } else if (key == "start_time") {
            start_time_ = read_zoned_time(json, key);
        } else if (key == "end_time") {
            end_time_ = read_zoned_time(json, key);
        } else if (key == "producer_timestamp" && v >= 5) {
            producer_timestamp_ = read_zoned_time(json, key);
            has_timestamp_ = true;
        } else if (key == "producer") {
            producer_ = read_optional_text(json, key).value_or("");
        } else if (key == "environment") {
            environment_ = read_text(json, key);
        } else if (key == "status") {
            status_ = read_optional_text(json, key);
        } else if (key == "noop") {
            noop_ = read_optional_boolean(json, key);
        } else if (key == "noop_pending") {
            noop_pending_ = read_optional_boolean(json, key);
        } else if (key == "corrective_change") {
            corrective_change_ = read_optional_boolean(json, key);
        } else if (key == "transaction_uuid") {
            transaction_uuid_ = read_optional_uuid(json, key);
        } else if (key == "catalog_uuid") {
            catalog_uuid_ = read_optional_uuid(json, key);
        } else if (key == "code_id") {
            code_id_ = read_optional_text(json, key);
        } else if (key == "job_id") {
            job_id_ = read_optional_text(json, key);
        } else if (key == "cached_catalog_status") {
            cached_catalog_status_ = read_optional_text(json, key);
        } else if (key == "type") {
            type_ = read_text(json, key);
            if (type_ != "agent" && type_ != "plan") json.fail("'type' must be agent or plan");
        } else if (key == "metrics") {
            read_metrics(json);
        } else if (key == "logs") {
            read_logs(json);
        } else if (key == "resources" && v >= 6) {
            read_resources(json);
        } else if (key == "resource_events" && v <= 5) {
            read_flat_events(json);
        } else {
            return false;
        }
        return true;
    }

    void read_metrics(codec::JsonCursor& json) {
        if (json.kind() == codec::JsonCursor::Kind::Null) {
            metrics_ = "null";
            return json.null();
        }
        codec::JsonCursor check = json;
        check.enter_array();
        while (check.next_element()) {
            if (check.kind() != codec::JsonCursor::Kind::Object)
                check.fail("a metric must be a map");
            Keys keys("a metric", kMetricKeys);
            check.enter_object();
            std::string_view key;
            while (check.next_key(&key)) {
                keys.note(key);
                if (key == "category" || key == "name") {
                    read_repaired_text(check, std::string(key));
                } else if (key == "value") {
                    if (check.kind() != codec::JsonCursor::Kind::Number) {
                        check.fail("a metric's 'value' must be a number");
                    }
                    check.number();
                } else {
                    keys.unknown(key);
                }
            }
            keys.check();
        }
        metrics_.clear();
        json.canonical(metrics_);
    }

    void read_logs(codec::JsonCursor& json) {
        if (json.kind() == codec::JsonCursor::Kind::Null) {
            logs_ = "null";
            return json.null();
        }
        logs_ = "[";
        json.enter_array();
        while (json.next_element()) {
            if (json.kind() != codec::JsonCursor::Kind::Object) json.fail("a log must be a map");
            std::string level, message, source, tags, time;
            Keys keys("a log", kLogKeys);
            std::optional<std::string> file;
            std::optional<std::int64_t> line;
            json.enter_object();
            std::string_view raw;
            while (json.next_key(&raw)) {
                std::string key(raw);
                keys.note(key);
                if (key == "level") {
                    level = read_repaired_text(json, key);
                } else if (key == "message") {
                    message = read_repaired_text(json, key);
                } else if (key == "source") {
                    source = read_repaired_text(json, key);
                } else if (key == "tags") {
                    tags = read_log_tags(json);
                } else if (key == "file") {
                    file = read_optional_repaired_text(json, key);
                } else if (key == "line") {
                    line = read_line(json);
                } else if (key == "time") {
                    time = read_log_time(json);
                } else {
                    keys.unknown(key);
                }
            }
            keys.check();
            if (logs_.size() > 1) logs_ += ',';
            logs_ += "{\"file\":";
            file ? codec::append_json_string(logs_, *file) : void(logs_ += "null");
            logs_ += ",\"level\":";
            codec::append_json_string(logs_, level);
            logs_ += line ? fmt::format(",\"line\":{}", *line) : ",\"line\":null";
            logs_ += ",\"message\":";
            codec::append_json_string(logs_, message);
            logs_ += ",\"source\":";
            codec::append_json_string(logs_, source);
            logs_ += ",\"tags\":";
            logs_ += tags;
            logs_ += ",\"time\":";
            codec::append_json_string(logs_, time);
            logs_ += '}';
        }
        logs_ += ']';
    }

    /// Returns the tags as JSON.
    static std::string read_log_tags(codec::JsonCursor& json) {
        if (json.kind() == codec::JsonCursor::Kind::Null) {
            json.null();
            return "null";
        }
        if (json.kind() != codec::JsonCursor::Kind::Array) json.fail("'tags' must be an array");
        std::string out = "[";
        json.enter_array();
        while (json.next_element()) {
            if (out.size() > 1) out += ',';
            codec::append_json_string(out, read_repaired_text(json, "tags"));
        }
        return out + "]";
    }

    /// Returns the time as sent, because agents send nanoseconds.
    static std::string read_log_time(codec::JsonCursor& json) {
        codec::JsonCursor text = json;
        read_zoned_time(json, "time");
        return std::string(text.string());
    }

    static std::optional<std::int64_t> read_line(codec::JsonCursor& json) {
        if (json.kind() == codec::JsonCursor::Kind::Null) {
            json.null();
            return std::nullopt;
        }
        if (json.kind() != codec::JsonCursor::Kind::Number) json.fail("'line' must be an integer");
        return json.integer();
    }

    /// Reads a field of the resource; up to version 5, each event repeats these fields.
    bool resource_field(codec::JsonCursor& json, const std::string& key, Event& e) {
        if (key == "resource_type") {
            e.type = read_repaired_text(json, key);
        } else if (key == "resource_title") {
            e.title = read_repaired_text(json, key);
        } else if (key == "file") {
            e.file = read_optional_repaired_text(json, key);
        } else if (key == "line") {
            e.line = read_line(json);
        } else if (key == "containment_path") {
            read_containment(json, e);
        } else {
            return false;
        }
        return true;
    }

    bool event_field(codec::JsonCursor& json, const std::string& key, Event& e) {
        if (key == "status") {
            e.status = read_repaired_text(json, key);
        } else if (key == "timestamp") {
            e.timestamp = read_zoned_time(json, key);
        } else if (key == "property") {
            e.property = read_optional_repaired_text(json, key);
        } else if (key == "name") {
            e.name = read_optional_repaired_text(json, key);
        } else if (key == "message") {
            e.message = read_optional_repaired_text(json, key);
        } else if (key == "corrective_change") {
            e.corrective_change = read_optional_boolean(json, key);
        } else if (key == "new_value" || key == "old_value") {
            std::string& value = key == "new_value" ? e.new_value : e.old_value;
            value.clear();
            json.canonical(value);
            if (value == "null") value.clear();
        } else {
            return false;
        }
        return true;
    }

    static void read_containment(codec::JsonCursor& json, Event& e) {
        if (json.kind() == codec::JsonCursor::Kind::Null) return json.null();
        if (json.kind() != codec::JsonCursor::Kind::Array)
            json.fail("'containment_path' must be an array");
        e.containment_path = "[";
        e.containing_class.clear();
        json.enter_array();
        while (json.next_element()) {
            std::string part = read_repaired_text(json, "containment_path");
            // The innermost class. Classes have no title in a containment path.
            if (!part.empty() && part.find('[') == std::string::npos) e.containing_class = part;
            if (e.containment_path.size() > 1) e.containment_path += ',';
            codec::append_json_string(e.containment_path, part);
        }
        e.containment_path += ']';
    }

    void read_resources(codec::JsonCursor& json) {
        if (json.kind() == codec::JsonCursor::Kind::Null) return json.null();
        if (json.kind() != codec::JsonCursor::Kind::Array)
            json.fail("'resources' must be an array");
        json.enter_array();
        while (json.next_element()) {
            if (json.kind() != codec::JsonCursor::Kind::Object)
                json.fail("a resource must be a map");
            Event resource;
            std::vector<Event> events;
            Keys keys("a resource", since_8(kResourceKeys, header_.version));
            bool skipped = false, has_events = false;
            json.enter_object();
            std::string_view raw;
            while (json.next_key(&raw)) {
                std::string key(raw);
                keys.note(key);
                if (key == "skipped") {
                    auto flag = read_optional_boolean(json, key);
                    if (!flag) json.fail("'skipped' must be a boolean");
                    skipped = *flag;
                } else if (key == "timestamp") {
                    resource.timestamp = read_zoned_time(json, key);
                } else if (key == "corrective_change") {
                    read_optional_boolean(json, key);
                } else if (key == "events") {
                    has_events = true;
                    if (json.kind() == codec::JsonCursor::Kind::Null) {
                        json.null();
                        continue;
                    }
                    json.enter_array();
                    while (json.next_element()) events.push_back(read_event(json));
                } else if (!resource_field(json, key, resource)) {
                    keys.unknown(key);
                }
            }
            keys.check();
            if (!has_events && header_.version >= 8) json.fail("a resource needs events");
            if (skipped) {
                resource.status = "skipped";
                resource.corrective_change = false;
                events_.push_back(std::move(resource));
                continue;
            }
            for (Event& e : events) {
                e.type = resource.type;
                e.title = resource.title;
                e.file = resource.file;
                e.line = resource.line;
                e.containment_path = resource.containment_path;
                e.containing_class = resource.containing_class;
                events_.push_back(std::move(e));
            }
        }
    }

    Event read_event(codec::JsonCursor& json) {
        if (json.kind() != codec::JsonCursor::Kind::Object) json.fail("an event must be a map");
        Event e;
        Keys keys("an event", since_8(kEventKeys, header_.version));
        json.enter_object();
        std::string_view raw;
        while (json.next_key(&raw)) {
            std::string key(raw);
            keys.note(key);
            if (!event_field(json, key, e)) keys.unknown(key);
        }
        keys.check();
        return e;
    }

    void read_flat_events(codec::JsonCursor& json) {
        if (json.kind() == codec::JsonCursor::Kind::Null) return json.null();
        if (json.kind() != codec::JsonCursor::Kind::Array)
            json.fail("'resource_events' must be an array");
        json.enter_array();
        while (json.next_element()) {
            if (json.kind() != codec::JsonCursor::Kind::Object) json.fail("an event must be a map");
            Event e;
            Keys keys("an event", kFlatKeys);
            json.enter_object();
            std::string_view raw;
            while (json.next_key(&raw)) {
                std::string key = dashes_to_underscores(raw);
                keys.note(key);
                if (!resource_field(json, key, e) && !event_field(json, key, e)) {
                    keys.unknown(key);
                }
            }
            keys.check();
            if (e.status == "skipped") {
                e.property.reset();
                e.message.reset();
                e.new_value.clear();
                e.old_value.clear();
                e.corrective_change = false;
            }
            events_.push_back(std::move(e));
        }
    }

    /// Removes duplicate events except for the first one, and events older than their retention
    /// time.
    void drop_duplicates() {
        std::unordered_set<Digest, DigestHash> seen;
        std::int64_t oldest = events_ttl_ms_ > 0 ? header_.received - events_ttl_ms_ : INT64_MIN;
        std::erase_if(events_, [&](const Event& e) {
            return e.timestamp < oldest || !seen.insert(e.identity()).second;
        });
    }

    CommandHeader header_;
    std::int64_t events_ttl_ms_;
    std::string certname_, puppet_version_, configuration_version_, environment_, producer_;
    std::string type_ = "agent", metrics_ = "[]", logs_ = "[]";
    std::int64_t report_format_ = 0, start_time_ = 0, end_time_ = 0, producer_timestamp_ = 0;
    bool has_timestamp_ = false;
    std::optional<bool> noop_, noop_pending_, corrective_change_;
    std::optional<std::string> status_, transaction_uuid_, catalog_uuid_, code_id_, job_id_,
        cached_catalog_status_;
    std::vector<Event> events_;
    Digest hash_{};
};

}  // namespace

std::unique_ptr<PreparedCommand> prepare_report(const CommandHeader& header, std::string_view body,
                                                const CommandOptions& options) {
    return std::make_unique<Report>(header, body, options);
}

}  // namespace bunraku::store
