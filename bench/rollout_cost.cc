// SPDX-License-Identifier: Apache-2.0
// Measures what rollouts cost: the plan for a large fleet beyond the impact, the version of a
// request, and a pass of the controller.
//   rollout_cost [NODES [GROUPS]]   default 10000 nodes with 500 changes each
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/arena.h"
#include "core/base/counters.h"
#include "core/base/diagnostic.h"
#include "core/sys/system.h"
#include "core/value/rich_data.h"
#include "services/rollout/controller.h"
#include "services/rollout/make_plan.h"

namespace {

using namespace bunraku;
namespace fs = std::filesystem;

constexpr std::string_view kOld = "aaaaaaaaaaaa-0000000000000001",
                           kNew = "bbbbbbbbbbbb-0000000000000002";

/// Returns the CPU seconds of this process.
double cpu() {
    timespec now{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

template <class F>
auto timed(std::string_view what, double times, std::string_view unit, double factor, F&& f) {
    const double begin = cpu();
    auto out = f();
    fmt::print("{:<44} {:10.3f} {}\n", what, (cpu() - begin) / times * factor, unit);
    return out;
}

[[noreturn]] void fail(const std::string& message) {
    fmt::print(stderr, "{}\n", message);
    std::exit(1);
}

struct Example {
    base::Arena arena;
    std::vector<site::FleetNode> nodes;
    insight::Impact impact;
};

/// Makes the impact of a change of every resource of every node. One change in ten is of plugins
/// or contains the name of the node, which needs the facts.
std::unique_ptr<Example> example(std::size_t nodes, std::size_t groups) {
    auto out = std::make_unique<Example>();
    for (std::size_t i = 0; i < groups; ++i) {
        insight::Group group;
        group.change.kind = insight::Kind::Changed;
        group.change.reference =
            i % 10 == 0 ? fmt::format("File[/etc/%{{facts.networking.hostname}}/{}]", i)
                        : fmt::format("File[/etc/file{}]", i);
        group.change.parameter = "content";
        group.change.before = "\"before\"";
        group.change.after = "\"after\"";
        group.change.file = fmt::format("modules/m{}/manifests/init.pp", i / 5);
        out->impact.groups.push_back(std::move(group));
    }
    for (std::size_t i = 0; i < nodes; ++i) {
        const auto name = fmt::format("node{:05}.example.org", i);
        const auto facts = value::parse_json(
            out->arena,
            fmt::format(
                R"({{"networking":{{"hostname":"node{0:05}","fqdn":"{1}","ip":"10.0.{2}.{3}"}},)"
                R"("os":{{"family":"{4}"}},"puppetversion":"8.10.0","datacenter":"dc{5}"}})",
                i, name, i / 250, i % 250, i % 3 == 0 ? "RedHat" : "Debian", i % 4));
        if (!facts) fail(facts.error().message);
        out->nodes.push_back(
            {.name = name, .facts = *facts, .trusted = {}, .file = {}, .stamp = {}});
        insight::EvaluatedNode node{.name = name, .verdict = insight::Verdict::Changed};
        for (std::size_t g = 0; g < groups; ++g) {
            node.groups.push_back(static_cast<std::uint32_t>(g));
            out->impact.groups[g].nodes.push_back(static_cast<std::uint32_t>(i));
        }
        out->impact.nodes.push_back(std::move(node));
    }
    return out;
}

rollout::Plan plan_of(const Example& fleet) {
    auto plan =
        rollout::make_plan({.program = "bench",
                            .environment = "production",
                            .made = 0,
                            .from = {.version = std::string(kOld), .commit = "a", .files = "a"},
                            .to = {.version = std::string(kNew), .commit = "b", .files = "b"},
                            .rules_text = "spread: [facts.datacenter]\n"},
                           fleet.impact, fleet.nodes);
    if (!plan) fail(plan.error().message);
    return std::move(*plan);
}

/// A store in a folder with a controller, as in a server.
struct Server {
    explicit Server(const std::string& folder) {
        for (const auto version : {kOld, kNew}) {
            const auto path = fmt::format("{}/envs/.bunraku/production/{}", folder, version);
            fs::create_directories(path);
            std::ofstream(path + ".json")
                << fmt::format(R"({{"commit":"{0}","files":"{0}"}})", version == kOld ? "a" : "b");
            std::ofstream(path + "/rollout.yaml") << "spread: [facts.datacenter]\n";
        }
        fs::create_symlink(fmt::format(".bunraku/production/{}", kOld),
                           folder + "/envs/production");
        store::ServiceOptions options;
        options.database = folder + "/store.sqlite3";
        options.queue_folder = folder + "/queue";
        options.durable = false;
        auto started = store::Service::start(std::move(options));
        if (!started) fail(started.error().message);
        service = std::move(*started);
        local = server::make_local_versions("", log);
        local->base("production", kOld);
        versions = std::make_shared<rollout::StoreVersions>(service, sys::machine(),
                                                            folder + "/rollouts", local);
        if (auto done = versions->reload(); !done) fail(done.error().message);
        controller = std::make_unique<rollout::Controller>(rollout::ControllerOptions{
            .service = service,
            .versions = versions,
            .deployed = rollout::Deployed(system.system(), {folder + "/envs"}),
            .system = system.system(),
            .runtime = sys::machine(),
            .log = log,
            .counters = counters,
            .server = "bench",
            .send = {}});
    }
    ~Server() {
        controller.reset();
        versions.reset();
        service->stop();
    }

    /// Runs the part of a run that asks for versions: a begin, three requests and a report.
    double runs(const std::vector<site::FleetNode>& nodes) {
        double requests = 0;
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const auto uuid = fmt::format("00000000-0000-4000-8000-{:06}{:06}", ++round, i);
            server::NodeRun run{
                .environment = "production", .node = nodes[i].name, .transaction = uuid};
            const auto wanted = versions->target("production", nodes[i].name);
            if (!versions->begin(run, wanted.value_or(std::string(kOld)))) fail("no version");
            versions->catalog(run);
            for (int k = 0; k < 3; ++k)
                if (!versions->current("production", nodes[i].name)) fail("no version");
            versions->idle(run);
            requests += 5;
        }
        return requests;
    }

    base::NullSink log;
    base::Counters counters;
    sys::RealSystem system;
    std::shared_ptr<store::Service> service;
    std::shared_ptr<server::VersionAuthority> local;
    std::shared_ptr<rollout::StoreVersions> versions;
    std::unique_ptr<rollout::Controller> controller;
    int round = 0;
};

}  // namespace

int main(int argc, char** argv) {
    const auto number = [&](int at, std::size_t usual) {
        return argc > at ? std::strtoul(argv[at], nullptr, 10) : usual;
    };
    const std::size_t nodes = number(1, 10'000), groups = number(2, 500);
    fmt::print("{} nodes with {} changes each; CPU time\n", nodes, groups);
    const auto fleet = example(nodes, groups);
    const auto plan =
        timed("plan: groups, canaries, waves", 1, "s", 1, [&] { return plan_of(*fleet); });
    const auto text = timed("plan: text", 1, "s", 1, [&] { return rollout::plan_text(plan); });
    timed("plan: summary", 1, "s", 1, [&] { return rollout::plan_summary(plan).size(); });
    timed("plan: read by the server", 1, "s", 1,
          [&] { return rollout::read_plan(text).has_value(); });
    fmt::print("{:<44} {:10.1f} MB\n", "plan: size", static_cast<double>(text.size()) / 1e6);

    std::string folder = fs::temp_directory_path() / "bunraku-rollout-cost-XXXXXX";
    if (!::mkdtemp(folder.data())) fail("no folder");
    {
        Server server(folder);
        // All nodes are known, as after their first runs.
        const double requests = static_cast<double>(nodes) * 5;
        for (int round = 0; round < 3; ++round)
            timed("versions of a request, without a rollout", requests, "us", 1e6,
                  [&] { return server.runs(fleet->nodes); });
        const auto inserted =
            server.service->with_writer([&](store::Writer& writer) -> base::Result<void> {
                std::vector<store::RolloutMember> members;
                for (const auto& node : plan.nodes)
                    members.push_back({.certname = node.name, .wave = node.wave, .judged = true});
                store::RolloutRow row;
                row.environment = "production";
                row.from = kOld;
                row.to = kNew;
                row.plan = rollout::plan_digest(text);
                row.state = "moving";
                row.wave = static_cast<std::int64_t>(plan.waves.size()) - 1;
                row.moved = static_cast<std::int64_t>(plan.waves.size());
                row.started = row.since = sys::machine().now_ms();
                BUNRAKU_TRY(store::insert_rollout(
                    writer, row, text, members,
                    {.time = 1, .actor = "bench", .what = "start", .detail = "{}"}));
                return {};
            });
        if (!inserted) fail(inserted.error().message);
        if (auto done = server.controller->tick(); !done) fail(done.error().message);
        timed("versions of a request, nodes move", requests, "us", 1e6,
              [&] { return server.runs(fleet->nodes); });
        for (int round = 0; round < 3; ++round)
            timed("versions of a request, during a rollout", requests, "us", 1e6,
                  [&] { return server.runs(fleet->nodes); });
        timed("a pass of the controller, every 2 s", 1, "ms", 1e3,
              [&] { return server.controller->tick().has_value(); });
        timed("a pass of the controller, again", 1, "ms", 1e3,
              [&] { return server.controller->tick().has_value(); });
    }
    fs::remove_all(folder);
}
