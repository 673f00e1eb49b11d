// SPDX-License-Identifier: Apache-2.0
// Advances rollouts with a store in a folder, and three nodes whose runs and reports the test
// makes.
#include "services/rollout/controller.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <mutex>
#include <stdlib.h>
#include <thread>

#include "core/base/diagnostic.h"
#include "resources/catalog/wire_time.h"
#include "services/rollout/outages.h"
#include "store/db/command.h"

namespace bunraku::rollout {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOld = "aaaaaaaaaaaa-0000000000000001",
                           kNew = "bbbbbbbbbbbb-0000000000000002";

/// The machine, with a monotonic clock that the test can advance.
class AdvancedRuntime final : public sys::Runtime {
public:
    std::int64_t now_ns() override { return sys::machine().now_ns(); }
    std::int64_t monotonic_ns() override { return sys::machine().monotonic_ns() + ahead_ns; }
    void sleep_ns(std::int64_t ns) override { sys::machine().sleep_ns(ns); }
    std::unique_ptr<sys::Executor> executor(sys::ExecutorOptions options) override {
        return sys::machine().executor(std::move(options));
    }
    int cores() override { return sys::machine().cores(); }
    std::unique_ptr<sys::Watch> watch(std::vector<std::string> paths,
                                      std::function<void()> changed) override {
        return sys::machine().watch(std::move(paths), std::move(changed));
    }
    std::atomic<std::int64_t> ahead_ns = 0;

private:
    bool wait(sys::Condition& condition, std::unique_lock<std::mutex>& lock,
              sys::TimePoint deadline) override {
        if (deadline == sys::Condition::kForever) {
            native(condition).wait(lock);
            return true;
        }
        const auto until = deadline - std::chrono::nanoseconds(ahead_ns);
        return native(condition).wait_until(lock, until) == std::cv_status::no_timeout;
    }
    void notify(sys::Condition& condition, bool all) override {
        all ? native(condition).notify_all() : native(condition).notify_one();
    }
};

class Rollout : public testing::Test {
protected:
    void SetUp() override {
        std::string name = fs::temp_directory_path() / "bunraku-rollout-XXXXXX";
        folder_ = ::mkdtemp(name.data());
        for (const auto version : {kOld, kNew}) {
            fs::create_directories(fmt::format("{}/envs/.bunraku/production/{}", folder_, version));
            write(fmt::format("envs/.bunraku/production/{}.json", version),
                  fmt::format(R"({{"commit":"{}","files":"f-{}"}})", version.substr(0, 12),
                              version.substr(0, 1)));
        }
        fs::create_symlink(fmt::format(".bunraku/production/{}", kOld),
                           folder_ + "/envs/production");
        open();
        // The store knows the nodes of the plan.
        for (const auto* node : {"a", "b", "c"}) report(node, "00", "unchanged");
    }
    void TearDown() override {
        controller_.reset();
        versions_.reset();
        service_->stop();
        service_.reset();
        std::error_code ignored;
        fs::remove_all(folder_, ignored);
    }
    /// Starts the store and the controller, also again.
    void open() {
        controller_.reset();
        versions_.reset();
        if (service_) service_->stop();
        service_.reset();
        store::ServiceOptions options;
        options.database = folder_ + "/store.sqlite3";
        options.queue_folder = folder_ + "/queue";
        options.durable = false;
        options.lifetimes.report_ttl_ms = 0;
        auto started = store::Service::start(std::move(options));
        ASSERT_TRUE(started) << started.error().message;
        service_ = std::move(*started);
        versions_ = std::make_shared<StoreVersions>(service_, runtime_, folder_ + "/rollouts",
                                                    server::make_local_versions("", log_));
        ASSERT_TRUE(versions_->reload());
        controller_ = std::make_unique<Controller>(ControllerOptions{
            .service = service_,
            .versions = versions_,
            .deployed = Deployed(system_.system(), {folder_ + "/envs"}),
            .system = system_.system(),
            .runtime = runtime_,
            .log = log_,
            .counters = counters_,
            .server = "server1",
            .send = [this](const std::string& url, const std::string& body) -> base::Result<void> {
                if (hook_) hook_();
                sent_.push_back(url + " " + body);
                return {};
            }});
    }
    void write(const std::string& path, const std::string& text) const {
        std::ofstream(folder_ + "/" + path) << text;
    }

    std::string plan(const std::string& rules) const {
        Plan out;
        out.environment = "production";
        out.made = made_;
        out.from = {.version = std::string(kOld), .commit = "a", .files = "f-a"};
        out.to = {.version = std::string(kNew), .commit = "b", .files = "f-b"};
        out.rules_text = rules;
        out.groups = {{.kind = "changed", .reference = "File[/x]", .parameter = "mode"}};
        out.nodes = {{.name = "a", .verdict = "changed", .groups = {0}, .wave = 0},
                     {.name = "b", .verdict = "changed", .groups = {0}, .wave = 1},
                     {.name = "c", .verdict = "untouched", .groups = {}, .wave = 0}};
        out.waves = {"canary", "100 %"};
        return plan_text(out);
    }
    std::int64_t start(const std::string& rules = "soak: 0s\nproofs: 1\n") {
        write(fmt::format("envs/.bunraku/production/{}/rollout.yaml", kNew), rules);
        const auto started = controller_->start(plan(rules), {.name = "ann", .reason = "why"});
        EXPECT_TRUE(started) << started.error().message;
        return started ? started->row.id : 0;
    }

