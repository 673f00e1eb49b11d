// SPDX-License-Identifier: Apache-2.0
// sim: simulates whole fleets, each in one thread and in virtual time. See tests/sim/README.md.
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
// OpenSSL deprecates the process-wide random generator without a replacement.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/rand.h>
#include <string>
#include <string_view>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "sim/fleet.h"
#include "sim/rollout_site.h"

namespace {

using bunraku::sim::Figures;
using bunraku::sim::Fleet;
using bunraku::sim::Options;

// OpenSSL uses the seed too, because otherwise the lengths of keys and signatures vary.
std::uint64_t draw_state = 0;
int draw(unsigned char* into, int size) {
    for (int i = 0; i < size; ++i) {
        std::uint64_t z = (draw_state += 0x9e3779b97f4a7c15ULL);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        into[i] = static_cast<unsigned char>(z >> 56);
    }
    return 1;
}
int ready() { return 1; }
void draw_from(std::uint64_t seed) {
    static const RAND_METHOD method = {nullptr, draw, nullptr, nullptr, draw, ready};
    draw_state = seed;
    RAND_set_rand_method(&method);
}

constexpr int kRolloutServers = 2;
/// A rollout that takes longer hangs.
constexpr unsigned kLongestSeconds = 600;

/// Seeds from `first` to `last`.
struct SeedRange {
    std::uint64_t first = 1, last = 20;
};

struct SimulationRun {
    Options options;
    std::vector<SeedRange> seeds;
    std::string seeds_file;
    bool twice = false;
    bool rollouts = false;  ///< simulate a rollout for each seed instead of a whole site
};

int usage() {
    std::fputs(
        "sim [--seeds A-B[,C-D..] | --kept FILE] [--days N] [--agents N] [--whole N] [--servers "
        "N]\n"
        "    [--interval MINUTES] [--leap HOURS] [--moves] [--calm] [--twice] [--tell]\n"
        "sim --rollouts [--seeds A-B[,C-D..]] [--agents N] [--servers N] [--interval MINUTES] "
        "[--calm] [--tell]\n",
        stderr);
    return 2;
}

/// Reads ranges such as "1-20,10001". Returns an empty list if the text is not valid.
std::vector<SeedRange> read_ranges(std::string_view text) {
    std::vector<SeedRange> out;
    const char* at = text.data();
    const char* const end = at + text.size();
    const auto number = [&](std::uint64_t& into) {
        const auto [next, error] = std::from_chars(at, end, into);
        at = next;
        return error == std::errc();
    };
    while (true) {
        SeedRange& range = out.emplace_back();
        if (!number(range.first)) return {};
        range.last = range.first;
        if (at != end && *at == '-' && (++at, !number(range.last))) return {};
        if (at == end) return out;
        if (*at++ != ',') return {};
    }
}

/// Returns the CPU seconds of this process and of its child processes.
double seconds_now() {
    double out = 0;
    for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
        rusage usage{};
        ::getrusage(who, &usage);
        for (const timeval& t : {usage.ru_utime, usage.ru_stime})
            out += static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    }
    return out;
}

