// SPDX-License-Identifier: Apache-2.0
// Compares os.name, os.family, os.release and os.distro of many distributions with Facter.
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

#include "core/value/rich_data.h"
#include "resources/facts/context.h"
#include "testing/fake.h"

namespace bunraku::facts {
namespace {

TEST(Distributions, MatchFacter) {
    std::ifstream in(BUNRAKU_TEST_DATA "/unit/resources/facts/distributions.txt");
    ASSERT_TRUE(in);
    std::string line, name, file, text;
    auto fake = std::make_unique<sys::FakeSystem>();
    int cases = 0;
    const auto finish_file = [&] {
        if (!file.empty()) fake->files.put(file, text);
        file.clear();
        text.clear();
    };
    while (std::getline(in, line)) {
        if (line.starts_with("=== ")) {
            name = line.substr(4);
            fake = std::make_unique<sys::FakeSystem>();
            fake->files.put("/proc/sys/kernel/osrelease", "6.18.44-fc-v445\n");
        } else if (line.starts_with("--- ")) {
            finish_file();
            file = line.substr(4);
        } else if (line.starts_with("+++ ")) {
            finish_file();
            base::Arena arena;
            Context context{arena, fake->system};
            const value::Value os = resolve_os(context);
            HashBuilder shown(arena);
            for (std::string_view key : {"distro", "family", "name", "release"})
                if (const value::Value v = dig(os, key); !v.is_undef()) shown.set(key, v);
            EXPECT_EQ(value::to_json(shown.build()), line.substr(4)) << name;
            ++cases;
        } else if (!file.empty()) {
            text += line + "\n";
        }
    }
    EXPECT_EQ(cases, 36);
}

TEST(Distributions, RunsProgramsOnlyIfFilesLackValues) {
    sys::FakeSystem arch;
    arch.files.put("/etc/os-release", "NAME=\"Arch Linux\"\nID=arch\n");
    arch.files.put("/etc/arch-release", "");
    arch.processes.programs = {"lsb_release"};
    arch.processes.answer("lsb_release -a",
                          sys::Outcome{.output = "LSB Version:\tn/a\nDistributor ID:\tArch\n"
                                                 "Description:\tArch Linux\nRelease:\trolling\n"
                                                 "Codename:\tn/a\n"});
    const OsInfo os = read_os(arch.files, &arch.processes);
    EXPECT_EQ(os.distro_id, "Arch");
    EXPECT_EQ(os.distro_release.full, "rolling");
    EXPECT_EQ(os.specification, "n/a");
    // Debian's files contain all values.
    sys::FakeSystem debian;
    debian.files.put("/etc/os-release", "NAME=\"Debian GNU/Linux\"\nID=debian\n");
    debian.processes.programs = {"lsb_release"};
    read_os(debian.files, &debian.processes);
    EXPECT_TRUE(debian.processes.calls.empty());
    sys::FakeSystem amazon;
    amazon.files.put("/etc/os-release", "NAME=\"Amazon Linux\"\nID=amzn\nVERSION_ID=\"2023\"\n");
    amazon.files.put("/etc/system-release", "Amazon Linux release 2023 (Amazon Linux)\n");
    amazon.processes.programs = {"rpm"};
    amazon.processes.answer(
        "rpm -q --qf",
        sys::Outcome{.output = "system-release\n2023.1.20230912\n0.amzn2023\nAmazon Linux"});
    const OsInfo release = read_os(amazon.files, &amazon.processes);
    EXPECT_EQ(release.release.full, "2023.1.20230912");
    EXPECT_EQ(release.distro_release.patch, "20230912");
}

}  // namespace
}  // namespace bunraku::facts
