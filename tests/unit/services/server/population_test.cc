// SPDX-License-Identifier: Apache-2.0
// Tests that the population metrics follow the store in virtual time.
#include "services/server/population.h"

#include <filesystem>
#include <gtest/gtest.h>

#include "store/engine/service.h"
#include "testing/simulation.h"

namespace bunraku::server {
namespace {

using namespace std::chrono_literals;

TEST(Population, CombinesRequestsAndLimitsItsShareOfTime) {
    sys::Simulation world(1);
    const auto executor = world.executor({.name = "aside"});
    int runs = 0;
    sys::Duration cost{0};
    BackgroundCount count(*executor, [&] {
        ++runs;
        if (cost.count() > 0) world.sleep(cost);
    });
    for (int i = 0; i < 5; ++i) count.request();
    world.run_for(300ms);
    EXPECT_EQ(runs, 1);
    world.run_for(1h);
    EXPECT_EQ(runs, 1);  // nothing is counted without a request

    cost = 2s;
    count.request();
    world.run_for(4s);
    EXPECT_EQ(runs, 2);
    cost = {};
    count.request();
    world.run_for(90s);  // a count that took 2 s is not repeated for 100 s
    EXPECT_EQ(runs, 2);
    world.run_for(20s);
    EXPECT_EQ(runs, 3);
    count.request();
    world.run_for(2s);
    EXPECT_EQ(runs, 4);
    executor->stop();
}

TEST(Population, FollowsCommandsWithoutBeingRead) {
    std::string folder = std::filesystem::temp_directory_path() / "bunraku-population-XXXXXX";
    ASSERT_TRUE(mkdtemp(folder.data()));
    {
        sys::Simulation world(1);
        base::Counters counters;
        const auto aside = world.executor({.name = "aside"});
        Population population(*aside);
        store::ServiceOptions options;
        options.database = folder + "/s";
        options.queue_folder = folder + "/q";
        options.durable = false;
        options.runtime = &world;
        options.changed = [&] { population.changed(); };
        auto service = store::Service::start(std::move(options));
        ASSERT_TRUE(service) << service.error().message;
        store::QueryEngineOptions query;
        query.runtime = &world;
        population.start(counters, std::make_shared<store::QueryEngine>(folder + "/s", query));
        world.run_for(5s);
        const auto submit = [&](store::CommandHeader header, std::string body) {
            auto ticket = (*service)->submit(header, std::move(body));
            ASSERT_TRUE(ticket) << ticket.error().message;
            EXPECT_TRUE((*service)->drain(30s));
        };
        store::CommandHeader facts;
        facts.kind = store::CommandKind::ReplaceFacts;
        facts.version = 5;
        facts.certname = "n";
        submit(facts, R"({"certname":"n","environment":"e","producer":"p","producer_timestamp":)"
                      R"("2023-11-14T22:13:21Z","values":{"a":1}})");
        world.run_for(3s);
        EXPECT_EQ(counters.value("bunraku_population_active_nodes"), 1);
        EXPECT_EQ(counters.value("bunraku_population_inactive_nodes"), 0);
        world.run_for(1min);

        EXPECT_TRUE((*service)->delete_node("n").value_or(false));
        world.run_for(3s);
        EXPECT_EQ(counters.value("bunraku_population_active_nodes"), 0);
        (*service)->stop();
        aside->stop();
    }
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace bunraku::server