    /// Returns a time later than all before.
    std::int64_t stamp() {
        return last_stamp_ = std::max(last_stamp_ + 1, sys::machine().now_ms());
    }
    /// Waits until the clock has passed all times so far.
    void pass() const {
        while (sys::machine().now_ms() <= last_stamp_) std::this_thread::yield();
    }
    static std::string uuid(std::string_view text) {
        return text.empty() ? "" : fmt::format("00000000-0000-4000-8000-0000000000{}", text);
    }
    /// The node begins a run. Returns "old" or "new".
    std::string begin(std::string_view node, std::string_view transaction, bool implied = false) {
        pass();
        const auto base = controller_->options().deployed.base("production");
        EXPECT_TRUE(base);
        const std::string id = uuid(transaction);
        const server::NodeRun run{
            .environment = "production", .node = node, .transaction = id, .implied = implied};
        const auto version = versions_->begin(run, base->name);
        if (!version) return version.error().message;
        return *version == kNew ? "new" : *version == kOld ? "old" : *version;
    }
    /// Sends the report of a run. `resource` changed, or is empty. With the status "corrected", the
    /// change is corrective.
    void report(std::string_view node, std::string_view transaction, std::string_view status,
                std::string_view resource = "", std::string_view environment = "production") {
        const bool corrective = status == "corrected";
        const std::string id = uuid(transaction);
        versions_->idle({.environment = environment, .node = node, .transaction = id});
        const auto now = bunraku::catalog::format_wire_time(stamp());
        std::string resources;
        if (!resource.empty()) {
            resources = fmt::format(
                R"({{"resource_type":"File","resource_title":"{0}","file":null,"line":null,)"
                R"("timestamp":"{1}","skipped":false,"containment_path":[],"corrective_change":{3},)"
                R"("events":[{{"status":"{2}","timestamp":"{1}","property":"mode","name":"mode_changed",)"
                R"("new_value":"1","old_value":"0","message":"x","corrective_change":{3}}}]}})",
                resource, now, status == "failed" ? "failure" : "success", corrective);
        }
        const auto body = fmt::format(
            R"({{"certname":"{0}","puppet_version":"8","report_format":12,)"
            R"("configuration_version":"c","start_time":"{1}","end_time":"{1}",)"
            R"("producer_timestamp":"{1}","producer":null,"environment":"{5}",)"
            R"("transaction_uuid":"{2}","catalog_uuid":null,"code_id":null,"job_id":null,)"
            R"("cached_catalog_status":"not_used","status":"{3}","noop":false,"noop_pending":false,)"
            R"("corrective_change":false,"logs":[],"metrics":[],"resources":[{4}],"type":"agent"}})",
            node, now, id, corrective ? "changed" : status, resources, environment);
        store::CommandHeader header;
        header.kind = store::CommandKind::StoreReport;
        header.version = 8;
        header.certname = node;
        header.received = stamp();
        const auto ticket = service_->submit(header, body);
        ASSERT_TRUE(ticket) << ticket.error().message;
        ASSERT_TRUE(service_->drain(std::chrono::seconds(60)));
        ASSERT_EQ(service_->health().dead_letters, 0u);
    }
    void submit(store::CommandKind kind, int version, std::string_view node,
                const std::string& body) {
        store::CommandHeader header;
        header.kind = kind;
        header.version = version;
        header.certname = node;
        header.received = stamp();
        const auto ticket = service_->submit(header, body);
        ASSERT_TRUE(ticket) << ticket.error().message;
        ASSERT_TRUE(service_->drain(std::chrono::seconds(60)));
        ASSERT_EQ(service_->health().dead_letters, 0u);
    }
    void facts(std::string_view node, std::string_view values) {
        submit(store::CommandKind::ReplaceFacts, 5, node,
               fmt::format(R"({{"certname":"{}","environment":"production","values":{},)"
                           R"("producer_timestamp":"{}","producer":null}})",
                           node, values, bunraku::catalog::format_wire_time(stamp())));
    }
    /// Files and their modes.
    using Files = std::vector<std::pair<std::string, std::string>>;
    void catalog(std::string_view node, const Files& files) {
        std::string resources;
        for (const auto& [path, mode] : files) {
            resources += fmt::format(
                R"({}{{"type":"File","title":"{}","aliases":[],"exported":false,"file":null,)"
                R"("line":null,"tags":["file"],"parameters":{{"mode":"{}"}}}})",
                resources.empty() ? "" : ",", path, mode);
        }
        submit(store::CommandKind::ReplaceCatalog, 9, node,
               fmt::format(R"({{"certname":"{}","version":"1","environment":"production",)"
                           R"("transaction_uuid":null,"catalog_uuid":null,"code_id":null,)"
                           R"("producer_timestamp":"{}","producer":null,"edges":[],)"
                           R"("resources":[{}],"job_id":null}})",
                           node, bunraku::catalog::format_wire_time(stamp()), resources));
    }
    /// Executes a statement in the store.
    void sql(const std::string& statement) {
        const auto done = service_->with_writer(
            [&](store::Writer& writer) { return writer.db().execute(statement); });
        ASSERT_TRUE(done) << done.error().message;
    }
    /// Another server acknowledges an epoch.
    void acknowledge(std::int64_t epoch, const std::string& server = "server2") {
        const auto done = service_->with_writer([&](store::Writer& writer) {
            return store::acknowledge_epoch(
                writer, {.server = server,
                         .epoch = epoch,
                         .seen = sys::machine().now_ms(),
                         .versions = fmt::format(R"({{"production":["{}","{}"]}})", kOld, kNew)});
        });
        ASSERT_TRUE(done) << done.error().message;
    }
    /// Another server reads the table and acknowledges it.
    void acknowledge(StoreVersions& other) {
        ASSERT_TRUE(other.reload());
        acknowledge(other.table().epoch);
        other.renew_leases();
    }
    std::string verdict(std::int64_t id, std::string_view node) {
        auto db = service_->reader();
        EXPECT_TRUE(db);
        const auto members = store::rollout_members(**db, id);
        EXPECT_TRUE(members);
        for (const auto& member : *members)
            if (member.certname == node) return member.verdict + " " + member.detail;
        return "no member";
    }
    /// Returns the events of a rollout with their reasons.
    std::string events(std::int64_t id) {
        auto db = service_->reader();
        EXPECT_TRUE(db);
        const auto found = store::rollout_events(**db, id);
        EXPECT_TRUE(found);
        std::string out;
        for (const auto& event : *found) {
            constexpr std::string_view kReason = R"("reason":")";
            const auto at = event.detail.find(kReason) + kReason.size();
            const auto reason = event.detail.substr(at, event.detail.find('"', at) - at);
            out += event.what + (reason.empty() ? "" : " " + reason) + ";";
        }
        return out;
    }
    /// Starts a rollout that moves node a while another server knows all targets.
    std::int64_t start_with_another_server() {
        acknowledge(0, "server1");
        acknowledge(0);
        const auto id = start();
        for (int i = 0; i < 2; ++i) {
            acknowledge(versions_->table().epoch);
            tick();
        }
        EXPECT_EQ(state(id), "moving 0");
        EXPECT_EQ(begin("a", "a1"), "new");
        return id;
    }
    /// Time passes, with a pass of the controller each minute. The wall clock does not advance.
    void pass_minutes(int minutes) {
        for (int i = 0; i < minutes; ++i) {
            runtime_.ahead_ns += std::chrono::nanoseconds(std::chrono::minutes(1)).count();
            tick();
        }
    }
    /// The clock of the database steps: all times that it has stored are older.
    void step_clock(double hours) {
        const auto by = static_cast<std::int64_t>(hours * 3'600'000);
        for (const auto* column :
             {"rollouts.started", "rollouts.since", "node_versions.since", "reports.receive_time",
              "rollout_servers.seen", "rollout_events.time", "node_tries.ends"}) {
            const std::string_view name(column);
            const auto dot = name.find('.');
            sql(fmt::format("UPDATE {0} SET {1} = {1} - {2}", name.substr(0, dot),
                            name.substr(dot + 1), by));
        }
    }
    void tick() {
        const auto done = controller_->tick();
        ASSERT_TRUE(done) << done.error().message;
    }
    std::string state(std::int64_t id) {
        const auto status = controller_->status(id);
        return status ? fmt::format("{} {}", status->row.state, status->row.wave)
                      : status.error().message;
    }
    std::string base() const {
        return controller_->options().deployed.base("production")->name == kNew ? "new" : "old";
    }

