// SPDX-License-Identifier: Apache-2.0
// The forge's state on disk: repositories with their working sets, published snapshots, consumers
// and tokens. Several processes may share one state, for example commands and a running server.
//
//   repos/ID/units/SLUG.tar.gz, SLUG.rec   the working set (a record without archive: see pull.h)
//   repos/ID/texts.N                       texts of the records, see text_store.h
//   repos/ID/units/SLUG.minisig            the archive's signature, if it has one
//   repos/ID/metadata/                     keys and versions of signed metadata (metadata.h)
//   repos/ID/flags                         deletions and deprecations
//   repos/ID/downloads                     number of downloads per release
//   repos/ID/config                        upstreams of a pull-through repository, reserved names
//   snapshots/ID@N/                        result of a publish; files are only appended to
//   snapshots/ID@N -> ID@M                 ID@M with a few more releases (publish_addition.cc)
//   published/ID -> ../snapshots/ID@N      the current snapshot, switched by one rename
//   last                                   last numbers of deleted repositories, see LastPublish
//   consumers, tokens, users               replaced as a whole
//   audit.log                              changes, refusals, and reads of private repositories
//   locks/ID                               lock for changes to a repository
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/sys/file_system.h"
#include "core/sys/lock.h"
#include "modules/forge/forge_access.h"
#include "modules/forge/metadata.h"
#include "modules/forge/readers.h"
#include "modules/forge/record.h"
#include "modules/forge/text_store.h"
#include "modules/module/signature.h"

namespace bunraku::forge {

/// State of a release or module that API v3 can change after the upload.
struct Flags {
    struct Deletion {
        std::string slug, at, reason;
    };
    struct Deprecation {
        std::string module, at, reason, replacement;
    };
    std::vector<Deletion> deleted;
    std::vector<Deprecation> deprecated;

    const Deletion* deletion(std::string_view slug) const;
    const Deprecation* deprecation(std::string_view module) const;
    std::string text() const;
    static Flags parse(std::string_view text);
};

/// A release of the working set.
struct Unit {
    module::ReleaseName name;
    bool remote = false;  ///< true if only an upstream's description exists, without the archive
};

/// The highest number and the latest time of a snapshot of a deleted repository. A repository that
/// is created again under the same ID never reuses a name or a time.
struct LastPublish {
    std::uint64_t number = 0;
    std::int64_t second = 0;
};

/// Settings of a repository.
struct RepositoryConfig {
    /// URLs of the upstreams of a pull-through repository, in the order of use. Empty for an
    /// ordinary repository.
    std::vector<std::string> upstreams;
    /// Reserved authors ("acme") and modules ("acme-web"), which are never requested from an
    /// upstream.
    std::vector<std::string> own;
    std::string ca_file;  ///< CA certificates for the upstreams; if empty, the default ones
    module::SignatureRules signatures;  ///< signature rules for uploads
    bool closed = false;                ///< true if only `readers` may read the repository
    std::vector<Reader> readers;
    bool reserves(const module::ModuleName& module) const;
    std::string text() const;
    static RepositoryConfig parse(std::string_view text);
};

/// A published snapshot and the state that it was made from.
struct PublishedState {
    std::string name;  ///< "ID@N"
    std::int64_t second = 0;
    /// size of the snapshot's own part of .records and .texts in bytes
    std::uint64_t records = 0, texts = 0;
    std::uint64_t releases = 0;
    std::uint64_t added = 0;               ///< number of releases added since the last full publish
    std::string units_stamp, marks_stamp;  ///< stamps of the working set, and of flags and config
    std::string text() const;
};
/// The result of a publish that only added releases.
struct Addition {
    std::string name;  ///< "ID@N"
    std::int64_t second = 0;
    std::vector<std::string> records;
};
/// Below kManyReleases releases, each publish writes everything. Above it, a full publish happens
/// after kMostAdded additions.
inline constexpr std::uint64_t kManyReleases = 1000, kMostAdded = 2000;

/// Reason for refusing an upload; the message is for the sender.
enum class Refusal : int { Bad = 400, Conflict = 409 };

class ForgeStore {
public:
    /// `root` is DIR/forge. It is created by the first write.
    explicit ForgeStore(std::string root);
    const std::string& root() const { return root_; }

