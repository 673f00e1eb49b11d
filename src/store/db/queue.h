// SPDX-License-Identifier: Apache-2.0
// The durable queue of commands. Every accepted command is on disk and is certain to be processed.
//
// The queue is one append-only log in segments. Submitters that wait at the same time share one
// fsync. Bodies stay on disk; a few of the newest are cached in memory. Commands of one node are
// handed out in order of arrival, to one taker at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/sys/executor.h"
#include "store/db/command.h"

namespace bunraku::store {

class Secrets;

struct QueueOptions {
    std::string folder;
    std::uint64_t segment_bytes = 16ULL << 20;
    std::uint64_t memory_bytes = 16ULL << 20;  ///< size of the cache of bodies
    std::size_t max_depth = 500'000;           ///< limit of waiting commands; more are rejected
    bool durable = true;                       ///< if false, no fsync (tests)
    /// How long reports wait for others to share a transaction. They do not wait while a caller is
    /// in wait().
    sys::Duration gather_reports{0};
    sys::Runtime* runtime = &sys::machine();
    /// Keys that encrypt bodies on disk; may be null. Bodies that an older program wrote stay
    /// unencrypted.
    std::shared_ptr<Secrets> secrets = {};
};

/// The outcome of a command.
struct Completion {
    enum class State { Waiting, Done, Failed, Superseded } state = State::Waiting;
    std::string error;
};

struct QueuedCommand {
    std::uint64_t id = 0;
    CommandHeader header;
    int attempts = 0;
    std::uint32_t size = 0;  ///< size of the body
    std::shared_ptr<Completion> completion;
};

/// A command that failed and is stored with its reason.
struct DeadLetter {
    std::string name;  ///< file name without ".json"
    CommandHeader header;
    std::string reason;
    int attempts = 0;
    std::int64_t failed_at = 0;
    std::uint64_t size = 0;
};

class Queue {
public:
    /// Creates the folder (mode 0700) if necessary and recovers from a crash. Fails if another
    /// process has the queue open.
    static Result<std::unique_ptr<Queue>> open(const QueueOptions& options);
    ~Queue();

    /// A function that receives the delay after which take() may return commands.
    using Wake = std::function<void(sys::Duration)>;
    /// Sets the function that announces commands. Calls it at once if commands are waiting. The
    /// caller must hold the queue and everything its workers need by then. `wake` runs with the
    /// queue locked, so it must not use the queue.
    void start(Wake wake);

    /// Returns the command's number once it is on disk. Fails with Failure::Full or
    /// Failure::Unavailable for disk errors, and with Failure::Retry if too many commands are
    /// waiting.
    Result<std::uint64_t> add(const CommandHeader& header, std::string body,
                              std::shared_ptr<Completion> completion = nullptr);

    /// Returns up to `most` commands that may be processed now. Waits for the first one. The result
    /// is empty after the timeout or after stop(). Commands of the same node are in order.
    std::vector<QueuedCommand> take(std::size_t most, std::chrono::milliseconds timeout);
    Result<std::string> body(std::uint64_t id);

    /// Each command that take() returns must end in finish(), retry() or discard(). Call finish()
    /// once the result is durable elsewhere.
    void finish(const std::vector<std::uint64_t>& ids);
    /// Whether the attempt counts towards the limit after which a command becomes a dead letter.
    enum class Attempt : std::uint8_t { Counts, Ignored };
    void retry(std::uint64_t id, std::chrono::milliseconds delay, Attempt attempt);
    /// Stores the command as a dead letter. If that fails, the command is retried later.
    void discard(std::uint64_t id, const std::string& reason);

    /// Waits until the command has ended. Returns false after the timeout.
    bool wait(const std::shared_ptr<Completion>& completion, std::chrono::milliseconds timeout);

    void stop();  ///< wakes all takers permanently

    struct Figures {
        std::size_t depth = 0;      ///< waiting or in progress
        std::size_t in_flight = 0;  ///< the part of `depth` that was handed out
        std::size_t delayed = 0;    ///< the part of `depth` that waits for a retry
        std::uint64_t superseded = 0, discarded = 0, bytes = 0;
    };
    Figures figures() const;
    /// Returns the oldest commands first.
    std::vector<QueuedCommand> list(std::size_t most) const;

    struct ImportResult {
        std::size_t count = 0;
        bool refused = false;  ///< the remaining ones could not be written
    };
    /// Adds commands that an administrator resubmitted (see resubmit()).
    ImportResult import_resubmitted();
    /// Returns the folder that holds resubmitted commands until then.
    static std::string incoming_folder(const std::string& folder);

