// SPDX-License-Identifier: Apache-2.0
#include "sim/rollout_site.h"

#include <algorithm>
#include <array>
#include <deque>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <optional>
#include <set>

#include "core/base/diagnostic.h"
#include "core/codec/json_text.h"
#include "core/sys/system.h"
#include "resources/catalog/wire_time.h"
#include "services/rollout/controller.h"
#include "services/rollout/waves.h"
#include "sim/machine.h"
#include "store/db/command.h"

namespace bunraku::sim {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using namespace rollout;

/// What the new version does.
enum class Kind : std::uint8_t {
    Good,
    FailsToCompile,
    FailsOnTheNode,
    FailsOnOneOs,
    Unpredicted,
    NotIdempotent,
    KillsTheAgent,
    BreaksTheSecondRun,
};
constexpr std::array<std::string_view, 8> kKinds = {"good",
                                                    "fails to compile",
                                                    "fails on the node",
                                                    "fails on one OS",
                                                    "changes something unpredicted",
                                                    "not idempotent",
                                                    "kills the agent",
                                                    "breaks the second run"};
Kind kind_of(std::uint64_t seed) { return static_cast<Kind>(seed % kKinds.size()); }

constexpr std::string_view kEnvironment = "production", kOld = "aaaaaaaaaaaa-0000000000000001",
                           kNew = "bbbbbbbbbbbb-0000000000000002";
constexpr std::string_view kRules = "soak: 30m\n";
constexpr sys::Duration kPass = 60s;
/// Seeds above this one have further faults.
constexpr std::uint64_t kFirstFaults = 10'000;

class Site {
public:
    Site(const RolloutOptions& options, RolloutFigures& figures)
        : options_(options),
          figures_(figures),
          kind_(kind_of(options.seed)),
          more_faults_(options.faults && options.seed > kFirstFaults),
          root_(fmt::format("{}/{:010}", options.place, options.seed)),
          world_(
              options.seed,
              {.stack_bytes = 2 << 20, .keep_events = options.tell, .reports_file_changes = true}) {
        fs::remove_all(root_);
        fs::create_directories(root_);
        enter_world(&world_, root_);
        disk_ = std::make_unique<HostDisk>(root_ + "/store", world_);
        for (int i = 0; i < options.servers; ++i) make_server(i);
        for (int i = 0; i < options.agents; ++i) {
            Node& node = nodes_.emplace_back();
            node.name = fmt::format("node{:04}.example", i);
            node.os = i % 10 == 3 ? "b" : "a";
            node.begins = i % 4 != 0;
            node.names_its_run = i % 4 == 2;
        }
    }
    ~Site() {
        stop();
        disk_.reset();
        enter_world(nullptr);
        fs::remove_all(root_);
    }

    std::vector<std::string> run() {
        start();
        auto agents = world_.executor({.threads = options_.agents, .name = "agents"});
        auto others = world_.executor({.threads = 6 + options_.servers, .name = "others"});
        for (Node& node : nodes_) agents->post([this, &node] { live(node); });
        for (auto& server : servers_) others->post([this, &server] { control(server); });
        if (options_.faults) others->post([this] { trouble(); });
        if (more_faults_) {
            others->post([this] { hang(); });
            others->post([this] { step_clock(); });
            others->post([this] { fill_disk(); });
            others->post([this] { try_versions(); });
        }
        world_.sleep(5 * interval());
        begin_rollout();
        // A good rollout has five waves, each of some intervals. Faults delay it.
        const auto end = world_.now() + 96 * interval();
        while (world_.now() < end && !closed()) world_.sleep(interval() / 4);
        calm_ = true;
        if (more_faults_) end_faults();
        world_.sleep(2 * interval() + 10min);
        // An agent whose requests do not show the begin of a run moves after a run whose catalog
        // and report came to the same server.
        for (int i = 0; i < 40 && implied_left(); ++i) world_.sleep(interval() / 2);
        check_end();
        ended_ = true;
        agents->stop();
        others->stop();
        for (const auto& line : world_.events()) fmt::print(stderr, "{}\n", line);
        return violations_;
    }

private:
    struct Server {
        int number = 0;
        std::string name, code;
        std::shared_ptr<StoreVersions> versions;
        std::unique_ptr<Controller> controller;
        bool hung = false;     ///< it does not answer, and continues later
        bool avoided = false;  ///< agents use other servers meanwhile
    };
    struct Node {
        std::string name, os;
        bool begins = true;          ///< sends a request with which runs begin
        bool names_its_run = false;  ///< sends its transaction with each request
        bool dead = false;
        std::string version;          ///< of its last run
        std::string catalog_version;  ///< of the last catalog that the store has
        int runs_of_new = 0;
        bool got_new = false;
        bool tried = false;       ///< an operator gave it the new version
        bool has_try = false;     ///< an operator gave it some version
        std::string late_report;  ///< a report that is sent again later
    };

