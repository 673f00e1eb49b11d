// SPDX-License-Identifier: Apache-2.0
// A file with the runs under way whose version is no longer the base of their environment. A server
// that is restarted in the middle of such a run continues it with the same version.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace bunraku::server {

/// A file of lines. Written as a whole when the link of an environment moves, which is rare; the
/// end of a run appends a line. Nothing is synced: after a power failure, the file may be older.
class VersionJournal {
public:
    struct Run {
        std::string environment, node, version;
        std::uint64_t transaction = 0;
        std::array<std::uint64_t, 2> last{};  ///< the last transactions of the node
        std::int64_t began_ns = 0;            ///< wall-clock time
    };
    struct Content {
        std::map<std::string, std::string, std::less<>> bases;  ///< by environment
        std::vector<Run> runs;
    };

    /// An empty path means that nothing is written.
    explicit VersionJournal(std::string path) : path_(std::move(path)) {}

    /// Returns an empty content if there is no file. Ignores lines that are incomplete.
    Content read() const;
    base::Result<void> replace(const Content& content) const;
    /// Records that a run of the content has ended.
    base::Result<void> ended(std::string_view environment, std::string_view node) const;

private:
    std::string path_;
};

}  // namespace bunraku::server
