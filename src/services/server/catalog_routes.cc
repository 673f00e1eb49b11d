// SPDX-License-Identifier: Apache-2.0
// Catalog routes: /puppet/v3/catalog/NODE for agents, and /puppet/v4/catalog for clients that
// request the catalog of any node (puppetserver's documentation of both; notes on responses of
// 7.9.5).
#include <atomic>
#include <chrono>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <variant>

#include "compile/compiler/change.h"
#include "compile/site/agent_catalog.h"
#include "compile/site/conditional_headers.h"
#include "compile/site/fact_sources.h"
#include "core/base/assert.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/base/uuid.h"
#include "core/base/work_limit.h"
#include "core/codec/digest.h"
#include "core/codec/json_text.h"
#include "core/sys/clock.h"
#include "core/sys/wording.h"
#include "core/value/build.h"
#include "core/value/hash_access.h"
#include "core/value/rich_data.h"
#include "core/value/text.h"
#include "language/environment/environment.h"
#include "net/http/wire.h"
#include "services/server/ast_text.h"
#include "services/server/catalog_input.h"
#include "services/server/compiler.h"
#include "services/server/puppet_api.h"

namespace bunraku::server {

using base::PuppetError;
using http::Request;
using http::Response;
using value::Value;

namespace {

constexpr std::string_view kRich = "application/vnd.puppet.rich+json";
/// Limit for a body with the facts of one machine. Some agents have tens of thousands of facts.
constexpr std::uint64_t kMaxBody = 64 << 20;
constexpr std::chrono::minutes kTimeout{5};
constexpr std::uint64_t kMaxUnpacked = std::uint64_t{1} << 30;
/// Interval after which unchanged facts are sent to the store again.
constexpr std::chrono::minutes kFactsAge{30};

/// Clients limit the size of response headers.
constexpr std::size_t kMaxPaths = 16 * 1024;

std::uint64_t microseconds_since(std::chrono::steady_clock::time_point begin) {
    const auto gone = std::chrono::steady_clock::now() - begin;
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(gone).count());
}

std::string unquoted(std::string_view etag) { return std::string(base::trim(etag, "\"")); }

/// A parsed catalog request.
struct CatalogRequest {
    std::string node, environment;
    bool check_environment = false;
    bool rich_data = true;
    bool static_catalog = false;
    std::string checksums;  ///< "sha256.sha384": the kinds that the agent supports
    site::StoreAccess::RunIds run;
    Value facts;           ///< undef if the stored facts are used
    Value facts_document;  ///< the facts with their times, as they were sent
    Value trusted;         ///< $trusted of the client
    bool save_facts = true, save_catalog = true;
    /// True if a cached catalog may be returned and the new one may be cached.
    bool may_keep = false;
    std::optional<std::string> etag;  ///< ETag of the client's catalog
    /// Fingerprint of the facts, if the client sends it instead of them.
    std::optional<std::string> fingerprint;
    /// Returns the version of an environment for this request. Not set for requests outside of an
    /// agent run, which get the version that the node has.
    std::function<std::shared_ptr<const PlacedVersion>(const std::string& environment)>
        find_version;
    /// The versions found so far, null for an environment without versions.
    using Versions = std::map<std::string, std::shared_ptr<const PlacedVersion>>;
    std::shared_ptr<Versions> versions = std::make_shared<Versions>();
    std::optional<AstText> code;  ///< code that replaces the manifest, and its variables
    std::vector<std::pair<std::string, Value>> variables;
};

/// What a client needs in order to make a conditional request later.
struct Validity {
    std::string etag;
    /// paths of the facts that the catalog depends on
    std::shared_ptr<const std::vector<std::string>> facts;
};

/// A catalog. It has no validity if it cannot be cached.
struct PlainCatalog {
    std::string json;
    std::optional<Validity> validity;
};
/// A cached catalog, compressed with gzip.
struct PackedCatalog {
    std::string gzip;
    Validity validity;
};
/// The catalog that the client has is still valid.
struct StillValid {
    Validity validity;
};
/// The client must send its facts, because no cached catalog fits their fingerprint.
struct FactsNeeded {};
using Answer = std::variant<PlainCatalog, PackedCatalog, StillValid, FactsNeeded>;

const Validity* validity_of(const Answer& answer) {
    if (const auto* plain = std::get_if<PlainCatalog>(&answer)) {
        return plain->validity ? &*plain->validity : nullptr;
    }
    if (const auto* packed = std::get_if<PackedCatalog>(&answer)) return &packed->validity;
    const auto* valid = std::get_if<StillValid>(&answer);
    return valid ? &valid->validity : nullptr;
}

constexpr std::string_view kEnvironment = "environment";

/// The parameters of a request, from its query and from a form in its body.
class Parameters {
public:
    explicit Parameters(const Request& request) : query_(request.query) {
        if (request.method != "POST") return;
        auto body = http::decoded_body(request, kMaxBody);
        if (body.status != 0) throw ApiError(body.status, body.message);
        auto form = http::parse_query(body.body);
        if (!form)
            throw ApiError(400, "The body is not a form (application/x-www-form-urlencoded)");
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
    /// Returns the environments that only the form names.
    std::vector<std::string> environments_of_form() const {
        std::vector<std::string> out;
        for (const auto& one : form_)
            if (one.first == kEnvironment && std::ranges::find(query_, one) == query_.end() &&
                std::ranges::find(out, one.second) == out.end())
                out.push_back(one.second);
        return out;
    }

private:
    const std::vector<std::pair<std::string, std::string>>& query_;
    std::vector<std::pair<std::string, std::string>> form_;
};

/// Returns the facts that an agent sends, with the name of the node and times. They are JSON that
/// is URL-encoded once more than the form. Returns undef if the agent sends none.
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
        auto decoded = http::percent_decode(text, http::Plus::Blank);
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
    return *data;
}

class Catalogs {
public:
    explicit Catalogs(Compiler& compiler) : compiler_(compiler) {}

