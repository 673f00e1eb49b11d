// What the HTTP side asks: which snapshots a request means, who may write, uploads that are
// published at once, and upstreams of pull-through repositories.
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
    std::string default_repository;  ///< of the bare root; empty: none
    std::string token;               ///< may write everywhere (setting forge_token); empty: none
    std::string ca_file;             ///< for upstreams over TLS
    std::string trust_store;         ///< setting ssl_trust_store
    http::ProxyRules proxies;
    /// How long an upstream's answer about a module is taken for fresh.
    std::int64_t upstream_seconds = 300;
    /// Counts of downloads are written as often.
    std::chrono::milliseconds downloads_pause{30000};
    /// How long an upstream may say nothing before it is taken for dead.
    std::chrono::milliseconds upstream_timeouts{10000};
};

using SnapshotPtr = std::shared_ptr<const Snapshot>;

/// The snapshots a request speaks of, in the order of binding.
struct Selection {
    std::vector<SnapshotPtr> snapshots;
    /// The one repository that was named; empty: a consumer.
    std::string repository;
    /// Of each snapshot: is it of a pull-through repository?
    std::vector<char> pulls;
    /// What the repositories reserve (RepositoryConfig::own).
    std::vector<RepositoryConfig> reserving;
    /// Does the `i`-th snapshot speak for this module? Names that one repository owns are never
    /// taken from an upstream; of pull-through repositories the first bound one that has a module
    /// speaks for it.
    bool shows(std::size_t i, std::string_view slug) const;
    /// Has it a name of its own here, so that nobody else is asked for it?
    bool owns(const module::ModuleName& module) const;
    /// Named, but there is none, or nothing is published.
    bool unknown = false;
    /// Changes with every publish and binding: for entity tags.
    std::uint64_t version = 0;
    std::int64_t modified = 0;  ///< seconds
};

/// What is wanted of a pull-through repository.
struct PullRequest {
    module::ModuleName module;
    bool closure = false;  ///< and all it depends on
    bool insist = false;   ///< what is known and no longer fresh will not do
    /// Names that nobody else is asked for; unset: none.
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

    /// What is published at this moment: a publish by any process is seen at once (one readlink).
    /// Null: nothing. A very large snapshot is loaded aside while the old one still answers.
    SnapshotPtr snapshot(std::string_view repository);
    Selection repository(std::string_view id);
    Selection consumer(std::string_view id);

    enum class Access { Granted, NoToken, WrongToken };
    /// May the bearer of `token` write to `repository`?
    Access may_write(std::string_view token, std::string_view repository);
    /// Who sends this request, as far as it proves it.
    Requester requester_of(const http::Request& request);
    /// Is it for some only?
    bool closed(std::string_view repository);
    bool may_read(std::string_view repository, const Requester& requester);
    /// Is this a token of somebody? For things that belong to a user.
    bool known_token(std::string_view token);

    /// Upload and publish; gives the slug. Codes 400, 404, 409.
    base::Result<std::string> post(std::string_view repository, std::string_view bytes,
                                   std::string_view signature = {});
    /// Codes 400, 404.
    base::Result<void> delete_release(std::string_view repository,
                                      const module::ReleaseName& release,
                                      const std::string& reason);
    base::Result<void> delete_module(std::string_view repository, const module::ModuleName& module,
                                     const std::string& reason);
    base::Result<void> deprecate(std::string_view repository, const module::ModuleName& module,
                                 const std::string& reason, const std::string& replacement);

    /// Has this repository an upstream? Known without waiting.
    bool pulls(std::string_view repository);
    /// Sees that what upstream knows of `module` is in the repository (and, with `closure`, of all
    /// it depends on). Waits for the network where nothing is known of the module; where something
    /// is, that will do, and upstream is asked behind. Fails where upstream does not answer and
    /// nothing is known from before; codes as PullFailure.
    base::Result<void> pull_module(std::string_view repository, const PullRequest& requested);
    /// Something is known or upstream was asked lately: pull_module does not wait, now and for
    /// `margin` to come.
    bool is_current(std::string_view repository, const module::ModuleName& module, bool insist,
                    std::chrono::milliseconds margin);
    /// Is something published of it?
    bool knows(std::string_view repository, const module::ModuleName& module);
    /// Fetches the tarball of a release that is only described yet. Codes as PullFailure.
    base::Result<void> pull_file(std::string_view repository, const Release& release);
    /// Is the tarball here, so that pull_file does not wait?
    bool has_file(std::string_view repository, const Release& release);
    /// The repositories of a consumer, in the order of binding.
    std::vector<std::string> bound_to(std::string_view consumer);

private:
    base::Result<void> pull_closure(std::string_view repository, const PullRequest& requested);
    struct Slot;
    struct Pull;
    Slot& slot(std::string_view repository);
    std::shared_ptr<const std::vector<Binding>> bindings(std::uint64_t* version,
                                                         std::int64_t* modified);
    /// Publishes, and has it read. `before`, `added`, `batch`: of what was only added under a lock
    /// that is still held.
    base::Result<void> publish(std::string_view repository,
                               const std::optional<PublishedState>& before = std::nullopt,
                               const std::vector<std::string>& added = {},
                               std::unique_ptr<ForgeStore::Batch> batch = nullptr);
    enum class Timeouts { StaleWillDo, FreshOnly, NobodyWaits };
    base::Result<void> pull_one(std::string_view repository, const module::ModuleName& module,
                                Timeouts timeout);
    /// Null: there is no such repository.
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

    /// Read again where the file has changed.
    std::shared_ptr<const std::vector<Token>> tokens();
    std::shared_ptr<const std::vector<User>> users();
    std::mutex people_mutex_;
    std::shared_ptr<const std::vector<Token>> tokens_;
    std::shared_ptr<const std::vector<User>> users_;
    std::string tokens_stamp_, users_stamp_;

    std::unique_ptr<Pull> pull_;
};

}  // namespace bunraku::forge
