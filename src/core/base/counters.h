// SPDX-License-Identifier: Apache-2.0
// The metrics of a running server. Prometheus and the status pages read them. The registry is
// passed as a parameter; there is no global one.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bunraku::base {

/// A number that only grows.
class Counter {
public:
    void add(std::uint64_t n = 1) { value_.fetch_add(n, std::memory_order_relaxed); }
    std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::uint64_t> value_{0};
};

/// A number that rises and falls.
class Gauge {
public:
    void set(std::int64_t v) { value_.store(v, std::memory_order_relaxed); }
    void add(std::int64_t n = 1) { value_.fetch_add(n, std::memory_order_relaxed); }
    std::int64_t value() const { return value_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::int64_t> value_{0};
};

/// A histogram of durations or sizes. Any thread records without waiting. Values are whole numbers,
/// by convention microseconds or bytes. Quantiles are exact to about an eighth.
class Histogram {
public:
    void record(std::uint64_t value);
    std::uint64_t count() const { return count_.load(std::memory_order_relaxed); }
    std::uint64_t sum() const { return sum_.load(std::memory_order_relaxed); }
    std::uint64_t max() const { return max_.load(std::memory_order_relaxed); }
    std::uint64_t min() const;  ///< 0 if nothing was recorded
    double mean() const;
    double deviation() const;  ///< computed from the middles of the buckets
    /// Returns the value that the fraction `q` (0..1) of all records does not exceed.
    double quantile(double q) const;
    /// Returns the records a second, as exponentially weighted averages over 1, 5 and 15 minutes.
    double rate(int minutes) const;
    /// Adds all records of `other`, and its rates.
    void absorb(const Histogram& other);
    /// Advances the averages of rate() by `seconds`; see Counters::tick. Returns false if nothing
    /// was recorded since the last call.
    bool tick(double seconds);

private:
    static constexpr std::size_t kBuckets = 496;  // 8 for each power of two
    static std::size_t bucket_of(std::uint64_t value);
    static double middle_of(std::size_t bucket);
    std::array<std::atomic<std::uint32_t>, kBuckets> buckets_{};
    std::atomic<std::uint64_t> count_{0}, sum_{0}, max_{0}, min_{UINT64_MAX};
    std::uint64_t ticked_ = 0;
    std::array<std::atomic<double>, 3> rates_{};
};

using Labels = std::vector<std::pair<std::string, std::string>>;

/// A registry of metrics. References stay valid as long as the registry exists, and the same name
/// and labels give the same reference. Names follow Prometheus ("bunraku_commands_total"). A
/// histogram whose name ends in "_seconds" records microseconds. Thread-safe. Callers should store
/// the references instead of looking them up each time.
class Counters {
public:
    Counter& counter(std::string_view name, std::string_view help, const Labels& labels = {});
    /// Adds a counter whose value `read` returns at the time of reading, like the gauge below.
    void counter(std::string_view name, std::string_view help, const Labels& labels,
                 std::function<double()> read);
    Gauge& gauge(std::string_view name, std::string_view help, const Labels& labels = {});
    /// Adds a gauge whose value `read` returns at the time of reading. Replaces an earlier one of
    /// the same name and labels. `read` must not call back into this registry.
    void gauge(std::string_view name, std::string_view help, const Labels& labels,
               std::function<double()> read);
    Histogram& histogram(std::string_view name, std::string_view help, const Labels& labels = {});

    /// Returns the value of a counter or gauge, or the count of a histogram. Returns 0 if it does
    /// not exist.
    double value(std::string_view name, const Labels& labels = {}) const;
    /// Returns null if the histogram does not exist.
    const Histogram* find_histogram(std::string_view name, const Labels& labels = {}) const;
    /// Returns the sum over all labels of that name.
    double total(std::string_view name) const;
    /// Adds all histograms of that name to `into`.
    void total(std::string_view name, Histogram& into) const;

    /// One exported number or histogram, in the order of creation.
    struct Sample {
        std::string_view name, help;
        const Labels& labels;
        double value = 0;                      ///< the count, for a histogram
        const Histogram* histogram = nullptr;  ///< null if it is not a histogram
        bool growing = false;                  ///< true for a counter
    };
    void visit(const std::function<void(const Sample&)>& each) const;
    /// Returns all metrics in Prometheus' text format 0.0.4.
    std::string prometheus() const;
    /// Sets the monotonic clock, in seconds, that rates use. Every reading of the metrics also
    /// advances the rates.
    void set_clock(std::function<double()> clock);
    /// Advances the rates. Call it every few seconds while events are recorded. Returns false if
    /// nothing was recorded since the last call.
    bool tick();

private:
    struct Entry {
        enum class Kind { Counter, ReadCounter, Gauge, Read, Histogram } kind;
        bool growing() const { return kind == Kind::Counter || kind == Kind::ReadCounter; }
        std::string name, help;
        Labels labels;
        Counter counter;
        Gauge gauge;
        std::function<double()> read;
        Histogram* histogram = nullptr;
        double value() const;
    };
    bool let_time_pass() const;
    Entry& entry(Entry::Kind kind, std::string_view name, std::string_view help,
                 const Labels& labels);
    const Entry* find(std::string_view name, const Labels& labels) const;

    mutable std::mutex mutex_;
    std::deque<Entry> entries_;
    std::function<double()> clock_;
    mutable double ticked_at_ = 0;
    mutable std::deque<Histogram> histograms_;
};

}  // namespace bunraku::base
