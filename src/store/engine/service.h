// The store at work: database, queue and workers together, as the server uses them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/counters.h"
#include "core/base/result.h"
#include "core/sys/executor.h"
#include "core/sys/lock.h"
#include "store/db/command.h"
#include "store/db/pool.h"
#include "store/db/queue.h"
#include "store/db/replica.h"
#include "store/engine/garbage.h"

namespace bunraku::store {

struct ServiceOptions {
    std::string database;      ///< a file, or "postgresql://.."
    std::string queue_folder;  ///< empty: beside the database file
    std::string key_file;      ///< the setting store_key, see secrets.h; empty: none
    std::string replica;       ///< "postgresql://..": standbys that queries may ask; empty: none
    std::int64_t replica_max_lag_ms = 10'000;  ///< that one may be behind
    int workers = 0;                           ///< 0: by the cores
    int readers = 0;                           ///< connections for queries; 0: by the cores
    bool durable = true;
    sys::Duration gather_reports{0};  ///< see QueueOptions
    std::uint64_t max_command_size = 256ULL << 20;
    std::size_t max_queue_depth = 500'000;
    Lifetimes lifetimes;
    std::int64_t gc_interval_ms = 3600LL * 1000;  ///< 0: never by itself
    FactsBlocklist facts_blocklist;
    base::Counters* counters = nullptr;
    sys::Runtime* runtime = &sys::machine();
    /// One line a problem ("warning", text); null: silent.
    std::function<void(std::string_view level, const std::string& text)> log;
};

/// What `clean` of the admin API can do.
struct CleanWhat {
    bool expire_nodes = false, purge_nodes = false, purge_reports = false, purge_events = false,
         packages = false, other = false;
    std::size_t purge_batch = 0;  ///< at most so many nodes; 0: all
    static CleanWhat all() { return {true, true, true, true, true, true, 0}; }
};

class Service {
public:
    /// Opens everything and starts the workers. Waits in the background for a PostgreSQL that does
    /// not answer, now and later; commands are taken meanwhile.
    static Result<std::unique_ptr<Service>> start(ServiceOptions options);
    ~Service();
    Service(const Service&) = delete;
    Service& operator=(const Service&) = delete;

    struct Ticket {
        std::uint64_t id = 0;
        std::shared_ptr<Completion> completion;
    };
    /// Back once the command is on disk. See Queue::add for the errors.
    Result<Ticket> submit(const CommandHeader& header, std::string body);
    /// Whether facts of that producer time (ms) are the newest that was told of a node; false where
    /// others write to the database too, and of what an earlier process was told.
    bool facts_match(const std::string& certname, std::int64_t producer_timestamp) const;
    /// False: time is over.
    bool wait(const Ticket& ticket, std::chrono::milliseconds timeout);
    /// Until nothing waits (tests, imports); false: time is over.
    bool drain(std::chrono::milliseconds timeout);

    /// A connection for queries.
    Result<Pool::Lease> reader() { return readers_->take(); }
    /// Runs `work` with the connection that writes, outside a transaction.
    Result<void> with_writer(const std::function<Result<void>(Writer&)>& work);

    /// Null where there is none.
    std::shared_ptr<const ReplicaWatch> replica() const { return replica_; }

    /// False where another one is running, of another server on this database too.
    Result<bool> clean(const CleanWhat& what);
    /// Forgets the node wholly. False: unknown.
    Result<bool> delete_node(std::string_view certname);

    struct Health {
        bool database_up = true;
        std::string problem;  ///< of the database or the queue, as last seen
        Queue::Figures queue;
        std::uint64_t dead_letters = 0;
    };
    Health health() const;
    Queue& queue() { return *queue_; }
    const ServiceOptions& options() const { return options_; }
    Backend backend() const { return backend_; }

