// What the HTTP side asks: which snapshots a request means, who may write, uploads that are
// published at once, and upstreams of pull-through repositories.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "forge/depot.h"
#include "forge/snapshot.h"

namespace bunraku::forge {

struct ServiceOptions {
    std::string root;                ///< DIR/forge
    std::string default_repository;  ///< of the bare root; empty: none
    std::string token;               ///< may write everywhere (setting forge_token); empty: none
    std::string ca_file;             ///< for upstreams over TLS
    /// How long an upstream's answer about a module is taken for fresh.
    std::int64_t upstream_seconds = 300;
    /// How long an upstream may say nothing before it is taken for dead.
    std::chrono::milliseconds upstream_patience{10000};
};

using SnapshotPtr = std::shared_ptr<const Snapshot>;

/// The snapshots a request speaks of, in the order of binding.
struct Selection {
    std::vector<SnapshotPtr> snapshots;
    /// The one repository that was named; empty: a consumer.
    std::string repository;
    /// Named, but there is none, or nothing is published.
    bool unknown = false;
    /// Changes with every publish and binding: for entity tags.
    std::uint64_t version = 0;
    std::int64_t modified = 0;  ///< seconds
};

class ForgeService {
public:
    explicit ForgeService(ServiceOptions options);
    ~ForgeService();

    Depot& depot() { return depot_; }
    const ServiceOptions& options() const { return options_; }

    /// What is published at this moment: a publish by any process is seen at once (one readlink).
    /// Null: nothing. A very large snapshot is loaded aside while the old one still answers.
    SnapshotPtr snapshot(std::string_view repository);
    Selection repository(std::string_view id);
    Selection consumer(std::string_view id);

    enum class Access { Granted, NoToken, WrongToken };
    /// May the bearer of `token` write to `repository`?
    Access may_write(std::string_view token, std::string_view repository);
    /// Is this a token of somebody? For things that belong to a user.
    bool known_token(std::string_view token);

    /// Upload and publish; gives the slug. Codes 400, 404, 409.
    base::Result<std::string> post(std::string_view repository, std::string_view bytes);
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
    /// it depends on). Waits for the network unless the module is settled. Fails where upstream
    /// does not answer and nothing is known from before; codes as PullFailure.
    base::Result<void> pull_module(std::string_view repository, const module::ModuleName& module,
                                   bool closure);
    /// Upstream was asked lately: pull_module does not wait, now and for `margin` to come.
    bool settled(std::string_view repository, const module::ModuleName& module,
                 std::chrono::milliseconds margin = {});
    /// Fetches the tarball of a release that is only described yet. Codes as PullFailure.
    base::Result<void> pull_file(std::string_view repository, const Release& release);
    /// Is the tarball here, so that pull_file does not wait?
    bool has_file(std::string_view repository, const Release& release);
    /// The repositories of a consumer, in the order of binding.
    std::vector<std::string> bound_to(std::string_view consumer);

private:
    struct Slot;
    struct Pull;
    Slot& slot(std::string_view repository);
    std::shared_ptr<const std::vector<Binding>> bindings(std::uint64_t* version,
                                                         std::int64_t* modified);
    base::Result<void> pull_one(std::string_view repository, const module::ModuleName& module);
    bool knows(std::string_view repository, const module::ModuleName& module);
    /// Empty: it has none.
    std::string upstream_of(std::string_view repository);

    ServiceOptions options_;
    Depot depot_;
    std::shared_mutex slots_mutex_;
    std::map<std::string, std::unique_ptr<Slot>, std::less<>> slots_;

    std::mutex bindings_mutex_;
    std::shared_ptr<const std::vector<Binding>> bindings_;
    std::string bindings_stamp_;
    std::uint64_t bindings_version_ = 0;
    std::int64_t bindings_modified_ = 0;

    std::mutex tokens_mutex_;
    std::vector<Token> tokens_;
    std::string tokens_stamp_;

    std::unique_ptr<Pull> pull_;
};

}  // namespace bunraku::forge