    std::string folder_;
    base::NullSink log_;
    base::Counters counters_;
    sys::RealSystem system_;
    AdvancedRuntime runtime_;
    std::shared_ptr<store::Service> service_;
    std::shared_ptr<StoreVersions> versions_;
    std::unique_ptr<Controller> controller_;
    std::vector<std::string> sent_;
    std::function<void()> hook_;  ///< called before an event is sent
    std::int64_t made_ = 0;       ///< when the plan was made
    std::int64_t last_stamp_ = 0;
};

TEST_F(Rollout, GoodChangeReachesAllNodes) {
    EXPECT_EQ(begin("a", "a0"), "old");
    report("a", "a0", "unchanged");
    const auto id = start("soak: 0s\nproofs: 1\nwebhook: http://hook\n");
    EXPECT_EQ(state(id), "moving 0");
    // Canaries and untouched nodes move, later waves do not.
    EXPECT_EQ(begin("a", "a1"), "new");
    EXPECT_EQ(begin("b", "b1"), "old");
    EXPECT_EQ(begin("c", "c1"), "new");
    EXPECT_EQ(begin("unknown", "u1"), "old");
    report("b", "b1", "unchanged");
    tick();
    EXPECT_EQ(state(id), "moving 0");
    report("a", "a1", "changed", "/x");
    tick();
    EXPECT_EQ(state(id), "moving 1");
    EXPECT_EQ(base(), "old");
    EXPECT_EQ(begin("b", "b2"), "new");
    report("b", "b2", "changed", "/x");
    tick();
    EXPECT_EQ(state(id), "done 1");
    EXPECT_EQ(base(), "new");
    EXPECT_EQ(begin("unknown", "u2"), "new");
    EXPECT_EQ(begin("a", "a2"), "new");
    controller_->stop();  // waits for the webhook
    ASSERT_FALSE(sent_.empty());
    EXPECT_EQ(sent_[0].find("http://hook {\"rollout\":1,\"number\":1,"), 0u);
}

TEST_F(Rollout, BadChangeHaltsAndGoesBack) {
    const auto id = start();
    EXPECT_EQ(begin("a", "a1"), "new");
    report("a", "a1", "failed", "/x");
    tick();
    EXPECT_EQ(state(id), "returning 0");
    EXPECT_EQ(controller_->status(id)->row.reason, "a: File[/x] failed (failed)");
    EXPECT_EQ(begin("b", "b1"), "old");
    // The run under way keeps its version.
    EXPECT_EQ(begin("a", "a2"), "old");
    tick();
    EXPECT_EQ(state(id), "returned 0");
    EXPECT_EQ(base(), "old");
    // Another rollout may start.
    EXPECT_GT(start(), id);
}

TEST_F(Rollout, KnowsWhoseAgentsMayRemoveAfterAReturn) {
    const auto id = start("soak: 0s\nproofs: 1\nrollback: remove\n");
    EXPECT_EQ(begin("a", "a1"), "new");
    EXPECT_FALSE(versions_->has_removals("production", "a"));
    report("a", "a1", "failed", "/x");
    tick();
    EXPECT_EQ(state(id), "returning 0");
    EXPECT_TRUE(versions_->has_removals("production", "a"));
    EXPECT_EQ(begin("a", "a2"), "old");
    tick();
    EXPECT_EQ(state(id), "returned 0");
    EXPECT_EQ(versions_->returned("production", "a"), std::vector<std::int64_t>{id});
    EXPECT_FALSE(versions_->has_removals("production", "b"));
    EXPECT_FALSE(versions_->has_removals("staging", "a"));
    // Without the rule, a later return adds nothing. Earlier failures do not count.
    report("a", "a2", "unchanged");
    const auto other = start();
    EXPECT_EQ(begin("a", "a3"), "new");
    report("a", "a3", "failed", "/x");
    tick();
    EXPECT_EQ(state(other), "returning 0");
    EXPECT_EQ(versions_->returned("production", "a"), std::vector<std::int64_t>{id});
}

TEST(ReturnedNodes, EndAfterTheirTime) {
    ReturnedNodes nodes;
    nodes.environments["production"]["a"] = {.rollouts = {2, 1}, .until = 1000};
    EXPECT_EQ(nodes.rollouts_of("production", "a", 999), (std::vector<std::int64_t>{2, 1}));
    EXPECT_TRUE(nodes.rollouts_of("production", "a", 1000).empty());
    EXPECT_TRUE(nodes.rollouts_of("production", "b", 999).empty());
}

TEST_F(Rollout, UnpredictedChangeHalts) {
    const auto id = start("soak: 0s\nproofs: 1\nback: ask\n");
    EXPECT_EQ(begin("a", "a1"), "new");
    report("a", "a1", "changed", "/other");
    tick();
    EXPECT_EQ(state(id), "halted 0");
    EXPECT_EQ(controller_->status(id)->row.reason,
              "a: File[/other] mode changed, which the plan does not predict (surprising)");
    // The operator accepts it.
    const auto resumed = controller_->command(id, Command::Resume, {.name = "bob"}, std::nullopt);
    ASSERT_TRUE(resumed) << resumed.error().message;
    EXPECT_EQ(state(id), "moving 1");
}

TEST_F(Rollout, RunKeepsItsVersion) {
    EXPECT_EQ(begin("a", "a1"), "old");
    const auto id = start();
    // Requests of the run under way.
    EXPECT_EQ(begin("a", "a1", true), "old");
    EXPECT_EQ(*versions_->current("production", "a"), std::string(kOld));
    // A request that is not the first one of a run does not move the node.
    EXPECT_EQ(begin("a", "a2", true), "old");
    EXPECT_EQ(begin("a", "a3"), "new");
    EXPECT_EQ(begin("a", "a3", true), "new");
    ASSERT_TRUE(controller_->command(id, Command::Back, {.name = "bob"}, std::nullopt));
    EXPECT_EQ(begin("a", "a3", true), "new");
    EXPECT_EQ(*versions_->current("production", "a"), std::string(kNew));
    EXPECT_EQ(begin("a", "a4"), "old");
}

TEST_F(Rollout, AgentsWithoutABeginMoveAfterTheirReport) {
    start();
    const server::NodeRun run{
        .environment = "production", .node = "a", .transaction = "a1", .implied = true};
    EXPECT_EQ(*versions_->current("production", "a"), std::string(kOld));
    versions_->catalog(run);
    EXPECT_EQ(*versions_->current("production", "a"), std::string(kOld));
    versions_->idle({.environment = "production", .node = "a", .transaction = "other"});
    EXPECT_EQ(*versions_->current("production", "a"), std::string(kOld));
    versions_->idle(run);
    EXPECT_EQ(*versions_->current("production", "a"), std::nullopt);
    EXPECT_EQ(begin("a", "", true), "new");
}

TEST_F(Rollout, FirstCatalogAfterTheMoveNamesItsRun) {
    start();
    EXPECT_EQ(begin("a", ""), "new");
    const std::string first = uuid("a1"), second = uuid("a2");
    for (const auto& one : {first, second}) {
        step_clock(0.5);
        ASSERT_TRUE(versions_->reload());
        versions_->catalog({.environment = "production", .node = "a", .transaction = one});
    }
    auto db = service_->reader();
    EXPECT_EQ((*store::node_version(**db, "production", "a"))->transaction, first);
}

