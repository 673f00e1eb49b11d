// SPDX-License-Identifier: Apache-2.0
#include "compile/site/report_processors.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "compile/site/store_access.h"
#include "core/base/plain_error.h"
#include "core/value/build.h"
#include "core/value/rich_data.h"
#include "core/value/text.h"
#include "net/http/client.h"
#include "resources/catalog/wire_time.h"
#include "store/engine/store.h"

namespace bunraku::site {

using value::HashBuilder;
using value::Value;

namespace {

Value entry(const Value& v, std::string_view name) {
    const Value* found = v.is_hash() ? v.as_hash().find(name) : nullptr;
    return found ? *found : Value::undef();
}

std::string_view text_in(const Value& v, std::string_view name) {
    const Value found = entry(v, name);
    return found.is_string() ? found.as_string() : std::string_view();
}

/// Returns the elements of the array or hash `name`.
std::vector<Value> members(const Value& v, std::string_view name) {
    std::vector<Value> out;
    const Value found = entry(v, name);
    if (found.is_array()) out.assign(found.as_array().begin(), found.as_array().end());
    if (found.is_hash())
        for (const auto& e : found.as_hash()) out.push_back(e.value);
    return out;
}

/// Returns the time in milliseconds, the precision of the store.
std::string wire_time(std::string_view iso) {
    const auto at = catalog::parse_wire_time(iso);
    return at ? catalog::format_wire_time(*at) : std::string(iso);
}

std::string ruby_text(const Value& v) {
    std::string out;
    value::print_ruby_to_s(out, v);
    return out;
}

class Command {
public:
    Command(base::Arena& arena, const Value& report) : arena_(arena), report_(report) {}

    Value build(std::string_view producer, std::int64_t at, bool with_unchanged) {
        std::vector<Value> resources;
        bool any_noop = false, any_enforced = false;
        for (const Value& status : members(report_, "resource_statuses")) {
            const auto events = members(status, "events");
            for (const Value& e : events)
                (text_in(e, "status") == "noop" ? any_noop : any_enforced) = true;
            if (with_unchanged || !events.empty() || entry(status, "skipped").truthy())
                resources.push_back(resource(status, events));
        }
        HashBuilder h(arena_, 24);
        h.set("certname", entry(report_, "host"));
        same(h, report_, {"job_id", "puppet_version", "report_format"});
        h.set("configuration_version", text(ruby_text(entry(report_, "configuration_version"))));
        h.set("producer_timestamp", text(catalog::format_wire_time(at)));
        const auto start = catalog::parse_wire_time(text_in(report_, "time")).value_or(at);
        h.set("start_time", text(catalog::format_wire_time(start)));
        h.set("end_time", text(catalog::format_wire_time(start + duration())));
        same(h, report_, {"environment", "transaction_uuid", "status"});
        const Value noop = entry(report_, "noop");
        h.set("noop", noop.is_undef() ? Value::boolean(any_noop && !any_enforced) : noop);
        same(h, report_, {"noop_pending", "corrective_change"});
        h.set("logs", logs());
        h.set("metrics", metrics());
        h.set("resources", value::make_array(arena_, resources));
        same(h, report_, {"catalog_uuid", "code_id", "cached_catalog_status"});
        h.set("producer", text(producer));
        return h.build();
    }

private:
    Value text(std::string_view t) { return value::make_string(arena_, t); }
    static void same(HashBuilder& to, const Value& from,
                     std::initializer_list<std::string_view> names) {
        for (const auto name : names) to.set(name, entry(from, name));
    }

    /// Returns metrics.time.total in milliseconds; a run that failed early has none.
    std::int64_t duration() {
        for (const Value& row : members(entry(entry(report_, "metrics"), "time"), "values")) {
            if (!row.is_array() || row.as_array().size() < 3) continue;
            const Value seconds = row.as_array()[2];
            if (value::to_text(row.as_array()[0]) == "total" && seconds.is_numeric())
                return std::llround(seconds.as_number() * 1000);
        }
        return 0;
    }

    Value logs() {
        std::vector<Value> out;
        for (const Value& log : members(report_, "logs")) {
            HashBuilder h(arena_, 7);
            same(h, log, {"file", "line", "level", "message", "source", "tags"});
            h.set("time", text(wire_time(text_in(log, "time"))));
            out.push_back(h.build());
        }
        return value::make_array(arena_, out);
    }

