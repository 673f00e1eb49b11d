// SPDX-License-Identifier: Apache-2.0
#include "sim/fleet.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include "core/sys/clock.h"
#include "core/value/rich_data.h"
#include "net/http/client.h"
#include "net/pki/certificate.h"
#include "services/agent/ssl.h"
#include "sim/code.h"
#include "sim/whole_agent.h"

namespace bunraku::sim {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

/// Name of the first server. The other servers only compile and use the first one for everything
/// else.
constexpr std::string_view kServer = "puppet";
constexpr std::int64_t kNsPerSecond = 1'000'000'000;
/// Start time of the simulated clocks.
constexpr std::int64_t kBegin = 1'700'000'000 * kNsPerSecond;
/// Age up to which reports must still be stored. By default, the store removes them after two
/// weeks.
constexpr std::int64_t kReportsFor = std::int64_t{10} * 86'400 * kNsPerSecond;

}  // namespace

void Figures::add(const Figures& o) {
    runs += o.runs, failed += o.failed, catalogs += o.catalogs, unchanged += o.unchanged;
    reports += o.reports, deploys += o.deploys, crashes += o.crashes, losses += o.losses;
    agent_crashes += o.agent_crashes, renewals += o.renewals;
    applied += o.applied, rested += o.rested, drifts += o.drifts;
}

/// Records the log of one server run. Messages that report a defect of the server itself count as
/// findings.
class Fleet::Log final : public base::LogSink {
public:
    Log(Fleet& fleet, std::string server) : fleet_(fleet), server_(std::move(server)) {}
    void log(const base::Diagnostic& d) override {
        if (d.level < base::Level::Notice) return;
        if (d.level >= base::Level::Warning || fleet_.options_.tell)
            fleet_.note(fmt::format("{}: {}", server_, d.message));
        // The server logs this if a cached catalog differs from a newly compiled one.
        if (d.message.find("Please report this") != std::string::npos) fleet_.wrong(d.message);
    }
    bool enabled(base::Level level) const override { return level >= base::Level::Notice; }

private:
    Fleet& fleet_;
    std::string server_;
};

struct Fleet::Server {
    std::string name;
    std::unique_ptr<HostDisk> disk;
    bool crashed = false;
    /// One run of the server, from start to stop or crash.
    struct Life {
        config::Settings settings;
        std::unique_ptr<Log> log;
        std::unique_ptr<server::Instance> instance;
    };
    std::unique_ptr<Life> life;
    bool first() const { return name == kServer; }
};

struct Fleet::Machine {
    std::string name;
    int number = 0;
    std::string role;
    /// Number of the group in which the nodes collect exports. In a large fleet, no node collects
    /// from all others.
    int cell() const { return number / 30; }
    std::unique_ptr<HostDisk> disk;
    std::unique_ptr<base::Arena> arena;
    config::Settings settings;
    std::unique_ptr<load::AgentProfile> profile;
    std::unique_ptr<load::Agent> agent;
    std::unique_ptr<WholeAgent> whole;  ///< replaces `profile` and `agent`
    std::uint64_t changes = 0;          ///< number of changes of the facts, over all lives
    bool crashed = false, power_lost = false;
    bool power_lost_once = false;  ///< true if power was lost since the last successful run
    std::function<bool()> stopped() {
        return [this] { return crashed; };
    }
    std::uint64_t lives = 0;
    sys::TimePoint look_at_files{};  ///< when to check the certificate files next

    // State of the current run.
    int code_before = 0;
    std::uint64_t deploys_before = 0;
    bool deploying_before = false;
    std::uint64_t starts_before = 0;
    std::set<int> versions;  ///< versions of the responses

    std::optional<Statement> catalog;  ///< the current catalog of the agent
    agent::SslFiles ssl;
    /// number of changes of the facts in the last request that returned a catalog
    int served_changes = -1;
    std::map<std::string, std::int64_t> reports;  ///< acknowledged reports, with their times
    std::int64_t last_good_ns = 0;
    std::string problem;  ///< error of the last run
    std::string serial;
};

std::string Fleet::make_root() const {
    const auto root = fmt::format("{}/{:010}", options_.place, options_.seed);
    fs::remove_all(root);
    fs::create_directories(root);
    return root;
}

