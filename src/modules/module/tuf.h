// SPDX-License-Identifier: Apache-2.0
// Client for the metadata of a published tree with the roles of The Update Framework (root,
// targets, snapshot, timestamp; specification 1.0, Ed25519). It protects clients against an
// attacker between them and the forge: no altered, outdated or mixed content is accepted.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/value/value.h"

namespace bunraku::module {

inline constexpr std::string_view kTufRoles[] = {"root", "targets", "snapshot", "timestamp"};

/// Returns the signed form of a part: sorted keys, no blanks, and only quotes and backslashes
/// escaped.
std::string canonical_json(const value::Value& part);

/// The keys that sign for a role.
struct TufRole {
    std::vector<std::string> keys;  ///< key ids
    std::int64_t threshold = 1;
};

struct TufRoot {
    std::int64_t version = 0, expires = 0;    ///< seconds since the epoch
    std::map<std::string, std::string> keys;  ///< key id to 32 bytes
    std::map<std::string, TufRole, std::less<>> roles;
    /// Parses a root.json without checking its signatures.
    static base::Result<TufRoot> parse(std::string_view text);
};

/// A client for the metadata of one tree. It stores the last metadata and does not accept older
/// metadata.
class TufClient {
public:
    /// Returns a file of the metadata folder with at most `limit` bytes. Fails with code 404 if the
    /// file does not exist, or EFBIG if it is longer.
    using Fetch =
        std::function<base::Result<std::string>(const std::string& name, std::uint64_t limit)>;
    struct Options {
        std::string root;   ///< text of the initial root.json
        std::string state;  ///< folder for the stored metadata; created if missing
        Fetch fetch;
        std::function<std::int64_t()> now;  ///< seconds since the epoch
    };
    struct Target {
        std::uint64_t length = 0;
        std::string sha256;
    };
    explicit TufClient(Options options) : options_(std::move(options)) {}

    /// Updates the metadata. The error begins with the kind of attack that it prevents:
    /// "rollback: ...", "freeze: ...", "mix and match: ...", "wrong keys: ...", "endless
    /// data: ...".
    base::Result<void> refresh();
    /// Returns the target at a path in the tree, or nullopt if the tree has no such target.
    /// Requires a successful refresh(). If the targets are split, fetches the part that has the
    /// path. Thread-safe.
    base::Result<std::optional<Target>> target(std::string_view path);
    /// Checks that these are the bytes of that target. Otherwise the error begins with "arbitrary
    /// software: ...".
    base::Result<void> check(std::string_view path, std::string_view bytes);

private:
    /// A metadata file with verified signatures, type and version.
    struct File {
        std::int64_t version = 0, expires = 0;
        std::string text;
        /// The description of another metadata file, such as "snapshot.json".
        struct Statement {
            std::int64_t version = 0, length = 0;
            std::string sha256;
        };
        std::map<std::string, Statement, std::less<>> files;
        std::map<std::string, Target, std::less<>> targets;
        /// Delegated roles of the targets, and their keys.
        TufRoot delegated;
        /// SHA-256 prefix of paths to the responsible role.
        std::map<std::string, std::string, std::less<>> parts;
    };
    base::Result<void> refresh_once();
    base::Result<void> follow_root();
    base::Result<void> load(const std::string& role);
    std::string role_of(std::string_view path) const;
    base::Result<File> read(std::string_view role, std::string text) const;
    std::string kept(std::string_view name) const;
    base::Result<void> keep(std::string_view name, const std::string& text) const;
    base::Result<void> fresh(std::string_view role, std::int64_t expires) const;
    base::Result<File> fetched(std::string_view role, const File::Statement& described,
                               std::uint64_t limit) const;

    Options options_;
    TufRoot root_;
    std::mutex mutex_;
    std::map<std::string, Target, std::less<>> targets_;  ///< includes the targets of fetched parts
    /// descriptions of files from the snapshot
    std::map<std::string, File::Statement, std::less<>> descriptions_;
    std::map<std::string, std::string, std::less<>> parts_;
    TufRoot delegated_;
    std::set<std::string> loaded_;  ///< names of loaded delegated roles
};

}  // namespace bunraku::module
