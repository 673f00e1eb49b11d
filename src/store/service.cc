#include "store/service.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <sys/stat.h>

#include "store/impl.h"
#include "store/json_cursor.h"
#include "store/writer.h"

namespace bunraku::store {

namespace {

using std::chrono::milliseconds;

// The more nodes share a transaction, the more changes meet on each page of an index.
constexpr std::size_t kBatch = 240;             ///< commands in one transaction
constexpr std::size_t kBatchBytes = 12U << 20;  ///< of their bodies
constexpr int kMaxAttempts = 6;                 ///< of what fails for no known reason

milliseconds back_off(int attempts) {
    constexpr int kSeconds[] = {1, 2, 5, 15, 30, 60};
    int i = std::clamp(attempts, 0, static_cast<int>(std::size(kSeconds)) - 1);
    return milliseconds(kSeconds[i] * 1000);
}

std::int64_t micros() {
    using namespace std::chrono;
    return duration_cast<microseconds>(steady_clock::now().time_since_epoch()).count();
}

}  // namespace

struct Service::Job {
    QueuedCommand command;
    std::string body;
    std::unique_ptr<PreparedCommand> prepared;
    enum class State { Waiting, Done, Fatal, Retry, Wait } state = State::Waiting;
    Applied applied = Applied::Stored;
    std::string error;
    std::int64_t started = 0;
};

Result<std::unique_ptr<Service>> Service::start(ServiceOptions options) {
    if (options.queue_folder.empty()) {
        if (is_postgresql_url(options.database)) return base::failure("The queue has no folder");
        options.queue_folder = options.database + ".queue";
    }
    int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
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
    s->writers_most_ = s->backend_ == Backend::Sqlite ? 1 : static_cast<std::size_t>(o.workers) + 1;
    auto first = BUNRAKU_TRY(s->open_writer());
    s->writers_open_ = 1;
    s->writers_.push_back(std::move(first));
    QueueOptions queue;
    queue.folder = o.queue_folder;
    queue.durable = o.durable;
    queue.max_depth = o.max_queue_depth;
    s->queue_ = BUNRAKU_TRY(Queue::open(queue));
    s->queue_->take_in();
    s->readers_ = std::make_unique<Pool>(o.database, static_cast<std::size_t>(o.readers));
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
    for (int i = 0; i < o.workers; ++i)
        s->threads_.emplace_back([self = s.get()] { self->work(); });
    s->threads_.emplace_back([self = s.get()] { self->keep_house(); });
    return s;
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
    if (queue_) queue_->stop();
    house_.notify_all();
    writer_free_.notify_all();
    for (std::thread& t : threads_) t.join();
    threads_.clear();
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
    std::int64_t start = micros();
    auto id = queue_->add(header, std::move(body), out.completion);
    if (!id) {
        count("refused", header);
        log("err",
            fmt::format("A command for {} was refused: {}", header.certname, id.error().message));
        return std::unexpected(std::move(id).error());
    }
    out.id = *id;
    count("received", header);
    measure("size_bytes", header, size);
    measure("persistence_seconds", header, static_cast<std::uint64_t>(micros() - start));
    return out;
}

bool Service::wait(const Ticket& ticket, milliseconds patience) {
    return queue_->wait(ticket.completion, patience);
}

bool Service::drain(milliseconds patience) {
    auto end = std::chrono::steady_clock::now() + patience;
    while (queue_->figures().depth > 0) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(milliseconds(2));
    }
    return true;
}

Result<std::unique_ptr<Writer>> Service::open_writer() {
    Writer::Options options;
    options.durable = options_.durable;
    // What a batch changes in the indexes of a large fleet has room in memory until it is
    // committed.
    options.cache_kib = 32 << 10;
    return Writer::open(options_.database, options);
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
    Result<void> out = work(*writer);
    if (!out) writer->forget();
    give_back(std::move(writer));
    return out;
}

/// The longer it lasts, the more rarely it is tried: from a quarter of a second to ten seconds.
void Service::trouble(const base::Error& error) {
    std::lock_guard lock(mutex_);
    auto now = std::chrono::steady_clock::now();
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
    if (resume_at_ > std::chrono::steady_clock::now()) {
        resume_at_ = {};
        house_.notify_all();
    }
}

