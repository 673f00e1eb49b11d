#include "modules/module/tarball.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

#include "support.h"

namespace bunraku::module {
namespace {

using test::Entry;
using test::metadata;
using test::tar;

std::string packed(const std::vector<Entry>& entries) { return http::gzip(tar(entries)); }

/// Returns why an upload is refused, or an empty string if it is accepted.
std::string refusal(const std::string& bytes, const TarballLimits& limits = {}) {
    auto t = inspect_tarball(bytes, limits);
    return t ? "" : t.error().message;
}

std::string with_metadata(const std::string& json, const std::string& top = "a-b-1.0.0") {
    return packed({{top + "/metadata.json", json}});
}

TEST(Tarball, AcceptsValidArchives) {
    EXPECT_EQ(refusal(test::release("acme-web", "1.5.2")), "");
    EXPECT_EQ(refusal(packed({{"./a-b-1.0.0/metadata.json", metadata("a-b", "1.0.0")}})), "");
    EXPECT_EQ(refusal(with_metadata(metadata("a/b", "1.0.0"))), "");
    EXPECT_EQ(refusal(with_metadata(metadata("a-b", "1.0.0-rc.1+x"), "a-b-1.0.0-rc.1+x")), "");
    EXPECT_EQ(refusal(packed({{"a-b-1.0.0/metadata.json", metadata("a-b", "1.0.0")},
                              {"a-b-1.0.0/x/y", "", '2', "../README"}})),
              "");
}

TEST(Tarball, RefusesInvalidArchives) {
    const std::string good = metadata("a-b", "1.0.0");
    struct Case {
        std::string bytes, text;
    };
    const std::string whole = test::release("a-b", "1.0.0");
    const std::vector<Case> cases = {
        {"", "not in gzip format"},
        {std::string(400, 'x'), "not in gzip format"},
        {http::gzip(std::string(3000, 'x')), "not a gzipped tar archive"},
        {whole.substr(0, whole.size() / 2), "truncated"},
        {whole.substr(0, whole.size() - 4), "truncated"},
        {packed({}), "empty"},
        {packed({{"a-b-1.0.0/README.md", "x"}}), "there is no metadata.json"},
        {packed({{"metadata.json", good}}), "outside of a top folder"},
        {with_metadata("{nope"), "cannot be parsed"},
        {with_metadata("[1]"), "not a JSON object"},
        {with_metadata(R"({"version":"1.0.0"})"), "'name' is missing"},
        {with_metadata(R"({"name":"a-b"})"), "no 'version'"},
        {with_metadata(metadata("ab", "1.0.0")), "'ab' is not a valid full module name"},
        {with_metadata(metadata("a-../../x", "1.0.0")), "not a valid full module name"},
        {with_metadata(metadata("a-b", "1.0"), "a-b-1.0"), "'1.0' is not a valid semantic version"},
        {with_metadata(metadata("a-b", "01.0.0"), "a-b-01.0.0"), "not a valid semantic version"},
        {with_metadata(R"({"name":"a-b","version":1})"), "not a valid semantic version"},
        {with_metadata(metadata("a-b", "1.0.0", "{}")), "'dependencies' must be an array"},
        {with_metadata(metadata("a-b", "1.0.0", "[1]")), "must hold objects"},
        {with_metadata(metadata("a-b", "1.0.0", R"([{"name":"x"}])")), "dependency 'x'"},
        {with_metadata(metadata("a-b", "1.0.0", "[]", R"(,"tags":"x")")), "'tags' must be"},
        {with_metadata(good, "other"), "the top folder 'other' is not 'a-b-1.0.0'"},
        {packed({{"a-b-1.0.0/metadata.json", good}, {"a-b-1.0.0/../../x", "!"}}), "invalid path"},
        {packed({{"a-b-1.0.0/metadata.json", good}, {"/etc/x", "!"}}), "path"},
        {packed({{"a-b-1.0.0/metadata.json", good}, {"else/x", "!"}}), "outside of the top folder"},
        {packed({{"a-b-1.0.0/metadata.json", good}, {"a-b-1.0.0/a\nb", "!"}}), "invalid path"},
        {packed({{"a-b-1.0.0/metadata.json", good}, {"a-b-1.0.0/l", "", '2', "../../x"}}),
         "leads out"},
        {packed({{"a-b-1.0.0/metadata.json", good}, {"a-b-1.0.0/l", "", '2', "/etc/passwd"}}),
         "leads out"},
        {packed({{"a-b-1.0.0/metadata.json", good}, {"a-b-1.0.0/l", "", '1', "/etc/passwd"}}),
         "leads out"},
        {packed({{"a-b-1.0.0/metadata.json", good}, {"a-b-1.0.0/dev", "", '3'}}),
         "neither file nor folder"},
        {packed({{"a-b-1.0.0/metadata.json", good}, {"a-b-1.0.0/metadata.json", good}}), "twice"},
    };
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const std::string text = refusal(cases[i].bytes);
        EXPECT_NE(text.find(cases[i].text), std::string::npos)
            << "case " << i << ": '" << text << "', wanted " << cases[i].text;
    }
    TarballLimits small;
    small.unpacked = 2000;
    EXPECT_NE(refusal(whole, small).find("more than 0 MiB"), std::string::npos);
    small = {};
    small.entries = 2;
    EXPECT_NE(refusal(whole, small).find("more than 2 entries"), std::string::npos);
}

TEST(Tarball, UnpackAndPack) {
    test::Scratch scratch;
    auto packed = pack_tarball("a-b-1.0.0", {{"metadata.json", metadata("a-b", "1.0.0"), false},
                                             {"bin/x.sh", "#!/bin/sh\n", true}});
    ASSERT_TRUE(packed) << packed.error().message;
    EXPECT_EQ(refusal(*packed), "");
    auto again = pack_tarball("a-b-1.0.0", {{"metadata.json", metadata("a-b", "1.0.0"), false},
                                            {"bin/x.sh", "#!/bin/sh\n", true}});
    EXPECT_EQ(*packed, *again);
    ASSERT_TRUE(unpack_tarball(*packed, scratch.path + "/b"));
    const auto mode = std::filesystem::status(scratch.path + "/b/bin/x.sh").permissions();
    EXPECT_EQ(static_cast<int>(mode), 0755);
    // Unpacking does not write through a link, and removes all files if it fails.
    const std::string evil = http::gzip(
        tar({{"m/metadata.json", "{}"}, {"m/dir", "", '2', "/tmp"}, {"m/dir/escaped", "!"}}));
    EXPECT_FALSE(unpack_tarball(evil, scratch.path + "/evil"));
    EXPECT_FALSE(std::filesystem::exists(scratch.path + "/evil"));
}

/// Returns a GNU tar archive with a path that is longer than the header field: `@LongLink`.
std::string gnu_tar(const std::string& path, const std::string& content) {
    std::string longer = tar({{"././@LongLink", path + '\0', 'L'}});
    longer.resize(longer.size() - 1024);
    std::string rest = tar({{path.substr(0, 90), content}});
    for (std::string* part : {&longer, &rest}) {
        for (std::size_t at = 0; at + 512 <= part->size(); at += 512) {
            if (part->compare(at + 257, 5, "ustar") != 0) continue;
            unsigned sum = 0;
            part->replace(at + 257, 8, std::string("ustar  \0", 8));
            part->replace(at + 148, 8, 8, ' ');
            for (std::size_t i = 0; i < 512; ++i)
                sum += static_cast<unsigned char>((*part)[at + i]);
            part->replace(at + 148, 7, fmt::format("{:06o}", sum) + '\0');
        }
    }
    return longer + rest;
}

TEST(Tarball, ReadsNonAsciiNamesInEveryFormat) {
    test::Scratch scratch;
    const std::string folder = "a-b-1.0.0/files/", umlaut = "\xc3\xbc.txt";
    const std::string longer = std::string(120, 'x') + "\xe2\x98\x83";
    // Bytes that are not UTF-8 are also a valid name, here Latin-1.
    const std::string latin = "\xfc.txt";
    std::string all = gnu_tar(folder + longer, "long");
    all.resize(all.size() - 1024);
    all += tar({{folder + umlaut, "u"},
                {folder + latin, "l"},
                {"a-b-1.0.0/\xc3\xb6", "", '2', "files/" + umlaut},
                {"a-b-1.0.0/metadata.json", metadata("a-b", "1.0.0")}});
    const std::string bytes = http::gzip(all);
    EXPECT_EQ(refusal(bytes), "");
    for (const bool any : {false, true}) {
        const std::string target = scratch.path + (any ? "/any" : "/module");
        auto done = any ? unpack_any_tarball(bytes, target) : unpack_tarball(bytes, target);
        ASSERT_TRUE(done) << done.error().message;
        for (const std::string& name : {longer, umlaut, latin}) {
            const std::string path = target + (any ? "/a-b-1.0.0/files/" : "/files/") + name;
            EXPECT_EQ(::access(path.c_str(), R_OK), 0) << path;
        }
    }
}

TEST(Tarball, FileCannotContainFiles) {
    const Entry good{"a-b-1.0.0/metadata.json", metadata("a-b", "1.0.0")};
    const std::vector<std::vector<Entry>> cases = {
        {{"a-b-1.0.0/x", "file"}, {"a-b-1.0.0/x/y", "below it"}},
        {{"a-b-1.0.0/x/y", "below it"}, {"a-b-1.0.0/x", "file"}},
        {{"a-b-1.0.0/x/", "", '5'}, {"a-b-1.0.0/x", "file"}},
        {{"a-b-1.0.0/x", "", '2', "files"}, {"a-b-1.0.0/x/y", "below it"}},
    };
    test::Scratch scratch;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        std::vector<Entry> entries = {good};
        entries.insert(entries.end(), cases[i].begin(), cases[i].end());
        const std::string bytes = packed(entries);
        EXPECT_EQ(refusal(bytes), "entry 'a-b-1.0.0/x' is a file and a folder") << i;
        EXPECT_FALSE(unpack_tarball(bytes, scratch.path + "/x")) << i;
        EXPECT_FALSE(unpack_any_tarball(bytes, scratch.path + "/x")) << i;
        EXPECT_FALSE(std::filesystem::exists(scratch.path + "/x")) << i;
    }
    // The same file or folder may appear twice.
    EXPECT_EQ(refusal(packed({good,
                              {"a-b-1.0.0/x/", "", '5'},
                              {"a-b-1.0.0/x/", "", '5'},
                              {"a-b-1.0.0/x/y", "1"},
                              {"a-b-1.0.0/x/y", "2"}})),
              "");
}

TEST(Tarball, PacksNonAsciiNames) {
    auto bytes = pack_tarball("a-b-1.0.0", {{"metadata.json", metadata("a-b", "1.0.0"), false},
                                            {"files/\xc3\xa9/\xe2\x98\x83.txt", "x", false}});
    ASSERT_TRUE(bytes) << bytes.error().message;
    EXPECT_EQ(refusal(*bytes), "");
    const std::string target = testing::TempDir() + "packed-names";
    ASSERT_TRUE(unpack_tarball(*bytes, target));
    EXPECT_EQ(::access((target + "/files/\xc3\xa9/\xe2\x98\x83.txt").c_str(), R_OK), 0);
    std::filesystem::remove_all(target);
}

}  // namespace
}  // namespace bunraku::module
