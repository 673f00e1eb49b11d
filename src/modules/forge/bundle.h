// A repository in one file, for sites without a network: a tar archive of bundle.json (every
// release with its digests), its signature, and the archives.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "modules/forge/forge_store.h"
#include "modules/module/signature.h"

namespace bunraku::forge {

struct BundleExport {
    std::string file;     ///< replaced when all is written
    std::string without;  ///< a bundle whose releases are left out; empty: none
    std::optional<codec::SigningKey> key;
};
/// Writes what is published; gives how many releases.
base::Result<std::uint64_t> export_bundle(ForgeStore& forge_store, const std::string& repo,
                                          const BundleExport& options);

struct BundleImport {
    std::uint64_t stored = 0, present = 0;
};
/// Takes all of a bundle into the working set, or nothing of it: it is looked through first. With
/// `key` its owner must have signed it. What the repository asks of uploads counts too.
base::Result<BundleImport> import_bundle(ForgeStore& forge_store, const std::string& repo,
                                         const std::string& file,
                                         const std::optional<module::PublicKey>& key);

}  // namespace bunraku::forge
