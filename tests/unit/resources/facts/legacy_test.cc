// SPDX-License-Identifier: Apache-2.0
// Output of Facter 4.3.0 on one machine, with and without --show-legacy.
#include <gtest/gtest.h>

#include "core/base/arena.h"
#include "core/value/rich_data.h"
#include "resources/facts/facts.h"

namespace bunraku::facts {
namespace {

TEST(LegacyFacts, MatchFacter) {
    base::Arena arena;
    const auto facts = value::parse_json(arena, R"({
        "disks":{"vda":{"size":"256.00 GiB","size_bytes":274877906944,"vendor":"0x1af4"},"sr0":{"model":"X"}},
        "identity":{"gid":0,"group":"root","uid":0,"user":"root"},
        "memory":{"system":{"available":"21.13 GiB","available_bytes":22692593664,"total":"23.54 GiB"}},
        "networking":{"fqdn":"vm","hostname":"vm","ip":"192.0.2.2","interfaces":{
            "lo":{"ip":"127.0.0.1","mtu":65536},"eth0":{"ip":"192.0.2.2","mac":"02:fc:00:00:00:01","dhcp":"192.0.2.1"}}},
        "os":{"architecture":"amd64","family":"Debian","name":"Debian","release":{"full":"12.11","major":"12"},
            "distro":{"codename":"bookworm","id":"Debian","release":{"full":"12.11","major":"12","minor":"11"}},
            "selinux":{"enabled":false}},
        "processors":{"count":2,"isa":"unknown","models":["AMD EPYC","AMD EPYC"]},
        "ssh":{"ecdsa":{"fingerprints":{"sha1":"SSHFP 3 1 a","sha256":"SSHFP 3 2 b"},"key":"AAAA"}},
        "system_uptime":{"days":1,"uptime":"1 day"}})");
    ASSERT_TRUE(facts);
    EXPECT_EQ(
        value::to_json(legacy_facts(arena, *facts)),
        R"({"architecture":"amd64","fqdn":"vm","gid":"root","hardwareisa":"unknown","hostname":"vm",)"
        R"("id":"root","ipaddress":"192.0.2.2","lsbdistcodename":"bookworm","lsbdistid":"Debian",)"
        R"("lsbdistrelease":"12.11","lsbmajdistrelease":"12","lsbminordistrelease":"11",)"
        R"("memoryfree":"21.13 GiB","memorysize":"23.54 GiB","operatingsystem":"Debian",)"
        R"("operatingsystemmajrelease":"12","operatingsystemrelease":"12.11","osfamily":"Debian",)"
        R"("processorcount":2,"selinux":false,"uptime":"1 day","uptime_days":1,)"
        R"("memoryfree_mb":21641.34375,"interfaces":"eth0,lo","ipaddress_lo":"127.0.0.1",)"
        R"("mtu_lo":65536,"ipaddress_eth0":"192.0.2.2","macaddress_eth0":"02:fc:00:00:00:01",)"
        R"("dhcp_servers":{"system":null,"eth0":"192.0.2.1"},"blockdevices":"sr0,vda",)"
        R"("blockdevice_vda_size":274877906944,"blockdevice_vda_vendor":"0x1af4",)"
        R"("blockdevice_sr0_model":"X","processor0":"AMD EPYC","processor1":"AMD EPYC",)"
        R"("sshecdsakey":"AAAA","sshfp_ecdsa":"SSHFP 3 1 a\nSSHFP 3 2 b"})");
    EXPECT_EQ(value::to_json(legacy_facts(arena, value::Value())), "{}");
}

}  // namespace
}  // namespace bunraku::facts
