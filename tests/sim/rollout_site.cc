// SPDX-License-Identifier: Apache-2.0
#include "sim/rollout_site.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>

#include "services/rollout/waves.h"
#include "sim/rollout_simulation.h"

namespace bunraku::sim {

using namespace std::chrono_literals;
using namespace rollout;
namespace fs = std::filesystem;

namespace {

Kind kind_of(std::uint64_t seed) { return static_cast<Kind>(seed % kKinds.size()); }

/// Time between two passes of a controller, at least and at most.
constexpr sys::Duration kShortestPass = 10s, kLongestPass = 4min;
/// Seeds above these have further faults, and operators.
constexpr std::uint64_t kFirstFaults = 10'000, kFirstOperators = 20'000;

}  // namespace

Site::Site(const RolloutOptions& options, RolloutFigures& figures)
    : options_(options),
      figures_(figures),
      kind_(kind_of(options.seed)),
      more_faults_(options.faults && options.seed > kFirstFaults),
      operated_(options.seed > kFirstOperators),
      root_(fmt::format("{}/{:010}", options.place, options.seed)),
      world_(options.seed,
             {.stack_bytes = 2 << 20, .keep_events = options.tell, .reports_file_changes = true}),
      last_version_(is_good() ? kNew : kOld) {
    fs::remove_all(root_);
    fs::create_directories(root_);
    enter_world(&world_, root_);
    disk_ = std::make_unique<HostDisk>(root_ + "/store", world_);
    if (operated_) {
        meddles_ = once_in(2);
        if (once_in(2)) rules_ += once_in(2) ? "approve: [1]\n" : "approve: [0, 2]\n";
        if (once_in(3)) rules_ += "approve_by: other\n";
        if (once_in(4)) rules_ += "back: ask\n";
    }
    for (int i = 0; i < options.servers; ++i) make_server(i);
    for (int i = 0; i < options.agents; ++i) {
        Node& node = nodes_.emplace_back();
        node.name = fmt::format("node{:04}.example", i);
        node.os = i % 10 == 3 ? "b" : "a";
        node.begins = i % 4 != 0;
        node.names_its_run = i % 4 == 2;
    }
}

Site::~Site() {
    stop();
    disk_.reset();
    enter_world(nullptr);
    fs::remove_all(root_);
}

std::vector<std::string> Site::run() {
    start();
    auto agents = world_.executor({.threads = options_.agents, .name = "agents"});
    auto others = world_.executor({.threads = 9 + options_.servers, .name = "others"});
    for (Node& node : nodes_) agents->post([this, &node] { live(node); });
    for (auto& server : servers_) others->post([this, &server] { control(server); });
    if (options_.faults) others->post([this] { crash_servers(); });
    if (more_faults_) {
        others->post([this] { hang(); });
        others->post([this] { step_clock(); });
        others->post([this] { fill_disk(); });
        others->post([this] { try_versions(); });
    }
    world_.sleep(5 * interval());
    if (operated_) start_stale_plans();
    begin_rollout();
    if (operated_) {
        others->post([this] { decide(); });
        others->post([this] { meddle(); });
        others->post([this] { step_agents(); });
    }
    wait_until_closed();
    if (operated_) start_again();
    calm_ = true;
    if (more_faults_) end_faults();
    auto last = row();
    for (; !last; last = row()) world_.sleep(10s);
    last_version_ = last->state == "done" ? kNew : kOld;
    // A crash that was due before may still come.
    for (std::uint64_t starts = 0; starts != starts_ || !up_;) {
        while (!up_) world_.sleep(10s);
        starts = starts_;
        world_.sleep(2 * interval() + 10min);
    }
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

void Site::wait_until_closed() {
    // A good rollout has five waves, each of some intervals. Faults and operators delay it.
    const auto end = world_.now() + (operated_ ? 200 : 96) * interval();
    while (world_.now() < end && !closed()) world_.sleep(interval() / 4);
}

void Site::start_again() {
    const auto found = row();
    // A plan does not choose nodes as canaries that the rollout before has killed.
    const bool may = found && found->state == "returned" && kind_ != Kind::KillsTheAgent;
    if (!may || once_in(2)) return;
    check_end_of(*found, check_events(*found));
    for (Node& node : nodes_) node.got_new = node.lost_first = node.was_silent = false;
    moved_by_bad_ = 0;
    begin_rollout();
    wait_until_closed();
}

void Site::wrong(std::string what) {
    world_.note("WRONG: " + what);
    if (violations_.size() < 10) violations_.push_back(std::move(what));
}

std::string Site::uuid() {
    return fmt::format("{:08x}-0000-4000-8000-{:012x}", world_.random(1ULL << 32),
                       world_.random(1ULL << 48));
}

// ---- Servers ----

void Site::make_server(int number) {
    Server& server = servers_.emplace_back();
    server.number = number;
    server.name = fmt::format("server{}", number);
    server.code = fmt::format("{}/code{}", disk_->folder(), number);
    for (const auto version : {kOld, kNew}) {
        const auto folder = fmt::format("{}/.bunraku/production/{}", server.code, version);
        fs::create_directories(folder);
        std::ofstream(folder + ".json")
            << fmt::format(R"({{"commit":"{}","files":"{}"}})", version.substr(0, 12), version);
        std::ofstream(folder + "/rollout.yaml") << rules_;
    }
    fs::create_symlink(fmt::format(".bunraku/production/{}", kOld), server.code + "/production");
}

void Site::start() {
    while (!try_start()) {
        stop();
        disk_->crash_now();
        world_.sleep(10s);
    }
}

bool Site::try_start() {
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
        server.code = fmt::format("{}/code{}", disk_->folder(), server.number);
        server.base.clear();
        look(server);
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
                writer, {.server = server.name,
                         .epoch = BUNRAKU_TRY(store::rollout_epoch(writer.db())),
                         .seen = world_.now_ms(),
                         .versions = fmt::format(R"({{"production":["{}","{}"]}})", kOld, kNew)});
        });
        (void)server.controller->join();
        look(server);
    }
    world_.note("the servers are up");
    up_ = !crashed_;
    return up_;
}

