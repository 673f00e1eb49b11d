// SPDX-License-Identifier: Apache-2.0
// Tests the guarantees of the queue: commands are stored, in order, and processed once. Damage at
// the end of a file loses only unacknowledged commands.
#include "store/db/queue.h"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <set>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "support.h"

namespace bunraku::store {
namespace {

using std::chrono::milliseconds;

CommandHeader header(std::string certname, CommandKind kind = CommandKind::StoreReport,
                     std::int64_t stamp = 0) {
    return {kind, 8, std::move(certname), 1700000000000, stamp};
}

std::unique_ptr<Queue> open_queue(const std::string& folder, std::uint64_t segment = 4096) {
    QueueOptions options;
    options.folder = folder;
    options.segment_bytes = segment;
    options.memory_bytes = 64;
    options.durable = false;
    auto queue = Queue::open(options);
    EXPECT_TRUE(queue) << queue.error().message;
    return queue ? std::move(*queue) : nullptr;
}

std::string bodies(Queue& queue, const std::vector<QueuedCommand>& commands) {
    std::string out;
    for (const auto& c : commands) {
        if (!out.empty()) out += ' ';
        auto body = queue.body(c.id);
        out += c.header.certname + ":" + (body ? body->substr(0, 8) : body.error().message);
    }
    return out;
}

std::vector<std::uint64_t> ids(const std::vector<QueuedCommand>& commands) {
    std::vector<std::uint64_t> out;
    for (const auto& c : commands) out.push_back(c.id);
    return out;
}

std::vector<std::string> segments(const std::string& folder) {
    std::vector<std::string> out;
    for (const auto& e : std::filesystem::directory_iterator(folder)) {
        if (e.path().extension() == ".log") out.push_back(e.path());
    }
    std::sort(out.begin(), out.end());
    return out;
}

TEST(Queue, PreservesOrderPerNodeAfterReopening) {
    TempFolder folder;
    {
        auto q = open_queue(folder / "q");
        for (const char* body : {"1", "2", "3"}) {
            ASSERT_TRUE(q->add(header("a"), body));
            ASSERT_TRUE(q->add(header("b"), body));
        }
        auto first = q->take(2, milliseconds(0));
        EXPECT_EQ(bodies(*q, first), "a:1 a:2");
        // The third command of a waits for the first two.
        auto second = q->take(10, milliseconds(0));
        EXPECT_EQ(bodies(*q, second), "b:1 b:2 b:3");
        EXPECT_TRUE(q->take(10, milliseconds(0)).empty());
        q->finish(ids(first));
        EXPECT_EQ(bodies(*q, q->take(10, milliseconds(0))), "a:3");
        EXPECT_EQ(q->figures().depth, 4U);
        EXPECT_EQ(Queue::inspect(folder / "q")->size(), 4U);
        auto again = Queue::open({.folder = folder / "q"});
        ASSERT_FALSE(again);
        EXPECT_TRUE(again.error().message.ends_with("is in use by another process"));
    }
    auto q = open_queue(folder / "q");
    // The oldest command comes first.
    EXPECT_EQ(bodies(*q, q->take(10, milliseconds(0))), "b:1 b:2 b:3 a:3");
}

TEST(Queue, RetriesPreserveOrder) {
    TempFolder folder;
    auto q = open_queue(folder / "q");
    for (const char* body : {"1", "2", "3"}) ASSERT_TRUE(q->add(header("a"), body));
    auto taken = q->take(2, milliseconds(0));
    q->retry(taken[1].id, milliseconds(20), Queue::Attempt::Ignored);
    q->retry(taken[0].id, milliseconds(20), Queue::Attempt::Counts);
    EXPECT_TRUE(q->take(10, milliseconds(0)).empty());
    auto again = q->take(10, milliseconds(5000));
    EXPECT_EQ(bodies(*q, again), "a:1 a:2 a:3");
    EXPECT_EQ(again[0].attempts, 1);
    EXPECT_EQ(again[1].attempts, 0);
}

TEST(Queue, NotifiesAboutCommandsOfEarlierProcessOnStart) {
    TempFolder folder;
    QueueOptions options{.folder = folder / "q", .durable = false};
    ASSERT_TRUE(Queue::open(options).value()->add(header("a"), "1"));
    int notifications = 0;
    auto q = Queue::open(options).value();
    q->start([&](sys::Duration after) {
        EXPECT_EQ(after, sys::Duration(0));
        ++notifications;
    });
    EXPECT_EQ(notifications, 1);
    EXPECT_EQ(bodies(*q, q->take(10, milliseconds(0))), "a:1");
    // An empty queue does not notify the workers.
    int idle = 0;
    auto empty = Queue::open({.folder = folder / "empty", .durable = false}).value();
    empty->start([&](sys::Duration) { ++idle; });
    EXPECT_EQ(idle, 0);
}

TEST(Queue, AllocatesLessOnNearlyFullDisk) {
    TempFolder folder;
    // A limit on the file size simulates a full disk.
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    auto* old = ::signal(SIGXFSZ, SIG_IGN);
    rlimit small = before;
    small.rlim_cur = 300 << 10;
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    auto q = Queue::open({.folder = folder / "q", .durable = false}).value();
    const auto fits = q->add(header("a"), std::string(200 << 10, 'x'));
    const auto too_large = q->add(header("a"), std::string(400 << 10, 'x'));
    const auto fits_again = q->add(header("a"), "2");
    ::setrlimit(RLIMIT_FSIZE, &before);
    ::signal(SIGXFSZ, old);
    EXPECT_TRUE(fits);
    ASSERT_FALSE(too_large);
    EXPECT_EQ(failure_of(too_large.error()), Failure::Full);
    EXPECT_TRUE(fits_again);
    EXPECT_EQ(q->figures().depth, 2U);
}

TEST(Queue, DelaysReportsToShareTransactions) {
    TempFolder folder;
    constexpr milliseconds kNow(0), kLong(60'000);
    std::vector<sys::Duration> notifications;
    QueueOptions options{.folder = folder / "q", .durable = false, .gather_reports = kLong};
    auto q = Queue::open(options).value();
    q->start([&](sys::Duration after) { notifications.push_back(after); });
    ASSERT_TRUE(q->add(header("a"), "1"));
    ASSERT_TRUE(q->add(header("b"), "1"));
    ASSERT_TRUE(q->add(header("a"), "2"));
    EXPECT_TRUE(q->take(10, kNow).empty());
    EXPECT_EQ(q->figures().depth, 3U);
    EXPECT_EQ(q->figures().delayed, 0U);
    // The queue notifies once, for the time when the delay ends.
    EXPECT_EQ(notifications, std::vector<sys::Duration>{kLong});
    // A command that cannot be delayed ends the delay of all earlier ones; the order per node
    // stays.
    ASSERT_TRUE(q->add(header("a", CommandKind::ReplaceFacts), "3"));
    auto taken = q->take(10, kNow);
    EXPECT_EQ(bodies(*q, taken), "a:1 a:2 a:3 b:1");
    ASSERT_TRUE(q->add(header("a"), "4"));
    q->finish(ids(taken));
    taken = q->take(10, kNow);
    EXPECT_EQ(bodies(*q, taken), "a:4");
    q->finish(ids(taken));
    // A command is not delayed if a client waits for its completion.
    auto done = std::make_shared<Completion>();
    ASSERT_TRUE(q->add(header("c"), "1", done));
    EXPECT_TRUE(q->take(10, kNow).empty());
    std::thread waiter([&] { EXPECT_TRUE(q->wait(done, milliseconds(20'000))); });
    taken = q->take(10, milliseconds(20'000));
    EXPECT_EQ(bodies(*q, taken), "c:1");
    q->finish(ids(taken));
    waiter.join();
    // The delay does not start again after a restart.
    ASSERT_TRUE(q->add(header("d"), "1"));
    q.reset();
    q = Queue::open(options).value();
    EXPECT_EQ(bodies(*q, q->take(10, kNow)), "d:1");
    q.reset();
    options.folder = folder / "short";
    options.gather_reports = milliseconds(20);
    q = Queue::open(options).value();
    ASSERT_TRUE(q->add(header("a"), "1"));
    ASSERT_TRUE(q->add(header("b"), "1"));
    EXPECT_EQ(bodies(*q, q->take(10, milliseconds(20'000))), "a:1 b:1");
}

TEST(Queue, NewerCatalogsReplaceWaitingOnes) {
    TempFolder folder;
    auto q = open_queue(folder / "q");
    auto old = std::make_shared<Completion>();
    ASSERT_TRUE(q->add(header("a", CommandKind::ReplaceCatalog, 5), "old", old));
    ASSERT_TRUE(q->add(header("a", CommandKind::ReplaceFacts, 5), "facts"));
    ASSERT_TRUE(q->add(header("a", CommandKind::StoreReport, 5), "report"));
    ASSERT_TRUE(q->add(header("a", CommandKind::ReplaceCatalog, 4), "older"));
    ASSERT_TRUE(q->add(header("a", CommandKind::ReplaceCatalog, 6), "new"));
    EXPECT_EQ(old->state, Completion::State::Superseded);
    EXPECT_EQ(bodies(*q, q->take(10, milliseconds(0))), "a:facts a:report a:new");
    EXPECT_EQ(q->figures().superseded, 2U);
}

TEST(Queue, RemovesCompletedSegments) {
    TempFolder folder;
    auto q = open_queue(folder / "q");
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(q->add(header("a"), std::string(1000, 'x')));
    EXPECT_GE(segments(folder / "q").size(), 5U);
    for (;;) {
        auto taken = q->take(3, milliseconds(0));
        if (taken.empty()) break;
        q->finish(ids(taken));
    }
    EXPECT_LE(segments(folder / "q").size(), 2U);
    // A command that is larger than a segment gets its own segment.
    ASSERT_TRUE(q->add(header("b"), std::string(100000, 'y')));
    EXPECT_EQ(q->body(q->list(1)[0].id)->size(), 100000U);
}

TEST(Queue, DamageLosesOnlyLastRecord) {
    TempFolder folder;
    {
        auto q = open_queue(folder / "q", 1 << 16);
        for (const char* body : {"one", "two", "three"}) ASSERT_TRUE(q->add(header("a"), body));
    }
    std::string file = segments(folder / "q").back();
    std::string bytes;
    {
        std::ifstream in(file, std::ios::binary);
        bytes.assign(std::istreambuf_iterator<char>(in), {});
    }
    std::size_t end = bytes.find_last_not_of('\0') + 1;
    // Truncates the file at every byte, and changes every byte of the last record.
    for (std::size_t i = 0; i <= end; i += 3) {
        std::filesystem::remove_all(folder / "copy");
        std::filesystem::create_directory(folder / "copy");
        std::ofstream(folder / "copy/0000000000000001.log", std::ios::binary) << bytes.substr(0, i);
        auto q = open_queue(folder / "copy");
        ASSERT_TRUE(q) << i;
        std::string got = bodies(*q, q->take(10, milliseconds(0)));
        EXPECT_TRUE(std::string("a:one a:two a:three").starts_with(got)) << got;
        ASSERT_TRUE(q->add(header("b"), "new"));
    }
    std::size_t last = bytes.find("three");
    for (std::size_t i = last - 49; i < end; ++i) {
        std::filesystem::remove_all(folder / "copy");
        std::filesystem::create_directory(folder / "copy");
        std::string changed = bytes;
        changed[i] = static_cast<char>(changed[i] ^ 0x41);
        std::ofstream(folder / "copy/0000000000000001.log", std::ios::binary) << changed;
        auto q = open_queue(folder / "copy");
        ASSERT_TRUE(q);
        EXPECT_EQ(bodies(*q, q->take(10, milliseconds(0))), "a:one a:two") << i;
    }
}

TEST(Queue, DeadLettersCanBeResubmitted) {
    TempFolder folder;
    auto q = open_queue(folder / "q");
    auto completion = std::make_shared<Completion>();
    ASSERT_TRUE(q->add(header("../a b", CommandKind::ReplaceFacts, 77), "{bad", completion));
    auto taken = q->take(1, milliseconds(0));
    q->discard(taken[0].id, "it is \"bad\"");
    EXPECT_EQ(completion->error, "it is \"bad\"");
    auto letters = Queue::dead_letters(folder / "q");
    ASSERT_EQ(letters->size(), 1U);
    const DeadLetter& d = letters->front();
    EXPECT_EQ(d.name, "0000000000000001-replace_facts-.._a_b");
    EXPECT_EQ(d.header.certname, "../a b");
    EXPECT_EQ(d.header.producer_timestamp, 77);
    EXPECT_EQ(d.reason, "it is \"bad\"");
    EXPECT_EQ(*Queue::dead_letter_body(folder / "q", d.name), "{bad");
    EXPECT_FALSE(Queue::drop(folder / "q", "../lock"));
    ASSERT_TRUE(Queue::resubmit(folder / "q", d.name));
    EXPECT_EQ(q->import_resubmitted().count, 1U);
    auto back = q->take(1, milliseconds(0));
    EXPECT_EQ(bodies(*q, back), "../a b:{bad");
    EXPECT_EQ(back[0].header.kind, CommandKind::ReplaceFacts);
    EXPECT_TRUE(Queue::dead_letters(folder / "q")->empty());
}

TEST(Queue, ReportsFullDiskWithoutLoss) {
    TempFolder folder;
    pid_t pid = fork();
    if (pid == 0) {
        auto q = open_queue(folder / "q", 1 << 16);
        if (!q->add(header("a"), "kept")) _exit(2);
        signal(SIGXFSZ, SIG_IGN);
        struct rlimit limit = {1 << 16, 1 << 16};
        setrlimit(RLIMIT_FSIZE, &limit);
        auto refused = q->add(header("a"), std::string(200000, 'x'));
        if (refused) _exit(3);
        if (failure_of(refused.error()) != Failure::Full) _exit(4);
        // Smaller commands still fit.
        _exit(q->add(header("a"), "small") ? 0 : 5);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 0);
    auto q = open_queue(folder / "q");
    EXPECT_EQ(bodies(*q, q->take(10, milliseconds(0))), "a:kept a:small");
}

TEST(Queue, ConcurrentSubmittersAndWorkers) {
    TempFolder folder;
    auto q = open_queue(folder / "q", 1 << 16);
    constexpr int kThreads = 4, kEach = 100;
    std::mutex mutex;
    std::map<std::string, std::vector<int>> seen;
    std::vector<std::thread> threads;
    std::atomic<int> left{kThreads * kEach};
    for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < kEach; ++i) {
                ASSERT_TRUE(q->add(header(fmt::format("n{}", t)), std::to_string(i)));
            }
        });
        threads.emplace_back([&] {
            while (left > 0) {
                auto taken = q->take(5, milliseconds(20));
                for (const auto& c : taken) {
                    int n = std::stoi(*q->body(c.id));
                    std::lock_guard lock(mutex);
                    seen[c.header.certname].push_back(n);
                }
                q->finish(ids(taken));
                left -= static_cast<int>(taken.size());
            }
        });
    }
    for (auto& t : threads) t.join();
    std::vector<int> expected(kEach);
    for (int i = 0; i < kEach; ++i) expected[static_cast<std::size_t>(i)] = i;
    for (int t = 0; t < kThreads; ++t) EXPECT_EQ(seen[fmt::format("n{}", t)], expected);
    EXPECT_EQ(q->figures().depth, 0U);
}

}  // namespace
}  // namespace bunraku::store