Fleet::Fleet(Options options)
    : options_(std::move(options)),
      root_(make_root()),
      world_(options_.seed,
             {.stack_bytes = 4 << 20, .keep_events = options_.tell, .reports_file_changes = true}),
      network_(world_) {
    enter_world(&world_, root_);
    network_.handshakes = true;
    for (int i = 0; i < options_.servers; ++i) {
        auto& server = servers_.emplace_back();
        server.name = i == 0 ? std::string(kServer) : fmt::format("compile{}", i);
        // The folder of the first server has a fixed name, because the recorded seeds depend on it.
        server.disk = std::make_unique<HostDisk>(
            fmt::format("{}/{}", root_, i == 0 ? "server" : server.name), world_);
    }
    std::ofstream allowed(root_ + "/certificate-allowlist");
    for (const auto& server : servers_) allowed << server.name << '\n';
    fs::create_directories(root_ + "/code/environments");
    for (int i = 0; i < options_.agents + options_.whole; ++i) {
        auto& m = machines_.emplace_back();
        m.name = fmt::format("agent{}", i + 1);
        m.number = i;
        constexpr const char* kRoles[] = {"web", "db", "plain"};
        m.role = i < options_.agents ? kRoles[i % 3] : "whole";
        m.disk = std::make_unique<HostDisk>(fmt::format("{}/{}", root_, m.name), world_);
        m.arena = std::make_unique<base::Arena>(4096);
    }
}

Fleet::~Fleet() {
    for (auto& server : servers_) stop_server(server);
    machines_.clear();
    servers_.clear();
    enter_world(nullptr);
    fs::remove_all(root_);
}

void Fleet::wrong(std::string what) {
    note("WRONG: " + what);
    if (violations_.size() < 20) violations_.push_back(std::move(what));
}

config::Settings Fleet::server_settings(const Server& server) const {
    auto out = config::Settings::defaults();
    const auto& folder = server.disk->folder();
    out.set("confdir", root_ + "/conf");
    out.set("vardir", folder + "/var");
    out.set("rundir", folder + "/run");
    out.set("logdir", folder + "/log");
    out.set("ssldir", folder + "/ssl");
    out.set("cadir", folder + "/ca");
    out.set("statedir", folder + "/state");
    out.set("codedir", root_ + "/code");
    out.set("environmentpath", root_ + "/code/environments");
    out.set("certname", server.name);
    out.set("server", std::string(kServer));
    out.set("autosign", "true");
    out.set("reports", server.first() ? "none" : "puppetdb");
    if (server.first()) out.set("certificate-allowlist", root_ + "/certificate-allowlist");
    if (!server.first()) {
        out.set("puppetdb_url", fmt::format("https://{}:8140", kServer));
        out.set("serverport", "8140");
        out.set("key_type", "ec");
        out.set("dns_alt_names", "");
        out.set("ssl_lockfile", folder + "/ssl.lock");
    }
    return out;
}

/// Ensures that a machine has a valid certificate, CA certificates and CRLs. The machine is an
/// agent or a compile server.
base::Result<agent::SslFiles> Fleet::certificates_of(const std::string& name,
                                                     const config::Settings& settings,
                                                     base::LogSink& log,
                                                     std::function<bool()> stopped) {
    return agent::ensure_ssl({.settings = settings,
                              .log = log,
                              .system = system_.system(),
                              .print = [](const std::string&) {},
                              .stopped = std::move(stopped),
                              .network = &network_.host(name),
                              .authority = {},
                              .waitforcert_seconds = 0,
                              .onetime = true});
}

bool Fleet::start_server(Server& server) {
    auto life = std::make_unique<Server::Life>(server_settings(server));
    life->log = std::make_unique<Log>(*this, server.name);
    server.crashed = false;
    if (!server.first()) {
        const auto files = certificates_of(server.name, life->settings, *life->log,
                                           [&server] { return server.crashed; });
        if (!files) {
            note(fmt::format("{} has no certificate: {}", server.name, files.error().message));
            return false;
        }
    }
    server::InstanceOptions options;
    options.roles = {"compiler"};
    options.listeners = {{server.name, 8140, true}};
    if (server.first()) {
        options.roles = {"ca", "store", "compiler"};
        options.listeners.push_back({server.name, 8080, false});
    }
    options.http_anywhere = true;
    options.version = "1";
    options.network = &network_.host(server.name);
    auto started = server::Instance::start(life->settings, *life->log, options);
    if (!started) {
        const auto text =
            fmt::format("{} does not start: {}", server.name, started.error().message);
        note(text);
        if (calm_) wrong(text);
        return false;
    }
    note(server.name + " is up");
    ++starts_;
    life->instance = std::move(*started);
    server.life = std::move(life);
    return true;
}

void Fleet::start_for_sure(Server& server) {
    while (!start_server(server)) world_.sleep(30s);
}

void Fleet::stop_server(Server& server) {
    if (server.life && server.life->instance) server.life->instance->stop(0s);
    server.life.reset();
}