void Site::stop() {
    up_ = false;
    for (Server& server : servers_) {
        server.controller.reset();
        server.versions.reset();
        server.hung = false;
    }
    if (service_) service_->stop();
    service_.reset();
}

std::string Site::base_of(const Server& server) {
    return fs::read_symlink(server.code + "/production").filename().string();
}

void Site::look(Server& server) {
    std::string base = base_of(server);
    if (base == server.base) return;
    if (!server.base.empty()) world_.note(fmt::format("{} switches to {}", server.name, base));
    server.base = std::move(base);
    server.versions->base(kEnvironment, server.base);
}

void Site::control(Server& server) {
    while (!ended_) {
        world_.sleep(kShortestPass + random_time(kLongestPass - kShortestPass));
        if (!up_ || crashed_ || !server.controller || server.hung) continue;
        ++busy_;
        if (const auto done = server.controller->tick(); !done)
            world_.note(fmt::format("{}: {}", server.name, done.error().message));
        if (options_.tell) note_position(server);
        if (operated_)
            if (const auto found = row()) check_approvals(*found);
        look(server);
        --busy_;
    }
}

void Site::note_position(const Server& server) {
    const auto rows = server.controller->list("", store::Which::All);
    if (!rows || rows->empty() || rows->front().sequence <= noted_) return;
    const store::RolloutRow& row = rows->front();
    noted_ = row.sequence;
    world_.note(fmt::format("{}: {} wave {}: {}", server.name, row.state, row.wave, row.reason));
}

std::optional<store::RolloutRow> Site::row() {
    if (!up_ || crashed_) return std::nullopt;
    ++busy_;
    const auto rows = servers_.front().controller->list("", store::Which::All);
    --busy_;
    if (!rows || rows->empty() || crashed_) return std::nullopt;
    return rows->front();
}