    /// Takes no more; what is being processed is finished.
    void stop();

private:
    explicit Service(ServiceOptions options) : options_(std::move(options)) {}
    void rung(sys::Duration after);
    void work();
    bool pause_work();
    void take_in();
    void expect_garbage();
    void clean_in_turn();
    void watch_replica();
    bool remove_content_now();
    std::int64_t history_begins() const;
    struct Job;
    void process(std::vector<QueuedCommand> commands);
    void prepare(std::vector<Job>& jobs, std::vector<QueuedCommand> commands);
    void apply(std::vector<Job>& jobs);
    void apply_with(Writer& writer, std::vector<Job>& jobs);
    Result<void> apply_each(Writer& writer, std::vector<Job>& jobs);
    Result<void> apply_together(Writer& writer, std::vector<Job>& jobs);
    void prepare_anew(std::vector<Job>& jobs);
    static bool any_waiting(const std::vector<Job>& jobs);
    static bool may_run(Job& job, std::vector<std::string_view>& held);
    static Result<void> run_job(Writer& writer, Job& job, std::vector<std::string_view>& held);
    void shorten_log(Writer& writer);
    void check_exports(Writer& writer, const std::vector<Job>& jobs);
    void settle(std::vector<Job>& jobs);
    Result<void> open_first();
    void look_for_database();
    Result<std::unique_ptr<Writer>> open_writer();
    Result<std::unique_ptr<Writer>> take_writer();
    void give_back(std::unique_ptr<Writer> writer);
    void refresh_statistics();
    Result<void> clean_now(const CleanWhat& what);
    Result<GcStep> one_step(const std::function<Result<GcStep>(Writer&)>& step);
    void trouble(const base::Error& error);
    void note_problem(const base::Error& error);
    void well();
    void count(std::string_view what, const CommandHeader& header, std::uint64_t n = 1);
    void measure(std::string_view what, const CommandHeader& header, std::uint64_t value);
    void log(std::string_view level, const std::string& text) const {
        if (options_.log) options_.log(level, text);
    }

    ServiceOptions options_;
    std::shared_ptr<Secrets> secrets_;  ///< null: what is Sensitive is not kept
    CommandOptions command_options_;
    Backend backend_ = Backend::Sqlite;
    std::unique_ptr<Queue> queue_;
    std::unique_ptr<Pool> readers_;
    std::optional<sys::FileLock> file_lock_;  ///< of an SQLite file
    std::shared_ptr<ReplicaWatch> replica_;

    mutable std::mutex mutex_;
    sys::Condition writer_free_{*options_.runtime}, worker_limit_{*options_.runtime};
    std::vector<std::unique_ptr<Writer>> writers_;  ///< free ones
    std::size_t writers_open_ = 0, writers_most_ = 1;
    std::atomic<std::uint64_t> applied_{0};
    std::atomic<bool> analyzing_{false};  ///< next_analyze_
    std::uint64_t next_analyze_ = 50;
    bool stopping_ = false, database_up_ = true;
    std::string problem_;
    sys::TimePoint log_looked_at_{};  ///< by SQLite's only writer
    int outages_ = 0;                 ///< tries in vain, one after the other
    sys::TimePoint resume_at_{};
    std::mutex first_mutex_;  ///< checked_
    bool checked_ = false;    ///< the store's key and settings, by the first writer
    std::atomic<bool> looking_{false};
    std::atomic<bool> cleaning_{false};
    std::atomic<bool> garbage_expected_{false};  ///< what nothing uses will be looked for

    mutable std::mutex facts_mutex_;
    /// Producer times (ms) of what was told here, by node.
    std::unordered_map<std::string, std::int64_t> newest_facts_;

    std::mutex shift_;         ///< what follows
    int working_ = 0;          ///< workers that are at it, or posted
    bool rung_again_ = false;  ///< there may be more than they have seen
    std::unique_ptr<sys::Executor> workers_, keeper_, watcher_;
    std::unique_ptr<sys::Watch> incoming_;  ///< of commands that are put back
};

}  // namespace bunraku::store
