// Catalogs: /puppet/v3/catalog/NODE as agents ask for them, /puppet/v4/catalog for those who ask
// for any node's (puppetserver's documentation of both; notes of what 7.9.5 answers).
#include <chrono>
#include <fmt/format.h>

#include "base/plain_error.h"
#include "base/text.h"
#include "base/uuid.h"
#include "codec/json_text.h"
#include "environment/environment.h"
#include "server/compiler.h"
#include "server/puppet_api.h"
#include "site/agent_catalog.h"
#include "sys/wording.h"
#include "value/build.h"
#include "value/rich_data.h"
#include "value/text.h"

namespace bunraku::server {

using base::PuppetError;
using http::Request;
using http::Response;
using value::Value;

namespace {

constexpr std::string_view kRich = "application/vnd.puppet.rich+json";
/// A body with the facts of one machine; agents with tens of thousands of facts are known.
constexpr std::uint64_t kMaxBody = 64 << 20;
constexpr std::chrono::minutes kPatience{5};

const Value* at(const Value& hash, std::string_view key) {
    return hash.is_hash() ? hash.as_hash().find(key) : nullptr;
}
std::string text_at(const Value& hash, std::string_view key) {
    const Value* v = at(hash, key);
    return v && v->is_string() ? std::string(v->as_string()) : std::string();
}

/// What a request for a catalog says.
struct Wish {
    std::string node, environment;
    bool check_environment = false;
    bool rich_data = true;
    bool static_catalog = false;
    std::string checksums;  ///< "sha256.sha384": what the agent knows
    std::string transaction_uuid, job_id;
    Value facts;    ///< undef: those that are stored
    Value trusted;  ///< of who asks
    bool save_facts = true, save_catalog = true;
};

/// The parameters of a request: of its query, and of a form in its body.
class Parameters {
public:
    explicit Parameters(const Request& request) : query_(request.query) {
        if (request.method != "POST") return;
        auto body = http::decoded_body(request, kMaxBody);
        if (body.status != 0) throw ApiError(body.status, body.message);
        auto form = http::parse_query(body.body);
        if (!form) throw ApiError(400, "The body is no form (application/x-www-form-urlencoded)");
        form_ = std::move(*form);
    }
    const std::string* find(std::string_view name) const {
        for (const auto* list : {&form_, &query_})
            for (const auto& [key, text] : *list)
                if (key == name) return &text;
        return nullptr;
    }
    std::string text(std::string_view name) const {
        const auto* found = find(name);
        return found ? *found : std::string();
    }

private:
    const std::vector<std::pair<std::string, std::string>>& query_;
    std::vector<std::pair<std::string, std::string>> form_;
};

/// The facts that an agent sends: JSON, URL-encoded once more than the form is.
Value facts_of(base::Arena& arena, const Parameters& parameters, const std::string& node) {
    const auto* sent = parameters.find("facts");
    if (!sent) return Value::undef();
    const auto format = parameters.text("facts_format");
    if (format.empty())
        throw base::plain_error(fmt::format("Facts but no fact format provided for {}", node));
    if (format != "application/json" && format != "pson" && format != "text/pson")
        throw base::plain_error("Unsupported facts format");
    std::string text = *sent;
    if (!text.starts_with('{')) {
        auto decoded = http::percent_decode(text, true);
        if (!decoded) throw ApiError(400, "The facts are not valid percent-encoded UTF-8");
        text = std::move(*decoded);
    }
    auto data = value::parse_json(arena, text);
    if (!data) {
        throw ApiError(400, fmt::format("The facts are invalid JSON: {}", data.error().message));
    }
    const Value* values = at(*data, "values");
    if (!values || !values->is_hash())
        throw ApiError(400, "The facts are invalid: no hash of values");
    if (const auto name = text_at(*data, "name"); name != node) {
        throw base::plain_error(fmt::format(
            "Catalog for {} was requested with fact definition for the wrong node ({}).",
            codec::json_string(node), codec::json_string(name)));
    }
    return *values;
}

class Catalogs {
public:
    explicit Catalogs(Compiler& compiler) : compiler_(compiler) {}

