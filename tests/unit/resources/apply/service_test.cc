// SPDX-License-Identifier: Apache-2.0
// Tests init systems: their commands and responses. The command lines are those of the providers of
// Puppet 8.11.
#include <algorithm>

#include "core/base/text.h"
#include "machine.h"
#include "resources/apply/registry.h"

namespace bunraku::apply {
namespace {

struct Answer {
    const char* command;
    int status;
    const char* output;
};

struct Case {
    const char* name;
    const char* os;        // content of os-release
    const char* programs;  // paths of programs
    std::vector<Answer> answers;
    const char* parameters;
    Lines commands;
    Lines log;
};

TEST(ServiceProviders, RunExpectedCommands) {
    const char* const kDebian =
        "/usr/bin/kill /usr/sbin/update-rc.d /usr/sbin/invoke-rc.d /usr/sbin/service";
    const std::vector<Case> cases = {
        {"systemd does not know the unit",
         "ID=debian\nVERSION_ID=12\n",
         "/usr/bin/systemctl",
         {{"/usr/bin/systemctl is-enabled", 1, ""}},
         R"("enable":false)",
         {"/usr/bin/systemctl is-enabled -- web"},
         {}},
        {"systemd starts and enables",
         "ID=debian\nVERSION_ID=12\n",
         "/usr/bin/systemctl",
         {{"/usr/bin/systemctl is-active", 3, "inactive\n"},
          {"/usr/bin/systemctl is-enabled", 1, "disabled\n"},
          {"/usr/bin/systemctl", 0, ""}},
         R"("ensure":"running","enable":true)",
         {"/usr/bin/systemctl is-active -- web", "/usr/bin/systemctl is-enabled -- web",
          "/usr/bin/systemctl show --property=NeedDaemonReload -- web",
          "/usr/bin/systemctl unmask -- web", "/usr/bin/systemctl start -- web",
          "/usr/bin/systemctl is-enabled -- web", "/usr/bin/systemctl unmask -- web",
          "/usr/bin/systemctl enable -- web"},
         {"/Stage[main]/Main/Service[web]/ensure: ensure changed 'stopped' to 'running'"}},
        {"systemd masks",
         "ID=debian\nVERSION_ID=12\n",
         "/usr/bin/systemctl",
         {{"/usr/bin/systemctl is-enabled", 0, "enabled\n"}, {"/usr/bin/systemctl", 0, ""}},
         R"("enable":"mask")",
         {"/usr/bin/systemctl is-enabled -- web", "/usr/bin/systemctl cat -- web",
          "/usr/bin/systemctl disable -- web", "/usr/bin/systemctl mask -- web"},
         {"/Stage[main]/Main/Service[web]/enable: enable changed 'true' to 'mask'"}},
        {"systemd: a static unit is left",
         "ID=rocky\nVERSION_ID=9.3\n",
         "/usr/bin/systemctl",
         {{"/usr/bin/systemctl is-enabled", 0, "static\n"}},
         R"("enable":false)",
         {"/usr/bin/systemctl is-enabled -- web"},
         {}},
        {"redhat: chkconfig",
         "ID=rhel\nVERSION_ID=6.10\n",
         "/sbin/chkconfig /sbin/service /usr/bin/kill",
         {{"/sbin/chkconfig web", 1, ""},
          {"/sbin/chkconfig web on", 0, ""},
          {"/sbin/service web status", 3, ""},
          {"/sbin/", 0, ""}},
         R"("ensure":"running","enable":true)",
         {"/sbin/service web status", "/sbin/chkconfig web", "/sbin/service web start",
          "/sbin/chkconfig web", "/sbin/chkconfig --add web", "/sbin/chkconfig web on"},
         {"/Stage[main]/Main/Service[web]/ensure: ensure changed 'stopped' to 'running'"}},
        {"openrc",
         "ID=gentoo\n",
         "/sbin/rc-service /sbin/rc-update /bin/rc-status",
         {{"/bin/rc-status", 0,
           "Runlevel: default\n sshd   [ started ]\nDynamic Runlevel: hotplugged\n web  [ started "
           "]\n"},
          {"/sbin/rc-service web status", 0, ""},
          {"/sbin/", 0, ""}},
         R"("ensure":"running","enable":true)",
         {"/sbin/rc-service web status", "/bin/rc-status -C -a", "/sbin/rc-update -C add web"},
         {"/Stage[main]/Main/Service[web]/enable: enable changed 'false' to 'true'"}},
        {"debian: update-rc.d",
         "ID=devuan\n",
         kDebian,
         {{"/usr/sbin/invoke-rc.d", 101, ""}, {"/usr/sbin/", 0, ""}},
         R"("enable":true)",
         {"/usr/sbin/invoke-rc.d --quiet --query web start", "/usr/sbin/update-rc.d -f web remove",
          "/usr/sbin/update-rc.d web defaults"},
         {"/Stage[main]/Main/Service[web]/enable: enable changed 'false' to 'true'"}},
        {"commands of the resource go first",
         "ID=alpine\n",
         "/usr/bin/kill",
         {{"/my/status", 1, ""}, {"/my/start", 0, ""}},
         R"("ensure":"running","provider":"base","status":"/my/status","start":"/my/start")",
         {"/my/status", "/my/start"},
         {"/Stage[main]/Main/Service[web]/ensure: ensure changed 'stopped' to 'running'"}},
    };
    for (const Case& c : cases) {
        SCOPED_TRACE(c.name);
        Machine m;
        m.fake.files.put("/etc/os-release", c.os);
        if (std::string_view(c.programs).find("systemctl") != std::string_view::npos) {
            m.fake.files.put("/proc/1/comm", "systemd\n");
        }
        for (std::string_view p : base::words(c.programs, " ")) {
            m.fake.files.put(std::string(p), "", 0755);
            m.fake.processes.programs.emplace_back(p.substr(p.rfind('/') + 1));
        }
        for (const Answer& a : c.answers) {
            sys::Outcome o;
            o.status = a.status;
            o.output = a.output;
            m.fake.processes.answer(a.command, o);
        }
        EXPECT_EQ(m.run(resource("Service", "web", c.parameters)), c.log);
        EXPECT_EQ(m.fake.processes.texts(), c.commands);
    }
}

struct SystemdMachine : Machine {
    SystemdMachine() {
        fake.files.put("/etc/os-release", "ID=debian\nVERSION_ID=12\n");
        fake.files.put("/proc/1/comm", "systemd\n");
        fake.processes.programs.emplace_back("systemctl");
        for (const char* name : {"a", "b", "c"})
            fake.files.put("/lib/systemd/system/" + std::string(name) + ".service", "");
        fake.files.put("/usr/bin/systemctl", "", 0755);
    }
    void says(const std::string& arguments, int status, const std::string& output) {
        sys::Outcome o;
        o.status = status;
        o.output = output;
        fake.processes.answer("/usr/bin/systemctl " + arguments, o);
    }
};

const std::string kAsIs = R"("ensure":"running","enable":true)";

TEST(Service, QueriesSystemdOnceForAllUnits) {
    SystemdMachine m;
    m.says("is-active -- a b", 0, "active\nreloading\n");
    m.says("is-enabled -- a b", 0, "enabled\nstatic\n");
    // A script without a unit, a pattern, and a custom command are queried separately.
    m.says("is-active -- script", 0, "active\n");
    m.says("is-enabled -- script", 0, "enabled\n");
    m.fake.processes.answer("/own", sys::Outcome{});
    EXPECT_EQ(m.run(resource("Service", "a", kAsIs) + resource("Service", "b", kAsIs) +
                    resource("Service", "script", kAsIs) +
                    resource("Service", "c", R"("ensure":"running","status":"/own")")),
              Lines{});
    EXPECT_EQ(m.fake.processes.texts(),
              (Lines{"/usr/bin/systemctl is-active -- a b", "/usr/bin/systemctl is-enabled -- a b",
                     "/usr/bin/systemctl is-active -- script",
                     "/usr/bin/systemctl is-enabled -- script", "/own"}));
}

TEST(Service, QueriesSystemdAgainAfterAnyChange) {
    SystemdMachine m;
    m.says("", 0, "");
    m.says("is-active -- a b", 3, "inactive\nactive\n");
    EXPECT_EQ(
        m.run(resource("Service", "a", R"("ensure":"running")") +
              resource("Service", "b", R"("ensure":"running")")),
        (Lines{"/Stage[main]/Main/Service[a]/ensure: ensure changed 'stopped' to 'running'"}));
    const auto texts = m.fake.processes.texts();
    EXPECT_EQ(std::ranges::count(texts, "/usr/bin/systemctl is-active -- a b"), 2);
}

// Listing all services needs no catalog.
TEST(Service, QueriesListedUnitsSeparately) {
    SystemdMachine m;
    m.says("list-unit-files", 0, "a.service enabled enabled\nb.service static -\n");
    m.says("is-active", 3, "inactive\n");
    ReportSink sink(m.log, m.fake.clock);
    Context context{.system = m.fake.system, .log = sink};
    const auto units = make_resource(context, "service")->instances();
    ASSERT_EQ(units.size(), 2U);
    for (const auto& unit : units) {
        unit->watch("ensure");
        CurrentValues now;
        unit->retrieve(now);
        EXPECT_EQ(plain(now.get("ensure")), "stopped");
    }
}

TEST(Service, IgnoresResponseWithUnexpectedLines) {
    SystemdMachine m;
    m.says("is-active -- a b", 1, "active\n");
    m.says("is-active -- a", 0, "active\n");
    m.says("is-active -- b", 0, "active\n");
    EXPECT_EQ(m.run(resource("Service", "a", R"("ensure":"running")") +
                    resource("Service", "b", R"("ensure":"running")")),
              Lines{});
    EXPECT_EQ(m.fake.processes.texts(),
              (Lines{"/usr/bin/systemctl is-active -- a b", "/usr/bin/systemctl is-active -- a",
                     "/usr/bin/systemctl is-active -- b"}));
}

}  // namespace
}  // namespace bunraku::apply
