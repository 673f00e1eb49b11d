// What the compiles of one state read, kept between runs, so that a node which a change does not
// meet need not be compiled to know it (docs/design/0251). All of it may be dropped at any time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compile/compiler/change.h"
#include "compile/insight/changes.h"
#include "compile/site/fleet_facts.h"
#include "language/environment/environment.h"
#include "language/environment/trace.h"

namespace bunraku::insight {

/// A file of a folder of caches: of this program, whole, and 0600. What is cut, damaged or another
/// program's is as good as none.
class CacheFile {
public:
    /// `folder` empty: nothing is kept. `key`: what it is of.
    CacheFile(const std::string& folder, std::string_view key, std::string_view ending);
    /// Nullopt: there is none. `why`, where one was there that is of no use.
    std::optional<std::string> read(std::string* why = nullptr) const;
    /// Beside it the newest of other keys stay. False: it could not be written, or is too large.
    bool write(const std::string& text) const;
    /// A digest that says nothing to who does not know this user's secret.
    std::string fingerprint(std::string_view text) const;
    bool usable() const { return !path_.empty() && !secret_.empty(); }

private:
    std::string folder_, path_, header_, secret_;
};

/// Which node each fact file of a folder is of (site::FactIndex), as the last run saw it.
site::FactIndex cached_fact_index(const std::string& folder, const std::string& source);
void cache_fact_index(const std::string& folder, const std::string& source,
                      const site::FactIndex& index);

class ReadCache {
public:
    using Snapshot = std::shared_ptr<const environment::Environment>;

    /// `key`: what compiles of the state `before` depend on beside their reads and the node.
    /// `same`: nothing of these files is otherwise in the other state.
    ReadCache(const std::string& folder, std::string_view key, Snapshot before, Snapshot after,
              std::function<bool(const std::vector<SourceOf>&)> same);

    enum class Answer : std::uint8_t {
        Unknown,  ///< it was never compiled, or read what is otherwise by now
        Touched,  ///< the other state answers otherwise
        Same
    };
    struct Look {
        Answer answer = Answer::Unknown;
        std::uint32_t kind = 0;  ///< equal for nodes that read the same
    };
    /// `whole`: the node with its facts, where `node` lacks them. For one thread.
    Look look(const site::FleetNode& node, const std::function<const site::FleetNode&()>& whole);

    /// What the compile of a node in `before` read. Thread-safe.
    void add(const site::FleetNode& node, const environment::Trace& trace,
             const std::vector<SourceOf>& sources);
    /// Writes what was added, and what was there and still holds, where nothing that was read has
    /// changed since `began_ns` (of the wall clock).
    void save(std::int64_t began_ns);

    /// What people should know; empty: nothing.
    const std::string& note() const { return note_; }

private:
    struct One {
        environment::Read kind{};
        std::string name, detail;
        std::string answer;  ///< a fingerprint; empty of what belongs to the node
        environment::ReadTable::Item item() const { return {kind, name, detail}; }
    };
    enum class State : std::uint8_t { Unasked, Same, Touched, Stale };
    struct Set {
        std::vector<std::uint32_t> ids;
        State state = State::Unasked;
        std::vector<std::uint32_t> of_node;  ///< facts and the like among them
    };
    struct Sources {
        std::vector<SourceOf> all;
        std::string text;
        State state = State::Unasked;
    };
    struct Known {
        std::string stamp, print;
        std::uint32_t set = 0, sources = 0;
        std::vector<std::uint32_t> own;  ///< reads that no other node makes
        bool good = true;
    };
    /// As it comes from a compile: data files apart, since nobody knows yet who else reads them.
    struct Fresh {
        std::string stamp, print, ids, sources;
        std::vector<std::pair<std::uint32_t, std::uint32_t>> data;  ///< file, set of keys
    };

    void load(std::string_view text);
    State state_of(std::uint32_t id);
    State state_of(Set& set);
    bool absent(int side, const std::string& path);
    std::string answer(int side, const One& read);
    const environment::Environment& side(int side) const { return side == 0 ? *before_ : *after_; }
    std::string print_of(const site::FleetNode& node, const std::vector<One>& reads,
                         const std::vector<std::uint32_t>& ids) const;
    std::uint32_t number(environment::Read kind, std::string_view name, std::string_view detail);
    static bool of_node(environment::Read kind);

    CacheFile file_;
    Snapshot before_, after_;
    std::function<bool(const std::vector<SourceOf>&)> same_;
    compiler::InputsSnapshot worlds_[2];
    std::string note_;

    std::vector<One> reads_;  ///< of the file
    std::vector<State> states_;
    std::vector<Set> sets_;
    std::vector<Sources> sources_;
    std::unordered_map<std::string, Known> nodes_;
    /// Names in a folder of a state; null: it cannot be read.
    using Listing = std::optional<std::unordered_set<std::string>>;
    struct Listings {
        std::unordered_map<std::string, Listing> known;
        std::string last;  ///< asked for last
        const Listing* listing = nullptr;
    } listings_[2];
    std::string absent_print_;  ///< fingerprint of what is not there

    std::mutex mutex_;
    std::vector<One> fresh_reads_;
    std::unordered_map<std::string, std::uint32_t> fresh_numbers_;
    std::map<std::string, std::uint32_t> key_sets_;
    std::vector<std::vector<std::uint32_t>> keys_of_;  ///< numbers of key names
    std::unordered_map<std::string, Fresh> fresh_;
    bool dirty_ = false;
};

}  // namespace bunraku::insight
