// Hearing from the kernel of what changes instead of looking again and again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "sys/descriptor.h"

namespace bunraku::sys {

/// Whether anything has changed by which stat() would answer otherwise for paths that were named:
/// for one thread at a time (docs/design/0243). Nothing to hear from (file systems of a network, no
/// right to read a folder, too few watches): then it is not known.
class FileChanges {
public:
    /// Then all counts as changed: for what nobody thought of, and often where mounts are not told.
    static constexpr int kLookAnywaySeconds = 60, kLookOftenSeconds = 10;

    FileChanges();
    ~FileChanges();
    FileChanges(const FileChanges&) = delete;
    FileChanges& operator=(const FileChanges&) = delete;

    /// From now on it matters, until moment() is another.
    void add(const std::string& path);
    /// While this number is the same, nothing has changed of what was added; nullopt: not known.
    /// Numbers of different objects never meet.
    std::optional<std::uint64_t> moment();
    /// Readable when there is something to hear; negative: there never is.
    int descriptor() const { return blind_ ? -1 : descriptor_; }

private:
    /// What matters of the events of one watch.
    struct Watch {
        std::unordered_set<std::string> names;
        bool everything = false;  ///< each change of what is in the folder, or of the file
        bool contents = false;    ///< it tells what is written to files
    };
    void open();
    void close();
    void begin_anew();
    void hear();
    bool mounted();
    bool matters(const void* event);
    Watch* listen(const std::string& path, std::uint32_t to);
    Watch* folder(const std::string& path);

    const Descriptor mounts_;  ///< the table of them
    int descriptor_ = -1;
    bool blind_ = false;
    std::uint64_t number_;
    std::int64_t begun_;
    std::unordered_map<int, Watch> watches_;
    std::unordered_set<std::string> known_;            ///< paths whose every folder is watched
    std::unordered_map<std::string, Watch*> folders_;  ///< real ones
};

}  // namespace bunraku::sys