    sys::Duration interval() const { return std::chrono::minutes(options_.interval_minutes); }
    sys::Duration random_time(sys::Duration most) {
        return sys::Duration(world_.random(static_cast<std::uint64_t>(most.count())));
    }
    bool once_in(std::uint64_t n) { return world_.random(n) == 0; }
    void wrong(std::string what) {
        world_.note("WRONG: " + what);
        if (violations_.size() < 10) violations_.push_back(std::move(what));
    }
    std::string uuid() {
        return fmt::format("{:08x}-0000-4000-8000-{:012x}", world_.random(1ULL << 32),
                           world_.random(1ULL << 48));
    }

    // ---- Servers ----

    void make_server(int number) {
        Server& server = servers_.emplace_back();
        server.number = number;
        server.name = fmt::format("server{}", number);
        server.code = fmt::format("{}/code{}", root_, number);
        for (const auto version : {kOld, kNew}) {
            const auto folder = fmt::format("{}/.bunraku/production/{}", server.code, version);
            fs::create_directories(folder);
            std::ofstream(folder + ".json")
                << fmt::format(R"({{"commit":"{}","files":"{}"}})", version.substr(0, 12), version);
            std::ofstream(folder + "/rollout.yaml") << kRules;
        }
        fs::create_symlink(fmt::format(".bunraku/production/{}", kOld),
                           server.code + "/production");
    }

    void start() {
        while (!try_start()) {
            stop();
            disk_->crash_now();
            world_.sleep(10s);
        }
    }
    bool try_start() {
        crashed_ = false;
        store::ServiceOptions options;
        options.database = disk_->folder() + "/store.sqlite3";
        options.queue_folder = disk_->folder() + "/queue";
        options.runtime = &world_;
        options.lifetimes.report_ttl_ms = 0;
        auto service = store::Service::start(std::move(options));
        if (!service) {
            world_.note("the store does not start: " + service.error().message);
            if (!options_.faults) wrong(service.error().message);
            return false;
        }
        service_ = std::move(*service);
        ++starts_;
        for (Server& server : servers_) {
            const std::string state = fmt::format("{}/{}", disk_->folder(), server.name);
            std::error_code ignored;
            fs::create_directories(state, ignored);
            server.versions = std::make_shared<StoreVersions>(
                service_, world_, state + "/rollouts",
                server::make_local_versions(state + "/versions", log_,
                                            [this] { return world_.now(); }));
            server.versions->base(kEnvironment, base_of(server));
            (void)server.versions->reload();
            server.controller = std::make_unique<Controller>(
                ControllerOptions{.service = service_,
                                  .versions = server.versions,
                                  .deployed = Deployed(system_.system(), {server.code}),
                                  .system = system_.system(),
                                  .runtime = world_,
                                  .log = log_,
                                  .counters = counters_,
                                  .server = server.name,
                                  .send = {}});
            // With PostgreSQL, servers register when they start. A later start must not hide for
            // how long no server was seen.
            (void)service_->with_writer([&](store::Writer& writer) -> base::Result<void> {
                for (const auto& known : BUNRAKU_TRY(store::rollout_servers(writer.db())))
                    if (known.server == server.name) return {};
                return store::acknowledge_epoch(
                    writer,
                    {.server = server.name,
                     .epoch = BUNRAKU_TRY(store::rollout_epoch(writer.db())),
                     .seen = world_.now_ms(),
                     .versions = fmt::format(R"({{"production":["{}","{}"]}})", kOld, kNew)});
            });
            (void)server.controller->join();
            server.versions->base(kEnvironment, base_of(server));
        }
        world_.note("the servers are up");
        up_ = !crashed_;
        return up_;
    }
    void stop() {
        up_ = false;
        for (Server& server : servers_) {
            server.controller.reset();
            server.versions.reset();
            server.hung = false;
        }
        if (service_) service_->stop();
        service_.reset();
    }
    static std::string base_of(const Server& server) {
        return fs::read_symlink(server.code + "/production").filename().string();
    }

