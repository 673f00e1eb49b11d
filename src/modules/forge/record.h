// SPDX-License-Identifier: Apache-2.0
// The record of a release, stored next to its archive and made once at upload. It has an index
// block for queries and prepared JSON fragments for responses, so that publishing only concatenates
// records.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "modules/module/tarball.h"

namespace bunraku::forge {

/// JSON fragments of a release, in the order of storage.
enum class Fragment : std::uint8_t {
    Metadata,
    Tasks,
    Plans,        ///< as in the response for a release
    PlanDetails,  ///< as in the response for .../plans/NAME
    Readme,
    Changelog,
    License,
    Reference
};
inline constexpr std::size_t kFragments = 8;

/// Lines of the index block.
enum class Index : std::uint8_t {
    V1Dependencies,   ///< [["author/name","range"],...]
    DependencyNames,  ///< author/name, separated by blanks
    Words,            ///< slug, author/name, summary and tags in lower case
    Tags,             ///< JSON list
    Systems,          ///< \tname|release|release| ... in lower case; each entry begins with a tab
    Requirements,     ///< \tname=range ...
    Summary,          ///< JSON string or null
    ProjectPage,
    IssuesUrl,
    Dependencies,  ///< the list from metadata.json
};
inline constexpr std::size_t kIndexLines = 10;

/// kRemote: the archive is still upstream. kPulled: the archive was fetched from an upstream.
enum RecordFlag : unsigned { kHasTasks = 1, kHasPlans = 2, kPdk = 4, kRemote = 8, kPulled = 16 };

/// A record as views into its bytes. The fragments follow the head, or are in a TextStore if
/// `apart` is set.
struct RecordView {
    std::string_view author, name, version, md5, sha256;
    std::uint64_t size = 0;
    std::int64_t created = 0;  ///< seconds since the epoch
    unsigned flags = 0;
    std::array<std::string_view, kIndexLines> index;
    std::array<std::uint32_t, kFragments> lengths{};
    bool apart = false;
    std::uint32_t generation = 0;  ///< generation of that store
    std::array<std::uint64_t, kFragments> places{};
    std::uint64_t fragments_size() const;
    std::string_view line(Index i) const { return index[static_cast<std::size_t>(i)]; }
    std::string slug() const;
};

/// Returns the record of a checked archive: header line and index block, then the fragments.
std::string make_record(const module::Tarball& tarball, std::uint64_t size, std::string_view md5,
                        std::string_view sha256, std::int64_t created, unsigned flags = 0);
/// A release that is known only from an upstream's description, without its archive. The texts are
/// JSON fragments ("null" if unknown).
struct RemoteRelease {
    module::Metadata metadata;
    std::uint64_t size = 0;
    std::string md5, sha256;
    std::int64_t created = 0;
    std::array<std::string, kFragments> fragments;
    bool has_tasks = false, has_plans = false;
};
std::string make_record(const RemoteRelease& release);

/// These convert between a record with its fragments and a head (header and index block) whose
/// fragments are in a store.
std::string record_apart(std::string_view head, std::uint32_t generation,
                         const std::array<std::uint64_t, kFragments>& places);
std::string record_whole(std::string_view head, std::string_view fragments);

/// Reads the header and index block at the start of `bytes`, and removes them from `bytes`. Returns
/// nullopt if they are invalid.
std::optional<RecordView> read_record(std::string_view* bytes);

}  // namespace bunraku::forge
