// SPDX-License-Identifier: Apache-2.0
#include "services/rollout/checks.h"

#include <atomic>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <thread>

#include "core/sys/system.h"

namespace bunraku::rollout {
namespace {

Check query(std::optional<double> least, std::optional<double> most) {
    Check out;
    out.prometheus = "http://prometheus:9090/";
    out.query = "sum(rate(errors[5m]))";
    out.least = least;
    out.most = most;
    return out;
}

std::string vector_of(std::string_view samples) {
    return fmt::format(R"({{"status":"success","data":{{"resultType":"vector","result":[{}]}}}})",
                       samples);
}

std::string text_of(const CheckResult& result) {
    constexpr const char* kAnswers[] = {"good", "bad", "none"};
    return fmt::format("{} {}", kAnswers[static_cast<int>(result.answer)], result.detail);
}

TEST(Checks, CompareTheValuesOfPrometheus) {
    EXPECT_EQ(prometheus_url(query({}, 1)),
              "http://prometheus:9090/api/v1/query?query=sum%28rate%28errors%5B5m%5D%29%29");
    const auto found = [](const Check& check, std::string_view body) {
        return text_of(prometheus_result(check, body));
    };
    const std::string one = vector_of(R"({"metric":{"job":"a"},"value":[1700000000.5,"0.25"]})");
    EXPECT_EQ(found(query({}, 0.5), one), "good ");
    EXPECT_EQ(found(query({}, 0.2), one),
              "bad The query sum(rate(errors[5m])) has the value 0.25, which is above 0.2");
    EXPECT_EQ(found(query(1, {}), one),
              "bad The query sum(rate(errors[5m])) has the value 0.25, which is below 1");
    EXPECT_EQ(found(query({}, 1), vector_of(R"({"value":[1,"0"]},{"value":[1,"+Inf"]})")),
              "bad The query sum(rate(errors[5m])) has the value inf, which is above 1");
    EXPECT_EQ(found(query({}, 1), R"({"data":{"resultType":"scalar","result":[1,"1"]}})"), "good ");
    // Without data, it has no result.
    EXPECT_EQ(found(query({}, 1), vector_of("")), "none the query has no value");
    EXPECT_EQ(found(query({}, 1), vector_of(R"({"value":[1,"NaN"]})")),
              "none the query has no value (NaN)");
    EXPECT_EQ(found(query({}, 1), vector_of(R"({"value":["x"]})")), "none the query has no number");
    EXPECT_EQ(found(query({}, 1), R"({"data":{"resultType":"matrix","result":[]}})"),
              "none the query must return a number or an instant vector");
    EXPECT_EQ(found(query({}, 1), "<html>"), "none the response is not of Prometheus");
    EXPECT_EQ(found(query({}, 1), R"({"status":"error","error":"x"})"),
              "none the response is not of Prometheus");
}

class ChecksTest : public testing::Test {
protected:
    /// Waits until the check has ended.
    std::string run(const Check& check, std::int64_t sequence = 1) {
        const WaveCheck wanted{.rollout = 7,
                               .sequence = sequence,
                               .check = check,
                               .environment = "production",
                               .version = "v2",
                               .wave = 3};
        auto found = checks_.result(wanted);
        while (!found) {
            std::this_thread::yield();
            found = checks_.result(wanted);
        }
        return text_of(*found);
    }
    static Check command(std::string script, std::int64_t timeout_s = 30) {
        Check out;
        out.command = {"/bin/sh", "-c", std::move(script)};
        out.timeout_s = timeout_s;
        return out;
    }

    sys::RealSystem system_;
    std::atomic<int> asked_{0};
    std::string body_ = vector_of(R"({"value":[1,"3"]})");
    std::unique_ptr<sys::Executor> executor_ =
        sys::machine().executor({.threads = 2, .name = "checks"});
    Checks checks_{system_.system().processes, sys::machine(), *executor_,
                   [this](const std::string&, std::chrono::milliseconds,
                          const std::function<bool()>&) -> base::Result<std::string> {
                       ++asked_;
                       if (body_.empty()) return base::failure("it is away");
                       return body_;
                   }};
};

TEST_F(ChecksTest, RunACommand) {
    EXPECT_EQ(run(Check{}), "good ");
    EXPECT_EQ(run(command("test $BUNRAKU_ENVIRONMENT.$BUNRAKU_VERSION.$BUNRAKU_WAVE = "
                          "production.v2.3")),
              "good ");
    EXPECT_EQ(run(command("exit 1"), 2), "bad The check /bin/sh failed");
    EXPECT_EQ(run(command("exit 3"), 3), "none exit code 3");
    EXPECT_EQ(checks_.waiting(7, 3), "the check /bin/sh, which has no answer: exit code 3");
    EXPECT_EQ(checks_.waiting(7, 4), "");
    EXPECT_EQ(run(command("sleep 60", 0), 4), "none no result in 0 s");
}

TEST_F(ChecksTest, KeepAResultUntilTheRolloutChanges) {
    EXPECT_EQ(run(query({}, 5)), "good ");
    EXPECT_EQ(run(query({}, 5)), "good ");
    EXPECT_EQ(asked_, 1);
    EXPECT_EQ(run(query({}, 2), 2),
              "bad The query sum(rate(errors[5m])) has the value 3, which is above 2");
    body_.clear();
    EXPECT_EQ(run(query({}, 2), 3), "none it is away");
    EXPECT_EQ(asked_, 3);
    // A program and a query must both be good.
    Check both = query({}, 5);
    both.command = {"/bin/false"};
    EXPECT_EQ(run(both, 4), "bad The check /bin/false failed");
    EXPECT_EQ(asked_, 3);
}

TEST_F(ChecksTest, DoNotDelayTheirCaller) {
    const WaveCheck wanted{.rollout = 7, .sequence = 1, .check = command("exec sleep 600")};
    EXPECT_EQ(checks_.result(wanted), std::nullopt);
    EXPECT_EQ(checks_.waiting(7, 1), "the check /bin/sh");
    checks_.stop();
    executor_->stop();
    EXPECT_EQ(text_of(*checks_.result(wanted)), "none the server stops");
}

}  // namespace
}  // namespace bunraku::rollout
