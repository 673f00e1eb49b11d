// SPDX-License-Identifier: Apache-2.0
// Explores exhaustively what two servers may answer one node while its target changes, the network
// is cut and servers restart (docs/design/0401-rollouts.md). Also checks that each rule is needed:
// without it, a run gets files of two versions.
#include <array>
#include <cstdint>
#include <gtest/gtest.h>
#include <optional>
#include <queue>
#include <string>
#include <unordered_set>

namespace bunraku::rollout {
namespace {

/// The rules of the protocol that a test can leave out.
enum class Without : std::uint8_t {
    Nothing,
    Acknowledgement,  ///< a target counts although a server does not know it
    LongLease,        ///< a server without contact serves nodes that have not moved for ever
    ShortLease,       ///< and nodes that have moved
    LongForward,      ///< a wave waits only for the short lease
    RefusalOfDue,     ///< a due node is served while the store is away
    ForgottenLease,   ///< a restarted server trusts its empty table
    BeginOfRun,       ///< a node changes its version at any request
    Snapshot,         ///< nodes that had their target stay settled after a change
    IdleEpoch,        ///< a node that was idle in an earlier epoch is still idle
    IdleKnown,        ///< a node is idle although a server does not know that it is due
};

/// How an agent's requests show that a run begins.
enum class Agent : std::uint8_t {
    Begins,   ///< the first request of a run is one with which runs begin
    Implies,  ///< none is; the node moves after the report of the run before
};

enum Version : std::int8_t { kNone = 0, kOld = 1, kNew = 2 };

struct Server {
    std::int8_t epoch = 0;
    Version target = kOld, settled = kNone;
    bool connected = true, short_ended = false, long_ended = false;
    auto operator<=>(const Server&) const = default;
};

/// The store, two servers, and a run of a node.
struct World {
    std::int8_t epoch = 0;
    Version target = kOld, row = kNone;
    std::array<std::int8_t, 2> acknowledged{};
    std::array<Server, 2> servers;
    std::int8_t idle = 0;      ///< epoch of the row, 0 if a run may be under way
    Version run = kNone;       ///< version of the run under way
    std::int8_t requests = 0;  ///< requests that the run may still send
    std::int8_t runs = 4, flips = 4, cuts = 3, restarts = 2;  ///< events that are left
    auto operator<=>(const World&) const = default;
};

std::string key_of(const World& w) {
    std::string out;
    const auto add = [&](int number) { out += static_cast<char>(number); };
    add(w.epoch);
    add(w.target);
    add(w.row);
    add(w.idle);
    for (std::size_t i = 0; i < 2; ++i) {
        const Server& s = w.servers[i];
        add(w.acknowledged[i]);
        add(s.epoch);
        add(s.target);
        add(s.settled);
        add(s.connected + 2 * s.short_ended + 4 * s.long_ended);
    }
    for (const int number :
         {int(w.run), int(w.requests), int(w.runs), int(w.flips), int(w.cuts), int(w.restarts)})
        add(number);
    return out;
}

class Model {
public:
    explicit Model(Without without, Agent agent = Agent::Begins)
        : without_(without), agent_(agent) {}

    /// Returns true if no run can get two versions.
    bool explore() {
        add(World{});
        while (!left_.empty() && !mixture_) {
            const World now = left_.front();
            left_.pop();
            step(now);
        }
        return !mixture_;
    }
    std::size_t states() const { return seen_.size(); }

private:
    void add(const World& world) {
        if (seen_.insert(key_of(world)).second) left_.push(world);
    }

    /// Reports whether a node may take its target (VersionTable::known_by_all).
    bool usable(const World& w) const {
        const bool back = w.epoch > 0 && w.target == kOld;
        for (std::size_t i = 0; i < 2; ++i) {
            if (w.acknowledged[i] >= w.epoch || without_ == Without::Acknowledgement) continue;
            const bool is_short = back || without_ == Without::LongForward;
            if (!(is_short ? w.servers[i].short_ended : w.servers[i].long_ended)) return false;
        }
        return true;
    }

    /// Returns the version with which a server answers, or nothing for 503.
    std::optional<Version> resolve(World& w, std::size_t i, bool begin) const {
        Server& s = w.servers[i];
        if (s.epoch == 0) {
            if (s.long_ended && without_ != Without::LongLease) return std::nullopt;
            return kOld;
        }
        if (s.short_ended && without_ != Without::ShortLease) return std::nullopt;
        if (s.settled == s.target) return s.target;
        if (!s.connected) {
            if (without_ != Without::RefusalOfDue) return std::nullopt;
            return s.settled == kNone ? kOld : s.settled;
        }
        const bool idle = w.idle > 0 && (w.idle == s.epoch || without_ == Without::IdleEpoch);
        const bool may_move = agent_ == Agent::Begins ? begin : idle;
        if (may_move && s.epoch == w.epoch && usable(w)) {
            w.row = w.target;
            w.idle = 0;
        }
        s.settled = w.row == kNone ? kOld : w.row;
        return s.settled;
    }