bool Site::closed() {
    const auto found = row();
    return found && !found->live;
}

// ---- Agents ----

void Site::live(Node& node) {
    world_.sleep(random_time(interval()));
    while (!ended_) {
        if (!node.dead) {
            if (calm_ || !once_in(100)) {
                run(node);
            } else {
                ++node.missed;
                check_silence(node);
            }
        }
        world_.sleep(interval() - 1min + random_time(2min));
    }
}

Site::Server& Site::any_server() {
    const auto first = world_.random(servers_.size());
    for (std::size_t i = 0; i < servers_.size(); ++i) {
        Server& server = servers_[(first + i) % servers_.size()];
        if (!server.hung || !server.avoided) return server;
    }
    return servers_[first];
}

std::string Site::request(const Node& node, std::string_view transaction, bool begins,
                          bool catalog) {
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
    look(server);
    server::NodeRun run{.environment = kEnvironment,
                        .node = node.name,
                        .transaction = node.names_its_run ? transaction : "",
                        .implied = !begins};
    const auto begin = [&]() -> base::Result<std::string> {
        return server.versions->begin(
            run, server.versions->target(kEnvironment, node.name).value_or(server.base));
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

void Site::run(Node& node) {
    ++figures_.runs;
    const auto transaction = uuid();
    RunOfNode one{.node = node.name, .os = node.os, .transaction = transaction, .kind = kind_};
    one.changes_a_mode = options_.seed % 16 >= 8;
    one.started_ms = agent_ms(node);
    const auto starts = starts_;
    std::string version;
    const int requests = 2 + static_cast<int>(world_.random(4));
    for (int i = 0; i < requests; ++i) {
        const auto answer = request(node, transaction, i == 0 && node.begins, i == requests / 2);
        if (answer.empty()) {
            // A server does not take the time for which another one hangs as silence, but only for
            // a while.
            node.refused += up_ ? 1 : 0;
            return check_silence(node);
        }
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
            if (!node.has_try) check_wave(node);
            if (!is_good() && !node.tried) ++moved_by_bad_;
        }
        if (version == kNew && kind_ == Kind::KillsTheAgent) {
            node.dead = true;
            return;
        }
        world_.sleep(random_time(10s));
    }
    one.version = version;
    one.moved = node.version != version;
    node.version = version;
    node.runs_of_new = version == kNew ? node.runs_of_new + 1 : 0;
    one.runs_of_version = node.runs_of_new;
    if (send_results(node, one)) {
        node.missed = node.refused = 0;
    } else {
        ++node.missed;
        check_silence(node);
        node.lost_first = node.lost_first || one.runs_of_version == 1;
    }
}

void Site::check_silence(Node& node) {
    const bool silent = node.missed > 1 || node.missed + node.refused > 2;
    node.was_silent = node.was_silent || (silent && node.got_new);
}

bool Site::send_results(Node& node, RunOfNode& one) {
    const bool compiles = one.version == kOld || kind_ != Kind::FailsToCompile;
    if (compiles && node.catalog_version != one.version) {
        one.now_ms = world_.now_ms();
        if (!submit(store::CommandKind::ReplaceCatalog, 9, node, catalog_text(one))) return false;
        node.catalog_version = one.version;
    }
    if (!calm_ && once_in(200)) {
        world_.note("a report of " + node.name + " is lost");
        return false;
    }
    one.first_ever = node.catalog_version.empty();
    one.drifted = once_in(20);
    if (one.drifted) world_.note(node.name + " corrects a drift");
    one.now_ms = agent_ms(node);
    std::string text = report_text(one);
    if (!up_ || crashed_) return false;
    Server& receiver = any_server();
    if (receiver.hung) return false;
    ++busy_;
    receiver.versions->idle(
        {.environment = kEnvironment, .node = node.name, .transaction = one.transaction});
    --busy_;
    const bool arrived = submit(store::CommandKind::StoreReport, 8, node, text);
    if (arrived) ++figures_.reports;
    if (operated_ && once_in(50)) (void)submit(store::CommandKind::StoreReport, 8, node, text);
    if (once_in(50)) node.late_report = std::move(text);
    if (!node.late_report.empty() && once_in(4)) {
        (void)submit(store::CommandKind::StoreReport, 8, node, node.late_report);
        if (!operated_ || once_in(2)) node.late_report.clear();
    }
    return arrived;
}

void Site::check_wave(const Node& node) {
    const auto found = row();
    if (!found) return;
    const bool everywhere = found->state == "finishing" || found->state == "done";
    if (!everywhere && node.wave >= found->moved) {
        wrong(fmt::format("{} of wave {} got the new version, but only {} waves have moved",
                          node.name, node.wave, found->moved));
    }
}

bool Site::submit(store::CommandKind kind, int version, const Node& node, const std::string& body) {
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

bool Site::implied_left() const {
    return std::ranges::any_of(nodes_, [&](const Node& node) {
        return !node.begins && !node.dead && node.version != last_version_;
    });
}

void Site::check_end() {
    while (!up_) world_.sleep(10s);
    ++(is_good() ? figures_.good : figures_.bad);
    const auto found = row();
    if (!found) return wrong("there is no rollout");
    check_end_of(*found, check_events(*found));
    for (const Node& node : nodes_) {
        if (!node.dead && node.version != last_version_)
            wrong(fmt::format("{} has the version {} in the end", node.name, node.version));
    }
    for (const Server& server : servers_) {
        if (base_of(server) != last_version_)
            wrong(fmt::format("{} has the base {}", server.name, base_of(server)));
    }
}

void Site::check_end_of(const store::RolloutRow& row, const Orders& orders) {
    const bool done = row.state == "done" && (is_good() || orders.finished || orders.accepted);
    const bool returned = row.state == "returned" && (!is_good() || orders.stopped);
    const bool finished = !orders.finished || row.state == "done";
    if ((!done && !returned) || !finished)
        wrong(fmt::format("the rollout is {} ({})", row.state, row.reason));
    if (orders.finished || orders.accepted) return;
    figures_.moved_by_bad += moved_by_bad_;
    figures_.most_moved = std::max(figures_.most_moved, moved_by_bad_);
    const auto most = most_moved_by_bad();
    if (moved_by_bad_ > most)
        wrong(fmt::format("{} nodes got the bad version, more than {}", moved_by_bad_, most));
}

bool Site::is_result_of_loss(const store::RolloutEvent& event) const {
    return std::ranges::any_of(nodes_, [&](const Node& node) {
        return (node.lost_first || node.was_silent) &&
               event.detail.find(node.name + ": ") != std::string::npos;
    });
}

std::size_t Site::most_moved_by_bad() const {
    // A lost report may prove a canary. Then the first wave, of at least one node, finds it.
    std::size_t out = canaries_ + std::max<std::size_t>(1, nodes_.size() / 100);
    // No wave can find it if the reports of all its first runs are lost.
    for (std::int64_t wave = 1; wave < static_cast<std::int64_t>(waves_); ++wave) {
        const bool seen = std::ranges::any_of(nodes_, [&](const Node& node) {
            return node.wave <= wave && node.got_new && !node.lost_first;
        });
        if (seen) break;
        out += static_cast<std::size_t>(std::ranges::count(nodes_, wave + 1, &Node::wave));
    }
    return out;
}

void RolloutFigures::add(const RolloutFigures& other) {
    runs += other.runs;
    reports += other.reports;
    crashes += other.crashes;
    refused += other.refused;
    tries += other.tries;
    hangs += other.hangs;
    steps += other.steps;
    full_disks += other.full_disks;
    orders += other.orders;
    refused_orders += other.refused_orders;
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
