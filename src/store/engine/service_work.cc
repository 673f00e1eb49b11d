// SPDX-License-Identifier: Apache-2.0
// The workers: they move commands from the queue to the database, several at a time.
#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <sys/stat.h>

#include "core/base/assert.h"
#include "store/db/writer.h"
#include "store/engine/exports.h"
#include "store/engine/impl.h"
#include "store/engine/service.h"

namespace bunraku::store {

using std::chrono::milliseconds;

namespace {

// The more nodes share a transaction, the more changes affect the same index page.
constexpr std::size_t kBatch = 240;             ///< commands in one transaction
constexpr std::size_t kBatchBytes = 12U << 20;  ///< total size of their bodies
constexpr int kMaxAttempts = 6;                 ///< for failures without a known cause

milliseconds back_off(int attempts) {
    constexpr int kSeconds[] = {1, 2, 5, 15, 30, 60};
    int i = std::clamp(attempts, 0, static_cast<int>(std::size(kSeconds)) - 1);
    return milliseconds(kSeconds[i] * 1000);
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

/// Returns true while the database is unavailable. No commands are taken then, because each attempt
/// would read and parse them in vain.
bool Service::pause_work() {
    sys::Duration pause{0};
    {
        std::lock_guard lock(mutex_);
        if (!stopping_) pause = resume_at_ - options_.runtime->now();
    }
    return pause > sys::Duration(0) && workers_->post_after(pause, [this] { work(); }) != 0;
}

/// Processes one batch, then schedules the next call.
void Service::work() {
    if (pause_work()) return;
    std::vector<QueuedCommand> commands = queue_->take(kBatch, milliseconds(0));
    const bool found = !commands.empty();
    try {
        if (found) process(std::move(commands));
        if (found) refresh_statistics();
    } catch (const std::exception& e) {
        log("err", e.what());
    }
    std::lock_guard lock(shift_);
    BUNRAKU_ASSERT(working_ > 0 && working_ <= options_.workers);
    const bool more = found || std::exchange(more_work_, false);
    if (!more || !workers_->post_more([this] { work(); })) --working_;
}

/// Processes commands. Each command ends in settle(), even after an exception.
void Service::process(std::vector<QueuedCommand> commands) {
    std::vector<Job> jobs;
    jobs.reserve(commands.size());
    try {
        prepare(jobs, std::move(commands));
        apply(jobs);
    } catch (const std::exception& e) {
        // Out of memory, for example.
        for (Job& job : jobs) {
            if (job.state != Job::State::Waiting && job.state != Job::State::Done) continue;
            job.state = Job::State::Retry;
            job.error = e.what();
        }
    }
    settle(jobs);
}

void Service::prepare(std::vector<Job>& jobs, std::vector<QueuedCommand> commands) {
    BUNRAKU_ASSERT(jobs.empty() && commands.size() <= kBatch);
    for (QueuedCommand& command : commands) {
        Job& job = jobs.emplace_back();
        job.command = std::move(command);
        job.started = now_us(*options_.runtime);
    }
    std::size_t bytes = 0;
    for (Job& job : jobs) {
        BUNRAKU_ASSERT(job.state == Job::State::Waiting && !job.prepared);
        // Commands that do not fit into memory together are returned to the queue in order.
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
}

void Service::apply(std::vector<Job>& jobs) {
    auto writer = take_writer();
    if (!writer) {
        connection_failed(writer.error());
        for (Job& job : jobs) {
            if (job.state != Job::State::Waiting) continue;
            job.state = Job::State::Wait;
            job.error = writer.error().message;
        }
        return;
    }
    try {
        apply_with(**writer, jobs);
    } catch (...) {
        (*writer)->forget();
        give_back(std::move(*writer));
        throw;
    }
    give_back(std::move(*writer));
}

void Service::apply_with(Writer& writer, std::vector<Job>& jobs) {
    // Retries quickly, up to two more times, after deadlocks and similar errors.
    for (int attempt = 0;; ++attempt) {
        for (Job& job : jobs) {
            if (job.state == Job::State::Done) job.state = Job::State::Waiting;
        }
        auto done = writer.postgresql() ? apply_each(writer, jobs) : apply_together(writer, jobs);
        if (done) {
            BUNRAKU_ASSERT(!any_waiting(jobs));
            connection_works();
            return check_exports(writer, jobs);
        }
        writer.forget();
        Failure failure = failure_of(done.error());
        bool lost =
            failure == Failure::Unavailable || failure == Failure::Full || !writer.db().healthy();
        if (failure == Failure::Retry && attempt < 3) {
            prepare_again(jobs);
            options_.runtime->sleep(milliseconds(5 << (attempt * 2)));
            continue;
        }
        if (lost) connection_failed(done.error());
        for (Job& job : jobs) {
            if (job.state != Job::State::Waiting && job.state != Job::State::Done) continue;
            job.state = lost ? Job::State::Wait : Job::State::Retry;
            job.error = done.error().message;
        }
        return;
    }
}

/// Logs resources that two nodes export. The second of two commands reports the clash. If both run
/// at the same time, at least one reports it, because each checks after its own commit.
void Service::check_exports(Writer& writer, const std::vector<Job>& jobs) {
    ExportChecker judge(writer.db());
    for (const Job& job : jobs) {
        if (job.state != Job::State::Done || job.prepared->new_exports().empty()) continue;
        const std::string& certname = job.command.header.certname;
        const auto clashes = judge.clashes(certname, job.prepared->new_exports());
        if (!clashes) {
            log("warning", fmt::format("Could not check the exported resources of {}: {}", certname,
                                       clashes.error().message));
            return;
        }
        for (const ExportClash& clash : *clashes) log("warning", clash.text());
        if (clashes->empty() || !options_.counters) continue;
        options_.counters
            ->counter("bunraku_export_clashes_total",
                      "Resources of commands that another node exports too, for the same "
                      "collector.")
            .add(clashes->size());
    }
}

/// Reports whether this command may run now. A command must wait if an earlier command of its node
/// waits.
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

/// Runs a command. An error of this command alone is recorded in the job; an error of the
/// connection is returned.
Result<void> Service::run_job(Writer& writer, Job& job, std::vector<std::string_view>& held) {
    Result<Applied> applied = base::failure("");
    BUNRAKU_ASSERT(job.state == Job::State::Waiting && job.prepared != nullptr);
    try {
        applied = job.prepared->apply(writer);
    } catch (const std::exception& e) {
        applied = base::failure(e.what());
    }
    if (!applied) return fail_job(writer, job, held, applied.error());
    job.applied = *applied;
    job.state = Job::State::Done;
    return {};
}

/// Records an error of this command alone in the job. Returns an error of the connection.
Result<void> Service::fail_job(Writer& writer, Job& job, std::vector<std::string_view>& held,
                               const base::Error& error) {
    writer.forget();
    const Failure failure = failure_of(error);
    const bool own = error.code == 0 || failure == Failure::Query || failure == Failure::Constraint;
    if (!own || !writer.db().healthy()) return std::unexpected(error);
    job.error = error.message;
    job.state = error.code == 0 ? Job::State::Fatal : Job::State::Retry;
    if (job.state == Job::State::Retry) held.push_back(job.command.header.certname);
    return {};
}

/// Prepares the commands again, because the attempt that was rolled back may have consumed part of
/// them.
void Service::prepare_again(std::vector<Job>& jobs) {
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

/// Applies each command in its own transaction, on PostgreSQL, so that workers do not wait for each
/// other's new content. Only the last commit waits for the disk, which covers all previous ones.
Result<void> Service::apply_each(Writer& writer, std::vector<Job>& jobs) {
    if (!any_waiting(jobs)) return {};
    std::vector<std::string_view> held;  // nodes whose earlier command must run first
    for (Job& job : jobs) {
        if (!may_run(job, held)) continue;
        const auto unchanged = job.prepared->apply_unchanged(writer);
        if (unchanged && *unchanged) {
            job.applied = **unchanged;
            job.state = Job::State::Done;
            continue;
        }
        // An error of the command itself is found again below.
        if (!unchanged && !writer.db().healthy()) return std::unexpected(unchanged.error());
        Transaction transaction = BUNRAKU_TRY(writer.begin(false, job.command.header.certname));
        BUNRAKU_TRY_VOID(run_job(writer, job, held));
        if (job.state != Job::State::Done) continue;
        // The last statements of the command run only now.
        const auto committed = transaction.commit();
        if (!committed) BUNRAKU_TRY_VOID(fail_job(writer, job, held, committed.error()));
    }
    return options_.durable ? writer.sync() : Result<void>{};
}

/// Applies all commands in one transaction, on SQLite. An error that affects the whole transaction
/// rolls everything back. An error of one command is undone separately, in a second attempt with
/// savepoints. Savepoints are not used at first because SQLite then journals each page before each
/// command, which costs as much as all other work.
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
        BUNRAKU_ASSERT(before.size() == jobs.size() && any_waiting(jobs));
        prepare_again(jobs);
    }
    shorten_log(writer);
    return {};
}

/// Truncates SQLite's write-ahead log. If readers are always active, SQLite cannot restart the log,
/// which would grow without limit and slow down the next start. So the writer waits for the readers
/// briefly from time to time.
void Service::shorten_log(Writer& writer) {
    constexpr off_t kLong = 128 << 20;
    auto now = options_.runtime->now();
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
    bool stored = false;
    std::int64_t now = options_.runtime->now_ms(), at = now_us(*options_.runtime);
    for (Job& job : jobs) {
        const CommandHeader& header = job.command.header;
        BUNRAKU_ASSERT(job.state != Job::State::Waiting);
        switch (job.state) {
            case Job::State::Done:
                BUNRAKU_ASSERT(job.prepared != nullptr && at >= job.started);
                done.push_back(job.command.id);
                stored |= job.applied == Applied::Stored;
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
                    log("err", fmt::format("Gave up on the command '{}' for {}: {}",
                                           command_name(header.kind), header.certname, job.error));
                    queue_->discard(job.command.id, job.error);
                    break;
                }
                count("retried", header);
                log("warning", fmt::format("The command '{}' for {} will be retried later: {}",
                                           command_name(header.kind), header.certname, job.error));
                queue_->retry(job.command.id, back_off(job.command.attempts),
                              Queue::Attempt::Counts);
                break;
            case Job::State::Waiting:
            case Job::State::Wait:
                queue_->retry(job.command.id, milliseconds(job.error == "later" ? 0 : 200),
                              Queue::Attempt::Ignored);
                break;
        }
    }
    BUNRAKU_ASSERT(done.size() <= jobs.size());
    if (!done.empty()) queue_->finish(done);
    applied_ += done.size();
    if (!done.empty()) note_change();
    if (stored) expect_garbage();
}

}  // namespace bunraku::store