    /// Returns true if the repository was created, false if it existed. `upstream`, if not empty,
    /// replaces its upstreams.
    base::Result<bool> create(std::string_view repo, const std::string& upstream = {});
    /// Removes the repository, its snapshots and its bindings. Fails if it does not exist.
    base::Result<void> remove_repository(std::string_view repo);
    std::vector<std::string> repositories() const;
    bool exists(std::string_view repo) const;
    RepositoryConfig config(std::string_view repo) const;
    std::string config_file(std::string_view repo) const { return repo_folder(repo) + "/config"; }
    base::Result<void> configure(std::string_view repo, const RepositoryConfig& config);

    /// Stores a release and returns its slug. Fails with code 400 (invalid) or 409 (this version
    /// exists with other bytes or, if `fresh` is set, at all). `file_name` is the name given by the
    /// sender; it is checked if it has the form of a release's file name. An upload restores a
    /// release that was deleted over the API.
    base::Result<std::string> upload(std::string_view repo, std::string_view bytes,
                                     std::string_view file_name = {}, bool fresh = false);
    /// Returns the signature file of a unit, or an empty string if it has none.
    std::string signature(std::string_view repo, const std::string& slug) const;
    /// Several changes under one lock, synced to disk together.
    class Batch;
    base::Result<std::unique_ptr<Batch>> begin(std::string_view repo);

    /// Links the signature of a unit, if it has one, next to its archive in a tree.
    base::Result<void> place_signature(std::string_view repo, const std::string& slug,
                                       const std::string& archive) const;

    /// Returns the working set, ordered by slug. Empty if the repository does not exist.
    std::vector<Unit> units(std::string_view repo) const;
    /// Returns the record of a unit, including its texts.
    base::Result<std::string> record(std::string_view repo, const std::string& slug) const;
    std::string unit_path(std::string_view repo, const std::string& slug) const;
    /// Removes units and returns their number. An empty `version` means all versions.
    base::Result<int> remove(std::string_view repo, const module::ModuleName& module,
                             std::string_view version);
    /// Copies units and returns their number. An empty `module` or `version` means all.
    base::Result<int> copy(std::string_view from, std::string_view to,
                           const std::optional<module::ModuleName>& module,
                           std::string_view version);

    Flags flags(std::string_view repo) const;
    /// Changes flags under the lock of the repository.
    base::Result<void> change_flags(std::string_view repo,
                                    const std::function<base::Result<void>(Flags&)>& change);

    /// Returns the signed metadata of the published tree. It may only be changed under the lock of
    /// the repository (begin()).
    TreeMetadata metadata(std::string_view repo) const {
        return TreeMetadata(repo_folder(repo) + "/metadata");
    }
    /// Publishes the working set as a new snapshot and returns its name, "ID@N".
    base::Result<std::string> publish(std::string_view repo);
    /// Returns the published state if it is large and contains the whole working set, so that
    /// publish_addition() can extend it. The caller holds the lock of the repository (begin()).
    std::optional<PublishedState> clean_state(std::string_view repo) const;
    /// Publishes only the units `slugs`, which were added to the working set since `before`. The
    /// caller holds the lock of the repository. Returns nullopt if a full publish() is needed.
    base::Result<std::optional<Addition>> publish_addition(std::string_view repo,
                                                           const PublishedState& before,
                                                           const std::vector<std::string>& slugs);
    /// Returns the name "ID@N" of the published snapshot, or an empty string if there is none.
    std::string published(std::string_view repo) const;
    std::string snapshot_path(std::string_view snapshot) const;
    /// Returns the N of "ID@N".
    static std::uint64_t published_number(std::string_view snapshot);
    std::string published_folder() const { return root_ + "/published"; }

    /// Returns the consumers, tokens and users of the forge.
    ForgeAccess access() const { return ForgeAccess(*this); }

