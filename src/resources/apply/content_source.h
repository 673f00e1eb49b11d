// Where file content comes from that a `source` names: this machine's files, modules, a server.
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

/// What a source says of itself before its content is asked for.
struct ContentMetadata {
    std::string uri;       ///< as it was asked for; of what a search found: with the path below it
    std::string relative;  ///< the path below the address of a search; "." is that address
    sys::FileStatus status;
    std::string destination;  ///< of a link
    /// "{sha256}..", "{ctime}.. " of a folder; another kind than was asked for where the source
    /// knows no other. Empty where it was not asked for.
    std::string checksum;
    bool has_owner = true;  ///< whether `status` says whose it is and how it may be used
};

struct ContentQuery {
    bool follow_links = false;
    std::string checksum;  ///< the kind of checksum that is wanted; empty: none
    /// The kind that may be asked for next: what has it at hand says it at once.
    std::string likely_checksum;
};

/// What of a folder is searched, as the parameters of `file` say it.
struct ContentSearch {
    bool recurse = true;
    std::optional<std::int64_t> limit;  ///< levels
    std::int64_t max_files = 0;         ///< 0: warn above a thousand, negative: no check
    std::vector<std::string> ignore;
    bool follow_links = false;
    std::string likely_checksum;  ///< as in ContentQuery
};

/// Errors are failures of the source; that there is nothing is none.
class ContentSource {
public:
    virtual ~ContentSource() = default;
    /// nullopt: there is nothing at `uri`.
    virtual base::Result<std::optional<ContentMetadata>> metadata(const std::string& uri,
                                                                  const ContentQuery& query) = 0;
    /// What stands at `uri` and below, folders before what they hold. nullopt: there is nothing.
    virtual base::Result<std::optional<std::vector<ContentMetadata>>> search(
        const std::string& uri, const ContentSearch& search) = 0;
    /// The content, to be read piece by piece: it may be larger than memory.
    virtual base::Result<std::unique_ptr<sys::Reader>> open(const std::string& uri) = 0;
};

}  // namespace bunraku::apply
