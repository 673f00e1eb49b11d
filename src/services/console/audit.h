// SPDX-License-Identifier: Apache-2.0
// The audit log of the console: one JSON line for each sign-in and action.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "services/console/viewer.h"

namespace bunraku::console {

/// Thread-safe. The file has mode 0600. Rotate it by renaming it.
class AuditLog {
public:
    explicit AuditLog(std::string path) : path_(std::move(path)) {}

    struct Entry {
        std::string_view action;   ///< such as "certificate.sign"
        std::string_view target;   ///< such as a certname; may be empty
        std::string_view address;  ///< of the client
        std::string_view result;   ///< "done", or the reason of a failure
    };
    /// Fails if the entry cannot be written. An action must not happen then.
    base::Result<void> add(const Viewer& viewer, const Entry& entry, std::int64_t now_ns);
    const std::string& path() const { return path_; }

private:
    std::string path_;
    std::mutex mutex_;
};

}  // namespace bunraku::console
