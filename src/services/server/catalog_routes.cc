// Catalogs: /puppet/v3/catalog/NODE as agents ask for them, /puppet/v4/catalog for those who ask
// for any node's (puppetserver's documentation of both; notes of what 7.9.5 answers).
#include <atomic>
#include <chrono>
#include <fmt/format.h>
#include <mutex>
#include <unordered_map>

#include "compile/compiler/change.h"
#include "compile/site/agent_catalog.h"
#include "compile/site/at_rest.h"
#include "compile/site/fact_sources.h"
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
/// A body with the facts of one machine; agents with tens of thousands of facts are known.
constexpr std::uint64_t kMaxBody = 64 << 20;
constexpr std::chrono::minutes kPatience{5};
constexpr std::uint64_t kMaxUnpacked = std::uint64_t{1} << 30;
/// Facts that stayed the same are told to the store once in that time.
constexpr std::chrono::minutes kFactsAge{30};

/// An answer's head has an end.
constexpr std::size_t kMaxPaths = 16 * 1024;

std::uint64_t microseconds_since(std::chrono::steady_clock::time_point begin) {
    const auto gone = std::chrono::steady_clock::now() - begin;
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(gone).count());
}

std::string unquoted(std::string_view etag) { return std::string(base::trim(etag, "\"")); }

/// What a request for a catalog says.
struct Wish {
    std::string node, environment;
    bool check_environment = false;
    bool rich_data = true;
    bool static_catalog = false;
    std::string checksums;  ///< "sha256.sha384": what the agent knows
    site::StoreAccess::RunIds run;
    Value facts;           ///< undef: those that are stored
    Value facts_document;  ///< the same with their times, as they were sent
    Value trusted;         ///< of who asks
    bool save_facts = true, save_catalog = true;
    /// A catalog that was made before may be given, and this one later.
    bool may_keep = false;
    std::string etag;         ///< of the catalog that the client has; empty: none
    std::string fingerprint;  ///< in place of facts; empty: they are there, or those stored count
    std::optional<AstText> code;  ///< in place of the manifest, with variables of its own
    std::vector<std::pair<std::string, Value>> variables;
};

/// What a client is told.
struct Answer {
    std::string json;     ///< empty: what the client has is still right, where there is an etag
    bool packed = false;  ///< the JSON is, by gzip
    std::string etag;     ///< empty: it cannot be kept
    std::shared_ptr<const std::vector<std::string>> facts;  ///< the paths that count
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

/// Returns the facts that an agent sends, JSON that is URL-encoded once more than the form, with
/// the name of the node and times; undef if it sends none.
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
        Wish wish;
        wish.node = request.param("node");
        wish.environment = parameters.text("environment");
        if (!environment::valid_environment_name(wish.environment)) {
            return Response::text(
                400, fmt::format("The environment must be purely alphanumeric, not '{}'",
                                 parameters.find("environment") ? wish.environment : "null"));
        }
        // As puppetserver: an agent that was told of an environment which went away is served, and
        // told of another one by the catalog itself.
        if (!compiler_.has_environment(wish.environment)) wish.environment = "production";
        wish.check_environment = parameters.text("check_environment") == "true";
        wish.rich_data = type == kRich || type == kRichMsgpack;
        wish.static_catalog = parameters.text("static_catalog") == "true";
        wish.checksums = parameters.text("checksum_type");
        wish.run = {parameters.text("transaction_uuid"), parameters.text("job_id")};
        wish.facts_document = facts_of(*arena, parameters, wish.node);
        if (wish.facts_document.is_hash()) wish.facts = *at(wish.facts_document, "values");
        wish.trusted = compiler_.trusted_data(*arena, request);
        wish.may_keep = true;
        const std::string print(request.headers.get(site::kFactsHeader));
        const bool ours = !print.empty();
        if (ours) wish.etag = unquoted(request.headers.get("If-None-Match"));
        if (ours && wish.facts.is_undef()) {
            wish.fingerprint = print;
            if (request.headers.get(site::kPluginsHeader) !=
                compiler_.plugins_tag(wish.environment))
                return Response::text(412, "Other plugins");
        }
        auto answer = this->answer(wish, std::move(arena), compiler_.log());
        if (!wish.fingerprint.empty() && (answer.json.empty() ? answer.etag.empty() : true))
            return Response::text(412, "Another catalog");
        const bool unchanged = answer.json.empty();
        // Who keeps a catalog packed need not pack it for each who asks.
        const bool as_text = type != kRichMsgpack && type != kMsgpack;
        const bool packed =
            answer.packed && as_text && http::accepts_gzip(request.headers.get("Accept-Encoding"));
        if (answer.packed && !packed) {
            auto plain = http::decode_content("gzip", answer.json, kMaxUnpacked);
            if (plain.status != 0) throw base::plain_error(plain.message);
            answer.json = std::move(plain.body);
        }
        Response out = unchanged ? Response::text(304, "") : json_as(type, std::move(answer.json));
        if (packed) mark_packed(out);
        if (ours && !answer.etag.empty()) tell_rest(out, wish, answer);
        return out;
    }

    Response version4(const Request& request) {
        auto arena = new_arena();
        const auto sent = document(request, *arena, catalog_input_problem);
        if (!sent) return Response::text(400, sent.error().message);
        const Value& data = *sent;
        Wish wish;
        wish.node = text_at(data, "certname");
        wish.environment = text_at(data, "environment");
        const Value* persistence = at(data, "persistence");
        wish.save_facts = at(*persistence, "facts")->truthy();
        wish.save_catalog = at(*persistence, "catalog")->truthy();
        const auto known = site::split_trusted(*arena, values_of(data, "facts"));
        wish.facts = known.facts;
        wish.trusted = values_of(data, "trusted_facts");
        if (wish.trusted.is_undef()) wish.trusted = known.trusted;
        wish.run = {text_at(data, "transaction_uuid"), text_at(data, "job_id")};
        wish.check_environment = false;
        return with_logs(wish, std::move(arena), data, flag(data, "prefer_requested_environment"));
    }

    /// Bolt's: a syntax tree takes the place of the environment's manifest.
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
        Wish wish;
        wish.node = text_at(data, "certname");
        wish.environment = text_at(data, "environment");
        if (!environment::valid_environment_name(wish.environment)) {
            throw base::plain_error(
                fmt::format("No directory found for the environment '{}'", wish.environment));
        }
        wish.facts = values_of(data, "facts");
        wish.trusted = values_of(data, "trusted_facts");
        wish.code = std::move(*text);
        wish.save_facts = wish.save_catalog = false;
        const Value& variables = *at(*at(data, "variables"), "values");
        const auto add = [&](const Value& some) {
            for (const auto& [name, v] : some.as_hash())
                wish.variables.emplace_back(name.as_string(), v);
        };
        // A list keeps the order on its way through programs that lose it.
        if (variables.is_hash()) add(variables);
        if (variables.is_array())
            for (const auto& one : variables.as_array())
                if (one.is_hash()) add(one);
        return with_logs(wish, std::move(arena), data, true);
    }

