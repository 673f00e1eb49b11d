// SPDX-License-Identifier: Apache-2.0
// Export and import of a repository as one file, for sites without a network. The file is a tar
// archive that contains bundle.json (every release with its digests), the signature of bundle.json,
// and the archives.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "modules/forge/forge_store.h"
#include "modules/module/signature.h"

namespace bunraku::forge {

struct BundleExport {
    std::string file;     ///< replaced after everything has been written
    std::string without;  ///< path of a bundle whose releases are omitted; may be empty
    std::optional<codec::SigningKey> key;
};
/// Writes the published releases to a bundle and returns their number.
base::Result<std::uint64_t> export_bundle(ForgeStore& forge_store, const std::string& repo,
                                          const BundleExport& options);

struct BundleImport {
    std::uint64_t stored = 0, present = 0;
};
/// Imports a bundle into the working set. Checks the whole bundle first, and imports either all of
/// it or nothing. If `key` is set, the bundle must be signed with it. The signature rules of the
/// repository apply as for an upload.
base::Result<BundleImport> import_bundle(ForgeStore& forge_store, const std::string& repo,
                                         const std::string& file,
                                         const std::optional<module::PublicKey>& key);

}  // namespace bunraku::forge
