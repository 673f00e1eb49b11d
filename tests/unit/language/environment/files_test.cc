// SPDX-License-Identifier: Apache-2.0
// Tests the files of the real machine, and failing reads.
#include "language/environment/files.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/diagnostic.h"
#include "language/environment/environment.h"
#include "language/environment/file_fingerprints.h"
#include "language/environment/read_answer.h"
#include "language/environment/regular_files.h"

namespace bunraku::environment {
namespace {

namespace fs = std::filesystem;

/// Drops root's privileges, because root can read everything.
struct AsNobody {
    AsNobody() {
        if (::getuid() == 0) {
            EXPECT_EQ(::seteuid(65534), 0);
        }
    }
    ~AsNobody() {
        if (::getuid() == 0) {
            EXPECT_EQ(::seteuid(0), 0);
        }
    }
};

class FilesTest : public testing::Test {
protected:
    FilesTest() {
        char name[] = "/tmp/files_test_XXXXXX";
        root_ = ::mkdtemp(name);
        ::chmod(root_.c_str(), 0755);
        fs::create_directories(root_ + "/closed/folder");
        std::ofstream(root_ + "/closed/file") << "x";
        close(true);
    }
    ~FilesTest() override {
        close(false);
        fs::remove_all(root_);
    }
    void close(bool on) { ::chmod((root_ + "/closed").c_str(), on ? 0 : 0755); }
    std::string at(const std::string& path) const { return root_ + "/" + path; }

    std::string root_;
};

/// Returns the error message, or "-" if there was none.
template <typename Look>
std::string error_of(const Look& look) {
    try {
        look();
    } catch (const base::PuppetError& error) {
        return error.message();
    }
    return "-";
}

TEST_F(FilesTest, InaccessiblePathIsNotAbsent) {
    const auto& disk = *disk_files();
    const AsNobody as;
    EXPECT_EQ(error_of([&] { (void)disk.stat(at("closed/file")); }),
              "Permission denied @ rb_file_s_stat - " + at("closed/file"));
    EXPECT_EQ(error_of([&] { (void)disk.is_real_folder(at("closed/folder")); }),
              "Permission denied @ rb_file_s_lstat - " + at("closed/folder"));
    EXPECT_EQ(error_of([&] { (void)disk.list(at("closed")); }),
              "Permission denied @ dir_initialize - " + at("closed"));
}

TEST_F(FilesTest, InaccessiblePathOfRegularFilesCanBeAbsent) {
    const auto regular = regular_files(Unreadable::Absent);
    const auto& files = *regular;
    const AsNobody as;
    EXPECT_FALSE(files.stat(at("closed/file")).exists);
    EXPECT_FALSE(files.is_real_folder(at("closed/folder")));
    EXPECT_TRUE(files.list(at("closed")).empty());
    EXPECT_EQ(files.read(at("closed/file")).error().code, EACCES);
    EXPECT_EQ(error_of([&] { (void)regular_files(Unreadable::Error)->list(at("closed")); }),
              "Permission denied @ dir_initialize - " + at("closed"));
}

TEST_F(FilesTest, RegularFilesRefuseWhatMayNeverEnd) {
    ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0644), 0);
    fs::create_symlink("/dev/zero", at("zero"));
    std::ofstream(at("file")) << "text";
    std::ofstream(at("large")) << "text";
    fs::resize_file(at("large"), kMaxRegularFile + 1);
    for (const Unreadable unreadable : {Unreadable::Error, Unreadable::Absent}) {
        const auto regular = regular_files(unreadable);
        const auto& files = *regular;
        EXPECT_EQ(files.read(at("pipe")).error().code, ENXIO);
        EXPECT_EQ(files.read(at("zero")).error().code, ENXIO);
        EXPECT_EQ(files.read(at("large")).error().code, EFBIG);
        EXPECT_EQ(files.read(at("closed")).error().code, EISDIR);
        EXPECT_EQ(files.read(at("file")).value(), "text");
    }
    EXPECT_EQ(disk_files()->read(at("large")).value().size(), kMaxRegularFile + 1);
}

TEST_F(FilesTest, MissingPathIsAbsent) {
    const auto& disk = *disk_files();
    fs::create_symlink("circle", at("circle"));
    std::ofstream(at("file")) << "x";
    for (const auto& path : {at("none"), at("none/below"), at("file/below"), at("circle"),
                             at(std::string(300, 'a'))}) {
        EXPECT_FALSE(disk.stat(path).exists) << path;
        EXPECT_FALSE(disk.is_real_folder(path)) << path;
        EXPECT_TRUE(disk.list(path).empty()) << path;
    }
}

TEST_F(FilesTest, InaccessiblePathNeverCountsAsUnchanged) {
    FileFingerprints fingerprints;
    const AsNobody as;
    fingerprints.record(at("closed/file"));
    EXPECT_FALSE(fingerprints.unchanged());
    EXPECT_EQ(files_answer(*disk_files(), Read::Exists, at("closed/file")),
              "error Permission denied @ rb_file_s_stat - " + at("closed/file"));
    EXPECT_TRUE(stat_answer(*disk_files(), at("closed/file")).starts_with("error "));
}

TEST_F(FilesTest, SkipsInaccessibleSystemModules) {
    fs::create_directories(at("envs/production"));
    fs::create_directories(at("envs/other"));
    std::ofstream(at("envs/other/environment.conf")) << "modulepath = " + at("closed") + "\n";
    Spec spec;
    spec.environmentpath = {at("envs")};
    spec.basemodulepath = {at("closed")};
    base::MemorySink log;
    const AsNobody as;
    ASSERT_TRUE(Environment::open(spec, log).has_value());
    ASSERT_EQ(log.records.size(), 1u);
    EXPECT_EQ(log.records[0].message, "Skipping the modules of " + at("closed") +
                                          ": Permission denied @ dir_initialize - " + at("closed"));
    // Inaccessible module folders of the environment itself are an error.
    spec.basemodulepath.clear();
    spec.name = "other";
    EXPECT_EQ(error_of([&] { (void)Environment::open(spec, log); }),
              "Permission denied @ dir_initialize - " + at("closed"));
}

}  // namespace
}  // namespace bunraku::environment
