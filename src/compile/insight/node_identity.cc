// SPDX-License-Identifier: Apache-2.0
#include "compile/insight/node_identity.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

#include "resources/facts/facts.h"

namespace bunraku::insight {

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// Reports whether a word may begin at `at`: not after another word character, except at the end of
/// an ANSI colour code.
bool begins(std::string_view text, std::size_t at) {
    if (at == 0 || !is_word(text[at - 1])) return true;
    if (text[at - 1] != 'm') return false;
    std::size_t i = at - 1;
    while (i > 0 && (std::isdigit(static_cast<unsigned char>(text[i - 1])) || text[i - 1] == ';'))
        --i;
    return i > 1 && text[i - 1] == '[' && text[i - 2] == '\033';
}

}  // namespace

NodeIdentity::NodeIdentity(std::string_view node, const value::Value& facts) {
    add(node, "trusted.certname");
    auto fact = [&](const std::string& path) {
        const value::Value v = facts::dig(facts, path);
        if (v.is_string()) add(v.as_string(), "facts." + path);
    };
    for (const char* path :
         {"networking.fqdn", "fqdn", "networking.hostname", "hostname", "networking.ip",
          "networking.ip6", "networking.mac", "ipaddress", "ipaddress6", "macaddress"})
        fact(path);
    if (const auto dot = node.find('.'); dot != std::string_view::npos)
        add(node.substr(0, dot), "trusted.hostname");
    const value::Value interfaces = facts::dig(facts, "networking.interfaces");
    if (interfaces.is_hash()) {
        for (const auto& e : interfaces.as_hash()) {
            if (!e.key.is_string()) continue;
            for (const char* of : {"ip", "ip6", "mac"})
                fact(fmt::format("networking.interfaces.{}.{}", e.key.as_string(), of));
        }
    }
    std::ranges::stable_sort(
        parts_, [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
}

void NodeIdentity::add(std::string_view text, std::string_view name) {
    // Values that every machine has do not identify the node.
    if (text.size() < 2 || text == "localhost" || text == "127.0.0.1" || text == "::1") return;
    const bool known =
        std::ranges::any_of(parts_, [&](const auto& part) { return part.first == text; });
    if (!known) parts_.emplace_back(text, fmt::format("%{{{}}}", name));
}

std::string NodeIdentity::without(std::string_view text) const {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const auto part = std::ranges::find_if(parts_, [&](const auto& p) {
            const std::size_t end = at + p.first.size();
            return text.substr(at).starts_with(p.first) &&
                   (end == text.size() || !is_word(text[end])) && begins(text, at);
        });
        if (part == parts_.end()) {
            out += text[at++];
        } else {
            out += part->second;
            at += part->first.size();
        }
    }
    return out;
}

}  // namespace bunraku::insight
