// SPDX-License-Identifier: Apache-2.0
// Entries of the lists in a published tree, shared by both ways of publishing. Internal to this
// folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "modules/forge/record.h"

namespace bunraku::forge {

/// Returns an entry of modules.json.
std::string list_entry(const RecordView& record);
/// Returns an entry of .dependency_db.
std::string dependency_entry(std::string_view repository, std::string_view path,
                             const RecordView& record);
void sync_folder(const std::string& path);
/// Syncs these files and folders in parallel, because a disk syncs several files in about the time
/// of one.
base::Result<void> sync_together(const std::vector<std::string>& paths);
/// Syncs the file system that contains the folder.
void sync_file_system(const std::string& path);
bool same_file(const std::string& a, const std::string& b);

}  // namespace bunraku::forge
