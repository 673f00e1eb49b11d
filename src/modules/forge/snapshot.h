// SPDX-License-Identifier: Apache-2.0
// A published repository in memory, immutable and shared by all requests. The bulk (metadata,
// texts) is in two mapped files. Memory holds only views, indexes and the prepared responses of API
// v1. A snapshot with a few more releases shares everything else with the previous one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/assert.h"
#include "core/base/result.h"
#include "core/base/semver.h"
#include "modules/forge/forge_store.h"
#include "modules/forge/record.h"
#include "modules/forge/shared_chunks.h"

namespace bunraku::forge {

/// A file mapped for reading.
class MappedFile {
public:
    MappedFile() = default;
    MappedFile(const MappedFile&) = delete;
    ~MappedFile();
    base::Result<void> open(const std::string& path);
    std::string_view bytes() const { return {data_, size_}; }

private:
    const char* data_ = nullptr;
    std::size_t size_ = 0;
};

struct SnapshotModule;

struct Release {
    std::string_view author, name, version, slug, md5, sha256;
    std::uint64_t size = 0;
    std::int64_t created = 0;
    unsigned flags = 0;
    std::uint32_t module = 0;
    const Flags::Deletion* deleted = nullptr;
    base::SemVer semver;
    std::array<std::string_view, kIndexLines> index;
    std::array<const char*, kFragments> fragments{};
    std::array<std::uint32_t, kFragments> lengths{};
    std::uint32_t v1_offset = 0, v1_length = 0;  ///< position in SnapshotModule::v1

    std::string_view line(Index i) const { return index[static_cast<std::size_t>(i)]; }
    std::string_view fragment(Fragment f) const;
};

struct SnapshotModule {
    std::string slug, slashed;
    std::string_view author, name;
    std::vector<std::uint32_t> releases;  ///< newest first, including deleted ones
    std::uint32_t current = 0;            ///< the newest stable release, or the newest one
    std::uint32_t newest = 0;             ///< the newest release including pre-releases, for API v1
    bool live = false;                    ///< true if a release is not deleted
    bool owned = false;                   ///< true if a release is not from an upstream
    const Flags::Deprecation* deprecated = nullptr;
    std::string owner;  ///< API v3's description of the author, as JSON
    /// API v1's `"author/name": [...]` with all versions, oldest first.
    std::string v1;
    /// Dependencies of all versions: modules of this repository (>= 0) or missing names (negative).
    std::vector<std::int32_t> dependencies;
};

/// Returns API v3's short description of a user as JSON.
std::string owner_json(std::string_view author);

class Snapshot {
public:
    /// Reads the snapshot "ID@N" of a forge store.
    static base::Result<std::shared_ptr<const Snapshot>> load(const ForgeStore& forge_store,
                                                              const std::string& name);

    /// Returns a copy of `before` extended by the releases of `records` (heads and fragments), as
    /// "ID@N" published at `second`. None of the releases may be in `before`. Returns nullptr if a
    /// record is invalid.
    static std::shared_ptr<const Snapshot> with(std::shared_ptr<const Snapshot> before,
                                                std::string name, std::string path,
                                                std::int64_t second,
                                                const std::vector<std::string>& records);

    const std::string& repository() const { return repository_; }
    const std::string& name() const { return name_; }  ///< "ID@N"
    const std::string& path() const { return path_; }
    std::int64_t published_at() const { return published_at_; }  ///< seconds
    /// Returns the number of releases added by with() since the last full read.
    std::size_t added() const { return added_releases_.size(); }

    using Releases = SharedChunks<Release, 256>;
    using Modules = SharedChunks<SnapshotModule, 64>;
    const Releases& releases() const { return releases_; }
    /// Returns the module with the number stored in Release::module.
    const SnapshotModule& module_at(std::uint32_t number) const {
        BUNRAKU_ASSERT(number < modules_.size());
        return modules_[number];
    }
    std::size_t module_count() const { return modules_.size(); }
    /// The modules ordered by slug.
    class ModuleRange {
    public:
        explicit ModuleRange(const Snapshot& of) : of_(of) {}
        class Iterator {
        public:
            Iterator(const Snapshot* of, std::size_t at) : of_(of), at_(at) {}
            const SnapshotModule& operator*() const { return of_->modules_[of_->order_[at_]]; }
            Iterator& operator++() {
                ++at_;
                return *this;
            }
            bool operator==(const Iterator&) const = default;

        private:
            const Snapshot* of_;
            std::size_t at_;
        };
        Iterator begin() const { return {&of_, 0}; }
        Iterator end() const { return {&of_, of_.order_.size()}; }

    private:
        const Snapshot& of_;
    };
    ModuleRange modules() const { return ModuleRange(*this); }
    /// Returns the indexes of the releases of all modules, newest version first.
    const std::vector<std::uint32_t>& by_version() const { return by_version_; }
    /// Returns the module "author-name" or "author/name", or null if it does not exist.
    const SnapshotModule* module(std::string_view slug) const;
    const Release* release(std::string_view slug) const;
    /// Returns API v1's answer for a release of this snapshot: its own entry and the transitive
    /// dependencies of any version, within this repository only.
    std::string v1_answer(const Release& release) const;
    /// Returns the names that the transitive dependencies of `release` contain but this repository
    /// lacks.
    std::vector<std::string> missing_of(const Release& release) const;

private:
    /// Names that occur as dependencies but do not exist in this repository.
    struct Missing {
        std::vector<std::string> names;
        std::vector<std::string> entries;  ///< in the form of the JSON response: `"author/name":[]`
        std::unordered_map<std::string, std::int32_t> numbers;  ///< name to number: -1, -2, ...
    };
    Snapshot() = default;
    Snapshot(const Snapshot&) = default;
    base::Result<void> read();
    void number_modules();
    /// Computes the members that depend on the module's releases.
    void finish_module(SnapshotModule& module, std::uint32_t number);
    std::int32_t target_of(std::string_view name);
    /// Returns the module that a target refers to now.
    std::int32_t resolved(std::int32_t target) const {
        BUNRAKU_ASSERT(target >= 0 || static_cast<std::size_t>(-target - 1) < provided_.size());
        return target >= 0 ? target : provided_[static_cast<std::size_t>(-target - 1)];
    }
    std::int32_t number_of(std::string_view name) const;  ///< returns -1 if unknown
    template <class F>
    void closure(const Release& release, F visit) const;

    /// The snapshot that was read from disk, whose bytes and indexes are used. Null if this is that
    /// snapshot.
    std::shared_ptr<const Snapshot> root_;
    std::vector<std::shared_ptr<const std::string>> kept_;  ///< bytes of the records added later
    std::string repository_, name_, path_;
    std::int64_t published_at_ = 0;
    std::shared_ptr<const MappedFile> records_, texts_;
    std::shared_ptr<const Flags> flags_;
    Releases releases_;
    Modules modules_;
    std::vector<std::uint32_t> order_;  ///< module numbers, ordered by slug
    std::vector<std::uint32_t> by_version_;
    std::shared_ptr<const Missing> missing_;
    /// The target of each missing name: the number of the module if it was added later, otherwise
    /// the negative number by which dependencies refer to the name.
    std::vector<std::int32_t> provided_;
    struct Index {
        std::unordered_map<std::string_view, std::uint32_t> releases, modules;
        std::vector<std::string> slugs;
    };
    std::shared_ptr<const Index> index_;
    std::unordered_map<std::string, std::uint32_t> added_releases_, added_modules_;
};

}  // namespace bunraku::forge
