// SPDX-License-Identifier: Apache-2.0
// Tests digests that are cached between runs: when they are used, and when none are stored.
#include "resources/apply/content_memory.h"

#include <gtest/gtest.h>
#include <limits>

#include "testing/fake.h"

namespace bunraku::apply {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
const std::string kFile = "/state/contents";
const std::string kSum = "{sha256}aa";

bool always(const std::string&) { return true; }
bool never(const std::string&) { return false; }

struct ContentMemoryTest : testing::Test {
    sys::FakeSystem fake;
    sys::FileStatus status;

    ContentMemoryTest() {
        fake.files.put("/etc/x", std::string(ContentMemory::kLarge, 'x'));
        status = *fake.files.stat("/etc/x");
    }
    ContentMemory loaded(bool (*trust)(const std::string&) = always,
                         std::int64_t interval = 3600 * kSecond) {
        ContentMemory out(
            fake.system, {.file = kFile, .interval_ns = interval, .preserves_change_times = trust});
        out.load();
        return out;
    }
    void learn(bool (*trust)(const std::string&) = always) {
        auto memory = loaded(trust);
        memory.remember("/etc/x", "sha256", status, fake.clock.now, kSum);
        memory.save();
    }
    std::optional<std::string> known(const sys::FileStatus& now) {
        auto memory = loaded();
        const auto digest = memory.digest("/etc/x", "sha256", now);
        return digest ? std::optional<std::string>(*digest) : std::nullopt;
    }
};

TEST_F(ContentMemoryTest, UsesDigestWhileFileIsUnchanged) {
    learn();
    EXPECT_EQ(known(status), kSum);
    EXPECT_EQ(loaded().digest("/etc/x", "md5", status), std::nullopt);
    EXPECT_EQ(loaded().digest("/etc/y", "sha256", status), std::nullopt);
    using Change = void (*)(sys::FileStatus&);
    for (Change change :
         {+[](sys::FileStatus& s) { ++s.size; }, +[](sys::FileStatus& s) { ++s.inode; },
          +[](sys::FileStatus& s) { ++s.device; }, +[](sys::FileStatus& s) { ++s.ctime_ns; },
          +[](sys::FileStatus& s) { --s.mtime_ns; },
          +[](sys::FileStatus& s) { s.kind = sys::FileKind::Link; }}) {
        sys::FileStatus other = status;
        change(other);
        EXPECT_EQ(known(other), std::nullopt);
    }
}

TEST_F(ContentMemoryTest, StoresNothingIfFileMayHaveChanged) {
    // Changed in the two seconds before it was read, or with a time in the future.
    for (const std::int64_t later : {-5L, 0L, 1L, 2L, 3L}) {
        auto memory = loaded(always, std::numeric_limits<std::int64_t>::max());
        memory.remember("/etc/x", "sha256", status, status.ctime_ns + later * kSecond, kSum);
        EXPECT_EQ(memory.digest("/etc/x", "sha256", status).has_value(), later == 3) << later;
    }
    // Changed while it was read.
    auto memory = loaded();
    auto before = status;
    before.size += 3;
    memory.remember("/etc/x", "sha256", before, fake.clock.now, kSum);
    EXPECT_EQ(memory.digest("/etc/x", "sha256", before), std::nullopt);
    // A file system whose times are not reliable.
    learn(never);
    EXPECT_FALSE(fake.files.exists(kFile));
}

// Issue 31: the status of a small file does not show a write through a memory mapping for a while.
TEST_F(ContentMemoryTest, StoresNothingForSmallFiles) {
    fake.files.put("/etc/x", std::string(ContentMemory::kLarge - 1, 'x'));
    const auto small = *fake.files.stat("/etc/x");
    auto memory = loaded();
    memory.remember("/etc/x", "sha256", small, fake.clock.now, kSum);
    EXPECT_EQ(memory.digest("/etc/x", "sha256", small), std::nullopt);
    learn();
    EXPECT_FALSE(fake.files.exists(kFile));
}

TEST_F(ContentMemoryTest, ExpiresAfterTheInterval) {
    learn();
    fake.clock.now += 3599 * kSecond;
    EXPECT_EQ(known(status), kSum);
    fake.clock.now += kSecond;
    EXPECT_EQ(known(status), std::nullopt);
    fake.clock.now -= 7200 * kSecond;  // the clock was set back, so earlier times are not reliable
    EXPECT_EQ(known(status), std::nullopt);
}

TEST_F(ContentMemoryTest, TrustsOnlyOwnCompleteFile) {
    learn();
    EXPECT_EQ(fake.files.stat(kFile)->mode, 0600U);
    const std::string good = *fake.files.read(kFile);
    for (std::size_t cut : {0UL, 10UL, good.size() / 2, good.size() - 1}) {
        fake.files.put(kFile, good.substr(0, cut), 0600);
        EXPECT_EQ(known(status), std::nullopt) << cut;
    }
    for (std::size_t at = 0; at < good.size(); at += 7) {
        std::string bad = good;
        bad[at] = static_cast<char>(bad[at] ^ 1);
        fake.files.put(kFile, bad, 0600);
        EXPECT_EQ(known(status), std::nullopt) << at;
    }
    fake.files.put(kFile, good, 0600);
    EXPECT_EQ(known(status), kSum);
    ASSERT_TRUE(fake.files.set_mode(kFile, 0620));
    EXPECT_EQ(known(status), std::nullopt);
    ASSERT_TRUE(fake.files.set_mode(kFile, 0600));
    ASSERT_TRUE(fake.files.set_owner(kFile, 1000, {}, false));
    EXPECT_EQ(known(status), std::nullopt);
    ASSERT_TRUE(fake.files.remove(kFile));
    fake.files.put("/else", good, 0600);
    ASSERT_TRUE(fake.files.make_link("/else", kFile));
    EXPECT_EQ(known(status), std::nullopt);
}

TEST_F(ContentMemoryTest, FindsInAnyOrderAndWritesOnlyChanges) {
    auto memory = loaded();
    for (int i = 0; i < 50; ++i) {
        const std::string path = "/etc/f" + std::to_string(i);
        fake.files.put(path, std::string(ContentMemory::kLarge + static_cast<std::size_t>(i), 'x'));
        memory.remember(path, "sha256", *fake.files.stat(path), fake.clock.now, std::to_string(i));
    }
    memory.save();
    auto again = loaded();
    for (int i : {49, 0, 1, 2, 30, 7, 6, 5, 49}) {
        const std::string path = "/etc/f" + std::to_string(i);
        EXPECT_EQ(again.digest(path, "sha256", *fake.files.stat(path)), std::to_string(i));
    }
    const auto written = fake.files.replaced.size();
    again.save();
    EXPECT_EQ(fake.files.replaced.size(), written);
    again.remember("/etc/f7", "sha256", *fake.files.stat("/etc/f7"), fake.clock.now, "new");
    again.save();
    EXPECT_EQ(fake.files.replaced.size(), written + 1);
    EXPECT_EQ(loaded().digest("/etc/f7", "sha256", *fake.files.stat("/etc/f7")), "new");
}

}  // namespace
}  // namespace bunraku::apply
