// SPDX-License-Identifier: Apache-2.0
#include "net/http/wire.h"

#include <gtest/gtest.h>

#include "net/http/url.h"

namespace bunraku::http {
namespace {

int status_of(std::string head) {
    Request request;
    Framing framing;
    HeadScanner scanner;
    if (scanner.scan(head) != HeadScanner::State::Found) return -1;
    return parse_request_head(head, request, framing).status;
}

TEST(Wire, RequestHeads) {
    const std::string host = "Host: x\r\n";
    struct Case {
        std::string head;
        int status;  // 0 if the head is accepted; -1 if it is incomplete or invalid
    };
    for (const auto& c : std::initializer_list<Case>{
             {"GET / HTTP/1.1\r\n" + host + "\r\n", 0},
             {"GET / HTTP/1.0\r\n\r\n", 0},
             {"GET http://a/b?c HTTP/1.1\r\n" + host + "\r\n", 0},
             {"GET http://a/b@c?d@e HTTP/1.1\r\n" + host + "\r\n", 0},
             {"GET https://u@a/b HTTP/1.1\r\n" + host + "\r\n", 400},
             {"GET http://u:p@a HTTP/1.1\r\n" + host + "\r\n", 400},
             {"GET /%7e?a=%20 HTTP/1.1\r\n" + host + "\r\n", 0},
             {"GET / HTTP/1.1\r\n" + host + "A:\r\nB: \t x \t\r\n\r\n", 0},
             {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: Chunked\r\n\r\n", 0},
             {"GET / HTTP/1.1\r\n\r\n", 400},
             {"GET / HTTP/1.1\r\n" + host + host + "\r\n", 400},
             {"GET / HTTP/2.0\r\n" + host + "\r\n", 505},
             {"GET / HTTP/1.1x\r\n" + host + "\r\n", 400},
             {"GET /\r\n\r\n", 400},
             {"GET  / HTTP/1.1\r\n" + host + "\r\n", 400},
             {"GET /a b HTTP/1.1\r\n" + host + "\r\n", 400},
             {"GET * HTTP/1.1\r\n" + host + "\r\n", 400},
             {"GET a HTTP/1.1\r\n" + host + "\r\n", 400},
             {"G@T / HTTP/1.1\r\n" + host + "\r\n", 400},
             {"GET /%zz HTTP/1.1\r\n" + host + "\r\n", 400},
             {"GET /%ff HTTP/1.1\r\n" + host + "\r\n", 400},
             {"GET /?a=%4 HTTP/1.1\r\n" + host + "\r\n", 400},
             {"GET / HTTP/1.1\r\n" + host + "A b: c\r\n\r\n", 400},
             {"GET / HTTP/1.1\r\n" + host + "A : c\r\n\r\n", 400},
             {"GET / HTTP/1.1\r\n" + host + ": c\r\n\r\n", 400},
             {"GET / HTTP/1.1\r\n" + host + "no colon\r\n\r\n", 400},
             {"GET / HTTP/1.1\r\n" + host + "A: b\r\n c\r\n\r\n", 400},
             {std::string("GET / HTTP/1.1\r\n") + host + std::string("A: b\0c\r\n\r\n", 10), 400},
             {"GET / HTTP/1.1\r\n" + host + "A: b\rc\r\n\r\n", 400},
             {"GET / HTTP/1.1\n" + host + "\r\n", -1},
             {"GET / HTTP/1.1\r\n" + host + "\n", -1},
             {"GET / HTTP/1.1\r\n" + host, -1},
             {"POST / HTTP/1.1\r\n" + host + "Content-Length: 3\r\nContent-Length: 3\r\n\r\n", 400},
             {"POST / HTTP/1.1\r\n" + host + "Content-Length: 3, 3\r\n\r\n", 400},
             {"POST / HTTP/1.1\r\n" + host + "Content-Length: +3\r\n\r\n", 400},
             {"POST / HTTP/1.1\r\n" + host + "Content-Length: -3\r\n\r\n", 400},
             {"POST / HTTP/1.1\r\n" + host + "Content-Length: 0x3\r\n\r\n", 400},
             {"POST / HTTP/1.1\r\n" + host + "Content-Length:\r\n\r\n", 400},
             {"POST / HTTP/1.1\r\n" + host + "Content-Length: 99999999999999999999\r\n\r\n", 400},
             {"POST / HTTP/1.1\r\n" + host +
                  "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
              400},
             {"POST / HTTP/1.1\r\n" + host +
                  "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
              400},
             {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip, chunked\r\n\r\n", 501},
             {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: xchunked\r\n\r\n", 501},
             {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
             {"POST / HTTP/1.1\r\n" + host + "Expect: tea\r\n\r\n", 417},
         }) {
        EXPECT_EQ(status_of(c.head), c.status) << c.head;
    }
}

TEST(Wire, HeadFields) {
    Request r;
    Framing f;
    ASSERT_EQ(parse_request_head("POST http://h/a/%20?x=1 HTTP/1.0\r\nConnection: foo, "
                                 "Keep-Alive\r\nContent-Length: 12\r\n\r\n",
                                 r, f)
                  .status,
              0);
    EXPECT_EQ(r.method, "POST");
    EXPECT_EQ(r.path, "/a/%20");
    EXPECT_EQ(*r.query_value("x"), "1");
    EXPECT_TRUE(f.keep_alive);
    EXPECT_FALSE(f.http11);
    EXPECT_EQ(f.content_length, 12u);
    parse_request_head("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", r, f);
    EXPECT_FALSE(f.keep_alive);
}

TEST(Wire, ChunkedBodies) {
    using State = ChunkedDecoder::State;
    struct Case {
        std::string in;
        State state;
        std::string out, left;
    };
    for (const auto& c : std::initializer_list<Case>{
             {"3\r\nabc\r\n0\r\n\r\nnext", State::Done, "abc", "next"},
             {"3;ext=\"x\"\r\nabc\r\n0\r\nTrailer: x\r\n\r\n", State::Done, "abc", ""},
             {"0A\r\n0123456789\r\n", State::More, "0123456789", ""},
             {"3\r\nab", State::More, "ab", ""},
             {"\r\nabc", State::Bad, "", ""},
             {"3\nabc\r\n", State::Bad, "", ""},
             {"3\r\nabcd\r\n", State::Bad, "abc", ""},
             {"3\r\nabc\n", State::Bad, "abc", ""},
             {"-1\r\n", State::Bad, "", ""},
             {"3 \r\nabc", State::Bad, "", ""},
             {"1000000000000000\r\n", State::Bad, "", ""},
             {"ffffffffffffff\r\n", State::TooLong, "", ""},
             {"0\r\nA: b\n\r\n", State::Bad, "", ""},
             {"3;a\x01\r\n", State::Bad, "", ""},
         }) {
        for (bool bytewise : {false, true}) {
            ChunkedDecoder decoder;
            std::string out;
            State state = State::More;
            std::string_view in = c.in;
            while (!in.empty() && state == State::More) {
                std::string_view piece = bytewise ? in.substr(0, 1) : in;
                auto had = piece.size();
                state = decoder.feed(piece, out, 1000);
                in.remove_prefix(had - piece.size());
                if (state == State::More && !piece.empty()) break;
            }
            EXPECT_EQ(state, c.state) << c.in;
            EXPECT_EQ(out, c.out) << c.in;
            EXPECT_EQ(state == State::Done ? in : "", c.left);
        }
    }
}

TEST(Wire, AcceptEncoding) {
    EXPECT_TRUE(accepts_gzip("gzip"));
    EXPECT_TRUE(accepts_gzip("gzip;q=1.0,deflate;q=0.6,identity;q=0.3"));
    EXPECT_TRUE(accepts_gzip("*"));
    EXPECT_FALSE(accepts_gzip(""));
    EXPECT_FALSE(accepts_gzip("identity"));
    EXPECT_FALSE(accepts_gzip("gzip;q=0"));
    EXPECT_FALSE(accepts_gzip("gzip; q=0.00"));
    EXPECT_TRUE(accepts_gzip("gzip;q=0.5"));
}

TEST(Wire, Urls) {
    auto url = parse_url("https://u:p%40@Host:8140/a?b=c#d").value();
    EXPECT_TRUE(url.tls);
    EXPECT_EQ(url.host, "Host");
    EXPECT_EQ(url.port, 8140);
    EXPECT_EQ(url.target, "/a?b=c");
    EXPECT_EQ(url.user, "u:p@");
    EXPECT_EQ(parse_url("http://h").value().text(), "http://h/");
    EXPECT_EQ(parse_url("http://[::1]:81/").value().origin(), "http://[::1]:81");
    for (const char* bad :
         {"http://[UU]/", "http://[[::1]/", "http://a]b/", "", "ftp://x", "http://", "http://h:0/",
          "http://h:99999/", "http://h/a b", "http://[::1", "http://h:1x/"}) {
        EXPECT_FALSE(parse_url(bad)) << bad;
    }
    struct Case {
        const char *reference, *text;
    };
    auto base = parse_url("http://h/a/b?c").value();
    for (const auto& c : std::initializer_list<Case>{{"https://o/x", "https://o/x"},
                                                     {"//o/x", "http://o/x"},
                                                     {"/x", "http://h/x"},
                                                     {"x?y", "http://h/a/x?y"},
                                                     {"?y", "http://h/a/b?y"}}) {
        EXPECT_EQ(resolve_url(base, c.reference).value().text(), c.text);
    }
}

}  // namespace
}  // namespace bunraku::http