TEST_F(Rollout, AgentsWithoutABeginMoveOnlyIfAllServersKnow) {
    StoreVersions other(service_, runtime_, folder_ + "/rollouts2",
                        server::make_local_versions("", log_));
    for (auto* versions : {versions_.get(), &other}) versions->base("production", kOld);
    start();
    acknowledge(0);
    ASSERT_TRUE(versions_->reload());
    const auto request = [](StoreVersions& versions) {
        const server::NodeRun run{
            .environment = "production", .node = "a", .transaction = {}, .implied = true};
        const auto known = *versions.current("production", "a");
        return known ? *known
                     : *versions.begin(
                           run, versions.target("production", "a").value_or(std::string(kOld)));
    };
    const auto finish = [&](std::string_view transaction) {
        const server::NodeRun run{
            .environment = "production", .node = "a", .transaction = transaction, .implied = true};
        versions_->catalog(run);
        versions_->idle(run);
    };
    EXPECT_EQ(request(*versions_), kOld);
    finish("a1");
    // The other server does not know that the node is due, and answers without the store.
    EXPECT_EQ(request(other), kOld);
    acknowledge(other);
    tick();
    // The node is in a run, although the last report that this server got has ended one.
    EXPECT_EQ(request(*versions_), kOld);
    finish("a2");
    // Now all servers know. The run that the other server knows has ended.
    EXPECT_EQ(request(other), kNew);
    EXPECT_EQ(request(*versions_), kNew);
}

TEST_F(Rollout, TryMovesANodeOnlyIfAllServersKnow) {
    StoreVersions other(service_, runtime_, folder_ + "/rollouts2",
                        server::make_local_versions("", log_));
    for (auto* versions : {versions_.get(), &other}) versions->base("production", kOld);
    acknowledge(0, "server1");
    acknowledge(other);
    ASSERT_TRUE(controller_->join());
    const store::NodeTry entry{.certname = "a",
                               .environment = "production",
                               .version = std::string(kNew.substr(0, 6)),
                               .actor = "ann"};
    auto attempt = controller_->set_try(entry, 3600);
    ASSERT_TRUE(attempt) << attempt.error().message;
    EXPECT_EQ(attempt->entry.version, kNew);
    EXPECT_EQ(attempt->waiting, "the server server2");
    // Servers pass the target of the node.
    const auto asked =
        versions_->begin({.environment = "production", .node = "a", .transaction = "a0"},
                         versions_->target("production", "a").value_or(""));
    ASSERT_TRUE(asked);
    EXPECT_EQ(*asked, kOld);
    EXPECT_EQ(begin("a", "a1"), "old");
    acknowledge(other);
    // The run under way keeps its version.
    EXPECT_EQ(begin("a", "a1", true), "old");
    EXPECT_EQ(begin("a", "a2"), "new");
    // The other server finds what this one has stored.
    EXPECT_EQ(**other.current("production", "a"), kNew);
    // The same try again changes only its time.
    attempt = controller_->set_try(entry, 60);
    ASSERT_TRUE(attempt);
    EXPECT_EQ(attempt->waiting, "");
    // It ends by the clock of the store, and only if all servers know that it has ended.
    sql("UPDATE node_tries SET ends = 1");
    tick();
    EXPECT_EQ(begin("a", "a3"), "new");
    EXPECT_EQ(begin("b", "b1"), "old");
    acknowledge(other);
    EXPECT_EQ(begin("a", "a4"), "old");
    EXPECT_EQ(**other.current("production", "a"), kOld);
}

TEST_F(Rollout, TryOfAnAgentWithoutABeginMovesAfterAReport) {
    StoreVersions other(service_, runtime_, folder_ + "/rollouts2",
                        server::make_local_versions("", log_));
    for (auto* versions : {versions_.get(), &other}) versions->base("production", kOld);
    acknowledge(0, "server1");
    acknowledge(other);
    ASSERT_TRUE(controller_->join());
    const auto request = [](StoreVersions& versions) {
        const server::NodeRun run{
            .environment = "production", .node = "a", .transaction = {}, .implied = true};
        const auto known = *versions.current("production", "a");
        return known ? *known
                     : *versions.begin(
                           run, versions.target("production", "a").value_or(std::string(kOld)));
    };
    const auto finish = [&](std::string_view transaction) {
        const server::NodeRun run{
            .environment = "production", .node = "a", .transaction = transaction, .implied = true};
        versions_->catalog(run);
        versions_->idle(run);
    };
    EXPECT_EQ(request(*versions_), kOld);
    ASSERT_TRUE(controller_->set_try({.certname = "a",
                                      .environment = "production",
                                      .version = std::string(kNew),
                                      .actor = "ann"},
                                     3600));
    finish("a1");
    // The run that follows begins with a server that does not know the try.
    EXPECT_EQ(request(other), kOld);
    EXPECT_EQ(request(*versions_), kOld);
    acknowledge(other);
    EXPECT_EQ(request(*versions_), kOld);
    finish("a2");
    EXPECT_EQ(request(other), kNew);
    EXPECT_EQ(request(*versions_), kNew);
}

TEST_F(Rollout, RefusesATryOfAVersionThatDoesNotExist) {
    const auto attempt = controller_->set_try(
        {.certname = "a", .environment = "production", .version = "cccccc", .actor = "ann"}, 60);
    ASSERT_FALSE(attempt);
    EXPECT_EQ(attempt.error().code, kNotFound);
    EXPECT_TRUE(versions_->table().environments.empty());
}

TEST_F(Rollout, SurvivesRestarts) {
    const auto id = start();
    EXPECT_EQ(begin("a", "a1"), "new");
    open();
    EXPECT_EQ(*versions_->current("production", "a"), std::string(kNew));
    EXPECT_EQ(*versions_->current("production", "b"), std::string(kOld));
    report("a", "a1", "failed", "/x");
    open();
    tick();
    EXPECT_EQ(state(id), "returning 0");
    open();
    EXPECT_EQ(begin("a", "a2"), "old");
    tick();
    EXPECT_EQ(state(id), "returned 0");
}

TEST_F(Rollout, RefusesStalePlans) {
    write(fmt::format("envs/.bunraku/production/{}/rollout.yaml", kNew), "soak: 1s\n");
    const auto stale = [&](const std::string& text) {
        const auto started = controller_->start(text, {.name = "ann"});
        EXPECT_FALSE(started);
        return started ? std::string()
                       : fmt::format("{} {}", started.error().code, started.error().message);
    };
    EXPECT_EQ(stale(plan("soak: 0s\n")), "412 The plan is stale: rollout.yaml has changed");
    write(fmt::format("envs/.bunraku/production/{}.json", kNew), R"({"commit":"b","files":"g"})");
    EXPECT_EQ(stale(plan("soak: 1s\n")),
              "412 The plan is stale: the files of a version have changed");
    fs::remove_all(fmt::format("{}/envs/.bunraku/production/{}", folder_, kNew));
    EXPECT_EQ(stale(plan("soak: 1s\n")).find("400 There is no version"), 0u);
    EXPECT_EQ(stale("{}").find("400 The plan"), 0u);
}

