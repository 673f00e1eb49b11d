// SPDX-License-Identifier: Apache-2.0
#include "net/http/message.h"

#include <gtest/gtest.h>

namespace bunraku::http {
namespace {

TEST(Message, HeadersIgnoreCase) {
    Headers h;
    h.add("Accept", "a");
    h.add("ACCEPT", "b");
    h.add("X", "1");
    EXPECT_EQ(h.get("accept"), "a");
    h.set("accept", "c");
    EXPECT_EQ(h.size(), 2u);
    EXPECT_EQ(h.get("Accept"), "c");
    h.remove("x");
    EXPECT_FALSE(h.has("X"));
}

TEST(Message, PercentDecode) {
    struct Case {
        const char *text, *plain, *plus;  // null if the text is refused
    };
    for (const auto& c : std::initializer_list<Case>{
             {"a%20b", "a b", "a b"},
             {"a+b", "a+b", "a b"},
             {"%c3%A9", "é", "é"},
             {"", "", ""},
             {"%", nullptr, nullptr},
             {"%2", nullptr, nullptr},
             {"%zz", nullptr, nullptr},
             {"%ff", nullptr, nullptr},        // not UTF-8
             {"%c0%af", nullptr, nullptr},     // overlong
             {"%ed%a0%80", nullptr, nullptr},  // surrogate
             {"%f4%90%80%80", nullptr, nullptr},
             {"%e2%82", nullptr, nullptr},
             {"%f0%9f%98%80", "😀", "😀"},
         }) {
        auto plain = percent_decode(c.text), plus = percent_decode(c.text, Plus::Blank);
        ASSERT_EQ(plain.has_value(), c.plain != nullptr) << c.text;
        ASSERT_EQ(plus.has_value(), c.plus != nullptr) << c.text;
        EXPECT_EQ(plain.value_or(""), c.plain ? c.plain : "");
        EXPECT_EQ(plus.value_or(""), c.plus ? c.plus : "");
    }
    EXPECT_EQ(percent_encode("a b/é~", "/"), "a%20b/%C3%A9~");
}

TEST(Message, Query) {
    auto q = parse_query("a=1&b=x+y%26&c&=v&&d=1=2");
    ASSERT_TRUE(q);
    std::vector<std::pair<std::string, std::string>> expected = {
        {"a", "1"}, {"b", "x y&"}, {"c", ""}, {"", "v"}, {"d", "1=2"}};
    EXPECT_EQ(*q, expected);
    EXPECT_FALSE(parse_query("a=%"));
}

TEST(Message, EncodedBodies) {
    std::string text(100000, 'x');
    Request r;
    r.body = gzip(text);
    r.headers.set("Content-Encoding", "gzip");
    EXPECT_EQ(decoded_body(r, 100000).body, text);
    EXPECT_EQ(decoded_body(r, 99999).status, 413);
    r.body += gzip("more");
    EXPECT_EQ(decoded_body(r, 200000).body, text + "more");
    r.body.resize(r.body.size() - 4);
    EXPECT_EQ(decoded_body(r, 200000).status, 400);
    r.body = "not gzip";
    EXPECT_EQ(decoded_body(r, 1000).status, 400);
    r.body.clear();
    EXPECT_EQ(decoded_body(r, 1000).status, 400);
    r.headers.set("Content-Encoding", "br");
    EXPECT_EQ(decoded_body(r, 1000).status, 415);
    r.headers.set("Content-Encoding", "identity");
    r.body = "abc";
    EXPECT_EQ(decoded_body(r, 3).body, "abc");
    EXPECT_EQ(decoded_body(r, 2).status, 413);
}

TEST(Message, LongEncodedBodies) {
    const std::size_t size = (std::size_t{20} << 20) + 7;  // larger than the initial buffer
    std::string text(size, 'x');
    text.back() = 'y';
    Request r;
    r.body = gzip(text);
    r.headers.set("Content-Encoding", "gzip");
    EXPECT_TRUE(decoded_body(r, size).body == text);
    EXPECT_EQ(decoded_body(r, size).status, 0);
    const auto over = decoded_body(r, size - 1);
    EXPECT_EQ(over.status, 413);
    EXPECT_EQ(over.message, "The body decompresses to more than 20971526 bytes");
    EXPECT_TRUE(over.body.empty());
    r.body.resize(r.body.size() - 4);
    EXPECT_EQ(decoded_body(r, size).status, 400);
}

TEST(Message, Credentials) {
    Request r;
    EXPECT_FALSE(basic_credentials(r));
    r.headers.set("Authorization", "basic dXNlcjpwYTpzcw==");
    EXPECT_EQ(basic_credentials(r)->first, "user");
    EXPECT_EQ(basic_credentials(r)->second, "pa:ss");
    r.headers.set("Authorization", "Basic !!");
    EXPECT_FALSE(basic_credentials(r));
    r.headers.set("Authorization", "Bearer  abc ");
    EXPECT_EQ(bearer_token(r), "abc");
}

TEST(Message, Dates) {
    EXPECT_EQ(http_date(784887151), "Tue, 15 Nov 1994 08:12:31 GMT");
    EXPECT_EQ(parse_http_date("Tue, 15 Nov 1994 08:12:31 GMT"), 784887151);
    for (const char* bad : {"", "Tue, 15 Nov 1994 08:12:31", "Tue, 15 Foo 1994 08:12:31 GMT",
                            "Tue, 1x Nov 1994 08:12:31 GMT", "Tue, 45 Nov 1994 08:12:31 GMT"}) {
        EXPECT_FALSE(parse_http_date(bad)) << bad;
    }
}

}  // namespace
}  // namespace bunraku::http