    Response version3(const Request& request) {
        const std::string_view type =
            accepted(request, {kRich, "application/json", "text/pson", kRichMsgpack, kMsgpack});
        auto arena = new_arena();
        if (const auto fault = several_environments(request)) return Response::text(400, *fault);
        const Parameters parameters(request);
        if (auto refused = refuse_form(request, parameters.environments_of_form()))
            return std::move(*refused);
        CatalogRequest wanted;
        wanted.node = request.param("node");
        wanted.environment = parameters.text("environment");
        if (!environment::valid_environment_name(wanted.environment)) {
            return Response::text(
                400, fmt::format("The environment must be purely alphanumeric, not '{}'",
                                 parameters.find("environment") ? wanted.environment : "null"));
        }
        // Like puppetserver, serves an agent whose environment was removed. The catalog itself
        // assigns the agent another one.
        if (!compiler_.has_environment(wanted.environment)) wanted.environment = "production";
        wanted.check_environment = parameters.text("check_environment") == "true";
        wanted.rich_data = type == kRich || type == kRichMsgpack;
        wanted.static_catalog = parameters.text("static_catalog") == "true";
        wanted.checksums = parameters.text("checksum_type");
        wanted.run = {parameters.text("transaction_uuid"), parameters.text("job_id")};
        wanted.facts_document = facts_of(*arena, parameters, wanted.node);
        if (wanted.facts_document.is_hash()) wanted.facts = *at(wanted.facts_document, "values");
        wanted.trusted = compiler_.trusted_data(*arena, request);
        wanted.may_keep = true;
        const std::string print(request.headers.get(site::kFactsHeader));
        const bool ours = !print.empty();
        wanted.find_version = [&](const std::string& environment) {
            return version_for(request, wanted, environment);
        };
        if (ours) wanted.etag = unquoted(request.headers.get("If-None-Match"));
        if (ours && wanted.facts.is_undef()) {
            wanted.fingerprint = print;
            if (request.headers.get(site::kPluginsHeader) !=
                compiler_.plugins_tag(wanted.environment, version(wanted, wanted.environment)))
                return Response::text(412, "Other plugins");
        }
        auto answer = this->answer(wanted, std::move(arena), compiler_.log());
        if (wanted.fingerprint && !std::holds_alternative<StillValid>(answer))
            return Response::text(412, "Another catalog");
        const Validity* validity = validity_of(answer);
        Response out = catalog_response(request, type, answer);
        if (ours && validity) send_conditional_headers(out, wanted, *validity);
        if (ours && compiler_.versions().authority().has_removals(wanted.environment, wanted.node))
            out.headers.set(site::kRemovalsHeader, "1");
        return out;
    }

