#include "sim/fleet.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/ssl.h"
#include "http/client.h"
#include "pki/certificate.h"
#include "sys/clock.h"
#include "value/rich_data.h"

namespace bunraku::sim {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

constexpr std::string_view kServer = "puppet";
constexpr std::int64_t kNsPerSecond = 1'000'000'000;
/// Of the worlds' clocks.
constexpr std::int64_t kBegin = 1'700'000'000 * kNsPerSecond;
/// Reports live for two weeks by default.
constexpr std::int64_t kReportsFor = std::int64_t{10} * 86'400 * kNsPerSecond;

/// What a catalog of the site's code says: each of its resources names where it comes from.
struct Said {
    std::set<int> code;                 ///< versions of the files that had a say
    std::string node;                   ///< whose it is
    int changes = -1;                   ///< of the facts
    std::map<std::string, int> others;  ///< what it collected: node and changes
};

/// The words behind `"title":"WORD` of a catalog.
template <class F>
void each_title(std::string_view json, std::string_view word, F&& f) {
    const std::string begin = fmt::format("\"title\":\"{} ", word);
    for (std::size_t at = 0; (at = json.find(begin, at)) != json.npos;) {
        at += begin.size();
        f(json.substr(at, json.find('"', at) - at));
    }
}

int number(std::string_view text) { return std::atoi(std::string(text).c_str()); }

Said read_catalog(std::string_view json) {
    Said out;
    for (const std::string_view word : {"class", "level", "template", "function"})
        each_title(json, word, [&](std::string_view v) { out.code.insert(number(v)); });
    each_title(json, "node", [&](std::string_view v) {
        const auto space = v.find(' ');
        out.node = v.substr(0, space);
        out.changes = number(v.substr(space + 1));
    });
    each_title(json, "export", [&](std::string_view v) {
        const auto space = v.find(' ');
        out.others[std::string(v.substr(0, space))] = number(v.substr(space + 1));
    });
    return out;
}

std::string init_pp(int v) {
    return fmt::format(R"(class app(Integer $level) {{
  notify {{ "class {0}": }}
  notify {{ "level ${{level}}": }}
  notify {{ epp('app/a.epp'): }}
  notify {{ "function ${{file('app/version').strip}}": }}
  notify {{ "node ${{trusted['certname']}} ${{facts['simulated_changes']}}": }}
  file {{ '/etc/app.conf': source => 'puppet:///modules/app/app.conf' }}
  case $facts['role'] {{
    'web': {{
      @@notify {{ "export ${{trusted['certname']}} ${{facts['simulated_changes']}}": tag => "web_${{facts['cell']}}" }}
    }}
    'db': {{ Notify <<| tag == "web_${{facts['cell']}}" |>> }}
    default: {{ }}
  }}
}}
)",
                       v);
}

/// The files of a version of the code, in the order in which a deploy writes them.
std::vector<std::pair<std::string, std::string>> files_of(int v) {
    return {{"environment.conf", "environment_timeout = 0\n"},
            {"hiera.yaml",
             "version: 5\nhierarchy:\n  - name: all\n    paths: ['%{facts.role}.yaml', "
             "'common.yaml']\n"},
            {"data/common.yaml", fmt::format("app::level: {}\nunread: 1\n", v)},
            {"modules/app/files/app.conf", fmt::format("{}\n", v)},
            {"modules/app/files/version", fmt::format("{}\n", v)},
            {"modules/app/templates/a.epp", fmt::format("template {}", v)},
            {"modules/app/manifests/init.pp", init_pp(v)},
            {"manifests/site.pp", "include app\n"}};
}

}  // namespace

void Figures::add(const Figures& o) {
    runs += o.runs, failed += o.failed, catalogs += o.catalogs, unchanged += o.unchanged;
    reports += o.reports, deploys += o.deploys, crashes += o.crashes, losses += o.losses;
    agent_crashes += o.agent_crashes, renewals += o.renewals;
}