/// Keeps the certificates and CRLs of compile servers valid. In production, an agent on each server
/// does this.
void Fleet::keep_certificates() {
    while (!ended_) {
        world_.sleep(interval() * 4);
        for (auto& server : servers_) {
            if (server.first() || !server.life || server.crashed || ended_) continue;
            Log log(*this, server.name);
            const auto settings = server_settings(server);
            const auto files =
                certificates_of(server.name, settings, log, [&server] { return server.crashed; });
            if (!files)
                note(fmt::format("{} keeps its certificate: {}", server.name,
                                 files.error().message));
        }
    }
}

// ---- The operator and faults --------------------------------------------------------------------

void Fleet::deploy(bool in_place) {
    const int v = code_ + 1;
    ++figures_.deploys;
    note(fmt::format("Code {} is deployed{}", v, in_place ? " in place" : ""));
    const auto environment = root_ + "/code/environments/production";
    const auto target = in_place ? environment : fmt::format("{}/code/versions/{:06}", root_, v);
    if (in_place) {
        ++deploys_;
        deploying_ = true;
    }
    for (const auto& [name, text] : files_of(v)) {
        const fs::path path = fs::path(target) / name;
        fs::create_directories(path.parent_path());
        (void)system_.system().files.replace(path.string(), text);
        if (in_place) world_.sleep(random_time(500ms));
    }
    if (!in_place) {
        fs::create_directories(root_ + "/code/environments");
        (void)system_.system().files.replace_link(target, environment);
    }
    code_ = v;
    deploying_ = false;
}

Fleet::Server& Fleet::some_server() {
    return servers_.size() == 1 ? servers_.front() : servers_[world_.random(servers_.size())];
}

void Fleet::crash_server() {
    auto& server = some_server();
    ++figures_.crashes;
    const bool power_loss = world_.random(2) == 0;
    if (power_loss) ++figures_.losses;
    server.disk->crash_after(1 + world_.random(400), power_loss, [this, &server] {
        network_.cut(server.name);
        server.crashed = true;
        note(server.name + " has crashed");
    });
    for (int i = 0; i < 120 && !server.crashed; ++i) world_.sleep(5s);
    server.disk->crash_now();
    stop_server(server);
    world_.sleep(
        random_time(world_.random(4) == 0 ? sys::Duration(interval() * 2) : sys::Duration(60s)));
    start_for_sure(server);
}

void Fleet::crash_agent() {
    auto& m = machines_[world_.random(machines_.size())];
    if (m.disk->armed()) return;
    ++figures_.agent_crashes;
    const bool power_loss = world_.random(2) == 0;
    m.disk->crash_after(1 + world_.random(m.whole ? 60 : 20), power_loss, [this, &m, power_loss] {
        network_.cut(m.name);
        m.crashed = true;
        m.power_lost = power_loss;
        m.power_lost_once |= power_loss;
        note(m.name + " has crashed");
    });
    world_.sleep(random_time(interval() * 2));
    m.disk->crash_now();
}

void Fleet::fill_disk() {
    const bool of_agent = options_.whole > 0 && world_.random(2) == 0;
    auto& disk = of_agent ? *machines_[machines_.size() - 1 -
                                       world_.random(static_cast<std::uint64_t>(options_.whole))]
                                 .disk
                          : *some_server().disk;
    note(of_agent ? "An agent's disk is full" : "A server's disk is full");
    disk.full = true;
    world_.sleep(random_time(of_agent ? interval() * 3 : sys::Duration(interval())));
    disk.full = false;
    note("It has room again");
}