    /// Applies the rules of auth.conf to environments that the form in the body names, because the
    /// first check has seen only the query. Returns a response if they refuse the request.
    std::optional<Response> refuse_form(const Request& request,
                                        const std::vector<std::string>& environments) {
        if (environments.empty()) return std::nullopt;
        Request named;
        named.method = request.method;
        named.path = request.path;
        named.query = request.query;
        for (const auto& one : environments) named.query.emplace_back(kEnvironment, one);
        if (const auto fault = several_environments(named)) return Response::text(400, *fault);
        named.headers = request.headers;
        named.peer = request.peer;
        named.params = request.params;
        return compiler_.authorization().access().refusal(named, http::AccessPolicy{});
    }

    Response version4(const Request& request) {
        auto arena = new_arena();
        const auto sent = document(request, *arena, catalog_input_problem);
        if (!sent) return Response::text(400, sent.error().message);
        const Value& data = *sent;
        CatalogRequest wanted;
        wanted.node = text_at(data, "certname");
        wanted.environment = text_at(data, "environment");
        const Value* persistence = at(data, "persistence");
        wanted.save_facts = at(*persistence, "facts")->truthy();
        wanted.save_catalog = at(*persistence, "catalog")->truthy();
        const auto known = site::split_trusted(*arena, values_of(data, "facts"));
        wanted.facts = known.facts;
        wanted.trusted = values_of(data, "trusted_facts");
        if (wanted.trusted.is_undef()) wanted.trusted = known.trusted;
        wanted.run = {text_at(data, "transaction_uuid"), text_at(data, "job_id")};
        wanted.check_environment = false;
        return with_logs(wanted, std::move(arena), data,
                         flag(data, "prefer_requested_environment"));
    }