void Service::work() {
    for (;;) {
        {
            // While the database is away nothing is taken: each try would read and parse in vain.
            std::unique_lock lock(mutex_);
            while (!stopping_ && std::chrono::steady_clock::now() < resume_at_) {
                house_.wait_until(lock, resume_at_);
            }
            if (stopping_) return;
        }
        std::vector<QueuedCommand> commands = queue_->take(kBatch, milliseconds(1000));
        if (!commands.empty()) process(std::move(commands));
    }
}

void Service::process(std::vector<QueuedCommand> commands) {
    std::vector<Job> jobs;
    jobs.reserve(commands.size());
    std::size_t bytes = 0;
    for (QueuedCommand& command : commands) {
        Job& job = jobs.emplace_back();
        job.command = std::move(command);
        job.started = micros();
        // What would not fit into memory together goes back, in order.
        if (bytes > kBatchBytes) {
            job.state = Job::State::Wait;
            job.error = "later";
            continue;
        }
        auto body = queue_->body(job.command.id);
        if (!body) {
            bool damaged = body.error().code == 0;
            job.state = damaged ? Job::State::Fatal : Job::State::Retry;
            job.error = body.error().message;
            continue;
        }
        job.body = std::move(*body);
        bytes += job.body.size();
        auto prepared = prepare_command(job.command.header, job.body, command_options_);
        if (!prepared) {
            job.state = Job::State::Fatal;
            job.error = prepared.error().message;
            continue;
        }
        job.prepared = std::move(*prepared);
    }
    auto writer = take_writer();
    if (!writer) {
        trouble(writer.error());
        for (Job& job : jobs) {
            if (job.state != Job::State::Waiting) continue;
            job.state = Job::State::Wait;
            job.error = writer.error().message;
        }
        settle(jobs);
        return;
    }
    // A quick second and third try for deadlocks and their like.
    for (int attempt = 0;; ++attempt) {
        for (Job& job : jobs) {
            if (job.state == Job::State::Done) job.state = Job::State::Waiting;
        }
        auto done =
            (*writer)->postgresql() ? apply_each(**writer, jobs) : apply_together(**writer, jobs);
        if (done) {
            well();
            break;
        }
        (*writer)->forget();
        Failure failure = failure_of(done.error());
        bool lost = failure == Failure::Unavailable || failure == Failure::Full ||
                    !(*writer)->db().healthy();
        if (failure == Failure::Retry && attempt < 3) {
            prepare_anew(jobs);
            std::this_thread::sleep_for(milliseconds(5 << (attempt * 2)));
            continue;
        }
        if (lost) trouble(done.error());
        for (Job& job : jobs) {
            if (job.state != Job::State::Waiting && job.state != Job::State::Done) continue;
            job.state = lost ? Job::State::Wait : Job::State::Retry;
            job.error = done.error().message;
        }
        break;
    }
    give_back(std::move(*writer));
    settle(jobs);
}

/// Says whether this command's turn has come; the ones behind one that waits wait too.
bool Service::may_run(Job& job, std::vector<std::string_view>& held) {
    std::string_view certname = job.command.header.certname;
    if (std::find(held.begin(), held.end(), certname) != held.end()) {
        if (job.state == Job::State::Waiting) {
            job.state = Job::State::Wait;
            job.error = "an earlier command of the node waits";
        }
        return false;
    }
    if (job.state == Job::State::Retry || job.state == Job::State::Wait) held.push_back(certname);
    return job.state == Job::State::Waiting;
}

/// An error of the command alone is noted with it; one that is about the connection is given back.
Result<void> Service::run_job(Writer& writer, Job& job, std::vector<std::string_view>& held) {
    Result<Applied> applied = base::failure("");
    try {
        applied = job.prepared->apply(writer);
    } catch (const std::exception& e) {
        applied = base::failure(e.what());
    }
    if (applied) {
        job.applied = *applied;
        job.state = Job::State::Done;
        return {};
    }
    writer.forget();
    Failure failure = failure_of(applied.error());
    bool own =
        applied.error().code == 0 || failure == Failure::Query || failure == Failure::Constraint;
    if (!own || !writer.db().healthy()) return std::unexpected(applied.error());
    job.error = applied.error().message;
    job.state = applied.error().code == 0 ? Job::State::Fatal : Job::State::Retry;
    if (job.state == Job::State::Retry) held.push_back(job.command.header.certname);
    return {};
}

