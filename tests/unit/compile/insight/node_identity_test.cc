// SPDX-License-Identifier: Apache-2.0
#include "compile/insight/node_identity.h"

#include <gtest/gtest.h>

#include "core/base/arena.h"
#include "core/value/rich_data.h"

namespace bunraku::insight {
namespace {

TEST(NodeIdentity, ReplacesOnlyWholeWords) {
    base::Arena arena;
    const auto facts = value::parse_json(
        arena,
        R"({"networking":{"fqdn":"web1.example.org","hostname":"web1","ip":"10.0.0.1",
            "interfaces":{"lo":{"ip":"127.0.0.1"},"eth1":{"ip":"10.0.1.1"}}}})");
    ASSERT_TRUE(facts);
    const NodeIdentity node("web1.example.org", *facts);
    const std::pair<const char*, const char*> cases[] = {
        {"", ""},
        {"web1.example.org", "%{trusted.certname}"},
        {"web1", "%{facts.networking.hostname}"},
        {"web10 web1 xweb1", "web10 %{facts.networking.hostname} xweb1"},
        {"/srv/web1/web1_data",
         "/srv/%{facts.networking.hostname}/%{facts.networking.hostname}_data"},
        {"10.0.0.1 10.0.0.12 110.0.0.1", "%{facts.networking.ip} 10.0.0.12 110.0.0.1"},
        {"10.0.1.1:80", "%{facts.networking.interfaces.eth1.ip}:80"},
        {"127.0.0.1", "127.0.0.1"},
        {"\033[31mweb1\033[0m", "\033[31m%{facts.networking.hostname}\033[0m"},
        {"5mweb1", "5mweb1"},
    };
    for (const auto& [text, expected] : cases) EXPECT_EQ(node.without(text), expected) << text;
}

TEST(NodeIdentity, UsesNameWithoutFacts) {
    const NodeIdentity node("db1.example.org", {});
    EXPECT_EQ(node.without("db1 db1.example.org"), "%{trusted.hostname} %{trusted.certname}");
    EXPECT_EQ(NodeIdentity().without("db1"), "db1");
}

}  // namespace
}  // namespace bunraku::insight
