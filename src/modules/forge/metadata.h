// Signed metadata of a published tree (TUF's roles, see module/tuf.h): written beside the tree as
// static files, so that whoever copies the tree has it too.
//
//   repos/ID/metadata/N.root.json     every root there was; clients go from one to the next
//   repos/ID/metadata/keys/ROLE.pem   who signs; the root's may be kept elsewhere
//   repos/ID/metadata/version         the highest version that was signed
//   repos/ID/metadata/parts           there: the targets are in parts, and stay so
//   TREE/metadata/*.json              what is served
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/codec/ed25519.h"

namespace bunraku::forge {

/// Days until each role's file is worth nothing: how long clients can be held back.
inline constexpr int kRootDays = 730, kTargetsDays = 180, kTimestampDays = 7;

/// Where a tree has so many archives, targets.json names 256 others that share them by the SHA-256
/// of their paths: what is added then costs one of those, and so does a client that asks for one.
inline constexpr std::size_t kTargetsInOne = 1000;

/// A row of a tree's PULP_MANIFEST.
struct TreeFile {
    std::string path, sha256;
    std::uint64_t size = 0;
};

/// The metadata of one repository. Under the repository's lock.
class TreeMetadata {
public:
    explicit TreeMetadata(std::string folder) : folder_(std::move(folder)) {}
    bool on() const;

    /// Makes keys and the first root. The root's key goes to `root_key`; empty: to the others.
    base::Result<void> init(const std::string& root_key, std::int64_t now) const;
    /// Another key for a role, in a root that the old one signs.
    base::Result<void> rotate(std::string_view role, const std::string& root_key,
                              std::int64_t now) const;
    /// All of `tree`'s metadata, out of its PULP_MANIFEST. Nothing where it is not on.
    base::Result<void> write(const std::string& tree, std::int64_t now) const;
    /// Can add() do it? Else all is to be written: it is not in parts, about to expire, or has
    /// another root.
    bool grows(const std::string& tree, std::int64_t now) const;
    /// The same for a tree to which `added` came.
    base::Result<void> add(const std::string& tree, const std::vector<TreeFile>& added,
                           std::int64_t now) const;
    /// A new timestamp for `tree`, and the rest where it is about to expire, or a root is new. What
    /// was done, in a word.
    base::Result<std::string> renew(const std::string& tree, std::int64_t now) const;

private:
    std::string key_file(std::string_view role) const;
    base::Result<codec::SigningKey> key(const std::string& file, std::string_view role) const;
    /// The key that the newest root names for a role.
    base::Result<codec::SigningKey> signer(std::string_view role) const;
    std::string newest_root() const;
    base::Result<std::int64_t> next_version() const;
    base::Result<void> write_roots(const std::string& to) const;
    base::Result<void> write_timestamp(const std::string& to, std::string_view snapshot,
                                       std::int64_t version, std::int64_t now) const;

    std::string folder_;
};

}  // namespace bunraku::forge
