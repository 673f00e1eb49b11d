// SPDX-License-Identifier: Apache-2.0
// The service used by the HTTP API: selection of snapshots, write access, uploads with immediate
// publish, and upstreams of pull-through repositories.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "modules/forge/forge_store.h"
#include "modules/forge/snapshot.h"
#include "net/http/message.h"
#include "net/http/proxy.h"

namespace bunraku::forge {

struct ServiceOptions {
    std::string root;                ///< DIR/forge
    std::string default_repository;  ///< repository of the bare root; may be empty
    /// token with write access to everything (setting forge_token); may be empty
    std::string token;
    std::string ca_file;      ///< CA certificates for upstreams over TLS
    std::string trust_store;  ///< setting ssl_trust_store
    http::ProxyRules proxies;
    /// Number of seconds for which an upstream's result about a module is fresh.
    std::int64_t upstream_seconds = 300;
    /// Interval between writes of the download counts.
    std::chrono::milliseconds downloads_pause{30000};
    /// How long an upstream may send nothing before the request times out.
    std::chrono::milliseconds upstream_timeouts{10000};
};

using SnapshotPtr = std::shared_ptr<const Snapshot>;

/// The snapshots that a request addresses, in the order of binding.
struct Selection {
    std::vector<SnapshotPtr> snapshots;
    /// The addressed repository, or empty if the request addresses a consumer.
    std::string repository;
    /// For each snapshot, nonzero if it belongs to a pull-through repository.
    std::vector<char> pulls;
    /// Reserved names of the repositories (RepositoryConfig::own).
    std::vector<RepositoryConfig> reserving;
    /// Reports whether the `i`-th snapshot provides this module. A name that one repository owns is
    /// never taken from an upstream. Among pull-through repositories, the first bound one that has
    /// the module provides it.
    bool shows(std::size_t i, std::string_view slug) const;
    /// Reports whether the name is owned or reserved here, so that it is never requested from an
    /// upstream.
    bool owns(const module::ModuleName& module) const;
    /// True if the addressed repository or consumer does not exist or has nothing published.
    bool unknown = false;
    /// Changes with every publish and binding; used for entity tags.
    std::uint64_t version = 0;
    std::int64_t modified = 0;  ///< seconds
};

/// A request to a pull-through repository.
struct PullRequest {
    module::ModuleName module;
    bool closure = false;  ///< true to include all dependencies
    bool insist = false;   ///< true if a stale result is not acceptable
    /// Reports whether a name must not be requested from an upstream. May be empty.
    std::function<bool(const module::ModuleName&)> ours;
};

class DownloadCounts;

class ForgeService {
public:
    explicit ForgeService(ServiceOptions options);
    ~ForgeService();

    ForgeStore& forge_store() { return forge_store_; }
    DownloadCounts& downloads() { return *downloads_; }
    const ServiceOptions& options() const { return options_; }

    /// Returns the published snapshot, or null if nothing is published. Detects a publish by any
    /// process immediately, at the cost of one readlink() call. A very large snapshot is loaded in
    /// the background while the old one remains in use.
    SnapshotPtr snapshot(std::string_view repository);
    Selection repository(std::string_view id);
    Selection consumer(std::string_view id);

    enum class Access { Granted, NoToken, WrongToken };
    /// Reports whether the bearer of `token` may write to `repository`.
    Access may_write(std::string_view token, std::string_view repository);
    /// Returns the identity that the credentials of the request prove.
    Requester requester_of(const http::Request& request);
    /// Reports whether the repository is private.
    bool closed(std::string_view repository);
    bool may_read(std::string_view repository, const Requester& requester);
    /// Reports whether the token is valid. Used for data that belongs to a user.
    bool known_token(std::string_view token);

