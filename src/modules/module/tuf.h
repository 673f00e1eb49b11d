// Metadata of a published tree by the roles of The Update Framework (root, targets, snapshot,
// timestamp; specification 1.0, Ed25519): what makes that whoever stands between a forge and its
// clients can give nothing else, nothing older and nothing mixed.
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

/// What is signed of a part: keys sorted, no blanks, only quotes and backslashes escaped.
std::string canonical_json(const value::Value& part);

/// Who signs for a role.
struct TufRole {
    std::vector<std::string> keys;  ///< their numbers
    std::int64_t threshold = 1;
};

struct TufRoot {
    std::int64_t version = 0, expires = 0;    ///< seconds since the epoch
    std::map<std::string, std::string> keys;  ///< number -> 32 bytes
    std::map<std::string, TufRole, std::less<>> roles;
    /// Of a root.json; who signed it is not looked at.
    static base::Result<TufRoot> parse(std::string_view text);
};

/// What a client does with the metadata of one tree. It keeps what it saw last, and takes nothing
/// older.
class TufClient {
public:
    /// A file of the metadata's folder, of at most `limit` bytes; code 404: there is none, EFBIG:
    /// it is longer.
    using Fetch =
        std::function<base::Result<std::string>(const std::string& name, std::uint64_t limit)>;
    struct Options {
        std::string root;   ///< text of the root.json one began with
        std::string state;  ///< folder of what was seen; made
        Fetch fetch;
        std::function<std::int64_t()> now;  ///< seconds since the epoch
    };
    struct Target {
        std::uint64_t length = 0;
        std::string sha256;
    };
    explicit TufClient(Options options) : options_(std::move(options)) {}

    /// Brings what is known up to date. The error begins with what was tried: "rollback: ...",
    /// "freeze: ...", "mix and match: ...", "wrong keys: ...", "endless data: ...".
    base::Result<void> refresh();
    /// By path in the tree, once refresh() went well; nullopt: it is none of the tree's. Where the
    /// list is in parts, the part that has it is fetched. For many threads.
    base::Result<std::optional<Target>> target(std::string_view path);
    /// Are these the bytes of that target? "arbitrary software: ..." where not.
    base::Result<void> check(std::string_view path, std::string_view bytes);

private:
    /// A file of metadata whose signatures, kind and version were looked at.
    struct File {
        std::int64_t version = 0, expires = 0;
        std::string text;
        /// "snapshot.json" -> what is said of it.
        struct Statement {
            std::int64_t version = 0, length = 0;
            std::string sha256;
        };
        std::map<std::string, Statement, std::less<>> files;
        std::map<std::string, Target, std::less<>> targets;
        /// Roles that a part of the targets was handed to, and their keys.
        TufRoot delegated;
        /// Begin of the SHA-256 of a path -> the role that has it.
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
    base::Result<File> fetched(std::string_view role, const File::Statement& said,
                               std::uint64_t limit) const;

    Options options_;
    TufRoot root_;
    std::mutex mutex_;
    std::map<std::string, Target, std::less<>> targets_;  ///< of the parts that were fetched too
    std::map<std::string, File::Statement, std::less<>> said_;  ///< by the snapshot
    std::map<std::string, std::string, std::less<>> parts_;
    TufRoot delegated_;
    std::set<std::string> loaded_;  ///< roles of parts
};

}  // namespace bunraku::module
