// SPDX-License-Identifier: Apache-2.0
// The facts virtual, is_virtual, hypervisors and xen, which describe the kind of machine. Facter
// runs virt-what, lspci and dmidecode. This code reads the files that those programs read.
#include <algorithm>
#include <fmt/format.h>

#include "resources/facts/context.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include <cstring>

namespace bunraku::facts {

namespace {

/// Returns the signature that a hypervisor provides to its guests in the CPUID leaf 0x40000000.
std::string cpuid_signature() {
#if defined(__x86_64__) || defined(__i386__)
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & (1u << 31))) return {};
    __cpuid(0x40000000, eax, ebx, ecx, edx);
    char text[13] = {};
    std::memcpy(text, &ebx, 4);
    std::memcpy(text + 4, &ecx, 4);
    std::memcpy(text + 8, &edx, 4);
    return text;
#else
    return {};
#endif
}

std::string_view hypervisor_of_signature(std::string_view signature) {
    constexpr std::pair<std::string_view, std::string_view> kSignatures[] = {
        {"KVMKVMKVM", "kvm"},           {"VMwareVMware", "vmware"},
        {"Microsoft Hv", "hyperv"},     {"XenVMMXenVMM", "xenhvm"},
        {"bhyve bhyve ", "bhyve"},      {"OpenBSDVMM58", "vmm"},
        {"VBoxVBoxVBox", "virtualbox"}, {" lrpepyh vr", "parallels"},
        {"TCGTCGTCGTCG", "qemu"},       {"UnisysSpar64", "unisys-s-par"},
        {"ACRNACRNACRN", "acrn"},       {"QNXQVMBSQG", "qnx"}};
    for (const auto& [text, name] : kSignatures)
        if (signature.starts_with(text)) return name;
    return {};
}

/// Returns the value of an environment variable of process 1.
std::string first_process_variable(Context& context, std::string_view name) {
    const std::string environment = context.read("/proc/1/environ");
    std::string_view rest = environment;
    while (!rest.empty()) {
        const auto end = rest.find('\0');
        const auto entry = rest.substr(0, end);
        if (entry.starts_with(name) && entry.size() > name.size() && entry[name.size()] == '=')
            return std::string(entry.substr(name.size() + 1));
        rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
    }
    return {};
}

void detect_container(Context& context, Virtuality& out) {
    const std::string cgroup = context.read("/proc/1/cgroup");
    const auto id_after = [&](std::size_t at, const char* ends) {
        const std::string rest = cgroup.substr(at);
        return rest.substr(0, rest.find_first_of(ends));
    };
    const std::size_t docker = cgroup.find("docker/");
    if (docker != std::string::npos || context.system.files.exists("/.dockerenv")) {
        out.container = "docker";
        if (docker != std::string::npos) out.container_id = id_after(docker + 7, "\n");
        return;
    }
    for (std::string_view line : split_lines(cgroup)) {
        // "/lxc/NAME" at the start of the line, or as the path in the line of a hierarchy.
        const auto path = line.substr(std::min(line.rfind(':') + 1, line.size()));
        if (!path.starts_with("/lxc/")) continue;
        const auto name = path.substr(5);
        out.container = "lxc";
        out.container_id = name.substr(0, name.find('/'));
        return;
    }
    const std::string variable = first_process_variable(context, "container");
    if (variable == "lxc" || variable == "lxc-virtwhat" || variable == "podman" ||
        variable == "crio" || variable == "oci") {
        out.container = variable;
    } else if (variable == "systemd-nspawn") {
        out.container = "systemd_nspawn";
        out.container_id = context.read_word("/etc/machine-id");
    } else if (variable == "docker") {
        out.container = "docker";
    } else if (variable.empty() && context.system.files.exists("/run/.containerenv")) {
        out.container = "podman";
    }
}

/// Returns the second word of the first line in /proc/self/status that begins with one of the keys.
std::string status_word(Context& context, std::initializer_list<std::string_view> keys) {
    const std::string status = context.read("/proc/self/status");
    for (std::string_view line : split_lines(status)) {
        const auto words = split_words(line);
        if (words.size() != 2) continue;
        for (std::string_view key : keys)
            if (words[0] == key) return std::string(words[1]);
    }
    return {};
}

std::string openvz_kind(Context& context, std::string* id) {
    auto& files = context.system.files;
    if (!files.is_directory("/proc/vz") || files.is_file("/proc/lve/list") ||
        context.list("/proc/vz").empty())
        return {};
    *id = status_word(context, {"envID:"});
    if (id->empty()) return {};
    return *id == "0" ? "openvzhn" : "openvzve";
}

