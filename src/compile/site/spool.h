// What a PuppetDB elsewhere is to hear, kept on disk until it has: one that is away loses nothing
// and holds up no compile (docs/design/0170).
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
    std::string key_file = {};        ///< the setting store_key; empty: nothing is encrypted
    std::size_t max_depth = 100'000;  ///< more are refused
    sys::Runtime* runtime = &sys::machine();
    base::Counters* counters = nullptr;
    /// Used by many threads; outlives it.
    base::LogSink* log = nullptr;
    bool durable = true;  ///< false: no fsync (tests)
};

/// Thread-safe.
class Spool {
public:
    /// Called by one thread at a time. An error whose code `is_refusal` is about the command, any
    /// other about the service.
    using Send = std::function<base::Result<void>(const store::CommandHeader&, const std::string&)>;

    /// Goes on with what an earlier process has left. Fails where another one uses the folder.
    static base::Result<std::unique_ptr<Spool>> open(SpoolOptions options, Send send);
    ~Spool();

    /// Back once it is on disk. Fails where the disk does, or where too many wait.
    base::Result<void> add(const store::CommandHeader& header, std::string body);
    store::Queue::Figures figures() const { return queue_->figures(); }
    /// What is being sent is finished; the rest stays on disk.
    void stop();

    /// The status of an answer that will be the same next time.
    static bool is_refusal(int status);

private:
    Spool(SpoolOptions options, Send send) : options_(std::move(options)), send_(std::move(send)) {}
    void log(base::Level level, const std::string& text);
    void work();
    bool stopping();
    /// False: the service is away, and `command` waits again.
    bool send(const store::QueuedCommand& command);

    SpoolOptions options_;
    Send send_;
    std::unique_ptr<store::Queue> queue_;
    std::unique_ptr<sys::Executor> executor_;
    base::Counter* sent_ = nullptr;
    base::Counter* refused_ = nullptr;
    std::mutex mutex_;
    bool stopping_ = false, told_full_ = false;
    // Of the one thread that sends.
    int failures_ = 0;  ///< in a row
    sys::TimePoint resume_at_{};
    bool resumes_ = false;
};

}  // namespace bunraku::site