private:
    /// A request's body, or what is wrong with it.
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

    /// The answer to who asks in JSON: a catalog, and what was logged where that is wanted.
    Response with_logs(const Wish& wish, std::shared_ptr<base::Arena> arena, const Value& data,
                       bool keep_environment) {
        std::string out = "{\"catalog\":";
        if (flag(data, "capture_logs")) {
            base::MemorySink logs;
            out += answer(wish, std::move(arena), logs, keep_environment).json + ",\"logs\":[";
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
            out += answer(wish, std::move(arena), compiler_.log(), keep_environment).json;
        }
        out += '}';
        return Response::json(200, std::move(out));
    }

    /// Of one compile; what it holds has an end (max-compile-memory).
    std::shared_ptr<base::Arena> new_arena() {
        return std::make_shared<base::Arena>(256 * 1024, compiler_.site().options().memory);
    }

    /// What an agent needs so that next time it need not send its facts.
    void tell_rest(Response& out, const Wish& wish, const Answer& answer) {
        std::string paths;
        for (const auto& path : *answer.facts) {
            // All facts: some of them always change.
            if (path.empty()) return;
            paths += fmt::format("{}{}", paths.empty() ? "" : " ", http::percent_encode(path));
        }
        if (paths.size() > kMaxPaths) return;
        out.headers.set("ETag", fmt::format("\"{}\"", answer.etag));
        out.headers.set(site::kPathsHeader, paths);
        out.headers.set(site::kPluginsHeader, compiler_.plugins_tag(wish.environment));
    }

    site::NodeRequest request_of(const Wish& wish, std::shared_ptr<base::Arena> arena,
                                 bool keep_environment) {
        site::NodeRequest request;
        request.node = wish.node;
        request.arena = std::move(arena);
        request.overlay.set("environment", wish.environment);
        request.trusted = wish.trusted;
        request.server_facts = site::NodeRequest::ServerFacts::Given;
        request.given_server_facts = compiler_.server_facts();
        request.facts.values = wish.facts;
        if (wish.facts.is_undef() && wish.fingerprint.empty())
            request.facts.kind = site::FactSource::Kind::Store;
        request.classify = !keep_environment;
        if (wish.code) {
            request.sources.code = wish.code->code;
            request.sources.code_name = wish.code->file;
            request.variables = wish.variables;
        }
        request.time = compiler_.site().options().time;
        request.record = wish.may_keep;
        return request;
    }

    Answer answer(const Wish& wish, std::shared_ptr<base::Arena> arena, base::LogSink& log,
                  bool keep_environment = false) {
        // What is made of the catalog counts as the compile does.
        const base::WorkLimit limit(
            {.memory = compiler_.site().options().memory, .deadline = {}, .cancelled = {}});
        try {
            return answered(wish, request_of(wish, std::move(arena), keep_environment), log);
        } catch (const PuppetError&) {
            ++compiler_.failed;
            throw;
        } catch (const std::bad_alloc&) {
            ++compiler_.failed;
            const auto text = fmt::format(
                "The compile for {} needs more than {} MiB of memory (the setting "
                "max-compile-memory)",
                wish.node, compiler_.site().options().memory >> 20);
            log.log(base::Level::Err, text);
            throw ApiError(500, text);
        }
    }

    Answer answered(const Wish& wish, site::NodeRequest request, base::LogSink& log) {
        const auto began = std::chrono::steady_clock::now();
        // The session asks the classifier, which may read them.
        if (wish.save_facts && wish.facts.is_hash())
            compiler_.fact_files().save(wish.node, facts_to_keep(*request.arena, wish.node,
                                                                 wish.facts, wish.facts_document));
        std::shared_ptr<site::Session> session = compiler_.site().session(std::move(request), log);
        const auto& environment = session->environment()->name();
        if (wish.save_facts && wish.facts.is_hash()) {
            const auto sum = value::hash_of(wish.facts) * 31 + value::hash_of(wish.trusted);
            if (!facts_are_known(wish.node, environment, sum)) {
                const auto store = site::View::Connection(session->shared_view(), log);
                const auto told =
                    store->store_facts(wish.node, environment, wish.facts, wish.trusted);
                const std::lock_guard lock(mutex_);
                stored_facts_[wish.node] = {environment, sum, told,
                                            std::chrono::steady_clock::now()};
            }
        }
        if (environment != wish.environment && wish.check_environment) {
            if (!wish.fingerprint.empty()) return {};
            log.log(base::Level::Warning,
                    fmt::format("Requested environment '{}' did not match server specified "
                                "environment '{}'",
                                wish.environment, environment));
            return {.json = empty_catalog(wish.node, environment)};
        }
        const KeptCatalogs::Key key{wish.node, environment,
                                    fmt::format("{} {}", wish.rich_data ? "rich" : "plain",
                                                wish.static_catalog ? wish.checksums : "as it is")};
        if (wish.may_keep) {
            const auto* print = wish.fingerprint.empty() ? nullptr : &wish.fingerprint;
            if (auto kept = compiler_.kept().find(key, *session, print)) {
                Answer out{.etag = kept->etag, .facts = kept->facts};
                bool good = wish.etag == kept->etag;
                if (!good) {
                    if (auto packed = compiler_.kept().packed(key, *kept)) {
                        out.json = std::move(*packed);
                        out.packed = good = true;
                    }
                }
                // While another comparison is under way, who asks waits for this one.
                if (good && (!kept->to_compare || compare_later(wish, key, *kept, session)))
                    return out;
            }
        }
        if (!wish.fingerprint.empty()) return {};
        const auto asked = std::chrono::steady_clock::now();
        const auto slot = compiler_.slots().take(environment, wish.node, kPatience);
        compiler_.compile_wait().record(microseconds_since(asked));
        if (!slot) throw Overloaded();
        return compiled(wish, key, *session, log, began);
    }

    /// What is answered without a compile is compiled behind the answer's back and compared. False:
    /// another one is.
    bool compare_later(const Wish& wish, const KeptCatalogs::Key& key,
                       const KeptCatalogs::Kept& kept,
                       const std::shared_ptr<site::Session>& session) {
        if (comparing_.exchange(true)) return false;
        const bool posted = compiler_.aside().post([this, wish, key, facts = kept.facts, session] {
            try {
                compare(wish, key, *facts, session);
            } catch (const ApiError&) {
                // It was logged.
            } catch (const std::exception& e) {
                compiler_.log().log(base::Level::Err,
                                    fmt::format("The kept catalog of {} could not be compared "
                                                "with a fresh one: {}",
                                                wish.node, e.what()));
            }
            comparing_ = false;
        });
        if (!posted) comparing_ = false;
        return posted;
    }

    void compare(const Wish& wish, const KeptCatalogs::Key& key,
                 const std::vector<std::string>& counting, std::shared_ptr<site::Session> session) {
        const auto slot = compiler_.slots().take(key.environment, {}, kPatience);
        if (!slot) return;
        if (!wish.fingerprint.empty()) {
            // Those of its facts that count are those that the store has, or it is not compared.
            // What else the wish says lives as long as the first session, which the caller holds.
            auto request = request_of(wish, new_arena(), false);
            request.facts.kind = site::FactSource::Kind::Store;
            session = compiler_.site().session(std::move(request), compiler_.log());
            if (session->environment()->name() != key.environment ||
                compiler::facts_fingerprint(session->facts(), counting) != wish.fingerprint)
                return;
        }
        const auto made = make(wish, *session, compiler_.log());
        compiler_.kept().compare(key, *session, made.json);
    }

    struct Made {
        site::Compiled compiled;
        std::string json;
        std::vector<SeenPath> seen;
        bool as_static = false;
    };
    Made make(const Wish& wish, site::Session& session, base::LogSink& log) {
        const auto began = std::chrono::steady_clock::now();
        Made out;
        try {
            out.compiled = session.compile();
        } catch (PuppetError& e) {
            const auto text =
                fmt::format("{} on node {}{}", e.full_text(), wish.node, limit_text(e));
            log.log({.level = base::Level::Err,
                     .message = text,
                     .where = e.where(),
                     .issue_code = e.issue_code()});
            ++compiler_.failed;
            throw ApiError(500, text);
        }
        auto& result = out.compiled;
        out.as_static = wish.static_catalog && static_catalogs(*session.environment());
        StaticContent::Inlined inlined;
        if (out.as_static) {
            inlined = compiler_.static_content().inline_files(
                *result.catalog, *session.environment(), wish.checksums, log);
            result.catalog->code_id = inlined.code_id;
        }
        out.json = site::agent_catalog(result, false, log, wish.rich_data);
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

    /// What ended a compile that reached one of its limits; empty for other errors.
    std::string limit_text(const PuppetError& error) const {
        const auto& options = compiler_.site().options();
        if (error.issue_code() == "NO_MEMORY")
            return fmt::format(
                ": the compile needs more than {} MiB (the setting "
                "max-compile-memory)",
                options.memory >> 20);
        if (error.issue_code() != "EXPIRED") return {};
        if (base::work_end() == base::WorkEnd::Cancelled)
            return ": nobody waits for the catalog any more";
        const std::chrono::duration<double> most = options.time.value_or(std::chrono::seconds(0));
        return fmt::format(
            ": the compile takes longer than {:g} seconds (the setting "
            "compile-timeout)",
            most.count());
    }

    Answer compiled(const Wish& wish, const KeptCatalogs::Key& key, site::Session& session,
                    base::LogSink& log, std::chrono::steady_clock::time_point began) {
        const auto began_ns = sys::make_real_clock()->now_ns();
        auto made = make(wish, session, log);
        const auto& result = made.compiled;
        Answer out{.json = std::move(made.json)};
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
        log.log(base::Level::Notice,
                fmt::format("Compiled {}catalog for {} in environment {} in {} seconds",
                            made.as_static ? "static " : "", wish.node, key.environment,
                            sys::seconds_text(taken.count())));
        if (wish.save_catalog && result.view->storeconfigs()) {
            const auto store = site::View::Connection(result.view, log);
            auto run = wish.run;
            run.collected = result.collected;
            store->store_catalog({.node = result.node, .facts = {}, .trusted = {}}, *result.catalog,
                                 *result.naming, run);
        }
        if (wish.may_keep) {
            if (auto kept = compiler_.kept().keep(key, session, result, out.json,
                                                  std::move(made.seen), began_ns)) {
                out.etag = std::move(kept->etag);
                out.facts = std::move(kept->facts);
            }
        }
        return out;
    }

    /// The store heard of the same a while ago, and of nothing newer: another server may have told
    /// it of others meanwhile, or the clock gone back.
    bool facts_are_known(const std::string& node, const std::string& environment,
                         std::uint64_t sum) {
        const auto& stand = compiler_.site().options().store.facts_stand;
        if (!stand) return false;
        std::int64_t told = 0;
        {
            const std::lock_guard lock(mutex_);
            const auto it = stored_facts_.find(node);
            if (it == stored_facts_.end() || it->second.sum != sum ||
                it->second.environment != environment ||
                std::chrono::steady_clock::now() - it->second.when >= kFactsAge)
                return false;
            told = it->second.producer_timestamp;
        }
        return stand(node, told);
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
        std::uint64_t sum = 0;                ///< value::hash_of
        std::int64_t producer_timestamp = 0;  ///< ms
        std::chrono::steady_clock::time_point when;
    };
    Compiler& compiler_;
    std::atomic<bool> comparing_ = false;  ///< a kept catalog with a fresh one
    std::mutex mutex_;
    std::unordered_map<std::string, StoredFacts> stored_facts_;  ///< by node
};

}  // namespace

void mount_catalogs(http::Router& router, Compiler& compiler) {
    auto catalogs = std::make_shared<Catalogs>(compiler);
    http::RouteOptions options;
    options.max_body = kMaxBody;
    // Compiles wait for each other, and must not hold up what is quick.
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