/// What was prepared may be half used up by a try that was undone.
void Service::prepare_anew(std::vector<Job>& jobs) {
    for (Job& job : jobs) {
        if (!job.prepared) continue;
        auto again = prepare_command(job.command.header, job.body, command_options_);
        if (again) job.prepared = std::move(*again);
    }
}

bool Service::any_waiting(const std::vector<Job>& jobs) {
    return std::any_of(jobs.begin(), jobs.end(),
                       [](const Job& j) { return j.state == Job::State::Waiting; });
}

/// PostgreSQL: a transaction each, so that workers do not wait for each other's new content; only
/// the last waits for the disk, and with it all before.
Result<void> Service::apply_each(Writer& writer, std::vector<Job>& jobs) {
    if (!any_waiting(jobs)) return {};
    std::vector<std::string_view> held;  // nodes of which an earlier command has to come first
    for (Job& job : jobs) {
        if (!may_run(job, held)) continue;
        Transaction transaction = BUNRAKU_TRY(writer.begin(false));
        BUNRAKU_TRY_VOID(run_job(writer, job, held));
        if (job.state == Job::State::Done) BUNRAKU_TRY_VOID(transaction.commit());
    }
    return options_.durable ? writer.sync() : Result<void>{};
}

/// SQLite: one transaction for all; an error that is about the whole leaves nothing of it. What is
/// wrong with one command is undone alone, in a second try: to be able to, SQLite writes down how
/// each page was before each command, which costs as much as all the rest.
Result<void> Service::apply_together(Writer& writer, std::vector<Job>& jobs) {
    if (!any_waiting(jobs)) return {};
    std::vector<Job::State> before;
    before.reserve(jobs.size());
    for (const Job& job : jobs) before.push_back(job.state);
    for (bool apart : {false, true}) {
        std::vector<std::string_view> held;
        Transaction transaction = BUNRAKU_TRY(writer.begin());
        bool failed = false;
        for (Job& job : jobs) {
            if (!may_run(job, held)) continue;
            std::optional<Savepoint> part;
            if (apart) part.emplace(BUNRAKU_TRY(Savepoint::begin(writer.db())));
            BUNRAKU_TRY_VOID(run_job(writer, job, held));
            failed = job.state != Job::State::Done;
            if (part && !failed) BUNRAKU_TRY_VOID(part->release());
            if (failed && !apart) break;
        }
        if (!failed || apart) {
            BUNRAKU_TRY_VOID(transaction.commit());
            break;
        }
        for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i].state = before[i];
        prepare_anew(jobs);
    }
    shorten_log(writer);
    return {};
}

/// Readers that never pause keep SQLite from beginning its write-ahead log anew: it would grow for
/// ever, and with it the time of the next start. Now and then writing waits for them, shortly.
void Service::shorten_log(Writer& writer) {
    constexpr off_t kLong = 128 << 20;
    auto now = std::chrono::steady_clock::now();
    struct stat st;
    if (now < log_looked_at_ + std::chrono::seconds(3)) return;
    log_looked_at_ = now;
    if (::stat((options_.database + "-wal").c_str(), &st) != 0 || st.st_size < kLong) return;
    (void)writer.db().execute("PRAGMA busy_timeout = 500");
    (void)writer.db().execute("PRAGMA wal_checkpoint(TRUNCATE)");
    (void)writer.db().execute("PRAGMA busy_timeout = 20000");
}

