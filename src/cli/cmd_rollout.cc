// SPDX-License-Identifier: Apache-2.0
// bunraku rollout: brings a version of an environment to the nodes in waves.
#include <chrono>
#include <cstdio>
#include <fmt/format.h>
#include <map>
#include <thread>

#include "cli/command.h"
#include "cli/rollout_client.h"
#include "cli/rollout_output.h"
#include "cli/rollout_plan.h"
#include "cli/usage.h"
#include "core/base/number.h"
#include "core/base/plain_error.h"
#include "core/sys/disk.h"
#include "core/value/hash_access.h"
#include "net/http/message.h"
#include "services/rollout/make_plan.h"

namespace bunraku::cli {

namespace {

constexpr int kBad = 2, kStale = 3;
constexpr int kStaleStatus = 412;

struct RolloutOptions {
    RolloutPlanOptions plan;
    std::string url, out, reason, state, verdict;
    std::vector<std::string> words;
    bool json = false, wait = false, hold = false, events = false, nodes = false, leftovers = false;
};

std::string query_of(const std::map<std::string, std::string>& parameters) {
    std::string out;
    for (const auto& [name, text] : parameters) {
        if (text.empty()) continue;
        out += fmt::format("{}{}={}", out.empty() ? "?" : "&", name, http::percent_encode(text));
    }
    return out;
}

class RolloutCommand {
public:
    RolloutCommand(Invocation& invocation, RolloutOptions& options, base::LogSink& log)
        : invocation_(invocation), options_(options), log_(log) {}

    int run() {
        const std::string action = options_.words.empty() ? "" : options_.words[0];
        const std::size_t count = options_.words.size();
        if (action == "plan" && count == 1) return plan();
        if (action == "start" && count == 2) return start(options_.words[1]);
        if (action == "list" && count == 1) return list();
        if (action == "show" && count <= 2) return show();
        if (action == "forget-server" && count == 2) return forget(options_.words[1]);
        for (const char* name : {"approve", "pause", "resume", "halt", "back", "finish"})
            if (action == name && count <= 2) return change(action);
        throw usage_error(
            "rollout",
            "usage: rollout (plan --to VERSION [--environment NAME] [--out FILE] | start FILE | "
            "list | show [ID] [--wait] | approve|pause|resume|halt|back|finish [ID] "
            "[--reason TEXT] | forget-server NAME)");
    }

private:
    RolloutClient& client() {
        if (!client_) client_ = std::make_unique<RolloutClient>(invocation_.settings, options_.url);
        return *client_;
    }

    int plan() {
        const auto plan = make_rollout_plan(invocation_, options_.plan, log_);
        const auto text = rollout::plan_text(plan);
        if (!options_.out.empty()) {
            auto written = sys::disk().replace(options_.out, text, {.mode = 0644});
            if (!written) throw base::plain_error(written.error().message);
        }
        if (options_.json) {
            fmt::print("{}", text);
        } else {
            fmt::print("{}", rollout::plan_summary(plan));
            if (options_.out.empty())
                fmt::print("--out FILE writes the plan, which 'rollout start FILE' needs\n");
        }
        return 0;
    }

    int start(const std::string& file) {
        const auto text = sys::disk().read(file);
        if (!text) throw base::plain_error(text.error().message);
        const auto answer =
            client().send("POST", "/rollouts" + query_of({{"reason", options_.reason}}), *text);
        if (answer.status == kStaleStatus) {
            log_.log(base::Level::Err, answer.error());
            return kStale;
        }
        return print_status(answer);
    }

    int list() {
        const auto answer = client().get(
            "/rollouts" + query_of({{"environment", environment()}, {"state", options_.state}}));
        fmt::print("{}", options_.json ? answer.body + "\n" : rollout_list_text(answer.data));
        return 0;
    }

    /// Returns the id in the arguments, or that of the newest rollout.
    std::int64_t id() {
        if (options_.words.size() > 1) {
            const auto number = base::parse_integer<std::int64_t>(options_.words[1]);
            if (!number || *number < 1)
                throw base::plain_error(
                    fmt::format("'{}' is not the number of a rollout", options_.words[1]));
            return *number;
        }
        const auto answer = client().get("/rollouts" + query_of({{"environment", environment()}}));
        if (!answer.data.is_array() || answer.data.as_array().empty())
            throw base::plain_error("There are no rollouts");
        const auto* found = value::at(answer.data.as_array()[0], "id");
        return found && found->is_integer() ? found->as_integer() : 0;
    }

