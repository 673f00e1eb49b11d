// SPDX-License-Identifier: Apache-2.0
#include "compile/reference/doc_text.h"

#include <gtest/gtest.h>

namespace bunraku::reference {
namespace {

/// Returns a tag as text: name, types, description.
std::string format_tag(const DocTag& t) {
    std::string out = t.tag;
    if (t.name) out += " name=" + *t.name;
    if (t.types)
        for (const auto& type : *t.types) out += " <" + type + ">";
    if (t.text) out += " text=" + *t.text;
    if (t.choice) {
        out += " choice=" + t.choice->name;
        if (t.choice->types)
            for (const auto& type : *t.choice->types) out += " <" + type + ">";
        out += " " + t.choice->text.value_or("(none)");
    }
    return out;
}

// Results of YARD 0.9.28 for the same lines.
TEST(DocText, Tags) {
    const std::pair<const char*, const char*> cases[] = {
        {"@param x what", "param name=x text=what"},
        {"@param [Array[Integer, 1], nil] x what",
         "param name=x <Array[Integer, 1]> <nil> text=what"},
        {"@param x [String] what", "param name=x <String> text=what"},
        {"@param x 'a, b' [c]", "param name=x <'a, b'c> text="},
        {"@param x\n  more\n\n  and more", "param name=x text=more\n\nand more"},
        {"@param", "param"},
        {"@return [Hash{String => Integer}] all", "return <Hash{String => Integer}> text=all"},
        {"@return all of it", "return text=all of it"},
        {"@example   one  title\n  code\n    deeper", "example name=one title text=code\n  deeper"},
        {"@example\n  code", "example name= text=code"},
        {"@option opts [Integer] :depth how deep",
         "option name=opts choice=:depth <Integer> how deep"},
        {"@option opts :depth how deep", "option name=opts choice=:depth how deep"},
        {"@enum mode fast", "enum name=mode choice=fast (none)"},
        {"@see https://x.example the page", "see name=https://x.example text=the page"},
        {"@summary one\n  two", "summary text=one\ntwo"},
    };
    for (const auto& [text, expected] : cases) {
        const DocText doc = parse_doc(text);
        ASSERT_EQ(doc.tags.size(), 1U) << text;
        EXPECT_EQ(format_tag(doc.tags[0]), expected) << text;
        EXPECT_EQ(doc.text, "") << text;
    }
}

TEST(DocText, IgnoresTextThatIsNotATag) {
    const DocText doc =
        parse_doc("A text\n@unknown thing\n@!method x\n  y\nmore\n  code\n\n@api private\n");
    EXPECT_EQ(doc.text, "A text\nmore\n  code");
    ASSERT_EQ(doc.tags.size(), 1U);
    EXPECT_TRUE(doc.is_private());
    for (const char* text : {"", "\n\n", "@", "@ x", "@a-b", "mail@example.org"})
        EXPECT_TRUE(parse_doc(text).tags.empty()) << text;
}

TEST(DocText, RemovesIndentationOfDescriptions) {
    EXPECT_EQ(scrubbed("  one line \n"), "one line");
    EXPECT_EQ(scrubbed("first\n    second\n      third  \n\n    fourth\n"),
              "first\nsecond\n  third\n\nfourth");
    EXPECT_EQ(scrubbed("%q{quoted\n  text}"), "quoted\ntext");
    EXPECT_EQ(scrubbed(""), "");
}

}  // namespace
}  // namespace bunraku::reference
