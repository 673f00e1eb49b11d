// What a running server counts: made by whoever counts, read by whoever shows (Prometheus, status
// pages). One registry is passed along; there is no global one.
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

/// Only grows.
class Counter {
public:
    void add(std::uint64_t n = 1) { value_.fetch_add(n, std::memory_order_relaxed); }
    std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::uint64_t> value_{0};
};

/// Goes up and down.
class Gauge {
public:
    void set(std::int64_t v) { value_.store(v, std::memory_order_relaxed); }
    void add(std::int64_t n = 1) { value_.fetch_add(n, std::memory_order_relaxed); }
    std::int64_t value() const { return value_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::int64_t> value_{0};
};

/// How often and how long (or how big): any thread records without waiting. Values are whole
/// numbers, by convention microseconds or bytes; quantiles are exact to about an eighth.
class Histogram {
public:
    void record(std::uint64_t value);
    std::uint64_t count() const { return count_.load(std::memory_order_relaxed); }
    std::uint64_t sum() const { return sum_.load(std::memory_order_relaxed); }
    std::uint64_t max() const { return max_.load(std::memory_order_relaxed); }
    std::uint64_t min() const;  ///< 0 where nothing was recorded
    double mean() const;
    double deviation() const;  ///< of the buckets' middles
    /// The value below which the share `q` (0..1) of all records lies.
    double quantile(double q) const;
    /// Records a second, as averages that forget: over 1, 5 and 15 minutes.
    double rate(int minutes) const;
    /// Adds all that `other` has recorded, and its rates.
    void absorb(const Histogram& other);
    /// Lets time pass for rate(): see Counters::tick. False: nothing was recorded meanwhile.
    bool tick(double seconds);

private:
    static constexpr std::size_t kBuckets = 496;  // 8 a power of two
    static std::size_t bucket_of(std::uint64_t value);
    static double middle_of(std::size_t bucket);
    std::array<std::atomic<std::uint32_t>, kBuckets> buckets_{};
    std::atomic<std::uint64_t> count_{0}, sum_{0}, max_{0}, min_{UINT64_MAX};
    std::uint64_t ticked_ = 0;
    std::array<std::atomic<double>, 3> rates_{};
};

using Labels = std::vector<std::pair<std::string, std::string>>;

/// Registry. References stay good as long as it lives; the same name and labels give the same one.
/// Names are Prometheus' ("bunraku_commands_total"); a histogram whose name ends in "_seconds"
/// records microseconds. Thread-safe; keep the references rather than asking again.
class Counters {
public:
    Counter& counter(std::string_view name, std::string_view help, const Labels& labels = {});
    /// A number that only grows and is asked for when somebody looks, like the gauge below.
    void counter(std::string_view name, std::string_view help, const Labels& labels,
                 std::function<double()> read);
    Gauge& gauge(std::string_view name, std::string_view help, const Labels& labels = {});
    /// A number that is asked for when somebody looks. Replaces an earlier one of the same name and
    /// labels. Must not call back into this registry.
    void gauge(std::string_view name, std::string_view help, const Labels& labels,
               std::function<double()> read);
    Histogram& histogram(std::string_view name, std::string_view help, const Labels& labels = {});

    /// The value of a counter or gauge, the count of a histogram; 0 where nobody made it yet.
    double value(std::string_view name, const Labels& labels = {}) const;
    /// Null where nobody made it yet.
    const Histogram* find_histogram(std::string_view name, const Labels& labels = {}) const;
    /// All of that name summed over their labels.
    double total(std::string_view name) const;
    /// The same of histograms.
    void total(std::string_view name, Histogram& into) const;

    /// One exported number or histogram, in the order of making.
    struct Sample {
        std::string_view name, help;
        const Labels& labels;
        double value = 0;                      ///< the count, of a histogram
        const Histogram* histogram = nullptr;  ///< where it is one
        bool growing = false;                  ///< a counter
    };
    void visit(const std::function<void(const Sample&)>& each) const;
    /// Prometheus' text format 0.0.4.
    std::string prometheus() const;
    /// Seconds of a clock that only goes forward, for rates; whoever reads them lets time pass.
    void set_clock(std::function<double()> clock);
    /// To be called every few seconds while there is something to record: lets time pass for the
    /// rates. False: nothing was recorded since the last time.
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