    /// Returns the download counts as lines "SLUG\tCOUNT".
    std::string downloads(std::string_view repo) const;
    /// Replaces the download counts with the result of `change` and returns the new text. Fails if
    /// the repository does not exist.
    base::Result<std::string> change_downloads(
        std::string_view repo, const std::function<std::string(const std::string&)>& change) const;
    /// Appends a line to the audit log (DIR/forge/audit.log).
    void audit(std::string_view line) const;

private:
    friend class Batch;
    friend class ForgeAccess;
    class SnapshotWriter;
    std::string making_folder(std::string_view repo) const;
    base::Result<std::uint64_t> remove_old_snapshots(std::string_view repo,
                                                     const std::string& current) const;
    base::Result<sys::FileLock> lock(std::string_view name) const;
    base::Result<void> need(std::string_view repo) const;
    LastPublish last_of_deleted() const;
    std::optional<PublishedState> published_state(const std::string& snapshot) const;
    /// Returns the head of a unit's record, after moving its texts to `store`. The caller holds the
    /// lock.
    base::Result<std::string> record_in(std::string_view repo, const std::string& slug,
                                        TextStore& store, bool* moved) const;
    /// Rebuilds the records that refer to bytes of `store` at or after offset `known`.
    base::Result<void> renew_records(std::string_view repo, TextStore& store,
                                     std::uint64_t known) const;
    std::string units_stamp(std::string_view repo) const;
    std::string marks_stamp(std::string_view repo) const;
    /// Publishes a complete snapshot by switching to it.
    base::Result<void> switch_to(std::string_view repo, const std::string& snapshot);
    /// Returns the number and date of the snapshot "ID@N".
    LastPublish published_as(const std::string& snapshot) const;
    /// Restores deleted releases. The caller holds the lock of the repository.
    base::Result<void> undelete(std::string_view repo, const std::vector<std::string>& slugs);
    std::string repo_folder(std::string_view repo) const;
    /// Creates the forge's folder if it is missing, accessible only by its owner.
    base::Result<void> make_root() const;
    /// Returns the mode of the folders that contain the archives of a repository.
    static std::uint32_t folder_mode(const RepositoryConfig& config) {
        return config.closed ? 0700 : 0755;
    }
    base::Result<void> set_modes(std::string_view repo, const RepositoryConfig& config) const;

    std::string root_;
    std::unique_ptr<sys::FileSystem> files_;
};

/// Changes to one working set, under its lock. All stored files are on disk when finish() returns.
class ForgeStore::Batch {
public:
    /// Stores a release. `created` is the time of its first publication, if known. `signature` is
    /// the minisign file of the archive; it must satisfy the signature rules of the repository.
    base::Result<std::string> upload(std::string_view bytes, std::string_view file_name = {},
                                     bool fresh = false, std::int64_t created = 0,
                                     std::string_view signature = {});
    /// Links the unit `slug` of another repository into this one. Returns false if it exists here
    /// already.
    base::Result<bool> link(std::string_view from, const std::string& slug);
    /// Stores a record whose archive is still upstream. Returns false if the unit exists already.
    base::Result<bool> store_remote(const RemoteRelease& release);
    /// Stores the archive of a remote unit after checking it against the record.
    base::Result<void> fill_remote(const std::string& slug, std::string_view bytes,
                                   std::string_view signature = {});
    base::Result<void> erase(const std::string& slug);
    bool has(const std::string& slug) const;
    base::Result<void> finish();

private:
    friend class ForgeStore;
    Batch(ForgeStore& forge_store, std::string repo, sys::FileLock lock);
    base::Result<void> write(const std::string& name, std::string_view bytes);
    base::Result<void> write_record(const std::string& slug, std::string_view record);
    base::Result<void> store_signature(const std::string& slug, std::string_view signature);
    ForgeStore& forge_store_;
    std::string repo_, units_, temporary_;
    module::SignatureRules rules_;
    sys::FileLock lock_;
    std::unique_ptr<TextStore> texts_;  ///< opened on first use
    std::vector<std::string> written_;
    int counter_ = 0;
};

}  // namespace bunraku::forge
