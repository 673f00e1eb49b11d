// SPDX-License-Identifier: Apache-2.0
#include "services/rollout/routes.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/number.h"
#include "core/value/hash_access.h"
#include "core/value/rich_data.h"
#include "resources/catalog/wire_time.h"
#include "services/rollout/controller_pass.h"
#include "services/rollout/evidence.h"
#include "services/rollout/json.h"
#include "services/rollout/leftovers.h"
#include "services/server/json_answers.h"
#include "services/server/puppet_api.h"

namespace bunraku::rollout {

using base::Result;
using http::Request;
using http::Response;
using server::json_error;

namespace {

constexpr std::uint64_t kMostPlan = 256ULL << 20;
constexpr std::int64_t kLongestTry = 24LL * 3600;

Response failed(const base::Error& error) {
    if (error.code >= 400 && error.code < 600) return json_error(error.code, error.message);
    const auto kind = store::failure_of(error);
    const bool away = kind == store::Failure::Unavailable || kind == store::Failure::Retry;
    return json_error(away ? 503 : 500, error.message);
}

std::string value_of(const Request& request, std::string_view name) {
    const auto* found = request.query_value(name);
    return found ? *found : std::string();
}

class Routes {
public:
    explicit Routes(RouteContext context) : context_(std::move(context)) {}

    Response list(Request& request) {
        const std::string state = value_of(request, "state");
        const auto rows =
            controller().list(value_of(request, "environment"),
                              state == "live" ? store::Which::Live : store::Which::All);
        if (!rows) return failed(rows.error());
        std::string out;
        for (const auto& row : *rows) {
            if (!state.empty() && state != "live" && row.state != state) continue;
            out += (out.empty() ? "" : ",\n ") + rollout_json(row);
        }
        return Response::json(200, "[" + out + "]");
    }
    Response show(Request& request) { return status_of(controller().status(id_of(request))); }
    Response plan(Request& request) {
        const auto text = [&]() -> Result<std::string> {
            const auto status = BUNRAKU_TRY(controller().status(id_of(request)));
            auto db = BUNRAKU_TRY(service().reader());
            auto found = BUNRAKU_TRY(store::rollout_plan(*db, status.row.plan));
            if (!found) return base::failure("The plan is missing", kNotFound);
            return std::move(*found);
        }();
        return text ? Response::json(200, *text) : failed(text.error());
    }
    Response nodes(Request& request) {
        const std::string verdict = value_of(request, "verdict");
        const auto body = [&]() -> Result<std::string> {
            const auto status = BUNRAKU_TRY(controller().status(id_of(request)));
            auto db = BUNRAKU_TRY(service().reader());
            auto members = BUNRAKU_TRY(store::rollout_members(*db, status.row.id));
            std::erase_if(members, [&](const auto& member) {
                return !verdict.empty() && member.verdict != verdict;
            });
            return members_json(members, versions_of(status.row.environment));
        }();
        return body ? Response::json(200, *body) : failed(body.error());
    }
    Response events(Request& request) {
        const auto after =
            base::parse_integer<std::int64_t>(value_of(request, "after")).value_or(0);
        auto db = service().reader();
        if (!db) return failed(db.error());
        const auto found = store::rollout_events(**db, id_of(request), after);
        return found ? Response::json(200, events_json(*found)) : failed(found.error());
    }
    Response remaining(Request& request) {
        const auto body = [&]() -> Result<std::string> {
            const auto status = BUNRAKU_TRY(controller().status(id_of(request)));
            return leftovers_json(BUNRAKU_TRY(leftovers_of(status)));
        }();
        return body ? Response::json(200, *body) : failed(body.error());
    }
    Response start(Request& request) {
        auto started = controller().start(request.body, actor_of(request));
        context_.changed();
        return status_of(std::move(started), 201);
    }
    Response approve(Request& request) {
        auto done = controller().approve(id_of(request), actor_of(request), sequence_of(request));
        context_.changed();
        return status_of(std::move(done));
    }
    Response command(Request& request, Command command) {
        if (command == Command::Halt && value_of(request, "hold") == "true")
            command = Command::HaltAndHold;
        auto done =
            controller().command(id_of(request), command, actor_of(request), sequence_of(request));
        context_.changed();
        return status_of(std::move(done));
    }
    Response forget(Request& request) {
        const std::string name(request.param("server"));
        bool known = false;
        const auto done = service().with_writer([&](store::Writer& writer) -> Result<void> {
            known = BUNRAKU_TRY(store::forget_server(writer, name));
            return {};
        });
        if (!done) return failed(done.error());
        context_.changed();
        if (!known) return json_error(404, fmt::format("There is no server {}", name));
        return Response::json(200, "{}");
    }
    Response versions(Request& request) {
        const std::string environment = environment_of(request);
        const auto found = controller().options().deployed.versions(environment);
        if (!found) return json_error(404, found.error().message);
        return Response::json(200, versions_json(*found));
    }
    Response node_version(Request& request) {
        const std::string environment = environment_of(request), node(request.param("node"));
        const auto table = controller().options().versions->table();
        const auto target = table.target(environment, node);
        const auto base = controller().options().deployed.base(environment);
        const auto rows = versions_of(environment);
        const auto row = rows.find(node);
        const std::string usual = base ? base->name : std::string();
        using codec::json_string;
        return Response::json(
            200, fmt::format(R"({{"node":{},"environment":{},"base":{},"target":{},"version":{}}})",
                             json_string(node), json_string(environment), json_string(usual),
                             json_string(target.value_or(usual)),
                             json_string(row == rows.end() ? usual : row->second.version)));
    }
    Response removals(Request& request);
    Response set_try(Request& request);
    Response end_try(Request& request);

