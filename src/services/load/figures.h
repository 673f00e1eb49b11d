// SPDX-License-Identifier: Apache-2.0
// Statistics of simulated agents: numbers of requests, durations and errors.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "core/base/counters.h"

namespace bunraku::load {

/// The steps of a run, in order.
enum class Step : std::uint8_t {
    Run,        ///< the whole run
    Connect,    ///< includes the TLS handshake
    Unchanged,  ///< a catalog request with the response 304
    Node,
    Plugins,
    Catalog,
    Metadata,
    Content,
    Report,
    kSize
};
std::string_view step_name(Step step);

/// Counters of a load test. Thread-safe.
class Figures {
public:
    void done(Step step, std::int64_t nanoseconds, std::uint64_t sent, std::uint64_t received);
    /// Counts a failure. `kind` is short ("503 Service Unavailable"), `example` names the agent.
    void failed(Step step, std::string_view kind, std::string example);

    std::uint64_t count(Step step) const { return at(step).time.count(); }
    std::uint64_t failures() const;  ///< failed requests and connections
    double milliseconds(Step step, double quantile) const;

    base::Counter runs_failed;
    base::Counter put_off;  ///< the server asked the agent to return later
    base::Counter absent;   ///< runs that an agent deliberately skipped or aborted
    base::Counter late;     ///< runs that started more than a second late
    base::Counter fresh;    ///< certificates that were created or requested
    base::Gauge running;

    struct LoadSummary {
        std::size_t agents = 0;
        double seconds = 0;
        double own_cpu_seconds = 0;  ///< CPU time of this program
        bool interrupted = false;
    };
    /// Return the summary as text with a table, and as JSON.
    std::string text(const LoadSummary& around) const;
    std::string json(const LoadSummary& around) const;
    /// Returns one line about the progress.
    std::string progress(double seconds) const;

private:
    struct Line {
        base::Histogram time;  ///< in microseconds
        base::Counter sent, received;
    };
    struct Error {
        std::uint64_t count = 0;
        std::string example;
    };
    const Line& at(Step step) const { return lines_[static_cast<std::size_t>(step)]; }
    std::uint64_t requests() const;
    std::map<std::pair<Step, std::string>, Error> errors() const;

    std::array<Line, static_cast<std::size_t>(Step::kSize)> lines_;
    mutable std::mutex mutex_;
    std::map<std::pair<Step, std::string>, Error> errors_;
};

}  // namespace bunraku::load
