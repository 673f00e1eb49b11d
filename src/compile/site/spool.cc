// SPDX-License-Identifier: Apache-2.0
#include "compile/site/spool.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "store/db/database.h"
#include "store/db/secrets.h"

namespace bunraku::site {

using base::Level;
using base::Result;
using std::chrono::milliseconds;

namespace {

constexpr std::size_t kBatch = 64;

/// Increases the delay up to a limit, so that sending resumes within a minute after the service
/// returns.
milliseconds back_off(int failures) {
    constexpr int kSeconds[] = {1, 2, 5, 10, 20, 30};
    return milliseconds(1000 * kSeconds[std::clamp(failures - 1, 0, 5)]);
}

}  // namespace

bool Spool::is_refusal(int status) { return status == 400 || status == 413 || status == 422; }

Result<std::unique_ptr<Spool>> Spool::open(SpoolOptions options, Send send) {
    std::unique_ptr<Spool> out(new Spool(std::move(options), std::move(send)));
    auto* raw = out.get();
    out->executor_ = raw->options_.runtime->executor(
        {.threads = 1, .name = "spool", .error = [raw](const std::string& what) {
             raw->log(Level::Err, what);
         }});
    store::QueueOptions queue;
    queue.folder = raw->options_.folder;
    if (!raw->options_.key_file.empty())
        queue.secrets = std::make_shared<store::Secrets>(raw->options_.key_file);
    queue.max_depth = raw->options_.max_depth;
    queue.durable = raw->options_.durable;
    queue.runtime = raw->options_.runtime;
    auto opened = store::Queue::open(queue);
    if (!opened) return std::unexpected(opened.error());
    out->queue_ = std::move(*opened);
    if (auto* counters = raw->options_.counters) {
        out->sent_ =
            &counters->counter("bunraku_spool_sent_total", "Commands that PuppetDB accepted.");
        out->refused_ = &counters->counter("bunraku_spool_refused_total",
                                           "Commands that PuppetDB rejected; they are set aside.");
        counters->gauge("bunraku_spool_depth", "Commands that wait for PuppetDB.", {},
                        [raw] { return static_cast<double>(raw->figures().depth); });
    }
    if (const auto left = out->figures().depth; left > 0) {
        raw->log(Level::Notice,
                 fmt::format("{} commands for PuppetDB from an earlier run are waiting in {}", left,
                             raw->options_.folder));
    }
    // This must be last: from here on, the executor's thread uses everything above.
    out->queue_->start([raw](sys::Duration after) {
        (void)raw->executor_->post_after(after, [raw] { raw->work(); });
    });
    return out;
}

Spool::~Spool() { stop(); }

void Spool::stop() {
    {
        const std::lock_guard lock(mutex_);
        if (std::exchange(stopping_, true)) return;
    }
    if (queue_) queue_->stop();
    executor_->stop();
}

void Spool::log(Level level, const std::string& text) {
    if (options_.log) options_.log->log(level, text);
}

Result<void> Spool::add(const store::CommandHeader& header, std::string body) {
    auto added = queue_->add(header, std::move(body));
    const std::lock_guard lock(mutex_);
    if (added) {
        logged_full_ = false;
        return {};
    }
    if (!std::exchange(logged_full_, true)) {
        log(Level::Err,
            fmt::format("Could not store commands for PuppetDB in {}: {}. Their requests fail "
                        "until it answers again, or puppetdb-spool-limit is raised",
                        options_.folder, added.error().message));
    }
    return std::unexpected(added.error());
}

bool Spool::stopping() {
    const std::lock_guard lock(mutex_);
    return stopping_;
}

void Spool::work() {
    // While the service is unavailable, each attempt would only wait for its timeout.
    if (const auto now = executor_->now(); now < resume_at_) {
        if (!std::exchange(resumes_, true)) {
            (void)executor_->post_after(resume_at_ - now, [this] {
                resumes_ = false;
                work();
            });
        }
        return;
    }
    bool away = false;
    while (!away && !stopping()) {
        const auto commands = queue_->take(kBatch, milliseconds(0));
        if (commands.empty()) return;
        for (const auto& command : commands) {
            // Returns the remaining commands to the queue, in order.
            if (away || stopping()) {
                queue_->retry(command.id, back_off(failures_), store::Queue::Attempt::Ignored);
            } else {
                away = !send(command);
            }
        }
    }
}

bool Spool::send(const store::QueuedCommand& command) {
    const auto body = queue_->body(command.id);
    if (!body) {
        // The command is damaged on disk and can never be sent.
        queue_->discard(command.id, body.error().message);
        log(Level::Err, fmt::format("'{}' command for {} is damaged and was set aside: {}",
                                    store::command_name(command.header.kind),
                                    command.header.certname, body.error().message));
        return true;
    }
    const auto done = send_(command.header, *body);
    if (done) {
        queue_->finish({command.id});
        if (sent_) sent_->add();
        if (failures_ > 0) {
            log(Level::Notice, fmt::format("PuppetDB takes commands again; {} that waited follow",
                                           figures().depth));
        }
        failures_ = 0;
        return true;
    }
    if (is_refusal(done.error().code)) {
        queue_->discard(command.id, done.error().message);
        if (refused_) refused_->add();
        log(Level::Err,
            fmt::format("PuppetDB rejected the '{}' command for {}, which was set aside "
                        "in {}: {}",
                        store::command_name(command.header.kind), command.header.certname,
                        options_.folder, done.error().message));
        return true;
    }
    if (failures_++ == 0) {
        log(Level::Warning,
            fmt::format("PuppetDB does not accept commands: {}. They are kept in {} and sent "
                        "when it responds; nothing is lost",
                        done.error().message, options_.folder));
    }
    resume_at_ = executor_->now() + back_off(failures_);
    queue_->retry(command.id, back_off(failures_), store::Queue::Attempt::Ignored);
    return false;
}

}  // namespace bunraku::site