    /// Bolt's request: a syntax tree replaces the environment's manifest.
    Response version3_tree(const Request& request) {
        auto arena = new_arena();
        const auto sent = document(request, *arena, tree_input_problem);
        if (!sent) return Response::text(400, sent.error().message);
        const Value& data = *sent;
        const bool project = at(data, "versioned_project");
        if (!at(data, "environment") || project) {
            return Response::text(400, project
                                           ? "A compile request can name an `environment`, but no "
                                             "`versioned_project`: those are Bolt's."
                                           : "A compile request must include an `environment` or "
                                             "`versioned_project` parameter.");
        }
        if (flag(data, "compile_for_plan"))
            throw base::plain_error("compile_for_plan needs Bolt, which this server does not have");
        const auto tree = value::parse_json(*arena, text_at(data, "code_ast"));
        if (!tree) return Response::text(400, "code_ast is invalid JSON: " + tree.error().message);
        auto text = ast_text(*tree);
        if (!text) {
            return Response::text(400, "code_ast is not a syntax tree: " + text.error().message);
        }
        CatalogRequest wanted;
        wanted.node = text_at(data, "certname");
        wanted.environment = text_at(data, "environment");
        if (!environment::valid_environment_name(wanted.environment)) {
            throw base::plain_error(
                fmt::format("No directory found for the environment '{}'", wanted.environment));
        }
        wanted.facts = values_of(data, "facts");
        wanted.trusted = values_of(data, "trusted_facts");
        wanted.code = std::move(*text);
        wanted.save_facts = wanted.save_catalog = false;
        const Value& variables = *at(*at(data, "variables"), "values");
        const auto add = [&](const Value& some) {
            for (const auto& [name, v] : some.as_hash())
                wanted.variables.emplace_back(name.as_string(), v);
        };
        // Variables may also be a list, which preserves their order through programs that do not
        // preserve the order of objects.
        if (variables.is_hash()) add(variables);
        if (variables.is_array())
            for (const auto& one : variables.as_array())
                if (one.is_hash()) add(one);
        return with_logs(wanted, std::move(arena), data, true);
    }

private:
    /// Returns the response to a client that has sent its facts, or whose catalog is still valid.
    /// Moves the catalog out of `answer`.
    static Response catalog_response(const Request& request, std::string_view type,
                                     Answer& answer) {
        if (auto* plain = std::get_if<PlainCatalog>(&answer)) {
            return json_as(type, std::move(plain->json));
        }
        auto* packed = std::get_if<PackedCatalog>(&answer);
        if (!packed) return Response::text(304, "");
        // A compressed catalog is sent as it is, so that it is not compressed for each request.
        const bool as_text = type != kRichMsgpack && type != kMsgpack;
        if (as_text && http::accepts_gzip(request.headers.get("Accept-Encoding"))) {
            Response out = json_as(type, std::move(packed->gzip));
            mark_packed(out);
            return out;
        }
        auto plain = http::decode_content("gzip", packed->gzip, kMaxUnpacked);
        if (plain.status != 0) throw base::plain_error(plain.message);
        return json_as(type, std::move(plain.body));
    }

    /// Returns the parsed body of a request, or an error that describes what is wrong with it.
    static base::Result<Value> document(const Request& request, base::Arena& arena,
                                        std::string (*problem)(const Value&)) {
        auto body = http::decoded_body(request, kMaxBody);
        if (body.status != 0) throw ApiError(body.status, body.message);
        auto data = value::parse_json(arena, body.body);
        if (!data) return base::failure("Error parsing JSON: " + data.error().message);
        if (const auto text = problem(*data); !text.empty())
            return base::failure("Invalid input: " + text);
        return data;
    }

    static Value values_of(const Value& data, const char* name) {
        const Value* outer = at(data, name);
        const Value* inner = outer ? at(*outer, "values") : nullptr;
        return inner && inner->is_hash() ? *inner : Value::undef();
    }

    static bool flag(const Value& data, const char* name) {
        const Value* options = at(data, "options");
        const Value* found = options ? at(*options, name) : nullptr;
        return found && found->truthy();
    }

    /// Returns a JSON response with the catalog, and with the log messages if requested.
    Response with_logs(const CatalogRequest& wanted, std::shared_ptr<base::Arena> arena,
                       const Value& data, bool keep_environment) {
        std::string out = "{\"catalog\":";
        if (flag(data, "capture_logs")) {
            base::MemorySink logs;
            out += new_catalog(wanted, std::move(arena), logs, keep_environment) + ",\"logs\":[";
            bool first = true;
            for (const auto& d : logs.records) {
                if (d.level == base::Level::Debug) continue;
                out += fmt::format(R"({}{{"level":{},"message":{}}})", first ? "" : ",",
                                   codec::json_string(base::level_name(d.level)),
                                   codec::json_string(d.message));
                first = false;
            }
            out += ']';
        } else {
            out += new_catalog(wanted, std::move(arena), compiler_.log(), keep_environment);
        }
        out += '}';
        return Response::json(200, std::move(out));
    }

    /// Returns the catalog of a request that accepts no cached one.
    std::string new_catalog(const CatalogRequest& wanted, std::shared_ptr<base::Arena> arena,
                            base::LogSink& log, bool keep_environment) {
        BUNRAKU_ASSERT(!wanted.may_keep && !wanted.fingerprint);
        return std::get<PlainCatalog>(answer(wanted, std::move(arena), log, keep_environment)).json;
    }

