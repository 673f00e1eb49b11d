// SPDX-License-Identifier: Apache-2.0
// Tests the fingerprints of files and folders, and when they stop matching.
#include "language/environment/file_fingerprints.h"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <thread>

namespace bunraku::environment {
namespace {

namespace fs = std::filesystem;

class FileFingerprintsTest : public testing::Test {
protected:
    FileFingerprintsTest() {
        char name[] = "/tmp/witness_test_XXXXXX";
        root_ = ::mkdtemp(name);
        write("file", "old");
        fs::create_directories(root_ + "/folder");
        age("folder");
        age(".");
    }
    ~FileFingerprintsTest() override { fs::remove_all(root_); }

    void write(const std::string& path, const std::string& text) {
        std::ofstream(root_ + "/" + path) << text;
        age(path);
    }
    /// Sets an old modification time, so that the fingerprint can be trusted.
    void age(const std::string& path) {
        fs::last_write_time(root_ + "/" + path,
                            fs::file_time_type::clock::now() - std::chrono::hours(1));
    }

    std::string root_;
};

TEST_F(FileFingerprintsTest, ReportsChanges) {
    const struct {
        const char* noted;
        std::function<void()> change;
        bool unchanged;
    } cases[] = {
        {"file", [] {}, true},
        {"gone/below/it", [] {}, true},
        {"file", [&] { write("other", "x"), age("."); }, true},
        {"file", [&] { write("file", "longer"); }, false},
        {"folder", [&] { std::ofstream(root_ + "/folder/x"); }, false},
        {"folder/absent", [&] { std::ofstream(root_ + "/folder/absent"); }, false},
        {"gone/below/it", [&] { fs::create_directories(root_ + "/gone/below"); }, false},
        {"file", [&] { fs::remove(root_ + "/file"); }, false},
    };
    for (const auto& c : cases) {
        write("file", "old");
        fs::remove_all(root_ + "/folder");
        fs::remove_all(root_ + "/gone");
        fs::create_directories(root_ + "/folder");
        age("folder");
        age(".");
        FileFingerprints fingerprints;
        fingerprints.record(root_ + "/" + c.noted);
        EXPECT_TRUE(fingerprints.unchanged()) << c.noted;
        c.change();
        EXPECT_EQ(fingerprints.unchanged(), c.unchanged) << c.noted;
    }
}

TEST_F(FileFingerprintsTest, DoesNotTrustJustWrittenFiles) {
    std::ofstream(root_ + "/fresh") << "x";
    FileFingerprints fingerprints;
    EXPECT_TRUE(fingerprints.record(root_ + "/fresh").fresh);
    EXPECT_FALSE(fingerprints.unchanged());
}

TEST_F(FileFingerprintsTest, FirstRecordStays) {
    FileFingerprints fingerprints;
    fingerprints.record(root_ + "/file");
    write("file", "longer");
    fingerprints.record(root_ + "/file");
    EXPECT_EQ(fingerprints.size(), 1u);
    EXPECT_FALSE(fingerprints.unchanged());
}

TEST_F(FileFingerprintsTest, ThreadsRecordWhileOneChecks) {
    FileFingerprints fingerprints;
    std::vector<std::thread> threads;
    std::atomic<int> running{4};
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 50; ++i)
                fingerprints.record(root_ + "/file/" + std::to_string(t) + "-" + std::to_string(i));
            --running;
        });
    }
    while (running > 0) EXPECT_TRUE(fingerprints.unchanged());
    for (auto& thread : threads) thread.join();
    // the file itself, because it is the nearest existing path
    EXPECT_EQ(fingerprints.noted().size(), 1u);
    EXPECT_TRUE(fingerprints.unchanged());
}

}  // namespace
}  // namespace bunraku::environment
