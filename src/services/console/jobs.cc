// SPDX-License-Identifier: Apache-2.0
#include "services/console/jobs.h"

#include <algorithm>

#include "core/base/diagnostic.h"
#include "core/sys/priority.h"
#include "services/console/errors.h"

namespace bunraku::console {

namespace {

std::string_view kind_of(std::string_view key) { return key.substr(0, key.find(' ')); }

}  // namespace

std::string Job::problem() const {
    const std::lock_guard lock(mutex_);
    return problem_;
}

void Job::request_stop(std::string reason) {
    {
        const std::lock_guard lock(mutex_);
        if (stop_reason_.empty()) stop_reason_ = std::move(reason);
    }
    stop_.request_stop();
}

void Job::end(State state, std::string problem) {
    {
        const std::lock_guard lock(mutex_);
        problem_ = std::move(problem);
    }
    ended_ms_ = runtime_->now_ms();
    state_ = state;
}

void Job::progress(std::size_t done, std::size_t all) {
    done_ = done;
    all_ = all;
    const auto now = runtime_->now_ms();
    if (now - began_ms_ > JobRunner::kMostTimeMs)
        request_stop("It took longer than 15 minutes.");
    else if (now - asked_ms_ > JobRunner::kAbandonedMs)
        request_stop("Nobody looked at it for 5 minutes.");
}

bool JobRunner::is_outdated(const Job& job) const {
    if (!job.ended()) return false;
    const auto age = runtime_.now_ms() - job.ended_ms();
    return age > (job.state() == Job::State::Done ? kMostAgeMs : kRetryMs);
}

void JobRunner::leave(Job& job, std::string_view viewer, std::string reason) {
    const auto own = job.viewers_.find(viewer);
    if (own == job.viewers_.end()) return;
    job.viewers_.erase(own);
    if (job.viewers_.empty()) job.request_stop(std::move(reason));
}

void JobRunner::forget_oldest() {
    while (true) {
        std::size_t ended = 0;
        auto oldest = jobs_.end();
        for (auto it = jobs_.begin(); it != jobs_.end(); ++it) {
            if (!it->second->ended()) continue;
            ++ended;
            if (oldest == jobs_.end() || it->second->asked_ms_ < oldest->second->asked_ms_)
                oldest = it;
        }
        if (ended <= kMostCached) return;
        jobs_.erase(oldest);
    }
}

base::Result<std::shared_ptr<Job>> JobRunner::find_or_start(
    std::string_view viewer, const std::string& key,
    const std::function<std::shared_ptr<Job>()>& make) {
    const std::lock_guard lock(mutex_);
    if (stopping_) return base::failure("The server is stopping.");
    const auto now = runtime_.now_ms();
    if (const auto it = jobs_.find(key); it != jobs_.end()) {
        Job& job = *it->second;
        if (!is_outdated(job)) {
            job.asked_ms_ = now;
            if (!job.ended()) job.viewers_.emplace(viewer);
            return it->second;
        }
        jobs_.erase(it);
    }
    for (const auto& [other, job] : jobs_)
        if (!job->ended() && kind_of(other) == kind_of(key))
            leave(*job, viewer, "You started another one.");
    const auto waiting =
        std::ranges::count_if(jobs_, [](const auto& entry) { return !entry.second->ended(); });
    if (static_cast<std::size_t>(waiting) >= kMostWaiting)
        return base::failure("Too many people wait for results. Try again in some minutes.");
    auto job = make();
    job->runtime_ = &runtime_;
    job->asked_ms_ = now;
    job->viewers_.emplace(viewer);
    if (!executor_) executor_ = runtime_.executor({.threads = 1, .name = "console"});
    jobs_[key] = job;
    forget_oldest();
    if (!executor_->post([this, job] { run(job); })) {
        jobs_.erase(key);
        return base::failure("The server is stopping.");
    }
    return job;
}

std::shared_ptr<Job> JobRunner::find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto it = jobs_.find(key);
    if (it == jobs_.end() || is_outdated(*it->second)) return nullptr;
    it->second->asked_ms_ = runtime_.now_ms();
    return it->second;
}

std::vector<std::shared_ptr<Job>> JobRunner::done(std::string_view kind) {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<Job>> out;
    for (const auto& [key, job] : jobs_)
        if (kind_of(key) == kind && job->state() == Job::State::Done && !is_outdated(*job))
            out.push_back(job);
    return out;
}

void JobRunner::drop(std::string_view viewer, const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto it = jobs_.find(key);
    if (it == jobs_.end()) return;
    if (it->second->ended()) {
        jobs_.erase(it);
    } else {
        leave(*it->second, viewer, "You stopped it.");
    }
}

void JobRunner::run(const std::shared_ptr<Job>& job) {
    sys::lower_thread_priority();
    job->began_ms_ = runtime_.now_ms();
    job->state_ = Job::State::Running;
    base::Result<void> result;
    const auto stop = job->stop_.get_token();
    if (!stop.stop_requested()) {
        try {
            result = job->run(stop);
        } catch (const base::PuppetError& error) {
            result = base::failure(error.full_text());
        } catch (const std::exception& error) {
            result = base::failure(error.what());
        }
    }
    if (stop.stop_requested()) {
        std::string reason;
        {
            const std::lock_guard lock(job->mutex_);
            reason = job->stop_reason_;
        }
        job->end(Job::State::Stopped, std::move(reason));
    } else if (!result) {
        job->end(Job::State::Failed, shown_message(result.error()));
    } else {
        job->end(Job::State::Done, {});
    }
}

void JobRunner::stop() {
    std::unique_ptr<sys::Executor> executor;
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        for (const auto& [key, job] : jobs_) job->request_stop("The server is stopping.");
        executor = std::move(executor_);
    }
    if (executor) executor->stop();
}

}  // namespace bunraku::console