std::string xen_kind(Context& context) {
    auto& files = context.system.files;
    if (files.exists("/dev/xen/evtchn") && context.read_word("/proc/xen/capabilities") != "")
        return "xen0";
    const auto disk = files.lstat("/dev/xvda1");
    if (files.exists("/proc/xen") || (disk && disk->kind != sys::FileKind::Link)) return "xenu";
    return {};
}

/// Returns the hypervisor by the PCI devices that it provides to its guests, as `lspci` lists them.
std::string_view pci_kind(Context& context) {
    constexpr std::pair<std::string_view, std::string_view> kVendors[] = {
        {"0x80ee", "virtualbox"}, {"0x5853", "xenhvm"},    {"0x1414", "hyperv"},
        {"0x15ad", "vmware"},     {"0x1ab8", "parallels"}, {"0x1af4", "kvm"}};
    const std::string folder = "/sys/bus/pci/devices";
    for (const std::string& device : context.list(folder)) {
        const std::string vendor = context.read_word(fmt::format("{}/{}/vendor", folder, device));
        for (const auto& [number, name] : kVendors)
            if (vendor == number) return name;
    }
    return {};
}

std::string machine_of(Context& context) {
    const std::string vendor = read_dmi(context, "bios_vendor");
    if (vendor.find("Google") != std::string::npos) return "gce";
    if (context.read("/proc/version").starts_with("BrandZ virtual linux")) return "illumos-lx";
    const std::string sysinfo = context.read("/proc/sysinfo");
    if (sysinfo.find("z/VM") != std::string::npos || sysinfo.find("KVM/Linux") != std::string::npos)
        return "zlinux";
    std::string id;
    if (std::string kind = openvz_kind(context, &id); !kind.empty()) return kind;
    if (std::string guest = status_word(context, {"s_context:", "VxID:"}); !guest.empty())
        return guest == "0" ? "vserver_host" : "vserver";
    const std::string product = read_dmi(context, "product_name");
    if (std::string kind = xen_kind(context); !kind.empty())
        return kind == "xenu" && product.find("HVM domU") != std::string::npos ? "xenhvm" : kind;
    if (vendor.find("Amazon EC2") != std::string::npos) return "kvm";
    if (auto name = hypervisor_of_product(product); !name.empty()) return std::string(name);
    const std::string signature = cpuid_signature();
    if (auto name = hypervisor_of_signature(signature); !name.empty()) return std::string(name);
    if (auto name = pci_kind(context); !name.empty()) return std::string(name);
    if (!signature.empty() || read_dmi(context, "sys_vendor") == "QEMU") return "kvm";
    return "physical";
}

/// Returns the text after `key` in the tables of the firmware, which only root may read.
std::string firmware_text(std::string_view table, std::string_view key) {
    const auto at = table.find(key);
    if (at == table.npos) return {};
    const auto rest = table.substr(at + key.size());
    return std::string(rest.substr(0, rest.find_first_of(std::string_view(" \0\n", 3))));
}

/// Returns the VMware version that has its BIOS at this address (type 0, bytes 6 and 7).
std::string_view vmware_version(std::string_view table) {
    constexpr std::pair<unsigned, std::string_view> kBiosAddresses[] = {
        {0xe8480, "ESXi 2.5"},  {0xe7c70, "ESXi 3.0"}, {0xe66c0, "ESXi 3.5"},
        {0xe7910, "ESXi 3.5"},  {0xea550, "ESXi 4.0"}, {0xea6c0, "ESXi 4.0"},
        {0xea2e0, "ESXi 4.1"},  {0xe72c0, "ESXi 5.0"}, {0xea0c0, "ESXi 5.1"},
        {0xea050, "ESXi 5.5"},  {0xe99e0, "ESXi 6.0"}, {0xe9a40, "ESXi 6.0"},
        {0xea580, "ESXi 6.5"},  {0xea520, "ESXi 6.7"}, {0xea490, "ESXi 6.7"},
        {0xea5e0, "Fusion 8.5"}};
    if (table.size() < 8 || table[0] != 0) return {};
    const unsigned segment = static_cast<unsigned char>(table[6]) |
                             static_cast<unsigned>(static_cast<unsigned char>(table[7])) << 8;
    for (const auto& [address, version] : kBiosAddresses)
        if (address == segment << 4) return version;
    return {};
}

}  // namespace

