// SPDX-License-Identifier: Apache-2.0
// The running store as the server uses it: database, queue and workers.
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
    std::string queue_folder;  ///< next to the database file if empty
    std::string key_file;      ///< setting store_key, see secrets.h; may be empty
    std::string replica;       ///< "postgresql://..": standbys for queries; may be empty
    std::int64_t replica_max_lag_ms = 10'000;  ///< maximum lag of the standby
    int workers = 0;                           ///< 0 means that it depends on the number of cores
    /// connections for queries; 0 means that it depends on the number of cores
    int readers = 0;
    bool durable = true;
    sys::Duration gather_reports{0};  ///< see QueueOptions
    std::uint64_t max_command_size = 256ULL << 20;
    std::size_t max_queue_depth = 500'000;
    Lifetimes lifetimes;
    std::int64_t gc_interval_ms = 3600LL * 1000;  ///< 0 disables automatic garbage collection
    FactsBlocklist facts_blocklist;
    base::Counters* counters = nullptr;
    sys::Runtime* runtime = &sys::machine();
    /// Receives one line per problem ("warning", text). May be null.
    std::function<void(std::string_view level, const std::string& text)> log;
    /// Called after this process changed the content of the store. Must return quickly. May be
    /// null.
    std::function<void()> changed;
};

/// The operations of `clean` in the admin API.
struct CleanWhat {
    bool expire_nodes = false, purge_nodes = false, purge_reports = false, purge_events = false,
         packages = false, other = false;
    std::size_t purge_batch = 0;  ///< maximum number of nodes; 0 means all
    static CleanWhat all() { return {true, true, true, true, true, true, 0}; }
};

class Service {
public:
    /// Opens the store and starts the workers. If PostgreSQL is not available, now or later,
    /// reconnects in the background and accepts commands meanwhile.
    static Result<std::unique_ptr<Service>> start(ServiceOptions options);
    ~Service();
    Service(const Service&) = delete;
    Service& operator=(const Service&) = delete;

    struct Ticket {
        std::uint64_t id = 0;
        std::shared_ptr<Completion> completion;
    };
    /// Returns when the command is on disk. Queue::add() describes the errors.
    Result<Ticket> submit(const CommandHeader& header, std::string body);
    /// Reports whether facts with that producer time (ms) are the newest that this process received
    /// for a node. Returns false if other processes may write to the database, and for facts that
    /// an earlier process received.
    bool facts_match(const std::string& certname, std::int64_t producer_timestamp) const;
    /// Waits for the command. Returns false after the timeout.
    bool wait(const Ticket& ticket, std::chrono::milliseconds timeout);
    /// Waits until the queue is empty, for tests and imports. Returns false after the timeout.
    bool drain(std::chrono::milliseconds timeout);

    /// Returns a connection for queries.
    Result<Pool::Lease> reader();
    /// Makes connections stop waiting for a PostgreSQL server that does not answer. Call it before
    /// anything that waits for users of this object, and then stop().
    void request_stop() { stop_.request_stop(); }
    /// Returns the limits of connections that end with this object.
    WaitLimits wait_limits() const { return {.stop = stop_.get_token()}; }
    /// Runs `work` with a connection for writing, outside a transaction.
    Result<void> with_writer(const std::function<Result<void>(Writer&)>& work);

    /// Returns null if no standby is configured.
    std::shared_ptr<const ReplicaWatch> replica() const { return replica_; }

    /// Removes unused data. Returns false if another clean is running, including one of another
    /// server on this database.
    Result<bool> clean(const CleanWhat& what);
    /// Removes the node and all its data. Returns false if the node is unknown.
    Result<bool> delete_node(std::string_view certname);

    struct Health {
        bool database_up = true;
        std::string problem;  ///< latest problem of the database or the queue
        Queue::Figures queue;
        std::uint64_t dead_letters = 0;
    };
    Health health() const;
    Queue& queue() { return *queue_; }
    const ServiceOptions& options() const { return options_; }
    Backend backend() const { return backend_; }

