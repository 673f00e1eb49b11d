// SPDX-License-Identifier: Apache-2.0
// A cache of the reads of a state's compiles, stored between runs. A node whose reads did not
// change need not be compiled again (docs/design/0251). The cache may be deleted at any time.
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

/// A cache file with mode 0600. A truncated or damaged file, or one of another program version,
/// counts as missing.
class CacheFile {
public:
    /// If `folder` is empty, nothing is cached. `key` identifies the content.
    CacheFile(const std::string& folder, std::string_view key, std::string_view ending);
    /// Returns nullopt unless a valid file exists. Sets `why` if the file exists but is not valid.
    std::optional<std::string> read(std::string* why = nullptr) const;
    /// Writes the file, and deletes all but the newest cache files. Returns false if the file is
    /// too large or cannot be written.
    bool write(const std::string& text) const;
    /// Returns a digest keyed with a secret of this user. Without the secret it reveals nothing.
    std::string fingerprint(std::string_view text) const;
    bool usable() const { return !path_.empty() && !secret_.empty(); }

private:
    std::string folder_, path_, header_, secret_;
};

/// Returns the node of each fact file in a folder (site::FactIndex), as of the last run.
site::FactIndex cached_fact_index(const std::string& folder, const std::string& source);
void cache_fact_index(const std::string& folder, const std::string& source,
                      const site::FactIndex& index);

class ReadCache {
public:
    using Snapshot = std::shared_ptr<const environment::Environment>;

    /// `key` covers all that compiles of the state `before` depend on, apart from their reads and
    /// the node. `same` reports whether these files are the same in both states.
    ReadCache(const std::string& folder, std::string_view key, Snapshot before, Snapshot after,
              std::function<bool(const std::vector<SourceOf>&)> same);

    enum class Answer : std::uint8_t {
        Unknown,  ///< never compiled, or its reads have changed since
        Touched,  ///< the other state gives other answers
        Same
    };
    struct Look {
        Answer answer = Answer::Unknown;
        std::uint32_t kind = 0;  ///< equal for nodes with the same reads
    };
    /// Looks up a node. `whole` returns the node with its facts if `node` lacks them. Not
    /// thread-safe.
    Look look(const site::FleetNode& node, const std::function<const site::FleetNode&()>& whole);

    /// Adds the reads of the compile of a node in `before`. Thread-safe.
    void add(const site::FleetNode& node, const environment::Trace& trace,
             const std::vector<SourceOf>& sources);
    /// Writes the added reads and the cached ones that are still valid. Writes nothing if an input
    /// changed since `began_ns` (wall clock).
    void save(std::int64_t began_ns);

    /// Returns a note for the user; empty if there is none.
    const std::string& note() const { return note_; }

private:
    struct One {
        environment::Read kind{};
        std::string name, detail;
        std::string answer;  ///< fingerprint; empty for reads that depend on the node
        environment::ReadTable::Item item() const { return {kind, name, detail}; }
    };
    enum class State : std::uint8_t { Unchecked, Same, Touched, Stale };
    struct Set {
        std::vector<std::uint32_t> ids;
        State state = State::Unchecked;
        std::vector<std::uint32_t> of_node;  ///< reads that depend on the node, such as facts
    };
    struct Sources {
        std::vector<SourceOf> all;
        std::string text;
        State state = State::Unchecked;
    };
    struct Known {
        std::string stamp, print;
        std::uint32_t set = 0, sources = 0;
        std::vector<std::uint32_t> own;  ///< reads of this node only
        bool good = true;
    };
    /// The reads of a new compile. Data files are separate until it is known which other nodes read
    /// them.
    struct Fresh {
        std::string stamp, print, ids, sources;
        std::vector<std::pair<std::uint32_t, std::uint32_t>> data;  ///< (file, set of keys)
    };

    class Saving;
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
    compiler::InputsSnapshot snapshots_[2];
    std::string note_;

    std::vector<One> reads_;  ///< reads in the loaded file
    std::vector<State> states_;
    std::vector<Set> sets_;
    std::vector<Sources> sources_;
    std::unordered_map<std::string, Known> nodes_;
    /// Names in a folder of a state; nullopt if it is unreadable.
    using Listing = std::optional<std::unordered_set<std::string>>;
    struct Listings {
        std::unordered_map<std::string, Listing> known;
        std::string last;  ///< last folder requested
        const Listing* listing = nullptr;
    } listings_[2];
    std::string absent_print_;  ///< fingerprint of a missing file

    std::mutex mutex_;
    std::vector<One> fresh_reads_;
    std::unordered_map<std::string, std::uint32_t> fresh_numbers_;
    std::map<std::string, std::uint32_t> key_sets_;
    std::vector<std::vector<std::uint32_t>> keys_of_;  ///< ids of key names
    std::unordered_map<std::string, Fresh> fresh_;
    bool dirty_ = false;
};

}  // namespace bunraku::insight
