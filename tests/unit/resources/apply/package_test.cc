// SPDX-License-Identifier: Apache-2.0
// Tests package managers: their commands and responses, and the order of versions.
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "machine.h"
#include "resources/apply/types/package/package_provider.h"
#include "resources/apply/types/package/versions.h"

namespace bunraku::apply {
namespace {

template <class Version>
void expect_order(std::string_view versions, std::string_view rows) {
    const auto all = base::texts(base::words(versions, " "));
    const auto wanted = base::texts(base::words(rows, " "));
    ASSERT_EQ(all.size(), wanted.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto a = Version::parse(all[i]);
        ASSERT_TRUE(a) << all[i];
        std::string row;
        for (const std::string& other : all) {
            const int c = a->compare(*Version::parse(other));
            row += c < 0 ? '<' : c > 0 ? '>' : '=';
        }
        EXPECT_EQ(row, wanted[i]) << all[i] << " against " << versions;
    }
}

// Compares every version with every other, as Puppet::Util::Package::Version of Puppet 8.11 does
// (RubyGems 3.3), including its oddities.
TEST(PackageVersions, MatchesPuppetOrder) {
    expect_order<RpmVersion>(
        "1.0 1.0-1 1:1.0-1 0:1.0-1 1.0-1.el9 1.0-10.el9 1.0~rc1-1 1.0a 1.0.a 1.00 "
        "1.0.1-1.x86_64 2-1 a1 1a 10 x:1.0 1.0_1",
        "==<===><<=<<>><=< >=<=<<><<><<>><>< >>=>>>>>>>>>>>>>> >><=>>>>>>>>>>>>> "
        ">><>=<><<><<>><>< >><>>=><<><<>><>< <<<<<<=<<<<<>><<< >><>>>>==><<>><>< "
        ">><>>>>==><<>><>< ==<===><<=<<>><=< >><>>>>>>>=<>><>> >><>>>>>>>>=>><>> "
        "<<<<<<<<<<<<=<<<< <<<<<<<<<<<<>=<<< >><>>>>>>>>>>>=>> ==<===><<=<<>><=< "
        ">><>>>>>>>=<>><>=");
    expect_order<GemVersion>(
        "1.0 1 1.0.0 1.0.a 1.0.rc1 1.0-rc1 1.0.1 2.0.0.pre 1.10 1.9 0.1b2 1.0.b10 1.0.b9",
        "===>>><<<<>>> ===>>><<<<>>> ===>>><<<<>>> <<<=<<<<<<><< <<<>=><<<<>>> "
        "<<<><=<<<<>>> >>>>>>=<<<>>> >>>>>>>=>>>>> >>>>>>><=>>>> >>>>>>><<=>>> "
        "<<<<<<<<<<=<< <<<><<<<<<>=> <<<><<<<<<><=");
    expect_order<PipVersion>(
        "1.0 1 1.0.0 1.0a1 1.0.alpha1 1.0b 1.0rc2 1.0.dev1 1.0a1.dev1 1.0.post1 1.0-1 "
        "1!0.1 1.0+local 1.0+local.2 1.0+5 v1.1 1.0.post1.dev2 1.0c1",
        "=>=>>>>>><<<<<<<<> <=<<<<<<<<<<<<<<<< =>=>>>>>><<<<<<<<> <><==<<>><<<<<<<<< "
        "<><==<<>><<<<<<<<< <><>>=<>><<<<<<<<< <><>>>=>><<<<<<<<> <><<<<<=<<<<<<<<<< "
        "<><<<<<>=<<<<<<<<< >>>>>>>>>==<>>><>> >>>>>>>>>==<>>><>> >>>>>>>>>>>=>>>>>> "
        ">>>>>>>>><<<=<<<<> >>>>>>>>><<<>=<<<> >>>>>>>>><<<>>=<<> >>>>>>>>>>><>>>=>> "
        ">>>>>>>>><<<>>><=> <><>>><>><<<<<<<<=");
}

// The order of dpkg --compare-versions 1.21. Puppet sorts punctuation before letters (1.0+b1 before
// 1.0a), and dpkg does the opposite. Bunraku follows dpkg, because dpkg installs the package.
TEST(PackageVersions, MatchesDpkgOrder) {
    expect_order<DebianVersion>(
        "1.0 1.0-1 1:0.5 1.0~rc1 1.0+b1 1.0-1ubuntu2 1.0-1ubuntu10 2 1.0a 1.0.1",
        "=<<><<<<<< >=<><<<<<< >>=>>>>>>> <<<=<<<<<< >><>=>><>< "
        ">><><=<<<< >><><>=<<< >><>>>>=>> >><><>><=< >><>>>><>=");
}

TEST(PackageVersions, Ranges) {
    struct Row {
        const char *range, *in, *out;
    };
    for (const Row& r : {Row{">=1.0 <2.0", "1.0 1.5 1.99", "2.0 0.9"}, Row{">1", "1.1 2", "1 0.5"},
                         Row{"<=1.2", "1.2 0.1", "1.3"}, Row{"1.2", "1.2", "1.3 1.1"},
                         Row{">1 <5 <2", "4", "5 1"}}) {
        const auto range = VersionRange<DebianVersion>::parse(r.range);
        ASSERT_TRUE(range) << r.range;
        for (std::string_view v : base::words(r.in, " ")) {
            EXPECT_TRUE(range->includes(*DebianVersion::parse(v))) << r.range << ": " << v;
        }
        for (std::string_view v : base::words(r.out, " ")) {
            EXPECT_FALSE(range->includes(*DebianVersion::parse(v))) << r.range << ": " << v;
        }
    }
    for (const char* bad : {"", "=1.0", "==1", "=>1", "<>1", ">"}) {
        EXPECT_FALSE(VersionRange<DebianVersion>::parse(bad)) << bad;
    }
}

struct Answer {
    const char* command;
    int status;
    const char* output;
};

struct Case {
    const char* name;
    const char* os;        // content of os-release
    const char* programs;  // programs in /usr/bin
    std::vector<Answer> answers;
    const char* parameters;
    Lines commands;  // the commands that change something, and the ones that query versions
    Lines log;
};

const char* const kRpm = "/usr/bin/rpm -q";
constexpr const char* kThere = "vim 2 9.0 4.el9 x86_64\n";

// The command lines are those of the providers of OpenVox 8.28. Only these differ from Puppet 8.11:
// the options of dnf (which dnf5 needs), --allow-downgrades of apt and --upgrade of pacman.
TEST(PackageProviders, RunExpectedCommands) {
    const std::vector<Case> cases = {
        {"dnf installs",
         "ID=rocky\nVERSION_ID=9.3\n",
         "dnf rpm",
         {{"/usr/bin/rpm -qa", 0, ""},
          {"/usr/bin/rpm -q vim", 1, "package vim is not installed\n"},
          {"/usr/bin/dnf", 0, ""}},
         R"("ensure":"present")",
         {"/usr/bin/dnf -y install vim"},
         {"/Stage[main]/Main/Package[vim]/ensure: created"}},
        {"dnf: another version, with options",
         "ID=rocky\nVERSION_ID=9.3\n",
         "dnf rpm",
         {{"/usr/bin/rpm -qa", 0, kThere}, {kRpm, 0, kThere}, {"/usr/bin/dnf", 0, ""}},
         R"("ensure":"2:8.0-1.el9","install_options":["--nogpgcheck",{"--enablerepo":"x"}])",
         {"/usr/bin/dnf -y --nogpgcheck --enablerepo=x downgrade vim-2:8.0-1.el9"},
         {"Could not update: Failed to update to version 2:8.0-1.el9, got version 2:9.0-4.el9 "
          "instead",
          "/Stage[main]/Main/Package[vim]/ensure: change from '2:9.0-4.el9' to '2:8.0-1.el9' "
          "failed: "
          "Could not update: Failed to update to version 2:8.0-1.el9, got version 2:9.0-4.el9 "
          "instead"}},
        {"dnf: the version that is there, without its epoch and release",
         "ID=rocky\nVERSION_ID=9.3\n",
         "dnf rpm",
         {{"/usr/bin/rpm -qa", 0, kThere}},
         R"("ensure":"9.0")",
         {},
         {}},
        {"dnf: a range that holds",
         "ID=rocky\nVERSION_ID=9.3\n",
         "dnf rpm",
         {{"/usr/bin/rpm -qa", 0, kThere}},
         R"("ensure":">2:8.0 <2:10.0")",
         {},
         {}},
        {"dnf: latest",
         "ID=rocky\nVERSION_ID=9.3\n",
         "dnf rpm",
         {{"/usr/bin/rpm -qa", 0, kThere},
          {kRpm, 0, kThere},
          {"/usr/bin/dnf -y check-update", 100,
           "\nvim.x86_64   2:9.1-1.el9   appstream\nzsh.x86_64 5.8-9 base\n"},
          {"/usr/bin/dnf -y upgrade", 0, ""}},
         R"("ensure":"latest")",
         {"/usr/bin/dnf -y check-update", "/usr/bin/dnf -y upgrade vim"},
         {"/Stage[main]/Main/Package[vim]/ensure: ensure changed '2:9.0-4.el9' to '2:9.1-1.el9'"}},
        {"dnf: purged",
         "ID=rocky\nVERSION_ID=9.3\n",
         "dnf rpm",
         {{"/usr/bin/rpm -qa", 0, kThere}, {"/usr/bin/dnf", 0, ""}},
         R"("ensure":"purged")",
         {"/usr/bin/dnf -y remove vim"},
         {"/Stage[main]/Main/Package[vim]/ensure: purged"}},
        {"dnf: absent goes by rpm",
         "ID=rocky\nVERSION_ID=9.3\n",
         "dnf rpm",
         {{"/usr/bin/rpm -e", 0, ""}, {"/usr/bin/rpm -qa", 0, kThere}, {kRpm, 0, kThere}},
         R"("ensure":"absent")",
         {"/usr/bin/rpm -e vim"},
         {"/Stage[main]/Main/Package[vim]/ensure: removed"}},
        {"zypper: another version",
         "NAME=SLES\nID=sles\nVERSION_ID=15.4\n",
         "zypper rpm",
         {{"/usr/bin/rpm -q", 0, kThere}, {"/usr/bin/zypper", 0, ""}},
         R"("ensure":"9.1","install_options":["--no-gpg-checks","-x"])",
         {"/usr/bin/zypper --quiet --no-gpg-checks install --auto-agree-with-licenses --no-confirm "
          "-x vim-9.1"},
         {"/Stage[main]/Main/Package[vim]/ensure: ensure changed '2:9.0-4.el9' to '9.1'"}},
        {"pacman: a group is refused",
         "NAME=\"Arch Linux\"\nID=arch\n",
         "pacman",
         {{"/usr/bin/pacman --sync --groups", 0, "vim a\n"},
          {"/usr/bin/pacman", 1, ""},
          {"/usr/bin/pacman --query", 0, ""},
          {"/usr/bin/pacman --sync -gg", 0, ""}},
         R"("ensure":"present","allow_virtual":false)",
         {},
         {"Refusing to install package group vim, because allow_virtual is false.",
          "/Stage[main]/Main/Package[vim]/ensure: change from 'purged' to 'present' failed: "
          "Refusing to "
          "install package group vim, because allow_virtual is false."}},
        {"pacman: from a file",
         "NAME=\"Arch Linux\"\nID=arch\n",
         "pacman",
         {{"/usr/bin/pacman --query", 0, ""},
          {"/usr/bin/pacman --sync -gg", 0, ""},
          {"/usr/bin/pacman --noconfirm", 0, ""}},
         R"("ensure":"present","source":"/tmp/vim.pkg.tar.zst")",
         {"/usr/bin/pacman --noconfirm --noprogressbar --upgrade /tmp/vim.pkg.tar.zst"},
         {"Could not find package 'vim'",
          "/Stage[main]/Main/Package[vim]/ensure: change from 'purged' to 'present' failed: Could "
          "not find package 'vim'"}},
        {"dnf: a package without its virtual names",
         "ID=fedora\nVERSION_ID=41\n",
         "dnf rpm",
         {{"/usr/bin/rpm -qa", 0, ""},
          {"/usr/bin/rpm -q vim", 1, "package vim is not installed\n"},
          {"/usr/bin/dnf", 0, ""}},
         R"("ensure":"present","allow_virtual":false)",
         {"/usr/bin/dnf -y list vim", "/usr/bin/dnf -y install vim"},
         {"/Stage[main]/Main/Package[vim]/ensure: created"}},
        {"dnfmodule: a stream and a profile",
         "ID=rocky\nVERSION_ID=9.3\n",
         "dnf",
         {{"/usr/bin/dnf --version", 0, "4.14.0\n  Installed: dnf\n"},
          {"/usr/bin/dnf module list", 0,
           "AppStream\nName Stream Profiles Summary\nvim 9 [d] common [d], minimal Vim\n\nHint: "
           "[d]efault, [e]nabled, [x]disabled, [i]nstalled\n"},
          {"/usr/bin/dnf module install", 0, ""}},
         R"("ensure":"9","flavor":"minimal","provider":"dnfmodule")",
         {"/usr/bin/dnf --version", "/usr/bin/dnf module list -y", "/usr/bin/dnf module list -y",
          "/usr/bin/dnf module install -y vim:9/minimal"},
         {"/Stage[main]/Main/Package[vim]/ensure: created"}},
        {"dnfmodule: another stream",
         "ID=rocky\nVERSION_ID=9.3\n",
         "dnf",
         {{"/usr/bin/dnf --version", 0, "4.14.0\n"},
          {"/usr/bin/dnf module list", 0, "vim 8 [e] common [i], minimal Vim\nvim 9 common Vim\n"},
          {"/usr/bin/dnf module", 0, ""}},
         R"("ensure":"9","provider":"dnfmodule")",
         {"/usr/bin/dnf --version", "/usr/bin/dnf module list -y",
          "/usr/bin/dnf module remove -y vim", "/usr/bin/dnf module reset -y vim",
          "/usr/bin/dnf module install -y vim:9"},
         {"/Stage[main]/Main/Package[vim]/ensure: ensure changed '8' to '9'"}},
        {"dnfmodule: a module without a default profile",
         "ID=rocky\nVERSION_ID=9.3\n",
         "dnf",
         {{"/usr/bin/dnf --version", 0, "4.2.7\n"},
          {"/usr/bin/dnf module list", 0, ""},
          {"/usr/bin/dnf module enable", 0, ""},
          {"/usr/bin/dnf module install", 1,
           "Error: Problems in request:\nmissing groups or modules: vim:9\n"}},
         R"("ensure":"9","provider":"dnfmodule")",
         {"/usr/bin/dnf --version", "/usr/bin/dnf module list -y", "/usr/bin/dnf module list -y",
          "/usr/bin/dnf module install -y vim:9", "/usr/bin/dnf module enable -y vim:9"},
         {"/Stage[main]/Main/Package[vim]/ensure: created"}},
        {"dnfmodule: disabled",
         "ID=rocky\nVERSION_ID=9.3\n",
         "dnf",
         {{"/usr/bin/dnf --version", 0, "4.14.0\n"},
          {"/usr/bin/dnf module list", 0, "vim 8 [e] common [i] Vim\n"},
          {"/usr/bin/dnf module disable", 0, ""}},
         R"("ensure":"disabled","provider":"dnfmodule")",
         {"/usr/bin/dnf --version", "/usr/bin/dnf module list -y",
          "/usr/bin/dnf module disable -y vim"},
         {"/Stage[main]/Main/Package[vim]/ensure: ensure changed '8' to 'disabled'"}},
        {"dnfmodule: is disabled",
         "ID=rocky\nVERSION_ID=9.3\n",
         "dnf",
         {{"/usr/bin/dnf --version", 0, "4.14.0\n"},
          {"/usr/bin/dnf module list", 0, "vim 8 [x] common Vim\n"}},
         R"("ensure":"disabled","provider":"dnfmodule")",
         {"/usr/bin/dnf --version", "/usr/bin/dnf module list -y"},
         {}},
        {"opkg on TurrisOS",
         "NAME=TurrisOS\nID=turrisos\n",
         "opkg",
         {{"/usr/bin/opkg list-installed", 0, ""}, {"/usr/bin/opkg --force", 0, ""}},
         R"("ensure":"present")",
         {"/usr/bin/opkg --force-overwrite install vim"},
         {"/Stage[main]/Main/Package[vim]/ensure: created"}},
        {"opkg installs",
         "NAME=OpenWrt\nID=openwrt\n",
         "opkg",
         {{"/usr/bin/opkg list-installed", 0, "vim-doc - 9.0 - 1\n"},
          {"/usr/bin/opkg list-installed vim", 0, ""},
          {"/usr/bin/opkg --force", 0, ""}},
         R"("ensure":"present")",
         {"/usr/bin/opkg --force-overwrite install vim"},
         {"/Stage[main]/Main/Package[vim]/ensure: created"}},
        {"opkg: latest",
         "NAME=OpenWrt\nID=openwrt\n",
         "opkg",
         {{"/usr/bin/opkg list vim", 0, "vim - 9.1-2 - An editor\n"},
          {"/usr/bin/opkg list-installed", 0, "vim - 9.0-1\n"},
          {"/usr/bin/opkg --force", 0, ""}},
         R"("ensure":"latest","source":"/x.ipk")",
         {"/usr/bin/opkg --force-overwrite install /x.ipk"},
         {"/Stage[main]/Main/Package[vim]/ensure: ensure changed '9.0-1' to '9.1-2'"}},
        {"apk: another version",
         "NAME=\"Alpine Linux\"\nID=alpine\n",
         "apk",
         {{"/usr/bin/apk list --installed", 0,
           "vim-doc-9.0-r1 x86_64 {vim} (Vim) [installed]\nvim-9.0-r1 x86_64 {vim} (Vim) "
           "[installed]\n"},
          {"/usr/bin/apk add", 0, ""}},
         R"("ensure":"9.1-r0")",
         {"/usr/bin/apk add vim=9.1-r0"},
         {"/Stage[main]/Main/Package[vim]/ensure: ensure changed '9.0-r1' to '9.1-r0'"}},
        {"apk: latest",
         "NAME=\"Alpine Linux\"\nID=alpine\n",
         "apk",
         {{"/usr/bin/apk list --installed", 0, "vim-9.0-r1 x86_64 {vim} (Vim) [installed]\n"},
          {"/usr/bin/apk list --upgradable vim", 0,
           "vim-9.1-r0 x86_64 {vim} (Vim) [upgradable from: vim-9.0-r1]\n"},
          {"/usr/bin/apk add", 0, ""}},
         R"("ensure":"latest")",
         {"/usr/bin/apk add --upgrade vim"},
         {"/Stage[main]/Main/Package[vim]/ensure: ensure changed '9.0-r1' to '9.1-r0'"}},
        {"gem: a version of several",
         "ID=debian\n",
         "gem",
         {{"/usr/bin/gem list", 0, "vim (1.2, 1.0)\n"}},
         R"("ensure":"~> 1.0","provider":"gem")",
         {},
         {}},
        {"gem: Puppet's own range",
         "ID=debian\n",
         "gem",
         {{"/usr/bin/gem list", 0, "vim (1.0)\n"},
          {"/usr/bin/gem --version", 0, "3.3.15\n"},
          {"/usr/bin/gem install", 0, ""}},
         R"("ensure":">1.0 <2.0","provider":"gem")",
         {"/usr/bin/gem install -v '>1.0, <2.0' --no-document vim"},
         {"/Stage[main]/Main/Package[vim]/ensure: ensure changed ['1.0'] to '>1.0 <2.0'"}},
        {"pip: the newest of a range",
         "ID=debian\n",
         "pip3",
         {{"/usr/bin/pip3 --version", 0, "pip 23.0.1 from /x (python 3.11)\n"},
          {"/usr/bin/pip3 freeze", 0, "vim==1.0\n"},
          {"/usr/bin/pip3 install 'vim==9", 1, "ERROR: x (from versions: 1.0, 1.10, 1.9, 2.0)\n"},
          {"/usr/bin/pip3 install -q", 0, ""}},
         R"("ensure":">1.0 <2.0","provider":"pip3")",
         {"/usr/bin/pip3 install 'vim==9!0dev0+x'", "/usr/bin/pip3 install -q vim==1.10"},
         {"/Stage[main]/Main/Package[vim]/ensure: ensure changed '1.0' to '>1.0 <2.0'"}},
    };
    for (const Case& c : cases) {
        SCOPED_TRACE(c.name);
        Machine m;
        m.fake.files.put("/etc/os-release", c.os);
        m.fake.files.put("/var/opkg-lists/feed", "");
        for (std::string_view p : base::words(c.programs, " ")) {
            m.fake.processes.programs.emplace_back(p);
            m.fake.files.put("/usr/bin/" + std::string(p), "", 0755);
        }
        for (const Answer& a : c.answers) {
            sys::Outcome o;
            o.status = a.status;
            o.output = a.output;
            m.fake.processes.answer(a.command, o);
        }
        const Lines log = m.run(resource("Package", "vim", c.parameters));
        Lines commands;
        for (const std::string& text : m.fake.processes.texts()) {
            bool asks = false;
            for (const char* question :
                 {"/usr/bin/rpm -q", "/usr/bin/gem list", "/usr/bin/gem --version",
                  "/usr/bin/pip3 --version", "/usr/bin/pip3 freeze", "/usr/bin/pacman --query",
                  "/usr/bin/pacman --sync", "/usr/bin/opkg list", "/usr/bin/apk list"}) {
                asks = asks || text.starts_with(question);
            }
            if (!asks) commands.push_back(text);
        }
        EXPECT_EQ(commands, c.commands);
        EXPECT_EQ(log, c.log);
    }
}

// The default provider for each combination of os-release and programs.
TEST(PackageProviders, SelectsDefaultProvider) {
    struct Row {
        const char *os, *programs, *provider;
    };
    const char* const kApt =
        "apt-get apt-cache apt-mark debconf-set-selections dpkg dpkg-deb dpkg-query";
    for (const Row& r :
         {Row{"ID=debian\n", kApt, "apt"}, Row{"ID=rocky\nVERSION_ID=9\n", "dnf yum rpm", "dnf"},
          Row{"ID=centos\nVERSION_ID=7\n", "yum rpm", "yum"},
          Row{"ID=centos\nVERSION_ID=7\n", "yum rpm dnf", "yum"},
          Row{"NAME=SLES\nID=sles\nVERSION_ID=15.4\n", "zypper rpm", "zypper"},
          Row{"NAME=\"Arch Linux\"\nID=arch\n", "pacman", "pacman"},
          Row{"NAME=OpenWrt\nID=openwrt\n", "opkg", "opkg"},
          Row{"NAME=TurrisOS\nID=turrisos\n", "opkg", "opkg"},
          Row{"NAME=\"Alpine Linux\"\nID=alpine\n", "apk", "apk"},
          Row{"ID=debian\n", "dpkg dpkg-deb dpkg-query rpm", "dpkg"}}) {
        Machine m;
        m.fake.files.put("/etc/os-release", r.os);
        for (std::string_view p : base::words(r.programs, " "))
            m.fake.processes.programs.emplace_back(p);
        Context context{.system = m.fake.system, .log = m.log};
        const ProviderClass* found =
            default_provider(context, "package", provider_classes_of("package"));
        ASSERT_TRUE(found) << r.os;
        EXPECT_EQ(found->name, r.provider) << r.os << r.programs;
    }
}

// Variables of the package reach the commands that change it, and no others.
TEST(PackageProviders, EnvironmentReachesTheCommands) {
    Machine m;
    m.fake.processes.programs = {"dnf", "rpm", "true"};
    m.fake.files.put("/etc/os-release", "ID=fedora\nVERSION_ID=41\n");
    m.fake.files.put("/usr/bin/true", "", 0755);
    m.fake.processes.answer("/usr/bin/rpm -qa", sys::Outcome{});
    m.fake.processes.answer("/usr/bin/rpm -q", {.status = 1});
    m.fake.processes.answer("/usr/bin/dnf", sys::Outcome{});
    m.fake.processes.answer("/usr/bin/true", sys::Outcome{});
    const Lines log = m.run(
        resource("Package", "vim",
                 R"("ensure":"present","environment":["LICENSE=yes","LICENSE=n=o","EMPTY="])") +
        resource("Exec", "/usr/bin/true", ""));
    EXPECT_EQ(log, (Lines{"Package[vim](provider=dnf): Overriding environment setting 'LICENSE'",
                          "Empty environment setting 'EMPTY'\n   (file & line not available)",
                          "/Stage[main]/Main/Package[vim]/ensure: created",
                          "/Stage[main]/Main/Exec[/usr/bin/true]/returns: executed successfully"}));
    Lines with;
    for (const sys::Command& c : m.fake.processes.calls) {
        std::string variables;
        for (const auto& [name, v] : c.environment) {
            if (name == "LICENSE" || name == "EMPTY")
                variables += name + "=" + v.value_or("") + " ";
        }
        with.push_back(variables + fmt::format("{}", fmt::join(c.argv, " ")));
    }
    ASSERT_EQ(with.size(), 5U);  // rpm asks for all packages, for this one, and what provides it
    EXPECT_EQ(with[3], "LICENSE=n=o EMPTY= /usr/bin/dnf -y install vim");
    EXPECT_EQ(with[4], "/usr/bin/true");
    EXPECT_EQ(m.run(resource("Package", "vim", R"("environment":["A=1","1 B"])")),
              Lines{"Parameter environment failed on Package[vim]: Invalid environment setting "
                    "'1 B'"});
}

// Reads the file that dpkg-query reads, and returns the same result.
TEST(PackageProviders, ReadsDpkgStatusFileIfComplete) {
    const std::string status =
        "Package: zsh\nStatus: install ok installed\nArchitecture: amd64\nVersion: 5.9-4\n"
        "Description: a shell\n Status: of the shell\n\n"
        "Package: bash\nStatus: hold ok installed\nVersion: 5.2\n\n"
        "Package: half\nStatus: install ok half-configured\nVersion: 1\n\n"
        "Package: never\nStatus: deinstall ok not-installed\n\n"
        "Package: left\nStatus: deinstall ok config-files\nVersion: 1";
    const auto versions = [&](bool updates, Lines* asked) {
        Machine m;
        for (const char* p : {"dpkg", "dpkg-deb", "dpkg-query"})
            m.fake.processes.programs.emplace_back(p);
        m.fake.files.put("/etc/os-release", "ID=debian\n");
        m.fake.files.put("/var/lib/dpkg/status", status);
        EXPECT_TRUE(m.fake.files.make_directories("/var/lib/dpkg/updates"));
        if (updates) m.fake.files.put("/var/lib/dpkg/updates/0001", "");
        m.fake.processes.answer("/usr/bin/dpkg-query", sys::Outcome{});
        Context context{.system = m.fake.system, .log = m.log};
        const auto* found = static_cast<const PackageProviderClass*>(
            default_provider(context, "package", provider_classes_of("package")));
        Lines out;
        for (const PackageState& p : found->list(context, ""))
            out.push_back(p.name + " " + p.versions.front() + (p.held ? " held" : ""));
        *asked = m.fake.processes.texts();
        return out;
    };
    Lines asked;
    EXPECT_EQ(versions(false, &asked),
              (Lines{"bash 5.2 held", "half absent", "left absent", "zsh 5.9-4"}));
    EXPECT_EQ(asked, Lines{});
    EXPECT_EQ(versions(true, &asked), Lines{});
    EXPECT_EQ(asked.size(), 1U);
}

// Each package has its own report and exit code; only the download is shared.
TEST(PackageProviders, AptDownloadsInOneStep) {
    Machine m;
    m.fake.processes.programs = {"apt-get",  "apt-cache",  "apt-mark", "debconf-set-selections",
                                 "dpkg-deb", "dpkg-query", "dpkg"};
    m.fake.files.put("/etc/os-release", "ID=debian\n");
    m.fake.files.put("/var/lib/dpkg/status",
                     "Package: there\nStatus: install ok installed\nVersion: 1\n");
    ASSERT_TRUE(m.fake.files.make_directories("/var/lib/dpkg/updates"));
    m.fake.processes.answer("/usr/bin/dpkg-query", {.status = 1});
    m.fake.processes.answer("/usr/bin/apt-", sys::Outcome{});
    m.fake.processes.answer("/usr/bin/apt-get -q -y -d", {.status = 100});
    const auto package = [](const char* name, const char* more = R"("ensure":"present")") {
        return resource("Package", name, more);
    };
    const auto asked = [&] {
        Lines out;
        for (const std::string& text : m.fake.processes.texts()) {
            if (text.starts_with("/usr/bin/apt-get")) out.push_back(text.substr(17));
        }
        m.fake.processes.calls.clear();
        return out;
    };
    const std::string how = "-q -y -o DPkg::Options::=--force-confold ";
    const Lines said =
        m.run(package("a") + package("b") + package("there") + package("c") +
              package("later", R"("ensure":"present","require":"Package[c]")") +
              package("not", R"("ensure":"present","noop":true)") +
              package("other", R"("ensure":"present","install_options":["-V"])") +
              package("fixed", R"("ensure":"2.0")") + package("gone", R"("ensure":"absent")"));
    EXPECT_EQ(
        asked(),
        (Lines{"-q -y -d install a b c", how + "install a", how + "install b", how + "install c",
               how + "install later", how + "-V install other",
               "-q -y -o DPkg::Options::=--force-confold --allow-downgrades install fixed=2.0"}));
    EXPECT_TRUE(std::ranges::find(said, "/Stage[main]/Main/Package[c]/ensure: created") !=
                said.end())
        << fmt::format("{}", fmt::join(said, "\n"));
    // For two packages, a shared download is not faster.
    m.run(package("a") + package("b"));
    EXPECT_EQ(asked(), (Lines{how + "install a", how + "install b"}));
    m.run(package("a") + package("b") + package("c"), true);
    EXPECT_EQ(asked(), Lines{});
}

}  // namespace
}  // namespace bunraku::apply
