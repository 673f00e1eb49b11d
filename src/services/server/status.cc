// SPDX-License-Identifier: Apache-2.0
#include "services/server/status.h"

#include <fmt/format.h>

#include "core/base/number.h"
#include "core/codec/json_text.h"
#include "core/sys/clock.h"
#include "services/server/json_answers.h"
#include "services/server/process_figures.h"

namespace bunraku::server {

using http::Request;
using http::Response;

namespace {

Response problem(int status, std::string_view kind, const std::string& message) {
    return Response::json(
        status, fmt::format("{{\"kind\":\"{}\",\"msg\":{}}}", kind, codec::json_string(message)));
}

/// The parsed level: critical, info (the default) or debug. Contains a response if it is none of
/// them.
struct DetailLevel {
    std::string level = "info";
    std::optional<Response> refusal;
};

DetailLevel level_of(const Request& request) {
    DetailLevel out;
    if (const auto* level = request.query_value("level")) out.level = *level;
    if (out.level != "critical" && out.level != "info" && out.level != "debug")
        out.refusal = problem(400, "data-invalid", "Invalid level: :" + out.level);
    return out;
}

/// Rejects other versions than the only existing one of the status format.
std::optional<Response> refuse_status_version(const Request& request, std::string_view service) {
    const auto* text = request.query_value("service_status_version");
    if (!text || *text == "1") return std::nullopt;
    if (text->empty() || text->find_first_not_of("0123456789") != std::string::npos) {
        return problem(400, "data-invalid",
                       "Invalid service_status_version. Should be an integer but was " + *text);
    }
    return problem(
        400, "service-status-version-not-found",
        fmt::format("No status function with version {} found for service {}", *text, service));
}

/// Validates the timeout parameter. It has no other effect, because reading the status is always
/// fast.
std::string wrong_timeout(const Request& request) {
    const auto* text = request.query_value("timeout");
    if (!text) return {};
    const auto seconds = base::parse_integer<std::int64_t>(*text);
    if (!seconds) return "Invalid timeout. Should be an integer but was " + *text;
    if (*seconds > 0) return {};
    return "Invalid timeout. Timeout must be greater than zero but was " + *text;
}
std::optional<Response> refuse_timeout(const Request& request) {
    const auto wrong = wrong_timeout(request);
    if (wrong.empty()) return std::nullopt;
    return problem(400, "data-invalid", wrong);
}

std::string members(const ServiceStatus& s, const std::string& level) {
    return fmt::format(
        "\"service_version\":{},\"service_status_version\":1,\"detail_level\":{},\"state\":{},"
        "\"status\":{},\"active_alerts\":[]",
        codec::json_string(s.version), codec::json_string(level), codec::json_string(s.state),
        level == "debug" && !s.debug.empty() ? s.debug : s.json);
}

/// Returns the worst state of all, in trapperkeeper's order.
std::string overall(const std::vector<ServiceStatus>& services) {
    for (std::string_view state : {"error", "unknown", "stopping", "starting"})
        for (const auto& s : services)
            if (s.state == state) return s.state;
    return "running";
}

/// Returns 200 for "running", otherwise 503 (error, starting, stopping) or 404 (unknown).
int code_of(std::string_view state) { return state == "running" ? 200 : 503; }

}  // namespace

void mount_status(http::Router& router, std::function<std::vector<ServiceStatus>()> services) {
    http::RouteOptions options;
    options.max_body = 0;
    router.add(
        "GET", "/status/v1/services", http::Access::anyone(),
        [services](Request& request) {
            auto [level, refusal] = level_of(request);
            if (refusal) return std::move(*refusal);
            if (auto wrong = refuse_timeout(request)) return std::move(*wrong);
            auto all = services();
            std::string out = "{";
            for (const auto& s : all) {
                if (out.size() > 1) out += ',';
                out += fmt::format("{}:{{{}}}", codec::json_string(s.name), members(s, level));
            }
            return Response::json(code_of(overall(all)), out + "}");
        },
        options);
    router.add(
        "GET", "/status/v1/services/{name}", http::Access::anyone(),
        [services](Request& request) {
            for (const auto& s : services()) {
                if (s.name != request.param("name")) continue;
                auto [level, refusal] = level_of(request);
                if (refusal) return std::move(*refusal);
                if (auto wrong = refuse_status_version(request, s.name)) return std::move(*wrong);
                if (auto wrong = refuse_timeout(request)) return std::move(*wrong);
                return Response::json(code_of(s.state),
                                      fmt::format("{{{},\"service_name\":{}}}", members(s, level),
                                                  codec::json_string(s.name)));
            }
            return problem(
                404, "service-not-found",
                fmt::format("No status information found for service {}", request.param("name")));
        },
        options);
    router.add(
        "GET", "/status/v1/simple", http::Access::anyone(),
        [services](Request& request) {
            if (const auto wrong = wrong_timeout(request); !wrong.empty())
                return Response::text(400, wrong);
            auto state = overall(services());
            return Response::text(code_of(state), state);
        },
        options);
    router.add(
        "GET", "/status/v1/simple/{name}", http::Access::anyone(),
        [services](Request& request) {
            for (const auto& s : services()) {
                if (s.name != request.param("name")) continue;
                const auto wrong = wrong_timeout(request);
                return wrong.empty() ? Response::text(code_of(s.state), s.state)
                                     : Response::text(400, wrong);
            }
            return Response::text(404, fmt::format("not found: {}", request.param("name")));
        },
        options);
}

void mount_meta(http::Router& router) {
    http::RouteOptions options;
    options.immediate = true;
    auto add = [&](const char* path, std::function<std::string()> body) {
        router.add(
            "*", path, http::Access::listed(),
            [body = std::move(body)](Request& request) {
                if (!accepts_json(request)) {
                    return Response::text(406, "must accept application/json");
                }
                if (!request.query.empty()) {
                    return Response::text(400, fmt::format("Unsupported query parameter '{}'",
                                                           request.query.front().first));
                }
                return Response::json(200, body());
            },
            options);
    };
    add("/pdb/meta/v1/version",
        [] { return fmt::format("{{\n  \"version\" : \"{}\"\n}}", kPuppetdbVersion); });
    // No server is queried for updates, because the administrator decides about installed versions.
    add("/pdb/meta/v1/version/latest", [] {
        return fmt::format(
            "{{\n  \"newer\" : false,\n  \"version\" : \"{}\",\n  \"link\" : null\n}}",
            kPuppetdbVersion);
    });
    add("/pdb/meta/v1/server-time", [] {
        return fmt::format("{{\n  \"server_time\" : \"{}\"\n}}",
                           sys::iso8601_utc(sys::make_real_clock()->now_ns(), 3));
    });
    for (int version = 1; version <= 3; version++) {
        auto retired = [version](Request&) {
            return Response::text(
                404, fmt::format("The v{} API has been retired; please use v4", version));
        };
        router.add("*", fmt::format("/pdb/query/v{}", version), http::Access::listed(), retired,
                   options);
        router.add("*", fmt::format("/pdb/query/v{}/{{rest*}}", version), http::Access::listed(),
                   retired, options);
    }
}

void mount_metrics(http::Router& router, const base::Counters& counters) {
    process_figures();  // records the start time
    router.add("GET", "/metrics", http::Access::listed(), [&counters](Request&) {
        auto out = counters.prometheus();
        auto p = process_figures();
        auto add = [&](const char* name, const char* kind, const char* help, double value) {
            out +=
                fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n{0} {3}\n", name, help, kind, value);
        };
        add("process_cpu_seconds_total", "counter", "User and system time.", p.cpu_seconds);
        add("process_resident_memory_bytes", "gauge", "Resident memory.",
            static_cast<double>(p.resident_bytes));
        add("process_virtual_memory_bytes", "gauge", "Virtual memory.",
            static_cast<double>(p.virtual_bytes));
        add("process_open_fds", "gauge", "Open file descriptors.",
            static_cast<double>(p.open_files));
        add("process_start_time_seconds", "gauge", "Start, in seconds since the epoch.",
            p.start_time);
        Response response;
        response.headers.add("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
        response.body = std::move(out);
        return response;
    });
}

}  // namespace bunraku::server
