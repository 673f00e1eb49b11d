// virtual, is_virtual, hypervisors, dmi: what this machine runs on.
#include "facts/context.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include <cstring>

namespace bunraku::facts {

namespace {

constexpr const char* kDmi = "/sys/class/dmi/id/";

/// The signature that a hypervisor leaves for its guests in the CPUID leaf 0x40000000.
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

std::string container_of(Context& context, std::string* id) {
    std::string cgroup = context.read("/proc/1/cgroup");
    std::string environment = context.read("/proc/1/environ");
    auto in_environment = [&](std::string_view what) {
        return environment.find(what) != std::string::npos;
    };
    if (std::size_t at = cgroup.find("docker/"); at != std::string::npos) {
        std::string rest = cgroup.substr(at + 7);
        *id = rest.substr(0, rest.find_first_of("\n/"));
        return "docker";
    }
    if (std::size_t at = cgroup.find("/lxc/"); at != std::string::npos) {
        std::string rest = cgroup.substr(at + 5);
        *id = rest.substr(0, rest.find_first_of("\n/"));
        return "lxc";
    }
    if (in_environment("container=lxc")) return "lxc";
    if (in_environment("container=systemd-nspawn")) {
        *id = context.read_word("/etc/machine-id");
        return "systemd_nspawn";
    }
    if (in_environment("container=podman") || context.system.files.exists("/run/.containerenv")) {
        return "podman";
    }
    if (in_environment("container=docker") || context.system.files.exists("/.dockerenv")) {
        return "docker";
    }
    return {};
}

std::string machine_of(Context& context) {
    std::string vendor = context.read_word(std::string(kDmi) + "bios_vendor");
    std::string product = context.read_word(std::string(kDmi) + "product_name");
    if (vendor.find("Google") != std::string::npos) return "gce";
    if (context.system.files.exists("/proc/xen/capabilities")) {
        std::string text = context.read("/proc/xen/capabilities");
        return text.find("control_d") != std::string::npos ? "xen0" : "xenu";
    }
    if (context.system.files.is_directory("/proc/vz")) {
        return context.system.files.is_directory("/proc/bc") ? "openvzhn" : "openvzve";
    }
    if (vendor.find("Amazon EC2") != std::string::npos) return "kvm";
    if (auto name = hypervisor_of_product(product); !name.empty()) return std::string(name);
    std::string signature = cpuid_signature();
    if (signature.starts_with("KVMKVMKVM")) return "kvm";
    if (signature == "VMwareVMware") return "vmware";
    if (signature == "Microsoft Hv") return "hyperv";
    if (signature == "XenVMMXenVMM") return "xenhvm";
    if (signature == "bhyve bhyve ") return "bhyve";
    if (signature == "OpenBSDVMM58") return "vmm";
    if (!signature.empty() || context.read_word(std::string(kDmi) + "sys_vendor") == "QEMU") {
        return "kvm";
    }
    return "physical";
}

std::string virtual_kind(Context& context) {
    std::string id;
    std::string container = container_of(context, &id);
    return container.empty() ? machine_of(context) : container;
}

std::string chassis_name(const std::string& number) {
    constexpr const char* kTypes[] = {"Other",
                                      "",
                                      "Desktop",
                                      "Low Profile Desktop",
                                      "Pizza Box",
                                      "Mini Tower",
                                      "Tower",
                                      "Portable",
                                      "Laptop",
                                      "Notebook",
                                      "Hand Held",
                                      "Docking Station",
                                      "All in One",
                                      "Sub Notebook",
                                      "Space-Saving",
                                      "Lunch Box",
                                      "Main System Chassis",
                                      "Expansion Chassis",
                                      "SubChassis",
                                      "Bus Expansion Chassis",
                                      "Peripheral Chassis",
                                      "Storage Chassis",
                                      "Rack Mount Chassis",
                                      "Sealed-Case PC",
                                      "Multi-system",
                                      "CompactPCI",
                                      "AdvancedTCA",
                                      "Blade",
                                      "Blade Enclosure",
                                      "Tablet",
                                      "Convertible",
                                      "Detachable"};
    std::int64_t n = to_integer(number);
    if (n < 1 || n > static_cast<std::int64_t>(std::size(kTypes))) return {};
    return kTypes[n - 1];
}

}  // namespace

Value resolve_virtual(Context& context) { return context.text(virtual_kind(context)); }

Value resolve_is_virtual(Context& context) {
    std::string kind = virtual_kind(context);
    bool bare = kind == "physical" || kind == "xen0" || kind == "openvzhn" ||
                kind == "vmware_server" || kind == "vmware_workstation" || kind == "vserver_host";
    return Value::boolean(!bare);
}

Value resolve_hypervisors(Context& context) {
    std::string id;
    std::string container = container_of(context, &id);
    Fields all(context);
    if (container == "docker" || container == "systemd_nspawn" || container == "podman") {
        all.add(context.text(container).as_string(),
                Fields(context).add("id", context.text_or_undef(id)).build());
    } else if (container == "lxc") {
        all.add("lxc", Fields(context).add("name", context.text_or_undef(id)).build());
    }
    std::string machine = machine_of(context);
    if (machine == "kvm" || machine == "gce") all.add("kvm", Fields(context).build());
    if (machine == "vmware" || machine == "hyperv" || machine == "virtualbox") {
        all.add(context.text(machine).as_string(), Fields(context).build());
    }
    if (machine.starts_with("xen")) {
        all.add("xen", Fields(context)
                           .add("context", Value::string(machine == "xenhvm" ? "hvm" : "pv"))
                           .add("privileged", Value::boolean(machine == "xen0"))
                           .build());
    }
    return all.build_or_undef();
}

Value resolve_dmi(Context& context) {
    auto word = [&](const char* name) {
        return context.text_or_undef(context.read_word(std::string(kDmi) + name));
    };
    Fields dmi(context);
    dmi.add("bios", Fields(context)
                        .add("release_date", word("bios_date"))
                        .add("vendor", word("bios_vendor"))
                        .add("version", word("bios_version"))
                        .build_or_undef());
    dmi.add("board", Fields(context)
                         .add("asset_tag", word("board_asset_tag"))
                         .add("manufacturer", word("board_vendor"))
                         .add("product", word("board_name"))
                         .add("serial_number", word("board_serial"))
                         .build_or_undef());
    dmi.add("chassis", Fields(context)
                           .add("asset_tag", word("chassis_asset_tag"))
                           .add("type", context.text_or_undef(chassis_name(
                                            context.read_word(std::string(kDmi) + "chassis_type"))))
                           .build_or_undef());
    dmi.add("manufacturer", word("sys_vendor"));
    dmi.add("product", Fields(context)
                           .add("name", word("product_name"))
                           .add("serial_number", word("product_serial"))
                           .add("uuid", word("product_uuid"))
                           .build_or_undef());
    return dmi.build_or_undef();
}

}  // namespace bunraku::facts