    void step(const World& now) {
        if (now.flips > 0) {
            World w = now;
            ++w.epoch;
            w.target = w.target == kOld ? kNew : kOld;
            --w.flips;
            add(w);
        }
        for (std::size_t i = 0; i < 2; ++i) step_server(now, i);
        step_run(now);
    }

    void step_server(const World& now, std::size_t i) {
        const Server& s = now.servers[i];
        if (s.connected) {
            // The server reads the table and acknowledges the epoch.
            World w = now;
            w.acknowledged[i] = w.epoch;
            Version settled = w.row == kNone && w.epoch > 0 ? kOld : w.row;
            if (w.epoch == 0) settled = s.settled;
            if (without_ == Without::Snapshot) settled = s.settled;
            w.servers[i] = {.epoch = w.epoch, .target = w.target, .settled = settled};
            add(w);
        }
        if (s.connected && now.cuts > 0 && i == 1) {
            World w = now;
            w.servers[i].connected = false;
            --w.cuts;
            add(w);
        }
        if (!s.connected) {
            World w = now;
            w.servers[i].connected = true;
            add(w);
            w = now;
            (s.short_ended ? w.servers[i].long_ended : w.servers[i].short_ended) = true;
            add(w);
        }
        if (now.restarts > 0) {
            World w = now;
            if (without_ == Without::ForgottenLease) {
                w.servers[i] = {.connected = s.connected};
            } else {
                w.servers[i].settled = kNone;
                w.servers[i].short_ended = w.servers[i].long_ended = true;
            }
            --w.restarts;
            add(w);
        }
    }

    void step_run(const World& now) {
        if (now.run == kNone) {
            for (std::size_t i = 0; i < 2 && now.runs > 0; ++i) {
                World w = now;
                const auto version = resolve(w, i, true);
                if (!version) continue;
                w.run = *version;
                w.requests = 3;
                --w.runs;
                add(w);
            }
            return;
        }
        World ended = now;
        ended.run = kNone;
        ended.requests = 0;
        add(ended);
        if (agent_ == Agent::Implies) {
            for (std::size_t i = 0; i < 2; ++i) report(ended, i);
        }
        for (std::size_t i = 0; i < 2 && now.requests > 0; ++i) {
            World w = now;
            const auto version = resolve(w, i, without_ == Without::BeginOfRun);
            if (!version) continue;
            if (*version != now.run) {
                mixture_ = true;
                return;
            }
            --w.requests;
            add(w);
        }
    }

    /// The report of a run comes to a server that saw the whole run (StoreVersions::idle).
    void report(const World& now, std::size_t i) {
        const Server& s = now.servers[i];
        const auto version = [](Version row) { return row == kNone ? kOld : row; };
        const bool due = s.epoch > 0 && version(s.settled) != s.target;
        if (!s.connected || !due || version(now.row) != version(s.settled)) return;
        const bool known = s.epoch == now.epoch && usable(now);
        if (!known && without_ != Without::IdleKnown) return;
        World w = now;
        w.row = version(s.settled);
        w.idle = s.epoch;
        add(w);
    }

    Without without_;
    Agent agent_;
    bool mixture_ = false;
    std::unordered_set<std::string> seen_;
    std::queue<World> left_;
};

TEST(Leases, NoRunGetsTwoVersions) {
    Model model(Without::Nothing);
    EXPECT_TRUE(model.explore());
    EXPECT_GT(model.states(), 100'000u);
}

TEST(Leases, NoImpliedRunGetsTwoVersions) {
    Model model(Without::Nothing, Agent::Implies);
    EXPECT_TRUE(model.explore());
    EXPECT_GT(model.states(), 100'000u);
    for (const auto rule : {Without::IdleEpoch, Without::IdleKnown})
        EXPECT_FALSE(Model(rule, Agent::Implies).explore());
}

class LeasesWithout : public testing::TestWithParam<Without> {};

TEST_P(LeasesWithout, SomeRunGetsTwoVersions) { EXPECT_FALSE(Model(GetParam()).explore()); }

INSTANTIATE_TEST_SUITE_P(Rules, LeasesWithout,
                         testing::Values(Without::Acknowledgement, Without::LongLease,
                                         Without::ShortLease, Without::LongForward,
                                         Without::RefusalOfDue, Without::ForgottenLease,
                                         Without::BeginOfRun, Without::Snapshot));

}  // namespace
}  // namespace bunraku::rollout