    Response version3(const Request& request) {
        const std::string_view type = accepted(request, {kRich, "application/json", "text/pson"});
        auto arena = std::make_shared<base::Arena>(256 * 1024, std::size_t{2} << 30);
        const Parameters parameters(request);
        Wish wish;
        wish.node = request.param("node");
        wish.environment = parameters.text("environment");
        if (!environment::valid_environment_name(wish.environment)) {
            return Response::text(
                400, fmt::format("The environment must be purely alphanumeric, not '{}'",
                                 parameters.find("environment") ? wish.environment : "null"));
        }
        wish.check_environment = parameters.text("check_environment") == "true";
        wish.rich_data = type == kRich;
        wish.static_catalog = parameters.text("static_catalog") == "true";
        wish.checksums = parameters.text("checksum_type");
        wish.transaction_uuid = parameters.text("transaction_uuid");
        wish.job_id = parameters.text("job_id");
        wish.facts = facts_of(*arena, parameters, wish.node);
        wish.trusted = trusted_data(*arena, compiler_.caller(request).get());
        auto json = compile(wish, std::move(arena), compiler_.log());
        Response out = Response::json(200, std::move(json));
        out.headers.set("Content-Type", fmt::format("{}; charset=utf-8", type));
        return out;
    }

    Response version4(const Request& request) {
        auto body = http::decoded_body(request, kMaxBody);
        if (body.status != 0) throw ApiError(body.status, body.message);
        auto arena = std::make_shared<base::Arena>(256 * 1024, std::size_t{2} << 30);
        const auto data = value::parse_json(*arena, body.body);
        if (!data || !data->is_hash()) {
            return Response::text(
                400,
                fmt::format("Invalid input: {}", data ? "it is no object" : data.error().message));
        }
        Wish wish;
        wish.node = text_at(*data, "certname");
        wish.environment = text_at(*data, "environment");
        const Value* persistence = at(*data, "persistence");
        std::string missing;
        if (wish.node.empty()) missing += " certname";
        if (!environment::valid_environment_name(wish.environment)) missing += " environment";
        const auto flag = [&](const char* name) {
            const Value* v = persistence ? at(*persistence, name) : nullptr;
            if (!v || !v->is(value::Kind::Boolean)) missing += fmt::format(" persistence.{}", name);
            return v && v->truthy();
        };
        wish.save_facts = flag("facts");
        wish.save_catalog = flag("catalog");
        if (!missing.empty())
            return Response::text(400,
                                  fmt::format("Invalid input: missing-required-key{}", missing));
        const auto values = [&](const char* name) {
            const Value* outer = at(*data, name);
            const Value* inner = outer ? at(*outer, "values") : nullptr;
            return inner && inner->is_hash() ? *inner : Value::undef();
        };
        wish.facts = values("facts");
        wish.trusted = values("trusted_facts");
        wish.transaction_uuid = text_at(*data, "transaction_uuid");
        wish.job_id = text_at(*data, "job_id");
        const Value* options = at(*data, "options");
        const Value* capture = options ? at(*options, "capture_logs") : nullptr;
        const bool prefer = options && at(*options, "prefer_requested_environment") &&
                            at(*options, "prefer_requested_environment")->truthy();
        wish.check_environment = false;
        std::string out;
        if (capture && capture->truthy()) {
            base::MemorySink logs;
            out = "{\"catalog\":" + compile(wish, std::move(arena), logs, prefer) + ",\"logs\":[";
            bool first = true;
            for (const auto& d : logs.records) {
                if (d.level == base::Level::Debug) continue;
                out += fmt::format(R"({}{{"level":{},"message":{}}})", first ? "" : ",",
                                   codec::json_string(base::level_name(d.level)),
                                   codec::json_string(d.message));
                first = false;
            }
            out += "]}";
        } else {
            out = "{\"catalog\":" + compile(wish, std::move(arena), compiler_.log(), prefer) + "}";
        }
        return Response::json(200, std::move(out));
    }

private:
    std::string compile(const Wish& wish, std::shared_ptr<base::Arena> arena, base::LogSink& log,
                        bool keep_environment = false) {
        const auto slot = compiler_.slots().take(kPatience);
        if (!slot) throw Overloaded();
        site::NodeRequest request;
        request.node = wish.node;
        request.arena = std::move(arena);
        request.overlay.set("environment", wish.environment);
        request.trusted = wish.trusted;
        request.server_facts = site::NodeRequest::ServerFacts::Given;
        request.given_server_facts = compiler_.server_facts();
        request.facts.values = wish.facts;
        if (wish.facts.is_undef()) request.facts.kind = site::FactSource::Kind::Store;
        request.classify = !keep_environment;
        request.deadline = std::chrono::steady_clock::now() + kPatience;
        try {
            return compiled(wish, std::move(request), log);
        } catch (const PuppetError&) {
            ++compiler_.failed;
            throw;
        }
    }

