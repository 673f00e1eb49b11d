// SPDX-License-Identifier: Apache-2.0
// Formats the report: YAML for the local copy, JSON for servers, text for people.
#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/text.h"
#include "core/codec/digest.h"
#include "core/value/build.h"
#include "core/value/rich_data.h"
#include "resources/apply/report.h"
#include "resources/apply/storage.h"

namespace bunraku::apply {
namespace {

using value::HashBuilder;
using value::Kind;

std::string labelize(std::string_view name) {
    std::string out = base::capitalized(base::lower(name));
    std::ranges::replace(out, '_', ' ');
    return out;
}

Value number(const Number& n) {
    return std::holds_alternative<std::int64_t>(n) ? Value::integer(std::get<std::int64_t>(n))
                                                   : Value::floating(std::get<double>(n));
}

// Appends a literal block in Psych's format, with lines indented relative to the key.
void block_text(std::string& out, std::string_view text, int indent) {
    BUNRAKU_ASSERT(indent >= 0 && !text.empty());
    out += text.ends_with('\n') ? "|" : "|-";
    if (text.starts_with(' ')) out += "2";
    out += '\n';
    while (!text.empty()) {
        std::size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        if (!line.empty()) out += std::string(static_cast<std::size_t>(indent), ' ');
        out += line;
        out += '\n';
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
}

bool block_style(std::string_view text) {
    std::size_t nl = text.find('\n');
    if (nl == std::string_view::npos || nl + 1 == text.size()) return false;
    return std::none_of(text.begin(), text.end(),
                        [](char c) {
                            auto u = static_cast<unsigned char>(c);
                            return (u < 0x20 && u != '\n' && u != '\t') || u == 0x7f;
                        }) &&
           !text.starts_with('\n');
}

void yaml(std::string& out, const Value& v, int indent, bool in_sequence);

void yaml_entry(std::string& out, const Value& v, int indent) {
    switch (v.kind()) {
        case Kind::Undef: out += '\n'; break;
        case Kind::Hash:
            if (v.as_hash().empty()) {
                out += " {}\n";
            } else {
                out += '\n';
                yaml(out, v, indent + 2, false);
            }
            break;
        case Kind::Array:
            if (v.as_array().empty()) {
                out += " []\n";
            } else {
                out += '\n';
                yaml(out, v, indent, false);
            }
            break;
        case Kind::String:
            out += ' ';
            if (block_style(v.as_string())) {
                block_text(out, v.as_string(), indent + 2);
            } else {
                out += yaml_scalar(v.as_string()) + "\n";
            }
            break;
        case Kind::Integer:
        case Kind::Float:
        case Kind::Boolean: out += ' ' + value::to_text(v) + '\n'; break;
        default: out += ' ' + yaml_scalar(value::to_text(v)) + '\n';
    }
}

void yaml(std::string& out, const Value& v, int indent, bool in_sequence) {
    BUNRAKU_ASSERT(indent >= 0 && indent % 2 == 0);
    std::string pad(static_cast<std::size_t>(indent), ' ');
    bool first = in_sequence;
    if (v.is_hash()) {
        for (const value::Entry& e : v.as_hash()) {
            if (!first) out += pad;
            first = false;
            out += yaml_scalar(value::to_text(e.key));
            out += ':';
            yaml_entry(out, e.value, indent);
        }
        return;
    }
    for (const Value& item : v.as_array()) {
        if (!first) out += pad;
        first = false;
        out += '-';
        bool nested = (item.is_hash() && !item.as_hash().empty()) ||
                      (item.is_array() && !item.as_array().empty());
        if (nested) {
            out += ' ';
            yaml(out, item, indent + 2, true);
        } else {
            yaml_entry(out, item, indent);
        }
    }
}

struct Maker {
    Context& context;
    base::Arena& arena;

    Value text(std::string_view t) { return value::make_string(arena, t); }
    Value text_or_undef(std::string_view t) { return t.empty() ? Value::undef() : text(t); }
    Value time(std::int64_t ns) { return text(iso8601_local(ns)); }
    template <class List>
    Value texts(const List& list) {
        std::vector<Value> items;
        for (const auto& t : list) items.push_back(text(t));
        return value::make_array(arena, items);
    }

    Value log(const LogRecord& r) {
        HashBuilder h(arena);
        h.set("level", text(base::level_name(r.what.level)));
        h.set("message", text(r.what.message));
        h.set("source", text(r.what.source));
        std::vector<std::string> tags{std::string(base::level_name(r.what.level))};
        for (const std::string& t : r.what.tags) {
            if (std::find(tags.begin(), tags.end(), t) == tags.end()) tags.push_back(t);
        }
        h.set("tags", texts(tags));
        h.set("time", time(r.time_ns));
        h.set("file", text_or_undef(r.what.where.file));
        h.set("line", r.what.where.line > 0 ? Value::integer(r.what.where.line) : Value::undef());
        return h.build();
    }

    Value event(const Event& e) {
        HashBuilder h(arena, 11);
        h.set("audited", Value::boolean(e.audited));
        h.set("property", e.property ? text(e.property->name) : Value::undef());
        h.set("previous_value", e.previous);
        h.set("desired_value", e.desired);
        h.set("historical_value", e.historical);
        h.set("message", text_or_undef(e.message));
        h.set("name", text(e.name));
        h.set("status", text(status_name(e.status)));
        h.set("time", time(e.time_ns));
        // For a property without redaction, Puppet leaves this field undefined.
        h.set("redacted", e.property && !e.redacted ? Value::undef() : Value::boolean(e.redacted));
        h.set("corrective_change", Value::boolean(e.corrective_change));
        return h.build();
    }

    Value status(const ResourceStatus& s) {
        const Resource& r = *s.resource;
        BUNRAKU_ASSERT(!r.is_whit());
        HashBuilder h(arena, 20);
        h.set("title", text(r.title()));
        h.set("file", text_or_undef(r.file()));
        h.set("line", r.line() > 0 ? Value::integer(r.line()) : Value::undef());
        h.set("resource", text(r.ref()));
        h.set("resource_type", text(base::capitalized(r.type_name())));
        h.set("provider_used", text_or_undef(r.redact(std::string(r.provider_name()))));
        h.set("containment_path", texts(r.path_elements()));
        h.set("evaluation_time",
              s.evaluation_time < 0 ? Value::undef() : Value::floating(s.evaluation_time));
        h.set("tags", texts(r.tags()));
        h.set("time", time(s.time_ns));
        h.set("failed", Value::boolean(s.failed));
        h.set("failed_to_restart", Value::boolean(s.failed_to_restart));
        h.set("changed", Value::boolean(s.changed));
        h.set("out_of_sync", Value::boolean(s.out_of_sync));
        h.set("skipped", Value::boolean(s.skipped));
        h.set("change_count", Value::integer(s.change_count));
        h.set("out_of_sync_count", Value::integer(s.out_of_sync_count));
        std::vector<Value> events;
        for (const Event& e : s.events) events.push_back(event(e));
        h.set("events", value::make_array(arena, events));
        h.set("corrective_change", Value::boolean(s.corrective_change));
        return h.build();
    }

    Value metric(const std::string& name, Metric m) {
        std::stable_sort(m.begin(), m.end(), [](const auto& a, const auto& b) {
            return labelize(a.first) < labelize(b.first);
        });
        std::vector<Value> values;
        for (const auto& [n, v] : m) {
            values.push_back(value::make_array(arena, {text(n), text(labelize(n)), number(v)}));
        }
        HashBuilder h(arena, 3);
        h.set("name", text(name));
        h.set("label", text(labelize(name)));
        h.set("values", value::make_array(arena, values));
        return h.build();
    }

    Value version(const Report& r) {
        if (r.configuration_version.empty()) return Value::undef();
        if (r.configuration_version_is_number) {
            std::int64_t n = 0;
            bool digits = true;
            for (char c : r.configuration_version) {
                digits = digits && c >= '0' && c <= '9';
                n = n * 10 + (c - '0');
            }
            if (digits && r.configuration_version.size() < 19) return Value::integer(n);
        }
        return text(r.configuration_version);
    }

    Value logs(const Report& r) {
        std::vector<Value> out;
        for (const LogRecord& l : r.logs) out.push_back(log(l));
        return value::make_array(arena, out);
    }

    Value difference(const Report& r) {
        HashBuilder h(arena, 5);
        h.set("host", text(r.host));
        h.set("time", time(r.time_ns));
        h.set("transaction_uuid", text_or_undef(r.transaction_uuid));
        h.set("logs", logs(r));
        HashBuilder metrics(arena, 1);
        for (const auto& [name, m] : r.metrics)
            if (name == "time") metrics.set(text(name), metric(name, m));
        h.set("metrics", metrics.build());
        return h.build();
    }

    Value report(const Report& r) {
        HashBuilder h(arena, 24);
        h.set("host", text(r.host));
        h.set("time", time(r.time_ns));
        h.set("configuration_version", version(r));
        h.set("transaction_uuid", text_or_undef(r.transaction_uuid));
        h.set("report_format", Value::integer(12));
        h.set("puppet_version", text(r.puppet_version));
        h.set("status", text(r.status));
        h.set("transaction_completed", Value::boolean(r.transaction_completed));
        h.set("noop", Value::boolean(r.noop));
        h.set("noop_pending", Value::boolean(r.noop_pending));
        h.set("environment", text_or_undef(r.environment));
        h.set("logs", logs(r));
        HashBuilder metrics(arena, 4);
        for (const auto& [name, m] : r.metrics) metrics.set(text(name), metric(name, m));
        h.set("metrics", metrics.build());
        HashBuilder statuses(arena, 64);
        for (const ResourceStatus* s : r.statuses()) {
            if (context.options.exclude_unchanged_resources && r.unchanged(*s)) continue;
            statuses.set(text(s->resource->ref()), status(*s));
        }
        h.set("resource_statuses", statuses.build());
        h.set("corrective_change", Value::boolean(r.corrective_change));
        if (!r.catalog_uuid.empty()) h.set("catalog_uuid", text(r.catalog_uuid));
        if (!r.code_id.empty()) h.set("code_id", text(r.code_id));
        if (!r.job_id.empty()) h.set("job_id", text(r.job_id));
        if (!r.cached_catalog_status.empty()) {
            h.set("cached_catalog_status", text(r.cached_catalog_status));
        }
        return h.build();
    }

    // raw_summary: the sections in Puppet's order.
    std::vector<std::pair<std::string, std::vector<std::pair<std::string, Value>>>> summary(
        const Report& r) {
        std::vector<std::pair<std::string, std::vector<std::pair<std::string, Value>>>> out;
        out.push_back({"version", {{"config", version(r)}, {"puppet", text(r.puppet_version)}}});
        out.push_back({"application",
                       {{"run_mode", text(r.run_mode)},
                        {"initial_environment", text_or_undef(r.initial_environment)},
                        {"converged_environment", text_or_undef(r.environment)}}});
        for (const auto& [name, m] : r.metrics) {
            Metric sorted = m;
            std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
                return labelize(a.first) < labelize(b.first);
            });
            std::vector<std::pair<std::string, Value>> values;
            for (const auto& [n, v] : sorted) values.emplace_back(n, number(v));
            if (name == "time") {
                values.emplace_back("last_run",
                                    Value::integer(context.system.clock.now_ns() / 1'000'000'000));
            }
            out.emplace_back(name, std::move(values));
        }
        return out;
    }
};

}  // namespace

std::string report_yaml(const Value& report) {
    std::string out = "--- !ruby/object:Puppet::Transaction::Report\n";
    yaml(out, report, 0, false);
    return out;
}

std::string report_yaml(const Report& report, Context& context) {
    base::Arena arena(64 * 1024);
    return report_yaml(Maker{context, arena}.report(report));
}

std::string report_json(const Report& report, Context& context) {
    base::Arena arena(64 * 1024);
    return value::to_json(Maker{context, arena}.report(report));
}

std::string report_identity(const Report& r) {
    std::string all = fmt::format(
        "{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{} {} {} {}", r.host, r.configuration_version,
        r.puppet_version, r.environment, r.code_id, r.catalog_uuid, r.cached_catalog_status,
        r.status, r.noop, r.noop_pending, r.corrective_change, r.transaction_completed);
    for (const auto& [name, metric] : r.metrics) {
        if (name == "time") continue;
        all += "\n" + name;
        for (const auto& [what, n] : metric)
            all += std::visit([&](auto v) { return fmt::format(" {}={}", what, v); }, n);
    }
    for (const ResourceStatus* s : r.statuses())
        all +=
            fmt::format("\n{} {}{}{}", s->resource->ref(), s->skipped, s->failed, s->events.size());
    return codec::short_digest(all);
}

std::string report_difference_json(const Report& report, Context& context) {
    base::Arena arena(16 * 1024);
    return value::to_json(Maker{context, arena}.difference(report));
}

std::string summary_yaml(const Report& report, Context& context) {
    base::Arena arena;
    std::string out = "---\n";
    for (const auto& [section, values] : Maker{context, arena}.summary(report)) {
        out += section + ":\n";
        for (const auto& [name, v] : values) {
            out += "  " + yaml_scalar(name) + ":";
            yaml_entry(out, v, 2);
        }
    }
    return out;
}

std::string summary_text(const Report& report, Context& context) {
    base::Arena arena;
    auto sections = Maker{context, arena}.summary(report);
    std::sort(sections.begin(), sections.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    std::string out;
    for (auto& [section, values] : sections) {
        out += labelize(section) + ":\n";
        std::stable_sort(values.begin(), values.end(), [](const auto& a, const auto& b) {
            if ((a.first == "total") != (b.first == "total")) return b.first == "total";
            return value::to_text(a.second) < value::to_text(b.second);
        });
        for (const auto& [name, v] : values) {
            if (v.is_numeric() && v.as_number() == 0) continue;
            std::string shown =
                v.is_float() ? fmt::format("{:.2f}", v.as_float()) : value::to_text(v);
            out += fmt::format("   {:>15} {}\n", labelize(name) + ":", shown);
        }
    }
    return out;
}

}  // namespace bunraku::apply
