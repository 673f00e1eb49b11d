// SPDX-License-Identifier: Apache-2.0
#include "language/environment/watched_files.h"

#include <mutex>

#include "core/sys/file_changes.h"

namespace bunraku::environment {

namespace {

class Watched final : public Files {
public:
    base::Result<std::string> read(const std::string& path) const override {
        return disk_.read(path);
    }
    Stamp stat(const std::string& path) const override {
        {
            const std::lock_guard lock(mutex_);
            changes_.add(path);
        }
        return disk_.stat(path);
    }
    bool is_real_folder(const std::string& path) const override {
        return disk_.is_real_folder(path);
    }
    std::vector<std::string> list(const std::string& path) const override {
        return disk_.list(path);
    }
    std::optional<std::string> link(const std::string& path) const override {
        return disk_.link(path);
    }
    std::vector<std::string> glob(const std::string& pattern) const override {
        return disk_.glob(pattern);
    }
    std::optional<std::uint64_t> moment() const override {
        const std::lock_guard lock(mutex_);
        return changes_.moment();
    }

private:
    const Files& disk_ = *disk_files();
    mutable std::mutex mutex_;
    mutable sys::FileChanges changes_;
};

}  // namespace

std::shared_ptr<const Files> watched_files() { return std::make_shared<Watched>(); }

}  // namespace bunraku::environment
