// SPDX-License-Identifier: Apache-2.0
#include "core/sys/watch.h"

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <optional>
#include <poll.h>
#include <sys/eventfd.h>
#include <system_error>
#include <thread>

#include "core/base/assert.h"
#include "core/sys/descriptor.h"
#include "core/sys/file_changes.h"

namespace bunraku::sys {

namespace {

/// A safety interval; no known case needs it.
constexpr std::chrono::milliseconds kMaxWait = std::chrono::minutes(10);

class ThreadWatch final : public Watch {
public:
    ThreadWatch(std::vector<std::string> paths, std::function<void()> changed)
        : paths_(std::move(paths)), changed_(std::move(changed)) {
        if (!end_.good()) throw std::system_error(errno, std::generic_category(), "eventfd");
        observe_paths();
        thread_ = std::thread([this] { run(); });
    }
    ~ThreadWatch() override {
        (void)::eventfd_write(end_.get(), 1);
        BUNRAKU_ASSERT(thread_.joinable());
        BUNRAKU_ASSERT(thread_.get_id() != std::this_thread::get_id());
        thread_.join();
    }

private:
    /// Starts to observe the paths. No later change is missed.
    void observe_paths() {
        BUNRAKU_ASSERT(end_.good());
        moment_ = changes_.moment();
        for (const auto& path : paths_) changes_.add(path);
        // Some paths may be on a file system that does not report changes.
        if (!changes_.hears()) moment_.reset();
    }
    /// Returns true if the watch ends.
    bool ends_within(Duration time) {
        pollfd end{.fd = end_.get(), .events = POLLIN, .revents = 0};
        const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
        BUNRAKU_ASSERT(ms > 0 && ms <= kMaxWait.count());
        return retrying([&] { return ::poll(&end, 1, static_cast<int>(ms)); }) != 0;
    }
    void run() {
        for (;;) {
            if (moment_) {
                if (changes_.wait(end_.get(), kMaxWait)) return;
                // Events of other files in the same folders are ignored.
                if (changes_.moment() == moment_) continue;
                if (ends_within(Runtime::kWatchPause)) return;
            } else if (ends_within(Runtime::kLookPause)) {
                return;
            }
            observe_paths();
            changed_();
        }
    }

    const std::vector<std::string> paths_;
    const std::function<void()> changed_;
    FileChanges changes_;
    std::optional<std::uint64_t> moment_;
    const Descriptor end_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    std::thread thread_;
};

}  // namespace

std::unique_ptr<Watch> watch_with_thread(std::vector<std::string> paths,
                                         std::function<void()> changed) {
    return std::make_unique<ThreadWatch>(std::move(paths), std::move(changed));
}

}  // namespace bunraku::sys