TEST_F(Rollout, DoesNotWaitForAWebhook) {
    std::mutex mutex;
    std::condition_variable changed;
    int calls = 0;
    bool free = false;
    hook_ = [&] {
        std::unique_lock lock(mutex);
        ++calls;
        changed.notify_all();
        changed.wait(lock, [&] { return free; });
    };
    const auto id = start("soak: 0s\nproofs: 1\nwebhook: http://hook\n");
    {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return calls > 0; });
    }
    // The webhook does not answer. Passes, commands and reads go on.
    tick();
    EXPECT_EQ(state(id), "moving 0");
    ASSERT_TRUE(controller_->command(id, Command::Pause, {.name = "ann"}, std::nullopt));
    EXPECT_EQ(state(id), "paused 0");
    {
        const std::lock_guard lock(mutex);
        EXPECT_EQ(calls, 1);
        free = true;
    }
    changed.notify_all();
    controller_->stop();
    EXPECT_EQ(sent_.size(), 2u);  // start and move; the next pass would send the pause
}

TEST_F(Rollout, WaitsForACheck) {
    const std::string gate = folder_ + "/gate";
    const auto id = start(fmt::format(
        "soak: 0s\nproofs: 1\ncheck: {{command: [/bin/sh, -c, 'while ! test -e {0}; do sleep 0.01; "
        "done; exit $(cat {0})']}}\n",
        gate));
    EXPECT_EQ(begin("a", "a1"), "new");
    report("a", "a1", "changed", "/x");
    tick();
    EXPECT_EQ(state(id), "soaking 0");
    EXPECT_EQ(controller_->status(id)->waiting, "the check /bin/sh");
    tick();
    EXPECT_EQ(state(id), "soaking 0");
    write("gate.new", "1");
    fs::rename(gate + ".new", gate);
    while (state(id) == "soaking 0") tick();
    EXPECT_EQ(state(id), "returning 0");
    EXPECT_EQ(controller_->status(id)->row.reason, "The check /bin/sh failed");
}

TEST_F(Rollout, RefusesAPlanIfFactsOfACanaryHaveChanged) {
    facts("a", R"({"os":"one","serial":1})");
    facts("a", R"({"os":"one","serial":2})");
    facts("a", R"({"os":"one","serial":3})");
    facts("b", R"({"os":"one"})");
    made_ = stamp();
    write(fmt::format("envs/.bunraku/production/{}/rollout.yaml", kNew), "soak: 0s\n");
    // A fact that changes often does not count, and only canaries do.
    facts("a", R"({"os":"one","serial":4})");
    facts("b", R"({"os":"two"})");
    facts("a", R"({"os":"two","serial":5})");
    const auto started = controller_->start(plan("soak: 0s\n"), {.name = "ann"});
    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().code, kStale);
    EXPECT_EQ(started.error().message, "The plan is stale: facts of the canary a have changed: os");
    made_ = stamp();
    EXPECT_TRUE(controller_->start(plan("soak: 0s\n"), {.name = "ann"}));
}

TEST_F(Rollout, CatalogsOfAnEarlierRolloutAreNoHistory) {
    catalog("a", {{"/x", "0644"}, {"/y", "0644"}});
    made_ = stamp();
    EXPECT_EQ(begin("a", "01"), "old");
    report("a", "01", "unchanged");
    for (const std::string number : {"1", "2"}) {
        const auto id = start("soak: 0s\nproofs: 1\n");
        EXPECT_EQ(begin("a", number + "1"), "new");
        catalog("a", {{"/x", "0600"}, {"/y", "0777"}});
        report("a", number + "1", "changed", "/x");
        tick();
        EXPECT_EQ(
            verdict(id, "a"),
            "unplanned File[/y] mode changed in the catalog, which the plan does not predict");
        EXPECT_EQ(begin("a", number + "2"), "old");
        catalog("a", {{"/x", "0644"}, {"/y", "0644"}});
        report("a", number + "2", "changed", "/x");
        tick();
        EXPECT_EQ(state(id), "returned 0");
    }
}

TEST_F(Rollout, FindsCatalogsThatThePlanDoesNotPredict) {
    catalog("a", {{"/x", "0644"}, {"/y", "0644"}});
    catalog("b", {{"/x", "0644"}});
    made_ = stamp();
    for (const auto* node : {"a", "b"}) {
        EXPECT_EQ(begin(node, "01"), "old");
        report(node, "01", "unchanged");
    }
    const auto id = start("soak: 0s\nproofs: 1\n");
    EXPECT_EQ(begin("a", "a1"), "new");
    catalog("a", {{"/x", "0600"}, {"/y", "0644"}});
    tick();
    EXPECT_EQ(state(id), "moving 0");
    report("a", "a1", "changed", "/x");
    tick();
    EXPECT_EQ(state(id), "moving 1");
    EXPECT_EQ(begin("b", "b1"), "new");
    catalog("b", {{"/x", "0600"}, {"/z", "0644"}});
    report("b", "b1", "changed", "/x");
    tick();
    EXPECT_EQ(verdict(id, "b"),
              "unplanned File[/z] was added in the catalog, which the plan does not predict");
}

TEST_F(Rollout, ComparesTheCatalogOfACanaryBeforeItsReport) {
    catalog("a", {{"/x", "0644"}, {"/y", "0644"}});
    made_ = stamp();
    EXPECT_EQ(begin("a", "01"), "old");
    report("a", "01", "unchanged");
    const auto id = start("soak: 0s\nproofs: 1\nback: ask\n");
    EXPECT_EQ(begin("a", "a1"), "new");
    catalog("a", {{"/x", "0600"}, {"/y", "0777"}});
    tick();
    EXPECT_EQ(state(id), "halted 0");
    EXPECT_EQ(verdict(id, "a"),
              "unplanned File[/y] mode changed in the catalog, which the plan does not predict");
}

TEST_F(Rollout, DoesNotCompareACatalogIfFactsHaveChanged) {
    catalog("a", {{"/x", "0644"}});
    facts("a", R"({"os":"one"})");
    made_ = stamp();
    EXPECT_EQ(begin("a", "01"), "old");
    report("a", "01", "unchanged");
    const auto id = start("soak: 0s\nproofs: 1\n");
    EXPECT_EQ(begin("a", "a1"), "new");
    facts("a", R"({"os":"two"})");
    catalog("a", {{"/x", "0600"}, {"/y", "0777"}});
    report("a", "a1", "changed", "/x");
    tick();
    EXPECT_EQ(state(id), "moving 1");
    EXPECT_EQ(verdict(id, "a"), "proved Facts have changed since the plan: os");
}

