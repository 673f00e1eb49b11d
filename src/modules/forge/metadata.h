// SPDX-License-Identifier: Apache-2.0
// Signed metadata of a published tree (the roles of TUF, see module/tuf.h). It is written into the
// tree as static files, so that a copy of the tree includes it.
//
//   repos/ID/metadata/N.root.json     all roots; clients update from each one to the next
//   repos/ID/metadata/keys/ROLE.pem   signing keys; the root's may be stored elsewhere
//   repos/ID/metadata/version         the highest version that was signed
//   repos/ID/metadata/parts           exists if the targets are split into parts
//   TREE/metadata/*.json              the files that are served
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/codec/ed25519.h"

namespace bunraku::forge {

/// Days until the file of each role expires. This limits how long an attacker can withhold updates
/// from clients.
inline constexpr int kRootDays = 730, kTargetsDays = 180, kTimestampDays = 7;

/// Above this number of archives, targets.json delegates to 256 other files, which divide the
/// archives by the SHA-256 of their paths. An added archive then changes only one of them, and a
/// client that needs one archive reads only one.
inline constexpr std::size_t kTargetsInOne = 1000;

/// A row of PULP_MANIFEST of a tree.
struct TreeFile {
    std::string path, sha256;
    std::uint64_t size = 0;
};

/// The metadata of one repository. Requires the lock of the repository.
class TreeMetadata {
public:
    explicit TreeMetadata(std::string folder) : folder_(std::move(folder)) {}
    bool on() const;

    /// Creates the keys and the first root. The key of the root is written to `root_key`; if that
    /// is empty, to the folder of the other keys.
    base::Result<void> init(const std::string& root_key, std::int64_t now) const;
    /// Replaces the key of a role, in a new root that the old root key signs.
    base::Result<void> rotate(std::string_view role, const std::string& root_key,
                              std::int64_t now) const;
    /// Writes all metadata of `tree` from its PULP_MANIFEST. Does nothing if signed metadata is not
    /// enabled.
    base::Result<void> write(const std::string& tree, std::int64_t now) const;
    /// Reports whether add() is possible. Otherwise everything must be written, because the targets
    /// are not split, are about to expire, or have another root.
    bool grows(const std::string& tree, std::int64_t now) const;
    /// Updates the metadata of a tree after `added` was added to it.
    base::Result<void> add(const std::string& tree, const std::vector<TreeFile>& added,
                           std::int64_t now) const;
    /// Writes a new timestamp for `tree`. Also renews the other files if they are about to expire
    /// or there is a new root. Returns a word that describes the change.
    base::Result<std::string> renew(const std::string& tree, std::int64_t now) const;

private:
    std::string key_file(std::string_view role) const;
    base::Result<codec::SigningKey> key(const std::string& file, std::string_view role) const;
    /// Returns the key that the newest root lists for a role.
    base::Result<codec::SigningKey> signer(std::string_view role) const;
    std::string newest_root() const;
    base::Result<std::int64_t> next_version() const;
    base::Result<void> write_roots(const std::string& to) const;
    base::Result<void> write_timestamp(const std::string& to, std::string_view snapshot,
                                       std::int64_t version, std::int64_t now) const;

    std::string folder_;
};

}  // namespace bunraku::forge