    /// Stops accepting commands and finishes those in progress.
    void stop();

private:
    explicit Service(ServiceOptions options) : options_(std::move(options)) {}
    void start_worker(sys::Duration after);
    void work();
    bool pause_work();
    void import_resubmitted();
    void expect_garbage();
    void schedule_cleaning();
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
    void prepare_again(std::vector<Job>& jobs);
    static bool any_waiting(const std::vector<Job>& jobs);
    static bool may_run(Job& job, std::vector<std::string_view>& held);
    static Result<void> run_job(Writer& writer, Job& job, std::vector<std::string_view>& held);
    static Result<void> fail_job(Writer& writer, Job& job, std::vector<std::string_view>& held,
                                 const base::Error& error);
    void shorten_log(Writer& writer);
    void check_exports(Writer& writer, const std::vector<Job>& jobs);
    void settle(std::vector<Job>& jobs);
    Result<void> open_first();
    void look_for_database();
    Result<std::unique_ptr<Writer>> open_writer(int connect_s = 0);
    Result<std::unique_ptr<Writer>> take_writer();
    void give_back(std::unique_ptr<Writer> writer);
    void refresh_statistics();
    Result<void> clean_now(const CleanWhat& what);
    Result<GcStep> one_step(const std::function<Result<GcStep>(Writer&)>& step);
    void connection_failed(const base::Error& error);
    void note_problem(const base::Error& error);
    Result<void> check_silence(sys::TimePoint now) const;
    void connection_works();
    void count(std::string_view what, const CommandHeader& header, std::uint64_t n = 1);
    void measure(std::string_view what, const CommandHeader& header, std::uint64_t value);
    void note_change() const {
        if (options_.changed) options_.changed();
    }
    void log(std::string_view level, const std::string& text) const {
        if (options_.log) options_.log(level, text);
    }

    ServiceOptions options_;
    std::shared_ptr<Removals> removals_ = std::make_shared<Removals>();
    std::shared_ptr<Secrets> secrets_;  ///< if null, Sensitive values are not stored
    CommandOptions command_options_;
    Backend backend_ = Backend::Sqlite;
    std::unique_ptr<Queue> queue_;
    std::unique_ptr<Pool> readers_;
    std::optional<sys::FileLock> file_lock_;  ///< lock of an SQLite file
    std::shared_ptr<ReplicaWatch> replica_;

    mutable std::mutex mutex_;
    sys::Condition writer_free_{*options_.runtime}, worker_limit_{*options_.runtime};
    std::vector<std::unique_ptr<Writer>> writers_;  ///< idle connections
    std::size_t writers_open_ = 0, writers_most_ = 1;
    std::atomic<std::uint64_t> applied_{0};
    std::atomic<bool> analyzing_{false};  ///< protects next_analyze_
    std::uint64_t next_analyze_ = 50;
    bool stopping_ = false, database_up_ = true;
    std::string problem_;
    sys::TimePoint log_looked_at_{};  ///< used only by SQLite's single writer
    int outages_ = 0;                 ///< number of consecutive failed attempts
    sys::TimePoint resume_at_{};
    /// If an attempt to connect gets no answer, the next one waits for as long as that attempt
    /// took.
    sys::TimePoint silent_until_{};
    std::string silence_;  ///< the error of that attempt
    std::stop_source stop_;
    std::mutex first_mutex_;  ///< protects checked_
    /// true after the first writer has checked the store's key and settings
    bool checked_ = false;
    std::atomic<bool> looking_{false};
    std::atomic<bool> cleaning_{false};
    /// true if a search for unused content is scheduled
    std::atomic<bool> garbage_expected_{false};

    mutable std::mutex facts_mutex_;
    /// Producer times (ms) of the newest facts that this process received, by node.
    std::unordered_map<std::string, std::int64_t> newest_facts_;

    std::mutex shift_;  ///< protects the members below
    int working_ = 0;   ///< workers that are running or scheduled
    /// true if there may be more work than the running workers have seen
    bool more_work_ = false;
    std::unique_ptr<sys::Executor> workers_, maintenance_, watcher_;
    std::unique_ptr<sys::Watch> incoming_;  ///< watches for resubmitted commands
};

}  // namespace bunraku::store
