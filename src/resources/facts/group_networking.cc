// SPDX-License-Identifier: Apache-2.0
// The fact networking: names, interfaces and addresses from getifaddrs, /sys and /proc, without
// running `ip`.
#include <arpa/inet.h>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <map>
#include <net/if.h>
#include <netpacket/packet.h>
#include <optional>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/config/settings.h"
#include "resources/facts/context.h"

namespace bunraku::facts {

namespace {

struct Binding {
    std::string address, netmask, network, scope;
    std::vector<std::string> flags;
};
struct Interface {
    std::string mac, dhcp, state, duplex;
    std::int64_t mtu = 0;
    std::optional<std::int64_t> speed;
    bool physical = false;
    std::vector<Binding> v4, v6;
};
using Interfaces = std::map<std::string, Interface>;

std::string text_of(int family, const void* bytes) {
    std::array<char, INET6_ADDRSTRLEN> buffer{};
    const char* text = ::inet_ntop(family, bytes, buffer.data(), buffer.size());
    return text ? text : "";
}

Binding binding_of(int family, const void* address, const void* mask) {
    Binding b;
    const std::size_t size = family == AF_INET ? 4 : 16;
    std::array<unsigned char, 16> network{};
    b.address = text_of(family, address);
    if (!mask) return b;
    for (std::size_t i = 0; i < size; ++i) {
        network[i] = static_cast<const unsigned char*>(address)[i] &
                     static_cast<const unsigned char*>(mask)[i];
    }
    b.netmask = text_of(family, mask);
    b.network = text_of(family, network.data());
    return b;
}

std::string scope_of(const in6_addr& a) {
    const std::string compat = IN6_IS_ADDR_V4COMPAT(&a) ? "compat," : "";
    if (IN6_IS_ADDR_LINKLOCAL(&a)) return compat + "link";
    if (IN6_IS_ADDR_SITELOCAL(&a)) return compat + "site";
    if (IN6_IS_ADDR_LOOPBACK(&a)) return compat + "host";
    return compat + "global";
}

/// Parses /proc/net/if_inet6 and returns the flags of IPv6 addresses by "interface address".
std::map<std::string, std::vector<std::string>> ipv6_flags(std::string_view text) {
    constexpr std::pair<const char*, unsigned> kFlags[] = {
        {"temporary", 0x01},   {"noad", 0x02},       {"optimistic", 0x04}, {"dadfailed", 0x08},
        {"homeaddress", 0x10}, {"deprecated", 0x20}, {"tentative", 0x40},  {"permanent", 0x80}};
    std::map<std::string, std::vector<std::string>> all;
    for (std::string_view line : split_lines(text)) {
        auto words = split_words(line);
        if (words.size() != 6 || words[0].size() != 32) continue;
        std::array<unsigned char, 16> bytes{};
        for (std::size_t i = 0; i < 16; ++i) {
            bytes[i] = static_cast<unsigned char>(
                std::strtoul(std::string(words[0].substr(i * 2, 2)).c_str(), nullptr, 16));
        }
        unsigned long bits = std::strtoul(std::string(words[4]).c_str(), nullptr, 16);
        auto& flags = all[fmt::format("{} {}", words[5], text_of(AF_INET6, bytes.data()))];
        for (const auto& [name, bit] : kFlags) {
            if (bits & bit) flags.emplace_back(name);
        }
    }
    return all;
}

/// Returns the permanent hardware address of an interface in a bond, where the bonding master hides
/// it.
std::string bonded_mac(Context& context, const std::string& name) {
    auto link = context.system.files.read_link("/sys/class/net/" + name + "/master");
    if (!link) return {};
    std::string master(sys::base_name(*link)), text = context.read("/proc/net/bonding/" + master);
    bool mine = false;
    for (std::string_view line : split_lines(text)) {
        if (line.starts_with("Slave Interface: ")) mine = line.substr(17) == name;
        if (mine && line.starts_with("Permanent HW addr: ")) return std::string(line.substr(19));
    }
    return {};
}

/// Returns the text after `key` up to whitespace or the end of a statement.
std::string word_after(std::string_view text, std::string_view key, std::string_view ends) {
    const auto at = text.find(key);
    if (at == text.npos) return {};
    const auto rest = text.substr(at + key.size());
    return std::string(rest.substr(0, rest.find_first_of(ends)));
}

/// Reports whether a line names the interface after the word "interface".
bool names_interface(std::string_view text, std::string_view name) {
    for (std::string_view line : split_lines(text)) {
        const auto at = line.find("interface");
        if (at != line.npos && line.find(name, at + 9) != line.npos) return true;
    }
    return false;
}

/// Reports whether `name` is a label for an address ("eth0:web") rather than an interface.
bool is_label(const std::string& name) { return name.find(':') != std::string::npos; }

std::string dhcp_server(Context& context, const std::string& name) {
    if (const unsigned index = is_label(name) ? 0 : ::if_nametoindex(name.c_str()); index != 0) {
        const std::string lease = context.read(fmt::format("/run/systemd/netif/leases/{}", index));
        std::string server = word_after(lease, "SERVER_ADDRESS=", "\n");
        if (!server.empty()) return server;
    }
    for (const char* folder : {"/var/lib/dhclient/", "/var/lib/dhcp/", "/var/lib/dhcp3/",
                               "/var/lib/NetworkManager/", "/var/db/"}) {
        for (const std::string& file : context.list(folder)) {
            const auto at = file.find("dhclient");
            if (at == std::string::npos || file.find(".lease", at) == std::string::npos) continue;
            const std::string text = context.read(folder + file);
            if (!names_interface(text, name)) continue;
            std::string server = word_after(text, "dhcp-server-identifier ", "; \n");
            if (!server.empty()) return server;
        }
    }
    const std::string manager = "/var/lib/NetworkManager/";
    for (const std::string& file : context.list(manager)) {
        if (file.find("internal") == std::string::npos || !file.ends_with(name + ".lease"))
            continue;
        return word_after(context.read(manager + file), "SERVER_ADDRESS=", "\n");
    }
    // Only dhcpcd itself knows the DHCP server. It is run only if it has a lease.
    for (const char* folder : {"/var/lib/dhcpcd/", "/var/lib/dhcpcd5/", "/run/dhcpcd/"}) {
        const bool leased =
            context.system.files.exists(fmt::format("{}{}.lease", folder, name)) ||
            context.system.files.exists(fmt::format("{}dhcpcd-{}.lease", folder, name));
        const auto program = leased ? context.system.processes.which("dhcpcd") : std::nullopt;
        if (!program) continue;
        auto outcome = context.system.processes.run(
            {.argv = {*program, "-U", name}, .timeout = std::chrono::seconds(10)});
        if (outcome) return word_after(outcome->output, "dhcp_server_identifier='", "'\n");
    }
    return {};
}

/// Asks the kernel for the MTU. /sys may show a network namespace other than this process's.
std::int64_t mtu_of(const std::string& name) {
    if (is_label(name)) return 0;
    const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return 0;
    ifreq request{};
    name.copy(request.ifr_name, IFNAMSIZ - 1);
    const bool known = ::ioctl(fd, SIOCGIFMTU, &request) == 0;
    ::close(fd);
    return known ? request.ifr_mtu : 0;
}

Interfaces read_interfaces(Context& context) {
    Interfaces all;
    ifaddrs* list = nullptr;
    if (::getifaddrs(&list) != 0) return all;
    auto flags = ipv6_flags(context.read("/proc/net/if_inet6"));
    for (const ifaddrs* a = list; a; a = a->ifa_next) {
        Interface& interface = all[a->ifa_name];
        if (!a->ifa_addr) continue;
        const int family = a->ifa_addr->sa_family;
        if (family == AF_PACKET) {
            const auto* link = reinterpret_cast<const sockaddr_ll*>(a->ifa_addr);
            std::string mac;
            bool zero = true;
            for (int i = 0; i < link->sll_halen && i < 8; ++i) {
                zero = zero && link->sll_addr[i] == 0;
                mac += fmt::format("{}{:02x}", i ? ":" : "", link->sll_addr[i]);
            }
            // An InfiniBand address is longer than sll_addr.
            if (link->sll_halen > 8)
                mac = context.read_word(fmt::format("/sys/class/net/{}/address", a->ifa_name));
            if (!zero && link->sll_halen >= 6) interface.mac = mac;
        } else if (family == AF_INET) {
            const auto* address = reinterpret_cast<const sockaddr_in*>(a->ifa_addr);
            const auto* mask = reinterpret_cast<const sockaddr_in*>(a->ifa_netmask);
            interface.v4.push_back(
                binding_of(family, &address->sin_addr, mask ? &mask->sin_addr : nullptr));
        } else if (family == AF_INET6) {
            const auto* address = reinterpret_cast<const sockaddr_in6*>(a->ifa_addr);
            const auto* mask = reinterpret_cast<const sockaddr_in6*>(a->ifa_netmask);
            Binding b = binding_of(family, &address->sin6_addr, mask ? &mask->sin6_addr : nullptr);
            b.scope = scope_of(address->sin6_addr);
            b.flags = flags[fmt::format("{} {}", a->ifa_name, b.address)];
            interface.v6.push_back(std::move(b));
        }
    }
    ::freeifaddrs(list);
    for (auto& [name, interface] : all) {
        interface.mtu = mtu_of(name);
        if (std::string mac = bonded_mac(context, name); !mac.empty()) interface.mac = mac;
        interface.dhcp = dhcp_server(context, name);
        const std::string sysfs_path = "/sys/class/net/" + name;
        interface.state = context.read_word(sysfs_path + "/operstate");
        interface.physical = context.system.files.exists(sysfs_path + "/device");
        if (!interface.physical) continue;
        // For an interface that is down, the kernel returns an error for both files.
        interface.duplex = context.read_word(sysfs_path + "/duplex");
        if (const auto speed = context.try_read(sysfs_path + "/speed"))
            interface.speed = to_integer(trim(*speed));
    }
    return all;
}

/// Reports whether an address is loopback, link-local or unique local, that is, has only local
/// scope.
bool ignored_ip(const std::string& address) {
    if (address.empty()) return true;
    in_addr v4{};
    if (::inet_pton(AF_INET, address.c_str(), &v4) == 1) {
        const std::uint32_t ip = ntohl(v4.s_addr);
        return ip >> 24 == 127 || ip >> 16 == 0xa9fe;
    }
    in6_addr v6{};
    if (::inet_pton(AF_INET6, address.c_str(), &v6) != 1) return false;
    return IN6_IS_ADDR_LOOPBACK(&v6) || IN6_IS_ADDR_LINKLOCAL(&v6) ||
           (v6.s6_addr[0] & 0xfe) == 0xfc;
}

/// Returns the main binding of an interface: the first one with more than local scope, or else the
/// first.
const Binding* main_binding(const std::vector<Binding>& bindings) {
    for (const Binding& b : bindings) {
        if (!ignored_ip(b.address)) return &b;
    }
    return bindings.empty() ? nullptr : &bindings.front();
}

Value bindings_value(Context& context, const std::vector<Binding>& bindings) {
    std::vector<Value> out;
    for (const Binding& b : bindings) {
        Fields fields(context);
        // Facter does not sort hashes inside lists; this is its order.
        fields.add("address", context.text(b.address));
        fields.add("netmask", context.text_or_undef(b.netmask));
        fields.add("network", context.text_or_undef(b.network));
        fields.add("scope6", context.text_or_undef(b.scope));
        if (!b.flags.empty()) {
            std::vector<Value> flags;
            for (const std::string& f : b.flags) flags.push_back(context.text(f));
            fields.add("flags", value::make_array(context.arena, flags));
        }
        out.push_back(fields.build());
    }
    return value::make_array(context.arena, out);
}

/// Adds the fields of an interface that the top level of `networking` repeats for the primary
/// interface.
void add_main(Context& context, Fields& fields, const Interface& interface) {
    const Binding* v4 = main_binding(interface.v4);
    const Binding* v6 = main_binding(interface.v6);
    fields.add("dhcp", context.text_or_undef(interface.dhcp));
    if (v4) fields.add("ip", context.text(v4->address));
    if (v6) fields.add("ip6", context.text(v6->address));
    fields.add("mac", context.text_or_undef(interface.mac));
    if (interface.mtu > 0) fields.add("mtu", context.integer(interface.mtu));
    if (v4) fields.add("netmask", context.text_or_undef(v4->netmask));
    if (v6) fields.add("netmask6", context.text_or_undef(v6->netmask));
    if (v4) fields.add("network", context.text_or_undef(v4->network));
    if (v6) fields.add("network6", context.text_or_undef(v6->network));
}

}  // namespace

Value resolve_networking(Context& context) {
    Interfaces interfaces = read_interfaces(context);
    config::HostName name = config::host_name();
    std::string primary = parse_default_route(context.read("/proc/net/route"));
    if (!interfaces.contains(primary)) primary.clear();
    if (primary.empty()) {
        for (const auto& [candidate, interface] : interfaces) {
            const Binding* v4 = main_binding(interface.v4);
            const Binding* v6 = main_binding(interface.v6);
            if ((v4 && !ignored_ip(v4->address)) || (v6 && !ignored_ip(v6->address))) {
                primary = candidate;
                break;
            }
        }
    }
    HashBuilder all(context.arena);
    for (const auto& [interface_name, interface] : interfaces) {
        Fields fields(context);
        if (!interface.v4.empty()) fields.add("bindings", bindings_value(context, interface.v4));
        if (!interface.v6.empty()) fields.add("bindings6", bindings_value(context, interface.v6));
        add_main(context, fields, interface);
        fields.add("duplex", context.text_or_undef(interface.duplex));
        fields.add("operational_state", context.text_or_undef(interface.state));
        fields.add("physical", Value::boolean(interface.physical));
        if (const Binding* v6 = main_binding(interface.v6)) {
            fields.add("scope6", context.text_or_undef(v6->scope));
        }
        if (interface.speed) fields.add("speed", context.integer(*interface.speed));
        all.set(context.text(interface_name), fields.build());
    }
    Fields fields(context);
    fields.add("domain", context.text_or_undef(name.domain));
    fields.add("fqdn", context.text(name.fqdn()));
    fields.add("hostname", context.text(name.host));
    fields.add("interfaces", all.build());
    if (auto it = interfaces.find(primary); it != interfaces.end()) {
        add_main(context, fields, it->second);
        fields.add("primary", context.text(primary));
        if (const Binding* v6 = main_binding(it->second.v6)) {
            fields.add("scope6", context.text_or_undef(v6->scope));
        }
    }
    return fields.build();
}

}  // namespace bunraku::facts
