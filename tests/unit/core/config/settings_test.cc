// SPDX-License-Identifier: Apache-2.0
#include "core/config/settings.h"

#include <gtest/gtest.h>

#include "core/config/file_options.h"
#include "core/config/known_settings.h"
#include "core/config/layout.h"
#include "core/config/munge.h"
#include "core/config/system_paths.h"
#include "testing/fake.h"

namespace bunraku::config {
namespace {

// Settings of root on an empty machine.
Settings root_settings() {
    return Settings::defaults(std::make_shared<sys::MemoryFileSystem>(), true);
}

// Values from `puppet config print` (8.11, root).
TEST(Settings, Defaults) {
    Settings s = root_settings();
    s.set("certname", "n.example.org");
    const std::pair<std::string_view, const char*> cases[] = {
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
    EXPECT_FALSE(s.get(std::string_view("no_such_setting")).has_value());
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
    EXPECT_EQ(s.text(std::string_view("my_own")), "1");
    EXPECT_EQ(s.integer("masterport"), 9000);
    EXPECT_TRUE(s.is_set("server"));
    EXPECT_FALSE(s.is_set("ca_server"));
}

// Output of `puppet config print` of 8.11 with these lines.
TEST(Settings, FileOptionsAreRemovedFromValues) {
    constexpr std::string_view kText =
        "[main]\nautosign = $confdir/autosign.conf { mode = 664 }\n"
        "default_manifest = /x/m { mode = 755 }\n"
        "logdir = /x/log { owner = root , mode=755 } tail \n"
        "external_nodes = /x/enc {owner=service,group=service}\n"
        "server = \"x { mode = 664 }\"\nca_server = x {}\n"
        "ssldir = ${confdir}/tls { mode = 771 }\n[agent]\nca_port = 1 { mode = 1 }\n";
    Settings s = root_settings();
    ASSERT_TRUE(s.load_text(kText, "puppet.conf", "server").has_value());
    EXPECT_EQ(s.text("autosign"), "/etc/puppetlabs/puppet/autosign.conf");
    EXPECT_EQ(s.text("default_manifest"), "/x/m");
    EXPECT_EQ(s.text("logdir"), "/x/log  tail");
    EXPECT_EQ(s.text("external_nodes"), "/x/enc");
    EXPECT_EQ(s.text("server"), "x");
    EXPECT_EQ(s.text("ca_server"), "x {}");
    EXPECT_EQ(s.text("ssldir"), "/etc/puppetlabs/puppet/tls");
    const std::vector<Remark> expected = {
        {base::Level::Notice, "default_manifest does not support meta data. Ignoring."},
        {base::Level::Notice, "external_nodes does not support meta data. Ignoring."},
        {base::Level::Notice, "server does not support meta data. Ignoring."}};
    EXPECT_EQ(conf_remarks(kText, "server"), expected);
    const auto deprecated = conf_remarks("pluginsync = true\n", "agent");
    ASSERT_EQ(deprecated.size(), 1u);
    EXPECT_EQ(deprecated[0].text, "Setting 'pluginsync' is deprecated.");
    EXPECT_EQ(conf_remarks("filetimeout = 15s\n", "agent"), std::vector<Remark>());
    EXPECT_EQ(conf_remarks("filetimeout = 15\n", "agent").size(), 1u);
    EXPECT_EQ(conf_remarks("filetimeout = 15\n", "agent", Compatibility::OpenVox9),
              std::vector<Remark>());
}

TEST(Settings, ErrorsNameTheLine) {
    const std::pair<const char*, const char*> cases[] = {
        {"[main]\nserver\n", "Could not match line server\n (file: p.conf, line: 2)"},
        {"[main]\n\nserver", "Could not match line server (file: p.conf, line: 3)"},
        {"\xef\xbb\xbf[main]\nserver = x\n",
         "Could not match line \xef\xbb\xbf[main]\n (file: p.conf, line: 1)"},
        {"\xef\xbb\xbfserver = x\n",
         "Could not match line \xef\xbb\xbfserver = x\n (file: p.conf, line: 1)"},
        {"server = x { foo = bar }\n", "Invalid file option 'foo' (file: p.conf, line: 1)"},
        {"[main]\nserver = x { mode = a }\n", "File modes must be numbers (file: p.conf, line: 2)"},
        {"server = x { bar }\n", "Could not parse 'x { bar }' (file: p.conf, line: 1)"}};
    for (const auto& [text, expected] : cases) {
        const auto loaded = root_settings().load_text(text, "p.conf", "server");
        ASSERT_FALSE(loaded) << text;
        EXPECT_EQ(loaded.error().message, expected);
    }
}

TEST(KnownSettings, NamesAndNeighbours) {
    for (const char* name : {"certname", "auth_config", "node_ttl", "node-ttl", "ruby_cachedir"})
        EXPECT_TRUE(is_known_setting(name)) << name;
    EXPECT_FALSE(is_known_setting("certnam"));
    EXPECT_EQ(similar_settings("certnam").at(0), "certname");
    EXPECT_EQ(similar_settings("acces-log").at(0), "access-log");
    EXPECT_TRUE(similar_settings("entirely_else").empty());
    EXPECT_TRUE(is_gone_setting("stringify_facts"));
    EXPECT_EQ(find_idle_setting("location_trusted")->instead,
              "credentials are not sent on to another host");
    EXPECT_EQ(find_idle_setting("certname"), nullptr);
    for (const auto& idle : idle_settings()) EXPECT_TRUE(find_setting(idle.name)) << idle.name;
}

TEST(Settings, BadInput) {
    Settings s = root_settings();
    auto bad = s.load_text("[main]\nthis is nonsense\n", "/etc/p.conf", "user");
    ASSERT_FALSE(bad.has_value());
    EXPECT_EQ(bad.error().message,
              "Could not match line this is nonsense\n (file: /etc/p.conf, line: 2)");
    s.set("vardir", "$statedir/x");
    EXPECT_FALSE(s.text("vardir").empty() && s.text("statedir").empty());
    s.set("certname", "$certname");
    EXPECT_EQ(s.text("certname"), "");
}

// Recorded from `puppet config print` and `puppet apply` (8.11) with each of these values.
TEST(Settings, RefusesInvalidValuesLikePuppet) {
    const struct {
        std::string_view name;
        const char* value;
        const char* problem;  // null if the value is accepted
    } cases[] = {
        {"noop", "yes", "Invalid value '\"yes\"' for boolean parameter: noop"},
        {"noop", "1", "Invalid value '\"1\"' for boolean parameter: noop"},
        {"noop", "", "Invalid value '\"\"' for boolean parameter: noop"},
        {"noop", "true", nullptr},
        {"runinterval", "2h", nullptr},
        {"runinterval", "2x", "Invalid duration format '\"2x\"' for parameter: runinterval"},
        {"runinterval", "-1", "Invalid duration format '\"-1\"' for parameter: runinterval"},
        {"runinterval", "", "Invalid duration format '\"\"' for parameter: runinterval"},
        {"statettl", "-1", "Invalid 'time to live' format '\"-1\"' for parameter: statettl"},
        {"statettl", "unlimited", nullptr},
        {"masterport", "99999",
         "Value '99999' is not a valid port number for parameter: masterport"},
        {"masterport", "abc", "Cannot convert '\"abc\"' to an integer for parameter: masterport"},
        {"keylength", "2k", "Cannot convert '\"2k\"' to an integer for parameter: keylength"},
        {"keylength", "0x10", nullptr},
        {"maximum_uid", "1e3", "Cannot convert '\"1e3\"' to an integer for parameter: maximum_uid"},
        {"digest_algorithm", "md7",
         "Invalid value 'md7' for parameter digest_algorithm. Allowed values are 'sha256', "
         "'sha384', 'sha512', 'sha224', 'md5'"},
        {"key_type", "dsa",
         "Invalid value 'dsa' for parameter key_type. Allowed values are 'rsa', 'ec'"},
        {"certificate_revocation", "maybe",
         "Invalid certificate revocation value maybe: must be one of 'true', 'chain', 'leaf', or "
         "'false'"},
        {"autosign", "maybe",
         "Invalid autosign value maybe: must be 'true'/'false' or an absolute path"},
        {"autosign", "/x/../y", nullptr},
        {"server", "$nosuch",
         "Error converting value for param 'server': Could not find value for $nosuch"},
        {"server", "${certname}", nullptr},
        {"code", "$foo bar", nullptr},
        {"no_setting_of_puppet", "$foo", nullptr},
    };
    for (const auto& c : cases) {
        Settings s = root_settings();
        s.set(std::string(c.name), c.value);
        EXPECT_EQ(s.problem(c.name).value_or("taken"), c.problem ? c.problem : "taken")
            << c.name << "=" << c.value;
        EXPECT_EQ(s.any_problem().has_value(), c.problem != nullptr) << c.name;
    }
}

TEST(Settings, ReportsProblemsThatPreventStart) {
    const std::pair<std::pair<const char*, const char*>, const char*> cases[] = {
        {{"certname", "FOO"}, "Certificate names must be lower case"},
        {{"strict", "OFF"},
         "Invalid value 'OFF' for parameter strict. Allowed values are 'off', 'warning', 'error'"},
        {{"priority", "silly"}, "Invalid priority format '\"silly\"' for parameter: priority"},
        {{"disable_warnings", "foo"},
         "Cannot disable unrecognized warning types 'foo'. Valid values are 'deprecations, "
         "undefined_variables, undefined_resources'."},
        {{"supported_checksum_types", "md5,foo"},
         "Invalid value 'foo' for parameter supported_checksum_types. Allowed values are 'sha256', "
         "'sha256lite', 'sha384', 'sha512', 'sha224', 'sha1', 'sha1lite', 'md5', 'md5lite', "
         "'mtime', 'ctime', 'etag'"},
        {{"http_proxy_password", "a b"},
         "Passwords set in the http_proxy_password setting must be valid as part of a URL, and any "
         "reserved characters must be URL-encoded. We received: a b"},
        {{"disable_per_environment_manifest", "true"},
         "The 'default_manifest' setting must be set to an absolute path when "
         "'disable_per_environment_manifest' is true"},
        {{"disable_warnings", "deprecations , undefined_variables"}, nullptr},
        {{"certname", "foo_1.x"}, nullptr},
    };
    for (const auto& [setting, problem] : cases) {
        Settings s = root_settings();
        s.set(setting.first, setting.second);
        EXPECT_EQ(s.start_problem().value_or("starts"), problem ? problem : "starts")
            << setting.first;
    }
    Settings s = root_settings();
    ASSERT_TRUE(s.load_text("[main]\nmodulepath=/x\nmanifest=/y\n", "puppet.conf", "user"));
    EXPECT_EQ(s.start_problem(), "Cannot set modulepath, manifest settings in puppet.conf");
    auto odd = s.load_text("a=1\n\n[production]\nb=2\n", "/p.conf", "user");
    ASSERT_FALSE(odd.has_value());
    EXPECT_EQ(odd.error().message.substr(0, 99),
              "Illegal section 'production' in config file at (file: /p.conf, line: 3). The only "
              "valid puppet.conf");
}

// Values from `puppet config print` (8.11).
TEST(Settings, Munged) {
    const struct {
        std::string_view name;
        const char *value, *text;
    } cases[] = {
        {"keylength", "010", "8"},
        {"keylength", "0x10", "16"},
        {"priority", "high", "-10"},
        {"certificate_revocation", "true", "chain"},
        {"environmentpath", "/a/../b/:/c/", "/b:/c"},
        {"autosign", "/x/../y", "/y"},
        {"statedir", "/a//b/", "/a/b"},
        {"environment_timeout", "unlimited", "unlimited"},
        {"runtimeout", "1d", "86400"},
    };
    for (const auto& c : cases) {
        Settings s = root_settings();
        s.set(std::string(c.name), c.value);
        EXPECT_EQ(s.text(c.name), c.text) << c.name << "=" << c.value;
    }
    const std::pair<const char*, const char*> translations[] = {
        {"TRUE", "true"},     {"False", "false"}, {"'a b'", "a b"}, {"\"-u", "-u"},
        {"\"true\"", "true"}, {"x  ", "x"},       {"'", ""},        {"a'b'c", "a'b'c"},
    };
    for (const auto& [from, to] : translations) EXPECT_EQ(translated(from), to) << from;
    Settings s = root_settings();
    ASSERT_TRUE(s.load_text("noop = TRUE\nldapbase = 'a b'\n", "puppet.conf", "user"));
    EXPECT_TRUE(s.boolean("noop"));
    EXPECT_EQ(s.text("ldapbase"), "a b");
    // Loading a file replaces the content of the previous one.
    ASSERT_TRUE(s.load_text("[agent]\nserver=a\n", "puppet.conf", "main"));
    EXPECT_FALSE(s.is_set("noop"));
    EXPECT_EQ(s.text("server"), "puppet");
}

TEST(Settings, ParsesIntegersLikeRuby) {
    const std::pair<const char*, const char*> cases[] = {{"0", "0"},
                                                         {"-0", "0"},
                                                         {"12", "12"},
                                                         {"+5", "5"},
                                                         {"0b101", "5"},
                                                         {"0o17", "15"},
                                                         {"017", "15"},
                                                         {"0d10", "10"},
                                                         {"1_000", "1000"},
                                                         {"-0x1F", "-31"},
                                                         {"", nullptr},
                                                         {"1__0", nullptr},
                                                         {"_1", nullptr},
                                                         {"1_", nullptr},
                                                         {"09", nullptr},
                                                         {"x", nullptr},
                                                         {"1.0", nullptr},
                                                         {"--1", nullptr},
                                                         {"99999999999999999999", nullptr}};
    for (const auto& [text, number] : cases) {
        EXPECT_EQ(ruby_integer(text).value_or("none"), number ? number : "none") << text;
    }
}

// Output of `puppet config print all` of Debian's puppet-agent 7.23 for root.
TEST(Settings, UsesDebianLayout) {
    auto files = std::make_shared<sys::MemoryFileSystem>();
    ASSERT_TRUE(files->make_directories("/etc/puppet", 0755));
    EXPECT_EQ(Settings::defaults(files, true).text("confdir"), "/etc/puppetlabs/puppet");
    ASSERT_TRUE(files->write("/etc/puppet/puppet.conf", "", 0644));
    const Settings s = Settings::defaults(files, true);
    const std::pair<std::string_view, const char*> cases[] = {
        {"confdir", "/etc/puppet"},
        {"config", "/etc/puppet/puppet.conf"},
        {"codedir", "/etc/puppet/code"},
        {"environmentpath", "/etc/puppet/code/environments"},
        {"basemodulepath", "/etc/puppet/code/modules:/usr/share/puppet/modules"},
        {"vendormoduledir", "/usr/share/puppet/vendor_modules"},
        {"hiera_config", "/etc/puppet/hiera.yaml"},
        {"vardir", "/var/cache/puppet"},
        {"statedir", "/var/cache/puppet/state"},
        {"publicdir", "/var/cache/puppet/public"},
        {"lastrunfile", "/var/cache/puppet/public/last_run_summary.yaml"},
        {"rundir", "/run/puppet"},
        {"logdir", "/var/log/puppet"},
        {"ssldir", "/var/lib/puppet/ssl"},
        {"certdir", "/var/lib/puppet/ssl/certs"},
        {"cadir", "/etc/puppet/puppetserver/ca"},
        {"cacert", "/etc/puppet/puppetserver/ca/ca_crt.pem"},
    };
    for (const auto& [name, text] : cases) EXPECT_EQ(s.text(name), text) << name;
    // All users use the system's modules; all other paths are the user's own.
    const Settings user = Settings::defaults(files, false);
    EXPECT_TRUE(user.text("basemodulepath").ends_with("/modules:/usr/share/puppet/modules"));
    EXPECT_EQ(user.text("ssldir"), user.text("confdir") + "/ssl");
    EXPECT_EQ(user.as_root().text("confdir"), "/etc/puppet");
    // Paths of an all-in-one package have priority. A folder with only external facts does not
    // count as a package. Neither does a code folder if Debian's layout has one too.
    ASSERT_TRUE(files->make_directories("/etc/puppetlabs/facter", 0755));
    EXPECT_EQ(Settings::defaults(files, true).text("confdir"), "/etc/puppet");
    ASSERT_TRUE(files->make_directories("/etc/puppetlabs/code", 0755));
    EXPECT_EQ(Settings::defaults(files, true).text("confdir"), "/etc/puppetlabs/puppet");
    ASSERT_TRUE(files->make_directories("/etc/puppet/code/environments", 0755));
    EXPECT_EQ(Settings::defaults(files, true).text("confdir"), "/etc/puppet");
    ASSERT_TRUE(files->make_directories("/etc/puppetlabs/puppet/eyaml", 0755));
    EXPECT_EQ(Settings::defaults(files, true).text("confdir"), "/etc/puppet");
    ASSERT_TRUE(files->write("/etc/puppetlabs/puppet/puppet.conf", "", 0644));
    EXPECT_EQ(Settings::defaults(files, true).text("confdir"), "/etc/puppetlabs/puppet");
}

// A new file must never hide an existing authority or a node's key.
TEST(Settings, ExistingCaDeterminesLayout) {
    const auto cadir = [](std::initializer_list<const char*> paths) {
        auto files = std::make_shared<sys::MemoryFileSystem>();
        for (const std::string path : paths) {
            EXPECT_TRUE(files->make_directories(path.substr(0, path.rfind('/')), 0755));
            EXPECT_TRUE(files->write(path, "", 0644));
        }
        const auto settings = Settings::defaults(files, true);
        const auto problem = authority_problem(settings, *files);
        return problem.empty() ? settings.text("cadir") : problem;
    };
    constexpr const char *kDebians = "/etc/puppet/puppet.conf",
                         *kOther = "/etc/puppetlabs/puppet/puppet.conf",
                         *kOldCa = "/var/lib/puppet/ssl/ca/ca_crt.pem",
                         *kDebiansCa = "/etc/puppet/puppetserver/ca/ca_key.pem",
                         *kOtherCa = "/etc/puppetlabs/puppetserver/ca/ca_crt.pem",
                         *kOtherOldCa = "/etc/puppetlabs/puppet/ssl/ca/ca_key.pem";
    EXPECT_EQ(cadir({}), "/etc/puppetlabs/puppetserver/ca");
    EXPECT_EQ(cadir({kOther, kDebiansCa}), "/etc/puppet/puppetserver/ca");
    EXPECT_EQ(cadir({kOther, kDebians, kOldCa}), "/var/lib/puppet/ssl/ca");
    EXPECT_EQ(cadir({kOther, kOldCa, kDebiansCa}), "/var/lib/puppet/ssl/ca");
    EXPECT_EQ(cadir({kDebians, kOtherCa}), "/etc/puppetlabs/puppetserver/ca");
    EXPECT_EQ(cadir({kDebians, kOtherOldCa}), "/etc/puppetlabs/puppet/ssl/ca");
    const std::string two = "There are two certificate authorities on this machine, ";
    EXPECT_EQ(cadir({kDebians, kDebiansCa, kOtherCa}),
              two +
                  "/etc/puppet/puppetserver/ca and /etc/puppetlabs/puppetserver/ca. Set cadir in "
                  "puppet.conf to the one in use, or move the other one away.");
    EXPECT_TRUE(cadir({kOther, kOldCa, kOtherOldCa}).starts_with(two));
    // A node's key decides between two CA folders, and also if only one exists.
    EXPECT_EQ(cadir({kDebians, kOther, "/var/lib/puppet/ssl/private_keys/a.pem"}),
              "/etc/puppet/puppetserver/ca");
    EXPECT_EQ(cadir({kDebians, "/etc/puppetlabs/puppet/ssl/private_keys/a.pem"}),
              "/etc/puppetlabs/puppetserver/ca");
}

// The user of the server's unit uses the paths that root has set up. Another user named puppet does
// not.
TEST(Settings, UsersWithSystemPaths) {
    EXPECT_TRUE(uses_system_paths(0, ""));
    EXPECT_TRUE(uses_system_paths(0, "root"));
    EXPECT_TRUE(uses_system_paths(106, "puppet"));
    EXPECT_FALSE(uses_system_paths(106, "www-data"));
    EXPECT_FALSE(uses_system_paths(106, ""));
    EXPECT_FALSE(uses_system_paths(1000, "puppet"));
}

TEST(Settings, DefaultsThatDependOnFiles) {
    auto files = std::make_shared<sys::MemoryFileSystem>();
    const Settings s = Settings::defaults(files, true);
    EXPECT_EQ(s.text("hiera_config"), "/etc/puppetlabs/puppet/hiera.yaml");
    EXPECT_EQ(s.text("cadir"), "/etc/puppetlabs/puppetserver/ca");
    ASSERT_TRUE(files->make_directories("/etc/puppetlabs/code", 0755));
    ASSERT_TRUE(files->write("/etc/puppetlabs/code/hiera.yaml", "", 0644));
    ASSERT_TRUE(files->make_directories("/etc/puppetlabs/puppet/ssl/ca", 0755));
    EXPECT_EQ(s.text("hiera_config"), "/etc/puppetlabs/code/hiera.yaml");
    EXPECT_EQ(s.text("cadir"), "/etc/puppetlabs/puppet/ssl/ca");
}

TEST(Settings, TableIsSortedAndDocumented) {
    std::string_view last;
    for (const SettingSpec& spec : kSettings) {
        EXPECT_LT(last, spec.name);
        EXPECT_FALSE(spec.doc.empty()) << spec.name;
        EXPECT_EQ(find_setting(spec.name), &spec);
        last = spec.name;
    }
    // The settings of Puppet 8.11, six of the plugin host, one of the report processor `store`, and
    // `compatibility`.
    EXPECT_EQ(kSettings.size(), 238u + 8u);
    EXPECT_EQ(find_setting("zzz"), nullptr);
}

}  // namespace
}  // namespace bunraku::config
