// SPDX-License-Identifier: Apache-2.0
// Archives of a whole store in the format that PuppetDB exports and imports: a tar.gz with one JSON
// file per command under puppetdb-bak/.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "store/db/command.h"
#include "store/db/database.h"

namespace bunraku::store {

/// An archive that is produced while it is read. Its memory use does not depend on the size of the
/// store.
class ArchiveExport {
public:
    /// Starts an export. `profile` is PuppetDB's anonymization profile: "" or "none", "low",
    /// "moderate", "full".
    static Result<std::unique_ptr<ArchiveExport>> start(const std::string& database,
                                                        std::string_view profile);
    ~ArchiveExport();
    /// Appends the next bytes. Returns false at the end of the archive.
    Result<bool> next(std::string& out);

private:
    struct Impl;
    explicit ArchiveExport(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

struct ImportFigures {
    std::size_t catalogs = 0, facts = 0, reports = 0, others = 0;

    std::size_t& of(CommandKind kind) {
        switch (kind) {
            case CommandKind::ReplaceCatalog: return catalogs;
            case CommandKind::ReplaceFacts: return facts;
            case CommandKind::StoreReport: return reports;
            default: return others;
        }
    }
};

/// Passes each command of an archive to `submit`. An error without a code means that the archive is
/// invalid.
Result<ImportFigures> import_archive(
    std::string_view bytes,
    const std::function<Result<void>(const CommandHeader&, std::string body)>& submit);
/// Imports an archive from a file.
Result<ImportFigures> import_archive_file(
    const std::string& path,
    const std::function<Result<void>(const CommandHeader&, std::string body)>& submit);

}  // namespace bunraku::store
