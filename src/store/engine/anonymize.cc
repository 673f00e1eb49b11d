// SPDX-License-Identifier: Apache-2.0
#include "store/engine/anonymize.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <span>

#include "core/base/number.h"
#include "core/base/text.h"
#include "core/codec/json_text.h"
#include "resources/catalog/json_text.h"

namespace bunraku::store {

namespace {

/// Reports whether `names` contains `name`. An entry that ends with a star matches every name with
/// that prefix.
bool listed(std::span<const std::string_view> names, std::string_view name) {
    return std::any_of(names.begin(), names.end(), [&](std::string_view n) {
        return n.ends_with('*') ? name.starts_with(n.substr(0, n.size() - 1)) : n == name;
    });
}

/// Returns the value of the first `digits` hexadecimal digits of a digest.
std::uint64_t leading_hex(std::string_view hex, std::size_t digits) {
    return base::parse_integer<std::uint64_t>(hex.substr(0, digits), 16).value_or(0);
}

// Standard types, which are not anonymized.
constexpr std::string_view kKnownTypes[] = {"Augeas",
                                            "Class",
                                            "Computer",
                                            "Cron",
                                            "Exec",
                                            "File",
                                            "Filebucket",
                                            "Group",
                                            "Host",
                                            "Interface",
                                            "K5login",
                                            "Macauthorization",
                                            "Mailalias",
                                            "Mcx",
                                            "Mount",
                                            "Notify",
                                            "Package",
                                            "Resources",
                                            "Router",
                                            "Schedule",
                                            "Schedule_task",
                                            "Selboolean",
                                            "Selmodule",
                                            "Service",
                                            "Ssh_authorized_key",
                                            "Sshkey",
                                            "Stage",
                                            "Tidy",
                                            "User",
                                            "Vlan",
                                            "Yumrepo",
                                            "Zfs",
                                            "Zone",
                                            "Zpool",
                                            "Nagios_*",
                                            "Anchor",
                                            "File_line",
                                            "Pe_*",
                                            "Firewall",
                                            "A2mod",
                                            "Vcsrepo",
                                            "Filesystem",
                                            "Logical_volume",
                                            "Physical_volume",
                                            "Volume_group",
                                            "Java_ks",
                                            "Mysql*",
                                            "Postgresql*",
                                            "Rabbitmq*",
                                            "Puppetdb*",
                                            "Apache*",
                                            "Mrepo*",
                                            "F5*",
                                            "Apt*",
                                            "Registry*",
                                            "Concat*"};
constexpr std::string_view kOpenTitles[] = {"Filebucket", "Package", "Service", "Stage"};
constexpr std::string_view kOpenParameters[] = {"provider", "ensure", "noop",
                                                "loglevel", "audit",  "schedule"};
constexpr std::string_view kKnownFacts[] = {"architecture",
                                            "augeasversion*",
                                            "bios_*",
                                            "blockdevice*",
                                            "board*",
                                            "domain",
                                            "facterversion",
                                            "fqdn",
                                            "hardwareisa",
                                            "hardwaremodel",
                                            "hostname",
                                            "id",
                                            "interfaces",
                                            "ipaddress*",
                                            "iptables*",
                                            "ip6tables*",
                                            "is_pe",
                                            "is_virtual",
                                            "kernel*",
                                            "lsb*",
                                            "macaddress*",
                                            "macosx*",
                                            "memoryfree*",
                                            "memorysize*",
                                            "memorytotal",
                                            "mtu_*",
                                            "netmask*",
                                            "network*",
                                            "operatingsystem*",
                                            "osfamily",
                                            "path",
                                            "postgres_*",
                                            "processor*",
                                            "physicalprocessorcount*",
                                            "productname",
                                            "ps",
                                            "puppetversion",
                                            "rubysitedir",
                                            "rubyversion",
                                            "selinux*",
                                            "sp_*",
                                            "ssh*",
                                            "swapencrypted",
                                            "swapfree*",
                                            "swapsize*",
                                            "timezone",
                                            "uptime*",
                                            "uuid",
                                            "virtual"};
// The facts among those above whose values reveal something about the node.
constexpr std::string_view kTellingFacts[] = {"domain",      "fqdn",     "hostname", "ipaddress*",
                                              "macaddress*", "network*", "path",     "sp_*",
                                              "ssh*",        "uuid"};
// Time metrics of a run that are not types of resources.
constexpr std::string_view kKnownTimes[] = {
    "total",           "config_retrieval",       "catalog_application",
    "convert_catalog", "fact_generation",        "node_retrieval",
    "plugin_sync",     "transaction_evaluation", "startup_time"};

bool secret(std::string_view name) {
    constexpr std::string_view kParts[] = {"password", "pwd", "secret", "key", "private"};
    return std::any_of(std::begin(kParts), std::end(kParts), [&](std::string_view part) {
        return name.find(part) != std::string_view::npos;
    });
}

std::string capitalized(std::string_view text) {
    std::string out(text);
    bool first = true;
    for (char& c : out) {
        if (first && c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
        first = c == ':';
    }
    return out;
}

/// Applies `change` to each string of the array `json`.
std::string each_text(std::string_view json,
                      const std::function<std::string(std::string_view)>& change) {
    codec::JsonCursor cursor(json);
    if (cursor.kind() != codec::JsonCursor::Kind::Array) return std::string(json);
    std::string out = "[";
    cursor.enter_array();
    while (cursor.next_element()) {
        if (out.size() > 1) out += ',';
        out += codec::json_string(change(std::string(cursor.string())));
    }
    return out + "]";
}

/// Applies `change` to each member of the objects in the array `json`. `change` receives and
/// returns JSON.
std::string each_member(
    std::string_view json,
    const std::function<std::string(std::string_view key, std::string_view json)>& change) {
    codec::JsonCursor cursor(json);
    if (cursor.kind() != codec::JsonCursor::Kind::Array) return std::string(json);
    std::string out = "[";
    cursor.enter_array();
    while (cursor.next_element()) {
        out += out.size() > 1 ? ",{" : "{";
        cursor.enter_object();
        std::string_view raw;
        bool first = true;
        while (cursor.next_key(&raw)) {
            std::string key(raw);
            if (!first) out += ',';
            first = false;
            out += codec::json_string(key) + ':' + change(key, cursor.skip());
        }
        out += '}';
    }
    return out + "]";
}

/// Returns the value of a JSON string, and nullopt for other JSON.
std::optional<std::string> text_of(std::string_view json) {
    codec::JsonCursor cursor(json);
    if (cursor.kind() != codec::JsonCursor::Kind::String) return std::nullopt;
    return std::string(cursor.string());
}

}  // namespace

std::optional<Anonymizer> Anonymizer::of_profile(std::string_view profile, std::string_view salt) {
    constexpr std::pair<std::string_view, Level> kLevels[] = {{"", Level::None},
                                                              {"none", Level::None},
                                                              {"low", Level::Low},
                                                              {"moderate", Level::Moderate},
                                                              {"full", Level::Full}};
    for (const auto& [name, level] : kLevels) {
        if (name != profile) continue;
        Anonymizer out;
        out.level_ = level;
        out.salt_ = codec::sha1(salt);
        return out;
    }
    return std::nullopt;
}

std::string Anonymizer::hidden(std::string_view text) const {
    if (text.empty()) return "";
    return codec::to_hex(codec::Sha1().add(codec::bytes_of(salt_)).add(text).digest())
        .substr(0, 30);
}

std::string Anonymizer::hidden_type(std::string_view name) const {
    std::string out;
    for (;;) {
        std::size_t end = name.find("::");
        out += "T" + hidden(name.substr(0, end)).substr(0, 12);
        if (end == std::string_view::npos) return out;
        out += "::";
        name.remove_prefix(end + 2);
    }
}

std::string Anonymizer::node(std::string_view name) const {
    return level_ == Level::None ? std::string(name) : hidden(name);
}

std::string Anonymizer::environment(std::string_view name) const {
    return level_ >= Level::Moderate ? hidden(name) : std::string(name);
}

std::string Anonymizer::type(std::string_view name) const {
    bool open =
        level_ < Level::Moderate || (level_ == Level::Moderate && listed(kKnownTypes, name));
    return open ? std::string(name) : hidden_type(name);
}

std::string Anonymizer::title(std::string_view type, std::string_view title) const {
    bool open =
        level_ < Level::Moderate || (level_ == Level::Moderate && listed(kOpenTitles, type));
    return open ? std::string(title) : hidden(title);
}

std::string Anonymizer::parameter_name(std::string_view name) const {
    return level_ == Level::Full ? hidden(name) : std::string(name);
}

std::string Anonymizer::fact_name(std::string_view name) const {
    bool open =
        level_ < Level::Moderate || (level_ == Level::Moderate && listed(kKnownFacts, name));
    return open ? std::string(name) : hidden(name);
}

std::string Anonymizer::file(std::string_view path) const {
    return level_ >= Level::Moderate && !path.empty() ? "/" + hidden(path) : std::string(path);
}

std::string Anonymizer::line(std::string number) const {
    if (level_ != Level::Full || number == "null") return number;
    return std::to_string(leading_hex(hidden(number), 4) % 1000 + 1);
}

std::string Anonymizer::message(std::string_view property, std::string_view text) const {
    bool open = level_ == Level::None || (level_ == Level::Low && !secret(property));
    return open ? std::string(text) : hidden(text);
}

std::string Anonymizer::log_message(std::string_view text) const {
    return level_ == Level::None ? std::string(text) : hidden(text);
}

std::string Anonymizer::reference(std::string_view text) const {
    std::size_t bracket = text.find('[');
    if (bracket == std::string_view::npos || !text.ends_with(']')) return title("Class", text);
    std::string_view kind = text.substr(0, bracket);
    return fmt::format("{}[{}]", type(kind),
                       title(kind, text.substr(bracket + 1, text.size() - bracket - 2)));
}

std::string Anonymizer::source(std::string_view text) const {
    return level_ >= Level::Moderate && text != "Puppet" ? hidden(text) : std::string(text);
}

std::string Anonymizer::tag(std::string_view name) const {
    bool open = level_ < Level::Moderate ||
                (level_ == Level::Moderate && listed(kKnownTypes, capitalized(name)));
    return open ? std::string(name) : hidden(name);
}

std::string Anonymizer::input_type(std::string_view name) const { return other(name); }

std::string Anonymizer::input_name(std::string_view name) const {
    return level_ >= Level::Moderate ? hidden(name) : std::string(name);
}

std::string Anonymizer::other(std::string_view text) const {
    return level_ == Level::Full ? hidden(text) : std::string(text);
}

std::string Anonymizer::uuid(std::string_view text) const {
    if (level_ != Level::Full || text.empty()) return std::string(text);
    std::string hex = codec::to_hex(codec::Sha1().add(codec::bytes_of(salt_)).add(text).digest());
    return fmt::format("{}-{}-{}-{}-{}", hex.substr(0, 8), hex.substr(8, 4), hex.substr(12, 4),
                       hex.substr(16, 4), hex.substr(20, 12));
}

void Anonymizer::hide(codec::JsonCursor& json, std::string& out) const {
    using Kind = codec::JsonCursor::Kind;
    bool first = true;
    switch (json.kind()) {
        case Kind::Object: {
            out += '{';
            json.enter_object();
            std::string_view key;
            while (json.next_key(&key)) {
                if (!first) out += ',';
                first = false;
                out += codec::json_string(hidden(key)) + ':';
                hide(json, out);
            }
            out += '}';
            break;
        }
        case Kind::Array:
            out += '[';
            json.enter_array();
            while (json.next_element()) {
                if (!first) out += ',';
                first = false;
                hide(json, out);
            }
            out += ']';
            break;
        case Kind::String: out += codec::json_string(hidden(json.string())); break;
        case Kind::Number: out += std::to_string(leading_hex(hidden(json.number()), 7)); break;
        default: out += json.skip();
    }
}

std::string Anonymizer::hidden_json(std::string_view json) const {
    codec::JsonCursor cursor(json);
    std::string out;
    hide(cursor, out);
    return out;
}

std::string Anonymizer::parameter_value(std::string_view name, std::string_view json) const {
    bool open = level_ == Level::None || (level_ != Level::Full && !secret(name) &&
                                          (level_ == Level::Low || listed(kOpenParameters, name)));
    return open ? std::string(json) : hidden_json(json);
}

std::string Anonymizer::fact_value(std::string_view name, std::string_view json) const {
    bool known = listed(kKnownFacts, name) && !listed(kTellingFacts, name);
    bool open = level_ == Level::None ||
                (level_ != Level::Full && !secret(name) && (level_ == Level::Low || known));
    return open ? std::string(json) : hidden_json(json);
}

std::string Anonymizer::parameters(std::string_view json) const {
    if (level_ == Level::None) return std::string(json);
    codec::JsonCursor cursor(json);
    std::string out = "{";
    cursor.enter_object();
    std::string_view raw;
    while (cursor.next_key(&raw)) {
        std::string name(raw);
        if (out.size() > 1) out += ',';
        out +=
            codec::json_string(parameter_name(name)) + ':' + parameter_value(name, cursor.skip());
    }
    return out + "}";
}

std::string Anonymizer::tags(std::string_view json) const {
    if (level_ < Level::Moderate) return std::string(json);
    return each_text(json, [&](std::string_view t) { return tag(t); });
}

std::string Anonymizer::containment_path(std::string_view json) const {
    if (level_ < Level::Moderate) return std::string(json);
    return each_text(json, [&](std::string_view t) { return reference(t); });
}

std::string Anonymizer::metrics(std::string_view json) const {
    if (level_ < Level::Moderate) return std::string(json);
    // Keys are sorted, so the category precedes the name.
    std::string category;
    return each_member(json, [&](std::string_view key, std::string_view value) {
        auto text = text_of(value);
        if (key == "category") category = text.value_or("");
        bool is_type = key == "name" && category == "time" && text && !listed(kKnownTimes, *text);
        return is_type ? codec::json_string(base::lower(type(capitalized(*text))))
                       : std::string(value);
    });
}

std::string Anonymizer::logs(std::string_view json) const {
    if (level_ == Level::None) return std::string(json);
    return each_member(json, [&](std::string_view key, std::string_view value) {
        if (key == "tags") return tags(value);
        if (key == "line") return line(std::string(value));
        auto text = text_of(value);
        if (!text) return std::string(value);
        if (key == "message") return codec::json_string(log_message(*text));
        if (key == "source") return codec::json_string(source(*text));
        if (key == "file") return codec::json_string(file(*text));
        return std::string(value);
    });
}

}  // namespace bunraku::store