/// What a life of the server says; what it says of itself that is never right is a finding.
class Fleet::Log final : public base::LogSink {
public:
    explicit Log(Fleet& fleet) : fleet_(fleet) {}
    void log(const base::Diagnostic& d) override {
        if (d.level < base::Level::Notice) return;
        if (d.level >= base::Level::Warning || fleet_.options_.tell)
            fleet_.note(fmt::format("server: {}", d.message));
        // A kept catalog was compared with a fresh one.
        if (d.message.find("Please report this") != std::string::npos) fleet_.wrong(d.message);
    }
    bool enabled(base::Level level) const override { return level >= base::Level::Notice; }

private:
    Fleet& fleet_;
};

struct Fleet::Machine {
    std::string name;
    int number = 0;
    std::string role;
    /// Exports stay in it: in a large fleet nobody collects from everybody.
    int cell() const { return number / 30; }
    std::unique_ptr<HostDisk> disk;
    std::unique_ptr<base::Arena> arena;
    config::Settings settings;
    std::unique_ptr<load::Manner> manner;
    std::unique_ptr<load::Agent> agent;
    std::uint64_t changes = 0;  ///< of its facts, over all its lives
    bool crashed = false;
    std::uint64_t lives = 0;
    sys::TimePoint look_at_files{};  ///< of its certificate

    // Of the run under way.
    int code_before = 0;
    std::uint64_t deploys_before = 0;
    bool deploying_before = false;

    std::optional<Said> catalog;  ///< that it has
    int told_changes = -1;        ///< of the facts that were answered with a catalog
    std::map<std::string, std::int64_t> reports;  ///< acknowledged, and when
    std::int64_t last_good_ns = 0;
    std::string problem;  ///< of its last run
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
             {.stack_bytes = 4 << 20, .keep_events = options_.tell, .tells_of_files = true}),
      network_(world_) {
    enter_world(&world_, root_);
    network_.handshakes = true;
    server_disk_ = std::make_unique<HostDisk>(root_ + "/server", world_);
    fs::create_directories(root_ + "/code/environments");
    for (int i = 0; i < options_.agents; ++i) {
        auto& m = machines_.emplace_back();
        m.name = fmt::format("agent{}", i + 1);
        m.number = i;
        constexpr const char* kRoles[] = {"web", "db", "plain"};
        m.role = kRoles[i % 3];
        m.disk = std::make_unique<HostDisk>(fmt::format("{}/{}", root_, m.name), world_);
        m.arena = std::make_unique<base::Arena>(4096);
    }
}

Fleet::~Fleet() {
    stop_server();
    machines_.clear();
    server_disk_.reset();
    enter_world(nullptr);
    fs::remove_all(root_);
}

void Fleet::wrong(std::string what) {
    note("WRONG: " + what);
    if (wrongs_.size() < 20) wrongs_.push_back(std::move(what));
}

config::Settings Fleet::server_settings() const {
    auto out = config::Settings::defaults();
    const auto& folder = server_disk_->folder();
    out.set("confdir", root_ + "/conf");
    out.set("vardir", folder + "/var");
    out.set("rundir", folder + "/run");
    out.set("logdir", folder + "/log");
    out.set("ssldir", folder + "/ssl");
    out.set("cadir", folder + "/ca");
    out.set("statedir", folder + "/state");
    out.set("codedir", root_ + "/code");
    out.set("environmentpath", root_ + "/code/environments");
    out.set("certname", std::string(kServer));
    out.set("server", std::string(kServer));
    out.set("autosign", "true");
    out.set("reports", "none");
    return out;
}

bool Fleet::start_server() {
    auto life = std::make_unique<Life>(server_settings());
    life->log = std::make_unique<Log>(*this);
    server::InstanceOptions options;
    options.roles = {"ca", "store", "compiler"};
    options.listeners = {{std::string(kServer), 8140, true}, {std::string(kServer), 8080, false}};
    options.http_anywhere = true;
    options.version = "1";
    options.network = &network_.host(std::string(kServer));
    crashed_ = false;
    auto started = server::Instance::start(life->settings, *life->log, options);
    if (!started) {
        note("The server does not start: " + started.error().message);
        if (calm_) wrong("The server does not start: " + started.error().message);
        return false;
    }
    note("The server is up");
    life->instance = std::move(*started);
    life_ = std::move(life);
    return true;
}

