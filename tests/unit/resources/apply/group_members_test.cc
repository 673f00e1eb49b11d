// SPDX-License-Identifier: Apache-2.0
// Tests the members of groups. The commands and messages are those of OpenVox 8.28 (groupadd).
#include <algorithm>

#include "machine.h"

namespace bunraku::apply {
namespace {

struct Distribution {
    const char *os_release, *redhat_release;
};
constexpr Distribution kEl10{
    "NAME=\"AlmaLinux\"\nID=\"almalinux\"\nID_LIKE=\"rhel fedora\"\nVERSION_ID=\"10.0\"\n",
    "AlmaLinux release 10.0 (Purple Lion)\n"};
constexpr const char* kMembersOfG = "/Stage[main]/Main/Group[g]/members: ";

struct GroupMachine : Machine {
    explicit GroupMachine(const Distribution& os) {
        fake.files.put("/etc/os-release", os.os_release);
        if (*os.redhat_release) fake.files.put("/etc/redhat-release", os.redhat_release);
        for (const char* program : {"groupadd", "groupdel", "groupmod", "usermod"}) {
            fake.files.put(std::string("/usr/sbin/") + program, "");
            fake.processes.programs.emplace_back(program);
        }
        fake.processes.answer("", sys::Outcome{});
        for (std::uint32_t id = 1; const char* name : {"a", "b", "c"})
            fake.users.users.push_back({name, "x", "", "/", "/bin/sh", id++, 1});
        fake.users.groups.push_back({"g", 7, {"b", "c"}});
    }
    Lines apply(const std::string& parameters) { return run(resource("group", "g", parameters)); }
    Lines commands() const {
        Lines out;
        for (const auto& text : fake.processes.texts())
            out.push_back(text.substr(text.rfind('/', text.find(' ')) + 1));
        return out;
    }
};

TEST(GroupMembers, Added) {
    GroupMachine machine(kEl10);
    EXPECT_EQ(machine.apply(R"("members":["a","b"])"),
              Lines{std::string(kMembersOfG) + "members changed b,c to a,b,c"});
    EXPECT_EQ(machine.commands(), Lines{"groupmod -aU a,b g"});
}

TEST(GroupMembers, PresentOnesNeedNoChange) {
    GroupMachine machine(kEl10);
    EXPECT_EQ(machine.apply(R"("members":["c"])"), Lines{});
    EXPECT_EQ(machine.apply(R"("members":["c","b"],"auth_membership":true)"), Lines{});
    EXPECT_EQ(machine.commands(), Lines{});
}

TEST(GroupMembers, OthersAreRemovedWithAuthMembership) {
    GroupMachine machine(kEl10);
    EXPECT_EQ(machine.apply(R"("members":["c","a"],"auth_membership":true)"),
              Lines{std::string(kMembersOfG) + "members changed b,c to a,c"});
    EXPECT_EQ(machine.commands(),
              (Lines{"usermod -rG g b", "usermod -rG g c", "groupmod -aU c,a g"}));
}

TEST(GroupMembers, OfANewGroup) {
    GroupMachine machine(kEl10);
    machine.fake.users.groups.pop_back();
    EXPECT_EQ(machine.apply(R"("ensure":"present","members":["a"])"),
              Lines{"/Stage[main]/Main/Group[g]/ensure: created"});
    EXPECT_EQ(machine.commands(), (Lines{"groupadd g", "groupmod -aU a g"}));
}

TEST(GroupMembers, MustExist) {
    GroupMachine machine(kEl10);
    EXPECT_EQ(machine.apply(R"("members":["nobody-here"])"),
              (Lines{"can't find user for nobody-here",
                     std::string(kMembersOfG) + "change from b,c to b,c,nobody-here failed: "
                                                "can't find user for nobody-here"}));
    EXPECT_EQ(machine.commands(), Lines{});
}

TEST(GroupMembers, AreNotManagedElsewhere) {
    for (const Distribution& os :
         {Distribution{"ID=debian\nVERSION_ID=13\n", ""},
          Distribution{"NAME=\"Fedora Linux\"\nID=fedora\nVERSION_ID=39\n",
                       "Fedora release 39 (Thirty Nine)\n"},
          Distribution{
              "NAME=\"AlmaLinux\"\nID=\"almalinux\"\nID_LIKE=\"rhel fedora\"\nVERSION_ID=\"9.4\"\n",
              "AlmaLinux release 9.4 (Seafoam Ocelot)\n"}}) {
        GroupMachine machine(os);
        EXPECT_EQ(machine.apply(R"("members":["a"])"), Lines{}) << os.os_release;
        EXPECT_EQ(machine.commands(), Lines{}) << os.os_release;
    }
    GroupMachine fedora(Distribution{"NAME=\"Fedora Linux\"\nID=fedora\nVERSION_ID=40\n",
                                     "Fedora release 40 (Forty)\n"});
    fedora.apply(R"("members":["a"])");
    EXPECT_EQ(fedora.commands(), Lines{"groupmod -aU a g"});
}

}  // namespace
}  // namespace bunraku::apply