    std::string compiled(const Wish& wish, site::NodeRequest request, base::LogSink& log) {
        auto& site = compiler_.site();
        const auto began = std::chrono::steady_clock::now();
        const auto arena = request.arena;
        const auto session = site.session(std::move(request), log);
        const auto& environment = session->environment()->name();
        if (wish.save_facts && wish.facts.is_hash()) {
            const auto store = site::View::Connection(session->shared_view(), log);
            store->store_facts(wish.node, environment, wish.facts);
        }
        if (environment != wish.environment && wish.check_environment) {
            log.log(base::Level::Warning,
                    fmt::format("Requested environment '{}' did not match server specified "
                                "environment '{}'",
                                wish.environment, environment));
            return empty_catalog(wish.node, environment);
        }
        site::Compiled result;
        try {
            result = session->compile();
        } catch (PuppetError& e) {
            const auto text = fmt::format("{} on node {}", e.full_text(), wish.node);
            log.log({.level = base::Level::Err,
                     .message = text,
                     .where = e.where(),
                     .issue_code = e.issue_code()});
            ++compiler_.failed;
            throw ApiError(500, text);
        }
        std::string json = site::agent_catalog(result, false, log, wish.rich_data);
        ++compiler_.compiled;
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
        log.log(base::Level::Notice,
                fmt::format("Compiled catalog for {} in environment {} in {} seconds", wish.node,
                            environment, sys::seconds_text(taken.count())));
        if (wish.save_catalog && result.view->storeconfigs()) {
            const auto store = site::View::Connection(result.view, log);
            store->store_catalog(result.node, *result.catalog, Value::undef(), *result.naming);
        }
        return json;
    }

    static std::string empty_catalog(const std::string& node, const std::string& environment) {
        return fmt::format(
            R"({{"tags":[],"name":{},"version":null,"code_id":null,"catalog_uuid":{},)"
            R"("catalog_format":2,"environment":{},"resources":[],"edges":[],"classes":[]}})",
            codec::json_string(node), codec::json_string(base::random_uuid()),
            codec::json_string(environment));
    }

    Compiler& compiler_;
};

}  // namespace

void mount_catalogs(http::Router& router, Compiler& compiler) {
    auto catalogs = std::make_shared<Catalogs>(compiler);
    http::RouteOptions options;
    options.max_body = kMaxBody;
    // Compiles wait for each other, and must not hold up what is quick.
    options.may_wait = [](const Request&) { return true; };
    const auto add = [&](std::string_view method, std::string_view pattern, http::Access access,
                         Response (Catalogs::*handler)(const Request&)) {
        router.add(
            method, pattern, std::move(access),
            [catalogs, &compiler, handler](Request& request) {
                return answered(compiler.log(), [&] { return ((*catalogs).*handler)(request); });
            },
            options);
    };
    add("GET", "/puppet/v3/catalog/{node}", compiler.authorization().access(), &Catalogs::version3);
    add("POST", "/puppet/v3/catalog/{node}", compiler.authorization().access(),
        &Catalogs::version3);
    add("POST", "/puppet/v4/catalog", administrators(compiler.authorization()),
        &Catalogs::version4);
}

}  // namespace bunraku::server
