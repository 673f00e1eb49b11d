// The forge's state on disk: repositories with their working sets, published snapshots, consumers
// and tokens. Several processes may use one state: commands and a running server share it.
//
//   repos/ID/units/SLUG.tar.gz, SLUG.rec   the working set (a record without tarball: see pull.h)
//   repos/ID/texts.N                       texts of the records, see text_store.h
//   repos/ID/units/SLUG.minisig            the archive's signature, where it has one
//   repos/ID/metadata/                     keys and versions of signed metadata (metadata.h)
//   repos/ID/flags                         deletions and deprecations
//   repos/ID/downloads                     how often each was fetched
//   repos/ID/config                        upstreams of a pull-through repository, names it owns
//   snapshots/ID@N/                        what a publish made; it only grows at its ends
//   snapshots/ID@N -> ID@M                 ID@M and some releases more (publish_addition.cc)
//   published/ID -> ../snapshots/ID@N      the switch: one rename
//   last                                   what deleted repositories had reached, see LastPublish
//   consumers, tokens, users               replaced as a whole
//   audit.log                              changes, refusals, and reads of what is private
//   locks/ID                               who changes a repository holds its lock
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
#include "modules/forge/metadata.h"
#include "modules/forge/readers.h"
#include "modules/forge/record.h"
#include "modules/forge/text_store.h"
#include "modules/module/signature.h"

namespace bunraku::forge {

/// What API v3 can say of a release or module after its upload.
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

struct Binding {
    std::string consumer, repository;
};

/// Who may write. Only a digest of the token is kept.
struct Token {
    std::string name, sha256;
    std::vector<std::string> repositories;  ///< "*": all
    bool reads_only = false;
    std::int64_t until = 0;  ///< seconds since the epoch; 0: for ever
    bool allows(std::string_view repository) const;
    bool over(std::int64_t now) const { return until != 0 && until <= now; }
};

/// A release of the working set.
struct Unit {
    module::ReleaseName name;
    bool remote = false;  ///< known from upstream, its tarball not fetched yet
};

/// The highest number and the latest second that a snapshot of a deleted repository had: one that
/// is made again under the same ID never has a name or a date a second time.
struct LastPublish {
    std::uint64_t number = 0;
    std::int64_t second = 0;
};

/// What a repository is, beside its releases.
struct RepositoryConfig {
    /// URLs of a pull-through repository, asked in this order; empty: an ordinary one.
    std::vector<std::string> upstreams;
    /// Authors ("acme") and modules ("acme-web") that no upstream is asked for.
    std::vector<std::string> own;
    std::string ca_file;  ///< whom the upstreams' certificates must be signed by; empty: as usual
    module::SignatureRules signatures;  ///< what is asked of uploads
    bool closed = false;                ///< only `readers` may read it
    std::vector<Reader> readers;
    bool reserves(const module::ModuleName& module) const;
    std::string text() const;
    static RepositoryConfig parse(std::string_view text);
};

/// What was published, and what it was made of.
struct PublishedState {
    std::string name;  ///< "ID@N"
    std::int64_t second = 0;
    std::uint64_t records = 0, texts = 0;  ///< bytes of .records and .texts that are its own
    std::uint64_t releases = 0;
    std::uint64_t added = 0;               ///< of them since the last one that was written whole
    std::string units_stamp, marks_stamp;  ///< of the working set, and of flags and config
    std::string text() const;
};
/// A publish that only added.
struct Addition {
    std::string name;  ///< "ID@N"
    std::int64_t second = 0;
    std::vector<std::string> records;
};
/// Below so many releases all is written anew at each publish; above, until so many were added.
inline constexpr std::uint64_t kManyReleases = 1000, kMostAdded = 2000;

/// Why an upload was refused; the message is for the sender.
enum class Refusal : int { Bad = 400, Conflict = 409 };

class ForgeStore {
public:
    /// `root` is DIR/forge; made when something is written.
    explicit ForgeStore(std::string root);
    const std::string& root() const { return root_; }

    /// True: made; false: it was there. An `upstream` replaces the one it had.
    base::Result<bool> create(std::string_view repo, const std::string& upstream = {});
    /// Repository, snapshot, bindings. Fails where there is none.
    base::Result<void> remove_repository(std::string_view repo);
    std::vector<std::string> repositories() const;
    bool exists(std::string_view repo) const;
    RepositoryConfig config(std::string_view repo) const;
    std::string config_file(std::string_view repo) const { return repo_folder(repo) + "/config"; }
    base::Result<void> configure(std::string_view repo, const RepositoryConfig& config);

    /// Stores a release. Fails with code 400 (bad) or 409 (other bytes under this version; with
    /// `fresh`, also the same bytes). `file_name`: what the sender calls it, checked where it has
    /// the form of a release's file name. One that was deleted over the API comes back. Gives the
    /// slug.
    base::Result<std::string> upload(std::string_view repo, std::string_view bytes,
                                     std::string_view file_name = {}, bool fresh = false);
    /// The signature file of a unit; empty: it has none.
    std::string signature(std::string_view repo, const std::string& slug) const;
    /// Several at once under one lock, synced to disk together: calls `each` per file.
    class Batch;
    base::Result<std::unique_ptr<Batch>> begin(std::string_view repo);

    /// Puts the signature of a unit, where it has one, beside its archive in a tree.
    base::Result<void> place_signature(std::string_view repo, const std::string& slug,
                                       const std::string& archive) const;

    /// The working set, by slug. Empty where there is no such repository.
    std::vector<Unit> units(std::string_view repo) const;
    /// The record of a unit, texts and all.
    base::Result<std::string> record(std::string_view repo, const std::string& slug) const;
    std::string unit_path(std::string_view repo, const std::string& slug) const;
    /// How many units left the working set. Empty `version`: all versions.
    base::Result<int> remove(std::string_view repo, const module::ModuleName& module,
                             std::string_view version);
    /// How many units were copied; empty `module` or `version`: all.
    base::Result<int> copy(std::string_view from, std::string_view to,
                           const std::optional<module::ModuleName>& module,
                           std::string_view version);

