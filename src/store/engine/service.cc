// SPDX-License-Identifier: Apache-2.0
#include "store/engine/service.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/codec/json_cursor.h"
#include "store/db/owner.h"
#include "store/db/secrets.h"
#include "store/db/writer.h"
#include "store/engine/history.h"
#include "store/engine/impl.h"

namespace bunraku::store {

using std::chrono::milliseconds;

Result<std::unique_ptr<Service>> Service::start(ServiceOptions options) {
    if (options.queue_folder.empty()) {
        if (is_postgresql_url(options.database)) return base::failure("The queue has no folder");
        options.queue_folder = options.database + ".queue";
    }
    const int cores = options.runtime->cores();
    if (options.workers <= 0) {
        // With PostgreSQL, one worker can read and compare while another waits for the server.
        options.workers = std::clamp(cores / 2, is_postgresql_url(options.database) ? 2 : 1, 8);
        BUNRAKU_ASSERT(options.workers >= 1);
    }
    if (options.readers <= 0) options.readers = std::clamp(cores * 2, 4, 32);
    BUNRAKU_TRY_VOID(options.facts_blocklist.prepare());
    std::unique_ptr<Service> s(new Service(std::move(options)));
    ServiceOptions& o = s->options_;
    s->backend_ = is_postgresql_url(o.database) ? Backend::Postgresql : Backend::Sqlite;
    s->command_options_.blocklist = o.facts_blocklist;
    s->command_options_.resource_events_ttl_ms = o.lifetimes.resource_events_ttl_ms > 0
                                                     ? o.lifetimes.resource_events_ttl_ms
                                                     : o.lifetimes.report_ttl_ms;
    // SQLite allows one writer at a time; more would only wait for each other.
    if (s->backend_ == Backend::Sqlite) {
        s->file_lock_ = BUNRAKU_TRY(own_file(o.database));
    } else if (!o.replica.empty()) {
        s->replica_ = std::make_shared<ReplicaWatch>(o.database, o.replica, o.replica_max_lag_ms,
                                                     *o.runtime, s->wait_limits());
    }
    s->writers_most_ = s->backend_ == Backend::Sqlite ? 1 : static_cast<std::size_t>(o.workers) + 1;
    // Reads the keys now, so that errors appear at startup and not with the first secret.
    if (!o.key_file.empty()) {
        s->secrets_ = std::make_shared<Secrets>(o.key_file);
        BUNRAKU_TRY_VOID(s->secrets_->ready());
    }
    QueueOptions queue;
    BUNRAKU_ASSERT(o.workers >= 1 && o.readers >= 1 && s->writers_most_ >= 1);
    queue.folder = o.queue_folder;
    queue.durable = o.durable;
    queue.gather_reports = o.gather_reports;
    queue.max_depth = o.max_queue_depth;
    queue.runtime = o.runtime;
    queue.secrets = s->secrets_;
    auto failed = [self = s.get()](const std::string& what) { self->log("err", what); };
    s->workers_ = o.runtime->executor({.threads = o.workers, .name = "store", .error = failed});
    s->maintenance_ = o.runtime->executor({.threads = 1, .name = "store's house", .error = failed});
    BUNRAKU_TRY_VOID(s->open_first());
    s->queue_ = BUNRAKU_TRY(Queue::open(queue));
    s->incoming_ = o.runtime->watch({Queue::incoming_folder(o.queue_folder)}, [self = s.get()] {
        (void)self->maintenance_->post([self] { self->import_resubmitted(); });
    });
    s->maintenance_->post([self = s.get()] { self->import_resubmitted(); });
    s->readers_ = std::make_unique<Pool>(o.database, static_cast<std::size_t>(o.readers),
                                         *o.runtime, s->wait_limits());
    if (o.counters) {
        Service* self = s.get();
        o.counters->gauge("bunraku_command_queue_depth", "Commands waiting or being processed.", {},
                          [self] { return static_cast<double>(self->queue_->figures().depth); });
        o.counters->gauge("bunraku_command_queue_bytes", "Size of the queue's files.", {},
                          [self] { return static_cast<double>(self->queue_->figures().bytes); });
        o.counters->gauge("bunraku_commands_awaiting_retry",
                          "Nodes whose commands wait for a retry.", {},
                          [self] { return static_cast<double>(self->queue_->figures().delayed); });
        o.counters->gauge(
            "bunraku_commands_superseded", "Commands skipped because a newer one was waiting.", {},
            [self] { return static_cast<double>(self->queue_->figures().superseded); });
    }
    // This is last because the workers use everything above from here on.
    s->queue_->start([self = s.get()](sys::Duration after) { self->start_worker(after); });
    if (!s->health().database_up) s->look_for_database();
    s->expect_garbage();
    s->schedule_cleaning();
    if (s->replica_) {
        s->watcher_ =
            o.runtime->executor({.threads = 1, .name = "store's replica", .error = failed});
        (void)s->watcher_->post([self = s.get()] { self->watch_replica(); });
    }
    return s;
}

/// Opens the first connection. If PostgreSQL does not answer, the server meanwhile serves requests
/// that need no database.
Result<void> Service::open_first() {
    constexpr int kConnect = 2;  // seconds; later attempts wait longer
    auto first = open_writer(kConnect);
    if (first) {
        BUNRAKU_ASSERT(writers_open_ == 0 && writers_.empty());
        writers_open_ = 1;
        writers_.push_back(std::move(*first));
        return {};
    }
    if (backend_ == Backend::Sqlite || failure_of(first.error()) != Failure::Unavailable)
        return std::unexpected(std::move(first).error());
    log("err",
        "The store's database does not answer. Until it does, commands wait on disk and queries "
        "are answered 503");
    note_problem(first.error());
    return {};
}

/// Checks from time to time whether PostgreSQL is available again. Without other requests, the
/// failure would otherwise never end.
void Service::look_for_database() {
    if (backend_ == Backend::Sqlite || looking_.exchange(true)) return;
    sys::Duration pause{0};
    {
        std::lock_guard lock(mutex_);
        pause = std::max<sys::Duration>(resume_at_ - options_.runtime->now(), milliseconds(100));
    }
    const auto posted = maintenance_->post_after(pause, [this] {
        looking_ = false;
        auto answer = with_writer([](Writer& writer) { return writer.db().execute("SELECT 1"); });
        if (!answer) return connection_failed(answer.error());
        connection_works();
        start_worker(sys::Duration(0));
    });
    if (!posted) looking_ = false;
}

/// Starts a worker if there is work to do.
void Service::start_worker(sys::Duration after) {
    if (after > sys::Duration(0)) {
        // Fails only if the executors are shutting down, and then no work is needed.
        (void)workers_->post_after(after, [this] { start_worker(sys::Duration(0)); });
        return;
    }
    std::lock_guard lock(shift_);
    BUNRAKU_ASSERT(working_ >= 0 && working_ <= options_.workers);
    if (working_ >= options_.workers) {
        more_work_ = true;
        return;
    }
    if (workers_->post_more([this] { work(); })) ++working_;
}

Service::~Service() {
    stop();
    if (options_.counters) {
        // The metrics may be read after the queue was destroyed, so the gauges are replaced.
        for (const char* name :
             {"bunraku_command_queue_depth", "bunraku_command_queue_bytes",
              "bunraku_commands_awaiting_retry", "bunraku_commands_superseded"}) {
            options_.counters->gauge(name, "", {}, [] { return 0.0; });
        }
    }
}

void Service::stop() {
    request_stop();
    {
        std::lock_guard lock(mutex_);
        if (stopping_) return;
        stopping_ = true;
    }
    incoming_.reset();
    if (queue_) queue_->stop();
    worker_limit_.notify_all();
    writer_free_.notify_all();
    if (maintenance_) maintenance_->stop();
    if (watcher_) watcher_->stop();
    if (workers_) workers_->stop();
    std::lock_guard lock(mutex_);
    writers_.clear();
}

namespace {

/// All unsupported versions share one label, so that senders cannot create an unlimited number of
/// series.
base::Labels labels_of(const CommandHeader& header) {
    bool known = header.version <= newest_version(header.kind);
    return {{"command", std::string(command_name(header.kind))},
            {"version", known ? std::to_string(header.version) : "other"}};
}

}  // namespace

void Service::count(std::string_view what, const CommandHeader& header, std::uint64_t n) {
    if (!options_.counters) return;
    options_.counters
        ->counter(fmt::format("bunraku_commands_{}_total", what), fmt::format("Commands {}.", what),
                  labels_of(header))
        .add(n);
}

void Service::measure(std::string_view what, const CommandHeader& header, std::uint64_t value) {
    if (!options_.counters) return;
    options_.counters
        ->histogram(fmt::format("bunraku_command_{}", what), "Of commands.", labels_of(header))
        .record(value);
}

Result<Service::Ticket> Service::submit(const CommandHeader& header, std::string body) {
    Ticket out;
    out.completion = std::make_shared<Completion>();
    std::size_t size = body.size();
    std::int64_t start = now_us(*options_.runtime);
    auto id = queue_->add(header, std::move(body), out.completion);
    if (id && header.kind == CommandKind::ReplaceFacts) {
        const std::lock_guard lock(facts_mutex_);
        auto& newest = newest_facts_[header.certname];
        newest = std::max(newest, header.producer_timestamp);
    }
    if (!id) {
        count("refused", header);
        log("err",
            fmt::format("A command for {} was refused: {}", header.certname, id.error().message));
        return std::unexpected(std::move(id).error());
    }
    out.id = *id;
    count("received", header);
    measure("size_bytes", header, size);
    measure("persistence_seconds", header,
            static_cast<std::uint64_t>(now_us(*options_.runtime) - start));
    return out;
}

bool Service::facts_match(const std::string& certname, std::int64_t producer_timestamp) const {
    if (backend_ != Backend::Sqlite) return false;
    const std::lock_guard lock(facts_mutex_);
    const auto it = newest_facts_.find(certname);
    return it != newest_facts_.end() && it->second == producer_timestamp;
}

bool Service::wait(const Ticket& ticket, milliseconds timeout) {
    return queue_->wait(ticket.completion, timeout);
}

bool Service::drain(milliseconds timeout) {
    auto end = options_.runtime->now() + timeout;
    while (queue_->figures().depth > 0) {
        if (options_.runtime->now() > end) return false;
        options_.runtime->sleep(milliseconds(2));
    }
    return true;
}

Result<Pool::Lease> Service::reader() {
    BUNRAKU_TRY_VOID(check_silence(options_.runtime->now()));
    return readers_->take();
}

/// Fails if a recent attempt to connect waited for a long time without an answer.
Result<void> Service::check_silence(sys::TimePoint now) const {
    std::lock_guard lock(mutex_);
    if (now >= silent_until_) return {};
    return base::failure(silence_, static_cast<int>(Failure::Unavailable));
}

Result<std::unique_ptr<Writer>> Service::open_writer(int connect_s) {
    const auto began = options_.runtime->now();
    BUNRAKU_TRY_VOID(check_silence(began));
    Writer::Options options;
    options.limits = wait_limits();
    options.limits.connect_s = connect_s;
    options.durable = options_.durable;
    // The cache must hold the index pages of a large fleet that a batch changes before its commit.
    options.cache_kib = 32 << 10;
    options.secrets = secrets_;
    options.removals = removals_;
    auto opened = Writer::open(options_.database, options);
    const auto now = options_.runtime->now();
    if (!opened && failure_of(opened.error()) == Failure::Unavailable &&
        now - began >= std::chrono::seconds(1)) {
        std::lock_guard lock(mutex_);
        silent_until_ = now + (now - began);
        silence_ = opened.error().message;
    }
    auto writer = BUNRAKU_TRY(std::move(opened));
    std::lock_guard lock(first_mutex_);
    if (checked_) return writer;
    {
        Transaction transaction = BUNRAKU_TRY(writer->begin());
        BUNRAKU_TRY_VOID(writer->check_key());
        BUNRAKU_TRY_VOID(transaction.commit());
    }
    BUNRAKU_TRY_VOID(keep_history_for(*writer, options_.lifetimes.catalog_history_ttl_ms));
    checked_ = true;
    return writer;
}

Result<std::unique_ptr<Writer>> Service::take_writer() {
    std::unique_lock lock(mutex_);
    writer_free_.wait(lock, [&] { return !writers_.empty() || writers_open_ < writers_most_; });
    if (!writers_.empty()) {
        BUNRAKU_ASSERT(writers_.size() <= writers_open_);
        auto writer = std::move(writers_.back());
        writers_.pop_back();
        return writer;
    }
    ++writers_open_;
    BUNRAKU_ASSERT(writers_open_ <= writers_most_);
    lock.unlock();
    auto writer = open_writer();
    if (!writer) {
        lock.lock();
        BUNRAKU_ASSERT(writers_open_ > 0);
        --writers_open_;
        writer_free_.notify_one();
    }
    return writer;
}

void Service::give_back(std::unique_ptr<Writer> writer) {
    bool good = writer->db().healthy();
    if (!good) writer.reset();
    std::lock_guard lock(mutex_);
    BUNRAKU_ASSERT(writers_.size() < writers_open_ && writers_open_ <= writers_most_);
    if (good) {
        writers_.push_back(std::move(writer));
    } else {
        --writers_open_;
    }
    writer_free_.notify_one();
}

Result<void> Service::with_writer(const std::function<Result<void>(Writer&)>& work) {
    auto writer = BUNRAKU_TRY(take_writer());
    Result<void> out;
    try {
        out = work(*writer);
    } catch (const std::exception& e) {
        out = base::failure(e.what());
    }
    if (!out) writer->forget();
    give_back(std::move(writer));
    return out;
}

void Service::connection_failed(const base::Error& error) {
    note_problem(error);
    look_for_database();
}

/// Sets the delay before the next attempt, which grows from a quarter of a second to ten seconds.
void Service::note_problem(const base::Error& error) {
    std::lock_guard lock(mutex_);
    auto now = options_.runtime->now();
    if (now >= resume_at_) {
        resume_at_ = std::max<sys::TimePoint>(
            now + milliseconds(std::min(10'000, 250 << std::min(outages_, 6))), silent_until_);
        ++outages_;
    }
    BUNRAKU_ASSERT(resume_at_ > now && outages_ > 0);
    if (database_up_ || problem_ != error.message) {
        log("err", error.message);
    }
    database_up_ = false;
    problem_ = error.message;
}

void Service::connection_works() {
    std::lock_guard lock(mutex_);
    if (!database_up_) log("notice", "The store's database is available again");
    database_up_ = true;
    problem_.clear();
    outages_ = 0;
    resume_at_ = silent_until_ = {};
}

Service::Health Service::health() const {
    Health out;
    out.queue = queue_->figures();
    out.dead_letters = Queue::count_dead_letters(options_.queue_folder);
    std::lock_guard lock(mutex_);
    out.database_up = database_up_;
    out.problem = problem_;
    return out;
}

}  // namespace bunraku::store
