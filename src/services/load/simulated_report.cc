// SPDX-License-Identifier: Apache-2.0
#include "services/load/simulated_report.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/civil_time.h"
#include "core/base/text.h"
#include "core/codec/json_text.h"
#include "core/config/compatibility.h"
#include "core/value/hash_access.h"
#include "core/value/text.h"

namespace bunraku::load {

using codec::json_string;
using value::at;
using value::text_at;
using value::Value;

namespace {

constexpr std::string_view kOwnServer = "puppet:///";

/// Returns the path of a File's first source on the server that sent the catalog, such as
/// "modules/app/motd".
std::string source_of(const Value& resource) {
    if (text_at(resource, "type") != "File") return {};
    const auto* parameters = at(resource, "parameters");
    const auto* source = parameters ? at(*parameters, "source") : nullptr;
    if (source && source->is_array() && !source->as_array().empty())
        source = &source->as_array()[0];
    if (!source || !source->is_string()) return {};
    const auto uri = source->as_string();
    return uri.starts_with(kOwnServer) ? std::string(uri.substr(kOwnServer.size())) : std::string();
}

}  // namespace

KnownCatalog KnownCatalog::of(const Value& catalog, std::size_t most) {
    KnownCatalog out;
    const auto* version = at(catalog, "version");
    if (version)
        out.version =
            version->is_string() ? json_string(version->as_string()) : value::to_text(*version);
    out.uuid = text_at(catalog, "catalog_uuid");
    out.code_id = text_at(catalog, "code_id");
    out.environment = text_at(catalog, "environment");
    const auto* list = at(catalog, "resources");
    if (!list || !list->is_array()) return out;
    const auto* described = at(catalog, "metadata");
    const auto resources = list->as_array();
    out.resources = resources.size();
    const auto step =
        std::max<std::size_t>(1, most == 0 ? resources.size() : resources.size() / most);
    std::size_t number = 0;
    for (const auto& each : resources) {
        if (const auto source = source_of(each); !source.empty()) {
            const auto title = text_at(each, "title");
            const auto* known = described ? at(*described, title) : nullptr;
            if (!known) {
                out.sources.push_back(source);
            } else if (text_at(*known, "type") == "file") {
                out.contents.push_back(source);
            }
        }
        // Classes and defined types are not resources of a machine.
        const auto type = text_at(each, "type");
        if (most == 0 || number++ % step != 0 || out.named.size() >= most || type == "Class" ||
            type == "Stage" || type == "Node")
            continue;
        const auto* line = at(each, "line");
        out.named.push_back({type, text_at(each, "title"), text_at(each, "file"),
                             line && line->is_integer() ? line->as_integer() : 0});
    }
    return out;
}

namespace {

std::string status_text(const KnownCatalog::Resource& r, const std::string& now, bool drifted) {
    const auto reference = fmt::format("{}[{}]", r.type, r.title);
    const auto place =
        fmt::format(R"("file":{},"line":{})", r.file.empty() ? "null" : json_string(r.file),
                    r.line > 0 ? std::to_string(r.line) : "null");
    const auto events =
        drifted ? fmt::format(
                      R"({{"audited":false,"property":"ensure","previous_value":"absent",)"
                      R"("desired_value":"present","historical_value":null,"message":"created",)"
                      R"("name":"created","status":"success","time":"{}","redacted":null,)"
                      R"("corrective_change":true}})",
                      now)
                : "";
    return fmt::format(
        R"({0}:{{"title":{1},{2},"resource":{0},"resource_type":{3},"provider_used":null,)"
        R"("containment_path":["Stage[main]",{0}],"evaluation_time":0.001,"tags":[{4}],)"
        R"("time":"{5}","failed":false,"failed_to_restart":false,"changed":{6},)"
        R"("out_of_sync":{6},"skipped":false,"change_count":{7},"out_of_sync_count":{7},)"
        R"("events":[{8}],"corrective_change":{6}}})",
        json_string(reference), json_string(r.title), place, json_string(r.type),
        json_string(base::lower(r.type)), now, drifted, drifted ? 1 : 0, events);
}

std::string metric(std::string_view name,
                   std::initializer_list<std::pair<std::string_view, double>> values) {
    std::string list;
    for (const auto& [key, number] : values) {
        auto label = base::capitalized(key);
        std::ranges::replace(label, '_', ' ');
        list += fmt::format(R"({}["{}","{}",{}])", list.empty() ? "" : ",", key, label, number);
    }
    return fmt::format(R"("{0}":{{"name":"{0}","label":"{1}","values":[{2}]}})", name,
                       base::capitalized(name), list);
}

std::string end_text(const ReportOptions& options, const std::string& now) {
    return fmt::format(
        R"({{"level":"notice","message":"Applied catalog in {:.2f} seconds","source":"Puppet",)"
        R"("tags":["notice"],"time":"{}","file":null,"line":null}})",
        options.seconds, now);
}

std::string times_text(const ReportOptions& options) {
    return metric("time",
                  {{"config_retrieval", options.retrieval_seconds}, {"total", options.seconds}});
}

std::string time_text(const ReportOptions& options) {
    return base::iso_text(base::civil_time_ns(options.now_ns), 9, "+00:00");
}

}  // namespace

std::string simulated_difference(const ReportOptions& options) {
    const auto now = time_text(options);
    return fmt::format(
        R"({{"host":{},"time":"{}","transaction_uuid":{},"logs":[{}],"metrics":{{{}}}}})",
        json_string(options.node), now, json_string(options.transaction_uuid),
        end_text(options, now), times_text(options));
}

std::string simulated_identity(const KnownCatalog& catalog, const ReportOptions& options) {
    return fmt::format("{}\n{}\n{}\n{}\n{}\n{}", catalog.version, catalog.uuid, catalog.code_id,
                       catalog.environment, catalog.resources, options.server);
}

std::string simulated_report(const KnownCatalog& catalog, const ReportOptions& options) {
    const auto now = time_text(options);
    const auto changed = static_cast<double>(options.drifted.size());
    std::string statuses, logs;
    for (std::size_t i = 0; i < catalog.named.size(); ++i) {
        const auto& r = catalog.named[i];
        const bool drifted = std::ranges::find(options.drifted, i) != options.drifted.end();
        if (!drifted && !options.whole) continue;
        statuses += (statuses.empty() ? "" : ",") + status_text(r, now, drifted);
        if (!drifted) continue;
        logs += fmt::format(R"x({{"level":"notice","message":"created (corrective)","source":{},)x"
                            R"("tags":["notice"],"time":"{}","file":{},"line":{}}},)",
                            json_string(fmt::format("/Stage[main]/{}[{}]/ensure", r.type, r.title)),
                            now, r.file.empty() ? "null" : json_string(r.file),
                            r.line > 0 ? std::to_string(r.line) : "null");
    }
    logs += end_text(options, now);
    const auto metrics =
        metric("resources", {{"changed", changed},
                             {"corrective_change", changed},
                             {"failed", 0},
                             {"failed_to_restart", 0},
                             {"out_of_sync", changed},
                             {"restarted", 0},
                             {"scheduled", 0},
                             {"skipped", 0},
                             {"total", static_cast<double>(catalog.resources)}}) +
        "," + times_text(options) + "," + metric("changes", {{"total", changed}}) + "," +
        metric("events", {{"failure", 0}, {"success", changed}, {"total", changed}});
    return fmt::format(
        R"({{"host":{},"time":"{}","configuration_version":{},"transaction_uuid":{},)"
        R"("report_format":12,"puppet_version":"{}","status":"{}","transaction_completed":true,)"
        R"("noop":false,"noop_pending":false,"environment":{},"logs":[{}],"metrics":{{{}}},)"
        R"("resource_statuses":{{{}}},"corrective_change":{},"catalog_uuid":{},"code_id":{},)"
        R"("cached_catalog_status":"not_used","server_used":{}}})",
        json_string(options.node), now, catalog.version.empty() ? "0" : catalog.version,
        json_string(options.transaction_uuid), config::puppet_version(config::kDefaultLevel),
        changed > 0 ? "changed" : "unchanged", json_string(catalog.environment), logs, metrics,
        statuses, changed > 0, json_string(catalog.uuid),
        catalog.code_id.empty() ? "null" : json_string(catalog.code_id),
        json_string(options.server));
}

}  // namespace bunraku::load