    /// Runs the controller of a server.
    void control(Server& server) {
        while (!ended_) {
            world_.sleep(kPass);
            if (!up_ || crashed_ || !server.controller || server.hung) continue;
            ++busy_;
            const std::string before = base_of(server);
            if (const auto done = server.controller->tick(); !done)
                world_.note(fmt::format("{}: {}", server.name, done.error().message));
            if (options_.tell) note_position(server);
            const std::string after = base_of(server);
            if (before != after) {
                world_.note(fmt::format("{} switches to {}", server.name, after));
                server.versions->base(kEnvironment, after);
            }
            --busy_;
        }
    }

    /// Adds a note if the rollout has another state or wave than before.
    void note_position(const Server& server) {
        const auto rows = server.controller->list("", store::Which::All);
        if (!rows || rows->empty() || rows->front().sequence <= noted_) return;
        const store::RolloutRow& row = rows->front();
        noted_ = row.sequence;
        world_.note(
            fmt::format("{}: {} wave {}: {}", server.name, row.state, row.wave, row.reason));
    }

    void trouble() {
        while (!ended_ && !calm_) {
            world_.sleep(random_time(5 * interval()));
            if (ended_ || calm_ || !up_) continue;
            if (once_in(3)) {
                restart(servers_[world_.random(servers_.size())]);
                continue;
            }
            ++figures_.crashes;
            disk_->crash_after(1 + world_.random(300), once_in(2), [this] {
                crashed_ = true;
                world_.note("the servers have crashed");
            });
            for (int i = 0; i < 60 && !crashed_; ++i) world_.sleep(10s);
            disk_->crash_now();
            up_ = false;
            while (busy_ > 0) world_.sleep(1s);
            stop();
            // Sometimes they are away longer than nodes may be silent.
            world_.sleep(random_time(once_in(5) ? 4 * interval() : sys::Duration(2min)));
            start();
        }
    }
    /// A server loses its memory.
    void restart(Server& server) {
        up_ = false;
        while (busy_ > 0) world_.sleep(1s);
        world_.note(server.name + " starts again");
        server.controller.reset();
        server.versions.reset();
        stop();
        start();
    }

    // ---- Further faults ----

    bool faulty() const { return !ended_ && !calm_; }

    /// A server hangs for a while, and then continues with its old memory.
    void hang() {
        while (faulty()) {
            world_.sleep(random_time(12 * interval()));
            if (!faulty() || !up_) continue;
            Server& server = servers_[world_.random(servers_.size())];
            server.hung = true;
            server.avoided = once_in(2);
            ++figures_.hangs;
            world_.note(server.name + " hangs");
            world_.sleep(random_time(once_in(3) ? 4 * interval() : sys::Duration(15min)));
            server.hung = false;
            world_.note(server.name + " continues");
        }
    }

    /// The clocks of the servers and of the database step, sometimes also those of the agents.
    void step_clock() {
        while (faulty()) {
            world_.sleep(random_time(16 * interval()));
            if (!faulty()) continue;
            const auto step = random_time(once_in(2) ? sys::Duration(3h) : sys::Duration(2min));
            const auto by = once_in(2) ? step : -step;
            const bool agents_too = once_in(2);
            step_clock(by, agents_too);
            if (once_in(3)) continue;
            world_.sleep(random_time(4 * interval()));
            step_clock(-by, agents_too);
        }
    }
    void step_clock(sys::Duration by, bool agents_too) {
        ++figures_.steps;
        world_.note(fmt::format("the clocks of the servers{} step by {} s",
                                agents_too ? " and agents" : "",
                                std::chrono::duration_cast<std::chrono::seconds>(by).count()));
        world_.step_clock(by);
        if (!agents_too)
            agents_ahead_ms_ -= std::chrono::duration_cast<std::chrono::milliseconds>(by).count();
    }