TEST_F(Rollout, SaysThatTheStoreCannotWrite) {
    const auto id = start();
    EXPECT_EQ(begin("a", "a1"), "new");
    report("a", "a1", "changed", "/x");
    ASSERT_TRUE(service_->with_writer([&](store::Writer& writer) {
        return writer.db().execute(
            "CREATE TRIGGER full BEFORE UPDATE ON rollouts BEGIN SELECT RAISE(ABORT, 'disk is "
            "full'); END");
    }));
    tick();
    EXPECT_EQ(state(id), "moving 0");
    EXPECT_NE(controller_->status(id)->waiting.find("the store: "), std::string::npos);
    ASSERT_TRUE(service_->with_writer(
        [&](store::Writer& writer) { return writer.db().execute("DROP TRIGGER full"); }));
    tick();
    EXPECT_EQ(state(id), "moving 1");
    EXPECT_EQ(controller_->status(id)->waiting,
              "the nodes of the wave to be proved; not moved yet: b");
}

TEST_F(Rollout, HaltedRolloutMovesNoFurtherNode) {
    const auto id = start();
    EXPECT_EQ(begin("c", "c1"), "new");
    const auto order = [&](Command command) {
        return controller_->command(id, command, {.name = "ann"}, std::nullopt).has_value();
    };
    ASSERT_TRUE(order(Command::HaltAndHold));
    EXPECT_EQ(begin("c", "c2"), "new");
    EXPECT_EQ(begin("a", "a1"), "old");
    ASSERT_TRUE(order(Command::Resume));
    EXPECT_EQ(begin("a", "a2"), "new");
}

TEST_F(Rollout, HaltsIfItsVersionIsDeleted) {
    const auto id = start();
    EXPECT_EQ(begin("a", "a1"), "new");
    fs::remove_all(fmt::format("{}/envs/.bunraku/production/{}", folder_, kNew));
    tick();
    EXPECT_EQ(state(id), "returning 0");
    const auto reason = fmt::format("The version {} does not exist any more on the server ", kNew);
    EXPECT_EQ(controller_->status(id)->row.reason, reason + "server1");
    EXPECT_EQ(begin("a", "a2"), "old");
    tick();
    EXPECT_EQ(state(id), "returned 0");
}

TEST_F(Rollout, HaltsIfAnotherServerLacksItsVersion) {
    acknowledge(0, "server1");
    acknowledge(0);
    const auto id = start();
    EXPECT_EQ(state(id), "waiting 0");
    acknowledge(versions_->table().epoch);
    tick();
    EXPECT_EQ(state(id), "moving 0");
    acknowledge(versions_->table().epoch);
    EXPECT_EQ(begin("a", "a1"), "new");  // without a moved node, the return ends at once
    sql("UPDATE rollout_servers SET versions = '{}' WHERE server = 'server2'");
    tick();
    EXPECT_EQ(state(id), "returning 0");
    EXPECT_EQ(controller_->status(id)->row.reason,
              fmt::format("The version {} does not exist any more on the server server2", kNew));
}

TEST_F(Rollout, HaltsIfAllNodesOfASmallWaveAreBad) {
    const auto id = start();
    EXPECT_EQ(begin("a", "a1"), "new");
    report("a", "a1", "changed", "/x");
    tick();
    EXPECT_EQ(state(id), "moving 1");
    EXPECT_EQ(begin("b", "b1"), "new");
    report("b", "b1", "failed", "/x");
    tick();
    EXPECT_EQ(state(id), "returning 1");
    EXPECT_EQ(controller_->status(id)->row.reason, "b: File[/x] failed (failed)");
}

TEST_F(Rollout, FindsASilentCanaryAcrossRestarts) {
    const auto id = start();
    EXPECT_EQ(begin("a", "a1"), "new");
    const auto hours_ago = [&](std::string_view table, std::string_view column, double hours) {
        sql(fmt::format("UPDATE {} SET {} = {}", table, column,
                        sys::machine().now_ms() - static_cast<std::int64_t>(hours * 3'600'000)));
    };
    hours_ago("rollouts", "started", 6);
    hours_ago("node_versions", "since", 4);
    hours_ago("reports", "receive_time", 5);
    // No server was seen for two and a half hours, so the node was silent for one and a half.
    hours_ago("rollout_servers", "seen", 2.5);
    open();
    ASSERT_TRUE(controller_->join());
    tick();
    EXPECT_EQ(state(id), "moving 0");
    EXPECT_EQ(events(id), "start why;move;away A server did not reach the store for 150 minutes;");
    // An hour more, in which the server was there but has started again.
    hours_ago("node_versions", "since", 5);
    open();
    tick();
    EXPECT_EQ(state(id), "returning 0");
    EXPECT_EQ(controller_->status(id)->row.reason, "a: No report came (silent)");
    EXPECT_EQ(events(id),
              "start why;move;away A server did not reach the store for 150 minutes;"
              "halt a: No report came (silent);back a: No report came (silent);");
}

TEST_F(Rollout, DoesNotWaitForNodesThatAreAbsent) {
    const auto id = start();
    submit(store::CommandKind::DeactivateNode, 3, "b",
           fmt::format(R"({{"certname":"b","producer_timestamp":"{}"}})",
                       bunraku::catalog::format_wire_time(stamp())));
    EXPECT_EQ(begin("a", "a1"), "new");
    report("a", "a1", "changed", "/x");
    tick();
    // No node is left in wave 1 that could prove the change.
    EXPECT_EQ(state(id), "moving 1");
    tick();
    EXPECT_EQ(state(id), "moving 1");
    // The node returns.
    EXPECT_EQ(begin("b", "b1"), "new");
    report("b", "b1", "changed", "/x");
    tick();
    EXPECT_EQ(state(id), "done 1");
}

TEST_F(Rollout, NodeMayRunInAnotherEnvironment) {
    const auto id = start();
    EXPECT_EQ(begin("a", "a1"), "new");
    report("a", "a1", "changed", "/x", "testing");
    tick();
    // This run proves nothing.
    EXPECT_EQ(state(id), "moving 0");
    EXPECT_EQ(verdict(id, "a"), " ");
    report("a", "a2", "failed", "/x", "testing");
    tick();
    EXPECT_EQ(state(id), "moving 0");
    // A return does not wait for the node either.
    ASSERT_TRUE(controller_->command(id, Command::Back, {.name = "ann"}, std::nullopt));
    EXPECT_EQ(state(id), "returned 0");
    EXPECT_EQ(begin("a", "a3"), "old");
}

TEST_F(Rollout, RefusesASecondRolloutOfAnEnvironment) {
    start();
    const std::string rules = "soak: 0s\nproofs: 1\n";
    const auto second = controller_->start(plan(rules), {.name = "bob"});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, kConflict);
    EXPECT_EQ(second.error().message,
              "The environment 'production' has a rollout that is not finished");
}

