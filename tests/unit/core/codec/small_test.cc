// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "core/codec/base64.h"
#include "core/codec/ini.h"

namespace bunraku::codec {
namespace {

TEST(Base64, AsRuby) {
    EXPECT_EQ(base64_encode(""), "");
    EXPECT_EQ(base64_encode("f"), "Zg==");
    EXPECT_EQ(base64_encode("fo"), "Zm8=");
    EXPECT_EQ(base64_encode("foobar"), "Zm9vYmFy");
    EXPECT_EQ(base64_encode("\xfb\xff", Base64::UrlSafe), "-_8=");
    EXPECT_EQ(base64_encode(std::string(46, 'a'), Base64::Lines),
              "YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFh\nYQ==\n");
    for (const char* text : {"", "f", "fo", "foo", "foob"}) {
        EXPECT_EQ(base64_decode(base64_encode(text)), text);
        EXPECT_EQ(base64_decode(base64_encode(text, Base64::Lines), Base64::Lines), text);
        EXPECT_EQ(base64_decode(base64_encode(text, Base64::UrlSafe), Base64::UrlSafe), text);
    }
    EXPECT_EQ(base64_decode("Z m9v\n!", Base64::Lines), "foo");
    EXPECT_EQ(base64_decode("Zg", Base64::UrlSafe), "f");
    for (const char* bad : {"Zg", "Zg=", "Zg===", "Z", "Zh==", "Zm9v\n", "Zm9v=", "===="}) {
        EXPECT_FALSE(base64_decode(bad).has_value()) << bad;
    }
}

TEST(Ini, ReadsLikePuppet) {
    auto file = parse_ini("a = 1\n[agent]\n b=  x = y  \n# c\n\n[main]\nd =\n[agent]\ne = \"q\"\n");
    ASSERT_TRUE(file.has_value());
    ASSERT_EQ(file->sections.size(), 2u);
    EXPECT_EQ(file->find("main", "a")->value, "1");
    EXPECT_EQ(file->find("main", "d")->value, "");
    EXPECT_EQ(file->find("agent", "b")->value, "x = y");
    EXPECT_EQ(file->find("agent", "e")->value, "\"q\"");
    EXPECT_EQ(file->find("agent", "e")->line, 9);
    EXPECT_EQ(file->find("agent", "a"), nullptr);
    EXPECT_EQ(parse_ini("[x]\nfoo\n").error().message, "Could not match line foo");
}

TEST(Ini, EditsInPlace) {
    EXPECT_EQ(set_ini_value("", "main", "a", "1"), "[main]\na = 1\n");
    EXPECT_EQ(set_ini_value("# top\n[main]\na = 1\n\n[agent]\nb = 2\n", "main", "a", "3"),
              "# top\n[main]\na = 3\n\n[agent]\nb = 2\n");
    EXPECT_EQ(set_ini_value("[main]\na = 1\n\n[agent]\nb = 2\n", "main", "c", "3"),
              "[main]\na = 1\nc = 3\n\n[agent]\nb = 2\n");
    EXPECT_EQ(set_ini_value("[main]\na = 1\n", "agent", "b", "2"),
              "[main]\na = 1\n[agent]\nb = 2\n");
    EXPECT_EQ(remove_ini_value("[main]\na = 1\nb = 2\n", "main", "a"), "[main]\nb = 2\n");
}

}  // namespace
}  // namespace bunraku::codec
