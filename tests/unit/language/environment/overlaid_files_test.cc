// SPDX-License-Identifier: Apache-2.0
#include "language/environment/overlaid_files.h"

#include <gtest/gtest.h>

#include "memory_files.h"

namespace bunraku::environment {
namespace {

using probe::MemoryFiles;
using Names = std::vector<std::string>;

TEST(OverlaidFiles, MapsFolderToAnotherPath) {
    const auto files = mapped_files(std::make_shared<MemoryFiles>(MemoryFiles::Texts{
                                        {"/b/x", "of b"}, {"/b/d/y.pp", "y"}, {"/else/z", "z"}}),
                                    "/a", "/b");
    EXPECT_EQ(files->read("/a/x").value_or(""), "of b");
    EXPECT_EQ(files->read("/else/z").value_or(""), "z");
    EXPECT_EQ(files->list("/a"), (Names{"d", "x"}));
    EXPECT_EQ(files->glob("/a/d/*.pp"), Names{"/a/d/y.pp"});
    EXPECT_TRUE(files->stat("/a/d").directory);
    EXPECT_FALSE(files->stat("/ab/x").exists);
    const auto missing = files->read("/a/none");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().message, "No such file or directory @ rb_sysopen - /a/none");
    ASSERT_NE(files->moved(), nullptr);
    EXPECT_EQ(files->place("/a/x"), "/b/x");
}

TEST(OverlaidFiles, OverlaysSomeFiles) {
    const auto now = std::make_shared<MemoryFiles>(MemoryFiles::Texts{
        {"/e/same", "1"}, {"/e/changed", "new"}, {"/e/m/added", "a"}, {"/e/keys", "k: 2"}});
    const auto was = std::make_shared<MemoryFiles>(MemoryFiles::Texts{
        {"/e/same", "0"}, {"/e/changed", "old"}, {"/e/gone/f", "f"}, {"/e/keys", "k: 1"}});
    const auto files = overlaid_files(
        now, was, {{"/e/changed", "/e/m/added", "/e/gone"}, {{"/e/keys", "k: mixed"}}});
    EXPECT_EQ(files->read("/e/same").value_or(""), "1");
    EXPECT_EQ(files->read("/e/changed").value_or(""), "old");
    EXPECT_EQ(files->read("/e/keys").value_or(""), "k: mixed");
    EXPECT_TRUE(files->stat("/e/keys").exists);
    EXPECT_FALSE(files->read("/e/m/added"));
    EXPECT_FALSE(files->stat("/e/m/added").exists);
    EXPECT_EQ(files->list("/e/m"), Names());
    EXPECT_EQ(files->read("/e/gone/f").value_or(""), "f");
    EXPECT_TRUE(files->stat("/e/gone").directory);
    EXPECT_EQ(files->list("/e"), (Names{"changed", "gone", "keys", "m", "same"}));
    EXPECT_EQ(files->glob("/e/*"), (Names{"/e/changed", "/e/keys", "/e/same"}));
    EXPECT_EQ(files->glob("/e/gone/*"), Names{"/e/gone/f"});
}

TEST(MappedFiles, ForwardMomentAndVersion) {
    class Numbered final : public Files {
    public:
        base::Result<std::string> read(const std::string& path) const override { return path; }
        Stamp stat(const std::string&) const override { return {}; }
        bool is_real_folder(const std::string&) const override { return false; }
        std::vector<std::string> list(const std::string&) const override { return {}; }
        std::optional<std::string> link(const std::string&) const override { return std::nullopt; }
        std::vector<std::string> glob(const std::string&) const override { return {}; }
        std::optional<std::uint64_t> moment() const override { return 7; }
        std::string version() const override { return "v"; }
    };
    const auto files = mapped_files(std::make_shared<Numbered>(), "/e", "/other");
    EXPECT_EQ(files->moment(), 7U);
    EXPECT_EQ(files->version(), "v");
    EXPECT_EQ(*files->read("/e/f"), "/other/f");
}

}  // namespace
}  // namespace bunraku::environment