void Service::settle(std::vector<Job>& jobs) {
    std::vector<std::uint64_t> done;
    std::int64_t now = now_ms(), at = micros();
    for (Job& job : jobs) {
        const CommandHeader& header = job.command.header;
        switch (job.state) {
            case Job::State::Done:
                done.push_back(job.command.id);
                count(job.applied == Applied::Obsolete || job.applied == Applied::Duplicate
                          ? "ignored"
                          : "processed",
                      header);
                if (job.applied == Applied::Unchanged) count("unchanged", header);
                measure("processing_seconds", header, static_cast<std::uint64_t>(at - job.started));
                measure(
                    "queue_seconds", header,
                    static_cast<std::uint64_t>(std::max<std::int64_t>(0, now - header.received)) *
                        1000);
                break;
            case Job::State::Fatal:
                count("fatal", header);
                log("err", fmt::format("The command '{}' for {} cannot be processed: {}",
                                       command_name(header.kind), header.certname, job.error));
                queue_->discard(job.command.id, job.error);
                break;
            case Job::State::Retry:
                if (job.command.attempts + 1 >= kMaxAttempts) {
                    count("discarded", header);
                    log("err", fmt::format("The command '{}' for {} is given up: {}",
                                           command_name(header.kind), header.certname, job.error));
                    queue_->discard(job.command.id, job.error);
                    break;
                }
                count("retried", header);
                log("warning", fmt::format("The command '{}' for {} is tried again later: {}",
                                           command_name(header.kind), header.certname, job.error));
                queue_->retry(job.command.id, back_off(job.command.attempts), true);
                break;
            case Job::State::Waiting:
            case Job::State::Wait:
                queue_->retry(job.command.id, milliseconds(job.error == "later" ? 0 : 200), false);
                break;
        }
    }
    if (!done.empty()) queue_->finish(done);
    applied_ += done.size();
}

/// A store that grows quickly is planned for as the small one it was: PostgreSQL's own daemon looks
/// once a minute at best. JSON is not looked at: sorting samples of it costs more than all the
/// rest. One table after the other, with pauses, so that queries do not feel it.
void Service::refresh_statistics() {
    if (backend_ != Backend::Postgresql || applied_ < next_analyze_) return;
    next_analyze_ = applied_ * 3;
    static constexpr std::string_view kTables[] = {
        "certnames",
        "environments",
        "producers",
        "packages",
        "certname_packages",
        "exported_tags",
        "exported_params",
        "catalog_resources",
        "factset_facts",
        "fact_paths",
        "parameters (id)",
        "catalogs (certname_id, environment_id, producer_timestamp)",
        "resources (id, parameters_id, type, title, exported, file, line, tag_set_id)",
        "tag_sets",
        "tag_set_members",
        "parameter_values",
        "catalog_types",
        "factsets (certname_id, environment_id, producer_timestamp)",
        "facts (id, name, match, number)",
        "fact_leaves (fact_id, path_id, match, number)",
        "reports (id, certname_id, status, environment_id, producer_timestamp, end_time)",
        "resource_events (certname_id, report_id, status, timestamp, resource_type,"
        " resource_title, property, containing_class)",
    };
    std::size_t next = 0;
    for (bool more = true; more;) {
        auto done = one_step([&](Writer& writer) -> Result<GcStep> {
            // A quarter of the usual sample is enough for plans, and costs a quarter.
            BUNRAKU_TRY_VOID(writer.db().execute("SET default_statistics_target = 25"));
            BUNRAKU_TRY_VOID(writer.db().execute(fmt::format("ANALYZE {}", kTables[next])));
            return GcStep{1, ++next < std::size(kTables)};
        });
        if (!done) log("warning", done.error().message);
        more = done && done->more;
    }
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

void Service::keep_house() {
    auto now = [] { return std::chrono::steady_clock::now(); };
    auto content = now() + std::chrono::seconds(20);
    auto collect = now() + milliseconds(options_.gc_interval_ms);
    for (;;) {
        {
            std::unique_lock lock(mutex_);
            house_.wait_for(lock, std::chrono::seconds(1), [&] { return stopping_; });
            if (stopping_) return;
        }
        queue_->take_in();
        refresh_statistics();
        if (now() >= content) {
            content = now() + std::chrono::seconds(20);
            for (int steps = 0; steps < 200; ++steps) {
                auto more = one_step([](Writer& writer) -> Result<GcStep> {
                    ContentRemoval step = BUNRAKU_TRY(remove_content(writer, 250));
                    return GcStep{step.removed, step.more};
                });
                if (!more || !more->more) break;
            }
        }
        if (options_.gc_interval_ms > 0 && now() >= collect) {
            collect = now() + milliseconds(options_.gc_interval_ms);
            auto done = clean(CleanWhat::all());
            if (!done) log("warning", "Garbage collection failed: " + done.error().message);
        }
    }
}

Result<bool> Service::clean(const CleanWhat& what) {
    std::unique_lock busy(cleaning_, std::try_to_lock);
    if (!busy) return false;
    BUNRAKU_TRY_VOID(clean_now(what));
    return true;
}

/// Runs a step of the garbage collector, and then leaves the database to others for as long as it
/// has taken.
Result<GcStep> Service::one_step(const std::function<Result<GcStep>(Writer&)>& step) {
    GcStep out;
    std::chrono::steady_clock::time_point begun;
    BUNRAKU_TRY_VOID(with_writer([&](Writer& writer) -> Result<void> {
        begun = std::chrono::steady_clock::now();
        out = BUNRAKU_TRY(step(writer));
        return {};
    }));
    if (!out.more) return out;
    auto taken = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begun);
    std::unique_lock lock(mutex_);
    house_.wait_for(lock, std::clamp(taken, milliseconds(1), milliseconds(200)),
                    [&] { return stopping_; });
    if (stopping_) out.more = false;
    return out;
}

