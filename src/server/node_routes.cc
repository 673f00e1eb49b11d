// What is known of one node: /puppet/v3/node, /puppet/v3/facts, /puppet/v3/report.
#include <algorithm>
#include <fmt/format.h>

#include "apply/report.h"
#include "apply/run.h"
#include "base/plain_error.h"
#include "base/text.h"
#include "codec/json_text.h"
#include "server/compiler.h"
#include "server/puppet_api.h"
#include "server/ruby_reports.h"
#include "site/at_rest.h"
#include "site/report_processors.h"
#include "sys/clock.h"
#include "value/build.h"
#include "value/hash_access.h"
#include "value/rich_data.h"

namespace bunraku::server {

using http::Request;
using http::Response;
using value::Value;

namespace {

constexpr std::uint64_t kMaxBody = 256 << 20;

/// The body as JSON, an object. Throws ApiError.
Value object_in(base::Arena& arena, const Request& request) {
    const auto type = base::lower(request.headers.get("Content-Type"));
    const auto plain = base::trim(std::string_view(type).substr(0, type.find(';')), " ");
    if (plain != "application/json" && plain != "text/pson" &&
        plain != "application/vnd.puppet.rich+json") {
        throw ApiError(415,
                       fmt::format("Client sent a mime-type ({}) that doesn't correspond to a "
                                   "format we support",
                                   request.headers.get("Content-Type")),
                       "UNSUPPORTED_MEDIA_TYPE");
    }
    auto body = http::decoded_body(request, kMaxBody);
    if (body.status != 0) throw ApiError(body.status, body.message);
    auto data = value::parse_json(arena, body.body);
    if (!data || !data->is_hash()) {
        throw ApiError(400, fmt::format("The request body is invalid: {}",
                                        data ? "it is no object" : data.error().message));
    }
    return *data;
}

/// Whether a name may be that of a folder (Puppet's validate_host).
bool good_host(std::string_view host) {
    return !host.empty() && host.find_first_of("/\\") == std::string_view::npos && host != "." &&
           host != ".." && host.find('\0') == std::string_view::npos;
}

class NodeData {
public:
    explicit NodeData(Compiler& compiler)
        : compiler_(compiler), files_(sys::make_real_file_system()), ruby_(compiler) {}

    Response node(const Request& request) {
        base::Arena arena;
        site::NodeRequest asked;
        asked.node = request.param("node");
        asked.overlay.set("environment", environment_name(request));
        asked.facts.kind = site::FactSource::Kind::Store;
        const auto session = compiler_.site().session(std::move(asked), compiler_.log());
        value::HashBuilder out(*session->arena(), 4);
        out.set("name", Value::string(session->node()));
        value::HashBuilder parameters(*session->arena());
        if (session->facts().is_hash()) parameters.merge(session->facts().as_hash());
        const auto environment =
            value::make_string(*session->arena(), session->environment()->name());
        parameters.set("environment", environment);
        out.set("parameters", parameters.build());
        out.set("environment", environment);
        return plain_data(request, value::to_json(out.build()));
    }

    Response save_facts(const Request& request) {
        base::Arena arena;
        const Value data = object_in(arena, request);
        const auto node = request.param("node");
        const Value *name = at(data, "name"), *values = at(data, "values");
        if (!name || !name->is_string() || name->as_string() != node || !values ||
            !values->is_hash())
            throw ApiError(400, "The request body is invalid: it does not hold facts of this node");
        const auto store = compiler_.site().store(compiler_.log());
        store->store_facts(std::string(node), environment_name(request), *values);
        return plain_data(request, "null");
    }

    Response save_report(const Request& request) {
        base::Arena arena;
        Value report = object_in(arena, request);
        const std::string node(request.param("node"));
        const std::string as(request.headers.get(site::kReportHeader));
        if (!as.empty() && as != "new") {
            auto known = compiler_.known_reports().find(arena, node, as, report);
            if (!known) return Response::text(412, "No such report");
            report = *known;
            ++compiler_.repeated_reports;
        }
        const Value* host = at(report, "host");
        if (!host || !host->is_string())
            throw ApiError(400, "The request body is invalid: it is no report");
        // Under which name it is kept is not the sender's to choose.
        if (host->as_string() != node) {
            throw ApiError(400, fmt::format("The request body is invalid: it is a report of {}",
                                            host->as_string()));
        }
        const auto& settings = compiler_.settings();
        auto names = base::texts(base::words(settings.text("reports"), ", "));
        std::erase(names, "none");
        const auto environment = at(report, "environment");
        site::Overlay overlay;
        if (environment && environment->is_string() &&
            environment::valid_environment_name(environment->as_string()))
            overlay.set("environment", std::string(environment->as_string()));
        const site::ReportForms forms{.data = report,
                                      .yaml = [&] { return apply::report_yaml(report); }};
        // The store of the house remembers every report, whatever else is to be done with it.
        if (settings.boolean("storeconfigs") && std::ranges::find(names, "puppetdb") == names.end())
            names.emplace_back("puppetdb");
        if (std::ranges::find(names, "store") != names.end()) keep(node, report);
        const auto session_view = compiler_.site().view(overlay);
        site::process_report(
            session_view, names, forms,
            [&](std::string_view name, const Value& sent) {
                return ruby_.process(name, sent, overlay);
            },
            compiler_.log());
        std::string done = "[";
        const auto named = settings.text("reports");
        for (const auto name : base::words(named, ", ")) {
            if (name == "none") continue;
            if (done.size() > 1) done += ',';
            done += codec::json_string(name);
        }
        auto out = plain_data(request, done + "]");
        if (as == "new") {
            const auto name = compiler_.known_reports().keep(node, value::to_json(report));
            if (!name.empty()) out.headers.set(site::kReportHeader, name);
        }
        return out;
    }

private:
    /// REPORTDIR/NODE/YYYYMMDDHHMM.yaml.
    void keep(const std::string& node, const Value& report) {
        if (!good_host(node)) return;
        const auto folder = sys::join(compiler_.settings().text("reportdir"), node);
        const auto path = sys::join(folder, apply::report_name(sys::make_real_clock()->now_ns()));
        auto written = files_->make_directories(folder, 0750);
        if (written) written = files_->replace(path, apply::report_yaml(report), {.mode = 0640});
        if (!written) {
            compiler_.log().log(base::Level::Err,
                                fmt::format("Could not write report for {} at {}: {}", node, path,
                                            written.error().message));
        }
    }

    Compiler& compiler_;
    std::unique_ptr<sys::FileSystem> files_;
    RubyReports ruby_;
};

}  // namespace

void mount_node_data(http::Router& router, Compiler& compiler) {
    auto data = std::make_shared<NodeData>(compiler);
    http::RouteOptions options;
    options.max_body = kMaxBody;
    const auto add = [&](std::string_view method, std::string_view pattern,
                         Response (NodeData::*handler)(const Request&)) {
        router.add(
            method, pattern, compiler.authorization().access(),
            [data, &compiler, handler](Request& request) {
                return answered(compiler.log(), [&] { return ((*data).*handler)(request); });
            },
            options);
    };
    add("GET", "/puppet/v3/node/{node}", &NodeData::node);
    add("PUT", "/puppet/v3/facts/{node}", &NodeData::save_facts);
    add("PUT", "/puppet/v3/report/{node}", &NodeData::save_report);
}

}  // namespace bunraku::server
