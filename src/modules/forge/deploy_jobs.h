// SPDX-License-Identifier: Apache-2.0
// A persistent queue of the deploys requested by webhooks. The server acknowledges a webhook only
// after its deploy is on disk.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace bunraku::forge {

/// A deploy requested by a webhook, and its result.
struct DeployJob {
    std::uint64_t id = 0;
    std::vector<std::string> environments, modules;  ///< if both are empty, everything is deployed
    std::string from;                                ///< name of the repository
    std::int64_t asked = 0, begun = 0, ended = 0;
    std::string state = "waiting";  ///< waiting, running, done or failed
    std::string error;
    std::vector<std::string> changed;
    /// True if the process that ran the job ended before the job did.
    bool resumed = false;

    bool waits() const { return state == "waiting"; }
    bool open() const { return waits() || state == "running"; }
    bool same_work(const DeployJob& other) const {
        return environments == other.environments && modules == other.modules;
    }
    /// Returns the job as shown by /deploy/status.
    std::string json() const;
};

/// Jobs and the digests of their webhooks, in a file with one record a line: "TIME DIGEST JOB". The
/// last record of a job is the valid one. An incomplete line is ignored, so a digest is on disk
/// only together with its job. Not thread-safe.
class DeployJobs {
public:
    /// Reads the file. Jobs that had not ended are queued again.
    explicit DeployJobs(std::string path);

    /// Reports whether a webhook with this digest was accepted in the last 30 days and its deploy
    /// did not fail.
    bool seen(const std::string& digest) const;
    /// Accepts a webhook: syncs the record to disk, then numbers the job and adds it. Returns the
    /// job. If an earlier job for the same work is waiting, returns that job.
    base::Result<DeployJob> take(const std::string& digest, DeployJob job);
    /// Replaces the job with the same number. Records a finished job on disk. If that fails, the
    /// job runs again after a restart, which is harmless.
    void update(const DeployJob& job);

    const std::deque<DeployJob>& jobs() const { return jobs_; }  ///< oldest first
    /// Returns the oldest waiting job, or null if there is none.
    const DeployJob* next() const;

private:
    struct Taken {
        std::int64_t at = 0;
        /// 0 for a job of an earlier process, whose details are not available
        std::uint64_t job = 0;
    };
    void read_line(std::string_view line, std::int64_t now);
    void forget_old();
    base::Result<void> append(const std::string& digest, const DeployJob& job);
    void compact();
    static std::string record(std::int64_t at, const std::string& digest, const DeployJob* job);

    std::string path_;
    std::deque<DeployJob> jobs_;
    std::map<std::string, Taken, std::less<>> taken_;  ///< by digest
    std::uint64_t next_ = 1;
    std::size_t appended_ = 0;  ///< bytes since the last compaction
};

}  // namespace bunraku::forge
