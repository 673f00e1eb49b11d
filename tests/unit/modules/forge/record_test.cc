#include "modules/forge/record.h"

#include <gtest/gtest.h>

#include "unit/modules/module/support.h"

namespace bunraku::forge {
namespace {

TEST(Record, RoundTrip) {
    auto t = module::inspect_tarball(
        module::test::release("acme-web", "1.5.2", R"([{"name":"acme-stdlib"}])"));
    ASSERT_TRUE(t) << t.error().message;
    const std::string bytes = make_record(*t, 10, "m", "s", 77);
    std::string_view rest = bytes;
    auto r = read_record(&rest);
    ASSERT_TRUE(r);
    EXPECT_EQ(r->slug(), "acme-web-1.5.2");
    EXPECT_EQ(r->created, 77);
    EXPECT_EQ(r->line(Index::V1Dependencies), R"([["acme/stdlib",">= 0.0.0"]])");
    EXPECT_EQ(r->line(Index::DependencyNames), "acme/stdlib");
    EXPECT_EQ(r->flags, unsigned{kHasTasks} | kHasPlans);
    EXPECT_EQ(rest.size(), r->fragments_size());
    for (std::size_t cut = 0; cut < bytes.size() - rest.size(); cut += 7) {
        std::string_view part = std::string_view(bytes).substr(0, cut);
        EXPECT_FALSE(read_record(&part));
    }
}

}  // namespace
}  // namespace bunraku::forge