/// Locks and returns the first folder that no other process uses. The lock ends with this process.
/// A single process always gets the same folder. Returns an empty string if none is free.
std::string lock_folder() {
    const std::string base = std::filesystem::exists("/dev/shm") ? "/dev/shm" : "/tmp";
    for (int n = 0; n < 100; ++n) {
        auto place = fmt::format("{}/bunraku-sim-{:02}", base, n);
        ::mkdir(place.c_str(), 0700);
        const int fd = ::open(place.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        struct stat st{};
        if (fd >= 0 && ::fstat(fd, &st) == 0 && st.st_uid == ::geteuid() &&
            ::flock(fd, LOCK_EX | LOCK_NB) == 0)
            return place;
        if (fd >= 0) ::close(fd);
    }
    return {};
}

/// Runs one seed. Returns false if an invariant was violated.
bool try_seed(const Options& options, bool twice, Figures& all) {
    std::uint64_t digest = 0;
    for (int round = 0; round < (twice ? 2 : 1); ++round) {
        draw_from(options.seed);
        Fleet fleet(options);
        const auto& wrongs = fleet.run();
        all.add(fleet.figures());
        for (const auto& w : wrongs) fmt::print(stderr, "seed {}: {}\n", options.seed, w);
        if (!wrongs.empty()) return false;
        if (round == 1 && fleet.digest() != digest) {
            fmt::print(stderr, "seed {} does not tell the same story twice\n", options.seed);
            return false;
        }
        digest = fleet.digest();
    }
    return true;
}

/// Runs one rollout. Returns false if an invariant was violated.
bool try_rollout(const Options& options, bunraku::sim::RolloutFigures& all) {
    draw_from(options.seed);
    ::alarm(kLongestSeconds);
    const auto wrongs =
        bunraku::sim::simulate_rollout({.seed = options.seed,
                                        .agents = options.agents,
                                        .servers = options.servers,
                                        .interval_minutes = options.interval_minutes,
                                        .faults = options.faults,
                                        .tell = options.tell,
                                        .place = options.place},
                                       all);
    for (const auto& w : wrongs) {
        fmt::print(stderr, "seed {} ({}): {}\n", options.seed,
                   bunraku::sim::change_of_seed(options.seed), w);
    }
    return wrongs.empty();
}

/// Runs one seed in a child process, so that state left by earlier seeds cannot influence it. `run`
/// adds to the figures.
template <class Figures, class Run>
bool try_alone(const Options& options, Figures& all, const Run& run) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return false;
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
        Figures own;
        const bool good = run(own);
        std::fflush(nullptr);
        const bool told = ::write(ends[1], &own, sizeof own) == sizeof own;
        ::_exit(good && told ? 0 : 1);
    }
    ::close(ends[1]);
    Figures own;
    const bool told = ::read(ends[0], &own, sizeof own) == sizeof own;
    ::close(ends[0]);
    int status = 0;
    const bool ended = child > 0 && ::waitpid(child, &status, 0) == child;
    if (told) all.add(own);
    if (!ended || !WIFEXITED(status))
        fmt::print(stderr, "seed {}: its process did not end well ({})\n", options.seed, status);
    return ended && told && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// Prints how many seeds have run, after each failure and after each 100th seed.
class Progress {
public:
    explicit Progress(std::size_t seeds) : seeds_(seeds) {}
    void add(std::uint64_t seed, bool good) {
        ++run_;
        if (!good) ++failed_;
        if (good && run_ % kPause != 0) return;
        if (!good) fmt::print("seed {} failed; ", seed);
        fmt::print("{} of {} seeds, {} failed, {:.1f} s of CPU\n", run_, seeds_, failed_,
                   seconds_now() - begin_);
        std::fflush(stdout);
    }
    std::size_t failed() const { return failed_; }

private:
    static constexpr std::size_t kPause = 100;
    const std::size_t seeds_;
    const double begin_ = seconds_now();
    std::size_t run_ = 0, failed_ = 0;
};

/// Runs rollouts and prints the figures. Returns false if a seed failed.
bool run_rollouts(const std::vector<Options>& cases) {
    if (cases.empty()) return true;
    const double begin = seconds_now();
    Progress progress(cases.size());
    bunraku::sim::RolloutFigures figures;
    for (const auto& one : cases) {
        const auto run = [&](auto& own) { return try_rollout(one, own); };
        progress.add(one.seed, try_alone(one, figures, run));
    }
    fmt::print(
        "{} seeds, {} failed: {} good and {} bad rollouts, {} runs, {} reports, {} crashes, {} "
        "requests without a version, {} tries, {} hangs, {} steps of clocks, {} full disks, {} "
        "commands of operators, {} refused; bad versions reached {} nodes, at most {} of one "
        "rollout\n",
        cases.size(), progress.failed(), figures.good, figures.bad, figures.runs, figures.reports,
        figures.crashes, figures.refused, figures.tries, figures.hangs, figures.steps,
        figures.full_disks, figures.orders, figures.refused_orders, figures.moved_by_bad,
        figures.most_moved);
    fmt::print("{:.1f} s of CPU\n", seconds_now() - begin);
    return progress.failed() == 0;
}

