// SPDX-License-Identifier: Apache-2.0
#include "modules/forge/deploy_jobs.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/diagnostic.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/codec/json_text.h"
#include "core/sys/descriptor.h"
#include "core/sys/disk.h"
#include "core/value/rich_data.h"
#include "modules/module/feed.h"
#include "modules/module/names.h"

namespace bunraku::forge {

namespace {

using base::failure;
using base::Result;
using value::Value;

constexpr std::size_t kMostRemembered = 200, kMostAppended = 4 << 20;
/// Number of seconds for which a repeated webhook is ignored.
constexpr std::int64_t kReplay = 30 * 86400;

std::string list_json(const std::vector<std::string>& items) {
    std::string out = "[";
    for (const std::string& item : items) {
        if (out.size() > 1) out += ',';
        codec::append_json_string(out, item);
    }
    return out + "]";
}

/// Returns the text of a job as stored in the file.
std::string stored(const DeployJob& j) {
    return fmt::format(
        R"({{"id":{},"state":{},"repository":{},"environments":{},"modules":{},"asked":{},)"
        R"("begun":{},"ended":{},"changed":{},"error":{}}})",
        j.id, codec::json_string(j.state), codec::json_string(j.from), list_json(j.environments),
        list_json(j.modules), j.asked, j.begun, j.ended, list_json(j.changed),
        codec::json_string(j.error));
}

std::int64_t number(const Value& hash, std::string_view key) {
    const Value* v = hash.as_hash().find(key);
    return v && v->is_integer() ? v->as_integer() : 0;
}

std::vector<std::string> texts(const Value& hash, std::string_view key) {
    std::vector<std::string> out;
    const Value* list = hash.as_hash().find(key);
    if (!list || !list->is_array()) return out;
    for (const Value& item : list->as_array()) {
        if (item.is_string()) out.emplace_back(item.as_string());
    }
    return out;
}

/// Returns false if the text is not a complete record of a job.
bool read_stored(std::string_view text, DeployJob& out) {
    base::Arena arena;
    const auto json = value::parse_json(arena, text);
    if (!json || !json->is_hash() || number(*json, "id") < 1) return false;
    out.id = static_cast<std::uint64_t>(number(*json, "id"));
    out.state = module::text_at(*json, "state");
    out.from = module::text_at(*json, "repository");
    out.error = module::text_at(*json, "error");
    out.environments = texts(*json, "environments");
    out.modules = texts(*json, "modules");
    out.changed = texts(*json, "changed");
    out.asked = number(*json, "asked");
    out.begun = number(*json, "begun");
    out.ended = number(*json, "ended");
    return true;
}

}  // namespace

std::string DeployJob::json() const {
    const auto time = [](std::int64_t at) {
        return at ? codec::json_string(module::forge_time(at)) : "null";
    };
    return fmt::format(
        R"({{"id":{},"state":{},"repository":{},"environments":{},"modules":{},"asked_at":{},)"
        R"("begun_at":{},"ended_at":{},"changed":{},"error":{}}})",
        id, codec::json_string(state), codec::json_string(from), list_json(environments),
        list_json(modules), time(asked), time(begun), time(ended), list_json(changed),
        error.empty() ? "null" : codec::json_string(error));
}

DeployJobs::DeployJobs(std::string path) : path_(std::move(path)) {
    const auto text = sys::disk().read(path_);
    if (!text) return;
    const std::int64_t now = std::time(nullptr);
    for (const std::string_view line : base::split(*text, '\n')) read_line(line, now);
    std::sort(jobs_.begin(), jobs_.end(),
              [](const DeployJob& a, const DeployJob& b) { return a.id < b.id; });
    for (DeployJob& job : jobs_) {
        if (!job.open()) continue;
        job.state = "waiting";
        job.begun = 0;
        job.resumed = true;
    }
    BUNRAKU_ASSERT(jobs_.empty() || next_ > jobs_.back().id);
    forget_old();
    compact();
}

void DeployJobs::read_line(std::string_view line, std::int64_t now) {
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos) return;
    const auto at = base::parse_integer<std::int64_t>(line.substr(0, blank));
    std::string_view digest = line.substr(blank + 1), rest;
    if (const std::size_t end = digest.find(' '); end != std::string_view::npos) {
        rest = digest.substr(end + 1);
        digest = digest.substr(0, end);
    }
    if (!at || digest.size() != 64) return;
    DeployJob job;
    if (!rest.empty() && !read_stored(rest, job)) return;
    if (*at + kReplay > now) taken_[std::string(digest)] = {.at = *at, .job = job.id};
    if (job.id == 0) return;
    next_ = std::max(next_, job.id + 1);
    BUNRAKU_ASSERT(next_ > job.id);
    const auto known = std::find_if(jobs_.begin(), jobs_.end(),
                                    [&](const DeployJob& j) { return j.id == job.id; });
    if (known == jobs_.end()) {
        jobs_.push_back(std::move(job));
    } else {
        *known = std::move(job);
    }
}