    Flags flags(std::string_view repo) const;
    /// Changes flags under the repository's lock.
    base::Result<void> change_flags(std::string_view repo,
                                    const std::function<base::Result<void>(Flags&)>& change);

    /// Signed metadata of what is published; changed under the repository's lock (begin()).
    TreeMetadata metadata(std::string_view repo) const {
        return TreeMetadata(repo_folder(repo) + "/metadata");
    }
    /// Makes the working set the published snapshot; gives its name, "ID@N".
    base::Result<std::string> publish(std::string_view repo);
    /// What is published, where it is all of the working set and large: publish_addition can go on
    /// from there. Under the repository's lock (begin()).
    std::optional<PublishedState> clean_state(std::string_view repo) const;
    /// Publishes the units `slugs`, which came into the working set since `before`, and nothing
    /// else. Under the repository's lock. Nullopt: only publish() can.
    base::Result<std::optional<Addition>> publish_addition(std::string_view repo,
                                                           const PublishedState& before,
                                                           const std::vector<std::string>& slugs);
    /// "ID@N" of what is published now; empty: nothing.
    std::string published(std::string_view repo) const;
    std::string snapshot_path(std::string_view snapshot) const;
    /// N of "ID@N".
    static std::uint64_t published_number(std::string_view snapshot);
    std::string published_folder() const { return root_ + "/published"; }

    base::Result<bool> bind(std::string_view consumer, std::string_view repo);
    base::Result<bool> unbind(std::string_view consumer, std::string_view repo);
    std::vector<Binding> bindings() const;
    std::string consumers_file() const { return root_ + "/consumers"; }

    /// A new token; its text is shown this once.
    base::Result<std::string> add_token(const std::string& name,
                                        const std::vector<std::string>& repositories,
                                        bool reads_only = false, std::int64_t until = 0);
    base::Result<bool> remove_token(const std::string& name);
    std::vector<Token> tokens() const;
    std::string tokens_file() const { return root_ + "/tokens"; }

    /// A new user (or one with a new password, groups and term); the password is shown this once.
    base::Result<std::string> add_user(const std::string& name,
                                       const std::vector<std::string>& groups, std::int64_t until);
    base::Result<bool> remove_user(const std::string& name);
    std::vector<User> users() const;
    std::string users_file() const { return root_ + "/users"; }
    /// How often archives were fetched: lines "SLUG\tCOUNT".
    std::string downloads(std::string_view repo) const;
    /// Replaces that by what `change` makes of it; gives the new text. Fails where there is no such
    /// repository.
    base::Result<std::string> change_downloads(
        std::string_view repo, const std::function<std::string(const std::string&)>& change) const;
    /// One line of the audit log (DIR/forge/audit.log).
    void audit(std::string_view line) const;

private:
    friend class Batch;
    base::Result<sys::FileLock> lock(std::string_view name) const;
    base::Result<void> need(std::string_view repo) const;
    LastPublish last_of_deleted() const;
    std::optional<PublishedState> published_state(const std::string& snapshot) const;
    /// The head of a unit's record, whose texts are in `store` from now on. Under the lock.
    base::Result<std::string> record_in(std::string_view repo, const std::string& slug,
                                        TextStore& store, bool* moved) const;
    /// Makes the records anew that reach beyond the first `known` bytes of `store`.
    base::Result<void> renew_records(std::string_view repo, TextStore& store,
                                     std::uint64_t known) const;
    std::string units_stamp(std::string_view repo) const;
    std::string marks_stamp(std::string_view repo) const;
    /// Makes a complete snapshot the published one.
    base::Result<void> switch_to(std::string_view repo, const std::string& snapshot);
    /// Number and date of a snapshot "ID@N".
    LastPublish published_as(const std::string& snapshot) const;
    /// Takes deletions back, under the repository's lock.
    base::Result<void> undelete(std::string_view repo, const std::vector<std::string>& slugs);
    std::string repo_folder(std::string_view repo) const;
    /// Makes the forge's folder, for its owner alone, if it is missing.
    base::Result<void> make_root() const;
    /// The mode of the folders that hold a repository's archives.
    static std::uint32_t folder_mode(const RepositoryConfig& config) {
        return config.closed ? 0700 : 0755;
    }
    base::Result<void> set_modes(std::string_view repo, const RepositoryConfig& config) const;
    base::Result<void> change_bindings(const std::function<void(std::vector<Binding>&)>& change);

    std::string root_;
    std::unique_ptr<sys::FileSystem> files_;
};

/// Changes to one working set, under its lock; what was stored is on disk when finish() is back.
class ForgeStore::Batch {
public:
    /// `created`: when it was first published, where that is known. `signature`: of the archive, a
    /// file of minisign's; what the repository demands of it is looked at.
    base::Result<std::string> upload(std::string_view bytes, std::string_view file_name = {},
                                     bool fresh = false, std::int64_t created = 0,
                                     std::string_view signature = {});
    /// Links unit `slug` of another repository into this one. False: it was there already.
    base::Result<bool> link(std::string_view from, const std::string& slug);
    /// Stores a record whose tarball is still upstream; false: the unit is there already.
    base::Result<bool> store_remote(const RemoteRelease& release);
    /// Fills in the tarball of a remote unit; the bytes are checked against the record.
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
    std::unique_ptr<TextStore> texts_;  ///< once it is needed
    std::vector<std::string> written_;
    int counter_ = 0;
};

}  // namespace bunraku::forge