TEST_F(Rollout, EnvironmentsMayShareNodes) {
    const auto id = start();
    fs::copy(folder_ + "/envs/.bunraku/production", folder_ + "/envs/.bunraku/testing",
             fs::copy_options::recursive);
    fs::create_symlink(fmt::format(".bunraku/testing/{}", kOld), folder_ + "/envs/testing");
    std::string text = plan("soak: 0s\nproofs: 1\n");
    const std::string_view name = R"("production")";
    const auto at = text.find(name);
    ASSERT_NE(at, std::string::npos);
    const auto unknown = controller_->start(
        std::string(text).replace(at, name.size(), R"("staging")"), {.name = "ann"});
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().code, kInvalid);
    EXPECT_EQ(unknown.error().message, "There is no environment 'staging'");
    text.replace(at, name.size(), R"("testing")");
    const auto other = controller_->start(text, {.name = "ann"});
    ASSERT_TRUE(other) << other.error().message;
    // A bad run in one environment says nothing about the other.
    EXPECT_EQ(begin("a", "a1"), "new");
    report("a", "a1", "failed", "/x");
    tick();
    EXPECT_EQ(state(id), "returning 0");
    EXPECT_EQ(state(other->row.id), "moving 0");
    EXPECT_EQ(versions_->target("production", "a"), kOld);
    EXPECT_EQ(versions_->target("testing", "a"), kNew);
}

TEST_F(Rollout, HaltWhileItGoesBackChangesNothing) {
    const auto id = start();
    EXPECT_EQ(begin("a", "a1"), "new");
    ASSERT_TRUE(controller_->command(id, Command::Back, {.name = "ann"}, std::nullopt));
    const auto before = controller_->status(id)->row.sequence;
    for (const auto command : {Command::Halt, Command::HaltAndHold, Command::Back}) {
        const auto again = controller_->command(id, command, {.name = "bob"}, std::nullopt);
        ASSERT_FALSE(again);
        EXPECT_EQ(again.error().code, kConflict);
        EXPECT_EQ(again.error().message, "The rollout is going back already");
    }
    const auto resumed = controller_->command(id, Command::Resume, {.name = "bob"}, std::nullopt);
    ASSERT_FALSE(resumed);
    EXPECT_EQ(resumed.error().message, "A rollout that is returning cannot resume");
    EXPECT_EQ(controller_->status(id)->row.sequence, before);
    EXPECT_EQ(begin("a", "a2"), "old");
}

TEST_F(Rollout, WaitsForAServerThatDoesNotKnowTheRollout) {
    // It was seen long ago. Without the rollout in its table, it has no lease that could have
    // ended.
    acknowledge(0, "server1");
    acknowledge(0);
    sql("UPDATE rollout_servers SET seen = 1 WHERE server = 'server2'");
    const auto id = start();
    EXPECT_EQ(state(id), "waiting 0");
    EXPECT_EQ(controller_->status(id)->waiting, "the server server2");
    // One that knows it delays a wave only until its lease has ended.
    acknowledge(versions_->table().epoch);
    tick();
    EXPECT_EQ(state(id), "moving 0");
    EXPECT_EQ(begin("a", "a1"), "old");
    pass_minutes(59);
    EXPECT_EQ(begin("a", "a2"), "old");
    pass_minutes(2);
    EXPECT_EQ(begin("a", "a3"), "new");
}

TEST_F(Rollout, LeasesDoNotEndByAStepOfTheClock) {
    acknowledge(0, "server1");
    acknowledge(0);
    const auto id = start();
    acknowledge(versions_->table().epoch);
    tick();
    EXPECT_EQ(state(id), "moving 0");
    // The other server does not know yet that the wave has moved.
    for (const double hours : {2.0, 24.0, -48.0, 30.0}) {
        step_clock(hours);
        EXPECT_EQ(begin("a", "a1"), "old");
        pass_minutes(2);
        EXPECT_EQ(begin("a", "a2"), "old");
    }
    // Nor does it matter for how long this server hung.
    runtime_.ahead_ns += std::chrono::nanoseconds(std::chrono::hours(5)).count();
    tick();
    EXPECT_EQ(begin("a", "a3"), "old");
    acknowledge(versions_->table().epoch);
    EXPECT_EQ(begin("a", "a4"), "new");
}

TEST_F(Rollout, StepOfTheClockIsNoSilence) {
    const auto id = start();
    EXPECT_EQ(begin("a", "a1"), "new");
    step_clock(24);
    // Another server sees the step first, and records it before it acknowledges the table.
    Controller other({.service = service_,
                      .versions = versions_,
                      .deployed = Deployed(system_.system(), {folder_ + "/envs"}),
                      .system = system_.system(),
                      .runtime = runtime_,
                      .log = log_,
                      .counters = counters_,
                      .server = "server1",
                      .send = {}});
    ASSERT_TRUE(other.join());
    tick();
    EXPECT_EQ(events(id), "start why;move;away A server did not reach the store for 1440 minutes;");
    EXPECT_EQ(verdict(id, "a"), " ");
    EXPECT_EQ(state(id), "moving 0");
}

TEST_F(Rollout, FindsASilentNodeAfterAStepBack) {
    const auto id = start();
    EXPECT_EQ(begin("a", "a1"), "new");
    step_clock(-24);
    pass_minutes(60);
    EXPECT_EQ(verdict(id, "a"), " ");
    pass_minutes(2);
    EXPECT_EQ(verdict(id, "a"), "silent No report came");
}

TEST_F(Rollout, ReturnWaitsForAllLostNodesAtOnce) {
    const auto id = start();
    EXPECT_EQ(begin("a", "a1"), "new");
    report("a", "a1", "changed", "/x");
    tick();
    ASSERT_EQ(state(id), "moving 1");
    EXPECT_EQ(begin("b", "b1"), "new");
    ASSERT_TRUE(controller_->command(id, Command::Back, {.name = "ann"}, std::nullopt));
    pass_minutes(119);
    EXPECT_EQ(state(id), "returning 1");
    pass_minutes(2);
    EXPECT_EQ(state(id), "returned 1");
    EXPECT_EQ(controller_->status(id)->row.reason,
              "2 nodes do not run any more and still have the new version");
}

TEST_F(Rollout, NodesOfAServerThatHangsAreNotSilent) {
    const auto id = start_with_another_server();
    // The other server gets the reports of the node, and hangs from now on.
    pass_minutes(115);
    EXPECT_EQ(verdict(id, "a"), " ");
    // An hour after its lease has ended, the node counts as silent.
    pass_minutes(15);
    EXPECT_EQ(verdict(id, "a"), "silent No report came");
}

TEST_F(Rollout, NodesHaveNewTimeAfterAServerThatHung) {
    const auto id = start_with_another_server();
    pass_minutes(115);
    // The other server continues, and records for how long it was away.
    const auto row = controller_->status(id)->row;
    const auto recorded = service_->with_writer([&](store::Writer& writer) {
        return add_outage(writer, row, {.from = row.started, .until = row.started + 3'600'000});
    });
    ASSERT_TRUE(recorded);
    pass_minutes(60);
    EXPECT_EQ(verdict(id, "a"), " ");
    pass_minutes(2);
    EXPECT_EQ(verdict(id, "a"), "silent No report came");
}

