// SPDX-License-Identifier: Apache-2.0
// Writes the files of a published snapshot.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/semver.h"
#include "modules/forge/forge_store.h"

namespace bunraku::forge {

/// Writes a complete snapshot of a repository to a folder that nobody reads yet. The caller holds
/// the lock of the repository.
class ForgeStore::SnapshotWriter {
public:
    SnapshotWriter(const ForgeStore& forge_store, std::string_view repo, std::string current);
    ~SnapshotWriter();

    /// Creates the folder and opens the texts to which the records refer.
    base::Result<void> begin();
    /// Adds all releases of the working set.
    base::Result<void> add_releases();
    /// Writes everything else and syncs the folder.
    base::Result<void> finish();
    const std::string& folder() const { return stage_; }
    /// Drops texts that no snapshot uses, once the snapshot is published.
    base::Result<void> drop_unused_texts();

private:
    /// A release of the working set.
    struct Item {
        const Unit* unit;
        base::SemVer version;
    };
    /// A release with its record.
    struct Recorded {
        const Item* item;
        std::string slug, bytes;
        unsigned flags;
    };
    struct Lists;

    std::map<std::string, std::vector<Item>> by_module() const;
    base::Result<void> add_module(const std::string& name, const std::vector<Item>& items);
    base::Result<std::vector<Recorded>> read_records(const std::vector<Item>& items);
    base::Result<void> place(const Recorded& release, const RecordView& r, const std::string& path);
    base::Result<void> write_state();

    const ForgeStore& forge_store_;
    sys::FileSystem& files_;
    std::string repo_, current_, stage_;
    PublishedState state_;
    std::unique_ptr<TextStore> store_;
    std::vector<Unit> units_;
    Flags marks_;
    RepositoryConfig settings_;
    std::unique_ptr<Lists> lists_;
    bool first_ = true;   ///< nothing is listed in modules.json yet
    bool moved_ = false;  ///< texts of records were moved to the store
    std::vector<std::pair<std::uint64_t, std::uint32_t>> used_texts_;
    std::map<std::string, std::string> dependencies_;
    std::set<std::string> folders_;
};

}  // namespace bunraku::forge
