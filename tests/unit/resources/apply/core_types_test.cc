// SPDX-License-Identifier: Apache-2.0
// Tests the types of the core modules: messages and written files. The files and messages of Nagios
// and the errors of yumrepo are recorded from Puppet 8.11 with nagios_core 1.0.1 and yumrepo_core
// 3.0.1. The rest follows the source of the modules (selinux_core, zfs_core, zone_core 2.0.0).
#include "machine.h"
#include "resources/apply/types/nagios/definitions.h"

namespace bunraku::apply {
namespace {

std::string at(std::string_view rest) { return "/Stage[main]/Main/" + std::string(rest); }

TEST(Yumrepo, ChangesSectionsInPlace) {
    Machine m;
    m.fake.files.put("/etc/yum.repos.d/a.repo",
                     "# c\n[a]\nname=A\nenabled=1\n# in\nbaseurl=http://a/\n  http://b/\n\n[b]\n"
                     "name=B\n");
    const std::string catalog =
        resource("Yumrepo", "a", R"("enabled":true,"descr":"Aa","priority":5,"baseurl":"absent")") +
        resource("Yumrepo", "b", R"("ensure":"absent")") +
        resource("Yumrepo", "n",
                 R"("baseurl":"http://x/$releasever","password":"geheim","enabled":0,)"
                 R"("target":"foo")");
    EXPECT_EQ(m.run(catalog),
              (Lines{at("Yumrepo[a]/descr: descr changed 'A' to 'Aa'"),
                     at(R"(Yumrepo[a]/baseurl: undefined 'baseurl' from "http://a/\n  http://b/")"),
                     at("Yumrepo[a]/enabled: enabled changed '1' to 'True'"),
                     at("Yumrepo[a]/priority: defined 'priority' as 5"),
                     at("Yumrepo[b]/ensure: removed"), at("Yumrepo[n]/ensure: created")}));
    EXPECT_EQ(m.fake.files.read("/etc/yum.repos.d/a.repo").value_or(""),
              "# c\n[a]\nname=Aa\nenabled=True\n# in\n\npriority=5\n");
    EXPECT_EQ(m.fake.files.read("/etc/yum.repos.d/foo.repo").value_or(""),
              "[n]\nbaseurl=http://x/$releasever\nenabled=0\npassword=geheim\n");
    EXPECT_EQ(m.fake.files.stat("/etc/yum.repos.d/foo.repo")->mode, 0644U);
    EXPECT_EQ(m.run(catalog), Lines{});
    // Removing the last section of a file also removes the file.
    EXPECT_EQ(m.run(resource("Resources", "yumrepo", R"("purge":true)") +
                    resource("Yumrepo", "n", R"("ensure":"present")")),
              Lines{at("Yumrepo[a]/ensure: removed")});
    EXPECT_FALSE(m.fake.files.exists("/etc/yum.repos.d/a.repo"));
    EXPECT_TRUE(m.fake.files.exists("/etc/yum.repos.d/foo.repo"));
}

// Errors use the title that both names form.
TEST(Sshkey, ErrorsContainBothNames) {
    Machine m;
    EXPECT_EQ(m.run(resource("Sshkey", "there", R"("type":"rsa","host_aliases":"a,b")")),
              Lines{"Parameter host_aliases failed on Sshkey[there@ssh-rsa]: Aliases must be "
                    "provided as an array, not a comma-separated list"});
}

TEST(Yumrepo, PathsAndErrors) {
    Machine m;
    m.fake.files.put("/etc/yum.conf", "[main]\nreposdir=/nope, /srv/repos\n");
    m.fake.files.put("/srv/repos/old.repo", "[x]\nname=X\n");
    EXPECT_EQ(m.run(resource("Yumrepo", "x",
                             R"("descr":"X","target":"new.repo",)"
                             R"("ensure":"present")")),
              Lines{at("Yumrepo[x]/ensure: created")});
    EXPECT_FALSE(m.fake.files.exists("/srv/repos/old.repo"));
    EXPECT_EQ(m.fake.files.read("/srv/repos/new.repo").value_or(""), "[x]\nname=X\n");
    const auto refused = [&](const std::string& parameters) {
        const Lines said = m.run(resource("Yumrepo", "x", parameters));
        return said.size() == 1 ? said[0] : "";
    };
    EXPECT_EQ(refused(R"("baseurl":"foo")"),
              "Parameter baseurl failed on Yumrepo[x]: Validate method failed for class baseurl: "
              "Must be a valid URL");
    EXPECT_EQ(refused(R"("gpgkey":"http://a/ http://{b}/")"),
              "Parameter gpgkey failed on Yumrepo[x]: Validate method failed for class gpgkey: bad "
              "URI(is not URI?): \"http://{b}/\"");
    EXPECT_EQ(refused(R"("enabled":"maybe")"),
              "Parameter enabled failed on Yumrepo[x]: Invalid value \"maybe\". Valid values are "
              "absent. Valid values match /^(true|false|0|1|no|yes)$/.");
    m.fake.files.put("/srv/repos/bad.repo", "[y]\nnothing\n");
    EXPECT_EQ(m.run(resource("Yumrepo", "x", R"("descr":"Z")"))[0],
              "Could not prefetch yumrepo provider 'inifile': Can't parse line 'nothing' (file: "
              "/srv/repos/bad.repo, line: 2)");
}

TEST(Nagios, WritesDefinitionsLikeTheModule) {
    Machine m;
    m.fake.files.put("/etc/nagios/nagios_host.cfg",
                     "define host {\n host_name a\n address 1 ;x\n}\ndefine host{\n\n name tpl\n "
                     "register 0\n alias a\\;b\\;c;d\n}\n");
    m.fake.files.put("/etc/nagios/nagios_service.cfg",
                     "define service {\n  service_description foo\n use x ; c\n}\ndefine host {\n "
                     "host_name hh\n 2d_coords 1,2\n address \n}\n");
    const std::string catalog =
        resource("Nagios_command", "c", R"("command_line":"x;y;z")") +
        resource("Nagios_host", "a", R"("address":"2","alias":"al;b","parents":["p","q"])") +
        resource("Nagios_host", "b", R"("ensure":"present","use":"tpl","register":"0")") +
        resource("Nagios_service", "s",
                 R"("service_description":"S","host_name":"a","contacts":"absent")") +
        resource("Resources", "nagios_host", R"("purge":true)");
    EXPECT_EQ(m.run(catalog),
              (Lines{at("Nagios_command[c]/ensure: created"),
                     at("Nagios_host[a]/alias: defined 'alias' as 'al;b'"),
                     at("Nagios_host[a]/address: address changed '1' to '2'"),
                     at("Nagios_host[a]/parents: defined 'parents' as 'p'"),
                     at("Nagios_host[b]/ensure: created"), at("Nagios_service[s]/ensure: created"),
                     at("Nagios_host[tpl]/ensure: removed")}));
    const auto body = [&](const std::string& file) {
        const std::string text = m.fake.files.read("/etc/nagios/" + file).value_or("");
        return text.substr(std::min(text.find("define"), text.size()));
    };
    EXPECT_EQ(body("nagios_command.cfg"),
              "define command {\n\tcommand_line                   x\\;y;z\n"
              "\tcommand_name                   c\n}\n");
    EXPECT_EQ(body("nagios_host.cfg"),
              "define host {\n\taddress                        2\n"
              "\talias                          al\\;b\n\thost_name                      a\n"
              "\tparents                        p\n}\n\ndefine host {\n"
              "\tname                      b\n\tregister                       0\n"
              "\tuse                            tpl\n}\n");
    EXPECT_EQ(body("nagios_service.cfg"),
              "define service {\n\tservice_description            foo\n"
              "\tuse                            x\n}\n\ndefine host {\n"
              "\t2d_coords                      1,2\n\taddress                        \n"
              "\thost_name                      hh\n}\n\ndefine service {\n"
              "\t## --PUPPET_NAME-- (called '_naginator_name' in the manifest)                s\n"
              "\tcontacts                       absent\n\thost_name                      a\n"
              "\tservice_description            S\n}\n");
    // If there are several semicolons, the module escapes only the first one, so the rest is read
    // as a comment.
    EXPECT_EQ(m.run(catalog),
              Lines{at("Nagios_command[c]/command_line: command_line changed 'x;y' to 'x;y;z'")});
}

TEST(Nagios, RefusesInvalidDefinitions) {
    const auto error = [](std::string_view text) -> std::string {
        try {
            parse_nagios(text);
        } catch (const base::PuppetError& e) {
            return e.message();
        }
        return "";
    };
    EXPECT_EQ(error("# nothing\n\n"), "");
    EXPECT_EQ(error("bad\n"), "line 1: syntax error at value 'bad' : \n");
    EXPECT_EQ(error("define host {\n host_name a\n"), "line 3: Unexpected end of file");
    EXPECT_EQ(error("define host {\n}\n"), "line 2: syntax error at value '}' : \n");
}

TEST(Selinux, BooleansAndModules) {
    Machine m;
    m.fake.processes.programs = {"getsebool", "setsebool", "semodule"};
    m.fake.processes.answer("/usr/sbin/getsebool a", {.output = "a --> off\n"});
    m.fake.processes.answer("/usr/sbin/setsebool", {.status = 1, .output = "no\nmore\n"});
    m.fake.processes.answer("/usr/sbin/setsebool -P a on", sys::Outcome{});
    m.fake.processes.answer("/usr/sbin/getsebool b", {.output = "b --> on\n"});
    m.fake.processes.answer("/usr/sbin/semodule --list", {.output = "old 1.0\nnew\t2.0\n"});
    m.fake.processes.answer("/usr/sbin/semodule --remove old", sys::Outcome{});
    m.fake.processes.answer("/usr/sbin/semodule --install", sys::Outcome{});
    m.fake.processes.answer("/usr/sbin/semodule --upgrade", sys::Outcome{});
    const std::string text = [](std::string_view version) {
        const auto number = [](std::uint32_t n) {
            std::string out;
            for (int i = 0; i < 4; ++i) out += static_cast<char>(n >> (8 * i));
            return out;
        };
        const auto string = [&](std::string_view s) {
            return number(static_cast<std::uint32_t>(s.size())) + std::string(s);
        };
        return number(0xF97CFF8F) + number(1) + number(1) + std::string(8, 'x') +
               string("SE Linux Module") + string("h") + std::string(14, 'h') + string("new") +
               string(version);
    }("2.1");
    m.fake.files.put("/usr/share/selinux/targeted/new.pp", text);
    EXPECT_EQ(
        m.run(resource("Selboolean", "a", R"("value":true,"persistent":true)") +
              resource("Selboolean", "b", R"("value":"off")") +
              resource("Selmodule", "old", R"("ensure":"absent")") +
              resource("Selmodule", "other", R"("ensure":"present","selmodulepath":"/o.pp")") +
              resource("Selmodule", "new", R"("syncversion":true)")),
        (Lines{at("Selboolean[a]/value: value changed 'off' to 'on'"), "no",
               at("Selboolean[b]/value: change from 'on' to 'off' failed: no"),
               at("Selmodule[old]/ensure: removed"), at("Selmodule[other]/ensure: created"),
               at("Selmodule[new]/syncversion: syncversion changed 'false' to 'true'")}));
    const auto calls = m.fake.processes.texts();
    EXPECT_EQ(calls.back(),
              "/usr/sbin/semodule --upgrade "
              "/usr/share/selinux/targeted/new.pp");
}

TEST(Zones, ValidatesZonesAndPools) {
    Machine m;
    EXPECT_EQ(m.run(resource("Zone", "z", R"("path":"rel")")),
              Lines{"Parameter path failed on Zone[z]: The zone base must be fully qualified"});
    EXPECT_EQ(m.run(resource("Zone", "z", R"("path":"/z","ip":"x")")),
              Lines{"Validation of Zone[z] failed: ip must contain interface name and ip address "
                    "separated by a \":\""});
    EXPECT_EQ(m.run(resource("Zpool", "p", R"("disk":"a","mirror":"b c")")),
              Lines{"Validation of Zpool[p] failed: You cannot specify disk and mirror on this "
                    "type (only one)"});
    const Lines said = m.run(resource("Zone", "z", R"("path":"/z")") +
                             resource("Zfs", "p/a", R"("ensure":"present")"));
    EXPECT_EQ(said, (Lines{"Could not find a suitable provider for zone",
                           "Could not find a suitable provider for zfs"}));
}

TEST(Zpool, NeverChangesDevices) {
    Machine m;
    m.fake.processes.programs = {"zpool", "zfs"};
    m.fake.processes.answer("/usr/bin/zpool status -P tank",
                            {.output = "  pool: tank\nconfig:\n\n\tNAME  STATE\n\ttank  ONLINE\n"
                                       "\t  mirror-0  ONLINE\n\t    /x/a  ONLINE\n\t    /x/b  "
                                       "ONLINE\n\tlogs\n\t  /x/l  ONLINE\n"});
    m.fake.processes.answer("/usr/bin/zpool status -P new", {.status = 1});
    m.fake.processes.answer("/usr/bin/zpool create", sys::Outcome{});
    m.fake.processes.answer("/usr/bin/zfs list tank/a/b", {.status = 1});
    m.fake.processes.answer("/usr/bin/zfs create", sys::Outcome{});
    EXPECT_EQ(m.run(resource("Zpool", "tank", R"("mirror":["/x/b /x/a"],"log":"/x/l")")), Lines{});
    EXPECT_EQ(m.run(resource("Zpool", "tank", R"("mirror":["/x/b /x/c"])")),
              (Lines{"zpool mirror can't be changed. should be [\"/x/b /x/c\"], currently is "
                     "[\"/x/a /x/b\"]",
                     at("Zpool[tank]/mirror: change from ['/x/a /x/b'] to ['/x/b /x/c'] failed: "
                        "zpool mirror can't be changed. should be [\"/x/b /x/c\"], currently is "
                        "[\"/x/a /x/b\"]")}));
    EXPECT_EQ(m.run(resource("Zpool", "new", R"("raidz":["a b c"],"spare":["d"],"ashift":12)") +
                    resource("Zfs", "tank/a/b", R"("ensure":"present","quota":"1G")")),
              (Lines{at("Zpool[new]/ensure: created"), at("Zfs[tank/a/b]/ensure: created")}));
    const auto calls = m.fake.processes.texts();
    EXPECT_NE(
        std::ranges::find(calls, "/usr/bin/zpool create -o ashift=12 new raidz1 a b c spare d"),
        calls.end());
    EXPECT_EQ(calls.back(), "/usr/bin/zfs create -o quota=1G tank/a/b");
}

}  // namespace
}  // namespace bunraku::apply
