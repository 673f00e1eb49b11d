// SPDX-License-Identifier: Apache-2.0
#include "resources/facts/facts.h"

#include <fstream>
#include <gtest/gtest.h>
#include <set>

#include "core/base/text.h"
#include "core/value/rich_data.h"
#include "resources/facts/context.h"
#include "testing/fake.h"

namespace bunraku::facts {
namespace {

// The expected values are those of Facter 4.3 for the same input.
TEST(Facts, Texts) {
    EXPECT_EQ(human_bytes(0), "0 bytes");
    EXPECT_EQ(human_bytes(1023), "1023 bytes");
    EXPECT_EQ(human_bytes(4096), "4.00 KiB");
    EXPECT_EQ(human_bytes(23017746432), "21.44 GiB");
    EXPECT_EQ(human_bytes(274877906944), "256.00 GiB");
    EXPECT_EQ(human_bytes(1048575), "1.00 MiB");
    EXPECT_EQ(human_hertz(2'000'000'000), "2.00 GHz");
    EXPECT_EQ(human_hertz(2'445'000'000), "2.45 GHz");
    EXPECT_EQ(human_hertz(999'000'000), "999.00 MHz");
    EXPECT_EQ(capacity(2257047552, 25274793984), "8.93%");
    EXPECT_EQ(capacity(0, 10), "0%");
    EXPECT_EQ(capacity(0, 0), "100%");
    EXPECT_EQ(uptime_parts(3 * 3600 + 5 * 60 + 7).text, "3:05 hours");
    EXPECT_EQ(uptime_parts(90000).text, "1 day");
    EXPECT_EQ(uptime_parts(86400 * 12).text, "12 days");
}

TEST(Facts, KernelFiles) {
    MemoryInfo m = parse_meminfo(
        "MemTotal:  1000 kB\nMemFree: 10 kB\nMemAvailable: 400 kB\nSwapTotal: 8 kB\n");
    EXPECT_EQ(m.total, 1024000u);
    EXPECT_EQ(m.available, 409600u);
    EXPECT_EQ(m.swap_total, 8192u);
    EXPECT_EQ(parse_meminfo("MemTotal: 9 kB\nMemFree: 1 kB\nBuffers: 2 kB\nCached: 3 kB").available,
              6u * 1024);

    CpuInfo c = parse_cpuinfo(
        "processor\t: 0\nmodel name\t: X 1\ncpu MHz\t\t: 2000.5\nphysical id\t: 0\nsiblings\t: 4\n"
        "cpu cores\t: 2\nflags\t: fpu hypervisor\nprocessor : 1\nmodel name : X 1\n");
    EXPECT_EQ(c.count, 2);
    EXPECT_EQ(c.models, (std::vector<std::string>{"X 1", "X 1"}));
    EXPECT_EQ(c.physical, 1);
    EXPECT_EQ(c.cores, 2);
    EXPECT_EQ(c.threads, 2);
    EXPECT_EQ(c.hertz, 2'000'000'000u);
    EXPECT_TRUE(c.flags.contains("hypervisor"));
    EXPECT_TRUE(cpu_levels(c).empty());
    c.flags = {"cmov", "cx8", "fpu", "fxsr", "lm", "mmx", "syscall", "sse2"};
    EXPECT_EQ(cpu_levels(c), (std::vector<std::string>{"x86_64-v1"}));

    auto mounts = parse_mounts(
        "proc /proc proc rw 0 0\ntmpfs /sys/fs/cgroup tmpfs rw,mode=755 0 0\n"
        "/dev/sda1 /mnt/a\\040b ext4 rw,relatime 0 0\nsystemd-1 /x autofs rw 0 0\n");
    ASSERT_EQ(mounts.size(), 2u);
    EXPECT_EQ(mounts[1].path, "/mnt/a b");
    EXPECT_EQ(mounts[0].options, (std::vector<std::string>{"rw", "mode=755"}));

    EXPECT_EQ(parse_filesystems("nodev\tsysfs\n\text4\n\tbtrfs\n\tfuseblk\n"), "btrfs,ext4");
    EXPECT_EQ(parse_default_route("Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n"
                                  "eth1\t0000000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\n"
                                  "eth0\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\n"),
              "eth0");
    EXPECT_EQ(hypervisor_of_product("VMware Virtual Platform"), "vmware");
    EXPECT_EQ(hypervisor_of_product("ThinkPad"), "");
}

TEST(Facts, CollectedFromSimulatedMachine) {
    sys::FakeSystem fake;
    fake.files.put("/proc/loadavg", "0.50 1.25 9.00 1/100 42\n");
    fake.files.put("/proc/uptime", "93784.21 1.00\n");
    fake.files.put("/proc/xen/capabilities", "");
    fake.files.put("/sys/class/dmi/id/product_name", "Box\n");
    fake.files.put("/sys/class/dmi/id/chassis_type", "3\n");
    fake.files.put("/sys/block/sda/size", "2048\n");
    fake.files.put("/sys/block/sda/device/model", "Disk \n");
    fake.files.put("/sys/block/sda/queue/rotational", "0\n");
    fake.files.put("/sys/block/sda/dev", "8:0\n");
    fake.files.put("/run/udev/data/b8:0", "E:ID_SERIAL_SHORT=abc\n");
    fake.files.put("/etc/ssh/ssh_host_ed25519_key.pub", "ssh-ed25519 AAAA root@x\n");
    fake.files.put("/facts.d/a.txt", "Role=web\n# no\nplain\n");
    fake.files.put("/facts.d/b.json", "{\"deep\":{\"list\":[1,{\"x\":true}]}}");
    fake.files.put("/facts.d/c.yaml", "kernel: Overridden\nnumber: 3\n");
    fake.files.put("/facts.d/d.sh", "", 0755);
    fake.processes.answer("/facts.d/d.sh", sys::Outcome{.output = "from_program=yes\n"});
    base::Arena arena;
    Options options{.external_directories = {"/facts.d", "/none"}};
    value::Value all = collect(arena, fake.system, options);
    const std::pair<const char*, const char*> cases[] = {
        {"load_averages", "{\"15m\":9.0,\"1m\":0.5,\"5m\":1.25}"},
        {"system_uptime", "{\"days\":1,\"hours\":26,\"seconds\":93784,\"uptime\":\"1 day\"}"},
        {"virtual", "\"xenu\""},
        {"is_virtual", "true"},
        {"hypervisors", "{\"xen\":{\"context\":\"pv\",\"privileged\":false}}"},
        {"dmi", "{\"chassis\":{\"type\":\"Desktop\"},\"product\":{\"name\":\"Box\"}}"},
        {"disks",
         "{\"sda\":{\"model\":\"Disk\",\"serial\":\"abc\",\"size\":\"1.00 MiB\","
         "\"size_bytes\":1048576,\"type\":\"ssd\"}}"},
        {"identity",
         "{\"gid\":0,\"group\":\"root\",\"privileged\":true,\"uid\":0,\"user\":\"root\"}"},
        {"ssh.ed25519.fingerprints.sha1", "\"SSHFP 4 1 29e2dcfbb16f63bb0254df7585a15bb6fb5e927d\""},
        {"role", "\"web\""},
        {"deep.list.1.x", "true"},
        {"kernel", "\"Overridden\""},
        {"number", "3"},
        {"from_program", "\"yes\""},
        {"nothing.here", "null"},
    };
    for (auto [path, json] : cases) EXPECT_EQ(value::to_json(dig(all, path)), json) << path;
}

// The output of lsblk and blkid of util-linux 2.38 without udev, and the facts that Facter 4.11
// derives from that.
TEST(Facts, PartitionsWithoutUdev) {
    sys::FakeSystem fake;
    fake.files.put("/sys/block/loop0/size", "40960\n");
    fake.files.put("/sys/block/loop0/loop/backing_file", "/srv/disk.img\n");
    fake.files.put("/sys/block/dm-0/size", "2\n");
    fake.files.put("/sys/block/dm-0/dm/name", "vg-root\n");
    fake.processes.programs = {"lsblk", "blkid"};
    fake.processes.answer(
        "lsblk -p -P",
        sys::Outcome{.output =
                         "NAME=\"/dev/loop0\" FSTYPE=\"\" UUID=\"\" LABEL=\"\" PARTUUID=\"\"\n"
                         "NAME=\"/dev/mapper/vg-root\" FSTYPE=\"xfs\" UUID=\"u-1\" "
                         "LABEL=\"\" PARTUUID=\"p-1\" PARTLABEL=\"\" PARTTYPE=\"0x83\"\n"});
    fake.processes.answer("blkid",
                          sys::Outcome{.output = "/dev/loop0: LABEL=\"data-disk\" UUID=\"u-2\" "
                                                 "BLOCK_SIZE=\"1024\" TYPE=\"ext4\"\n"
                                                 "/dev/mapper/vg-root: UUID=\"other\"\n"});
    base::Arena arena;
    Context context{arena, fake.system};
    EXPECT_EQ(value::to_json(resolve_partitions(context)),
              R"({"/dev/mapper/vg-root":{"filesystem":"xfs","parttype":"0x83","partuuid":"p-1",)"
              R"("size":"1.00 KiB","size_bytes":1024,"uuid":"u-1"},)"
              R"("/dev/loop0":{"backing_file":"/srv/disk.img","filesystem":"ext4",)"
              R"("label":"data-disk","size":"20.00 MiB","size_bytes":20971520,"uuid":"u-2"}})");
}

TEST(Facts, SupportsEveryFacterName) {
    std::ifstream in(BUNRAKU_TEST_DATA "/unit/resources/facts/names.tsv");
    ASSERT_TRUE(in);
    std::set<std::string> core, legacy;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with('#')) continue;
        const auto columns = base::split(line, '\t');
        (columns[1] == "core" ? core : legacy).emplace(columns[0]);
        if (columns.size() > 2)
            for (std::string_view name : base::split(columns[2], ',')) legacy.emplace(name);
    }
    // A fact that Puppet itself adds (facter -p).
    core.insert("puppetversion");
    std::set<std::string> here;
    for (std::string_view name : core_names()) here.emplace(name);
    EXPECT_EQ(here, core);
    here.clear();
    for (const LegacyName& name : legacy_names()) here.emplace(name.name);
    EXPECT_EQ(here, legacy);
}

TEST(Facts, EveryFactIsDocumentedAndInOrder) {
    std::string last;
    for (const FactSpec& fact : all_facts()) {
        EXPECT_FALSE(fact.doc.empty()) << fact.name;
        EXPECT_LT(last, fact.name);
        last = fact.name;
    }
}

}  // namespace
}  // namespace bunraku::facts
