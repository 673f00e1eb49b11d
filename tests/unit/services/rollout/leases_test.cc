// SPDX-License-Identifier: Apache-2.0
// Explores exhaustively what two servers may answer one node while its target changes, the network
// is cut and servers restart (docs/design/0401-rollouts.md), for a rollout and for tries. Also
// checks that each rule is needed: without it, a run gets files of two versions.
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
    Joined,           ///< the lease of a server ends although it does not know the node
    Marker,           ///< a server that has restarted answers before it has read the table
    SteadyClock,      ///< a step of the clock ends the lease for others, but not for the server
    LongLease,        ///< a server without contact serves nodes that have not moved for ever
    ShortLease,       ///< and nodes that have moved
    LongForward,      ///< a wave waits only for the short lease
    RefusalOfDue,     ///< a due node is served while the store is away
    BeginOfRun,       ///< a node changes its version at any request
    Snapshot,         ///< nodes that had their target stay settled after a change
    EpochOfTry,       ///< a try begins and ends without a new epoch
    EndByStore,       ///< a try ends by the clock of each server
    IdleEpoch,        ///< a node that was idle in an earlier epoch is still idle
    IdleKnown,        ///< a node is idle although a server does not know that it is due
};

/// Why the node gets another version.
enum class Kind : std::uint8_t {
    Rollout,  ///< the node becomes a member; then its target changes back and forth
    Try,      ///< the node gets the new version and then is no member any more, repeatedly
};

/// How an agent's requests show that a run begins.
enum class Agent : std::uint8_t {
    Begins,   ///< the first request of a run is one with which runs begin
    Implies,  ///< none is; the node moves after the report of the run before
};

enum Version : std::int8_t { kNone = 0, kOld = 1, kNew = 2 };
Version or_old(Version row) { return row == kNone ? kOld : row; }

struct Server {
    std::int8_t epoch = 0;
    bool knows = false;  ///< its table contains the node
    Version target = kOld, row = kNone;
    bool connected = true, short_ended = false, long_ended = false;
    bool loaded = true;   ///< it has read the table since its start
    bool marked = false;  ///< it has read a table that contains the node
};

/// The store, two servers, and a run of a node.
struct World {
    std::int8_t epoch = 0;
    std::int8_t joined = 0;  ///< the epoch in which the node became a member
    bool member = false;
    Version target = kOld, row = kNone;
    std::int8_t idle = 0;  ///< epoch of the row, 0 if a run may be under way
    std::array<std::int8_t, 2> acknowledged{};
    std::array<Server, 2> servers;
    Version run = kNone;       ///< version of the run under way
    std::int8_t requests = 0;  ///< requests that the run may still send
    std::int8_t runs = 4, changes = 3, cuts = 2, restarts = 2;  ///< events that are left
};

std::string key_of(const World& w) {
    std::string out;
    const auto add = [&](int number) { out += static_cast<char>(number); };
    for (const int number :
         {int(w.epoch), int(w.joined), int(w.member), int(w.target), int(w.row), int(w.idle),
          int(w.run), int(w.requests), int(w.runs), int(w.changes), int(w.cuts), int(w.restarts)})
        add(number);
    for (std::size_t i = 0; i < 2; ++i) {
        const Server& s = w.servers[i];
        add(w.acknowledged[i]);
        add(s.epoch);
        add(s.target + 4 * s.row);
        add(s.connected + 2 * s.short_ended + 4 * s.long_ended + 8 * s.knows + 16 * s.loaded +
            32 * s.marked);
    }
    return out;
}

class Model {
public:
    explicit Model(Kind kind, Agent agent = Agent::Begins, Without without = Without::Nothing)
        : kind_(kind), agent_(agent), without_(without) {}

    /// Returns true if no run can get two versions.
    bool explore() {
        // Both servers know an epoch of earlier rollouts.
        World first{.epoch = 1, .acknowledged = {1, 1}};
        for (Server& server : first.servers) server.epoch = 1;
        add(first);
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
        if (without_ == Without::Acknowledgement) return true;
        const bool back = w.target == kOld;
        for (std::size_t i = 0; i < 2; ++i) {
            if (w.acknowledged[i] >= w.epoch) continue;
            if (w.acknowledged[i] < w.joined && without_ != Without::Joined) return false;
            if (without_ == Without::SteadyClock) continue;
            const bool is_short = back || without_ == Without::LongForward;
            if (!(is_short ? w.servers[i].short_ended : w.servers[i].long_ended)) return false;
        }
        return true;
    }

    /// Reports whether a server may not answer by itself (StoreVersions::without_lease).
    bool refuses(const Server& s) const {
        if (!s.loaded) return s.marked && without_ != Without::Marker;
        if (!s.knows) return false;
        const bool moved = s.target == kNew || s.row != kNone;
        if (moved) return s.short_ended && without_ != Without::ShortLease;
        return s.long_ended && without_ != Without::LongLease;
    }

