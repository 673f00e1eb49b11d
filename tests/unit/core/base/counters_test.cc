// SPDX-License-Identifier: Apache-2.0
#include "core/base/counters.h"

#include <cmath>
#include <gtest/gtest.h>

namespace bunraku::base {
namespace {

TEST(Counters, SameNameSameCounter) {
    Counters c;
    c.counter("n_total", "N.", {{"kind", "a"}}).add(2);
    c.counter("n_total", "N.", {{"kind", "a"}}).add();
    c.counter("n_total", "N.", {{"kind", "b"}}).add();
    EXPECT_EQ(c.value("n_total", {{"kind", "a"}}), 3);
    EXPECT_EQ(c.total("n_total"), 4);
    EXPECT_EQ(c.value("unknown"), 0);
}

TEST(Counters, HistogramQuantiles) {
    Histogram h;
    for (std::uint64_t i = 1; i <= 1000; i++) h.record(i * 100);
    EXPECT_EQ(h.count(), 1000u);
    EXPECT_EQ(h.min(), 100u);
    EXPECT_EQ(h.max(), 100000u);
    EXPECT_NEAR(h.mean(), 50050, 1);
    EXPECT_NEAR(h.quantile(0.5), 50000, 50000 / 8.0);
    EXPECT_NEAR(h.quantile(0.99), 99000, 99000 / 8.0);
    h.record(UINT64_MAX);
    EXPECT_EQ(h.quantile(1), static_cast<double>(UINT64_MAX));
    h.tick(10);
    EXPECT_NEAR(h.rate(1), 100.1, 0.01);
}

TEST(Counters, RatesAdvanceWithoutTicks) {
    Counters c;
    double now = 100;
    c.set_clock([&now] { return now; });
    auto& h = c.histogram("t_seconds", "Time.");
    for (int i = 0; i < 50; i++) h.record(1);
    now += 5;
    EXPECT_TRUE(c.tick());
    EXPECT_NEAR(h.rate(1), 10, 0.01);
    now += 5;
    EXPECT_FALSE(c.tick());
    // Nothing is recorded for an hour; a read shows that.
    now += 3590;
    EXPECT_EQ(c.find_histogram("t_seconds"), &h);
    EXPECT_NEAR(h.rate(1), 0, 1e-9);
    EXPECT_NEAR(h.rate(15), 10 * std::exp(-3595 / 900.0), 0.01);
    now += 1;
    h.record(1);
    c.visit([](const Counters::Sample&) {});
    EXPECT_LT(h.rate(1), 0.001) << "a moment is no rate";
}

TEST(Counters, Prometheus) {
    Counters c;
    c.counter("b_total", "Bs.", {{"k", "x\"y"}}).add(5);
    c.gauge("a", "As.", {}, [] { return 1.5; });
    c.histogram("t_seconds", "Time.").record(2);
    EXPECT_EQ(c.prometheus(),
              "# HELP a As.\n# TYPE a gauge\na 1.5\n"
              "# HELP b_total Bs.\n# TYPE b_total counter\nb_total{k=\"x\\\"y\"} 5\n"
              "# HELP t_seconds Time.\n# TYPE t_seconds summary\n"
              "t_seconds{quantile=\"0.5\"} 2e-06\nt_seconds{quantile=\"0.95\"} 2e-06\n"
              "t_seconds{quantile=\"0.99\"} 2e-06\nt_seconds_sum 2e-06\nt_seconds_count 1\n");
}

}  // namespace
}  // namespace bunraku::base