    /// Returns an arena for one compile. Its size is limited (max-compile-memory).
    std::shared_ptr<base::Arena> new_arena() {
        return std::make_shared<base::Arena>(256 * 1024, compiler_.site().options().memory);
    }

    /// Sends the headers that allow the agent to omit its facts next time.
    void send_conditional_headers(Response& out, const CatalogRequest& wanted,
                                  const Validity& validity) {
        std::string paths;
        for (const auto& path : *validity.facts) {
            // The catalog depends on all facts, some of which always change.
            if (path.empty()) return;
            paths += fmt::format("{}{}", paths.empty() ? "" : " ", http::percent_encode(path));
        }
        if (paths.size() > kMaxPaths) return;
        out.headers.set("ETag", fmt::format("\"{}\"", validity.etag));
        out.headers.set(site::kPathsHeader, paths);
        out.headers.set(
            site::kPluginsHeader,
            compiler_.plugins_tag(wanted.environment, version(wanted, wanted.environment)));
    }

    /// Returns the version of an environment for an agent's request.
    std::shared_ptr<const PlacedVersion> version_for(const Request& request,
                                                     const CatalogRequest& wanted,
                                                     const std::string& environment) {
        const auto& run = wanted.run.transaction_uuid;
        // A conditional request is the first one of a run. Requests without a transaction that
        // contain facts come from other programs than agents.
        if (wanted.fingerprint)
            return compiler_.version(request, environment, RunStep::Begins, run);
        auto out = compiler_.version(request, environment,
                                     run.empty() ? RunStep::Looks : RunStep::Continues);
        const auto client = compiler_.caller(request);
        if (out && client)
            compiler_.versions().authority().catalog(
                {.environment = environment, .node = client->name, .transaction = run});
        return out;
    }

    /// Returns the version of an environment that a request uses. All calls for one request return
    /// the same version. Null if the environment has no versions.
    const PlacedVersion* version(const CatalogRequest& wanted, const std::string& environment) {
        const auto it = wanted.versions->find(environment);
        if (it != wanted.versions->end()) return it->second.get();
        auto found = wanted.find_version
                         ? wanted.find_version(environment)
                         : compiler_.versions().of(
                               {.environment = environment, .node = wanted.node, .transaction = {}},
                               RunStep::Looks);
        return wanted.versions->emplace(environment, std::move(found)).first->second.get();
    }

    site::NodeRequest request_of(const CatalogRequest& wanted, std::shared_ptr<base::Arena> arena,
                                 bool keep_environment) {
        site::NodeRequest request;
        request.node = wanted.node;
        request.arena = std::move(arena);
        request.overlay.set("environment", wanted.environment);
        request.trusted.give(wanted.trusted);
        request.server_facts = site::ServerFacts::given(compiler_.server_facts());
        request.facts.values = wanted.facts;
        if (wanted.facts.is_undef() && !wanted.fingerprint)
            request.facts.kind = site::FactSource::Kind::Store;
        request.choose_sources = [this, &wanted](const std::string& environment,
                                                 site::Sources& sources) {
            if (const auto* placed = version(wanted, environment)) placed->place(sources);
        };
        if (keep_environment) request.classification = site::Unclassified();
        if (wanted.code) {
            request.sources.code = wanted.code->code;
            request.sources.code_name = wanted.code->file;
            request.variables = wanted.variables;
        }
        request.record.trace = wanted.may_keep;
        return request;
    }

