// SPDX-License-Identifier: Apache-2.0
// Runs the checks of rollout.yaml on separate threads, so that neither the controller nor a
// request waits for a program or for another server.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/result.h"
#include "core/sys/executor.h"
#include "core/sys/process.h"
#include "services/rollout/rules.h"

namespace bunraku::rollout {

enum class CheckAnswer : std::uint8_t {
    Good,
    Bad,
    None,  ///< it could not run, or there is no data; the rollout waits
};

struct CheckResult {
    CheckAnswer answer = CheckAnswer::None;
    std::string detail;  ///< for operators; empty if the answer is Good
    bool operator==(const CheckResult&) const = default;
};

/// The check of one wave.
struct WaveCheck {
    std::int64_t rollout = 0;
    /// Sequence number of the rollout. A result counts only as long as the rollout does not change.
    std::int64_t sequence = 0;
    Check check;
    std::string environment, version;
    std::int64_t wave = 0;
};

/// Returns the body of a response of 2xx. Ends early if `stopped` returns true.
using HttpGet = std::function<base::Result<std::string>(const std::string& url,
                                                        std::chrono::milliseconds timeout,
                                                        const std::function<bool()>& stopped)>;

/// Returns the address of a query of Prometheus.
std::string prometheus_url(const Check& check);
/// Compares each value of a response of Prometheus with the limits of the check. A response
/// without values has no answer (CheckAnswer::None).
CheckResult prometheus_result(const Check& check, std::string_view body);

/// Thread-safe.
class Checks {
public:
    /// `get` may be empty; then queries of Prometheus have no answer. All references must outlive
    /// the object.
    Checks(sys::Processes& processes, sys::Runtime& runtime, sys::Executor& executor, HttpGet get)
        : processes_(processes), runtime_(runtime), executor_(executor), get_(std::move(get)) {}

    /// Returns the result, or nullopt while the check runs. Starts the check if that is necessary;
    /// one without an answer runs again after kRetryMs.
    std::optional<CheckResult> result(const WaveCheck& wanted);
    /// Returns what the rollout waits for, such as "the check /usr/local/bin/ok"; empty if it does
    /// not wait for a check.
    std::string waiting(std::int64_t rollout, std::int64_t sequence) const;
    /// Removes the result of a rollout that has ended.
    void forget(std::int64_t rollout);
    /// Ends running programs and requests soon.
    void stop() { stopping_ = true; }

    static constexpr std::int64_t kRetryMs = 30'000;

private:
    struct Entry {
        std::int64_t sequence = 0;
        std::string name;
        bool running = false;
        std::optional<CheckResult> result;
        std::int64_t ended_ms = 0;
    };
    CheckResult run(const WaveCheck& wanted) const;
    CheckResult run_command(const WaveCheck& wanted) const;
    CheckResult ask_prometheus(const Check& check) const;

    sys::Processes& processes_;
    sys::Runtime& runtime_;
    sys::Executor& executor_;
    const HttpGet get_;
    std::atomic<bool> stopping_{false};
    mutable std::mutex mutex_;
    std::map<std::int64_t, Entry> entries_;  ///< by rollout
};

}  // namespace bunraku::rollout
