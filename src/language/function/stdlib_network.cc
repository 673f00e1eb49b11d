// SPDX-License-Identifier: Apache-2.0
// stdlib's functions for addresses and interfaces.
#include <algorithm>
#include <arpa/inet.h>
#include <cctype>

#include "core/base/text.h"
#include "language/function/stdlib_support.h"
#include "language/function/stdlib_usual.h"

namespace bunraku::function {

std::optional<IpAddress> parse_ip(std::string_view text) {
    IpAddress ip;
    const std::size_t slash = text.find('/');
    std::string address(text.substr(0, slash));
    if (address.starts_with('[') && address.ends_with(']'))
        address = address.substr(1, address.size() - 2);
    if (const std::size_t zone = address.find('%'); zone != std::string::npos) address.resize(zone);
    if (inet_pton(AF_INET, address.c_str(), ip.bytes.data()) == 1) {
        ip.prefix = 32;
    } else if (inet_pton(AF_INET6, address.c_str(), ip.bytes.data()) == 1) {
        ip.v6 = true;
        ip.prefix = 128;
    } else {
        return std::nullopt;
    }
    if (slash == std::string_view::npos) return ip;
    const std::string_view mask = text.substr(slash + 1);
    if (all_digits(mask)) {
        const std::int64_t n = to_integer(Value::string(mask));
        if (n > ip.prefix) return std::nullopt;
        ip.prefix = static_cast<int>(n);
    } else {
        const auto bits = parse_ip(mask);
        if (!bits || bits->v6 != ip.v6 || mask.find('/') != mask.npos) return std::nullopt;
        int n = 0;
        while (n < bits->prefix &&
               (bits->bytes[static_cast<std::size_t>(n / 8)] >> (7 - n % 8)) & 1)
            ++n;
        ip.prefix = n;
    }
    for (int bit = ip.prefix; bit < (ip.v6 ? 128 : 32); ++bit) {
        auto& byte = ip.bytes[static_cast<std::size_t>(bit / 8)];
        byte = static_cast<unsigned char>(byte & ~(0x80 >> (bit % 8)));
    }
    return ip;
}

bool IpAddress::includes(const IpAddress& other) const {
    if (v6 != other.v6 || other.prefix < prefix) return false;
    for (int bit = 0; bit < prefix; ++bit) {
        const auto i = static_cast<std::size_t>(bit / 8);
        if ((bytes[i] ^ other.bytes[i]) & (0x80 >> (bit % 8))) return false;
    }
    return true;
}

std::string IpAddress::to_text() const {
    char buffer[INET6_ADDRSTRLEN] = {};
    inet_ntop(v6 ? AF_INET6 : AF_INET, bytes.data(), buffer, sizeof buffer);
    return buffer;
}

namespace {

IpAddress ip_or_error(const Value& v) {
    if (!v.is_string()) argument_error("unsupported address family: {}", ruby_class(v));
    const auto ip = parse_ip(v.as_string());
    if (!ip) argument_error("invalid address: {}", v.as_string());
    return *ip;
}

Value ip_in_range(const Call& call) {
    const IpAddress ip = ip_or_error(call[0]);
    if (call[1].is_string()) return Value::boolean(ip_or_error(call[1]).includes(ip));
    std::vector<IpAddress> ranges;
    for (const Value& v : call[1].as_array()) ranges.push_back(ip_or_error(v));
    return Value::boolean(std::any_of(ranges.begin(), ranges.end(),
                                      [&](const IpAddress& range) { return range.includes(ip); }));
}

Value enclose_ipv6(const Call& call) {
    if (call.size() != 1)
        argument_error("enclose_ipv6(): Wrong number of arguments given {} for 1", call.size());
    if (!call[0].is_string() && !call[0].is_array())
        argument_error("enclose_ipv6(): Wrong argument type given {} expected String or Array",
                       ruby_class(call[0]));
    std::vector<Value> flat, out;
    flatten_into(flat, call.args);
    for (const Value& v : flat) {
        if (v.is_undef()) continue;
        Value kept = v;
        if (!(v.is_string() && v.as_string() == "*")) {
            const auto ip = v.is_string() ? parse_ip(v.as_string()) : std::nullopt;
            if (!ip)
                argument_error("enclose_ipv6(): Wrong argument given {} is not an ip address.",
                               ruby_to_s(v));
            if (ip->v6) kept = text(call, "[" + ip->to_text() + "]");
        }
        out.push_back(kept);
    }
    return list(call, unique(out));
}

/// Reports whether an interface has the value `wanted` as its `kind`. Reads the structured facts,
/// and also the legacy facts ("ipaddress_eth0") if the node sends them.
bool interface_has(const Call& call, std::string_view kind, const Value& wanted) {
    auto& in = call.interpreter;
    if (const auto v = in.lookup_variable(in.top_scope(), kind); v && value::equal(*v, wanted))
        return true;
    if (const auto names = in.lookup_variable(in.top_scope(), "interfaces");
        names && names->is_string()) {
        std::string_view rest = names->as_string();
        while (!rest.empty()) {
            const std::size_t end = std::min(rest.find(','), rest.size());
            std::string name = std::string(kind) + "_" + std::string(rest.substr(0, end));
            base::make_lower(name);
            if (const auto v = in.lookup_variable(in.top_scope(), name);
                v && value::equal(*v, wanted))
                return true;
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
    }
    const std::string_view modern = kind == "ipaddress"    ? "ip"
                                    : kind == "macaddress" ? "mac"
                                                           : kind;
    const Value interfaces = fact_value(call, {"networking", "interfaces"});
    if (!interfaces.is_hash()) return false;
    for (const auto& e : interfaces.as_hash()) {
        const Value* v = e.value.is_hash() ? e.value.as_hash().find(modern) : nullptr;
        if (v && value::equal(*v, wanted)) return true;
    }
    return false;
}

bool has_interface(const Call& call, const Value& name) {
    auto& in = call.interpreter;
    if (const auto names = in.lookup_variable(in.top_scope(), "interfaces");
        names && names->is_string() && name.is_string()) {
        if (("," + std::string(names->as_string()) + ",")
                .find("," + std::string(name.as_string()) + ",") != std::string::npos)
            return true;
    }
    const Value interfaces = fact_value(call, {"networking", "interfaces"});
    return interfaces.is_hash() && interfaces.as_hash().find(name);
}

Value has_interface_with(const Call& call) {
    if (call.size() == 0 || call.size() > 2)
        argument_error("has_interface_with(): Wrong number of arguments given ({} for 1 or 2)",
                       call.size());
    if (call.size() == 1) return Value::boolean(has_interface(call, call[0]));
    return Value::boolean(interface_has(call, ruby_to_s(call[0]), call[1]));
}
Value has_ip_address(const Call& call) {
    if (call.size() != 1)
        argument_error("has_ip_address(): Wrong number of arguments given ({} for 1)", call.size());
    return Value::boolean(interface_has(call, "ipaddress", call[0]));
}
Value has_ip_network(const Call& call) {
    if (call.size() != 1)
        argument_error("has_ip_network(): Wrong number of arguments given ({} for 1)", call.size());
    return Value::boolean(interface_has(call, "network", call[0]));
}

const Builtin kFunctions[] = {
    {"stdlib::ip_in_range",
     "True if an address is in one of the networks.",
     {{"String ipaddress, Variant[String, Array] range >> Boolean", ip_in_range}}},
    {"enclose_ipv6",
     "Puts IPv6 addresses in brackets.",
     {{"", enclose_ipv6}},
     false,
     -1,
     {},
     usual::texts},
    {"has_interface_with",
     "True if the node has an interface, or one with an attribute.",
     {{"", has_interface_with}},
     false,
     -1},
    {"stdlib::has_interface_with",
     "True if the node has an interface, or one with an attribute.",
     {{"String[1] interface >> Boolean", has_interface_with},
      {"Enum['macaddress','netmask','ipaddress','network','ip','mac'] kind, String[1] value >> "
       "Boolean",
       has_interface_with}}},
    {"has_ip_address", "True if an interface has the address.", {{"", has_ip_address}}, false, -1},
    {"has_ip_network",
     "True if an interface is in the network.",
     {{"", has_ip_network}},
     false,
     -1},
};

}  // namespace

std::span<const Builtin> stdlib_network_functions() { return kFunctions; }

}  // namespace bunraku::function
