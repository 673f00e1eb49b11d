// A published repository in memory: immutable, shared by all requests. The bulk (metadata, texts)
// stays in two mapped files; what is kept beside are views, indexes and API v1's ready answers.
// One with a few releases more shares all else with the one before.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

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
    std::uint32_t v1_offset = 0, v1_length = 0;  ///< in SnapshotModule::v1

    std::string_view line(Index i) const { return index[static_cast<std::size_t>(i)]; }
    std::string_view fragment(Fragment f) const;
};

struct SnapshotModule {
    std::string slug, slashed;
    std::string_view author, name;
    std::vector<std::uint32_t> releases;  ///< the newest first; deleted ones too
    std::uint32_t current = 0;            ///< the newest stable one, or the newest
    std::uint32_t newest = 0;             ///< the newest of all, for API v1
    bool live = false;                    ///< has a release that is not deleted
    bool owned = false;                   ///< has a release that is not from an upstream
    const Flags::Deprecation* deprecated = nullptr;
    std::string owner;  ///< API v3's description of the author, JSON
    /// API v1's `"author/name": [...]` with all versions, the oldest first.
    std::string v1;
    /// What any version depends on: modules of this repository (>= 0) or, negative, missing names.
    std::vector<std::int32_t> dependencies;
};

/// API v3's short description of a user, JSON.
std::string owner_json(std::string_view author);

class Snapshot {
public:
    /// Reads the snapshot "ID@N" of a depot.
    static base::Result<std::shared_ptr<const Snapshot>> load(const ForgeStore& forge_store,
                                                              const std::string& name);

    /// `before` and the releases of `records` (heads and fragments), as "ID@N" published at
    /// `second`. None of them may be in `before`. nullptr: a record is broken.
    static std::shared_ptr<const Snapshot> with(std::shared_ptr<const Snapshot> before,
                                                std::string name, std::string path,
                                                std::int64_t second,
                                                const std::vector<std::string>& records);

    const std::string& repository() const { return repository_; }
    const std::string& name() const { return name_; }  ///< "ID@N"
    const std::string& path() const { return path_; }
    std::int64_t published_at() const { return published_at_; }  ///< seconds
    /// How many releases came by with() since the last one that was read.
    std::size_t added() const { return added_releases_.size(); }

    using Releases = SharedChunks<Release, 256>;
    using Modules = SharedChunks<SnapshotModule, 64>;
    const Releases& releases() const { return releases_; }
    /// By the number that Release::module has.
    const SnapshotModule& module_at(std::uint32_t number) const { return modules_[number]; }
    std::size_t module_count() const { return modules_.size(); }
    /// By slug.
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
    /// Indexes of releases, the newest version first (all modules together).
    const std::vector<std::uint32_t>& by_version() const { return by_version_; }
    /// "author-name" or "author/name"; null: unknown.
    const SnapshotModule* module(std::string_view slug) const;
    const Release* release(std::string_view slug) const;
    /// API v1's answer for a release of this snapshot: its own entry and the closure of what any
    /// version of its dependencies needs, within this repository only.
    std::string v1_answer(const Release& release) const;
    /// Names outside of this repository that the closure of `release` reaches.
    std::vector<std::string> missing_of(const Release& release) const;

private:
    /// Names that some dependency asks for and nobody here provides.
    struct Missing {
        std::vector<std::string> names;
        std::vector<std::string> entries;  ///< as JSON answers end: `"author/name":[]`
        std::unordered_map<std::string, std::int32_t> numbers;  ///< of a name: -1, -2, ..
    };
    Snapshot() = default;
    Snapshot(const Snapshot&) = default;
    base::Result<void> read();
    void number_modules();
    /// What a module's releases say of it.
    void finish_module(SnapshotModule& module, std::uint32_t number);
    std::int32_t target_of(std::string_view name);
    /// The module that a target means by now.
    std::int32_t resolved(std::int32_t target) const {
        return target >= 0 ? target : provided_[static_cast<std::size_t>(-target - 1)];
    }
    std::int32_t number_of(std::string_view name) const;  ///< -1: unknown
    template <class F>
    void closure(const Release& release, F visit) const;

    /// The one that was read, whose bytes and indexes are used; null: this one.
    std::shared_ptr<const Snapshot> root_;
    std::vector<std::shared_ptr<const std::string>> kept_;  ///< bytes of what came later
    std::string repository_, name_, path_;
    std::int64_t published_at_ = 0;
    std::shared_ptr<const MappedFile> records_, texts_;
    std::shared_ptr<const Flags> flags_;
    Releases releases_;
    Modules modules_;
    std::vector<std::uint32_t> order_;  ///< numbers of modules, by slug
    std::vector<std::uint32_t> by_version_;
    std::shared_ptr<const Missing> missing_;
    /// Of each missing name: the module that came with it later, or its own target.
    std::vector<std::int32_t> provided_;
    struct Index {
        std::unordered_map<std::string_view, std::uint32_t> releases, modules;
        std::vector<std::string> slugs;
    };
    std::shared_ptr<const Index> index_;
    std::unordered_map<std::string, std::uint32_t> added_releases_, added_modules_;
};

}  // namespace bunraku::forge
