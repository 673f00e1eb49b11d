// SPDX-License-Identifier: Apache-2.0
// A store server and its clients in one process and one thread, in virtual time. Whatever the
// network does, acknowledged data must be stored in the end. The same seed must give the same run.
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>
#include <set>

#include "services/server/instance.h"
#include "testing/memory_network.h"

namespace bunraku::server {
namespace {

using namespace std::chrono_literals;

class Fleet {
public:
    explicit Fleet(std::uint64_t seed) : world(seed), network(world) {
        std::string base = std::filesystem::exists("/dev/shm") ? "/dev/shm" : "/tmp";
        std::string name = base + "/bunraku-fleet-XXXXXX";
        folder_ = ::mkdtemp(name.data());
        settings_.set("statedir", folder_ + "/state");
        settings_.set("ssldir", folder_ + "/ssl");
    }
    ~Fleet() {
        if (store_) store_->stop();
        store_.reset();
        std::filesystem::remove_all(folder_);
    }

    void start_store() {
        InstanceOptions options;
        options.roles = {"store"};
        options.listeners = {{"store", 8081, true}};
        options.version = "1";
        options.network = &network.host("store");
        auto started = Instance::start(settings_, log_, options);
        ASSERT_TRUE(started) << started.error().message;
        store_ = std::move(*started);
    }