const Virtuality& detect_virtuality(Context& context) {
    if (!context.virtuality) {
        Virtuality& out = context.virtuality.emplace();
        detect_container(context, out);
        out.machine = machine_of(context);
        out.kind = out.container.empty() ? out.machine : out.container;
    }
    return *context.virtuality;
}

Value resolve_virtual(Context& context) { return context.text(detect_virtuality(context).kind); }

Value resolve_is_virtual(Context& context) {
    const std::string kind = detect_virtuality(context).kind;
    bool bare = kind == "physical" || kind == "xen0" || kind == "openvzhn" ||
                kind == "vmware_server" || kind == "vmware_workstation" || kind == "vserver_host";
    return Value::boolean(!bare);
}

Value resolve_hypervisors(Context& context) {
    const Virtuality& v = detect_virtuality(context);
    Fields all(context);
    const auto container = [&](const char* name, const char* key) {
        if (v.container == name)
            all.add(name, Fields(context).add(key, context.text_or_undef(v.container_id)).build());
    };
    container("docker", "id");
    const std::string maker = read_dmi(context, "sys_vendor");
    const std::string product = read_dmi(context, "product_name");
    const std::string bios = read_dmi(context, "bios_vendor");
    const auto has = [](const std::string& text, std::string_view part) {
        return text.find(part) != std::string::npos;
    };
    if (has(maker, "Microsoft") || product == "Virtual Machine")
        all.add("hyperv", Fields(context).build());
    const bool other = v.machine == "virtualbox" || v.machine == "parallels";
    if (!other && (v.machine == "kvm" || has(bios, "Amazon EC2") || has(bios, "Google") ||
                   has(product, "OpenStack"))) {
        Fields provider(context);
        if (maker == "Google") {
            provider.add("google", Value::boolean(true));
        } else if (maker.starts_with("OpenStack")) {
            provider.add("openstack", Value::boolean(true));
        } else if (maker.starts_with("Amazon")) {
            provider.add("amazon", Value::boolean(true));
        }
        all.add("kvm", provider.build());
    }
    container("lxc", "name");
    std::string id;
    if (const std::string kind = openvz_kind(context, &id); !kind.empty())
        all.add("openvz", Fields(context)
                              .add("host", Value::boolean(kind == "openvzhn"))
                              .add("id", context.integer(to_integer(id)))
                              .build());
    container("systemd_nspawn", "id");
    if (v.machine == "virtualbox" || v.machine == "vmware" || maker == "VMware, Inc.") {
        const std::string table = context.read("/sys/firmware/dmi/tables/DMI");
        if (v.machine == "virtualbox")
            all.add("virtualbox",
                    Fields(context)
                        .add("revision", context.text_or_undef(firmware_text(table, "vboxRev_")))
                        .add("version", context.text_or_undef(firmware_text(table, "vboxVer_")))
                        .build());
        else
            all.add("vmware", Fields(context)
                                  .add("version", context.text_or_undef(vmware_version(table)))
                                  .build());
    }
    if (has(v.machine, "xen")) {
        const bool privileged =
            context.read_word("/proc/xen/capabilities") == "control_d" || v.machine == "xen0";
        all.add("xen", Fields(context)
                           .add("context", Value::string(v.machine == "xenhvm" ? "hvm" : "pv"))
                           .add("privileged", Value::boolean(privileged))
                           .build());
    }
    return all.build_or_undef();
}

Value resolve_xen(Context& context) {
    if (detect_virtuality(context).machine != "xen0") return Value::undef();
    std::vector<std::string> tools;
    for (const char* tool : {"/usr/sbin/xl", "/usr/sbin/xm"})
        if (context.system.files.exists(tool)) tools.emplace_back(tool);
    const std::string stack = "/usr/lib/xen-common/bin/xen-toolstack";
    if (tools.size() > 1 && context.system.files.exists(stack)) tools = {stack};
    std::vector<Value> domains;
    if (!tools.empty()) {
        auto outcome = context.system.processes.run(
            {.argv = {tools[0], "list"}, .timeout = std::chrono::milliseconds(10'000)});
        if (outcome && outcome->ok()) {
            for (std::string_view line : split_lines(outcome->output)) {
                const auto words = split_words(line);
                if (words.empty() || line.find("Domain-0") != line.npos ||
                    line.find("Name") != line.npos)
                    continue;
                domains.push_back(context.text(words[0]));
            }
        }
    }
    return Fields(context).add("domains", value::make_array(context.arena, domains)).build();
}

}  // namespace bunraku::facts
