// SPDX-License-Identifier: Apache-2.0
#include "core/base/counters.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>

#include "core/base/assert.h"

namespace bunraku::base {

// Buckets are exact below 8. Above, there are eight buckets for each power of two.
std::size_t Histogram::bucket_of(std::uint64_t value) {
    if (value < 8) return value;
    const int exponent = static_cast<int>(std::bit_width(value)) - 1;  // >= 3
    std::size_t step = (value >> (exponent - 3)) & 7;
    return std::min<std::size_t>(static_cast<std::size_t>(exponent - 2) * 8 + step, kBuckets - 1);
}

double Histogram::middle_of(std::size_t bucket) {
    BUNRAKU_ASSERT(bucket < kBuckets);
    if (bucket < 8) return static_cast<double>(bucket);
    double base = std::ldexp(1.0, static_cast<int>(bucket / 8) + 2);
    return base + base / 8 * (static_cast<double>(bucket % 8) + 0.5);
}

void Histogram::record(std::uint64_t value) {
    constexpr auto relaxed = std::memory_order_relaxed;
    buckets_[bucket_of(value)].fetch_add(1, relaxed);
    count_.fetch_add(1, relaxed);
    sum_.fetch_add(value, relaxed);
    for (auto seen = max_.load(relaxed); seen < value;)
        if (max_.compare_exchange_weak(seen, value, relaxed)) break;
    for (auto seen = min_.load(relaxed); seen > value;)
        if (min_.compare_exchange_weak(seen, value, relaxed)) break;
}

std::uint64_t Histogram::min() const { return count() ? min_.load(std::memory_order_relaxed) : 0; }

double Histogram::mean() const {
    auto n = count();
    return n ? static_cast<double>(sum()) / static_cast<double>(n) : 0;
}

double Histogram::deviation() const {
    double average = mean(), squares = 0, n = 0;
    for (std::size_t i = 0; i < kBuckets; i++) {
        double in_bucket = buckets_[i].load(std::memory_order_relaxed);
        if (in_bucket == 0) continue;
        double distance = middle_of(i) - average;
        squares += in_bucket * distance * distance;
        n += in_bucket;
    }
    return n > 1 ? std::sqrt(squares / (n - 1)) : 0;
}

double Histogram::quantile(double q) const {
    BUNRAKU_ASSERT(q >= 0);
    std::uint64_t all = 0;
    for (const auto& b : buckets_) all += b.load(std::memory_order_relaxed);
    if (all == 0) return 0;
    if (q >= 1) return static_cast<double>(max());
    double wanted = q * static_cast<double>(all), seen = 0;
    for (std::size_t i = 0; i < kBuckets; i++) {
        seen += buckets_[i].load(std::memory_order_relaxed);
        if (seen >= wanted && seen > 0) {
            return std::clamp(middle_of(i), static_cast<double>(min()), static_cast<double>(max()));
        }
    }
    return static_cast<double>(max());
}

double Histogram::rate(int minutes) const {
    return rates_[minutes <= 1 ? 0 : minutes <= 5 ? 1 : 2].load(std::memory_order_relaxed);
}

void Histogram::absorb(const Histogram& other) {
    BUNRAKU_ASSERT(&other != this);
    constexpr auto relaxed = std::memory_order_relaxed;
    for (std::size_t i = 0; i < kBuckets; i++)
        buckets_[i].fetch_add(other.buckets_[i].load(relaxed), relaxed);
    count_.fetch_add(other.count(), relaxed);
    sum_.fetch_add(other.sum(), relaxed);
    max_.store(std::max(max(), other.max()), relaxed);
    min_.store(std::min(min_.load(relaxed), other.min_.load(relaxed)), relaxed);
    for (std::size_t i = 0; i < 3; i++)
        rates_[i].store(rates_[i].load(relaxed) + other.rates_[i].load(relaxed), relaxed);
}

bool Histogram::tick(double seconds) {
    if (seconds <= 0) return false;
    const auto now = count();
    BUNRAKU_ASSERT(now >= ticked_);
    const auto recorded = now - ticked_;
    const double current = static_cast<double>(recorded) / seconds;
    const bool first = ticked_ == 0;
    if (first && now == 0) return false;
    ticked_ = now;
    constexpr double kMinutes[] = {1, 5, 15};
    for (std::size_t i = 0; i < 3; i++) {
        double old = rates_[i].load(std::memory_order_relaxed);
        double alpha = 1 - std::exp(-seconds / 60 / kMinutes[i]);
        rates_[i].store(first ? current : old + alpha * (current - old), std::memory_order_relaxed);
    }
    return recorded > 0;
}

double Counters::Entry::value() const {
    switch (kind) {
        case Kind::Counter: return static_cast<double>(counter.value());
        case Kind::Gauge: return static_cast<double>(gauge.value());
        case Kind::ReadCounter:
        case Kind::Read: return read ? read() : 0;
        case Kind::Histogram:
            BUNRAKU_ASSERT(histogram != nullptr);
            return static_cast<double>(histogram->count());
    }
    return 0;
}

const Counters::Entry* Counters::find(std::string_view name, const Labels& labels) const {
    for (const auto& e : entries_)
        if (e.name == name && e.labels == labels) return &e;
    return nullptr;
}

Counters::Entry& Counters::entry(Entry::Kind kind, std::string_view name, std::string_view help,
                                 const Labels& labels) {
    for (auto& e : entries_)
        if (e.name == name && e.labels == labels && e.kind == kind) return e;
    BUNRAKU_ASSERT(!name.empty());
    auto& e = entries_.emplace_back();
    e.kind = kind;
    e.name = name;
    e.help = help;
    e.labels = labels;
    if (kind == Entry::Kind::Histogram) e.histogram = &histograms_.emplace_back();
    return e;
}

Counter& Counters::counter(std::string_view name, std::string_view help, const Labels& labels) {
    std::lock_guard lock(mutex_);
    return entry(Entry::Kind::Counter, name, help, labels).counter;
}

void Counters::counter(std::string_view name, std::string_view help, const Labels& labels,
                       std::function<double()> read) {
    std::lock_guard lock(mutex_);
    entry(Entry::Kind::ReadCounter, name, help, labels).read = std::move(read);
}

Gauge& Counters::gauge(std::string_view name, std::string_view help, const Labels& labels) {
    std::lock_guard lock(mutex_);
    return entry(Entry::Kind::Gauge, name, help, labels).gauge;
}

void Counters::gauge(std::string_view name, std::string_view help, const Labels& labels,
                     std::function<double()> read) {
    std::lock_guard lock(mutex_);
    entry(Entry::Kind::Read, name, help, labels).read = std::move(read);
}

Histogram& Counters::histogram(std::string_view name, std::string_view help, const Labels& labels) {
    std::lock_guard lock(mutex_);
    return *entry(Entry::Kind::Histogram, name, help, labels).histogram;
}

double Counters::value(std::string_view name, const Labels& labels) const {
    std::lock_guard lock(mutex_);
    const auto* e = find(name, labels);
    return e ? e->value() : 0;
}

const Histogram* Counters::find_histogram(std::string_view name, const Labels& labels) const {
    std::lock_guard lock(mutex_);
    let_time_pass();
    const auto* e = find(name, labels);
    return e ? e->histogram : nullptr;
}

double Counters::total(std::string_view name) const {
    std::lock_guard lock(mutex_);
    double sum = 0;
    for (const auto& e : entries_)
        if (e.name == name) sum += e.value();
    return sum;
}

void Counters::total(std::string_view name, Histogram& into) const {
    std::lock_guard lock(mutex_);
    let_time_pass();
    for (const auto& e : entries_)
        if (e.name == name && e.histogram) into.absorb(*e.histogram);
}

void Counters::visit(const std::function<void(const Sample&)>& each) const {
    std::lock_guard lock(mutex_);
    let_time_pass();
    for (const auto& e : entries_) {
        each({e.name, e.help, e.labels, e.value(), e.histogram, e.growing()});
    }
}

void Counters::set_clock(std::function<double()> clock) {
    std::lock_guard lock(mutex_);
    clock_ = std::move(clock);
    ticked_at_ = clock_();
}

bool Counters::tick() {
    std::lock_guard lock(mutex_);
    return let_time_pass();
}

/// Requires mutex_. Ignores intervals so short that a single event would give a huge rate.
bool Counters::let_time_pass() const {
    constexpr double kShortest = 4;
    if (!clock_) return false;
    const double now = clock_(), passed = now - ticked_at_;
    if (passed < kShortest) return true;
    ticked_at_ = now;
    bool recorded = false;
    for (auto& h : histograms_) recorded |= h.tick(passed);
    return recorded;
}

namespace {

void append_labels(std::string& out, const Labels& labels, std::string_view quantile = {}) {
    if (labels.empty() && quantile.empty()) return;
    out += '{';
    bool first = true;
    auto one = [&](std::string_view name, std::string_view value) {
        if (!first) out += ',';
        first = false;
        out += name;
        out += "=\"";
        for (char c : value) {
            if (c == '\\' || c == '"') out += '\\';
            if (c == '\n') {
                out += "\\n";
            } else {
                out += c;
            }
        }
        out += '"';
    };
    for (const auto& [name, value] : labels) one(name, value);
    if (!quantile.empty()) one("quantile", quantile);
    out += '}';
}

}  // namespace

std::string Counters::prometheus() const {
    std::lock_guard lock(mutex_);
    // The format requires all entries of one name to be in one group, under one header.
    std::vector<const Entry*> order;
    order.reserve(entries_.size());
    for (const auto& e : entries_) order.push_back(&e);
    BUNRAKU_ASSERT(order.size() == entries_.size());
    std::stable_sort(order.begin(), order.end(),
                     [](const Entry* a, const Entry* b) { return a->name < b->name; });
    std::string out;
    std::string_view last;
    for (const auto* e : order) {
        BUNRAKU_ASSERT((e->kind == Entry::Kind::Histogram) == (e->histogram != nullptr));
        if (e->name != last) {
            const char* kind = e->growing()                        ? "counter"
                               : e->kind == Entry::Kind::Histogram ? "summary"
                                                                   : "gauge";
            out += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", e->name, e->help, kind);
            last = e->name;
        }
        if (!e->histogram) {
            out += e->name;
            append_labels(out, e->labels);
            out += fmt::format(" {}\n", e->value());
            continue;
        }
        double scale = e->name.ends_with("_seconds") ? 1e-6 : 1;
        for (auto [text, q] :
             {std::pair{"0.5", 0.5}, std::pair{"0.95", 0.95}, std::pair{"0.99", 0.99}}) {
            out += e->name;
            append_labels(out, e->labels, text);
            out += fmt::format(" {:g}\n", e->histogram->quantile(q) * scale);
        }
        out += e->name + "_sum";
        append_labels(out, e->labels);
        out += fmt::format(" {}\n", static_cast<double>(e->histogram->sum()) * scale);
        out += e->name + "_count";
        append_labels(out, e->labels);
        out += fmt::format(" {}\n", e->histogram->count());
    }
    return out;
}

}  // namespace bunraku::base
