// The deploys that webhooks asked for, on disk: a webhook is acknowledged only once its deploy
// would survive the process.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace bunraku::forge {

/// A deploy that a webhook asked for, and how it went.
struct DeployJob {
    std::uint64_t id = 0;
    std::vector<std::string> environments, modules;  ///< both empty: everything
    std::string from;                                ///< the repository's name
    std::int64_t asked = 0, begun = 0, ended = 0;
    std::string state = "waiting";  ///< waiting, running, done, failed
    std::string error;
    std::vector<std::string> changed;
    /// The process that took it ended before the deploy did.
    bool resumed = false;

    bool waits() const { return state == "waiting"; }
    bool open() const { return waits() || state == "running"; }
    bool same_work(const DeployJob& other) const {
        return environments == other.environments && modules == other.modules;
    }
    /// As /deploy/status shows it.
    std::string json() const;
};

/// Jobs and the digests of the webhooks that asked for them, in a file of one record a line:
/// "TIME DIGEST JOB". The last record of a job counts. A line that was cut is no record, so a
/// digest is on disk only together with its job. Not thread-safe.
class DeployJobs {
public:
    /// Reads the file. Jobs that had not ended wait again.
    explicit DeployJobs(std::string path);

    /// Whether a webhook with this digest was taken in the last 30 days, and its deploy did not
    /// fail.
    bool seen(const std::string& digest) const;
    /// Takes a webhook: syncs the record to disk, then adds the job and numbers it. Returns the
    /// job, which is an earlier one where the same work waits already.
    base::Result<DeployJob> take(const std::string& digest, DeployJob job);
    /// Replaces the job of the same number. An ended one is recorded; if that fails it will run
    /// again after a restart, which is harmless.
    void update(const DeployJob& job);

    const std::deque<DeployJob>& jobs() const { return jobs_; }  ///< the oldest first
    /// The oldest that waits; null: none.
    const DeployJob* next() const;

private:
    struct Taken {
        std::int64_t at = 0;
        std::uint64_t job = 0;  ///< 0: an earlier one, of which nothing is known any more
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
