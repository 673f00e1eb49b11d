// SPDX-License-Identifier: Apache-2.0
#include "services/load/agent.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>

#include "compile/compiler/change.h"
#include "compile/site/conditional_headers.h"
#include "core/base/assert.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/config/compatibility.h"
#include "core/value/hash_access.h"
#include "core/value/rich_data.h"
#include "net/http/message.h"
#include "services/agent/node_facts.h"
#include "services/agent/server_link.h"

namespace bunraku::load {

using agent::Query;
using value::text_at;
using value::Value;

namespace {

constexpr std::string_view kCatalogTypes = "application/vnd.puppet.rich+json, application/json";
/// Number of resources that a run may report as changed.
constexpr std::size_t kSample = 8;

std::string with_environment(Query query, const std::string& environment) {
    query.emplace_back("environment", environment);
    return agent::encoded(query);
}

/// Returns the reason in a message such as "GET https://x/y: the server closed the connection".
std::string reason_of(const base::Error& error) {
    if (error.code > 0) return std::strerror(error.code);
    const auto colon = error.message.find(": ");
    return colon == std::string::npos ? error.message : error.message.substr(colon + 2);
}

}  // namespace

Agent::Agent(const AgentProfile& profile, std::string name, std::uint64_t number,
             std::uint64_t seed)
    : profile_(profile), rng_(seed ^ (number * 0x632be59bd9b4e019U)), network_(profile.network) {
    machine_.name = std::move(name);
    machine_.number = number;
    machine_.uptime_seconds = static_cast<std::int64_t>(rng_.below(100 * 86'400));
}

Agent::Outcome Agent::run() {
    auto& runtime = profile_.network.runtime();
    broken_ = false;
    wait_seconds_ = 0;
    const bool away = profile_.absent > 0 && rng_.happens(profile_.absent);
    if (away && rng_.below(2) == 0) {
        profile_.figures.absent.add();
        return Outcome::Absent;
    }
    const auto begin = runtime.monotonic_ns();
    machine_.uptime_seconds += 1;
    if (profile_.changing > 0 && rng_.happens(profile_.changing)) ++machine_.changes;
    transaction_ = uuid();
    if (!client_) {
        http::ClientOptions options;
        options.network = &network_;
        options.user_agent = profile_.user_agent;
        options.stopped = profile_.stopped;
        options.max_redirects = 0;
        ssl.use(options);
        client_.emplace(std::move(options));
    }
    std::optional<Outcome> outcome;
    if (away) {
        base::Arena arena(64 * 1024);
        abort_run(arena);
        profile_.figures.absent.add();
        outcome = Outcome::Absent;
    } else {
        outcome = connected_run();
    }
    if (!profile_.keeps_connection || broken_ || away) client_.reset();
    if (!client_ && !profile_.resumes) network_.forget();
    BUNRAKU_ASSERT(outcome.has_value() && (*outcome == Outcome::PutOff) == (wait_seconds_ > 0));
    if (profile_.stopped && profile_.stopped()) return Outcome::Stopped;
    if (*outcome == Outcome::Good)
        profile_.figures.done(Step::Run, runtime.monotonic_ns() - begin, 0, 0);
    if (*outcome == Outcome::Failed) profile_.figures.runs_failed.add();
    if (*outcome == Outcome::PutOff) profile_.figures.put_off.add();
    return *outcome;
}

std::optional<Agent::Outcome> Agent::connected_run() {
    const auto ended = [&] { return wait_seconds_ > 0 ? Outcome::PutOff : Outcome::Failed; };
    const auto begin = profile_.network.runtime().monotonic_ns();
    base::Arena arena(256 * 1024);
    const auto rest = check_catalog(arena);
    if (rest == CatalogCheck::Broken) return ended();
    const bool everything = profile_.first_runs && !has_run_;
    if (rest == CatalogCheck::Unknown) {
        if (!fetch_plugins() || !fetch_catalog(arena)) return ended();
    }
    if (!fetch_files(everything)) return ended();
    if (profile_.reports != AgentProfile::Reports::None &&
        !report(begin, profile_.drifting > 0 && rng_.happens(profile_.drifting)))
        return ended();
    has_run_ = true;
    return Outcome::Good;
}

http::ClientRequest Agent::request(std::string method, std::string_view path, std::string query,
                                   std::string_view accept) const {
    http::ClientRequest out{.method = std::move(method)};
    out.url = fmt::format("https://{}/puppet/v3/{}{}{}", profile_.address,
                          http::percent_encode(path, "/"), query.empty() ? "" : "?", query);
    out.headers.set("Accept", accept);
    out.headers.set("X-Puppet-Version", config::puppet_version(config::kDefaultLevel));
    // Our own agent names its run.
    if (profile_.conditional_requests) out.headers.set(site::kRunHeader, transaction_);
    return out;
}

void Agent::fail(Step step, std::string kind, const std::string& example) {
    broken_ = true;
    profile_.figures.failed(step, kind, fmt::format("{}: {}", machine_.name, example));
}

/// Sends a request and counts it. Returns nullopt if it failed, was deferred or was stopped.
std::optional<http::ClientResponse> Agent::ask(Step step, http::ClientRequest request,
                                               int also_good) {
    BUNRAKU_ASSERT(client_.has_value());
    auto& runtime = profile_.network.runtime();
    const auto begin = runtime.monotonic_ns();
    (void)network_.take_connecting();
    auto answer = client_->send(request);
    const auto connecting = network_.take_connecting();
    if (connecting > 0 && !network_.unreachable())
        profile_.figures.done(Step::Connect, connecting, 0, 0);
    if (profile_.stopped && profile_.stopped()) {
        broken_ = true;
        return std::nullopt;
    }
    if (!answer) {
        const bool before = connecting > 0 && network_.unreachable();
        fail(before ? Step::Connect : step, reason_of(answer.error()), answer.error().message);
        return std::nullopt;
    }
    if (profile_.on_response) profile_.on_response(step, request, *answer);
    const auto time = runtime.monotonic_ns() - begin - connecting;
    const bool unchanged = step == Step::Unchanged && answer->status == 304;
    if (answer->status / 100 == 2 || unchanged || answer->status == also_good) {
        // A 304 counts as its own step. Any other result of the conditional request is not counted
        // yet.
        if (step != Step::Unchanged || unchanged)
            profile_.figures.done(step, time, request.body.size(), answer->body.size());
        return std::move(*answer);
    }
    const auto later = base::parse_integer<std::int64_t>(answer->headers.get("Retry-After"));
    if (answer->status == 503 && later && *later >= 0) {
        broken_ = true;
        wait_seconds_ = std::clamp<std::int64_t>(*later, 1, 3600);
        return std::nullopt;
    }
    fail(step, fmt::format("{} {}", answer->status, http::reason(answer->status)),
         fmt::format("{} {}: {}", request.method, request.url, answer->body.substr(0, 300)));
    return std::nullopt;
}

std::string Agent::uuid() {
    const auto a = rng_.next(), b = rng_.next();
    return fmt::format("{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}", a >> 32, a >> 16 & 0xffff,
                       a & 0xfff, b >> 52, b & 0xffffffffffff);
}

Value Agent::facts(base::Arena& arena) {
    BUNRAKU_ASSERT(!profile_.models.empty());
    return machine_facts(arena, profile_.models[machine_.number % profile_.models.size()],
                         profile_.choices, machine_);
}

Agent::CatalogCheck Agent::check_catalog(base::Arena& arena) {
    const std::chrono::nanoseconds age(profile_.network.runtime().now_ns() -
                                       conditional_.reported_ns);
    if (!profile_.conditional_requests || conditional_.etag.empty() || !catalog_ ||
        age.count() < 0 || age > profile_.facts_interval)
        return CatalogCheck::Unknown;
    const Query query{{"check_environment", "true"},
                      {"static_catalog", "true"},
                      {"checksum_type", "sha256.sha384.sha512.sha224.md5"}};
    auto asking = request("GET", "catalog/" + machine_.name,
                          with_environment(query, catalog_->environment), kCatalogTypes);
    asking.headers.set("If-None-Match", conditional_.etag);
    asking.headers.set(site::kFactsHeader,
                       compiler::facts_fingerprint(facts(arena), conditional_.facts));
    asking.headers.set(site::kPluginsHeader, conditional_.plugins);
    const auto begin = profile_.network.runtime().monotonic_ns();
    const auto answer = ask(Step::Unchanged, std::move(asking), 412);
    retrieval_ns_ = profile_.network.runtime().monotonic_ns() - begin;
    if (answer && answer->status == 304) return CatalogCheck::Right;
    if (answer && answer->status == 412) return CatalogCheck::Unknown;
    return answer ? CatalogCheck::Unknown : CatalogCheck::Broken;
}

bool Agent::fetch_plugins() {
    if (profile_.looks_for_plugins) {
        const Query query{{"recurse", "false"}, {"links", "manage"}};
        if (!ask(Step::Plugins,
                 request("GET", "file_metadatas/plugins",
                         with_environment(query, profile_.environment), "application/json"),
                 404))
            return false;
    }
    for (const std::string_view mount : {"pluginfacts", "plugins"}) {
        Query query{{"recurse", "true"},
                    {"max_files", "-1"},
                    {"ignore", ".svn"},
                    {"ignore", "CVS"},
                    {"ignore", ".git"},
                    {"ignore", ".hg"},
                    {"links", "follow"},
                    {"checksum_type", "sha256"},
                    {"source_permissions", mount == "plugins" ? "ignore" : "use"}};
        // A mount without folders does not exist and returns 404.
        const auto answer = ask(
            Step::Plugins,
            request("GET", fmt::format("file_metadatas/{}", mount),
                    with_environment(std::move(query), profile_.environment), "application/json"),
            404);
        if (!answer) return false;
        if (!profile_.first_runs || has_run_ || answer->status == 404) continue;
        base::Arena arena(64 * 1024);
        const auto list = value::parse_json(arena, answer->body);
        if (!list || !list->is_array()) continue;
        for (const auto& file : list->as_array()) {
            if (text_at(file, "type") != "file") continue;
            if (!fetch_content(fmt::format("{}/{}", mount, text_at(file, "relative_path"))))
                return false;
        }
    }
    return true;
}

http::ClientRequest Agent::catalog_request(base::Arena& arena) {
    const auto document =
        value::to_json(agent::facts_document(arena, profile_.settings, machine_.name, facts(arena),
                                             profile_.network.runtime().now_ns()));
    const Query form{{"facts_format", "application/json"},
                     {"facts", http::percent_encode(document)},
                     {"environment", profile_.environment},
                     {"transaction_uuid", transaction_},
                     {"check_environment", "true"},
                     {"static_catalog", "true"},
                     {"checksum_type", "sha256.sha384.sha512.sha224.md5"}};
    auto asking = request("POST", "catalog/" + machine_.name,
                          with_environment({}, profile_.environment), kCatalogTypes);
    asking.headers.set("Content-Type", "application/x-www-form-urlencoded");
    if (profile_.conditional_requests) asking.headers.set(site::kFactsHeader, "all");
    asking.body = agent::encoded(form);
    return asking;
}

bool Agent::fetch_catalog(base::Arena& arena) {
    auto& runtime = profile_.network.runtime();
    const auto begin = runtime.monotonic_ns();
    const auto answer = ask(Step::Catalog, catalog_request(arena));
    if (!answer) return false;
    retrieval_ns_ = runtime.monotonic_ns() - begin;
    const auto catalog = value::parse_json(arena, answer->body);
    if (!catalog || !catalog->is_hash()) {
        fail(Step::Catalog, "the response is not a catalog", answer->body.substr(0, 300));
        return false;
    }
    if (const auto whose = text_at(*catalog, "name"); whose != machine_.name) {
        fail(Step::Catalog, "another node's catalog",
             fmt::format("the server sent the catalog of '{}'", whose));
        return false;
    }
    const bool all = profile_.reports == AgentProfile::Reports::Whole;
    const auto* resources = value::at(*catalog, "resources");
    catalog_ = KnownCatalog::of(*catalog, !all ? kSample
                                          : resources && resources->is_array()
                                              ? resources->as_array().size()
                                              : 0);
    conditional_.reported_ns = runtime.now_ns();
    if (!profile_.conditional_requests || !conditional_.take(*answer)) conditional_.etag.clear();
    return true;
}

bool Agent::fetch_content(std::string_view path) {
    return ask(Step::Content,
               request("GET", fmt::format("file_content/{}", path),
                       with_environment({}, profile_.environment), "application/octet-stream"))
        .has_value();
}

bool Agent::fetch_files(bool all) {
    BUNRAKU_ASSERT(catalog_.has_value());
    for (const auto& source : catalog_->sources) {
        const Query query{
            {"links", "manage"}, {"checksum_type", "sha256"}, {"source_permissions", "ignore"}};
        const auto answer =
            ask(Step::Metadata,
                request("GET", "file_metadata/" + source,
                        with_environment(query, profile_.environment), "application/json"),
                404);  // an agent would try the File's next source
        if (!answer) return false;
        const bool file =
            answer->status == 200 && answer->body.find(R"("type":"file")") != std::string::npos;
        if (all && file && !fetch_content(source)) return false;
    }
    if (!all) return true;
    for (const auto& source : catalog_->contents)
        if (!fetch_content(source)) return false;
    return true;
}

bool Agent::report(std::int64_t begin, bool drifted) {
    BUNRAKU_ASSERT(catalog_.has_value() && client_.has_value());
    auto& runtime = profile_.network.runtime();
    ReportOptions report_options{
        .node = machine_.name,
        .transaction_uuid = transaction_,
        .server = profile_.address,
        .now_ns = runtime.now_ns(),
        .seconds = static_cast<double>(runtime.monotonic_ns() - begin) / 1e9,
        .retrieval_seconds = static_cast<double>(retrieval_ns_) / 1e9,
        .drifted = {},
        .whole = profile_.reports == AgentProfile::Reports::Whole};
    if (drifted && !catalog_->named.empty())
        report_options.drifted.push_back(rng_.below(catalog_->named.size()));
    const auto put = [&](std::string body, std::string_view as, int also_good) {
        auto sending = request("PUT", "report/" + machine_.name,
                               with_environment({}, profile_.environment), "application/json");
        sending.headers.set("Content-Type", "application/json");
        if (!as.empty()) sending.headers.set(site::kReportHeader, as);
        sending.body = std::move(body);
        return ask(Step::Report, std::move(sending), also_good);
    };
    // Data that the server already has is not sent again, like in agent::run.
    const bool conditional_requests =
        !conditional_.etag.empty() && report_options.drifted.empty() && !report_options.whole;
    const auto identity =
        conditional_requests ? simulated_identity(*catalog_, report_options) : std::string();
    if (conditional_requests && !conditional_.report.empty() &&
        conditional_.report_identity == identity) {
        const auto answer = put(simulated_difference(report_options), conditional_.report, 412);
        if (!answer || answer->status != 412) return answer.has_value();
    }
    const auto answer =
        put(simulated_report(*catalog_, report_options), conditional_requests ? "new" : "", 0);
    if (!answer) return false;
    if (conditional_requests) {
        conditional_.report = answer->headers.get(site::kReportHeader);
        conditional_.report_identity = identity;
    }
    return true;
}

/// Requests a catalog and disconnects when the response arrives.
void Agent::abort_run(base::Arena& arena) {
    BUNRAKU_ASSERT(client_.has_value());
    (void)client_->download(catalog_request(arena), [](std::string_view) { return false; });
    const auto connecting = network_.take_connecting();
    if (connecting > 0 && !network_.unreachable())
        profile_.figures.done(Step::Connect, connecting, 0, 0);
}

}  // namespace bunraku::load
