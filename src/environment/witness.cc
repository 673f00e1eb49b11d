#include "environment/witness.h"

#include "environment/files.h"

namespace bunraku::environment {

Stamp Witness::look(const std::string& path) const {
    return (files_ ? *files_ : *disk_files()).stat(path);
}

Stamp Witness::saw(const std::string& path) {
    Stamp stamp = look(path);
    std::string place = path;
    Stamp kept = stamp;
    while (!kept.exists) {
        auto slash = place.rfind('/');
        if (slash == std::string::npos) break;
        place.resize(slash == 0 ? 1 : slash);
        kept = look(place);
        if (place == "/") break;
    }
    std::lock_guard lock(mutex_);
    stamps_.emplace(std::move(place), kept);
    return stamp;
}

bool Witness::unchanged() const {
    // A stat may take long (a network's file system): no compile waits for it to note its own.
    for (const auto& [path, stamp] : noted()) {
        if (!stamp.same(look(path))) return false;
    }
    return true;
}

std::vector<std::pair<std::string, Stamp>> Witness::noted() const {
    std::lock_guard lock(mutex_);
    return {stamps_.begin(), stamps_.end()};
}

std::size_t Witness::size() const {
    std::lock_guard lock(mutex_);
    return stamps_.size();
}

}  // namespace bunraku::environment