    /// Uploads and publishes a release and returns its slug. Fails with code 400, 404 or 409.
    base::Result<std::string> post(std::string_view repository, std::string_view bytes,
                                   std::string_view signature = {});
    /// Fails with code 400 or 404.
    base::Result<void> delete_release(std::string_view repository,
                                      const module::ReleaseName& release,
                                      const std::string& reason);
    base::Result<void> delete_module(std::string_view repository, const module::ModuleName& module,
                                     const std::string& reason);
    base::Result<void> deprecate(std::string_view repository, const module::ModuleName& module,
                                 const std::string& reason, const std::string& replacement);

    /// Reports whether the repository has an upstream. Does not block.
    bool pulls(std::string_view repository);
    /// Ensures that the repository contains what upstream has of `module` and, with `closure`, of
    /// all its dependencies. Waits for the network only if the module is unknown; a known module is
    /// refreshed in the background. Fails if upstream does not answer and the module is unknown.
    /// Error codes are those of PullFailure.
    base::Result<void> pull_module(std::string_view repository, const PullRequest& requested);
    /// Reports whether the module is known or upstream was asked recently, so that pull_module()
    /// does not wait, now and for the next `margin`.
    bool is_current(std::string_view repository, const module::ModuleName& module, bool insist,
                    std::chrono::milliseconds margin);
    /// Reports whether a release of the module is published.
    bool knows(std::string_view repository, const module::ModuleName& module);
    /// Fetches the archive of a release of which only the description is stored. Error codes are
    /// those of PullFailure.
    base::Result<void> pull_file(std::string_view repository, const Release& release);
    /// Reports whether the archive is stored here, so that pull_file() does not wait.
    bool has_file(std::string_view repository, const Release& release);
    /// Returns the repositories of a consumer, in the order of binding.
    std::vector<std::string> bound_to(std::string_view consumer);

private:
    base::Result<void> pull_closure(std::string_view repository, const PullRequest& requested);
    struct Slot;
    struct Pull;
    Slot& slot(std::string_view repository);
    std::shared_ptr<const std::vector<Binding>> bindings(std::uint64_t* version,
                                                         std::int64_t* modified);
    /// Publishes a repository and loads the snapshot. If only the releases `added` were added to
    /// the state `before`, `batch` is the batch that added them, and it still holds the lock.
    base::Result<void> publish(std::string_view repository,
                               const std::optional<PublishedState>& before = std::nullopt,
                               const std::vector<std::string>& added = {},
                               std::unique_ptr<ForgeStore::Batch> batch = nullptr);
    enum class Timeouts { StaleWillDo, FreshOnly, NobodyWaits };
    base::Result<void> pull_one(std::string_view repository, const module::ModuleName& module,
                                Timeouts timeout);
    /// Returns null if the repository does not exist.
    std::shared_ptr<const RepositoryConfig> config_of(std::string_view repository);
    base::Result<bool> ask_upstream(std::string_view repository, const module::ModuleName& module,
                                    const std::string& upstream, const std::string& ca_file,
                                    bool patient);
    std::string memory_key(std::string_view repository, std::string_view what) const;
    friend class Refresher;

    ServiceOptions options_;
    ForgeStore forge_store_;
    std::unique_ptr<DownloadCounts> downloads_;
    std::shared_mutex slots_mutex_;
    std::map<std::string, std::unique_ptr<Slot>, std::less<>> slots_;

    std::mutex bindings_mutex_;
    std::shared_ptr<const std::vector<Binding>> bindings_;
    std::string bindings_stamp_;
    std::uint64_t bindings_version_ = 0;
    std::int64_t bindings_modified_ = 0;

    /// Returns the tokens; reads the file again if it has changed.
    std::shared_ptr<const std::vector<Token>> tokens();
    std::shared_ptr<const std::vector<User>> users();
    std::mutex people_mutex_;
    std::shared_ptr<const std::vector<Token>> tokens_;
    std::shared_ptr<const std::vector<User>> users_;
    std::string tokens_stamp_, users_stamp_;

    std::unique_ptr<Pull> pull_;
};

}  // namespace bunraku::forge