    /// Returns the commands of an open or closed queue in `folder` without changing it.
    static Result<std::vector<QueuedCommand>> inspect(const std::string& folder);
    static Result<std::vector<DeadLetter>> dead_letters(const std::string& folder);
    static std::size_t count_dead_letters(const std::string& folder);
    /// Returns the body of a dead letter. If `secrets` is null, returns it as stored, possibly
    /// encrypted.
    static Result<std::string> dead_letter_body(const std::string& folder, const std::string& name,
                                                Secrets* secrets = nullptr);
    /// Moves the dead letter to the folder from which the running or next server adds it to the
    /// queue.
    static Result<void> resubmit(const std::string& folder, const std::string& name);
    static Result<void> drop(const std::string& folder, const std::string& name);

private:
    struct Segment {
        std::uint64_t number = 0;
        int fd = -1;  ///< open only for the current segment
        std::uint64_t tail = 0, allocated = 0;
        std::size_t live = 0;
    };
    struct Entry {
        QueuedCommand command;
        std::uint64_t segment = 0, offset = 0;  ///< position of the body
        std::uint32_t crc = 0;
        bool cached = false;
        std::string cached_body;
    };
    struct Node {
        std::deque<std::uint64_t> waiting;
        std::size_t out = 0;    ///< commands handed to a taker
        bool busy = false;      ///< handed out, or listed in runnable_
        bool delayed = false;   ///< waiting for a retry
        bool gathered = false;  ///< listed in gathered_ and not in runnable_
    };
    struct Pending {
        CommandHeader header;
        std::string body;   ///< as written to disk
        std::string plain;  ///< unencrypted body, if `body` is encrypted
        std::shared_ptr<Completion> completion;
        std::uint64_t id = 0;
        bool done = false;
        Result<void> result;
    };
    explicit Queue(QueueOptions options) : options_(std::move(options)) {}
    Result<std::string> stored_body(std::uint64_t id, bool cached);
    sys::TimePoint now() const { return options_.runtime->now(); }
    void notify_workers(sys::Duration after);
    Result<void> recover();
    Result<void> new_segment(std::uint64_t at_least);
    Result<void> write(std::vector<Pending*>& batch);
    Result<void> write_or_fail(std::vector<Pending*>& batch);
    void seal_dead_letters();
    void close_current();  ///< closes the current segment; mutex_ must be held
    Result<void> append(std::string_view bytes);
    void enter(Pending& p, std::uint64_t offset, std::uint32_t crc);
    void supersede(Node& node, const CommandHeader& by);
    void make_ready(const std::string& certname, Node& node);
    bool gather(const Pending& p, Node& node);
    void release_gathered();
    void release(const Entry& entry);
    void release_node(const std::string& certname);
    void remove(std::uint64_t id, Completion::State state, std::string error);
    void write_done();
    void append_done();
    Segment& writable();
    void remove_segments();
    void end(Entry& entry, Completion::State state, std::string error);
    std::string segment_path(std::uint64_t number) const;
    static Result<std::uint64_t> read_segment(
        const std::string& path, bool last,
        const std::function<void(QueuedCommand, std::uint64_t offset, std::uint32_t crc)>& command,
        const std::function<void(std::uint64_t)>& done);

    QueueOptions options_;
    int lock_fd_ = -1;

    mutable std::mutex mutex_;  ///< protects the whole index
    sys::Condition ready_{*options_.runtime}, completed_{*options_.runtime};
    std::unordered_map<std::uint64_t, Entry> entries_;
    std::unordered_map<std::string, Node> nodes_;
    std::deque<std::string> runnable_;
    std::multimap<sys::TimePoint, std::string> delayed_;
    std::vector<std::string> gathered_;  ///< nodes that have only delayed reports waiting
    sys::TimePoint gathered_until_{};
    std::size_t waiters_ = 0;  ///< callers in wait()
    std::uint64_t next_id_ = 1;
    std::size_t in_flight_ = 0;
    std::uint64_t cached_bytes_ = 0, superseded_ = 0, discarded_ = 0;
    bool stopping_ = false;
    Wake wake_;
    std::vector<std::uint64_t> unwritten_done_;
    std::map<std::uint64_t, Segment> segments_;

    std::mutex log_mutex_;  ///< protects the write turn
    sys::Condition log_turn_{*options_.runtime};
    std::vector<Pending*> pending_;
    bool writing_ = false;
    std::uint64_t current_ = 0;  ///< number of the current segment
};

}  // namespace bunraku::store