void Fleet::inject_network_faults() {
    auto& f = network_.faults;
    f.most_delay = std::chrono::milliseconds(1 + world_.random(400));
    f.short_reads = f.short_writes = static_cast<std::uint32_t>(world_.random(300'000));
    f.resets = static_cast<std::uint32_t>(world_.random(40'000));
    f.refusals = static_cast<std::uint32_t>(world_.random(100'000));
    world_.sleep(random_time(interval()));
    f = {};
}

void Fleet::part() {
    auto name = machines_[world_.random(machines_.size())].name;
    auto other = some_server().name;
    // A compile server loses the connection to its store.
    if (servers_.size() > 1 && world_.random(2) == 0) {
        name = servers_[1 + world_.random(servers_.size() - 1)].name;
        other = kServer;
    }
    note(fmt::format("{} does not reach {}", name, other));
    network_.part(name, other);
    world_.sleep(random_time(interval()));
    network_.join(name, other);
}

void Fleet::step_clock() {
    const auto step = random_time(world_.random(3) == 0 ? 2h : 20s);
    const bool back = world_.random(2) == 0;
    note(fmt::format("The clocks go {} by {} s", back ? "back" : "forward",
                     std::chrono::duration_cast<std::chrono::seconds>(step).count()));
    world_.step_clock(back ? -step : step);
    // A clock that was set back is corrected after a while, when new certificates are valid again.
    world_.sleep(random_time(interval()));
    world_.step_clock(back ? step : -step);
    // Data with a timestamp in the future is the newest until then, as in PuppetDB.
    if (!back) caught_up_ = std::max(caught_up_, world_.now() + step);
}

void Fleet::trouble() {
    switch (world_.random(9)) {
        case 0:
        case 1:
        case 2: return crash_server();
        case 3:
        case 4: return crash_agent();
        case 5: return fill_disk();
        case 6: return inject_network_faults();
        case 7: return part();
        default: return step_clock();
    }
}

void Fleet::operate() {
    const bool in_place = world_.random(2) == 0 && !options_.moves;
    in_place_ = in_place;
    deploy(in_place);
    for (auto& server : servers_) start_for_sure(server);
    const auto end = world_.now() + std::chrono::duration_cast<sys::Duration>(
                                        std::chrono::duration<double>(options_.days * 86'400));
    auto next_deploy = world_.now() + random_time(12h);
    while (world_.now() < end) {
        world_.sleep(random_time(options_.faults ? 4h : 12h));
        if (world_.now() >= next_deploy) {
            next_deploy = world_.now() + random_time(48h);
            deploy(in_place);
        } else if (options_.faults) {
            trouble();
        }
    }
    if (world_.now() < caught_up_) world_.sleep(caught_up_ - world_.now());
    calm_ = true;
    note("All is calm");
    network_.faults = {};
    for (auto& m : machines_) m.disk->crash_now();
    deploy(in_place);
}

// ---- Agents -------------------------------------------------------------------------------------

void Fleet::live(Machine& m) {
    m.settings = config::Settings::defaults();
    world_.sleep(random_time(interval()));
    while (!ended_) {
        run_agent(m);
        if (ended_) break;
        world_.sleep(interval() - 1min + random_time(2min));
    }
}

/// Starts a new life of the machine. Its memory is lost; the files on its disk remain.
void Fleet::begin_life(Machine& m) {
    if (m.agent) m.changes = m.agent->machine().changes;
    m.agent.reset();
    m.catalog.reset();
    ++m.lives;
    m.look_at_files = {};
    const auto& folder = m.disk->folder();
    m.settings = config::Settings::defaults();
    for (const auto& [name, value] : std::initializer_list<std::pair<const char*, std::string>>{
             {"certname", m.name},
             {"server", std::string(kServer)},
             {"serverport", "8140"},
             {"confdir", folder + "/conf"},
             {"vardir", folder + "/var"},
             {"statedir", folder + "/state"},
             {"ssldir", folder + "/ssl"},
             {"ssl_lockfile", folder + "/ssl.lock"},
             {"key_type", "ec"},
             {"dns_alt_names", ""}})
        m.settings.set(name, value);
    if (m.role == "whole") {
        for (const auto& [name, value] : std::initializer_list<std::pair<const char*, std::string>>{
                 {"publicdir", folder + "/public"},
                 {"logdir", folder + "/log"},
                 {"rundir", folder + "/run"},
                 {"facts_interval", fmt::format("{}m", 4 * options_.interval_minutes)}})
            m.settings.set(name, value);
        if (servers_.size() > 1) {
            std::vector<std::string> names;
            for (const auto& server : servers_) names.push_back(server.name);
            std::rotate(names.begin(),
                        names.begin() + static_cast<std::ptrdiff_t>(world_.random(names.size())),
                        names.end());
            m.settings.set("server_list", fmt::format("{}", fmt::join(names, ",")));
        }
        if (!m.whole) {
            m.whole = std::make_unique<WholeAgent>(
                WholeAgent::Machine{.settings = m.settings,
                                    .network = network_.host(m.name),
                                    .system = system_.system(),
                                    .stopped = m.stopped(),
                                    .folder = folder,
                                    .name = m.name,
                                    .with_facts = [this] { move_perhaps(10); }});
        }
        m.whole->begin_life(folder, std::exchange(m.power_lost, false));
        return;
    }
    const auto facts = fmt::format(
        R"({{"role":"{}","cell":"c{}","os":{{"family":"Debian"}},"networking":{{"fqdn":"x"}},"clientcert":"x"}})",
        m.role, m.cell());
    auto model = value::parse_json(*m.arena, facts);
    m.profile = std::make_unique<load::AgentProfile>(load::AgentProfile{
        .settings = m.settings,
        .network = network_.host(m.name),
        .figures = load_figures_,
        .stopped = m.stopped(),
        .address = fmt::format("{}:8140", kServer),
        .environment = "production",
        .user_agent = "sim",
        .models = {*model},
        .choices = {},
        .drifting = 0.1,
        // In a small fleet, facts change more often.
        .changing = options_.agents > 100 ? 0.005 : 0.05,
        .absent = 0.01,
        .facts_interval = std::max<std::chrono::seconds>(
            2h, std::chrono::duration_cast<std::chrono::seconds>(interval() * 4)),
        .conditional_requests = !options_.moves || m.number % 2 == 0,
        .looks_for_plugins = true,
        .keeps_connection = false,
        .resumes = false,
        .reports = load::AgentProfile::Reports::Changed});
    m.profile->on_response = [this, &m](load::Step step, const http::ClientRequest& request,
                                        const http::ClientResponse& response) {
        record(m, step, request, response);
    };
    m.agent =
        std::make_unique<load::Agent>(*m.profile, m.name, static_cast<std::uint64_t>(m.number),
                                      options_.seed * 1'000'003 + m.lives);
    m.agent->machine().changes = m.changes;
}

/// Reports whether the machine has a valid certificate. Most runs reuse the result of an earlier
/// check, because checking the files for each run would take a third of the total time.
bool Fleet::has_certificate(Machine& m) {
    if (world_.now() < m.look_at_files) return true;
    m.look_at_files = {};
    class Quiet final : public base::LogSink {
    public:
        void log(const base::Diagnostic& d) override {
            if (text.empty() && d.level >= base::Level::Err) text = d.message;
            renewed |= d.message.starts_with("Renewed client certificate");
        }
        bool enabled(base::Level level) const override { return level >= base::Level::Info; }
        std::string text;
        bool renewed = false;
    } log;
    auto files = certificates_of(m.name, m.settings, log, m.stopped());
    if (log.renewed) ++figures_.renewals;
    if (!files) {
        m.problem = "no certificate: " + (log.text.empty() ? files.error().message : log.text);
        ++figures_.failed;
        note(fmt::format("{}: {}", m.name, m.problem));
        return false;
    }
    check_certificate(m);
    m.ssl = std::move(*files);
    if (options_.leap_hours == 0) m.look_at_files = world_.now() + random_time(interval() * 16);
    return true;
}

void Fleet::run_agent(Machine& m) {
    if (std::exchange(m.crashed, false) || m.lives == 0) begin_life(m);
    m.code_before = code_;
    m.deploys_before = deploys_;
    m.deploying_before = deploying_;
    m.starts_before = starts_;
    m.versions.clear();
    ++figures_.runs;
    m.problem.clear();
    if (m.whole) return run_whole(m);
    if (calm_) m.profile->changing = m.profile->absent = 0;
    if (!has_certificate(m)) return;
    m.agent->ssl = m.ssl;
    if (servers_.size() > 1) m.profile->address = fmt::format("{}:8140", some_server().name);
    const auto outcome = m.agent->run();
    m.changes = m.agent->machine().changes;
    ended_run(m, outcome == load::Agent::Outcome::Good, outcome == load::Agent::Outcome::Absent);
}

void Fleet::ended_run(Machine& m, bool good, bool absent) {
    if (good && !m.crashed) {
        m.last_good_ns = world_.monotonic_ns();
        note(m.name + ": a run");
    } else if (!absent) {
        m.look_at_files = {};
        ++figures_.failed;
        if (m.problem.empty()) m.problem = "its run failed";
        note(fmt::format("{}: {}", m.name, m.problem));
    }
}

void Fleet::run_whole(Machine& m) {
    // After a crash, each managed file must be complete or unchanged.
    if (!m.crashed) check_machine(m, false);
    if (!calm_ && world_.random(20) == 0) ++m.changes;
    if (!calm_ && world_.random(4) == 0) {
        ++figures_.drifts;
        m.whole->drift([this](std::uint64_t most) { return world_.random(most); });
    }
    if (!has_certificate(m)) return;
    const auto outcome = m.whole->run(m.ssl, m.changes);
    const bool good = (outcome.status == 0 || outcome.status == 2) && !m.crashed;
    m.problem = outcome.problem;
    if (good) {
        ++figures_.applied;
        if (outcome.catalog_unchanged) ++figures_.rested;
        // A cached catalog describes the state at the time when it was compiled.
        if (!outcome.cached) check_machine(m, true);
    }
    if (!m.crashed && !outcome.report.empty()) {
        ++figures_.reports;
        m.reports[outcome.report] = world_.now_ns();
    }
    if (good && !outcome.cached) m.served_changes = static_cast<int>(m.changes);
    ended_run(m, good && !outcome.cached, false);
}

/// Simulates another compile server, whose commands arrive late, twice, and in any order.
void Fleet::foreign_server() {
    int n = 0;
    std::vector<std::int64_t> stamps;
    while (!ended_) {
        world_.sleep(random_time(4h));
        if (calm_) continue;
        const std::string node = fmt::format("far{}", 1 + world_.random(3));
        stamps.push_back(kBegin + world_.monotonic_ns());
        ++n;
        // Chooses one of the last four commands, which may be older than one already sent.
        const int serial = std::max(1, n - static_cast<int>(world_.random(4)));
        const auto stamp = sys::iso8601_utc(stamps[static_cast<std::size_t>(serial) - 1], 3);
        http::ClientOptions options;
        options.network = &network_.host(std::string(kServer));
        options.timeout = 20s;
        http::ClientRequest request;
        request.method = "POST";
        request.url = fmt::format(
            "http://{}:8080/pdb/cmd/v1?command=replace_facts&version=5&certname={}&"
            "producer-timestamp={}",
            kServer, node, stamp);
        request.headers.set("Content-Type", "application/json");
        request.body =
            fmt::format(R"({{"certname":"{}","environment":"production","producer_timestamp":"{}",)"
                        R"("producer":"other","values":{{"serial":{}}}}})",
                        node, stamp, serial);
        auto& known = foreign_[node];
        known.sent.insert(serial);
        auto answer = http::Client(options).send(request);
        note(fmt::format("{} {}: {}", node, serial,
                         answer ? std::to_string(answer->status) : answer.error().message));
        if (answer && answer->status == 200)
            known.acknowledged = std::max(known.acknowledged, serial);
    }
}

/// Advances the clock by a long interval, then gives the fleet time for all work that is due.
void Fleet::leap() {
    deploy(false);
    for (auto& server : servers_) start_for_sure(server);
    const auto end = world_.now() + std::chrono::duration_cast<sys::Duration>(
                                        std::chrono::duration<double>(options_.days * 86'400));
    world_.sleep(interval() * 2);
    for (int n = 1; world_.now() < end && violations_.empty(); ++n) {
        world_.leap(std::chrono::hours(options_.leap_hours));
        const auto then = world_.monotonic_ns();
        if (options_.faults && world_.random(20) == 0) crash_server();
        world_.sleep(interval() * 2);
        for (const auto& m : machines_) {
            if (m.last_good_ns < then)
                wrong(fmt::format("{} is locked out after {} days: {}", m.name,
                                  n * options_.leap_hours / 24, m.problem));
        }
    }
    calm_ = true;
    deploy(false);
}

// ---- Invariants ---------------------------------------------------------------------------------

void Fleet::record(Machine& m, load::Step step, const http::ClientRequest& request,
                   const http::ClientResponse& response) {
    if (m.crashed) return;
    if (response.status / 100 == 2 && step != load::Step::Report)
        check_one_version(m, versions_of_digests(response.body, code_));
    if (step == load::Step::Catalog && response.status == 200) {
        ++figures_.catalogs;
        m.catalog = read_catalog(response.body);
        m.served_changes = static_cast<int>(m.agent->machine().changes);
        check_catalog(m);
    } else if (step == load::Step::Unchanged && response.status == 304) {
        ++figures_.unchanged;
        check_catalog(m);
    } else if (step == load::Step::Report && response.status / 100 == 2) {
        ++figures_.reports;
        constexpr std::string_view kName = "\"transaction_uuid\":\"";
        const auto at = request.body.find(kName);
        if (at != std::string::npos)
            m.reports[request.body.substr(at + kName.size(), 36)] = world_.now_ns();
        note(fmt::format("{}: report {}", m.name, request.body.substr(at + kName.size(), 36)));
    } else if (response.status / 100 != 2 && response.status != 304) {
        m.problem = fmt::format("{} {}: {} {}", request.method, request.url.substr(0, 80),
                                response.status, response.body.substr(0, 200));
    }
    move_perhaps(30);
}

/// Deploys new code, once in that many calls.
void Fleet::move_perhaps(std::uint64_t one_in) {
    if (!options_.moves || calm_ || world_.random(one_in) != 0) return;
    deploy(false);
}

/// Checks that all responses of a run are of one version. A mixture is possible if files are
/// deployed in place, and if a run reaches several servers, which do not yet know what the others
/// answered.
void Fleet::check_one_version(Machine& m, const std::set<int>& versions) {
    m.versions.insert(versions.begin(), versions.end());
    if (m.versions.size() < 2 || in_place_ || servers_.size() > 1) return;
    wrong(fmt::format("{} received files of the versions {} in one run", m.name,
                      fmt::join(m.versions, " and ")));
}

/// Checks the agent's catalog: it must match the agent's own facts and a version of the code that
/// was deployed at some time since the run began.
void Fleet::check_catalog(Machine& m) {
    if (!m.catalog) return wrong(m.name + " got the response 'not modified', but has no catalog");
    const Statement& said = *m.catalog;
    if (said.node != m.name)
        wrong(fmt::format("{} received the catalog of '{}'", m.name, said.node));
    const auto changes = static_cast<int>(m.agent->machine().changes);
    if (said.changes != changes)
        wrong(fmt::format("{} has facts {} and a catalog of facts {}", m.name, changes,
                          said.changes));
    if (said.code.empty()) return wrong(m.name + " received an empty catalog");
    check_one_version(m, said.code);
    const bool in_between = m.deploying_before || deploying_ || deploys_ != m.deploys_before;
    if (in_between) return;
    const int low = *said.code.begin(), high = *said.code.rbegin();
    if (low != high)
        wrong(fmt::format("{} received a catalog with code of the versions {} and {}", m.name, low,
                          high));
    if (low < m.code_before || high > code_) {
        wrong(fmt::format("{} received code {} while {} was deployed", m.name, low, m.code_before));
    }
}

/// Checks the managed files of a machine: each file must be complete, and replaced content must be
/// in the bucket. After a successful run (`all`), all files must match one version of the code that
/// was deployed during the run.
void Fleet::check_machine(Machine& m, bool all) {
    for (const auto& name : m.whole->lost())
        wrong(fmt::format("The previous content of {} of {} was replaced, but is not in the bucket",
                          name, m.name));
    if (!all) {
        const auto torn = m.whole->torn();
        if (torn && !m.power_lost_once) wrong(fmt::format("{} of {} is incomplete", *torn, m.name));
        return;
    }
    m.power_lost_once = false;
    const auto version = m.whole->version(m.changes);
    const bool in_between = m.deploying_before || deploying_ || deploys_ != m.deploys_before;
    if (in_between) return;
    if (!version) {
        wrong(fmt::format("{} is not as its catalog says: {}", m.name, version.error().message));
    } else if (*version < m.code_before || *version > code_) {
        wrong(fmt::format("{} has code {} while {} was deployed", m.name, *version, m.code_before));
    }
}

void Fleet::check_certificate(Machine& m) {
    const auto read = pki::read_certificates(m.settings.text("hostcert"));
    if (!read) return wrong(fmt::format("{}: {}", m.name, read.error().message));
    const auto& certificate = read->front();
    if (certificate.common_name() != m.name)
        wrong(fmt::format("{} has the certificate of {}", m.name, certificate.common_name()));
    m.serial = certificate.serial();
    const auto [it, fresh] = serials_.try_emplace(m.serial, certificate.fingerprint());
    if (!fresh && it->second != certificate.fingerprint())
        wrong(fmt::format("Two certificates have the serial {}", m.serial));
}

std::string Fleet::ask_store(std::string_view path) {
    http::ClientOptions options;
    options.network = &network_.host(std::string(kServer));
    const auto answer =
        http::Client(options).get(fmt::format("http://{}:8080/pdb/query/v4/{}", kServer, path));
    if (answer && answer->status == 200) return answer->body;
    wrong(fmt::format("The store does not answer {}: {}", path,
                      answer ? answer->body : answer.error().message));
    return {};
}

void Fleet::check_inventory() {
    std::ifstream in(server_settings(servers_.front()).text("cert_inventory"));
    std::set<std::string> seen;
    for (std::string line; std::getline(in, line);) {
        const auto serial = line.substr(0, line.find(' '));
        if (!seen.insert(serial).second)
            wrong(fmt::format("The inventory has the serial {} twice", serial));
    }
    if (seen.empty()) wrong("The authority has no inventory");
    for (const auto& [serial, print] : serials_) {
        auto padded = serial;
        if (!std::ranges::any_of(seen, [&](const std::string& s) {
                return std::strtoull(s.c_str(), nullptr, 16) ==
                       std::strtoull(padded.c_str(), nullptr, 16);
            }))
            wrong(fmt::format("The inventory does not know the serial {}", serial));
    }
}

void Fleet::check_end() {
    base::Arena arena(1 << 20);
    const auto rows = [&](std::string_view path) {
        const auto text = ask_store(path);
        auto parsed = value::parse_json(arena, text);
        return parsed && parsed->is_array() ? *parsed : value::Value::undef();
    };
    const auto text_of = [](const value::Value& row, std::string_view key) {
        const auto* v = row.is_hash() ? row.as_hash().find(key) : nullptr;
        return v && v->is_string() ? std::string(v->as_string()) : std::string();
    };
    std::map<std::string, int> facts, far;
    for (const auto& [path, into] : {std::pair<std::string_view, std::map<std::string, int>*>{
                                         "facts/simulated_changes", &facts},
                                     {"facts/serial", &far}}) {
        const auto all = rows(path);
        if (!all.is_array()) continue;
        for (const auto& row : all.as_array()) {
            const auto* v = row.as_hash().find("value");
            if (v && v->is_integer())
                (*into)[text_of(row, "certname")] = static_cast<int>(v->as_integer());
        }
    }
    std::map<std::string, std::set<std::string>> reports;
    // ["extract", ["certname", "transaction_uuid"], ["~", "certname", "."]]
    const auto all_reports = rows(
        "reports?query=%5B%22extract%22%2C%5B%22certname%22%2C%22transaction_uuid%22%5D%2C%5B%22~"
        "%22%2C%22certname%22%2C%22.%22%5D%5D");
    if (all_reports.is_array())
        for (const auto& row : all_reports.as_array())
            reports[text_of(row, "certname")].insert(text_of(row, "transaction_uuid"));
    std::map<std::string, std::string> stored;  // titles in the catalog of each node
    const auto resources = rows("resources/Notify");
    if (resources.is_array())
        for (const auto& row : resources.as_array())
            stored[text_of(row, "certname")] +=
                fmt::format("\"title\":\"{}\"", text_of(row, "title"));

    const auto check_stored = [&](const Machine& m) {
        if (facts[m.name] != m.served_changes)
            wrong(fmt::format("The store has facts {} of {}, which sent {}", facts[m.name], m.name,
                              m.served_changes));
        for (const auto& [uuid, when] : m.reports) {
            if (when + kReportsFor > world_.now_ns() && !reports[m.name].contains(uuid))
                wrong(
                    fmt::format("The report {} of {} was acknowledged and is gone", uuid, m.name));
        }
    };
    const auto since = ended_ns_ - std::chrono::nanoseconds(interval() + 2min).count();
    std::map<int, std::map<std::string, int>> exported;  // by cell
    for (const auto& m : machines_)
        if (m.role == "web") exported[m.cell()][m.name] = static_cast<int>(m.changes);
    for (const auto& m : machines_) {
        if (m.last_good_ns < since) {
            wrong(fmt::format("{} does not run although all is calm: {}", m.name, m.problem));
            continue;
        }
        if (m.whole) {
            const auto version = m.whole->version(m.changes);
            if (!version || *version != code_)
                wrong(fmt::format("{} has not got the last code: {}", m.name,
                                  version ? std::to_string(*version) : version.error().message));
            check_stored(m);
            continue;
        }
        if (!m.catalog) continue;
        if (m.catalog->code != std::set{code_})
            wrong(fmt::format("{} has not got the last code", m.name));
        if (m.role == "db" && m.catalog->others != exported[m.cell()]) {
            std::string has;
            for (const auto& [node, n] : m.catalog->others) has += fmt::format(" {} {}", node, n);
            wrong(fmt::format("{} has not collected what others export; it has{}", m.name, has));
        }
        check_stored(m);
        const auto in_store = read_catalog(stored[m.name]);
        if (in_store.code != std::set{code_})
            wrong(fmt::format("The store has not got the last catalog of {}", m.name));
    }
    for (const auto& [node, known] : foreign_) {
        // The last command may be stored although its response was lost.
        const int stored = far[node];
        if (stored < known.acknowledged || (stored > 0 && !known.sent.contains(stored)))
            wrong(fmt::format("The store has {} of {}, the newest acknowledged is {}", stored, node,
                              known.acknowledged));
    }
    for (const auto& server : servers_) {
        const auto dead = fmt::format("{}/state/{}/dead-letters", server.disk->folder(),
                                      server.first() ? "queue" : "spool");
        if (fs::exists(dead) && !fs::is_empty(dead))
            wrong(fmt::format("{} moved commands aside", server.name));
    }
    check_inventory();
}

const std::vector<std::string>& Fleet::run() {
    auto agents = world_.executor({.threads = options_.agents + options_.whole, .name = "agents"});
    auto others = world_.executor({.threads = 3, .name = "others"});
    bool operated = false;
    for (auto& m : machines_) agents->post([this, &m] { live(m); });
    others->post([this, &operated] {
        if (options_.leap_hours > 0) {
            leap();
        } else {
            operate();
        }
        operated = true;
    });
    if (options_.leap_hours == 0) others->post([this] { foreign_server(); });
    if (options_.servers > 1) others->post([this] { keep_certificates(); });
    while (!operated) world_.sleep(1h);
    // Waits two intervals and the duration of the longest run.
    world_.sleep(interval() * 2 + 5min);
    ended_ = true;
    ended_ns_ = world_.monotonic_ns();
    agents->stop();
    others->stop();
    world_.sleep(1min);
    check_end();
    for (auto& server : servers_) stop_server(server);
    for (const auto& line : world_.events()) fmt::print(stderr, "{}\n", line);
    return violations_;
}

}  // namespace bunraku::sim