    Answer answer(const CatalogRequest& wanted, std::shared_ptr<base::Arena> arena,
                  base::LogSink& log, bool keep_environment = false) {
        // The limits of a compile also apply to the conversion of the catalog.
        const base::WorkLimit limit(
            {.memory = compiler_.site().options().memory, .deadline = {}, .cancelled = {}});
        try {
            return answered(wanted, request_of(wanted, std::move(arena), keep_environment), log);
        } catch (const PuppetError&) {
            ++compiler_.failed;
            throw;
        } catch (const std::bad_alloc&) {
            ++compiler_.failed;
            const auto text = fmt::format(
                "The compile for {} needs more than {} MiB of memory (the setting "
                "max-compile-memory)",
                wanted.node, compiler_.site().options().memory >> 20);
            log.log(base::Level::Err, text);
            throw ApiError(500, text);
        }
    }

    Answer answered(const CatalogRequest& wanted, site::NodeRequest request, base::LogSink& log) {
        const auto began = std::chrono::steady_clock::now();
        // Saved first, because the session runs the classifier, which may read them.
        if (wanted.save_facts && wanted.facts.is_hash())
            compiler_.fact_files().save(
                wanted.node,
                facts_to_keep(*request.arena, wanted.node, wanted.facts, wanted.facts_document));
        std::shared_ptr<site::Session> session = compiler_.site().session(std::move(request), log);
        const auto& environment = session->environment()->name();
        if (wanted.save_facts && wanted.facts.is_hash()) {
            const auto sum = value::hash_of(wanted.facts) * 31 + value::hash_of(wanted.trusted);
            if (!facts_are_known(wanted.node, environment, sum)) {
                const auto store = site::View::Connection(session->shared_view(), log);
                const auto stored_at =
                    store->store_facts(wanted.node, environment, wanted.facts, wanted.trusted);
                const std::lock_guard lock(mutex_);
                stored_facts_[wanted.node] = {environment, sum, stored_at,
                                              std::chrono::steady_clock::now()};
            }
        }
        if (environment != wanted.environment && wanted.check_environment) {
            if (wanted.fingerprint) return FactsNeeded();
            log.log(base::Level::Warning,
                    fmt::format("Requested environment '{}' did not match server specified "
                                "environment '{}'",
                                wanted.environment, environment));
            return PlainCatalog{.json = empty_catalog(wanted.node, environment), .validity = {}};
        }
        const CatalogCache::Key key{
            wanted.node, environment,
            fmt::format("{} {}", wanted.rich_data ? "rich" : "plain",
                        wanted.static_catalog ? wanted.checksums : "as it is")};
        if (wanted.may_keep) {
            const auto* print = wanted.fingerprint ? &*wanted.fingerprint : nullptr;
            if (auto cached = compiler_.catalog_cache().find(key, *session, print)) {
                auto out = cached_answer(wanted, key, *cached);
                // If another comparison is running, this request waits for its own compile instead.
                if (out && (!cached->to_compare || compare_later(wanted, key, *cached, session)))
                    return std::move(*out);
            }
        }
        if (wanted.fingerprint) return FactsNeeded();
        const auto asked = std::chrono::steady_clock::now();
        const auto slot = compiler_.slots().take(environment, wanted.node, kTimeout);
        compiler_.compile_wait().record(microseconds_since(asked));
        if (!slot) throw Overloaded();
        return compiled(wanted, key, *session, log, began);
    }

    /// Returns nullopt if the cached catalog was removed meanwhile.
    std::optional<Answer> cached_answer(const CatalogRequest& wanted, const CatalogCache::Key& key,
                                        const CatalogCache::CachedCatalog& cached) const {
        Validity validity{.etag = cached.etag, .facts = cached.facts};
        if (wanted.etag == cached.etag) return StillValid{std::move(validity)};
        auto packed = compiler_.catalog_cache().packed(key, cached);
        if (!packed) return std::nullopt;
        return PackedCatalog{std::move(*packed), std::move(validity)};
    }

