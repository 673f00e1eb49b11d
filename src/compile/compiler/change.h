// SPDX-License-Identifier: Apache-2.0
// Finds out whether changed inputs affect a compile whose reads are known.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/value/value.h"
#include "language/environment/environment.h"
#include "language/environment/trace.h"
#include "language/hiera/lookup.h"

namespace bunraku::compiler {

/// All inputs that the compiles of one node can read, at one time.
struct InputsSnapshot {
    std::shared_ptr<const environment::Environment> environment;
    std::shared_ptr<hiera::DataCache> data;
    value::Value facts, trusted, server_facts;  ///< of the node; undef if absent
    std::string parameters;                     ///< text of the classifier's answer
    std::function<std::optional<std::string>(std::string_view)> setting;
    /// Returns an environment variable. May be null; the files of the environment then define the
    /// variables.
    std::function<std::optional<std::string>(std::string_view)> variable;
    /// Returns the answer of a command, the store or another node. Returns nullopt if the answer is
    /// unchanged.
    std::function<std::optional<std::string>(const environment::ReadTable::Item&)> answer;
};

/// Returns what one read finds in `world`, as text. Equal results have equal texts. The clock,
/// random numbers and opaque reads have no answer.
std::string answer_to(const InputsSnapshot& inputs, const environment::ReadTable::Item& read);

/// Returns a digest of the facts at `paths` (names of Read::Fact). If two digests are equal, the
/// result of a compile that reads no other facts is equal too.
std::string facts_fingerprint(const value::Value& facts, const std::vector<std::string>& paths);

/// A change of inputs from one snapshot to another. Not thread-safe.
class Change {
public:
    /// Open `after` with the reads of `before` (environment::Spec::reads).
    Change(InputsSnapshot before, InputsSnapshot after)
        : before_(std::move(before)), after_(std::move(after)) {}

    /// Returns the reads of the trace whose answers differ between the snapshots. If there are
    /// none, the compile gives the same catalog. With `first`, stops after one.
    std::vector<environment::ReadTable::Item> touched(const environment::Trace& trace,
                                                      bool first = false);
    /// Returns the reads of the trace whose answers cannot be compared. If there are any, the
    /// result of `touched` is incomplete.
    static std::vector<environment::ReadTable::Item> unseen(const environment::Trace& trace);

private:
    InputsSnapshot before_, after_;
    /// True if the answer changed, by read id, combined with the file's id for Hiera data.
    std::unordered_map<std::uint64_t, bool> known_;
    std::shared_ptr<environment::ReadTable> table_;  ///< the table of the ids in `known_`
};

}  // namespace bunraku::compiler
