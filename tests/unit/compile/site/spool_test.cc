// SPDX-License-Identifier: Apache-2.0
// An unreachable PuppetDB, in virtual time.
#include "compile/site/spool.h"

#include <atomic>
#include <filesystem>
#include <gtest/gtest.h>
#include <thread>

#include "testing/simulation.h"

namespace bunraku::site {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

struct Folder {
    Folder() {
        std::string name = "/tmp/bunraku-spool-XXXXXX";
        path_ = ::mkdtemp(name.data());
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

struct InputsSnapshot {
    Folder folder;
    sys::Simulation time{7};
    base::MemorySink log;
    base::Counters counters;

    std::vector<std::string> heard;
    int away = 0;  ///< HTTP status of all responses; 1 if PuppetDB is unreachable, 0 if it works
    int attempts = 0;
    std::unique_ptr<Spool> spool;

    base::Result<void> open(std::size_t most = 1000) {
        SpoolOptions options;
        options.folder = folder.path() + "/spool";
        options.max_depth = most;
        options.runtime = &time;
        options.counters = &counters;
        options.log = &log;
        options.durable = false;
        auto opened = Spool::open(std::move(options), [this](const store::CommandHeader& header,
                                                             const std::string& body) {
            ++attempts;
            if (away != 0 && body != "good")
                return base::Result<void>(base::failure("away", away == 1 ? 0 : away));
            heard.push_back(header.certname + " " + body);
            return base::Result<void>();
        });
        if (!opened) return std::unexpected(opened.error());
        spool = std::move(*opened);
        return {};
    }
    base::Result<void> add(const std::string& node, const std::string& body,
                           store::CommandKind kind = store::CommandKind::StoreReport) {
        return spool->add({.kind = kind,
                           .version = 8,
                           .certname = node,
                           .received = time.now_ms(),
                           .producer_timestamp = time.now_ms()},
                          body);
    }
    std::size_t depth() const { return spool->figures().depth; }
};

TEST(Spool, StartsWithWaitingCommands) {
    Folder folder;
    // Uses real threads: sending may start while the spool is still being opened.
    for (int start = 0; start < 50; ++start) {
        std::atomic<int> tries = 0;
        SpoolOptions options;
        options.folder = folder.path() + "/spool";
        options.durable = false;
        auto spool =
            Spool::open(std::move(options), [&](const store::CommandHeader&, const std::string&) {
                ++tries;
                return base::Result<void>(base::failure("away"));
            });
        ASSERT_TRUE(spool) << spool.error().message;
        if (start == 0) {
            const std::string node = "a";
            ASSERT_TRUE((*spool)->add({.certname = node, .received = 1}, "body"));
        }
        while (tries.load() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        (*spool)->stop();
        EXPECT_EQ((*spool)->figures().depth, 1U);
    }
}

TEST(Spool, SendsImmediatelyAndInOrder) {
    InputsSnapshot w;
    ASSERT_TRUE(w.open());
    for (int i = 0; i < 5; i++) ASSERT_TRUE(w.add("a", std::to_string(i)));
    EXPECT_TRUE(w.time.run_until([&] { return w.heard.size() == 5; }, seconds(1)));
    EXPECT_EQ(w.heard, (std::vector<std::string>{"a 0", "a 1", "a 2", "a 3", "a 4"}));
    EXPECT_EQ(w.depth(), 0U);
    EXPECT_TRUE(w.log.records.empty());
}

TEST(Spool, StoresCommandsWhileServiceIsUnreachable) {
    InputsSnapshot w;
    w.away = 1;
    ASSERT_TRUE(w.open());
    for (int i = 0; i < 200; i++) ASSERT_TRUE(w.add("n" + std::to_string(i), "r"));
    w.time.run_for(minutes(10));
    EXPECT_EQ(w.depth(), 200U);
    // The spool retries at intervals, with one command each time.
    EXPECT_LT(w.attempts, 40);
    // The spool logs the problem once.
    ASSERT_EQ(w.log.records.size(), 1U);
    EXPECT_EQ(w.log.records[0].level, base::Level::Warning);
    EXPECT_TRUE(w.log.records[0].message.starts_with(
        "PuppetDB does not accept commands: away. They are kept"))
        << w.log.records[0].message;
    // After a restart, the server sends the remaining commands.
    w.spool.reset();
    ASSERT_TRUE(w.open());
    EXPECT_EQ(w.depth(), 200U);
    w.away = 0;
    EXPECT_TRUE(w.time.run_until([&] { return w.depth() == 0; }, minutes(2)));
    EXPECT_EQ(w.heard.size(), 200U);
    EXPECT_EQ(w.counters.value("bunraku_spool_sent_total"), 200);
}

TEST(Spool, NewerCatalogReplacesOlderOne) {
    InputsSnapshot w;
    w.away = 503;
    ASSERT_TRUE(w.open());
    for (int i = 0; i < 50; i++) {
        ASSERT_TRUE(w.add("a", std::to_string(i), store::CommandKind::ReplaceCatalog));
        w.time.run_for(seconds(1));
    }
    EXPECT_LE(w.depth(), 2U);
    w.away = 0;
    EXPECT_TRUE(w.time.run_until([&] { return w.depth() == 0; }, minutes(2)));
    EXPECT_EQ(w.heard.back(), "a 49");
}

TEST(Spool, MovesRefusedCommandsAside) {
    InputsSnapshot w;
    w.away = 400;
    ASSERT_TRUE(w.open());
    ASSERT_TRUE(w.add("a", "bad"));
    ASSERT_TRUE(w.add("b", "good"));
    EXPECT_TRUE(w.time.run_until([&] { return w.depth() == 0; }, minutes(2)));
    EXPECT_EQ(w.heard, (std::vector<std::string>{"b good"}));
    EXPECT_EQ(store::Queue::count_dead_letters(w.folder.path() + "/spool"), 1U);
    EXPECT_EQ(w.counters.value("bunraku_spool_refused_total"), 1);
}

TEST(Spool, LimitsSize) {
    InputsSnapshot w;
    w.away = 1;
    ASSERT_TRUE(w.open(3));
    for (int i = 0; i < 3; i++) ASSERT_TRUE(w.add("n" + std::to_string(i), "r"));
    EXPECT_FALSE(w.add("x", "r"));
    EXPECT_FALSE(w.add("y", "r"));
    int told = 0;
    for (const auto& d : w.log.records) told += d.message.contains("puppetdb-spool-limit");
    EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace bunraku::site