TEST_F(Rollout, RunsAfterAStepBackAreNoHistory) {
    const auto id = start();
    EXPECT_EQ(begin("a", "a1"), "new");
    // The clock steps back by three hours. All later reports have earlier times than the move.
    sql("UPDATE node_versions SET since = since + 10800000");
    report("a", "a1", "failed", "/x");
    tick();
    EXPECT_EQ(verdict(id, "a"), "failed File[/x] failed");
    EXPECT_EQ(state(id), "returning 0");
}

/// What a node changed because it moved and returned is no habit.
TEST_F(Rollout, RunsOfAnEarlierRolloutAreNoHistory) {
    for (const std::string_view attempt : {"1", "2"}) {
        const auto run = [&](std::string_view number) {
            return fmt::format("{}{}", attempt, number);
        };
        const auto id = start("soak: 0s\nproofs: 2\n");
        EXPECT_EQ(begin("a", run("1")), "new");
        report("a", run("1"), "changed", "/x");
        EXPECT_EQ(begin("a", run("2")), "new");
        report("a", run("2"), "changed", "/x");
        tick();
        EXPECT_EQ(verdict(id, "a"), "restless File[/x] mode changed again");
        EXPECT_EQ(begin("a", run("3")), "old");
        report("a", run("3"), "changed", "/x");
        tick();
        EXPECT_EQ(state(id), "returned 0");
    }
}

TEST_F(Rollout, CorrectionsBeforeTheMoveAreNoHabit) {
    for (const std::string_view before : {"a1", "a2", "a3"})
        report("a", before, "corrected", "/other");
    const auto id = start();
    EXPECT_EQ(begin("a", "a4"), "new");
    report("a", "a4", "changed", "/other");
    tick();
    EXPECT_EQ(verdict(id, "a"),
              "surprising File[/other] mode changed, which the plan does not predict");
}

TEST_F(Rollout, SoaksForItsTimeInSpiteOfStepsOfTheClock) {
    const auto id = start("soak: 10m\nproofs: 1\n");
    EXPECT_EQ(begin("a", "a1"), "new");
    report("a", "a1", "changed", "/x");
    tick();
    const auto position = [&] { return controller_->status(id)->row.state; };
    ASSERT_EQ(position(), "soaking");
    step_clock(5);
    tick();
    EXPECT_EQ(position(), "soaking");
    step_clock(-24);
    pass_minutes(9);
    EXPECT_EQ(position(), "soaking");
    pass_minutes(1);
    EXPECT_EQ(position(), "moving");
}

TEST_F(Rollout, ServerSwitchesAfterARolloutThatItMissed) {
    acknowledge(0, "server1");
    const auto id = start();
    const auto epoch = versions_->table().epoch;
    tick();
    ASSERT_TRUE(controller_->command(id, Command::Finish, {.name = "ann"}, std::nullopt));
    tick();
    ASSERT_EQ(state(id), "done 0");
    EXPECT_EQ(base(), "new");
    // Another server hung, so this one did not wait for it, and its link has not moved.
    const auto link = folder_ + "/envs/production";
    const auto use = [&](std::string_view version) {
        fs::remove(link);
        fs::create_symlink(fmt::format(".bunraku/production/{}", version), link);
    };
    use(kOld);
    sql(fmt::format("UPDATE rollout_servers SET epoch = {} WHERE server = 'server1'", epoch));
    open();
    ASSERT_TRUE(controller_->join());
    EXPECT_EQ(base(), "new");
    // What an operator does later stays.
    use(kOld);
    open();
    ASSERT_TRUE(controller_->join());
    EXPECT_EQ(base(), "old");
}

TEST_F(Rollout, ReturnDoesNotWaitForANodeWithATry) {
    const auto id = start();
    EXPECT_EQ(begin("a", "a1"), "new");
    ASSERT_TRUE(controller_->set_try({.certname = "b",
                                      .environment = "production",
                                      .version = std::string(kNew),
                                      .actor = "ann"},
                                     3600));
    EXPECT_EQ(begin("b", "b1"), "new");
    report("b", "b1", "failed", "/x");
    report("a", "a1", "failed", "/x");
    tick();
    EXPECT_EQ(state(id), "returning 0");
    EXPECT_EQ(begin("a", "a2"), "old");
    report("a", "a2", "changed", "/x");
    tick();
    EXPECT_EQ(state(id), "returned 0");
    EXPECT_EQ(begin("b", "b2"), "new");
}

TEST_F(Rollout, WaitsForApprovals) {
    const auto id = start("soak: 0s\nproofs: 1\napprove: [0]\napprove_by: other\n");
    EXPECT_EQ(state(id), "waiting 0");
    EXPECT_EQ(controller_->status(id)->waiting, "an approval of wave 0");
    EXPECT_EQ(begin("a", "a1"), "old");
    const auto own = controller_->approve(id, {.name = "ann"}, std::nullopt);
    ASSERT_FALSE(own);
    EXPECT_EQ(own.error().code, kForbidden);
    EXPECT_EQ(controller_->approve(id, {.name = "bob"}, 77).error().code, kConflict);
    ASSERT_TRUE(controller_->approve(id, {.name = "bob"}, std::nullopt));
    EXPECT_EQ(state(id), "moving 0");
}

TEST_F(Rollout, WaitsForOtherServers) {
    // Another server has registered, and does not know the rollout yet.
    ASSERT_TRUE(service_->with_writer([&](store::Writer& writer) {
        return store::acknowledge_epoch(
            writer,
            {.server = "server2", .epoch = 0, .seen = sys::machine().now_ms(), .versions = "{}"});
    }));
    const auto id = start();
    EXPECT_EQ(state(id), "waiting 0");
    EXPECT_EQ(controller_->status(id)->waiting, "the server server2");
    ASSERT_TRUE(service_->with_writer([&](store::Writer& writer) -> base::Result<void> {
        BUNRAKU_TRY(store::forget_server(writer, "server2"));
        return {};
    }));
    tick();
    EXPECT_EQ(state(id), "moving 0");
}

TEST_F(Rollout, PausesIfTheEnvironmentIsSwitchedElsewhere) {
    const auto id = start();
    ASSERT_TRUE(controller_->options().deployed.use("production", kNew));
    tick();
    EXPECT_EQ(state(id), "paused 0");
    ASSERT_TRUE(controller_->command(id, Command::Finish, {.name = "ann"}, std::nullopt));
    EXPECT_EQ(state(id), "done 0");
}

TEST_F(Rollout, RunOfANodeThatHasNotMovedKeepsItsVersionAfterTheRollout) {
    const auto id = start();
    ASSERT_TRUE(controller_->options().deployed.use("production", kNew));
    tick();
    ASSERT_TRUE(controller_->command(id, Command::Finish, {.name = "ann"}, std::nullopt));
    EXPECT_EQ(state(id), "done 0");
    // The run may have begun with another server.
    EXPECT_EQ(*versions_->current("production", "b"), std::string(kOld));
    EXPECT_EQ(begin("b", "b1"), "new");
    EXPECT_EQ(*versions_->current("production", "b"), std::string(kNew));
}

}  // namespace
}  // namespace bunraku::rollout
