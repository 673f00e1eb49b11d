// SPDX-License-Identifier: Apache-2.0
// Tests detection of the virtualization platform from files, and the facts of the cloud provider.
#include <gtest/gtest.h>

#include "core/value/rich_data.h"
#include "resources/facts/context.h"
#include "testing/fake.h"

namespace bunraku::facts {
namespace {

using Files = std::vector<std::pair<const char*, std::string>>;

constexpr const char* kVendor = "/sys/class/dmi/id/sys_vendor";
constexpr const char* kBios = "/sys/class/dmi/id/bios_vendor";
constexpr const char* kProduct = "/sys/class/dmi/id/product_name";

TEST(Virtual, Machines) {
    struct Case {
        const char* what;
        Files files;
        const char *kind, *hypervisors;
        bool is_virtual = true;
    };
    using std::string_literals::operator""s;
    const Case cases[] = {
        {"docker",
         {{"/proc/1/cgroup", "0::/docker/abc123\n"}, {kProduct, "KVM"}},
         "docker",
         R"({"docker":{"id":"abc123"},"kvm":{}})"},
        {"docker by its file",
         {{"/.dockerenv", ""}, {kProduct, "Bochs"}},
         "docker",
         R"({"docker":{}})"},
        {"lxc",
         {{"/proc/1/cgroup", "4:memory:/lxc/box/init\n"}, {kProduct, "Bochs"}},
         "lxc",
         R"({"lxc":{"name":"box"}})"},
        {"podman",
         {{"/proc/1/environ", "A=b\0container=podman\0"s}, {kProduct, "Bochs"}},
         "podman",
         "null"},
        {"oci", {{"/proc/1/environ", "container=oci\0"s}, {kProduct, "Bochs"}}, "oci", "null"},
        {"systemd-nspawn",
         {{"/proc/1/environ", "container=systemd-nspawn\0"s},
          {"/etc/machine-id", "0123\n"},
          {kProduct, "Bochs"}},
         "systemd_nspawn",
         R"({"systemd_nspawn":{"id":"0123"}})"},
        {"Google", {{kBios, "Google"}, {kVendor, "Google"}}, "gce", R"({"kvm":{"google":true}})"},
        {"Amazon",
         {{kBios, "Amazon EC2"}, {kVendor, "Amazon EC2"}},
         "kvm",
         R"({"kvm":{"amazon":true}})"},
        {"OpenStack",
         {{kVendor, "OpenStack Foundation"}, {kProduct, "OpenStack Nova KVM"}},
         "kvm",
         R"({"kvm":{"openstack":true}})"},
        {"Hyper-V",
         {{kVendor, "Microsoft Corporation"}, {kProduct, "Virtual Machine"}},
         "hyperv",
         R"({"hyperv":{}})"},
        {"VMware",
         {{kVendor, "VMware, Inc."},
          {kProduct, "VMware Virtual Platform"},
          {"/sys/firmware/dmi/tables/DMI", "\0\x18\0\0\1\2\xa5\xea\3"s}},
         "vmware",
         R"({"vmware":{}})"},
        {"VMware whose version shows",
         {{kVendor, "VMware, Inc."},
          {kProduct, "VMware7,1"},
          {"/sys/firmware/dmi/tables/DMI", "\0\x18\0\0\1\2\x52\xea\3"s}},
         "vmware",
         R"({"vmware":{"version":"ESXi 6.7"}})"},
        {"VirtualBox",
         {{kProduct, "VirtualBox"},
          {"/sys/firmware/dmi/tables/DMI", "x\0vboxVer_7.0.12\0vboxRev_159484\0"s}},
         "virtualbox",
         R"({"virtualbox":{"revision":"159484","version":"7.0.12"}})"},
        {"Parallels", {{kProduct, "Parallels Virtual Platform"}}, "parallels", "null"},
        {"oVirt", {{kProduct, "oVirt Node"}}, "ovirt", "null"},
        {"Xen, paravirtual",
         {{"/proc/xen/capabilities", ""}},
         "xenu",
         R"({"xen":{"context":"pv","privileged":false}})"},
        {"Xen, full",
         {{"/proc/xen/capabilities", ""}, {kProduct, "HVM domU"}},
         "xenhvm",
         R"({"xen":{"context":"hvm","privileged":false}})"},
        {"Xen's host",
         {{"/proc/xen/capabilities", "control_d\n"}, {"/dev/xen/evtchn", ""}},
         "xen0",
         R"({"xen":{"context":"pv","privileged":true}})",
         false},
        {"OpenVZ",
         {{"/proc/vz/veinfo", ""}, {"/proc/self/status", "Name: x\nenvID:\t101\n"}},
         "openvzve",
         R"({"openvz":{"host":false,"id":101}})"},
        {"OpenVZ's host",
         {{"/proc/vz/veinfo", ""}, {"/proc/self/status", "envID:\t0\n"}},
         "openvzhn",
         R"({"openvz":{"host":true,"id":0}})",
         false},
        {"VServer", {{"/proc/self/status", "VxID:\t40\n"}}, "vserver", "null"},
        {"z/VM", {{"/proc/sysinfo", "VM00 Control Program: z/VM 6.1.0\n"}}, "zlinux", "null"},
    };
    for (const Case& c : cases) {
        sys::FakeSystem fake;
        for (const auto& [path, text] : c.files) fake.files.put(path, text);
        base::Arena arena;
        Context context{arena, fake.system};
        EXPECT_EQ(value::to_json(resolve_virtual(context)), "\"" + std::string(c.kind) + "\"")
            << c.what;
        EXPECT_EQ(value::to_json(resolve_hypervisors(context)), c.hypervisors) << c.what;
        EXPECT_EQ(resolve_is_virtual(context).truthy(), c.is_virtual) << c.what;
    }
}

TEST(Virtual, XenDomains) {
    sys::FakeSystem fake;
    fake.files.put("/proc/xen/capabilities", "control_d\n");
    fake.files.put("/dev/xen/evtchn", "");
    fake.files.put("/usr/sbin/xl", "", 0755);
    fake.processes.answer("/usr/sbin/xl list",
                          sys::Outcome{.output = "Name    ID   Mem\nDomain-0   0  3\nwin  1 2\n"});
    base::Arena arena;
    Context context{arena, fake.system};
    EXPECT_EQ(value::to_json(resolve_xen(context)), R"({"domains":["win"]})");
}

/// A metadata service that answers from a list and records the requests.
struct FakeService {
    std::map<std::string, std::string> answers;
    std::vector<std::string> asked;
    std::string operator()(const MetadataRequest& r) {
        std::string what = r.method + " " + r.host + r.path;
        for (const auto& [name, value] : r.headers) what += " " + name + "=" + value;
        asked.push_back(what);
        const auto found = answers.find(r.method + " " + r.path);
        return found == answers.end() ? "" : found->second;
    }
};

TEST(Cloud, Amazon) {
    sys::FakeSystem fake;
    fake.files.put(kBios, "Amazon EC2");
    FakeService service{
        .answers = {{"PUT /latest/api/token", "T"},
                    {"GET /latest/meta-data/", "ami-id\niam/\npublic-keys/\nnetwork/\n"},
                    {"GET /latest/meta-data/ami-id", "ami-1\n"},
                    {"GET /latest/meta-data/iam/", "info\nsecurity-credentials/\n"},
                    {"GET /latest/meta-data/iam/info", "{}"},
                    {"GET /latest/meta-data/public-keys/", "0=mine\n"},
                    {"GET /latest/meta-data/public-keys/0/", "openssh-key"},
                    {"GET /latest/meta-data/public-keys/0/openssh-key", "ssh-rsa A"},
                    {"GET /latest/user-data/", "#!/bin/sh\n"}}};
    base::Arena arena;
    Context context{.arena = arena, .system = fake.system, .fetch = std::ref(service)};
    EXPECT_EQ(value::to_json(resolve_ec2_metadata(context)),
              R"({"ami-id":"ami-1","iam":{"info":"{}"},)"
              R"("public-keys":{"0":{"openssh-key":"ssh-rsa A"}},"network":{}})");
    EXPECT_EQ(value::to_json(resolve_cloud(context)), R"({"provider":"aws"})");
    EXPECT_EQ(value::to_json(resolve_ec2_userdata(context)), R"("#!/bin/sh")");
    EXPECT_EQ(service.asked[0],
              "PUT 169.254.169.254/latest/api/token X-aws-ec2-metadata-token-ttl-seconds=100");
    EXPECT_EQ(service.asked[1], "GET 169.254.169.254/latest/meta-data/ X-aws-ec2-metadata-token=T");
    EXPECT_TRUE(resolve_gce(context).is_undef());
    EXPECT_TRUE(resolve_az_metadata(context).is_undef());
}

TEST(Cloud, GoogleAndAzure) {
    base::Arena arena;
    sys::FakeSystem google;
    google.files.put(kBios, "Google");
    FakeService service{
        .answers = {{"GET /computeMetadata/v1/?recursive=true&alt=json",
                     R"({"instance":{"image":"projects/x/images/debian","zone":"a/b/zone-1",)"
                     R"("attributes":{"ssh-keys":"one\ntwo\n"},)"
                     R"("networkInterfaces":[{"network":"n/default"},{"network":"n/x"}]},)"
                     R"("project":{"attributes":{"sshKeys":"k"},"id":7}})"}}};
    Context context{.arena = arena, .system = google.system, .fetch = std::ref(service)};
    EXPECT_EQ(value::to_json(resolve_gce(context)),
              R"({"instance":{"image":"debian","zone":"zone-1",)"
              R"("attributes":{"ssh-keys":["one","two"]},)"
              R"("networkInterfaces":[{"network":"default"},{"network":"n/x"}]},)"
              R"("project":{"attributes":{"sshKeys":["k"]},"id":7}})");
    EXPECT_EQ(value::to_json(resolve_cloud(context)), R"({"provider":"gce"})");
    EXPECT_EQ(service.asked.size(), 1u);

    sys::FakeSystem azure;
    azure.files.put(kProduct, "Virtual Machine");
    azure.files.put("/sys/class/dmi/id/chassis_asset_tag", "7783-7084-3265-9085-8269-3286-77\n");
    FakeService az{.answers = {{"GET /metadata/instance?api-version=2020-09-01",
                                R"({"compute":{"name":"x"}})"}}};
    Context in_azure{.arena = arena, .system = azure.system, .fetch = std::ref(az)};
    EXPECT_EQ(value::to_json(resolve_az_metadata(in_azure)), R"({"compute":{"name":"x"}})");
    EXPECT_EQ(value::to_json(resolve_cloud(in_azure)), R"({"provider":"azure"})");
    EXPECT_EQ(az.asked, (std::vector<std::string>{
                            "GET 169.254.169.254/metadata/instance?api-version=2020-09-01 "
                            "Metadata=true"}));

    // On other machines, no request is sent.
    sys::FakeSystem plain;
    plain.files.put(kProduct, "Virtual Machine");
    FakeService none;
    Context at_home{.arena = arena, .system = plain.system, .fetch = std::ref(none)};
    EXPECT_TRUE(resolve_cloud(at_home).is_undef());
    EXPECT_TRUE(resolve_ec2_metadata(at_home).is_undef());
    EXPECT_TRUE(none.asked.empty());
}

}  // namespace
}  // namespace bunraku::facts