/// Runs fleets and prints the figures. Returns false if a seed failed.
bool run_fleets(const std::vector<Options>& cases, bool twice) {
    if (cases.empty()) return true;
    const double begin = seconds_now();
    Progress progress(cases.size());
    double lived = 0;
    Figures all;
    for (const auto& one : cases) {
        const auto run = [&](auto& own) { return try_seed(one, twice, own); };
        progress.add(one.seed, try_alone(one, all, run));
        lived += one.days * 86'400 * (one.agents + one.whole) * (twice ? 2 : 1);
    }
    const double took = seconds_now() - begin;
    fmt::print(
        "{} seeds, {} failed: {} runs ({} failed), {} catalogs, {} times unchanged, {} reports, "
        "{} deploys, {} crashes ({} with loss of power), {} crashes of agents, {} renewals, {} "
        "applied ({} at rest), {} drifts\n",
        cases.size(), progress.failed(), all.runs, all.failed, all.catalogs, all.unchanged,
        all.reports, all.deploys, all.crashes, all.losses, all.agent_crashes, all.renewals,
        all.applied, all.rested, all.drifts);
    fmt::print("{:.1f} s of CPU: {:.0f} agents at 1000 times real time\n", took,
               lived / took / 1000);
    return progress.failed() == 0;
}

}  // namespace

int main(int argc, char** argv) {
    SimulationRun w;
    std::vector<std::string_view> words(argv + 1, argv + argc);
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto word = words[i];
        if (word == "--calm") {
            w.options.faults = false;
        } else if (word == "--rollouts") {
            w.rollouts = true;
            w.options.agents = 200;
            w.options.servers = kRolloutServers;
        } else if (word == "--moves") {
            w.options.moves = true;
        } else if (word == "--twice") {
            w.twice = true;
        } else if (word == "--tell") {
            w.options.tell = true;
        } else if (i + 1 < words.size()) {
            const std::string value(words[++i]);
            if (word == "--seeds") {
                w.seeds = read_ranges(value);
                if (w.seeds.empty()) return usage();
            } else if (word == "--kept") {
                w.seeds_file = value;
            } else if (word == "--days") {
                w.options.days = std::strtod(value.c_str(), nullptr);
            } else if (word == "--agents") {
                w.options.agents = std::atoi(value.c_str());
            } else if (word == "--whole") {
                w.options.whole = std::atoi(value.c_str());
            } else if (word == "--servers") {
                w.options.servers = std::atoi(value.c_str());
            } else if (word == "--interval") {
                w.options.interval_minutes = std::atoi(value.c_str());
            } else if (word == "--leap") {
                w.options.leap_hours = std::atoi(value.c_str());
            } else {
                return usage();
            }
        } else {
            return usage();
        }
    }
    if (w.options.agents < 0 || w.options.whole < 0 || w.options.agents + w.options.whole < 1 ||
        w.options.servers < 1 || w.options.interval_minutes < 2 || !(w.options.days > 0))
        return usage();
    w.options.place = lock_folder();
    if (w.options.place.empty()) {
        std::fputs("sim: no folder for the disks could be made\n", stderr);
        return 2;
    }
    std::vector<Options> cases, rollouts;
    if (!w.seeds_file.empty()) {
        // "SEED AGENTS DAYS INTERVAL LEAP [WHOLE SERVERS]  # what it found", or
        // "rollout SEED AGENTS  # what it found"
        std::ifstream in(w.seeds_file);
        for (std::string line; std::getline(in, line);) {
            Options one = w.options;
            if (std::sscanf(line.c_str(), "rollout %lu %d", &one.seed, &one.agents) == 2) {
                one.servers = kRolloutServers;
                rollouts.push_back(one);
            } else if (std::sscanf(line.c_str(), "%lu %d %lf %d %d %d %d", &one.seed, &one.agents,
                                   &one.days, &one.interval_minutes, &one.leap_hours, &one.whole,
                                   &one.servers) >= 5) {
                cases.push_back(one);
            }
        }
        if (cases.empty() && rollouts.empty()) return usage();
    } else {
        if (w.seeds.empty()) w.seeds.emplace_back();
        for (const SeedRange& range : w.seeds) {
            for (auto seed = range.first; seed <= range.last; ++seed) {
                auto& list = w.rollouts ? rollouts : cases;
                list.push_back(w.options);
                list.back().seed = seed;
            }
        }
    }
    const bool good = run_rollouts(rollouts);
    return run_fleets(cases, w.twice) && good ? 0 : 1;
}
