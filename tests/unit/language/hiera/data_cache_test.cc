// SPDX-License-Identifier: Apache-2.0
// Tests which entries the cache of data files contains, and for how long.
#include "language/hiera/data_cache.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <thread>

namespace bunraku::hiera {
namespace {

namespace fs = std::filesystem;
using Format = DataCache::Format;

class DataCacheTest : public testing::Test {
protected:
    DataCacheTest() {
        char name[] = "/tmp/data_cache_test_XXXXXX";
        root_ = ::mkdtemp(name);
    }
    ~DataCacheTest() override { fs::remove_all(root_); }

    std::string path(const std::string& name) const { return root_ + "/" + name; }
    void write(const std::string& name, const std::string& text) {
        std::ofstream(path(name)) << text;
    }
    void age(const std::string& name) {
        fs::last_write_time(path(name), fs::file_time_type::clock::now() - std::chrono::hours(1));
    }
    std::int64_t number(DataCache& cache, const std::string& name) {
        const auto loaded = cache.load(*environment::disk_files(), path(name), Format::Yaml);
        const auto* v = loaded.file ? loaded.file->data.as_hash().find("a") : nullptr;
        return v ? v->as_integer() : -1;
    }
    std::string root_;
};

// Written within one tick of the file system's clock, with the same size and inode.
TEST_F(DataCacheTest, DoesNotTrustRecentModificationTime) {
    DataCache cache;
    for (int i = 1; i < 200; ++i) {
        write("x.yaml", "a: " + std::to_string(1000 + i) + "\n");
        ASSERT_EQ(number(cache, "x.yaml"), 1000 + i);
    }
}

TEST_F(DataCacheTest, ReadsOldFileOnce) {
    DataCache cache;
    write("x.yaml", "a: 1\n");
    age("x.yaml");
    const auto first = cache.load(*environment::disk_files(), path("x.yaml"), Format::Yaml).file;
    EXPECT_EQ(cache.load(*environment::disk_files(), path("x.yaml"), Format::Yaml).file, first);
    write("x.yaml", "a: 2\n");
    EXPECT_EQ(number(cache, "x.yaml"), 2);
}

TEST_F(DataCacheTest, DropsDeletedFiles) {
    DataCache cache;
    write("x.yaml", "a: 1\n");
    EXPECT_EQ(number(cache, "x.yaml"), 1);
    EXPECT_EQ(cache.size(), 1u);
    fs::remove(path("x.yaml"));
    EXPECT_EQ(cache.load(*environment::disk_files(), path("x.yaml"), Format::Yaml).error, ENOENT);
    EXPECT_EQ(cache.size(), 0u);
}

TEST_F(DataCacheTest, DropsUnusedEntries) {
    DataCache cache(std::chrono::milliseconds(50));
    for (int i = 0; i < 10; ++i) {
        write(std::to_string(i), "a: 1\n");
        age(std::to_string(i));
    }
    for (int i = 0; i < 5; ++i) EXPECT_EQ(number(cache, std::to_string(i)), 1);
    EXPECT_EQ(cache.size(), 5u);
    std::this_thread::sleep_for(std::chrono::milliseconds(70));
    EXPECT_EQ(number(cache, "0"), 1);  // used again, so it stays in the cache
    EXPECT_EQ(number(cache, "5"), 1);
    EXPECT_EQ(cache.size(), 2u);
}

}  // namespace
}  // namespace bunraku::hiera