    /// Verifies a cached catalog by a background compile, so that the client does not wait for it.
    /// Returns false if another comparison is running.
    bool compare_later(const CatalogRequest& wanted, const CatalogCache::Key& key,
                       const CatalogCache::CachedCatalog& cached,
                       const std::shared_ptr<site::Session>& session) {
        if (comparing_.exchange(true)) return false;
        // The comparison uses the same version. The HTTP request ends before it.
        auto again = wanted;
        again.find_version = nullptr;
        again.versions = std::make_shared<CatalogRequest::Versions>(*wanted.versions);
        const bool posted = compiler_.aside().post([this, wanted = std::move(again), key,
                                                    facts = cached.facts, session] {
            try {
                compare(wanted, key, *facts, session);
            } catch (const ApiError&) {
                // The error was logged already.
            } catch (const std::exception& e) {
                compiler_.log().log(base::Level::Err,
                                    fmt::format("The cached catalog of {} could not be compared "
                                                "with a new one: {}",
                                                wanted.node, e.what()));
            }
            comparing_ = false;
        });
        if (!posted) comparing_ = false;
        return posted;
    }

    void compare(const CatalogRequest& wanted, const CatalogCache::Key& key,
                 const std::vector<std::string>& counting, std::shared_ptr<site::Session> session) {
        const auto slot = compiler_.slots().take(key.environment, {}, kTimeout);
        if (!slot) return;
        if (wanted.fingerprint) {
            // The comparison uses the stored facts and is skipped unless they match the
            // fingerprint. The other values of the request live as long as the first session, which
            // the caller holds.
            auto request = request_of(wanted, new_arena(), false);
            request.facts.kind = site::FactSource::Kind::Store;
            session = compiler_.site().session(std::move(request), compiler_.log());
            if (session->environment()->name() != key.environment ||
                compiler::facts_fingerprint(session->facts(), counting) != *wanted.fingerprint)
                return;
        }
        const auto made = make(wanted, *session, compiler_.log());
        compiler_.catalog_cache().compare(key, *session, made.json);
    }

    struct Made {
        site::Compiled compiled;
        std::string json;
        std::vector<SeenPath> seen;
        bool as_static = false;
    };
    Made make(const CatalogRequest& wanted, site::Session& session, base::LogSink& log) {
        const auto began = std::chrono::steady_clock::now();
        Made out;
        try {
            out.compiled = session.compile();
        } catch (PuppetError& e) {
            const auto text = fmt::format(
                "{} on node {}{}", e.full_text(), wanted.node,
                e.issue_code() == "EXPIRED" && base::work_end() == base::WorkEnd::Cancelled
                    ? ": the client has disconnected"
                    : "");
            log.log({.level = base::Level::Err,
                     .message = text,
                     .where = e.where(),
                     .issue_code = e.issue_code()});
            ++compiler_.failed;
            throw ApiError(500, text);
        }
        auto& result = out.compiled;
        out.as_static = wanted.static_catalog && static_catalogs(*session.environment());
        StaticContent::Inlined inlined;
        if (out.as_static) {
            inlined = compiler_.static_content().inline_files(
                *result.catalog, *session.environment(), wanted.checksums, log);
            result.catalog->code_id = inlined.code_id;
        }
        out.json = site::agent_catalog(
            result, site::VirtualResources::Omit, log,
            wanted.rich_data ? site::RichData::Accepted : site::RichData::Refused);
        if (!inlined.json.empty()) {
            out.json.pop_back();
            out.json += inlined.json;
            out.json += '}';
        }
        out.seen = std::move(inlined.seen);
        ++compiler_.compiled;
        compiler_.compile_time().record(microseconds_since(began));
        return out;
    }

