// SPDX-License-Identifier: Apache-2.0
#include "modules/module/version_repair.h"

#include <fmt/format.h>

namespace bunraku::module {

using base::Result;

namespace {

/// Finds the cached original of a path in a version.
class Origins {
public:
    Origins(const VersionState& state, ModuleSources& sources, const std::string& remote)
        : state_(state), sources_(sources), remote_(remote) {}

    /// Returns an empty string if the cache no longer has it.
    std::string of(const std::string& path) {
        for (const auto& [module, identity] : state_.modules) {
            if (!path.starts_with(module + "/")) continue;
            const auto tree = state_.trees.find(module);
            if (tree == state_.trees.end()) return {};
            return sources_.cached_tree(tree->second) + path.substr(module.size());
        }
        if (!control_) {
            const auto tree = state_.trees.find(".");
            control_ = tree == state_.trees.end() ? "" : sources_.cached_tree(tree->second);
            // The unpacked tree may have been removed from the cache, but the mirror still has the
            // commit.
            if (!remote_.empty() && is_commit(state_.commit))
                control_ = sources_.commit_tree(remote_, state_.commit).value_or("");
        }
        return control_->empty() ? "" : *control_ + "/" + path;
    }

private:
    const VersionState& state_;
    ModuleSources& sources_;
    const std::string& remote_;
    std::optional<std::string> control_;
};

}  // namespace

std::string VersionCheck::text() const {
    std::string out;
    const auto add = [&](const std::vector<std::string>& paths, std::string_view what) {
        for (const std::string& path : paths)
            out += fmt::format("{}{} was {}", out.empty() ? "" : ", ", path, what);
    };
    add(changes.edited, "edited");
    add(changes.deleted, "deleted");
    return out;
}

Result<VersionCheck> check_version(VersionFolders& folders, const std::string& version,
                                   sys::FileSystem& files) {
    VersionCheck out;
    out.manifest = BUNRAKU_TRY(folders.manifest(version));
    if (!out.manifest) return out;
    bool refreshed = false;
    out.changes = out.manifest->compare(files, version, refreshed);
    if (refreshed) (void)folders.write_manifest(version, *out.manifest);
    return out;
}

Result<std::vector<std::string>> restore_version(VersionFolders& folders,
                                                 const std::string& version, VersionCheck& check,
                                                 ModuleSources& sources, const std::string& remote,
                                                 sys::FileSystem& files) {
    std::vector<std::string> left;
    const VersionState state = folders.state_of(version);
    Origins origins(state, sources, remote);
    for (const auto* paths : {&check.changes.edited, &check.changes.deleted}) {
        for (const std::string& path : *paths) {
            const std::string from = origins.of(path);
            const bool done =
                !from.empty() && BUNRAKU_TRY(check.manifest->restore(files, version, path, from));
            if (!done) left.push_back(path);
        }
    }
    BUNRAKU_TRY_VOID(folders.write_manifest(version, *check.manifest));
    return left;
}

}  // namespace bunraku::module
