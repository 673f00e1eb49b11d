// SPDX-License-Identifier: Apache-2.0
// Data of one node: /puppet/v3/node, /puppet/v3/facts, /puppet/v3/report.
#include <algorithm>
#include <fmt/format.h>
#include <mutex>
#include <unordered_map>

#include "compile/site/conditional_headers.h"
#include "compile/site/fact_sources.h"
#include "compile/site/report_processors.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/codec/json_text.h"
#include "core/sys/clock.h"
#include "core/sys/disk.h"
#include "core/value/build.h"
#include "core/value/hash_access.h"
#include "core/value/rich_data.h"
#include "core/value/text.h"
#include "resources/apply/report.h"
#include "resources/apply/run.h"
#include "services/server/compiler.h"
#include "services/server/puppet_api.h"
#include "services/server/ruby_reports.h"

namespace bunraku::server {

using http::Request;
using http::Response;
using value::Value;

namespace {

constexpr std::uint64_t kMaxNodeBody = 256 << 20;

ApiError invalid_body(const std::string& why) {
    return {400, fmt::format("The request body is invalid: Could not intern from json: {}", why)};
}

/// Returns the body, which must be an object. Throws ApiError otherwise.
Value object_in(base::Arena& arena, const Request& request) {
    const auto type = body_format(
        request, {"application/json", "text/pson", "application/vnd.puppet.rich+json", kMsgpack});
    auto body = http::decoded_body(request, kMaxNodeBody);
    if (body.status != 0) throw ApiError(body.status, body.message);
    auto data = parsed_body(arena, type, body.body);
    if (!data || !data->is_hash()) {
        throw invalid_body(data                ? std::string("it is not an object")
                           : body.body.empty() ? std::string("unexpected token at ''")
                                               : data.error().message);
    }
    return *data;
}

/// Checks that the name in a document equals the name in the request (Puppet 8.11,
/// indirector/request.rb).
void check_name(const Value* name, std::string_view node) {
    if (name && name->is_string() && name->as_string() == node) return;
    std::string given;
    value::print_inspect(given, name ? *name : Value::undef());
    throw base::plain_error(fmt::format("Instance name {} does not match requested key {}", given,
                                        codec::json_string(node)));
}

/// Checks the parts of a report that all its readers rely on.
void check_report(const Value& report) {
    const auto objects_in = [&](std::string_view name, bool hash_of_them) {
        const Value* part = at(report, name);
        const bool good = part && (hash_of_them ? part->is_hash() : part->is_array());
        if (!good) {
            throw invalid_body(
                fmt::format("{} must be a JSON {}", name, hash_of_them ? "object" : "list"));
        }
        if (hash_of_them) {
            for (const auto& [key, one] : part->as_hash())
                if (!one.is_hash())
                    throw invalid_body(
                        fmt::format("{} contains an element that is not an object", name));
        } else {
            for (const auto& one : part->as_array())
                if (!one.is_hash())
                    throw invalid_body(
                        fmt::format("{} contains an element that is not an object", name));
        }
    };
    objects_in("logs", false);
    objects_in("metrics", true);
    objects_in("resource_statuses", true);
}

/// Reports whether a name may be used as a folder name (Puppet's validate_host).
bool good_host(std::string_view host) {
    return !host.empty() && host.find_first_of("/\\") == std::string_view::npos && host != "." &&
           host != ".." && host.find('\0') == std::string_view::npos;
}

class NodeData {
public:
    explicit NodeData(Compiler& compiler) : compiler_(compiler), ruby_(compiler) {}