void Fleet::stop_server() {
    if (life_ && life_->instance) life_->instance->stop(0s);
    life_.reset();
}

// ---- The operator and the world -----------------------------------------------------------------

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

void Fleet::crash_server() {
    ++figures_.crashes;
    const bool power_loss = world_.random(2) == 0;
    if (power_loss) ++figures_.losses;
    server_disk_->crash_after(1 + world_.random(400), power_loss, [this] {
        network_.cut(std::string(kServer));
        crashed_ = true;
        note("The server has crashed");
    });
    for (int i = 0; i < 120 && !crashed_; ++i) world_.sleep(5s);
    server_disk_->crash_now();
    stop_server();
    world_.sleep(
        random_time(world_.random(4) == 0 ? sys::Duration(interval() * 2) : sys::Duration(60s)));
    while (!start_server()) world_.sleep(30s);
}

void Fleet::crash_agent() {
    auto& m = machines_[world_.random(machines_.size())];
    if (m.disk->armed()) return;
    ++figures_.agent_crashes;
    m.disk->crash_after(1 + world_.random(20), world_.random(2) == 0, [this, &m] {
        network_.cut(m.name);
        m.crashed = true;
        note(m.name + " has crashed");
    });
    world_.sleep(random_time(interval() * 2));
    m.disk->crash_now();
}

void Fleet::fill_disk() {
    note("The server's disk is full");
    server_disk_->full = true;
    world_.sleep(random_time(interval()));
    server_disk_->full = false;
    note("The server's disk has room");
}