    void fill_disk() {
        while (faulty()) {
            world_.sleep(random_time(20 * interval()));
            if (!faulty()) continue;
            world_.note("the disk of the store is full");
            ++figures_.full_disks;
            disk_->full = true;
            world_.sleep(random_time(once_in(3) ? 3 * interval() : sys::Duration(10min)));
            disk_->full = false;
            world_.note("the disk has room again");
        }
    }

    /// Operators try versions on single nodes.
    void try_versions() {
        while (faulty()) {
            world_.sleep(random_time(8 * interval()));
            if (!faulty()) continue;
            Node& node = nodes_[world_.random(nodes_.size())];
            if (once_in(4)) {
                (void)end_try(node);
                continue;
            }
            const auto version = once_in(3) ? kOld : kNew;
            const auto seconds = static_cast<std::int64_t>(60 + world_.random(7'200));
            use_server([&](Server& server) {
                node.has_try = true;
                node.tried |= version == kNew;
                const auto done =
                    server.controller->set_try({.certname = node.name,
                                                .environment = std::string(kEnvironment),
                                                .version = std::string(version),
                                                .actor = "operator"},
                                               seconds);
                if (done) ++figures_.tries;
                world_.note(
                    fmt::format("{} tries {} for {} s: {}", node.name, version, seconds,
                                done ? "waits for '" + done->waiting + "'" : done.error().message));
            });
        }
    }
    /// Returns false if the server did not answer.
    bool end_try(const Node& node) {
        bool done = false;
        use_server([&](Server& server) {
            done = server.controller->end_try(kEnvironment, node.name).has_value() && !crashed_;
        });
        return done;
    }
    /// Calls `use` with a server that answers, if the one that is chosen does.
    template <class Use>
    void use_server(const Use& use) {
        Server& server = servers_[world_.random(servers_.size())];
        if (!up_ || crashed_ || server.hung) return;
        ++busy_;
        use(server);
        --busy_;
    }
    void end_faults() {
        disk_->full = false;
        for (Server& server : servers_) server.hung = false;
        for (const Node& node : nodes_)
            while (node.has_try && !end_try(node)) world_.sleep(10s);
    }

    // ---- The rollout ----

    void begin_rollout() {
        Plan plan;
        plan.environment = kEnvironment;
        plan.from = {.version = std::string(kOld), .commit = "a", .files = std::string(kOld)};
        plan.to = {.version = std::string(kNew), .commit = "b", .files = std::string(kNew)};
        plan.rules_text = kRules;
        plan.rules = *read_rules(kRules);
        plan.made = world_.now_ms();
        plan.groups = {
            {.kind = "changed", .reference = "File[/etc/app]", .parameter = "content", .file = "a"},
            {.kind = "changed", .reference = "File[/etc/b]", .parameter = "content", .file = "b"}};
        std::vector<Candidate> candidates;
        for (const Node& node : nodes_) {
            PlannedNode planned{.name = node.name, .verdict = "changed", .groups = {0}};
            if (node.os == "b") planned.groups.push_back(1);
            candidates.push_back({.name = node.name, .kinds = planned.groups, .stratum = node.os});
            plan.nodes.push_back(std::move(planned));
        }
        const std::string seed = fmt::format("{}", options_.seed);
        const auto canaries = choose_canaries(candidates, plan.rules, seed);
        const auto waves = make_waves(candidates, canaries, plan.rules, seed);
        plan.waves = waves.names;
        for (std::size_t i = 0; i < nodes_.size(); ++i) plan.nodes[i].wave = waves.wave[i];
        canaries_ = canaries.size();
        const std::string text = plan_text(plan);
        while (true) {
            if (up_ && !crashed_) {
                ++busy_;
                auto& server = servers_[world_.random(servers_.size())];
                const auto started =
                    server.hung
                        ? base::Result<RolloutStatus>(base::failure("the server hangs"))
                        : server.controller->start(text, {.name = "operator", .reason = ""});
                const auto known = server.controller->list("", store::Which::All);
                const bool exists = known && !known->empty() && !crashed_;
                if (!started) world_.note("start: " + started.error().message);
                --busy_;
                if (exists) return;
            }
            world_.sleep(10s);
        }
    }

    std::optional<store::RolloutRow> row() {
        if (!up_ || crashed_) return std::nullopt;
        ++busy_;
        const auto rows = servers_.front().controller->list("", store::Which::All);
        --busy_;
        if (!rows || rows->empty() || crashed_) return std::nullopt;
        return rows->front();
    }
    bool closed() {
        const auto found = row();
        return found && !found->live;
    }

    // ---- Agents ----

    void live(Node& node) {
        world_.sleep(random_time(interval()));
        while (!ended_) {
            if (!node.dead && (calm_ || !once_in(100))) run(node);
            world_.sleep(interval() - 1min + random_time(2min));
        }
    }

    /// Returns the server to which an agent sends a request.
    Server& any_server() {
        const auto first = world_.random(servers_.size());
        for (std::size_t i = 0; i < servers_.size(); ++i) {
            Server& server = servers_[(first + i) % servers_.size()];
            if (!server.hung || !server.avoided) return server;
        }
        return servers_[first];
    }

    /// Sends one request to some server. Returns the version of the answer; empty if there is none.
    std::string request(const Node& node, std::string_view transaction, bool begins,
                        bool catalog = false) {
        if (!up_ || crashed_) return {};
        Server& server = any_server();
        if (server.hung) {
            // The agent gives up, or the server answers when it continues.
            const auto starts = starts_;
            const auto patience = world_.now() + random_time(5min);
            while (server.hung && world_.now() < patience) world_.sleep(1s);
            if (server.hung || !up_ || crashed_ || starts != starts_) return {};
        }
        ++busy_;
        server::NodeRun run{.environment = kEnvironment,
                            .node = node.name,
                            .transaction = node.names_its_run ? transaction : "",
                            .implied = !begins};
        const auto begin = [&]() -> base::Result<std::string> {
            return server.versions->begin(
                run, server.versions->target(kEnvironment, node.name).value_or(base_of(server)));
        };
        base::Result<std::string> version = std::string();
        if (begins || !run.transaction.empty()) {
            version = begin();
        } else if (auto known = server.versions->current(kEnvironment, node.name); !known) {
            version = std::unexpected(known.error());
        } else {
            version = *known ? base::Result<std::string>(**known) : begin();
        }
        if (catalog && version) {
            run.transaction = transaction;
            server.versions->catalog(run);
        }
        --busy_;
        if (!version) {
            ++figures_.refused;
            world_.note(fmt::format("{}: {}", node.name, version.error().message));
        }
        return version && !crashed_ ? *version : std::string();
    }

    void run(Node& node) {
        ++figures_.runs;
        const auto transaction = uuid();
        const auto started = agent_ms();
        const auto starts = starts_;
        std::string version;
        const int requests = 2 + static_cast<int>(world_.random(4));
        for (int i = 0; i < requests; ++i) {
            const auto answer =
                request(node, transaction, i == 0 && node.begins, i == requests / 2);
            if (answer.empty()) return;  // the server is away
            if (i == 0) version = answer;
            if (answer != version) {
                return wrong(
                    fmt::format("{} got {} and {} in one run ({} starts of servers before, "
                                "{} after)",
                                node.name, version, answer, starts, starts_));
            }
            if (version == kNew && !node.got_new) {
                node.got_new = true;
                world_.note(node.name + " gets the new version");
                if (kind_ != Kind::Good && !node.tried) ++moved_by_bad_;
            }
            if (version == kNew && kind_ == Kind::KillsTheAgent) {
                node.dead = true;
                return;
            }
            world_.sleep(random_time(10s));
        }
        const bool moved = node.version != version;
        node.version = version;
        node.runs_of_new = version == kNew ? node.runs_of_new + 1 : 0;
        const bool compiles = version == kOld || kind_ != Kind::FailsToCompile;
        if (compiles && node.catalog_version != version) {
            if (!submit(store::CommandKind::ReplaceCatalog, 9, node, catalog(node, version)))
                return;
            node.catalog_version = version;
        }
        if (!calm_ && once_in(200)) return;  // the report is lost
        const auto text = report(node, transaction, started, version, moved);
        if (!up_ || crashed_) return;
        Server& receiver = any_server();
        if (receiver.hung) return;
        ++busy_;
        receiver.versions->idle(
            {.environment = kEnvironment, .node = node.name, .transaction = transaction});
        --busy_;
        if (submit(store::CommandKind::StoreReport, 8, node, text)) ++figures_.reports;
        if (once_in(50)) std::swap(node.late_report, const_cast<std::string&>(text));
        if (!node.late_report.empty() && once_in(4)) {
            (void)submit(store::CommandKind::StoreReport, 8, node, node.late_report);
            node.late_report.clear();
        }
    }

    bool submit(store::CommandKind kind, int version, const Node& node, const std::string& body) {
        if (!up_ || crashed_) return false;
        ++busy_;
        store::CommandHeader header;
        header.kind = kind;
        header.version = version;
        header.certname = node.name;
        header.received = world_.now_ms();
        const auto ticket = service_->submit(header, body);
        --busy_;
        return ticket && !crashed_;
    }

    std::string catalog(const Node& node, std::string_view version) const {
        const bool is_new = version == kNew;
        std::string resources;
        const auto add = [&](std::string_view path, std::string_view content,
                             std::string_view mode) {
            resources += fmt::format(
                R"({}{{"type":"File","title":"{}","aliases":[],"exported":false,"file":null,)"
                R"("line":null,"tags":["file"],"parameters":{{"content":"{}","mode":"{}"}}}})",
                resources.empty() ? "" : ",", path, content, mode);
        };
        add("/etc/app", is_new ? "2" : "1", "0644");
        if (node.os == "b") add("/etc/b", is_new ? "2" : "1", "0644");
        add("/etc/other", "1",
            is_new && kind_ == Kind::Unpredicted && options_.seed % 16 >= 8 ? "0600" : "0644");
        return fmt::format(
            R"({{"certname":"{}","version":"1","environment":"production","transaction_uuid":null,)"
            R"("catalog_uuid":null,"code_id":null,"producer_timestamp":"{}","producer":null,)"
            R"("edges":[],"resources":[{}],"job_id":null}})",
            node.name, catalog::format_wire_time(agent_ms()), resources);
    }
    /// Returns the time by the clocks of the agents.
    std::int64_t agent_ms() const {
        return const_cast<sys::Simulation&>(world_).now_ms() + agents_ahead_ms_;
    }

    std::string report(const Node& node, std::string_view transaction, std::int64_t started,
                       std::string_view version, bool moved) {
        struct Event {
            std::string path, property;
            bool failed = false, corrective = false;
        };
        std::vector<Event> events;
        bool cached = false;
        const bool is_new = version == kNew;
        const bool first_ever = node.catalog_version.empty();
        if (moved && !first_ever) {
            events.push_back({"/etc/app", "content"});
            if (node.os == "b") events.push_back({"/etc/b", "content"});
        }
        if (once_in(20)) events.push_back({"/etc/other", "mode", false, true});
        if (is_new) {
            switch (kind_) {
                case Kind::FailsToCompile:
                    cached = true;
                    events.clear();
                    break;
                case Kind::FailsOnTheNode: events.push_back({"/etc/app", "ensure", true}); break;
                case Kind::FailsOnOneOs:
                    if (node.os == "b") events.push_back({"/etc/b", "ensure", true});
                    break;
                case Kind::Unpredicted:
                    if (moved) events.push_back({"/etc/other", "mode"});
                    break;
                case Kind::NotIdempotent:
                    if (!moved) events.push_back({"/etc/app", "content"});
                    break;
                case Kind::BreaksTheSecondRun:
                    if (node.runs_of_new > 1) events.push_back({"/etc/app", "ensure", true});
                    break;
                default: break;
            }
        }
        std::string resources;
        bool failed = false, changed = false;
        const auto now = catalog::format_wire_time(agent_ms());
        for (const Event& event : events) {
            failed |= event.failed;
            changed |= !event.failed;
            resources += fmt::format(
                R"({}{{"resource_type":"File","resource_title":"{}","file":null,"line":null,)"
                R"("timestamp":"{}","skipped":false,"containment_path":[],"corrective_change":{},)"
                R"("events":[{{"status":"{}","timestamp":"{}","property":"{}","name":"x",)"
                R"("new_value":"1","old_value":"0","message":"x","corrective_change":{}}}]}})",
                resources.empty() ? "" : ",", event.path, now, event.corrective,
                event.failed ? "failure" : "success", now, event.property, event.corrective);
        }
        return fmt::format(
            R"({{"certname":"{0}","puppet_version":"8","report_format":12,)"
            R"("configuration_version":"c","start_time":"{1}","end_time":"{2}",)"
            R"("producer_timestamp":"{2}","producer":null,"environment":"production",)"
            R"("transaction_uuid":"{3}","catalog_uuid":null,"code_id":null,"job_id":null,)"
            R"("cached_catalog_status":"{4}","status":"{5}","noop":false,"noop_pending":false,)"
            R"("corrective_change":false,"logs":[],"metrics":[],"resources":[{6}],"type":"agent"}})",
            node.name, catalog::format_wire_time(started), now, transaction,
            cached ? "on_failure" : "not_used",
            failed    ? "failed"
            : changed ? "changed"
                      : "unchanged",
            resources);
    }

    // ---- Invariants ----

    std::string_view last_version() const { return kind_ == Kind::Good ? kNew : kOld; }
    /// Reports whether an agent whose requests do not show the begin of a run has another version
    /// than it shall have in the end.
    bool implied_left() const {
        return std::ranges::any_of(nodes_, [&](const Node& node) {
            return !node.begins && !node.dead && node.version != last_version();
        });
    }

    void check_end() {
        while (!up_) world_.sleep(10s);
        const auto found = row();
        const std::string state = found ? found->state : "unknown";
        const bool good = kind_ == Kind::Good;
        ++(good ? figures_.good : figures_.bad);
        figures_.moved_by_bad += moved_by_bad_;
        figures_.most_moved = std::max(figures_.most_moved, moved_by_bad_);
        if (state != (good ? "done" : "returned"))
            wrong(fmt::format("the rollout is {} ({})", state, found ? found->reason : ""));
        for (const Node& node : nodes_) {
            if (!node.dead && node.version != last_version())
                wrong(fmt::format("{} has the version {} in the end", node.name, node.version));
        }
        for (const Server& server : servers_) {
            if (base_of(server) != last_version())
                wrong(fmt::format("{} has the base {}", server.name, base_of(server)));
        }
        // A lost report may prove a canary. Then the first wave, of at least one node, finds it.
        const auto most = canaries_ + std::max<std::size_t>(1, nodes_.size() / 100);
        if (moved_by_bad_ > most)
            wrong(fmt::format("{} nodes got the bad version, more than {}", moved_by_bad_, most));
    }

    const RolloutOptions options_;
    RolloutFigures& figures_;
    const Kind kind_;
    const bool more_faults_;
    const std::string root_;
    sys::Simulation world_;
    sys::RealSystem system_;
    base::NullSink log_;
    base::Counters counters_;
    std::unique_ptr<HostDisk> disk_;
    std::shared_ptr<store::Service> service_;
    std::deque<Server> servers_;
    std::deque<Node> nodes_;
    std::vector<std::string> violations_;
    std::size_t canaries_ = 0;
    std::uint64_t moved_by_bad_ = 0, starts_ = 0;
    std::int64_t agents_ahead_ms_ = 0;
    std::int64_t noted_ = 0;  ///< the newest sequence number in the notes
    int busy_ = 0;            ///< number of tasks that use the servers
    bool up_ = false, crashed_ = false, calm_ = false, ended_ = false;
};

}  // namespace

void RolloutFigures::add(const RolloutFigures& other) {
    runs += other.runs;
    reports += other.reports;
    crashes += other.crashes;
    refused += other.refused;
    tries += other.tries;
    hangs += other.hangs;
    steps += other.steps;
    full_disks += other.full_disks;
    moved_by_bad += other.moved_by_bad;
    most_moved = std::max(most_moved, other.most_moved);
    good += other.good;
    bad += other.bad;
}

std::string_view change_of_seed(std::uint64_t seed) {
    return kKinds[static_cast<std::size_t>(kind_of(seed))];
}

std::vector<std::string> simulate_rollout(const RolloutOptions& options, RolloutFigures& figures) {
    return Site(options, figures).run();
}

}  // namespace bunraku::sim
