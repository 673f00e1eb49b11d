// SPDX-License-Identifier: Apache-2.0
#include "services/lsp/framing.h"

#include <gtest/gtest.h>

#include "services/lsp/message.h"
#include "services/lsp/uri.h"

namespace bunraku::lsp {
namespace {

TEST(FramingTest, SplitsAStreamThatArrivesByteByByte) {
    const std::string stream =
        framed("{}") + "content-length: 3\r\nContent-Type: application/vscode-jsonrpc\r\n\r\n[1]";
    FrameReader reader;
    std::vector<std::string> found;
    for (const char c : stream) {
        reader.append({&c, 1});
        auto next = reader.next();
        ASSERT_TRUE(next);
        if (*next) found.push_back(**next);
    }
    EXPECT_EQ(found, (std::vector<std::string>{"{}", "[1]"}));
}

TEST(FramingTest, RejectsHeadersThatAreNotValid) {
    const std::pair<std::string, std::string> cases[] = {
        {"\r\n\r\n", "A message has no Content-Length"},
        {"Content-Length: x\r\n\r\n", "Invalid Content-Length 'x'"},
        {"Content-Length: -1\r\n\r\n", "Invalid Content-Length '-1'"},
        {"nonsense\r\n\r\n", "Invalid header line 'nonsense'"},
        {"Content-Length: 99999999999\r\n\r\n",
         "A message of 99999999999 bytes exceeds the limit of 67108864 bytes"},
        {std::string(5000, 'x'), "A header exceeds 4096 bytes"},
    };
    for (const auto& [header, message] : cases) {
        FrameReader reader;
        reader.append(header);
        const auto next = reader.next();
        ASSERT_FALSE(next) << header;
        EXPECT_EQ(next.error().message, message);
    }
}

TEST(MessageTest, DistinguishesRequestsNotificationsAndResponses) {
    const auto request = parse_message(R"({"jsonrpc":"2.0","id":"a","method":"m","params":{}})");
    ASSERT_TRUE(request);
    EXPECT_EQ(request->kind, Message::Kind::Request);
    EXPECT_EQ(request->id, "\"a\"");
    EXPECT_EQ(parse_message(R"({"method":"m"})")->kind, Message::Kind::Notification);
    EXPECT_EQ(parse_message(R"({"id":1,"result":null})")->kind, Message::Kind::Response);
    EXPECT_EQ(parse_message("{").error().code, ErrorCode::ParseError);
    EXPECT_EQ(parse_message("[]").error().code, ErrorCode::InvalidRequest);
    EXPECT_EQ(parse_message(R"({"id":[],"method":"m"})").error().code, ErrorCode::InvalidRequest);
    EXPECT_EQ(parse_message(R"({"id":1,"method":2})").error().id, "1");
}

TEST(UriTest, ConvertsPathsBothWays) {
    EXPECT_EQ(uri_of_path("/a b/ü.pp"), "file:///a%20b/%C3%BC.pp");
    EXPECT_EQ(path_of_uri("file:///a%20b/%C3%BC.pp"), "/a b/ü.pp");
    EXPECT_EQ(path_of_uri("file://localhost/a/../b"), "/b");
    EXPECT_EQ(path_of_uri("untitled:Untitled-1"), std::nullopt);
    EXPECT_EQ(path_of_uri("file:///a%0"), std::nullopt);
    EXPECT_EQ(path_of_uri("file:///a%00b"), std::nullopt);
}

}  // namespace
}  // namespace bunraku::lsp
