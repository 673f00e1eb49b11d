#include "environment/witness.h"

#include <ctime>
#include <sys/stat.h>

#include "environment/files.h"

namespace bunraku::environment {

namespace {

// File systems stamp by the kernel's tick; some network ones are coarser still.
constexpr std::int64_t kFreshFor = 50'000'000;

}  // namespace

Stamp stamp_of(const std::string& path) {
    struct stat st{};
    return ::stat(path.c_str(), &st) == 0 ? stamp_of(st) : Stamp();
}

Stamp stamp_of(const struct stat& st) {
    Stamp out;
    out.exists = true;
    out.directory = S_ISDIR(st.st_mode);
    out.mtime_ns =
        static_cast<std::int64_t>(st.st_mtim.tv_sec) * 1'000'000'000 + st.st_mtim.tv_nsec;
    out.size = static_cast<std::uint64_t>(st.st_size);
    out.inode = st.st_ino;
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
    const std::int64_t age =
        static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec - out.mtime_ns;
    out.fresh = age > -kFreshFor && age < kFreshFor;
    return out;
}

Stamp Witness::look(const std::string& path) const {
    return files_ ? files_->stat(path) : stamp_of(path);
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
