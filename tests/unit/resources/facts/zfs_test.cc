// SPDX-License-Identifier: Apache-2.0
// The facts that OpenFact added for ZFS on Linux and for the end of support.
#include <gtest/gtest.h>

#include "core/value/rich_data.h"
#include "resources/facts/context.h"
#include "testing/fake.h"

namespace bunraku::facts {
namespace {

using Resolve = Value (*)(Context&);

std::string fact(sys::FakeSystem& fake, Resolve resolve) {
    base::Arena arena;
    Context context{arena, fake.system};
    return value::to_json(resolve(context));
}

TEST(Zfs, ReadsTheVersionsOfBothPrograms) {
    sys::FakeSystem fake;
    fake.processes.programs = {"zfs", "zpool"};
    fake.processes.answer(
        "/usr/bin/zfs upgrade -v",
        sys::Outcome{.output = "The following filesystem versions are supported:\n\n"
                               "VER  DESCRIPTION\n"
                               "---  --------------------------------------------------------\n"
                               " 1   Initial ZFS filesystem version\n"
                               " 5   System attributes\n"});
    fake.processes.answer(
        "/usr/bin/zpool upgrade -v",
        sys::Outcome{.output = "This system supports ZFS pool feature flags.\n\n"
                               "FEAT DESCRIPTION\n"
                               "async_destroy                         (read-only compatible)\n"
                               "     Destroy filesystems asynchronously.\n"
                               "lz4_compress\n"
                               "     LZ4 compression algorithm support.\n\n"
                               "VER  DESCRIPTION\n"
                               " 1   Initial ZFS version\n"
                               " 28  Multiple vdev replacements\n"});
    EXPECT_EQ(fact(fake, resolve_zfs_featurenumbers), R"("1,5")");
    EXPECT_EQ(fact(fake, resolve_zfs_version), R"("5")");
    EXPECT_EQ(fact(fake, resolve_zpool_featureflags), R"("async_destroy,lz4_compress")");
    EXPECT_EQ(fact(fake, resolve_zpool_featurenumbers), R"("1,28")");
    EXPECT_EQ(fact(fake, resolve_zpool_version), R"("5000")");
}

TEST(Zfs, RunsAProgramOnceForSeveralFacts) {
    sys::FakeSystem fake;
    fake.processes.programs = {"zpool"};
    fake.processes.answer("/usr/bin/zpool upgrade -v", sys::Outcome{.output = " 1   Initial\n"});
    base::Arena arena;
    Context context{arena, fake.system};
    EXPECT_EQ(value::to_json(resolve_zpool_featurenumbers(context)), R"("1")");
    EXPECT_EQ(value::to_json(resolve_zpool_version(context)), R"("1")");
    EXPECT_EQ(fake.processes.calls.size(), 1U);
}

TEST(Zfs, HasNoFactsWithoutThePrograms) {
    sys::FakeSystem fake;
    for (const Resolve resolve :
         {resolve_zfs_featurenumbers, resolve_zfs_version, resolve_zpool_featureflags,
          resolve_zpool_featurenumbers, resolve_zpool_version})
        EXPECT_EQ(fact(fake, resolve), "null");
    EXPECT_TRUE(fake.processes.calls.empty());
}

TEST(OsSupport, HasTheEndOfSupport) {
    sys::FakeSystem fake;
    fake.files.put("/etc/os-release", "ID=fedora\nSUPPORT_END=2027-05-19\n");
    base::Arena arena;
    Context context{arena, fake.system};
    EXPECT_EQ(value::to_json(dig(resolve_os(context), "support")), R"({"end":"2027-05-19"})");
}

}  // namespace
}  // namespace bunraku::facts