    Response node(const Request& request) {
        base::Arena arena;
        site::NodeRequest asked;
        asked.node = request.param("node");
        const auto name = environment_name(request);
        compiler_.require_environment(name);
        asked.overlay.set("environment", name);
        asked.facts.kind = site::FactSource::Kind::Store;
        // The first request of most runs of Puppet's agent. Nothing in the response depends on the
        // version.
        const auto* transaction = request.query_value("transaction_uuid");
        asked.choose_sources = [&](const std::string& environment, site::Sources& sources) {
            const auto version = compiler_.version(
                request, environment, transaction ? RunStep::Begins : RunStep::Looks,
                transaction ? std::string_view(*transaction) : "");
            if (version) version->place(sources);
        };
        const auto session = compiler_.site().session(std::move(asked), compiler_.log());
        auto& own = *session->arena();
        const auto& known = session->node_data();
        value::HashBuilder out(own, 4);
        out.set("name", Value::string(known.name));
        out.set("environment", value::make_string(own, session->environment()->name()));
        if (!known.classes.empty()) out.set("classes", classes_of(own, known));
        // The classifier's parameters take precedence over facts. The environment is not a
        // parameter but a separate member (Puppet 8.11, node.rb).
        value::HashBuilder parameters(own);
        for (const auto* some : {&known.parameters, &known.facts}) {
            if (!some->is_hash()) continue;
            for (const auto& e : some->as_hash()) {
                const bool is_environment = e.key.is_string() && e.key.as_string() == "environment";
                if (!is_environment && !parameters.find(e.key)) parameters.set(e.key, e.value);
            }
        }
        if (parameters.size() > 0) out.set("parameters", parameters.build());
        return plain_data(request, value::to_json(out.build()));
    }

    /// Returns the names of the classes, or a hash of parameters if the classifier returned one.
    static Value classes_of(base::Arena& arena, const compiler::NodeData& node) {
        value::HashBuilder with_parameters(arena);
        std::vector<Value> names;
        for (const auto& one : node.classes) {
            const auto name = value::make_string(arena, one.name);
            names.push_back(name);
            with_parameters.set(name, one.parameters);
        }
        return node.classes_with_parameters ? with_parameters.build()
                                            : value::make_array(arena, names);
    }

    Response save_facts(const Request& request) {
        const auto environment = environment_name(request);
        compiler_.require_environment(environment);
        const auto type = accepted_or_json(request, data_formats());
        base::Arena arena;
        const Value data = object_in(arena, request);
        const auto node = request.param("node");
        const Value* values = at(data, "values");
        if (!values || !values->is_hash())
            throw invalid_body("the facts contain no object 'values'");
        check_name(at(data, "name"), node);
        compiler_.fact_files().save(std::string(node),
                                    facts_to_keep(arena, std::string(node), *values, data));
        const auto store = compiler_.site().store(compiler_.log());
        (void)store->store_facts(std::string(node), environment, *values,
                                 compiler_.trusted_data(arena, request));
        // The response of puppetserver's own terminus.
        return json_as(type, "0");
    }

    Response save_report(const Request& request) {
        const auto requested = environment_name(request);
        compiler_.require_environment(requested);
        const auto type = accepted_or_json(request, data_formats());
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
        check_report(report);
        // The sender must not choose under which name the report is stored.
        check_name(at(report, "host"), node);
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
        // The internal store receives every report, regardless of other processors.
        const bool remembered =
            std::erase(names, "puppetdb") > 0 || settings.boolean("storeconfigs");
        if (std::ranges::find(names, "store") != names.end() && !touch_unchanged_file(node, as)) {
            auto path = keep(node, report);
            if (!as.empty() && as != "new") remember_file(node, as, std::move(path));
        }
        const auto session_view = compiler_.site().view(overlay);
        site::process_report(
            session_view, names, forms,
            [&](std::string_view name, const Value& sent) {
                return ruby_.process(name, sent, overlay);
            },
            compiler_.log());
        if (remembered) remember(session_view, node, report);
        end_run(request, requested, report);
        std::string done = "[";
        const auto named = settings.text("reports");
        for (const auto name : base::words(named, ", ")) {
            if (name == "none") continue;
            if (done.size() > 1) done += ',';
            done += codec::json_string(name);
        }
        auto out = json_as(type, done + "]");
        if (as == "new") {
            const auto name = compiler_.known_reports().keep(node, value::to_json(report));
            if (!name.empty()) out.headers.set(site::kReportHeader, name);
        }
        return out;
    }

private:
    /// Records that the run of this report has ended, so that the node's next request may get
    /// another version of the environment.
    void end_run(const Request& request, const std::string& environment, const Value& report) {
        const auto client = compiler_.caller(request);
        if (!client) return;
        compiler_.versions().authority().idle(
            {.environment = environment,
             .node = client->name,
             .transaction = value::text_at(report, "transaction_uuid")});
    }