    Value metrics() {
        std::vector<Value> out;
        for (const Value& metric : members(report_, "metrics")) {
            for (const Value& row : members(metric, "values")) {
                if (!row.is_array() || row.as_array().size() < 3) continue;
                HashBuilder h(arena_, 3);
                h.set("category", entry(metric, "name"));
                h.set("name", row.as_array()[0]);
                h.set("value", row.as_array()[2]);
                out.push_back(h.build());
            }
        }
        return value::make_array(arena_, out);
    }

    Value resource(const Value& status, const std::vector<Value>& events) {
        HashBuilder h(arena_, 9);
        same(h, status, {"skipped"});
        h.set("timestamp", text(wire_time(text_in(status, "time"))));
        same(h, status, {"resource_type"});
        h.set("resource_title", entry(status, "title"));
        same(h, status, {"file", "line", "containment_path", "corrective_change"});
        std::vector<Value> out;
        for (const Value& e : events) out.push_back(event(e));
        h.set("events", value::make_array(arena_, out));
        return h.build();
    }

    Value event(const Value& e) {
        HashBuilder h(arena_, 8);
        same(h, e, {"status"});
        h.set("timestamp", text(wire_time(text_in(e, "time"))));
        same(h, e, {"name", "property"});
        h.set("new_value", text(ruby_text(entry(e, "desired_value"))));
        h.set("old_value", text(ruby_text(entry(e, "previous_value"))));
        same(h, e, {"corrective_change", "message"});
        return h.build();
    }

    base::Arena& arena_;
    const Value& report_;
};

void log_again(const Value& report, base::LogSink& log) {
    for (const Value& record : members(report, "logs")) {
        base::Diagnostic d;
        d.level = base::level_from_name(text_in(record, "level")).value_or(base::Level::Notice);
        if (!log.enabled(d.level)) continue;
        d.message = text_in(record, "message");
        d.source = fmt::format("//{}/{}", text_in(report, "host"), text_in(record, "source"));
        log.log(d);
    }
}

void post(const View& view, const std::string& yaml, base::LogSink& log) {
    const std::string url = view.settings().text("reporturl");
    auto options = tls_options(view.settings(), view.user_agent());
    options.system_authorities = view.settings().boolean("report_include_system_store");
    if (options.system_authorities) options.trust_store = view.settings().text("ssl_trust_store");
    http::ClientRequest request{.method = "POST", .url = url, .body = yaml};
    request.headers.set("Content-Type", "application/x-yaml");
    const auto answer = http::Client(std::move(options)).send(request);
    if (!answer) {
        // For a rejected certificate, Puppet's message omits the request.
        std::string_view why = answer.error().message;
        const std::string place = fmt::format("POST {}: ", url);
        if (answer.error().code == http::kRefusedCertificate && why.starts_with(place))
            why.remove_prefix(place.size());
        throw base::plain_error(std::string(why));
    }
    if (answer->status / 100 != 2) {
        log.log(base::Level::Err, fmt::format("Unable to submit report to {} [{}] {}", url,
                                              answer->status, http::reason(answer->status)));
    }
}

}  // namespace

std::string report_command(const Value& report, std::string_view producer,
                           std::int64_t producer_timestamp, bool with_unchanged) {
    base::Arena arena(64 * 1024);
    return value::to_json(
        Command(arena, report).build(producer, producer_timestamp, with_unchanged));
}

void process_report(const std::shared_ptr<const View>& view,
                    std::span<const std::string> processors, const ReportForms& report,
                    const RubyProcessor& ruby, base::LogSink& log) {
    for (const std::string& name : processors) {
        try {
            if (name == "store") continue;
            if (name == "log") {
                log_again(report.data, log);
            } else if (name == "http") {
                post(*view, report.yaml(), log);
            } else if (name == "puppetdb") {
                const View::Connection store(view, log);
                store->store_report(std::string(text_in(report.data, "host")), report.data);
            } else if (!ruby || !ruby(name, report.data)) {
                log.log(base::Level::Warning, fmt::format("No report named '{}'", name));
            }
        } catch (const std::exception& e) {
            log.log(base::Level::Err, fmt::format("Report processor failed: {}", e.what()));
        }
    }
}

}  // namespace bunraku::site
