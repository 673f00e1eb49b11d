// Whether a change of the world touches a compile whose reads are known.
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

/// Everything that the compiles of one node can read, at one time.
struct InputsSnapshot {
    std::shared_ptr<const environment::Environment> environment;
    std::shared_ptr<hiera::DataCache> data;
    value::Value facts, trusted, server_facts;  ///< of the node; undef: none
    std::string parameters;                     ///< what its classifier says, as text
    std::function<std::optional<std::string>(std::string_view)> setting;
    /// Environment variables; null: as the environment's files say.
    std::function<std::optional<std::string>(std::string_view)> variable;
    /// What commands, the store and other nodes answer; nullopt: as before.
    std::function<std::optional<std::string>(const environment::ReadTable::Item&)> answer;
};

/// What the world answers to one read, in a text that is equal for equal answers. The clock, random
/// numbers and what is opaque answer nothing.
std::string answer_to(const InputsSnapshot& world, const environment::ReadTable::Item& read);

/// A digest of the facts at these paths (names of Read::Fact): the same for two machines or times
/// means that a compile which read nothing else of the facts cannot tell them apart.
std::string facts_fingerprint(const value::Value& facts, const std::vector<std::string>& paths);

/// The step from one world to another. Not thread-safe.
class Change {
public:
    /// `after` should have been opened with the reads of `before` (environment::Spec::reads).
    Change(InputsSnapshot before, InputsSnapshot after)
        : before_(std::move(before)), after_(std::move(after)) {}

    /// The reads of the trace that the change answers otherwise; none: the compile would give the
    /// same catalog. With `first` at most one.
    std::vector<environment::ReadTable::Item> touched(const environment::Trace& trace,
                                                      bool first = false);
    /// The reads of the trace of which nothing can be known: while there are some, `touched` says
    /// less than the truth.
    static std::vector<environment::ReadTable::Item> unseen(const environment::Trace& trace);

private:
    InputsSnapshot before_, after_;
    /// By number, and that of the data file where there is one: whether it is answered otherwise.
    std::unordered_map<std::uint64_t, bool> known_;
    std::shared_ptr<environment::ReadTable> table_;  ///< whose numbers these are
};

}  // namespace bunraku::compiler
