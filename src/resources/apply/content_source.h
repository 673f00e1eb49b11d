// SPDX-License-Identifier: Apache-2.0
// Sources of file content for the parameter `source`: local files, modules, a server.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/sys/file_system.h"

namespace bunraku::apply {

/// Metadata of a source, available before its content is read.
struct ContentMetadata {
    /// the requested URI; for results of a search, with the relative path appended
    std::string uri;
    std::string relative;  ///< the path relative to the URI of a search, "." for that URI itself
    sys::FileStatus status;
    std::string destination;  ///< the target, if this is a link
    /// "{sha256}..", or "{ctime}.." for a folder. The kind may differ from the requested kind if
    /// the source does not support that. Empty if none was requested.
    std::string checksum;
    bool has_owner = true;  ///< true if `status` contains owner, group and mode
};

struct ContentQuery {
    bool follow_links = false;
    std::string checksum;  ///< the requested kind of checksum; empty for none
    /// The kind that the caller may request next. A source that can provide it at no cost does so.
    std::string likely_checksum;
};

/// Options for a search in a folder, from the parameters of `file`.
struct ContentSearch {
    bool recurse = true;
    std::optional<std::int64_t> limit;  ///< maximum depth
    /// maximum number of files; 0 warns above 1000, negative values disable the check
    std::int64_t max_files = 0;
    std::vector<std::string> ignore;
    bool follow_links = false;
    std::string likely_checksum;  ///< as in ContentQuery
};

/// A source of file content. An error means that the source failed; missing content is not an
/// error.
class ContentSource {
public:
    virtual ~ContentSource() = default;
    /// Returns nullopt if nothing exists at `uri`.
    virtual base::Result<std::optional<ContentMetadata>> metadata(const std::string& uri,
                                                                  const ContentQuery& query) = 0;
    /// Returns everything at and below `uri`, folders before their contents. Returns nullopt if
    /// nothing exists at `uri`.
    virtual base::Result<std::optional<std::vector<ContentMetadata>>> search(
        const std::string& uri, const ContentSearch& search) = 0;
    /// Opens the content for reading in pieces, because it may be larger than memory.
    virtual base::Result<std::unique_ptr<sys::Reader>> open(const std::string& uri) = 0;
};

}  // namespace bunraku::apply
