// What is kept of a release beside its tarball, made once at upload: an index block for questions
// and ready JSON fragments for answers. Publishing then only concatenates.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "modules/module/tarball.h"

namespace bunraku::forge {

/// JSON fragments of a release, in the order of their bytes.
enum class Fragment : std::uint8_t {
    Metadata,
    Tasks,
    Plans,        ///< as a release shows them
    PlanDetails,  ///< as .../plans/NAME shows them
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
    Words,            ///< slug, author/name, summary, tags in lower case
    Tags,             ///< JSON list
    Systems,          ///< \tname|release|release| ... in lower case, each begun by a tab
    Requirements,     ///< \tname=range ...
    Summary,          ///< JSON string or null
    ProjectPage,
    IssuesUrl,
    Dependencies,  ///< metadata's own list
};
inline constexpr std::size_t kIndexLines = 10;

/// kRemote: its tarball is still upstream; kPulled: it was fetched from there.
enum RecordFlag : unsigned { kHasTasks = 1, kHasPlans = 2, kPdk = 4, kRemote = 8, kPulled = 16 };

/// A record as views into its bytes. Its fragments stand behind it, or `apart` in a TextStore.
struct RecordView {
    std::string_view author, name, version, md5, sha256;
    std::uint64_t size = 0;
    std::int64_t created = 0;  ///< seconds since the epoch
    unsigned flags = 0;
    std::array<std::string_view, kIndexLines> index;
    std::array<std::uint32_t, kFragments> lengths{};
    bool apart = false;
    std::uint32_t generation = 0;  ///< of that store
    std::array<std::uint64_t, kFragments> places{};
    std::uint64_t fragments_size() const;
    std::string_view line(Index i) const { return index[static_cast<std::size_t>(i)]; }
    std::string slug() const;
};

/// The record of a checked tarball: header line and index block, then the fragments.
std::string make_record(const module::Tarball& tarball, std::uint64_t size, std::string_view md5,
                        std::string_view sha256, std::int64_t created, unsigned flags = 0);
/// Of a release known only by an upstream's description: no tarball is here yet. The texts are
/// JSON fragments already ("null" where unknown).
struct RemoteRelease {
    module::Metadata metadata;
    std::uint64_t size = 0;
    std::string md5, sha256;
    std::int64_t created = 0;
    std::array<std::string, kFragments> fragments;
    bool has_tasks = false, has_plans = false;
};
std::string make_record(const RemoteRelease& release);

/// A head (header and index block) whose fragments are in a store, and the other way round.
std::string record_apart(std::string_view head, std::uint32_t generation,
                         const std::array<std::uint64_t, kFragments>& places);
std::string record_whole(std::string_view head, std::string_view fragments);

/// Reads the header and index block at the front of `bytes`, and moves `bytes` behind them.
/// nullopt: they are broken.
std::optional<RecordView> read_record(std::string_view* bytes);

}  // namespace bunraku::forge
