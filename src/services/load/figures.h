// What a crowd of agents saw of its server: how many, how long, what went wrong.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "core/base/counters.h"

namespace bunraku::load {

/// What is asked for, in the order of a run.
enum class Step : std::uint8_t {
    Run,        ///< all of it
    Connect,    ///< with the TLS handshake
    Unchanged,  ///< a catalog: 304
    Node,
    Plugins,
    Catalog,
    Metadata,
    Content,
    Report,
    kSize
};
std::string_view step_name(Step step);

/// Any thread records.
class Figures {
public:
    void done(Step step, std::int64_t nanoseconds, std::uint64_t sent, std::uint64_t received);
    /// `kind` is short ("503 Service Unavailable"), `example` names the agent.
    void failed(Step step, std::string_view kind, std::string example);

    std::uint64_t count(Step step) const { return at(step).time.count(); }
    std::uint64_t failures() const;  ///< of requests and connections
    double milliseconds(Step step, double quantile) const;

    base::Counter runs_failed;
    base::Counter put_off;  ///< the server asked to come later
    base::Counter absent;   ///< runs that an agent was made to miss, or to leave in the middle
    base::Counter late;     ///< runs that began over a second after their time
    base::Counter fresh;    ///< certificates that were made or asked for
    base::Gauge running;

    struct LoadSummary {
        std::size_t agents = 0;
        double seconds = 0;
        double own_cpu_seconds = 0;  ///< of the program that counts
        bool interrupted = false;
    };
    /// For people, with a table; and the same as JSON.
    std::string text(const LoadSummary& around) const;
    std::string json(const LoadSummary& around) const;
    /// One line while it runs.
    std::string progress(double seconds) const;

private:
    struct Line {
        base::Histogram time;  ///< microseconds
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
