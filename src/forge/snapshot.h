// A published repository in memory: immutable, shared by all requests. The bulk (metadata, texts)
// stays in two mapped files; what is kept beside are views, indexes and API v1's ready answers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/semver.h"
#include "forge/depot.h"
#include "forge/record.h"

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
    const char* fragments = nullptr;
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
    static base::Result<std::shared_ptr<const Snapshot>> load(const Depot& depot,
                                                              const std::string& name);

    const std::string& repository() const { return repository_; }
    const std::string& name() const { return name_; }  ///< "ID@N"
    const std::string& path() const { return path_; }
    std::int64_t published_at() const { return published_at_; }  ///< seconds

    const std::vector<Release>& releases() const { return releases_; }
    const std::vector<SnapshotModule>& modules() const { return modules_; }  ///< by slug
    /// Indexes of releases, the newest version first (all modules together).
    const std::vector<std::uint32_t>& by_version() const { return by_version_; }
    /// "author-name" or "author/name"; null: unknown.
    const SnapshotModule* module(std::string_view slug) const;
    const Release* release(std::string_view slug) const;
    /// The `n`-th name that some dependency asks for and nobody here provides, as JSON ends:
    /// `"author/name":[]`.
    const std::string& missing(std::size_t n) const { return missing_[n]; }
    std::string_view missing_name(std::size_t n) const { return missing_names_[n]; }

    /// API v1's answer for a release of this snapshot: its own entry and the closure of what any
    /// version of its dependencies needs, within this repository only.
    std::string v1_answer(const Release& release) const;
    /// Names outside of this repository that the closure of `release` reaches.
    std::vector<std::string> missing_of(const Release& release) const;

private:
    Snapshot() = default;
    base::Result<void> read(const Depot& depot);
    void link_modules();
    template <class F>
    void closure(const Release& release, F visit) const;

    std::string repository_, name_, path_;
    std::int64_t published_at_ = 0;
    MappedFile records_, texts_;
    Flags flags_;
    std::vector<Release> releases_;
    std::vector<SnapshotModule> modules_;
    std::vector<std::uint32_t> by_version_;
    std::vector<std::string> missing_, missing_names_;
    std::unordered_map<std::string_view, std::uint32_t> release_index_, module_index_;
    std::vector<std::string> slugs_;
};

}  // namespace bunraku::forge