    Answer compiled(const CatalogRequest& wanted, const CatalogCache::Key& key,
                    site::Session& session, base::LogSink& log,
                    std::chrono::steady_clock::time_point began) {
        const auto began_ns = sys::make_real_clock()->now_ns();
        auto made = make(wanted, session, log);
        const auto& result = made.compiled;
        PlainCatalog out{.json = std::move(made.json), .validity = {}};
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
        log.log(base::Level::Notice,
                fmt::format("Compiled {}catalog for {} in environment {} in {} seconds",
                            made.as_static ? "static " : "", wanted.node, key.environment,
                            sys::seconds_text(taken.count())));
        if (wanted.save_catalog && result.view->storeconfigs()) {
            const auto store = site::View::Connection(result.view, log);
            auto run = wanted.run;
            run.collected = result.collected;
            store->store_catalog({.node = result.node, .facts = {}, .trusted = {}}, *result.catalog,
                                 *result.naming, run);
        }
        if (wanted.may_keep) {
            if (auto cached = compiler_.catalog_cache().keep(key, session, result, out.json,
                                                             std::move(made.seen), began_ns)) {
                out.validity = Validity{std::move(cached->etag), std::move(cached->facts)};
            }
        }
        return out;
    }

    /// Reports whether the store received the same facts recently and nothing newer. It is false if
    /// another server may have stored other facts meanwhile, or if the clock was set back.
    bool facts_are_known(const std::string& node, const std::string& environment,
                         std::uint64_t sum) {
        const auto& stand = compiler_.site().options().store.facts_match;
        if (!stand) return false;
        std::int64_t stored_at = 0;
        {
            const std::lock_guard lock(mutex_);
            const auto it = stored_facts_.find(node);
            if (it == stored_facts_.end() || it->second.sum != sum ||
                it->second.environment != environment ||
                std::chrono::steady_clock::now() - it->second.when >= kFactsAge)
                return false;
            stored_at = it->second.producer_timestamp;
        }
        return stand(node, stored_at);
    }

    bool static_catalogs(const environment::Environment& environment) const {
        if (const auto own = environment.conf("static_catalogs")) return *own == "true";
        return compiler_.settings().boolean("static_catalogs");
    }

    static std::string empty_catalog(const std::string& node, const std::string& environment) {
        return fmt::format(
            R"({{"tags":[],"name":{},"version":null,"code_id":null,"catalog_uuid":{},)"
            R"("catalog_format":2,"environment":{},"resources":[],"edges":[],"classes":[]}})",
            codec::json_string(node), codec::json_string(base::random_uuid()),
            codec::json_string(environment));
    }

    struct StoredFacts {
        std::string environment;
        std::uint64_t sum = 0;                ///< hash from value::hash_of()
        std::int64_t producer_timestamp = 0;  ///< in milliseconds
        std::chrono::steady_clock::time_point when;
    };
    Compiler& compiler_;
    /// true while a cached catalog is compared with a new one
    std::atomic<bool> comparing_ = false;
    std::mutex mutex_;
    std::unordered_map<std::string, StoredFacts> stored_facts_;  ///< by node
};

}  // namespace

void mount_catalogs(http::Router& router, Compiler& compiler) {
    auto catalogs = std::make_shared<Catalogs>(compiler);
    http::RouteOptions options;
    options.max_body = kMaxBody;
    // Compiles wait for each other, and must not delay fast requests.
    options.may_wait = [](const Request&) { return true; };
    options.ends_with_client = true;
    const auto add = [&](std::string_view method, std::string_view pattern, http::Access access,
                         Response (Catalogs::*handler)(const Request&)) {
        router.add(
            method, pattern, std::move(access),
            [catalogs, &compiler, handler](Request& request) {
                return answered(compiler.log(), request,
                                [&] { return ((*catalogs).*handler)(request); });
            },
            options);
    };
    add("GET", "/puppet/v3/catalog/{node}", compiler.authorization().access(), &Catalogs::version3);
    add("POST", "/puppet/v3/catalog/{node}", compiler.authorization().access(),
        &Catalogs::version3);
    add("POST", "/puppet/v3/compile", administrators(compiler.authorization()),
        &Catalogs::version3_tree);
    add("POST", "/puppet/v4/catalog", administrators(compiler.authorization()),
        &Catalogs::version4);
}

}  // namespace bunraku::server