    /// Returns the version with which a server answers, or nothing for 503.
    std::optional<Version> resolve(World& w, std::size_t i, bool begin) const {
        Server& s = w.servers[i];
        if (refuses(s)) return std::nullopt;
        if (!s.loaded || !s.knows) return kOld;
        const Version present = or_old(s.row);
        if (present == s.target) return present;
        if (!s.connected) {
            if (without_ != Without::RefusalOfDue) return std::nullopt;
            return present;
        }
        const bool idle = w.idle > 0 && (w.idle == s.epoch || without_ == Without::IdleEpoch);
        const bool may_move = agent_ == Agent::Begins ? begin : idle;
        if (or_old(w.row) != s.target && may_move && s.epoch == w.epoch && usable(w)) {
            w.row = s.target;
            w.idle = 0;
        }
        if (w.row != kNone) s.row = w.row;
        return or_old(w.row);
    }

    void step(const World& now) {
        step_target(now);
        for (std::size_t i = 0; i < 2; ++i) step_server(now, i);
        step_run(now);
    }

    void step_target(const World& now) {
        World w = now;
        if (without_ != Without::EpochOfTry) ++w.epoch;
        if (now.changes > 0 && !now.member) {
            w.member = true;
            w.joined = w.epoch;
            w.target = kind_ == Kind::Try ? kNew : kOld;
            --w.changes;
            add(w);
        } else if (now.changes > 0 && kind_ == Kind::Rollout) {
            w.target = now.target == kOld ? kNew : kOld;
            --w.changes;
            add(w);
        } else if (now.member && kind_ == Kind::Try) {
            w.member = false;
            w.target = kOld;
            add(w);
        }
        // After the time of the longest run, the row of a node that is back is removed.
        if (!now.member && now.row == kOld && now.run == kNone) {
            w = now;
            w.row = kNone;
            w.idle = 0;
            add(w);
        }
    }

    void step_server(const World& now, std::size_t i) {
        const Server& s = now.servers[i];
        if (without_ == Without::EndByStore && s.target == kNew) {
            World w = now;
            w.servers[i].target = kOld;
            add(w);
        }
        if (s.connected) {
            // The server reads the table and acknowledges the epoch.
            World w = now;
            w.acknowledged[i] = w.epoch;
            const bool knows = w.member || w.row != kNone;
            w.servers[i] = {.epoch = w.epoch,
                            .knows = knows,
                            .target = w.target,
                            .row = without_ == Without::Snapshot ? s.row : w.row,
                            .marked = s.marked || knows};
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
            w.servers[i] = {.connected = s.connected,
                            .short_ended = true,
                            .long_ended = true,
                            .loaded = false,
                            .marked = s.marked};
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
        const bool due = s.loaded && s.knows && or_old(s.row) != s.target;
        if (!s.connected || !due || or_old(now.row) != or_old(s.row)) return;
        const bool known = s.epoch == now.epoch && usable(now);
        if (!known && without_ != Without::IdleKnown) return;
        World w = now;
        w.row = or_old(s.row);
        w.idle = s.epoch;
        add(w);
    }

    const Kind kind_;
    const Agent agent_;
    const Without without_;
    bool mixture_ = false;
    std::unordered_set<std::string> seen_;
    std::queue<World> left_;
};

bool is_safe(Kind kind, Agent agent, Without without) {
    return Model(kind, agent, without).explore();
}

TEST(Leases, NoRunGetsTwoVersions) {
    for (const auto kind : {Kind::Rollout, Kind::Try}) {
        for (const auto agent : {Agent::Begins, Agent::Implies}) {
            Model model(kind, agent);
            EXPECT_TRUE(model.explore());
            EXPECT_GT(model.states(), 70'000u);
        }
    }
}

class LeasesWithout : public testing::TestWithParam<Without> {};

TEST_P(LeasesWithout, SomeRunGetsTwoVersions) {
    EXPECT_FALSE(is_safe(Kind::Rollout, Agent::Begins, GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Rules, LeasesWithout,
                         testing::Values(Without::Acknowledgement, Without::Joined, Without::Marker,
                                         Without::SteadyClock, Without::LongLease,
                                         Without::ShortLease, Without::LongForward,
                                         Without::RefusalOfDue, Without::BeginOfRun,
                                         Without::Snapshot));

class TriesWithout : public testing::TestWithParam<Without> {};

TEST_P(TriesWithout, SomeRunGetsTwoVersions) {
    EXPECT_FALSE(is_safe(Kind::Try, Agent::Begins, GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Rules, TriesWithout,
                         testing::Values(Without::Acknowledgement, Without::Joined, Without::Marker,
                                         Without::SteadyClock, Without::ShortLease,
                                         Without::RefusalOfDue, Without::BeginOfRun,
                                         Without::Snapshot, Without::EpochOfTry,
                                         Without::EndByStore));

TEST(Leases, AgentsWithoutABeginNeedTheirOwnRules) {
    EXPECT_FALSE(is_safe(Kind::Rollout, Agent::Implies, Without::IdleKnown));
    for (const auto rule : {Without::IdleKnown, Without::IdleEpoch, Without::EpochOfTry})
        EXPECT_FALSE(is_safe(Kind::Try, Agent::Implies, rule));
}

}  // namespace
}  // namespace bunraku::rollout