    /// Sends facts with increasing numbers, some of them for a node that only this agent uses.
    /// Retries each request until it is acknowledged or given up.
    void agent(const std::string& name) {
        http::ClientOptions options;
        options.network = &network.host(name, http::identity_of(name));
        options.timeout = 4s;
        options.connect_timeout = 2s;
        http::Client client(options);
        for (int serial = 1; serial <= 5; ++serial) {
            world.sleep(std::chrono::milliseconds(world.random(2000)));
            std::string node = world.chance(300'000) ? fmt::format("{}-{}", name, serial) : name;
            auto request = command(node, serial);
            ++sent[node][serial];
            for (int attempt = 0; attempt < 6; ++attempt) {
                auto answer = client.send(request);
                world.note(
                    fmt::format("{} sends {} of {}: {}", name, serial, node,
                                answer ? std::to_string(answer->status) : answer.error().message));
                if (answer && answer->status == 200) {
                    acknowledged[node] = serial;
                    break;
                }
                if (!answer) ++failures;
                world.sleep(std::chrono::milliseconds(100 + world.random(1000)));
            }
        }
    }
    http::ClientRequest command(const std::string& node, int serial) {
        http::ClientRequest out;
        std::string stamp = fmt::format("2024-01-01T00:00:{:02}.000Z", serial);
        out.method = "POST";
        out.url = fmt::format(
            "https://store:8081/pdb/cmd/v1?command=replace_facts&version=5&"
            "certname={}&producer-timestamp={}{}",
            node, stamp, world.chance(200'000) ? "&secondsToWaitForCompletion=2" : "");
        out.headers.set("Content-Type", "application/json");
        out.body =
            fmt::format(R"({{"certname":"{}","environment":"production","producer_timestamp":"{}",)"
                        R"("producer":"server","values":{{"serial":{},"padding":"{}"}}}})",
                        node, stamp, serial, std::string(world.random(3000), 'x'));
        return out;
    }
    /// Injects network faults now and then.
    void inject_faults() {
        for (int i = 0; i < 3; ++i) {
            world.sleep(std::chrono::milliseconds(500 + world.random(4000)));
            std::string victim = fmt::format("agent{}", 1 + world.random(4));
            network.part(victim, "store");
            world.sleep(std::chrono::milliseconds(world.random(8000)));
            network.join(victim, "store");
        }
    }

    /// Returns the numbers in the store, by node.
    std::map<std::string, int> stored() {
        std::map<std::string, int> out;
        http::ClientOptions options;
        options.network = &network.host("asker", http::identity_of("asker"));
        auto answer = http::Client(options).get(
            "https://store:8081/pdb/query/v4/facts?query=%5B%22%3D%22%2C%22name%22%2C%22serial%22"
            "%5D");
        EXPECT_TRUE(answer && answer->status == 200)
            << (answer ? answer->body : answer.error().message);
        if (!answer) return out;
        // {"certname":"agent1",.. "value":5}
        std::string_view text = answer->body;
        for (std::size_t at = 0; (at = text.find("\"certname\":\"", at)) != text.npos;) {
            at += 12;
            std::string node(text.substr(at, text.find('"', at) - at));
            at = text.find("\"value\":", at) + 8;
            out[node] = std::atoi(text.data() + at);
        }
        return out;
    }

    void run() {
        network.faults.most_delay = 20ms;
        network.faults.short_reads = network.faults.short_writes = 200'000;
        network.faults.resets = 20'000;
        network.faults.refusals = 30'000;
        start_store();
        {
            auto agents = world.executor({.threads = 5, .name = "agents"});
            for (int i = 1; i <= 4; ++i) {
                agents->post([this, i] { agent(fmt::format("agent{}", i)); });
            }
            agents->post([this] { inject_faults(); });
            agents->stop();
        }
        network.faults = {};
        // Longer than the delay of any retry.
        world.run_for(5s);
        for (const auto& [node, serial] : stored()) world.note(fmt::format("{}={}", node, serial));
    }

    sys::Simulation world;
    http::MemoryNetwork network;
    std::map<std::string, std::map<int, int>> sent;
    std::map<std::string, int> acknowledged;
    int failures = 0;

private:
    std::string folder_;
    base::MemorySink log_;
    config::Settings settings_ = config::Settings::defaults();
    std::unique_ptr<Instance> store_;
};

TEST(Fleet, AcknowledgedDataSurvivesNetworkFaults) {
    int failures = 0;
    std::size_t acknowledged = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        Fleet fleet(seed);
        fleet.run();
        auto stored = fleet.stored();
        for (const auto& [node, serial] : fleet.acknowledged) {
            ASSERT_TRUE(stored.contains(node)) << "seed " << seed << ", " << node;
            EXPECT_GE(stored[node], serial) << "seed " << seed << ", " << node;
        }
        for (const auto& [node, serial] : stored) {
            EXPECT_TRUE(fleet.sent[node].contains(serial)) << "seed " << seed << ", " << node;
        }
        failures += fleet.failures;
        acknowledged += fleet.acknowledged.size();
        if (HasFailure()) return;
    }
    // There were enough network faults for the test to be useful.
    EXPECT_GT(failures, 400);
    EXPECT_GT(acknowledged, 1500U);
}

TEST(Fleet, SameSeedGivesSameRun) {
    std::set<std::uint64_t> stories;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        Fleet first(seed), again(seed);
        first.run();
        again.run();
        ASSERT_EQ(first.world.events(), again.world.events()) << "seed " << seed;
        EXPECT_GT(first.world.events().size(), 100U);
        stories.insert(first.world.events_digest());
    }
    EXPECT_EQ(stories.size(), 10U);
}

TEST(Fleet, IdleServerDoesNothing) {
    const std::string base = std::filesystem::exists("/dev/shm") ? "/dev/shm" : "/tmp";
    std::string folder = base + "/bunraku-rest-XXXXXX";
    ASSERT_TRUE(::mkdtemp(folder.data()));
    {
        sys::Simulation world(1, {.reports_file_changes = true});
        http::MemoryNetwork network(world);
        auto settings = config::Settings::defaults();
        for (const char* name : {"confdir", "vardir", "rundir", "logdir", "ssldir", "cadir",
                                 "statedir", "codedir", "environmentpath"})
            settings.set(name, folder + "/" + name);
        settings.set("certname", "server");
        base::MemorySink log;
        InstanceOptions options;
        options.roles = {"ca", "store", "compiler", "forge"};
        options.listeners = {{"server", 8140, true}};
        options.version = "1";
        options.network = &network.host("server");
        auto server = Instance::start(settings, log, options);
        ASSERT_TRUE(server) << server.error().message;
        http::ClientOptions requester;
        requester.network = &network.host("asker", http::identity_of("asker"));
        const auto answer = http::Client(requester).get("https://server:8140/status/v1/simple");
        EXPECT_TRUE(answer && answer->status == 200);
        // Idle connections close, rate counters become zero, and old data is removed.
        world.run_for(5min);
        const auto before = world.turns();
        world.run_for(40min);
        // The hourly garbage collector, and this thread's own timer.
        EXPECT_LE(world.turns() - before, 2U);
        (*server)->stop();
    }
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace bunraku::server
