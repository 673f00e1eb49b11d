// SPDX-License-Identifier: Apache-2.0
// In-memory files on top of other files, so that tests can change inputs without changing the disk.
#pragma once

#include <algorithm>
#include <cerrno>
#include <fnmatch.h>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "language/environment/files.h"

namespace bunraku::probe {

/// Paths in `texts` exist with that content, or do not exist if the value is nullopt; other paths
/// are read from the files below. The parent folders of each path in the map exist too.
class MemoryFiles final : public environment::Files {
public:
    using Texts = std::map<std::string, std::optional<std::string>>;
    explicit MemoryFiles(Texts texts, std::shared_ptr<const environment::Files> below = nullptr)
        : texts_(std::move(texts)), below_(std::move(below)) {}

    base::Result<std::string> read(const std::string& path) const override {
        if (auto it = texts_.find(path); it != texts_.end()) {
            if (it->second) return *it->second;
            return base::failure("No such file or directory @ rb_sysopen - " + path, ENOENT);
        }
        if (is_folder(path)) return base::failure("Is a directory @ io_fread - " + path, EISDIR);
        if (below_) return below_->read(path);
        return base::failure("No such file or directory @ rb_sysopen - " + path, ENOENT);
    }
    environment::Stamp stat(const std::string& path) const override {
        environment::Stamp out;
        if (auto it = texts_.find(path); it != texts_.end()) {
            out.exists = it->second.has_value();
            if (out.exists) {
                out.size = it->second->size();
                out.inode = std::hash<std::string>{}(*it->second) | 1;
            }
            return out;
        }
        if (is_folder(path)) {
            out.exists = out.directory = true;
            out.inode = std::hash<std::string>{}(joined(list(path))) | 1;
            return out;
        }
        return below_ ? below_->stat(path) : out;
    }
    bool is_real_folder(const std::string& path) const override {
        return is_folder(path) ||
               (below_ && !texts_.contains(path) && below_->is_real_folder(path));
    }
    std::vector<std::string> list(const std::string& path) const override {
        std::vector<std::string> out;
        if (below_) out = below_->list(path);
        std::erase_if(out, [&](const std::string& name) {
            auto it = texts_.find(path + "/" + name);
            return it != texts_.end() && !it->second;
        });
        for (const auto& [each, text] : texts_) {
            if (!text || !each.starts_with(path + "/")) continue;
            auto name = each.substr(path.size() + 1);
            name.resize(std::min(name.find('/'), name.size()));
            out.push_back(std::move(name));
        }
        std::ranges::sort(out);
        out.erase(std::ranges::unique(out).begin(), out.end());
        return out;
    }
    std::optional<std::string> link(const std::string& path) const override {
        return below_ && !texts_.contains(path) ? below_->link(path) : std::nullopt;
    }
    std::vector<std::string> glob(const std::string& pattern) const override {
        std::vector<std::string> out;
        if (below_) out = below_->glob(pattern);
        std::erase_if(out, [&](const std::string& path) { return texts_.contains(path); });
        for (const auto& [path, text] : texts_)
            if (text && ::fnmatch(pattern.c_str(), path.c_str(), FNM_PATHNAME | FNM_PERIOD) == 0)
                out.push_back(path);
        std::ranges::sort(out);
        return out;
    }

private:
    static std::string joined(const std::vector<std::string>& names) {
        std::string out;
        for (const auto& name : names) out += name + '\n';
        return out;
    }
    bool is_folder(const std::string& path) const {
        if (path.empty()) return false;
        const std::string start = path.ends_with('/') ? path : path + "/";
        const auto it = texts_.lower_bound(start);
        for (auto each = it; each != texts_.end() && each->first.starts_with(start); ++each)
            if (each->second) return true;
        return false;
    }

    Texts texts_;
    std::shared_ptr<const environment::Files> below_;
};

}  // namespace bunraku::probe
