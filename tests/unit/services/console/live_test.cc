// SPDX-License-Identifier: Apache-2.0
// Server-sent events: what a page receives, and when its stream ends.
#include "services/console/live.h"

#include <atomic>
#include <fmt/format.h>
#include <mutex>

#include "fixture.h"
#include "net/http/body_stream.h"

namespace bunraku::console {
namespace {

/// The open stream of a page, without a connection.
class Events {
public:
    explicit Events(std::shared_ptr<http::BodyStream> stream) : stream_(std::move(stream)) {}
    /// Waits for a text, and returns everything up to the end of its event.
    std::string until(std::string_view text) {
        for (int i = 0; i < 6000; ++i) {
            std::string piece;
            if (stream_->waiting() > 0) (void)stream_->take(piece, {});
            received_ += piece;
            const auto at = received_.find(text);
            const auto end = at == std::string::npos ? at : received_.find("\n\n", at);
            if (end != std::string::npos) {
                auto out = received_.substr(0, end + 2);
                received_.erase(0, end + 2);
                return out;
            }
            sys::machine().sleep(std::chrono::milliseconds(10));
        }
        ADD_FAILURE() << "no event has '" << text << "': " << received_;
        return {};
    }
    bool ended() const { return stream_->ended(); }
    void leave() { stream_->detach(); }

private:
    std::shared_ptr<http::BodyStream> stream_;
    std::string received_;
};

class ConsoleLive : public ConsoleTest {
protected:
    http::Response ask_events(const Headers& session, const std::string& query = "",
                              const std::string& last = "") {
        auto headers = session;
        headers.emplace_back("Accept", "text/event-stream");
        if (!last.empty()) headers.emplace_back("Last-Event-ID", last);
        return get("/events" + query, headers);
    }
    Events open(const Headers& session, const std::string& query = "",
                const std::string& last = "") {
        const auto response = ask_events(session, query, last);
        EXPECT_EQ(response.status, 200);
        EXPECT_EQ(response.headers.get("Content-Type"), "text/event-stream;charset=utf-8");
        EXPECT_EQ(response.headers.get("Cache-Control"), "no-store");
        EXPECT_TRUE(http::stream_of(response));
        return Events(http::stream_of(response));
    }
    static std::string id_in(const std::string& event) {
        const auto at = event.find("id: ") + 4;
        return event.substr(at, event.find('\n', at) - at);
    }
};

TEST_F(ConsoleLive, SendsNewRuns) {
    report("a.test", {});
    const auto session = sign_in_as("viewer");
    auto page = open(session);
    const auto first = page.until("id: ");
    EXPECT_TRUE(first.starts_with("retry: 2000\nid: ")) << first;
    EXPECT_TRUE(first.ends_with("-0\ndata: {}\n\n")) << first;
    report("a.test", {.status = "failed", .events = event("failure", "m"), .age_ms = 1000});
    const auto runs = page.until("event: runs");
    EXPECT_NE(runs.find("-1\n"), std::string::npos) << runs;
    EXPECT_NE(runs.find(R"({"count":1,"runs":[{"node":"a.test","state":"failed","run":")"),
              std::string::npos)
        << runs;
    // A node that was not known before.
    report("new.test", {.age_ms = 1000});
    EXPECT_NE(page.until("event: runs").find(R"("node":"new.test","state":"unchanged")"),
              std::string::npos);
}

TEST_F(ConsoleLive, ContinuesAfterAnInterruption) {
    report("a.test", {});
    const auto session = sign_in_as("viewer");
    auto page = open(session);
    const auto id = id_in(page.until("id: "));
    report("a.test", {.age_ms = 2000});
    report("a.test", {.age_ms = 1000});
    (void)page.until("-2\n");
    auto by_header = open(session, "", id);
    auto by_parameter = open(session, "?last=" + id);
    for (auto* again : {&by_header, &by_parameter}) {
        EXPECT_TRUE(again->until("id: ").starts_with("retry: 2000\nid: " + id + "\n"));
        EXPECT_NE(again->until("event: runs").find("\"count\":2"), std::string::npos);
    }
    // An id of another process, of the future, or nonsense.
    const auto future = id.substr(0, id.find('-')) + "-99";
    for (const std::string& bad : std::vector<std::string>{"1-0", "x", "-", future}) {
        auto other = open(session, "", bad);
        EXPECT_TRUE(other.until("id: ").starts_with("retry: 2000\nevent: reset\nid: ")) << bad;
    }
}

TEST_F(ConsoleLive, ViewersOfSomeEnvironmentsGetOnlyTheirs) {
    report("a.test", {});
    auto all = open(sign_in_as("viewer"));
    auto some = open(sign_in_as("viewer", {"staging"}));
    (void)some.until("id: ");
    report("a.test", {.environment = "production", .age_ms = 3000});
    (void)all.until("a.test");
    report("b.test", {.environment = "staging", .age_ms = 2000});
    (void)all.until("b.test");
    const auto seen = some.until("b.test");
    EXPECT_EQ(seen.find("a.test"), std::string::npos) << seen;
    EXPECT_NE(seen.find("\"count\":1"), std::string::npos) << seen;
}

TEST_F(ConsoleLive, EndsWithTheSession) {
    report("a.test", {});
    const auto by_token = sign_in(token("alice", "viewer"));
    auto page = open(by_token);
    const auto other_session = sign_in_as("viewer");
    auto other = open(other_session);
    (void)page.until("id: ");
    (void)other.until("id: ");
    ASSERT_TRUE(tokens_->revoke("alice").value());
    ask("POST", "/console/sign-out", other_session, "csrf=" + csrf(other_session));
    report("a.test", {.age_ms = 1000});
    for (auto* ended : {&page, &other}) {
        const auto end = ended->until("event: end");
        EXPECT_EQ(end, "event: end\ndata: {\"again\":false}\n\n");
        EXPECT_TRUE(ended->ended());
    }
    EXPECT_EQ(ask_events(by_token).status, 401);
}

TEST_F(ConsoleLive, LimitsTheStreamsOfAViewer) {
    const auto session = sign_in_as("viewer");
    std::vector<Events> open_ones;
    for (std::size_t i = 0; i < LiveEvents::kMostOfViewer; ++i) open_ones.push_back(open(session));
    const auto refused = ask_events(session);
    EXPECT_EQ(refused.status, 503);
    EXPECT_EQ(refused.headers.get("Retry-After"), "60");
    EXPECT_FALSE(http::stream_of(refused));
    // Others are not affected, and a page that was left does not count.
    EXPECT_EQ(ask_events(sign_in_as("viewer")).status, 200);
    open_ones[3].leave();
    EXPECT_EQ(ask_events(session).status, 200);
    EXPECT_EQ(ask_events(session).status, 503);
}

TEST_F(ConsoleLive, LimitsAllStreams) {
    report("a.test", {});
    FleetWatch fleet(context_->store, *aside_, sys::machine());
    ASSERT_TRUE(fleet.current());
    LiveEvents live(fleet, *aside_, *aside_, sys::machine());
    const auto viewer = [](std::size_t n) { return Viewer{fmt::format("v{}", n)}; };
    std::vector<std::shared_ptr<http::BodyStream>> streams;
    for (std::size_t i = 0; i < LiveEvents::kMost; ++i)
        streams.push_back(live.open(viewer(i), "", [&, i] { return viewer(i); }).value());
    EXPECT_EQ(live.size(), LiveEvents::kMost);
    EXPECT_EQ(live.open(viewer(9999), "", [&] { return viewer(9999); }).error().message,
              "There are too many open pages");
    // One timer serves all of them.
    report("a.test", {.age_ms = 1000});
    for (const auto& stream : streams) {
        Events page(stream);
        EXPECT_NE(page.until("a.test").find("\"count\":1"), std::string::npos);
        page.leave();
    }
    aside_->stop();
}

/// Holds tasks back until they are released.
class SlowReads final : public sys::Executor {
public:
    sys::TimePoint now() override { return {}; }
    bool post(Task task) override {
        const std::lock_guard lock(mutex_);
        tasks_.push_back(std::move(task));
        return true;
    }
    bool post_more(Task task) override { return post(std::move(task)); }
    Timer post_after(sys::Duration, Task) override { return 0; }
    bool cancel(Timer) override { return false; }
    std::size_t waiting() const override {
        const std::lock_guard lock(mutex_);
        return tasks_.size();
    }
    void stop() override {}
    /// Runs the waiting tasks.
    void release() {
        std::vector<Task> tasks;
        {
            const std::lock_guard lock(mutex_);
            tasks.swap(tasks_);
        }
        for (auto& task : tasks) task();
    }

private:
    mutable std::mutex mutex_;
    std::vector<Task> tasks_;
};

// With a slow database, reading takes longer than the pause of the timer.
TEST_F(ConsoleLive, SlowReadsDoNotStopTheTimer) {
    report("a.test", {});
    FleetWatch fleet(context_->store, *aside_, sys::machine());
    ASSERT_TRUE(fleet.current());
    SlowReads reads;
    LiveEvents live(fleet, *aside_, reads, sys::machine());
    std::atomic<bool> signed_in{true};
    std::atomic<int> checks{0};
    const auto identify = [&]() -> std::optional<Viewer> {
        ++checks;
        if (!signed_in) return std::nullopt;
        return Viewer{"alice"};
    };
    auto stream = live.open({"alice"}, "", identify).value();
    for (int i = 0; i < 6000 && reads.waiting() == 0; ++i)
        sys::machine().sleep(std::chrono::milliseconds(10));
    // The read is under way, and no second one starts. The session is checked all the same.
    signed_in = false;
    Events page(stream);
    (void)page.until("event: end");
    EXPECT_GE(checks.load(), 1);
    EXPECT_EQ(reads.waiting(), 1u);
    aside_->stop();
    reads.release();
}

}  // namespace
}  // namespace bunraku::console