void Fleet::bad_weather() {
    auto& f = network_.faults;
    f.most_delay = std::chrono::milliseconds(1 + world_.random(400));
    f.short_reads = f.short_writes = static_cast<std::uint32_t>(world_.random(300'000));
    f.resets = static_cast<std::uint32_t>(world_.random(40'000));
    f.refusals = static_cast<std::uint32_t>(world_.random(100'000));
    world_.sleep(random_time(interval()));
    f = {};
}

void Fleet::part() {
    const auto& name = machines_[world_.random(machines_.size())].name;
    network_.part(name, std::string(kServer));
    world_.sleep(random_time(interval()));
    network_.join(name, std::string(kServer));
}

void Fleet::step_clock() {
    const auto step = random_time(world_.random(3) == 0 ? 2h : 20s);
    const bool back = world_.random(2) == 0;
    note(fmt::format("The clocks go {} by {} s", back ? "back" : "forward",
                     std::chrono::duration_cast<std::chrono::seconds>(step).count()));
    world_.step_clock(back ? -step : step);
    // A clock that went back is right again: what is signed with it has begun.
    world_.sleep(random_time(interval()));
    world_.step_clock(back ? step : -step);
}

void Fleet::trouble() {
    switch (world_.random(9)) {
        case 0:
        case 1:
        case 2: return crash_server();
        case 3:
        case 4: return crash_agent();
        case 5: return fill_disk();
        case 6: return bad_weather();
        case 7: return part();
        default: return step_clock();
    }
}

void Fleet::operate() {
    const bool in_place = world_.random(2) == 0;
    deploy(in_place);
    while (!start_server()) world_.sleep(30s);
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

void Fleet::run_agent(Machine& m) {
    if (std::exchange(m.crashed, false) || !m.agent) {
        // What it knew is gone, what is on its disk is there.
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
        const auto facts = fmt::format(
            R"({{"role":"{}","cell":"c{}","os":{{"family":"Debian"}},"networking":{{"fqdn":"x"}},"clientcert":"x"}})",
            m.role, m.cell());
        auto model = value::parse_json(*m.arena, facts);
        m.manner = std::make_unique<load::Manner>(
            load::Manner{.settings = m.settings,
                         .network = network_.host(m.name),
                         .figures = load_figures_,
                         .stopped = [&m] { return m.crashed; },
                         .address = fmt::format("{}:8140", kServer),
                         .environment = "production",
                         .user_agent = "sim",
                         .models = {*model},
                         .choices = {},
                         .drifting = 0.1,
                         // In a small fleet something shall
                         // happen all the time.
                         .changing = options_.agents > 100 ? 0.005 : 0.05,
                         .absent = 0.01,
                         .facts_interval = std::max<std::chrono::seconds>(
                             2h, std::chrono::duration_cast<std::chrono::seconds>(interval() * 4)),
                         .at_rest = true,
                         .keeps_connection = false,
                         .resumes = false,
                         .reports = load::Manner::Reports::Changed});
        m.manner->saw = [this, &m](load::Step step, const http::ClientRequest& request,
                                   const http::ClientResponse& response) {
            saw(m, step, request, response);
        };
        m.agent =
            std::make_unique<load::Agent>(*m.manner, m.name, static_cast<std::uint64_t>(m.number),
                                          options_.seed * 1'000'003 + m.lives);
        m.agent->machine().changes = m.changes;
    }
    if (calm_) m.manner->changing = m.manner->absent = 0;
    m.code_before = code_;
    m.deploys_before = deploys_;
    m.deploying_before = deploying_;
    ++figures_.runs;
    m.problem.clear();

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
    // Most runs go on with what was found good a while ago: looking at the files each time would
    // be a third of all the work.
    if (world_.now() >= m.look_at_files) {
        m.look_at_files = {};
        auto files = agent::ensure_ssl({.settings = m.settings,
                                        .log = log,
                                        .system = system_.system(),
                                        .print = [](const std::string&) {},
                                        .stopped = m.manner->stopped,
                                        .network = &m.manner->network,
                                        .authority = {},
                                        .waitforcert_seconds = 0,
                                        .onetime = true});
        if (log.renewed) ++figures_.renewals;
        if (!files) {
            m.problem = "no certificate: " + (log.text.empty() ? files.error().message : log.text);
            ++figures_.failed;
            note(fmt::format("{}: {}", m.name, m.problem));
            return;
        }
        check_certificate(m);
        m.agent->ssl = std::move(*files);
        if (options_.leap_hours == 0) m.look_at_files = world_.now() + random_time(interval() * 16);
    }
    const auto outcome = m.agent->run();
    m.changes = m.agent->machine().changes;
    if (outcome == load::Agent::Outcome::Good && !m.crashed) {
        m.last_good_ns = world_.monotonic_ns();
        note(m.name + ": a run");
    } else if (outcome != load::Agent::Outcome::Absent) {
        m.look_at_files = {};
        ++figures_.failed;
        if (m.problem.empty()) m.problem = "its run failed";
        note(fmt::format("{}: {}", m.name, m.problem));
    }
}

/// Another compile server, whose commands come late, twice, and in any order.
void Fleet::foreign_server() {
    int n = 0;
    std::vector<std::int64_t> stamps;
    while (!ended_) {
        world_.sleep(random_time(4h));
        if (calm_) continue;
        const std::string node = fmt::format("far{}", 1 + world_.random(3));
        stamps.push_back(kBegin + world_.monotonic_ns());
        ++n;
        // Of the last few, one that may be older than what was told already.
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

/// The clock leaps, and the fleet has a while to do what is due.
void Fleet::leap() {
    deploy(false);
    while (!start_server()) world_.sleep(30s);
    const auto end = world_.now() + std::chrono::duration_cast<sys::Duration>(
                                        std::chrono::duration<double>(options_.days * 86'400));
    world_.sleep(interval() * 2);
    for (int n = 1; world_.now() < end && wrongs_.empty(); ++n) {
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

// ---- What must hold -----------------------------------------------------------------------------

void Fleet::saw(Machine& m, load::Step step, const http::ClientRequest& request,
                const http::ClientResponse& response) {
    if (m.crashed) return;
    if (step == load::Step::Catalog && response.status == 200) {
        ++figures_.catalogs;
        m.catalog = read_catalog(response.body);
        m.told_changes = static_cast<int>(m.agent->machine().changes);
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
}

/// The catalog that the agent has, as of now: of its own facts and of code that stood there since
/// its run began.
void Fleet::check_catalog(Machine& m) {
    if (!m.catalog) return wrong(m.name + " was told that what it has is right, and has nothing");
    const Said& said = *m.catalog;
    if (said.node != m.name)
        wrong(fmt::format("{} was given the catalog of '{}'", m.name, said.node));
    const auto changes = static_cast<int>(m.agent->machine().changes);
    if (said.changes != changes)
        wrong(fmt::format("{} has facts {} and a catalog of facts {}", m.name, changes,
                          said.changes));
    if (said.code.empty()) return wrong(m.name + " was given an empty catalog");
    const bool in_between = m.deploying_before || deploying_ || deploys_ != m.deploys_before;
    if (in_between) return;
    const int low = *said.code.begin(), high = *said.code.rbegin();
    if (low != high) wrong(fmt::format("{} was given code {} and {} in one", m.name, low, high));
    if (low < m.code_before || high > code_) {
        wrong(fmt::format("{} was given code {} while {} stood there", m.name, low, m.code_before));
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
    std::ifstream in(server_settings().text("cert_inventory"));
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
    std::map<std::string, std::string> stored;  // the titles of a node's catalog
    const auto resources = rows("resources/Notify");
    if (resources.is_array())
        for (const auto& row : resources.as_array())
            stored[text_of(row, "certname")] +=
                fmt::format("\"title\":\"{}\"", text_of(row, "title"));

    const auto since = ended_ns_ - std::chrono::nanoseconds(interval() + 2min).count();
    std::map<int, std::map<std::string, int>> exported;  // by cell
    for (const auto& m : machines_)
        if (m.role == "web") exported[m.cell()][m.name] = static_cast<int>(m.changes);
    for (const auto& m : machines_) {
        if (m.last_good_ns < since) {
            wrong(fmt::format("{} does not run although all is calm: {}", m.name, m.problem));
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
        if (facts[m.name] != m.told_changes)
            wrong(fmt::format("The store has facts {} of {}, who told {}", facts[m.name], m.name,
                              m.told_changes));
        const auto in_store = read_catalog(stored[m.name]);
        if (in_store.code != std::set{code_})
            wrong(fmt::format("The store has not got the last catalog of {}", m.name));
        for (const auto& [uuid, when] : m.reports) {
            if (when + kReportsFor > world_.now_ns() && !reports[m.name].contains(uuid))
                wrong(
                    fmt::format("The report {} of {} was acknowledged and is gone", uuid, m.name));
        }
    }
    for (const auto& [node, known] : foreign_) {
        // What was sent last may be there although its answer was lost.
        const int stored = far[node];
        if (stored < known.acknowledged || (stored > 0 && !known.sent.contains(stored)))
            wrong(fmt::format("The store has {} of {}, the newest acknowledged is {}", stored, node,
                              known.acknowledged));
    }
    const auto dead = server_disk_->folder() + "/state/queue/dead-letters";
    if (fs::exists(dead) && !fs::is_empty(dead)) wrong("Commands were kept aside");
    check_inventory();
}

const std::vector<std::string>& Fleet::run() {
    auto agents = world_.executor({.threads = options_.agents, .name = "agents"});
    auto others = world_.executor({.threads = 2, .name = "others"});
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
    while (!operated) world_.sleep(1h);
    // Two intervals, and the longest run.
    world_.sleep(interval() * 2 + 5min);
    ended_ = true;
    ended_ns_ = world_.monotonic_ns();
    agents->stop();
    others->stop();
    world_.sleep(1min);
    check_end();
    stop_server();
    for (const auto& line : world_.events()) fmt::print(stderr, "{}\n", line);
    return wrongs_;
}

}  // namespace bunraku::sim