void DeployJobs::forget_old() {
    while (jobs_.size() > kMostRemembered && !jobs_.front().open()) jobs_.pop_front();
}

bool DeployJobs::seen(const std::string& digest) const {
    const auto it = taken_.find(digest);
    if (it == taken_.end() || it->second.at + kReplay <= std::time(nullptr)) return false;
    for (const DeployJob& job : jobs_) {
        if (job.id == it->second.job) return job.state != "failed";
    }
    return true;
}

Result<DeployJob> DeployJobs::take(const std::string& digest, DeployJob job) {
    for (const DeployJob& j : jobs_) {
        if (!j.waits() || !j.same_work(job)) continue;
        BUNRAKU_TRY_VOID(append(digest, j));
        taken_[digest] = {.at = std::time(nullptr), .job = j.id};
        return j;
    }
    job.id = next_;
    BUNRAKU_ALWAYS_ASSERT(jobs_.empty() || jobs_.back().id < job.id);
    BUNRAKU_ASSERT(job.waits());
    job.asked = std::time(nullptr);
    BUNRAKU_TRY_VOID(append(digest, job));
    ++next_;
    taken_[digest] = {.at = job.asked, .job = job.id};
    jobs_.push_back(job);
    forget_old();
    return job;
}

void DeployJobs::update(const DeployJob& job) {
    BUNRAKU_ASSERT(job.id > 0 && job.id < next_);
    for (DeployJob& j : jobs_) {
        if (j.id == job.id) j = job;
    }
    if (job.open()) return;
    for (const auto& [digest, taken] : taken_) {
        if (taken.job == job.id && append(digest, job)) break;
    }
    if (appended_ > kMostAppended) compact();
}

const DeployJob* DeployJobs::next() const {
    const auto it =
        std::find_if(jobs_.begin(), jobs_.end(), [](const DeployJob& j) { return j.waits(); });
    return it == jobs_.end() ? nullptr : &*it;
}

std::string DeployJobs::record(std::int64_t at, const std::string& digest, const DeployJob* job) {
    return fmt::format("{} {}{}{}\n", at, digest, job ? " " : "", job ? stored(*job) : "");
}

Result<void> DeployJobs::append(const std::string& digest, const DeployJob& job) {
    const bool fresh = !sys::disk().exists(path_);
    const sys::Descriptor fd(
        ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    const auto failed = [&](int code) {
        return failure(fmt::format("cannot write {}: {}", path_, std::strerror(code)), code);
    };
    if (!fd.good()) return failed(errno);
    // The leading newline ends a record that a full disk truncated.
    const std::string text = "\n" + record(std::time(nullptr), digest, &job);
    if (const int code = sys::write_all(fd.get(), text)) return failed(code);
    if (::fdatasync(fd.get()) != 0) return failed(errno);
    if (fresh) {
        const sys::Descriptor folder(::open(std::string(sys::directory_name(path_)).c_str(),
                                            O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (folder.good()) ::fsync(folder.get());
    }
    appended_ += text.size();
    return {};
}

/// Rewrites the file with the current records only. If that fails, the longer file remains.
void DeployJobs::compact() {
    const std::int64_t now = std::time(nullptr);
    std::map<std::uint64_t, const DeployJob*> by_id;
    for (const DeployJob& job : jobs_) by_id.emplace(job.id, &job);
    BUNRAKU_ASSERT(by_id.size() == jobs_.size());
    std::string text;
    std::erase_if(taken_, [&](const auto& t) {
        const auto job = by_id.find(t.second.job);
        const bool open = job != by_id.end() && job->second->open();
        return t.second.at + kReplay <= now && !open;
    });
    for (const auto& [digest, taken] : taken_) {
        const auto job = by_id.find(taken.job);
        text += record(taken.at, digest, job == by_id.end() ? nullptr : job->second);
    }
    if (sys::disk().replace(path_, text, {.mode = 0600, .sync = true})) appended_ = 0;
}

}  // namespace bunraku::forge
