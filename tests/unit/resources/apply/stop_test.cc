// SPDX-License-Identifier: Apache-2.0
// Tests a stop request during a run. The current resource is reported, the rest is skipped, and the
// report has the status failed. Puppet 8.11 ends in the same way, except that it leaves the child
// process running.
#include <csignal>

#include "machine.h"
#include "resources/apply/execution.h"

namespace bunraku::apply {
namespace {

struct Case {
    int signal;
    const char* text;
    Lines last;
};

TEST(Stop, EndsExecCommandImmediately) {
    for (const Case& c :
         {Case{SIGINT, "exit", {}}, Case{SIGTERM, "SIGTERM", {"Could not run: SIGTERM"}},
          Case{SIGHUP, "SIGHUP", {"Could not run: SIGHUP"}}}) {
        Machine m;
        StopRequest request;
        m.stop = [&] { return request; };
        m.fake.files.put("/bin/sleep", "", 0755);
        m.fake.processes.answer("/bin/sleep", [&](const sys::Command& command) {
            EXPECT_EQ(command.stop(), sys::Stop::No);
            request = {1, c.signal};
            EXPECT_EQ(command.stop(), sys::Stop::Ask);
            request.times = 2;
            EXPECT_EQ(command.stop(), sys::Stop::Kill);
            return sys::Outcome{.status = 143, .signal = SIGTERM, .stopped = true};
        });
        Lines want = {"Caught " + signal_name(c.signal) + "; stopping Exec[/bin/sleep]",
                      "Caught " + signal_name(c.signal) + "; stopping Exec[/bin/sleep]",
                      "/Stage[main]/Main/Exec[/bin/sleep]/returns: change from 'notrun' to ['0'] "
                      "failed: " +
                          std::string(c.text)};
        want.insert(want.end(), c.last.begin(), c.last.end());
        EXPECT_EQ(m.run(resource("Exec", "/bin/sleep", "") + resource("Notify", "after", "")),
                  want);
        EXPECT_EQ(m.status, "failed");
        EXPECT_EQ(m.exit_status, -1);
    }
}

TEST(Stop, WaitsForProviderProgram) {
    sys::FakeSystem fake;
    base::MemorySink log;
    Context context{.system = fake.system, .log = log};
    StopRequest request{1, SIGINT};
    context.stop = [&] { return request; };
    fake.processes.answer("apt-get", [&](const sys::Command& command) {
        EXPECT_EQ(command.stop(), sys::Stop::No);
        EXPECT_EQ(command.stop(), sys::Stop::No);
        request.times = 2;
        EXPECT_EQ(command.stop(), sys::Stop::Kill);
        return sys::Outcome{};
    });
    execute(context, {"apt-get", "install"});
    std::erase_if(log.records, [](const auto& d) { return d.level < base::Level::Notice; });
    ASSERT_EQ(log.records.size(), 2u);
    EXPECT_EQ(log.records[0].message,
              "Caught SIGINT; finishing a command. Send the signal again to stop it");
    EXPECT_EQ(log.records[1].message, "Caught SIGINT; stopping a command");
}

TEST(Stop, SkipsRemainingResources) {
    Machine m;
    bool stopped = false;
    m.stop = [&] { return stopped ? StopRequest{1, SIGTERM} : StopRequest{}; };
    m.fake.files.put("/bin/a", "", 0755);
    m.fake.processes.answer("/bin/a", [&](const sys::Command&) {
        stopped = true;
        return sys::Outcome{};
    });
    EXPECT_EQ(
        m.run(resource("Exec", "/bin/a", "") + resource("File", "/tmp/x", R"("content":"x")")),
        (Lines{"/Stage[main]/Main/Exec[/bin/a]/returns: executed successfully",
               "Could not run: SIGTERM"}));
    EXPECT_FALSE(m.fake.files.exists("/tmp/x"));
    EXPECT_EQ(m.status, "failed");
    EXPECT_EQ(m.exit_status, -1);
}

TEST(Stop, EndsPause) {
    sys::FakeSystem fake;
    base::MemorySink log;
    Context context{.system = fake.system, .log = log};
    const std::int64_t begin = fake.clock.now;
    context.stop = [&] {
        return fake.clock.now > begin + 1'000'000'000 ? StopRequest{1, SIGINT} : StopRequest{};
    };
    EXPECT_THROW(pause(context, 3600'000'000'000), Stopped);
    EXPECT_LT(fake.clock.now, begin + 2'000'000'000);
}

}  // namespace
}  // namespace bunraku::apply
