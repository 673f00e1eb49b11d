// What both ways of publishing write: entries of a published tree's own lists. Of this folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "modules/forge/record.h"

namespace bunraku::forge {

/// Of modules.json.
std::string list_entry(const RecordView& record);
/// Of .dependency_db.
std::string dependency_entry(std::string_view repository, std::string_view path,
                             const RecordView& record);
void sync_folder(const std::string& path);
/// Waits until these files and folders are on disk: for all at the same time, since a disk takes as
/// long for several as for one.
base::Result<void> sync_together(const std::vector<std::string>& paths);
/// Waits for all of the file system that the folder is on.
void sync_file_system(const std::string& path);
bool same_file(const std::string& a, const std::string& b);

}  // namespace bunraku::forge
