// The one accessor of files and environment variables that compiles read: the machine's, or those
// of a commit.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/path_mapping.h"
#include "core/base/result.h"
#include "language/environment/file_fingerprints.h"

namespace bunraku::environment {

/// Thread-safe. Errors carry errno in `code`; looks that fail though something may be there (no
/// permission, a disk that cannot be read) throw base::PuppetError. Compiles come here by way of
/// their environment, which notes what they ask (environment/trace.h).
class Files {
public:
    virtual ~Files() = default;
    /// The whole content; EISDIR for a folder.
    virtual base::Result<std::string> read(const std::string& path) const = 0;
    /// What is there, links followed; `exists` false where nothing is.
    virtual Stamp stat(const std::string& path) const = 0;
    /// True for a folder that is not reached by a link.
    virtual bool is_real_folder(const std::string& path) const = 0;
    /// Names in a folder without "." and "..", sorted by bytes; empty where none is.
    virtual std::vector<std::string> list(const std::string& path) const = 0;
    /// What a link says; nullopt where it is none.
    virtual std::optional<std::string> link(const std::string& path) const = 0;
    /// Paths that a shell pattern (braces too) matches, sorted.
    virtual std::vector<std::string> glob(const std::string& pattern) const = 0;
    /// An environment variable: this process's, wherever the files are from.
    virtual std::optional<std::string> variable(const std::string& name) const;
    /// Where programs find files that are on no disk: they are laid out when this is first asked.
    /// Null: all are where they are. Throws base::PuppetError.
    virtual const base::PathMapping* moved() const { return nullptr; }
    /// A path for programs.
    std::string place(const std::string& path) const {
        const auto* folder = moved();
        return folder ? folder->placed(path) : path;
    }
    /// While this number is the same, stat() tells the same of every path that it was asked for:
    /// ask for the number first and for the paths then. nullopt: that is not known.
    virtual std::optional<std::uint64_t> moment() const { return std::nullopt; }
    /// What state the files are in, where they cannot change: the id of a commit. Empty: they can.
    virtual std::string version() const { return {}; }
};

/// The machine's own files.
const std::shared_ptr<const Files>& disk_files();

/// Of this process: what relative paths of the command line start from.
std::string working_directory();

}  // namespace bunraku::environment
