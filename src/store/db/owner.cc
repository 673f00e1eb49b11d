// SPDX-License-Identifier: Apache-2.0
#include "store/db/owner.h"

#include <errno.h>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <string_view>
#include <sys/file.h>
#include <unistd.h>

#include "core/sys/descriptor.h"
#include "store/db/database.h"

namespace bunraku::store {

namespace {

/// Returns the path of a file next to `database`. The path is the same for every name of the
/// database.
std::string beside(const std::string& database, std::string_view ending) {
    std::error_code ignored;
    auto real = std::filesystem::weakly_canonical(database, ignored);
    return (real.empty() ? database : real.string()) + std::string(ending);
}

}  // namespace

std::string owner_socket(const std::string& database) { return beside(database, ".socket"); }

Result<sys::FileLock> own_file(const std::string& database) {
    const std::string path = beside(database, ".lock");
    std::error_code ignored;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
    // A command that calls has_owner() holds the lock for an instant.
    constexpr int kTries = 20;
    for (int attempt = 1;; ++attempt) {
        auto lock = sys::FileLock::try_acquire(path);
        if (lock) return lock;
        if (lock.error().code != EWOULDBLOCK) {
            return base::failure(
                fmt::format("Could not lock the store {}: {}", database, lock.error().message));
        }
        if (attempt == kTries) break;
        ::usleep(5000);
    }
    return base::failure(
        fmt::format("Another server uses the store {}: only one server can use an SQLite file; to "
                    "share a store, use "
                    "PostgreSQL",
                    database));
}

bool has_owner(const std::string& database) {
    if (is_postgresql_url(database)) return false;
    const sys::Descriptor lock(
        ::open(beside(database, ".lock").c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    if (!lock.good()) return false;
    return ::flock(lock.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace bunraku::store
