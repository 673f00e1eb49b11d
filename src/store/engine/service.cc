#include "store/engine/service.h"

#include <algorithm>
#include <fmt/format.h>

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
        // On PostgreSQL one waits for the server while the other reads and compares.
        options.workers = std::clamp(cores / 2, is_postgresql_url(options.database) ? 2 : 1, 8);
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
    // SQLite has one writer; more would only wait for each other.
    if (s->backend_ == Backend::Sqlite) {
        s->file_lock_ = BUNRAKU_TRY(own_file(o.database));
    } else if (!o.replica.empty()) {
        s->replica_ =
            std::make_shared<ReplicaWatch>(o.database, o.replica, o.replica_max_lag_ms, *o.runtime);
    }
    s->writers_most_ = s->backend_ == Backend::Sqlite ? 1 : static_cast<std::size_t>(o.workers) + 1;
    // Known from the start, rather than with the first command that has a secret.
    if (!o.key_file.empty()) {
        s->secrets_ = std::make_shared<Secrets>(o.key_file);
        BUNRAKU_TRY_VOID(s->secrets_->ready());
    }
    QueueOptions queue;
    queue.folder = o.queue_folder;
    queue.durable = o.durable;
    queue.gather_reports = o.gather_reports;
    queue.max_depth = o.max_queue_depth;
    queue.runtime = o.runtime;
    queue.secrets = s->secrets_;
    auto failed = [self = s.get()](const std::string& what) { self->log("err", what); };
    s->workers_ = o.runtime->executor({.threads = o.workers, .name = "store", .error = failed});
    s->keeper_ = o.runtime->executor({.threads = 1, .name = "store's house", .error = failed});
    BUNRAKU_TRY_VOID(s->open_first());
    s->queue_ = BUNRAKU_TRY(Queue::open(queue));
    s->incoming_ = o.runtime->watch({Queue::incoming_folder(o.queue_folder)}, [self = s.get()] {
        (void)self->keeper_->post([self] { self->take_in(); });
    });
    s->keeper_->post([self = s.get()] { self->take_in(); });
    s->readers_ =
        std::make_unique<Pool>(o.database, static_cast<std::size_t>(o.readers), *o.runtime);
    if (o.counters) {
        Service* self = s.get();
        o.counters->gauge("bunraku_command_queue_depth", "Commands waiting or being processed.", {},
                          [self] { return static_cast<double>(self->queue_->figures().depth); });
        o.counters->gauge("bunraku_command_queue_bytes", "Size of the queue's files.", {},
                          [self] { return static_cast<double>(self->queue_->figures().bytes); });
        o.counters->gauge("bunraku_commands_awaiting_retry",
                          "Nodes whose commands wait for another try.", {},
                          [self] { return static_cast<double>(self->queue_->figures().delayed); });
        o.counters->gauge(
            "bunraku_commands_superseded", "Passed over because a newer one was waiting.", {},
            [self] { return static_cast<double>(self->queue_->figures().superseded); });
    }
    // Last: from here on workers use all of the above.
    s->queue_->start([self = s.get()](sys::Duration after) { self->rung(after); });
    if (!s->health().database_up) s->look_for_database();
    s->expect_garbage();
    s->clean_in_turn();
    if (s->replica_) {
        s->watcher_ =
            o.runtime->executor({.threads = 1, .name = "store's replica", .error = failed});
        (void)s->watcher_->post([self = s.get()] { self->watch_replica(); });
    }
    return s;
}

/// Opens the first connection. A PostgreSQL that does not answer is waited for while the server
/// serves what needs no database.
Result<void> Service::open_first() {
    auto first = open_writer();
    if (first) {
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

/// Asks from time to time whether PostgreSQL is back, because nobody else may.
void Service::look_for_database() {
    if (backend_ == Backend::Sqlite || looking_.exchange(true)) return;
    sys::Duration pause{0};
    {
        std::lock_guard lock(mutex_);
        pause = std::max<sys::Duration>(resume_at_ - options_.runtime->now(), milliseconds(100));
    }
    const auto posted = keeper_->post_after(pause, [this] {
        looking_ = false;
        auto answer = with_writer([](Writer& writer) { return writer.db().execute("SELECT 1"); });
        if (!answer) return trouble(answer.error());
        well();
        rung(sys::Duration(0));
    });
    if (!posted) looking_ = false;
}

/// Somebody works when there is something to do.
void Service::rung(sys::Duration after) {
    if (after > sys::Duration(0)) {
        // When the executors end, nobody needs to come any more.
        (void)workers_->post_after(after, [this] { rung(sys::Duration(0)); });
        return;
    }
    std::lock_guard lock(shift_);
    if (working_ >= options_.workers) {
        rung_again_ = true;
        return;
    }
    if (workers_->post_more([this] { work(); })) ++working_;
}

Service::~Service() {
    stop();
    if (options_.counters) {
        // What asks the queue may be asked later than the queue lives.
        for (const char* name :
             {"bunraku_command_queue_depth", "bunraku_command_queue_bytes",
              "bunraku_commands_awaiting_retry", "bunraku_commands_superseded"}) {
            options_.counters->gauge(name, "", {}, [] { return 0.0; });
        }
    }
}

void Service::stop() {
    {
        std::lock_guard lock(mutex_);
        if (stopping_) return;
        stopping_ = true;
    }
    incoming_.reset();
    if (queue_) queue_->stop();
    worker_limit_.notify_all();
    writer_free_.notify_all();
    if (keeper_) keeper_->stop();
    if (watcher_) watcher_->stop();
    if (workers_) workers_->stop();
    std::lock_guard lock(mutex_);
    writers_.clear();
}

namespace {

/// Versions that there are not have one label together: senders must not make any number of series.
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

Result<std::unique_ptr<Writer>> Service::open_writer() {
    Writer::Options options;
    options.durable = options_.durable;
    // What a batch changes in the indexes of a large fleet has room in memory until it is
    // committed.
    options.cache_kib = 32 << 10;
    options.secrets = secrets_;
    auto writer = BUNRAKU_TRY(Writer::open(options_.database, options));
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
        auto writer = std::move(writers_.back());
        writers_.pop_back();
        return writer;
    }
    ++writers_open_;
    lock.unlock();
    auto writer = open_writer();
    if (!writer) {
        lock.lock();
        --writers_open_;
        writer_free_.notify_one();
    }
    return writer;
}

void Service::give_back(std::unique_ptr<Writer> writer) {
    bool good = writer->db().healthy();
    if (!good) writer.reset();
    std::lock_guard lock(mutex_);
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

void Service::trouble(const base::Error& error) {
    note_problem(error);
    look_for_database();
}

/// Tries again the more rarely the longer it lasts: after a quarter of a second to ten seconds.
void Service::note_problem(const base::Error& error) {
    std::lock_guard lock(mutex_);
    auto now = options_.runtime->now();
    if (now >= resume_at_) {
        resume_at_ = now + milliseconds(std::min(10'000, 250 << std::min(outages_, 6)));
        ++outages_;
    }
    if (database_up_ || problem_ != error.message) {
        log("err", error.message);
    }
    database_up_ = false;
    problem_ = error.message;
}

void Service::well() {
    std::lock_guard lock(mutex_);
    if (!database_up_) log("notice", "The store's database is back");
    database_up_ = true;
    problem_.clear();
    outages_ = 0;
    resume_at_ = {};
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
