// SPDX-License-Identifier: Apache-2.0
// The states of the code that the console compares and examines: the environments of the server,
// and commits of their repositories.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compile/insight/impact.h"
#include "core/base/arena.h"
#include "core/base/result.h"
#include "services/server/role.h"
#include "store/engine/query_engine.h"

namespace bunraku::console {

/// A state as an address names it: "production", or "production@4f2a91c" for a commit, branch or
/// tag in the repository of the environment's folder.
struct CodeState {
    std::string environment, revision;
    std::string folder;   ///< absolute, without links
    std::string version;  ///< changes with the code
    /// Null for the files of the folder.
    std::shared_ptr<const environment::Files> files;

    std::string text() const {
        return revision.empty() ? environment : environment + "@" + revision;
    }
};

/// Thread-safe.
class CodeStates {
public:
    explicit CodeStates(const server::Context& context) : context_(context) {}

    /// Returns the names of all environments, sorted.
    std::vector<std::string> environments() const;
    /// Fails with a message for the visitor if the state does not exist.
    base::Result<CodeState> find(std::string_view text);
    /// Returns a text that changes when modules are added to, removed from or deployed to the
    /// environments.
    std::string module_stamp(const std::vector<std::string>& environments) const;
    /// Returns a state for insight. Its code is compiled and shown as the environment of `as`, so
    /// that two states differ only in their code.
    static insight::State state_of(const CodeState& state, const CodeState& as);
    store::QueryEngine& queries() const { return *context_.queries; }
    /// Returns a site for background work: with one thread, and without the limits for agents.
    std::unique_ptr<site::Site> background_site(base::LogSink& log) const;

private:
    std::string version_of(const std::string& folder);
    base::Result<CodeState> commit(CodeState state);

    /// How long the server uses the version of a folder before it computes it again, in
    /// milliseconds, because it has to examine every file. A branch is resolved to its commit again
    /// after the same time.
    static constexpr std::int64_t kVersionMs = 10'000;
    const server::Context& context_;
    std::mutex mutex_;
    struct Version {
        std::string text;
        std::int64_t made_ms = 0;
    };
    std::map<std::string, Version, std::less<>> versions_;  ///< by folder
    struct Commit {
        CodeState state;
        std::int64_t made_ms = 0;
    };
    std::map<std::string, Commit, std::less<>> commits_;  ///< by CodeState::text()
};

/// Reads the facts of active nodes from the store into `arena`. Leaves out nodes without facts.
base::Result<std::vector<site::FleetNode>> facts_of_nodes(store::QueryEngine& queries,
                                                          base::Arena& arena,
                                                          std::span<const std::string> names);

/// Returns at most `most` names, selected evenly, so that each call selects the same.
std::vector<std::string> sample_of(std::vector<std::string> names, std::size_t most);

}  // namespace bunraku::console