    /// Stores the report. If that fails, the agent gets an error, because an acknowledged report
    /// must be stored.
    void remember(const std::shared_ptr<const site::View>& view, const std::string& node,
                  const Value& report) {
        try {
            site::View::Connection(view, compiler_.log())->store_report(node, report);
        } catch (const base::PuppetError& e) {
            const auto text =
                fmt::format("Could not store the report of {}: {}", node, e.full_text());
            compiler_.log().log(base::Level::Err, text);
            throw ApiError(503, text);
        }
    }

    /// Sets the time of the node's file for report `as` to the time of this run, because one file
    /// per half hour for unchanged runs would fill disks. Returns false if there is no such file,
    /// or if each run must have its own.
    bool touch_unchanged_file(const std::string& node, const std::string& as) {
        if (as.empty() || as == "new" || compiler_.settings().boolean("store_reports_at_rest"))
            return false;
        std::string path;
        {
            const std::lock_guard lock(mutex_);
            const auto it = unchanged_files_.find(node);
            if (it == unchanged_files_.end() || it->second.as != as) return false;
            path = it->second.path;
        }
        return files_.set_mtime(path, sys::make_real_clock()->now_ns()).has_value();
    }

    void remember_file(const std::string& node, const std::string& as, std::string path) {
        constexpr std::size_t kMost = 100'000;
        const std::lock_guard lock(mutex_);
        if (path.empty() || unchanged_files_.size() >= kMost) {
            unchanged_files_.erase(node);
        } else {
            unchanged_files_[node] = {as, std::move(path)};
        }
    }

    /// Writes REPORTDIR/NODE/YYYYMMDDHHMM.yaml. Returns an empty path if it could not be written.
    std::string keep(const std::string& node, const Value& report) {
        if (!good_host(node)) return {};
        const auto folder = sys::join(compiler_.settings().text("reportdir"), node);
        const auto path = sys::join(folder, apply::report_name(sys::make_real_clock()->now_ns()));
        auto written = files_.make_directories(folder, 0750);
        if (written) written = files_.replace(path, apply::report_yaml(report), {.mode = 0640});
        if (written) return path;
        compiler_.log().log(base::Level::Err, fmt::format("Could not write report for {} at {}: {}",
                                                          node, path, written.error().message));
        return {};
    }

    Compiler& compiler_;
    sys::FileSystem& files_ = sys::disk();
    RubyReports ruby_;
    struct UnchangedFile {
        std::string as;  ///< name of the report that later ones refer to
        std::string path;
    };
    std::mutex mutex_;
    std::unordered_map<std::string, UnchangedFile> unchanged_files_;  ///< by node
};

}  // namespace

void mount_node_data(http::Router& router, Compiler& compiler) {
    auto data = std::make_shared<NodeData>(compiler);
    http::RouteOptions options;
    options.max_body = kMaxNodeBody;
    const auto add = [&](std::string_view method, std::string_view pattern,
                         Response (NodeData::*handler)(const Request&)) {
        router.add(
            method, pattern, compiler.authorization().access(),
            [data, &compiler, handler](Request& request) {
                return answered(compiler.log(), request,
                                [&] { return ((*data).*handler)(request); });
            },
            options);
    };
    add("GET", "/puppet/v3/node/{node}", &NodeData::node);
    add("PUT", "/puppet/v3/facts/{node}", &NodeData::save_facts);
    add("PUT", "/puppet/v3/report/{node}", &NodeData::save_report);
}

}  // namespace bunraku::server
