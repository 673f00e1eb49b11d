// Tests the limits of the resolver with a forge that describes an endless set of modules.
#include "modules/module/resolve.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace bunraku::module {
namespace {

Candidate candidate(const std::string& name, const std::vector<std::string>& needs) {
    Candidate out;
    out.name = name;
    out.version = *base::SemVer::parse("1.0.0");
    for (const std::string& need : needs) {
        out.constraints.push_back({name, need, ">= 0.0.0", base::SemVerRange::parse(">= 0.0.0")});
        out.dependencies.push_back({need, {}});
    }
    return out;
}

/// Returns the result for a module whose dependencies `needs` generates.
std::string outcome(const std::function<std::vector<std::string>(int)>& needs, int* asked) {
    Graph graph("a-m0", ">= 0.0.0");
    const Source source = [&](const std::string& name) -> base::Result<std::vector<Candidate>> {
        ++*asked;
        return std::vector{candidate(name, needs(std::stoi(name.substr(3))))};
    };
    const auto done = graph.query({source});
    if (!done) return done.error().message;
    return fmt::format("{} releases", graph.resolve().releases.size());
}

TEST(Resolve, LimitsWork) {
    int asked = 0;
    EXPECT_EQ(outcome(
                  [](int i) {
                      return i < 150 ? std::vector{fmt::format("a-m{}", i + 1)}
                                     : std::vector<std::string>{};
                  },
                  &asked),
              "151 releases");
    EXPECT_EQ(asked, 151);
    // Many dependencies on one level, and many levels.
    asked = 0;
    EXPECT_EQ(outcome(
                  [](int i) {
                      std::vector<std::string> out;
                      for (int k = 1; i == 0 && k <= 3000; ++k)
                          out.push_back(fmt::format("a-m{}", k));
                      return out;
                  },
                  &asked),
              "a-m0 depends on more than 1000 modules, counting what those depend on: that is the "
              "limit");
    EXPECT_EQ(asked, 1000);
    asked = 0;
    EXPECT_EQ(outcome([](int i) { return std::vector{fmt::format("a-m{}", i + 1)}; }, &asked),
              "the dependencies of a-m0 are nested more than 200 levels deep: that is the limit");
    EXPECT_LE(asked, 250);
}

}  // namespace
}  // namespace bunraku::module