    /// Operators, and the node itself, about which the handler decides.
    http::Access operators_or_node() {
        return http::Access::rule([operators = server::administrators(*context_.authorization)](
                                      const Request& request) -> std::optional<Response> {
            auto refusal = operators.refusal(request, {});
            if (!refusal || !request.peer.name().empty()) return std::nullopt;
            return refusal;
        });
    }
    http::Access operators() { return server::administrators(*context_.authorization); }

private:
    Controller& controller() { return *context_.controller; }
    store::Service& service() { return *controller().options().service; }
    static std::int64_t id_of(const Request& request) {
        return base::parse_integer<std::int64_t>(request.param("id")).value_or(0);
    }
    static std::optional<std::int64_t> sequence_of(const Request& request) {
        return base::parse_integer<std::int64_t>(value_of(request, "sequence"));
    }
    static std::string environment_of(const Request& request) {
        const std::string out = value_of(request, "environment");
        return out.empty() ? "production" : out;
    }
    static Response status_of(const Result<RolloutStatus>& status, int code = 200) {
        return status ? Response::json(code, status_json(*status)) : failed(status.error());
    }
    /// Returns who sends the request: a token, a certificate, or this machine.
    Actor actor_of(const Request& request) {
        Actor out{.name = std::string(request.peer.name()), .reason = value_of(request, "reason")};
        if (context_.tokens) {
            const auto now_s = controller().options().runtime.now_ms() / 1000;
            if (const auto token = context_.tokens->bearer(request, now_s))
                out.name = "token " + *token;
        }
        if (out.name.empty())
            out.name = request.peer.address.empty() ? "local" : request.peer.address;
        return out;
    }
    ByText<store::NodeVersion> versions_of(const std::string& environment) {
        const auto table = controller().options().versions->table();
        const auto at = table.environments.find(environment);
        return at == table.environments.end() ? ByText<store::NodeVersion>() : at->second.nodes;
    }
    Result<std::vector<Leftover>> leftovers_of(const RolloutStatus& status);
    /// Refuses a node that may not move itself.
    std::optional<Response> refuse_try(const Request& request, const std::string& environment);

