// SPDX-License-Identifier: Apache-2.0
// Stores commands for a remote PuppetDB on disk until the service accepts them. An unavailable
// service neither loses commands nor delays compiles (docs/design/0170).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "core/base/counters.h"
#include "core/base/diagnostic.h"
#include "core/base/result.h"
#include "core/sys/executor.h"
#include "store/db/command.h"
#include "store/db/queue.h"

namespace bunraku::site {

struct SpoolOptions {
    std::string folder;
    /// the setting store_key; if empty, commands are not encrypted
    std::string key_file = {};
    std::size_t max_depth = 100'000;  ///< limit of waiting commands; further ones are rejected
    sys::Runtime* runtime = &sys::machine();
    base::Counters* counters = nullptr;
    /// Used by many threads; must outlive the spool.
    base::LogSink* log = nullptr;
    bool durable = true;  ///< false disables fsync (tests)
};

/// A spool of commands. Thread-safe.
class Spool {
public:
    /// Sends a command. Called by one thread at a time. If is_refusal is true for the code of an
    /// error, the command is invalid; any other error concerns the service.
    using Send = std::function<base::Result<void>(const store::CommandHeader&, const std::string&)>;

    /// Opens the spool and continues with the commands of an earlier process. Fails if another
    /// process uses the folder.
    static base::Result<std::unique_ptr<Spool>> open(SpoolOptions options, Send send);
    ~Spool();

    /// Adds a command and returns once it is on disk. Fails if the disk fails or too many commands
    /// wait.
    base::Result<void> add(const store::CommandHeader& header, std::string body);
    store::Queue::Figures figures() const { return queue_->figures(); }
    /// Finishes the current command. The others stay on disk.
    void stop();

    /// Reports whether a retry would return the same status.
    static bool is_refusal(int status);

private:
    Spool(SpoolOptions options, Send send) : options_(std::move(options)), send_(std::move(send)) {}
    void log(base::Level level, const std::string& text);
    void work();
    bool stopping();
    /// Sends a command. Returns false if the service is unavailable; `command` then waits again.
    bool send(const store::QueuedCommand& command);

    SpoolOptions options_;
    Send send_;
    std::unique_ptr<store::Queue> queue_;
    std::unique_ptr<sys::Executor> executor_;
    base::Counter* sent_ = nullptr;
    base::Counter* refused_ = nullptr;
    std::mutex mutex_;
    bool stopping_ = false, logged_full_ = false;
    // Used only by the thread that sends.
    int failures_ = 0;  ///< consecutive failures
    sys::TimePoint resume_at_{};
    bool resumes_ = false;
};

}  // namespace bunraku::site
