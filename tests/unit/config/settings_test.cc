#include "config/settings.h"

#include <gtest/gtest.h>

namespace bunraku::config {
namespace {

Settings root_settings() { return Settings::defaults().as_all_in_one(); }

// Values of `puppet config print` (8.11, root).
TEST(Settings, Defaults) {
    Settings s = root_settings();
    s.set("certname", "n.example.org");
    const std::pair<const char*, const char*> cases[] = {
        {"confdir", "/etc/puppetlabs/puppet"},
        {"codedir", "/etc/puppetlabs/code"},
        {"vardir", "/opt/puppetlabs/puppet/cache"},
        {"statedir", "/opt/puppetlabs/puppet/cache/state"},
        {"config", "/etc/puppetlabs/puppet/puppet.conf"},
        {"basemodulepath", "/etc/puppetlabs/code/modules:/opt/puppetlabs/puppet/modules"},
        {"hostcert", "/etc/puppetlabs/puppet/ssl/certs/n.example.org.pem"},
        {"pidfile", "/var/run/puppetlabs/user.pid"},
        {"ca_name", "Puppet CA: n.example.org"},
        {"runinterval", "1800"},
        {"splaylimit", "1800"},
        {"ca_ttl", "157680000"},
        {"maxwaitforcert", "unlimited"},
        {"serverport", "8140"},
        {"ca_port", "8140"},
        {"strict", "error"},
        {"noop", "false"},
        {"environment", "production"},
        {"ldapstring", "(&(objectclass=puppetClient)(cn=%s))"},
    };
    for (auto [name, text] : cases) EXPECT_EQ(s.text(name), text) << name;
    EXPECT_FALSE(s.get("no_such_setting").has_value());
    EXPECT_TRUE(s.is_nil("manifest"));
    EXPECT_EQ(s.list("basemodulepath").size(), 2u);
}

TEST(Settings, CommandLineOverSectionOverMainOverDefault) {
    Settings s = root_settings();
    ASSERT_TRUE(s.load_text("noop = true\n"
                            "[main]\n  # comment\n vardir = /srv/$environment/x { owner = root }\n"
                            "server = main.example.org\nruninterval=2h\n"
                            "[agent]\nserver=agent.example.org\n"
                            "[server]\nserver=server.example.org\n",
                            "puppet.conf", "agent")
                    .has_value());
    EXPECT_EQ(s.text("server"), "agent.example.org");
    EXPECT_EQ(s.text("runinterval"), "7200");
    EXPECT_EQ(s.text("vardir"), "/srv/$environment/x");
    EXPECT_TRUE(s.boolean("noop"));
    EXPECT_EQ(s.text("pidfile"), "/var/run/puppetlabs/agent.pid");
    s.set("server", "command.example.org");
    s.set("my_own", "1");
    s.set("serverport", "9000");
    EXPECT_EQ(s.text("server"), "command.example.org");
    EXPECT_EQ(s.text("report_server"), "command.example.org");
    EXPECT_EQ(s.text("my_own"), "1");
    EXPECT_EQ(s.integer("masterport"), 9000);
    EXPECT_TRUE(s.is_set("server"));
    EXPECT_FALSE(s.is_set("ca_server"));
}

TEST(Settings, BadInput) {
    Settings s = root_settings();
    auto bad = s.load_text("[main]\nthis is nonsense\n", "/etc/p.conf", "user");
    ASSERT_FALSE(bad.has_value());
    EXPECT_EQ(bad.error().message, "Could not match line this is nonsense (file: /etc/p.conf)");
    s.set("vardir", "$statedir/x");
    EXPECT_FALSE(s.text("vardir").empty() && s.text("statedir").empty());
    s.set("certname", "$certname");
    EXPECT_EQ(s.text("certname"), "");
}

TEST(Settings, TableIsSortedAndDocumented) {
    std::string_view last;
    for (const SettingSpec& spec : all_settings()) {
        EXPECT_LT(last, spec.name);
        EXPECT_FALSE(spec.doc.empty()) << spec.name;
        EXPECT_EQ(find_setting(spec.name), &spec);
        last = spec.name;
    }
    // Puppet 8.11's, and four of the plugin host.
    EXPECT_EQ(all_settings().size(), 238u + 4u);
    EXPECT_EQ(find_setting("zzz"), nullptr);
}

}  // namespace
}  // namespace bunraku::config