    RouteContext context_;
};

Result<std::vector<Leftover>> Routes::leftovers_of(const RolloutStatus& status) {
    auto db = BUNRAKU_TRY(service().reader());
    const auto members = BUNRAKU_TRY(moved_members(*db, status.row));
    return read_leftovers(*db, status.row, *status.plan, members,
                          versions_of(status.row.environment));
}

Response Routes::removals(Request& request) {
    const std::string node(request.param("node"));
    const auto body = [&]() -> Result<std::string> {
        std::vector<store::UndeclaredResource> all;
        auto db = BUNRAKU_TRY(service().reader());
        for (const auto id :
             controller().options().versions->returned(environment_of(request), node)) {
            const auto row = BUNRAKU_TRY(store::find_rollout(*db, id));
            if (!row) continue;
            const auto plan = BUNRAKU_TRY(controller().plan_of(*db, *row));
            for (auto& one : BUNRAKU_TRY(read_removals(*db, *row, *plan, node))) {
                const bool known = std::ranges::any_of(all, [&](const auto& other) {
                    return other.type == one.type && other.title == one.title;
                });
                if (!known) all.push_back(std::move(one));
            }
        }
        return store::undeclared_json(all);
    }();
    return body ? Response::json(200, *body) : failed(body.error());
}

std::optional<Response> Routes::refuse_try(const Request& request, const std::string& environment) {
    if (!operators().refusal(request, {})) return std::nullopt;
    const auto now_s = controller().options().runtime.now_ms() / 1000;
    if (context_.tokens && context_.tokens->bearer(request, now_s)) return std::nullopt;
    const auto& deployed = controller().options().deployed;
    const auto allowed = [&]() -> Result<bool> {
        const auto base = BUNRAKU_TRY(deployed.base(environment));
        return BUNRAKU_TRY(read_rules(BUNRAKU_TRY(deployed.rules_text(base)))).agents_may_try;
    }();
    if (request.peer.name() == request.param("node") && allowed && *allowed) return std::nullopt;
    return json_error(403,
                      "Only operators may do this, unless rollout.yaml has 'try: agents' and a "
                      "node moves itself");
}

Response Routes::set_try(Request& request) {
    base::Arena arena;
    const auto body = value::parse_json(arena, request.body);
    if (!body || !body->is_hash()) return json_error(400, "The body is not a JSON object");
    const std::string environment = [&] {
        const std::string text = text_at(*body, "environment");
        return text.empty() ? std::string("production") : text;
    }();
    if (auto refusal = refuse_try(request, environment)) return std::move(*refusal);
    const value::Value* seconds = at(*body, "seconds");
    if (!seconds || !seconds->is_integer() || seconds->as_integer() < 1 ||
        seconds->as_integer() > kLongestTry)
        return json_error(400, "'seconds' must be a number from 1 to 86400");
    auto done = controller().set_try({.certname = std::string(request.param("node")),
                                      .environment = environment,
                                      .version = text_at(*body, "version"),
                                      .actor = actor_of(request).name},
                                     seconds->as_integer());
    if (!done) return failed(done.error());
    context_.changed();
    return Response::json(200, fmt::format(R"({{"version":{},"until":"{}","waiting":{}}})",
                                           codec::json_string(done->entry.version),
                                           catalog::format_wire_time(done->entry.ends),
                                           codec::json_string(done->waiting)));
}

Response Routes::end_try(Request& request) {
    const std::string environment = environment_of(request);
    if (auto refusal = refuse_try(request, environment)) return std::move(*refusal);
    const auto done = controller().end_try(environment, request.param("node"));
    if (!done) return failed(done.error());
    context_.changed();
    return Response::json(200, "{}");
}

}  // namespace

void add_rollout_routes(http::Router& router, const RouteContext& context) {
    auto routes = std::make_shared<Routes>(context);
    using Handler = Response (Routes::*)(Request&);
    const auto add = [&](std::string_view method, std::string_view path, http::Access access,
                         Handler handler, std::uint64_t most = 1 << 20) {
        router.add(method, path, std::move(access),
                   [routes, handler](Request& request) { return (*routes.*handler)(request); },
                   {.max_body = most});
    };
    const auto readers = http::Access::listed();
    add("GET", "/bunraku/v1/rollouts", readers, &Routes::list);
    add("GET", "/bunraku/v1/rollouts/{id}", readers, &Routes::show);
    add("GET", "/bunraku/v1/rollouts/{id}/plan", readers, &Routes::plan);
    add("GET", "/bunraku/v1/rollouts/{id}/nodes", readers, &Routes::nodes);
    add("GET", "/bunraku/v1/rollouts/{id}/events", readers, &Routes::events);
    add("GET", "/bunraku/v1/rollouts/{id}/leftovers", readers, &Routes::remaining);
    add("GET", "/bunraku/v1/versions", readers, &Routes::versions);
    add("GET", "/bunraku/v1/nodes/{node}/version", readers, &Routes::node_version);
    add("GET", "/bunraku/v1/nodes/{node}/removals", readers, &Routes::removals);
    add("POST", "/bunraku/v1/rollouts", routes->operators(), &Routes::start, kMostPlan);
    add("POST", "/bunraku/v1/rollout-approvals/{id}", routes->operators(), &Routes::approve);
    add("POST", "/bunraku/v1/rollout-servers/{server}/forget", routes->operators(),
        &Routes::forget);
    add("PUT", "/bunraku/v1/nodes/{node}/try", routes->operators_or_node(), &Routes::set_try);
    add("DELETE", "/bunraku/v1/nodes/{node}/try", routes->operators_or_node(), &Routes::end_try);
    constexpr std::pair<std::string_view, Command> kCommands[] = {{"pause", Command::Pause},
                                                                  {"resume", Command::Resume},
                                                                  {"halt", Command::Halt},
                                                                  {"back", Command::Back},
                                                                  {"finish", Command::Finish}};
    for (const auto& [name, command] : kCommands) {
        router.add(
            "POST", fmt::format("/bunraku/v1/rollouts/{{id}}/{}", name), routes->operators(),
            [routes, command](Request& request) { return routes->command(request, command); });
    }
}

}  // namespace bunraku::rollout
