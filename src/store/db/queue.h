// The durable queue of commands: what it has accepted is on disk, and is processed once for sure.
//
// One append-only log in segments. Submitters that wait at the same time share one fsync; bodies
// stay on disk (a few of the newest also in memory). Commands of one node are given out in the
// order they came, to one taker at a time.
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
    std::uint64_t memory_bytes = 16ULL << 20;  ///< of bodies that need not be read again
    std::size_t max_depth = 500'000;           ///< more are refused
    bool durable = true;                       ///< false: no fsync (tests)
    /// Reports wait so long for others to share a transaction with, unless somebody waits for one.
    sys::Duration gather_reports{0};
    sys::Runtime* runtime = &sys::machine();
    /// Bodies are encrypted on disk, where it is given. What an older program left is not.
    std::shared_ptr<Secrets> secrets = {};
};

/// What came of a command.
struct Completion {
    enum class State { Waiting, Done, Failed, Superseded } state = State::Waiting;
    std::string error;
};

struct QueuedCommand {
    std::uint64_t id = 0;
    CommandHeader header;
    int attempts = 0;
    std::uint32_t size = 0;  ///< of the body
    std::shared_ptr<Completion> completion;
};

/// A command that is kept aside with its reason.
struct DeadLetter {
    std::string name;  ///< of its file, without ".json"
    CommandHeader header;
    std::string reason;
    int attempts = 0;
    std::int64_t failed_at = 0;
    std::uint64_t size = 0;
};

class Queue {
public:
    /// Makes the folder (0700) where it is missing, recovers what a crash left behind. Fails where
    /// another process has the queue open.
    static Result<std::unique_ptr<Queue>> open(const QueueOptions& options);
    ~Queue();

    /// Called with how long to wait until take() may return something.
    using Wake = std::function<void(sys::Duration)>;
    /// Calls `wake` from now on, and at once if something waits already. The caller has the queue
    /// by then, and all that its workers need. `wake` is called with the queue locked: it must not
    /// use it.
    void start(Wake wake);

    /// Gives the command's number once it is on disk. Errors: Failure::Full, Failure::Unavailable
    /// (the disk), Failure::Retry (too many wait).
    Result<std::uint64_t> add(const CommandHeader& header, std::string body,
                              std::shared_ptr<Completion> completion = nullptr);

    /// Up to `most` commands that may be processed now; waits for the first of them. Empty: time is
    /// over, or stop() was called. All of a node's commands in the answer are in order.
    std::vector<QueuedCommand> take(std::size_t most, std::chrono::milliseconds timeout);
    Result<std::string> body(std::uint64_t id);

    /// Each of what was taken ends in one of these. `finish` once the result is durable elsewhere.
    void finish(const std::vector<std::uint64_t>& ids);
    void retry(std::uint64_t id, std::chrono::milliseconds delay, bool counts);
    /// Keeps it aside. Where even that fails, it is tried again later.
    void discard(std::uint64_t id, const std::string& reason);

    /// Waits until the command is through; false: time is over.
    bool wait(const std::shared_ptr<Completion>& completion, std::chrono::milliseconds timeout);

    void stop();  ///< wakes all takers, for good

    struct Figures {
        std::size_t depth = 0;      ///< waiting or being processed
        std::size_t in_flight = 0;  ///< of those, given out
        std::size_t delayed = 0;    ///< of those, waiting for another try
        std::uint64_t superseded = 0, discarded = 0, bytes = 0;
    };
    Figures figures() const;
    /// The oldest first.
    std::vector<QueuedCommand> list(std::size_t most) const;

    struct ImportResult {
        std::size_t count = 0;
        bool refused = false;  ///< the rest could not be written
    };
    /// Commands that somebody put back (see resubmit) are taken in.
    ImportResult take_in();
    /// Where they lie until then.
    static std::string incoming_folder(const std::string& folder);

    /// What an open or closed queue in `folder` holds, without touching it.
    static Result<std::vector<QueuedCommand>> inspect(const std::string& folder);
    static Result<std::vector<DeadLetter>> dead_letters(const std::string& folder);
    static std::size_t count_dead_letters(const std::string& folder);
    /// `secrets` null: as it stands there.
    static Result<std::string> dead_letter_body(const std::string& folder, const std::string& name,
                                                Secrets* secrets = nullptr);
    /// Puts it where the running (or next) server takes it in.
    static Result<void> resubmit(const std::string& folder, const std::string& name);
    static Result<void> drop(const std::string& folder, const std::string& name);

private:
    struct Segment {
        std::uint64_t number = 0;
        int fd = -1;  ///< only of the one that is written
        std::uint64_t tail = 0, allocated = 0;
        std::size_t live = 0;
    };
    struct Entry {
        QueuedCommand command;
        std::uint64_t segment = 0, offset = 0;  ///< of the body
        std::uint32_t crc = 0;
        bool cached = false;
        std::string cached_body;
    };
    struct Node {
        std::deque<std::uint64_t> waiting;
        std::size_t out = 0;    ///< given to a taker
        bool busy = false;      ///< given out, or standing in runnable_
        bool delayed = false;   ///< waiting for another try
        bool gathered = false;  ///< stands in gathered_, not in runnable_
    };
    struct Pending {
        CommandHeader header;
        std::string body;   ///< as it goes to disk
        std::string plain;  ///< where that is encrypted
        std::shared_ptr<Completion> completion;
        std::uint64_t id = 0;
        bool done = false;
        Result<void> result;
    };
    explicit Queue(QueueOptions options) : options_(std::move(options)) {}
    Result<std::string> stored_body(std::uint64_t id, bool cached);
    sys::TimePoint now() const { return options_.runtime->now(); }
    void ring(sys::Duration after);
    Result<void> recover();
    Result<void> new_segment(std::uint64_t at_least);
    Result<void> write(std::vector<Pending*>& batch);
    Result<void> write_or_fail(std::vector<Pending*>& batch);
    void seal_dead_letters();
    void close_current();  ///< the segment that is written; with mutex_ held
    Result<void> append(std::string_view bytes);
    void enter(Pending& p, std::uint64_t offset, std::uint32_t crc);
    void supersede(Node& node, const CommandHeader& by);
    void make_ready(const std::string& certname, Node& node);
    bool gather(const Pending& p, Node& node);
    void release_gathered();
    void release(const Entry& entry);
    void given_back(const std::string& certname);
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

    mutable std::mutex mutex_;  ///< all of the index
    sys::Condition ready_{*options_.runtime}, completed_{*options_.runtime};
    std::unordered_map<std::uint64_t, Entry> entries_;
    std::unordered_map<std::string, Node> nodes_;
    std::deque<std::string> runnable_;
    std::multimap<sys::TimePoint, std::string> delayed_;
    std::vector<std::string> gathered_;  ///< nodes of which reports alone wait, for company
    sys::TimePoint gathered_until_{};
    std::size_t waiters_ = 0;  ///< in wait()
    std::uint64_t next_id_ = 1;
    std::size_t in_flight_ = 0;
    std::uint64_t cached_bytes_ = 0, superseded_ = 0, discarded_ = 0;
    bool stopping_ = false;
    Wake wake_;
    std::vector<std::uint64_t> unwritten_done_;
    std::map<std::uint64_t, Segment> segments_;

    std::mutex log_mutex_;  ///< who may write next
    sys::Condition log_turn_{*options_.runtime};
    std::vector<Pending*> pending_;
    bool writing_ = false;
    std::uint64_t current_ = 0;  ///< the segment that is written
};

}  // namespace bunraku::store
