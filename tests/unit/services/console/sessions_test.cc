// SPDX-License-Identifier: Apache-2.0
#include "services/console/sessions.h"

#include <gtest/gtest.h>

namespace bunraku::console {
namespace {

const Viewer kAlice{"alice", Right::View, {}, Viewer::Via::Token};

TEST(Sessions, EndWhenTheyAreIdleOrOld) {
    Sessions sessions;
    const auto id = sessions.start(kAlice, "digest", 1000).value();
    EXPECT_EQ(id.size(), 64u);
    const auto session = sessions.find(id, 1001);
    ASSERT_TRUE(session);
    EXPECT_EQ(session->viewer, kAlice);
    EXPECT_EQ(session->token_digest, "digest");
    EXPECT_EQ(session->csrf.size(), 64u);
    EXPECT_NE(session->csrf, id);
    EXPECT_FALSE(sessions.find("", 1001));
    EXPECT_FALSE(sessions.find(id.substr(1), 1001));
    EXPECT_FALSE(sessions.find(id, 1001 + Sessions::kIdle));
    // The session has ended, even if the clock goes back.
    EXPECT_FALSE(sessions.find(id, 1001));

    const auto used = sessions.start(kAlice, "", 0).value();
    for (std::int64_t now = 0; now < Sessions::kLongest; now += Sessions::kIdle / 2)
        EXPECT_TRUE(sessions.find(used, now));
    EXPECT_FALSE(sessions.find(used, Sessions::kLongest));
}

TEST(Sessions, ChecksDoNotProlongThem) {
    Sessions sessions;
    const auto id = sessions.start(kAlice, "", 0).value();
    EXPECT_TRUE(sessions.find(id, Sessions::kIdle - 1, SessionUse::Check));
    EXPECT_FALSE(sessions.find(id, Sessions::kIdle, SessionUse::Check));
    EXPECT_FALSE(sessions.find(id, 1));
}

TEST(Sessions, EndOnRequest) {
    Sessions sessions;
    const auto first = sessions.start(kAlice, "", 0).value();
    const auto second = sessions.start(kAlice, "", 0).value();
    EXPECT_NE(first, second);
    sessions.end(first);
    EXPECT_FALSE(sessions.find(first, 1));
    EXPECT_TRUE(sessions.find(second, 1));
}

TEST(Sessions, AreLimited) {
    Sessions sessions;
    Viewer viewer = kAlice;
    const auto oldest = sessions.start(viewer, "", 0).value();
    viewer.name = "second";
    const auto second = sessions.start(viewer, "", 1).value();
    for (std::size_t i = 2; i <= Sessions::kMost; ++i) {
        viewer.name = std::to_string(i);
        ASSERT_TRUE(sessions.start(viewer, "", 2));
    }
    EXPECT_EQ(sessions.size(), Sessions::kMost);
    EXPECT_FALSE(sessions.find(oldest, 3));
    EXPECT_TRUE(sessions.find(second, 3));
}

TEST(Sessions, AViewerEndsOnlyTheOwnOnes) {
    Sessions sessions;
    Viewer viewer = kAlice;
    const auto own = sessions.start(viewer, "", 0).value();
    viewer.name = "bob";
    const auto bob = sessions.start(viewer, "", 0).value();
    for (std::size_t i = 0; i < Sessions::kMostOfViewer; ++i)
        ASSERT_TRUE(sessions.start(kAlice, "", 1));
    EXPECT_EQ(sessions.size(), Sessions::kMostOfViewer + 1);
    EXPECT_FALSE(sessions.find(own, 2));
    EXPECT_TRUE(sessions.find(bob, 2));
}

TEST(Sessions, AcceptALinkOnce) {
    Sessions sessions;
    EXPECT_FALSE(sessions.redeem("", 0));
    const auto old = sessions.make_link(0).value();
    const auto link = sessions.make_link(0).value();
    EXPECT_FALSE(sessions.redeem(old, 1));
    EXPECT_FALSE(sessions.redeem(link.substr(1), 1));
    EXPECT_TRUE(sessions.redeem(link, Sessions::kLinkLives - 1));
    EXPECT_FALSE(sessions.redeem(link, 1));
}

TEST(Sessions, RefuseALinkThatHasExpired) {
    Sessions sessions;
    const auto link = sessions.make_link(100).value();
    EXPECT_FALSE(sessions.redeem(link, 100 + Sessions::kLinkLives));
}

}  // namespace
}  // namespace bunraku::console