    int show() {
        const auto base = fmt::format("/rollouts/{}", id());
        RolloutAnswer answer = client().get(base);
        while (options_.wait && is_live(answer)) {
            std::this_thread::sleep_for(std::chrono::seconds(1));
            answer = client().get(base);
        }
        if (!options_.nodes && !options_.events && !options_.leftovers) {
            const int code = print_status(answer);
            if (!options_.json)
                fmt::print("{}", rollout_nodes_text(client().get(base + "/nodes").data));
            if (!options_.json && code == kBad)
                fmt::print("{}", rollout_leftovers_summary(client().get(base + "/leftovers").data));
            return code;
        }
        if (options_.nodes)
            print(client().get(base + "/nodes" + query_of({{"verdict", options_.verdict}})),
                  rollout_nodes_text);
        if (options_.events) print(client().get(base + "/events"), rollout_events_text);
        if (options_.leftovers) print(client().get(base + "/leftovers"), rollout_leftovers_text);
        return code_of(answer);
    }

    int change(const std::string& action) {
        const auto number = id();
        const auto parameters =
            query_of({{"reason", options_.reason}, {"hold", options_.hold ? "true" : ""}});
        const auto path = action == "approve" ? fmt::format("/rollout-approvals/{}", number)
                                              : fmt::format("/rollouts/{}/{}", number, action);
        const auto answer = client().send("POST", path + parameters);
        const int code = print_status(answer);
        // The command succeeded, even if the state that it caused is a bad one, such as halted.
        return code == kBad ? 0 : code;
    }

    int forget(const std::string& server) {
        const auto answer = client().send(
            "POST", fmt::format("/rollout-servers/{}/forget", http::percent_encode(server)));
        if (answer.status / 100 == 2) return 0;
        log_.log(base::Level::Err, answer.error());
        return 1;
    }

    void print(const RolloutAnswer& answer, std::string (*text)(const value::Value&)) const {
        fmt::print("{}", options_.json ? answer.body + "\n" : text(answer.data));
    }

    int print_status(const RolloutAnswer& answer) {
        if (answer.status / 100 != 2) {
            log_.log(base::Level::Err, answer.error());
            return 1;
        }
        print(answer, rollout_text);
        return code_of(answer);
    }

    static bool is_live(const RolloutAnswer& answer) {
        const auto* live = value::at(answer.data, "live");
        const auto state = value::text_at(answer.data, "state");
        return live && live->truthy() && state != "halted" && state != "paused";
    }

    static int code_of(const RolloutAnswer& answer) {
        const auto state = value::text_at(answer.data, "state");
        return state == "halted" || state == "returning" || state == "returned" ? kBad : 0;
    }

    const std::string& environment() const { return options_.plan.fleet.compile.environment; }

    Invocation& invocation_;
    RolloutOptions& options_;
    base::LogSink& log_;
    std::unique_ptr<RolloutClient> client_;
};

int run_rollout(Invocation& invocation) {
    OptionParser parser(invocation);
    RolloutOptions o;
    o.plan.fleet.add_to(parser);
    parser.value("to", &o.plan.to);
    parser.value("url", &o.url);
    parser.value("out", &o.out);
    parser.value("reason", &o.reason);
    parser.value("state", &o.state);
    parser.value("verdict", &o.verdict);
    parser.flag("json", &o.json);
    parser.flag("wait", &o.wait);
    parser.flag("hold", &o.hold);
    parser.flag("events", &o.events);
    parser.flag("list-nodes", &o.nodes);
    parser.flag("leftovers", &o.leftovers);
    if (!parser.parse(&o.words)) return parser.exit_code();
    auto sink = make_console_sink(parser);
    try {
        return RolloutCommand(invocation, o, *sink).run();
    } catch (const base::PuppetError& error) {
        report_error(*sink, error, "");
        return 1;
    }
}

}  // namespace

BUNRAKU_COMMAND(rollout){.name = "rollout",
                         .summary = "Bring a version of an environment to the nodes in waves.",
                         .run = run_rollout,
                         .run_mode = "server"};

}  // namespace bunraku::cli