Result<void> Service::clean_now(const CleanWhat& what) {
    std::int64_t now = now_ms();
    auto repeat = [&](std::size_t most,
                      const std::function<Result<GcStep>(Writer&)>& step) -> Result<void> {
        std::size_t total = 0;
        for (;;) {
            GcStep done = BUNRAKU_TRY(one_step(step));
            total += done.done;
            if (!done.more || (most > 0 && total >= most)) return {};
        }
    };
    const Lifetimes& l = options_.lifetimes;
    if (what.expire_nodes) {
        BUNRAKU_TRY_VOID(repeat(0, [&](Writer& w) { return expire_nodes(w, l, now, 500); }));
    }
    if (what.purge_nodes) {
        std::size_t step = what.purge_batch > 0 ? std::min<std::size_t>(what.purge_batch, 10) : 10;
        BUNRAKU_TRY_VOID(
            repeat(what.purge_batch, [&](Writer& w) { return purge_nodes(w, l, now, step); }));
    }
    if (what.purge_reports) {
        BUNRAKU_TRY_VOID(repeat(0, [&](Writer& w) { return purge_reports(w, l, now, 200); }));
        BUNRAKU_TRY_VOID(repeat(0, [&](Writer& w) { return purge_events(w, l, now, 2000); }));
    }
    if (what.packages || what.other) {
        BUNRAKU_TRY_VOID(repeat(0, [&](Writer& w) -> Result<GcStep> {
            ContentRemoval step = BUNRAKU_TRY(remove_content(w, 500));
            return GcStep{step.removed, step.more};
        }));
    }
    if (!what.other) return {};
    UnusedNames unused;
    {
        auto connection = BUNRAKU_TRY(reader());
        unused = BUNRAKU_TRY(unused_names(*connection, 1000));
    }
    return with_writer([&](Writer& writer) -> Result<void> {
        BUNRAKU_TRY(purge_names(writer, unused));
        return {};
    });
}

Result<bool> Service::delete_node(std::string_view certname) {
    // What there may be much of goes in steps.
    for (bool more = true; more;) {
        more = BUNRAKU_TRY(one_step([&](Writer& w) { return purge_reports_of(w, certname); })).more;
    }
    bool known = false;
    BUNRAKU_TRY_VOID(with_writer([&](Writer& writer) -> Result<void> {
        Transaction transaction = BUNRAKU_TRY(writer.begin_removal());
        known = BUNRAKU_TRY(purge_node(writer, certname));
        BUNRAKU_TRY_VOID(transaction.commit());
        writer.forget();
        return {};
    }));
    return known;
}

}  // namespace bunraku::store
