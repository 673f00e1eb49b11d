// SPDX-License-Identifier: Apache-2.0
#include "language/environment/file_fingerprints.h"

#include "core/base/assert.h"
#include "core/base/diagnostic.h"
#include "language/environment/files.h"

namespace bunraku::environment {

Stamp FileFingerprints::look(const std::string& path) const {
    try {
        return (files_ ? *files_ : *disk_files()).stat(path);
    } catch (const base::PuppetError&) {
        // A later read reports the error. An unknown state never equals another one.
        Stamp unknown;
        unknown.fresh = true;
        return unknown;
    }
}

Stamp FileFingerprints::record(const std::string& path) {
    auto above = [](const std::string& place) {
        const auto slash = place.rfind('/');
        if (slash == std::string::npos || place == "/") return std::string();
        return place.substr(0, slash == 0 ? 1 : slash);
    };
    std::string place = above(path);
    BUNRAKU_ASSERT(place.size() <= path.size());
    {
        // Names are looked up in every module, and most modules have no folder for their kind.
        std::lock_guard lock(mutex_);
        if (missing_.contains(place)) return {};
    }
    const Stamp stamp = look(path);
    if (stamp.exists) {
        std::lock_guard lock(mutex_);
        stamps_.emplace(path, stamp);
        return stamp;
    }
    for (; !place.empty(); place = above(place)) {
        {
            std::lock_guard lock(mutex_);
            if (stamps_.contains(place) || missing_.contains(place)) return stamp;
        }
        BUNRAKU_ASSERT(above(place).size() < place.size());
        const Stamp kept = look(place);
        std::lock_guard lock(mutex_);
        if (kept.exists) {
            stamps_.emplace(std::move(place), kept);
            return stamp;
        }
        missing_.insert(place);
    }
    std::lock_guard lock(mutex_);
    stamps_.emplace(path, stamp);
    return stamp;
}

bool FileFingerprints::unchanged() const {
    const auto moment = files_ ? files_->moment() : std::nullopt;
    if (moment && unchanged_at_ == *moment) return true;
    // A stat may take long on a network file system, so the lock is not held here.
    for (const auto& [path, stamp] : noted()) {
        if (!stamp.same(look(path))) return false;
    }
    unchanged_at_ = moment.value_or(0);
    return true;
}

std::vector<std::pair<std::string, Stamp>> FileFingerprints::noted() const {
    std::lock_guard lock(mutex_);
    return {stamps_.begin(), stamps_.end()};
}

std::size_t FileFingerprints::size() const {
    std::lock_guard lock(mutex_);
    return stamps_.size();
}

}  // namespace bunraku::environment
