// SPDX-License-Identifier: Apache-2.0
#include "net/http/auth_conf.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/number.h"
#include "core/base/text.h"
#include "core/codec/hocon.h"
#include "core/codec/json_text.h"
#include "core/regex/regex.h"
#include "net/http/conf_files.h"
#include "net/http/path.h"
#include "net/pki/certificate.h"

namespace bunraku::http {

using base::failure;
using base::Result;
using codec::YamlNode;
using Kind = YamlNode::Kind;

/// One allow or deny entry.
struct AuthConf::Entry {
    bool allow = false;
    enum class Match : std::uint8_t { Anyone, Name, Wildcard, Regex, Backreference, Extensions };
    Match match = Match::Name;
    /// for Name and Wildcard: lower case, the rightmost label first
    std::vector<std::string> labels;
    std::string text;  ///< for Backreference: the text as written
    std::shared_ptr<const regex::Regex> regex;
    struct Extension {
        std::string key;
        std::string kind;                  ///< for subject-alt-name: "dns-name"
        std::vector<std::string> allowed;  ///< one of them must match
    };
    std::vector<Extension> extensions;  ///< all of them must match
};

struct AuthConf::Rule {
    std::string name;
    std::int64_t sort_order = 0;
    std::string prefix;                         ///< for type path
    std::shared_ptr<const regex::Regex> regex;  ///< for type regex
    std::vector<std::string> methods;           ///< upper case; empty means any method
    std::vector<std::pair<std::string, std::vector<std::string>>> query;
    bool unauthenticated = false;
    std::vector<Entry> entries;  ///< deny entries before allow entries, otherwise in order

    /// Reports whether the rule applies to the request's method and query.
    bool applies_to(const http::Request& request) const;
    /// Reports whether the rule matches one of the paths. Stores the texts of the groups in
    /// `captures`.
    bool applies_to(const std::vector<std::string>& paths,
                    std::vector<std::string>& captures) const;
};

namespace {

/// Reads a text or a list of texts. Returns nullopt for any other node.
std::optional<std::vector<std::string>> texts_of(const YamlNode& node) {
    if (node.kind == Kind::String) return std::vector<std::string>{node.text};
    if (node.kind != Kind::Sequence) return std::nullopt;
    std::vector<std::string> out;
    for (const auto& item : node.items) {
        if (item.kind != Kind::String) return std::nullopt;
        out.push_back(item.text);
    }
    return out;
}

/// Splits "a.Example" into example, a.
std::vector<std::string> labels_of(std::string_view domain) {
    std::vector<std::string> out;
    const std::string small = base::lower(domain);
    for (auto part : base::split(small, '.')) out.emplace_back(part);
    // A final dot makes a different name, which puppetserver treats as the same.
    std::reverse(out.begin(), out.end());
    return out;
}

bool is_word_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Matches \w[-\w]* for each label; requires `least` labels or more.
bool is_domain(std::string_view text, std::size_t least) {
    auto labels = base::split(text, '.');
    if (labels.size() < least) return false;
    for (std::size_t i = 0; i < labels.size(); i++) {
        if (labels[i].empty()) return false;
        for (char c : labels[i])
            if (!is_word_character(c) && c != '-') return false;
        // puppetserver allows the last label of an exact domain to begin with a dash.
        if (labels[i][0] == '-' && i + 1 < labels.size()) return false;
    }
    return true;
}

bool is_opaque(std::string_view text) {
    if (text.empty() || !is_word_character(text[0])) return false;
    return std::all_of(text.begin(), text.end(), [](char c) {
        return is_word_character(c) || c == '-' || c == '.' || c == '@';
    });
}

/// Returns the numbers of "$1" and similar references.
std::vector<std::size_t> backreferences(std::string_view text) {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i + 1 < text.size(); i++) {
        if (text[i] != '$' || text[i + 1] < '0' || text[i + 1] > '9') continue;
        std::size_t number = 0;
        for (i++; i < text.size() && text[i] >= '0' && text[i] <= '9' && number < 100000; i++)
            number = number * 10 + static_cast<std::size_t>(text[i] - '0');
        out.push_back(number);
        i--;
    }
    return out;
}

/// Replaces "$1" and similar references with the captured texts.
std::string with_captures(std::string_view text, const std::vector<std::string>& captures) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); i++) {
        if (text[i] != '$' || i + 1 >= text.size() || text[i + 1] < '0' || text[i + 1] > '9') {
            out += text[i];
            continue;
        }
        std::size_t number = 0;
        for (i++; i < text.size() && text[i] >= '0' && text[i] <= '9' && number < 100000; i++)
            number = number * 10 + static_cast<std::size_t>(text[i] - '0');
        i--;
        if (number >= 1 && number <= captures.size()) out += captures[number - 1];
    }
    return out;
}

bool has_control(std::string_view text) {
    return std::any_of(text.begin(), text.end(),
                       [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

/// Returns the name of a rule for messages.
std::string rule_label(const YamlNode& rule, std::size_t index) {
    const auto* name = rule.kind == Kind::Mapping ? codec::find_member(&rule, "name") : nullptr;
    if (name && name->kind == Kind::String) return fmt::format("'{}'", name->text);
    return fmt::format("number {}", index + 1);
}

constexpr std::string_view kAnyMethod[] = {"DELETE", "GET", "HEAD", "POST", "PUT"};

/// Returns the decoded path of a request, and a second spelling for a folder. A search of "secret"
/// returns files below "secret/", so a rule for either spelling must match.
std::vector<std::string> paths_of(const http::Request& request) {
    std::vector<std::string> out = {http::decoded_path(request.path)};
    std::string other = out[0];
    if (!other.starts_with("/puppet/v3/file_")) return out;
    if (other.ends_with('/')) {
        other.pop_back();
    } else if (other.starts_with("/puppet/v3/file_metadatas/")) {
        other += '/';
    } else {
        return out;
    }
    out.push_back(std::move(other));
    return out;
}

}  // namespace

bool AuthConf::Rule::applies_to(const http::Request& request) const {
    // "any" means the methods that a rule can name.
    const bool among = methods.empty()
                           ? std::ranges::find(kAnyMethod, request.method) != std::end(kAnyMethod)
                           : std::ranges::find(methods, request.method) != methods.end();
    return among && std::ranges::all_of(query, [&](const auto& wanted) {
               return std::ranges::any_of(request.query, [&](const auto& given) {
                   return given.first == wanted.first &&
                          std::ranges::find(wanted.second, given.second) != wanted.second.end();
               });
           });
}

bool AuthConf::Rule::applies_to(const std::vector<std::string>& paths,
                                std::vector<std::string>& captures) const {
    for (const auto& path : paths) {
        if (!regex) {
            if (path.starts_with(prefix)) return true;
            continue;
        }
        const auto found = regex->search(path);
        if (!found) continue;
        for (std::size_t i = 1; i < found->groups.size(); i++)
            captures.emplace_back(found->group(path, i));
        return true;
    }
    return false;
}

Result<void> AuthConf::read_extensions(Entry& entry, const YamlNode& node,
                                       const std::string& rule) {
    const auto bad = [&] {
        return failure(fmt::format(
            "extensions key should map an extension to a value or list of values; in the "
            "rule '{}'",
            rule));
    };
    if (node.kind != Kind::Mapping) return bad();
    entry.match = Entry::Match::Extensions;
    for (const auto& [key, value] : node.entries) {
        if (key.text == "subject-alt-name" || key.text == "2.5.29.17") {
            if (value.kind != Kind::Mapping) return bad();
            for (const auto& [kind, names] : value.entries) {
                auto allowed = texts_of(names);
                if (!allowed) return bad();
                entry.extensions.push_back({"subject-alt-name", kind.text, std::move(*allowed)});
            }
        } else {
            auto allowed = texts_of(value);
            if (!allowed) return bad();
            entry.extensions.push_back({key.text, "", std::move(*allowed)});
        }
    }
    return {};
}

Result<void> AuthConf::read_name(Entry& entry, const std::string& name, const Rule& rule) {
    const std::size_t groups = rule.regex ? rule.regex->group_count() : 0;
    const auto references = backreferences(name);
    for (std::size_t number : references) {
        if (number >= 1 && number <= groups) continue;
        return failure(
            fmt::format("The {} field provided in the rule specified as '{}' contains the back "
                        "reference '${}' which refers to a capture group in the regex that doesn't "
                        "exist.",
                        entry.allow ? "allow" : "deny", rule.name, number));
    }
    if (name == "*") {
        entry.match = Entry::Match::Anyone;
    } else if (is_domain(name, 2) || is_opaque(name)) {
        entry.labels = labels_of(name);
    } else if (name.starts_with("*.") && is_domain(std::string_view(name).substr(2), 1)) {
        entry.match = Entry::Match::Wildcard;
        entry.labels = labels_of(std::string_view(name).substr(2));
    } else if (!references.empty()) {
        entry.match = Entry::Match::Backreference;
        entry.text = name;
    } else if (name.size() >= 2 && name.front() == '/' && name.back() == '/') {
        entry.match = Entry::Match::Regex;
        auto regex = regex::Regex::compile(std::string_view(name).substr(1, name.size() - 2));
        if (!regex)
            return failure(
                fmt::format("invalid domain value: {}: {}", name, regex.error().message));
        entry.regex = std::move(*regex);
    } else {
        return failure(fmt::format("invalid domain value: {}", name));
    }
    return {};
}

Result<void> AuthConf::add_entries(Rule& rule, const YamlNode& node, bool allow) {
    const std::string_view field = allow ? "allow" : "deny";
    if (node.kind == Kind::Sequence) {
        for (const auto& item : node.items) {
            if (item.kind != Kind::String && item.kind != Kind::Mapping) {
                return failure(fmt::format(
                    "The {} list in the rule specified as '{}' contains one or more ACEs that are "
                    "not maps or strings.",
                    field, rule.name));
            }
            BUNRAKU_TRY_VOID(add_entries(rule, item, allow));
        }
        return {};
    }
    Entry entry;
    entry.allow = allow;
    if (node.kind == Kind::String) {
        BUNRAKU_TRY_VOID(read_name(entry, node.text, rule));
    } else if (node.kind == Kind::Mapping) {
        const auto* extensions = codec::find_member(&node, "extensions");
        const auto* certname = codec::find_member(&node, "certname");
        const bool rbac = codec::find_member(&node, "rbac") != nullptr;
        if (!extensions && !certname && rbac) {
            // Clients have no roles here, so an allow entry with a role matches no client.
            if (allow) return {};
            return failure("RBAC permissions cannot be used to deny access.");
        }
        if ((extensions == nullptr) == (certname == nullptr)) {
            return failure(
                fmt::format("ACL Definition must contain exactly one of 'certname' or "
                            "'extensions' or 'rbac' keys; in the rule '{}'",
                            rule.name));
        }
        if (extensions) {
            BUNRAKU_TRY_VOID(read_extensions(entry, *extensions, rule.name));
        } else {
            if (certname->kind != Kind::String)
                return failure(fmt::format("certname key should map to a string; in the rule '{}'",
                                           rule.name));
            BUNRAKU_TRY_VOID(read_name(entry, certname->text, rule));
        }
    } else {
        return failure(fmt::format(
            "The ACE in the '{}' field of the rule specified as '{}' is invalid. It should be a "
            "string or a map with keys :extensions or :certname.",
            field, rule.name));
    }
    rule.entries.push_back(std::move(entry));
    return {};
}

Result<void> AuthConf::read_path(Rule& rule, const YamlNode& type, const YamlNode& path,
                                 const std::string& label) {
    const auto kind = type.kind == Kind::String ? base::lower(type.text) : std::string();
    if (kind != "path" && kind != "regex") {
        return failure(fmt::format(
            "The type set in the authorization rule specified as {} is invalid. It should be set "
            "to either 'path' or 'regex'.",
            label));
    }
    if (path.kind != Kind::String) {
        return failure(fmt::format(
            "The path set in the authorization rule specified as {} is invalid. It should be a "
            "string.",
            label));
    }
    if (kind == "path") {
        rule.prefix = path.text;
        return {};
    }
    auto regex = regex::Regex::compile(path.text);
    if (!regex) {
        return failure(
            fmt::format("The path regex provided in the rule defined as {} is invalid: {}", label,
                        regex.error().message));
    }
    rule.regex = std::move(*regex);
    return {};
}

Result<void> AuthConf::read_methods(Rule& rule, const YamlNode& method, const std::string& label) {
    auto methods = texts_of(method);
    bool good = methods.has_value();
    // puppetserver refuses "any", but rules for other servers contain it.
    const bool any = good && std::ranges::any_of(*methods, [](const std::string& one) {
                         return base::lower(one) == "any";
                     });
    if (any) methods->clear();
    for (auto& m : good ? *methods : std::vector<std::string>()) {
        rule.methods.push_back(base::upper(m));
        good = good && std::find(std::begin(kAnyMethod), std::end(kAnyMethod),
                                 rule.methods.back()) != std::end(kAnyMethod);
    }
    // An empty list matches nothing.
    if (good && !any && method.kind == Kind::Sequence && rule.methods.empty())
        rule.methods.emplace_back("NONE");
    if (!good) {
        return failure(fmt::format(
            "Invalid method in the authorization rule specified as {}. The method should be a "
            "string or list of strings equal to one of the following: 'delete', 'get', 'head', "
            "'post', 'put'",
            label));
    }
    return {};
}

Result<void> AuthConf::read_query(Rule& rule, const YamlNode& query, const std::string& label) {
    if (query.kind != Kind::Mapping) return failure("Rule query-params must be a map.");
    for (const auto& [key, value] : query.entries) {
        auto values = texts_of(value);
        if (!values) {
            return failure(fmt::format(
                "The query-param value for '{}' in the rule specified as {} is invalid. It "
                "should be a string or list of strings.",
                key.text, label));
        }
        rule.query.emplace_back(key.text, std::move(*values));
    }
    return {};
}

Result<AuthConf::Rule> AuthConf::read_rule(const YamlNode& node, std::size_t index) {
    if (node.kind != Kind::Mapping)
        return failure("An authorization rule should be specified as a map.");
    const auto label = rule_label(node, index);
    const auto* match = codec::find_member(&node, "match-request");
    if (!match || match->kind != Kind::Mapping)
        return failure("An authorization rule must contain a 'match-request' section.");
    const auto missing = [&](std::string_view key) {
        return failure(fmt::format(
            "The authorization rule specified as {} does not contain a '{}' key.", label, key));
    };
    const auto* path = codec::find_member(match, "path");
    const auto* type = codec::find_member(match, "type");
    const auto* order = codec::find_member(&node, "sort-order");
    const auto* name = codec::find_member(&node, "name");
    if (!path) return missing("path");
    if (!type) return missing("type");
    if (!order) return missing("sort-order");
    if (!name || name->kind != Kind::String) return missing("name");
    Rule rule;
    rule.name = name->text;
    if (order->kind != Kind::Integer || order->integer < 1 || order->integer > 999) {
        return failure(fmt::format(
            "The sort-order set in the authorization rule specified as {} is invalid. It should be "
            "a number from 1 to 999.",
            label));
    }
    rule.sort_order = order->integer;
    const auto* unauthenticated = codec::find_member(&node, "allow-unauthenticated");
    rule.unauthenticated =
        unauthenticated && unauthenticated->kind == Kind::Boolean && unauthenticated->boolean;
    const auto* allow = codec::find_member(&node, "allow");
    const auto* deny = codec::find_member(&node, "deny");
    if (rule.unauthenticated && (allow || deny)) {
        return failure(
            fmt::format("Authorization rule specified as {} cannot have allow or deny if "
                        "allow-unauthenticated.",
                        label));
    }
    if (!rule.unauthenticated && !allow && !deny) {
        return failure(fmt::format(
            "Authorization rule specified as {} must contain either a 'deny' or 'allow' rule.",
            label));
    }
    BUNRAKU_TRY_VOID(read_path(rule, *type, *path, label));
    if (const auto* method = codec::find_member(match, "method"))
        BUNRAKU_TRY_VOID(read_methods(rule, *method, label));
    if (const auto* query = codec::find_member(match, "query-params"))
        BUNRAKU_TRY_VOID(read_query(rule, *query, label));
    if (deny) BUNRAKU_TRY_VOID(add_entries(rule, *deny, false));
    if (allow) BUNRAKU_TRY_VOID(add_entries(rule, *allow, true));
    return rule;
}

void AuthConf::sort() {
    std::stable_sort(rules_.begin(), rules_.end(), [](const auto& a, const auto& b) {
        return std::tie(a->sort_order, a->name) < std::tie(b->sort_order, b->name);
    });
}

Result<AuthConf> AuthConf::parse(std::string_view text, const std::string& name, OidNames names) {
    const auto wrong = [&](const std::string& why) {
        return failure(fmt::format("{}: {}", name, why));
    };
    auto document = codec::parse_hocon(text, hocon_context(name));
    if (!document) return wrong(document.error().message);
    const auto* config = codec::find_member(&*document, "authorization");
    if (!config) return wrong("Missing authorization service configuration.");
    if (config->kind != Kind::Mapping)
        return wrong("The authorization service configuration is not a map.");
    AuthConf out;
    out.names_ = std::move(names);
    if (const auto* header = codec::find_member(config, "allow-header-cert-info")) {
        if (header->kind != Kind::Boolean) return wrong("allow-header-cert-info is not a boolean.");
        out.header_info_ = header->boolean;
    }
    const auto* version = codec::find_member(config, "version");
    if (!version || version->kind != Kind::Integer || version->integer != 1) {
        return wrong(
            "Unsupported or missing version in configuration file. Supported versions are: 1");
    }
    const auto* rules = codec::find_member(config, "rules");
    if (!rules || rules->kind != Kind::Sequence)
        return wrong("The authorization service configuration rules is not a list.");
    for (std::size_t i = 0; i < rules->items.size(); i++) {
        auto rule = read_rule(rules->items[i], i);
        if (!rule) return wrong(rule.error().message);
        for (const auto& other : out.rules_) {
            if (other->name == rule->name) {
                return wrong(fmt::format(
                    "Duplicate rules named '{}'. Rules must be uniquely named.", rule->name));
            }
        }
        out.rules_.push_back(std::make_shared<const Rule>(std::move(*rule)));
    }
    out.sort();
    return out;
}

AuthConf AuthConf::stock(OidNames names, config::Compatibility level) {
    // A built-in rule and the clients that it allows: "" means all, "-" means none, "cli" means
    // those with the extension pp_cli_auth. Other texts are entries of auth.conf.
    struct Line {
        std::string_view name, path, methods, client;
        std::optional<config::Change> added = {}, removed = {};
    };
    using enum config::Change;
    // The rules that puppetserver 8 installs. It has no rule for DELETE of a request; here, clients
    // that may sign may delete.
    static constexpr Line kStock[] = {
        {"puppetlabs v3 catalog from agents", "^/puppet/v3/catalog/([^/]+)$", "GET POST", "$1"},
        {"puppetlabs v4 catalog for services", "^/puppet/v4/catalog/?$", "POST", "-"},
        {"puppetlabs certificate", "/puppet-ca/v1/certificate/", "GET", ""},
        {"puppetlabs crl", "/puppet-ca/v1/certificate_revocation_list/ca", "GET", ""},
        {"puppetlabs csr", "/puppet-ca/v1/certificate_request", "GET PUT", ""},
        {"bunraku csr deletion", "/puppet-ca/v1/certificate_request", "DELETE", "cli"},
        {"puppetlabs cert renewal", "/puppet-ca/v1/certificate_renewal", "POST", "*"},
        {"puppetlabs cert status", "/puppet-ca/v1/certificate_status", "GET PUT DELETE", "cli"},
        {"puppetlabs CRL update", "^/puppet-ca/v1/certificate_revocation_list$", "PUT", "cli"},
        {"puppetlabs cert statuses", "/puppet-ca/v1/certificate_statuses", "GET", "cli"},
        {"puppetlabs CA cert and CRL expirations", "/puppet-ca/v1/expirations", "GET", "*"},
        {"puppetlabs cert clean", "/puppet-ca/v1/clean", "PUT", "cli"},
        {"puppetlabs cert sign", "/puppet-ca/v1/sign", "POST", "cli"},
        {"puppetlabs status service - full", "/status/v1/services", "GET", ""},
        {"puppetlabs status service - simple", "/status/v1/simple", "GET", ""},
        {"puppetlabs environments", "/puppet/v3/environments", "GET", "*"},
        {"puppetlabs file bucket file",
         "/puppet/v3/file_bucket_file",
         "GET HEAD POST PUT",
         "*",
         {},
         FilebucketRead},
        {"puppetlabs file bucket file", "/puppet/v3/file_bucket_file", "HEAD PUT", "*",
         FilebucketRead},
        {"puppetlabs file bucket file read", "/puppet/v3/file_bucket_file", "GET POST", "cli",
         FilebucketRead},
        {"puppetlabs file content", "/puppet/v3/file_content", "GET POST", "*"},
        {"puppetlabs file metadata", "/puppet/v3/file_metadata", "GET POST", "*"},
        {"puppetlabs node", "^/puppet/v3/node/([^/]+)$", "GET", "$1"},
        {"puppetlabs report", "^/puppet/v3/report/([^/]+)$", "PUT", "$1"},
        {"puppetlabs facts", "^/puppet/v3/facts/([^/]+)$", "PUT", "$1"},
        {"puppetlabs static file content", "/puppet/v3/static_file_content", "GET", "*"},
        {"puppet tasks information", "/puppet/v3/tasks", "", "*"},
    };
    AuthConf out;
    out.names_ = std::move(names);
    out.is_stock_ = true;
    for (const auto& line : kStock) {
        if ((line.added && !config::changed(level, *line.added)) ||
            (line.removed && config::changed(level, *line.removed)))
            continue;
        Rule rule;
        rule.name = line.name;
        rule.sort_order = 500;
        if (line.path[0] == '^') {
            rule.regex = *regex::Regex::compile(line.path);
        } else {
            rule.prefix = line.path;
        }
        for (auto m : base::words(line.methods)) rule.methods.emplace_back(m);
        rule.unauthenticated = line.client.empty();
        Entry entry;
        entry.allow = line.client != "-";
        entry.match = line.client == "cli"  ? Entry::Match::Extensions
                      : line.client == "$1" ? Entry::Match::Backreference
                                            : Entry::Match::Anyone;
        entry.text = line.client;
        if (line.client == "cli") entry.extensions.push_back({"pp_cli_auth", "", {"true"}});
        if (!rule.unauthenticated) rule.entries.push_back(std::move(entry));
        out.rules_.push_back(std::make_shared<const Rule>(std::move(rule)));
    }
    Rule rest;
    rest.name = "puppetlabs deny all";
    rest.sort_order = 999;
    rest.prefix = "/";
    out.rules_.push_back(std::make_shared<const Rule>(std::move(rest)));
    out.sort();
    return out;
}

bool AuthConf::matches(const Entry& entry, const http::ClientCertificate& client,
                       const std::vector<std::string>& captures) const {
    const auto any_name = [&](auto&& test) {
        if (test(std::string_view(client.name))) return true;
        for (std::string_view name : client.alternative_names)
            if (name.starts_with("DNS:") && test(name.substr(4))) return true;
        return false;
    };
    const auto is = [&](const std::vector<std::string>& labels) {
        return any_name([&](std::string_view name) { return labels_of(name) == labels; });
    };
    switch (entry.match) {
        case Entry::Match::Anyone: return true;
        case Entry::Match::Name: return is(entry.labels);
        case Entry::Match::Wildcard:
            return any_name([&](std::string_view name) {
                const auto labels = labels_of(name);
                return labels.size() >= entry.labels.size() &&
                       std::equal(entry.labels.begin(), entry.labels.end(), labels.begin());
            });
        case Entry::Match::Regex:
            return any_name([&](std::string_view name) { return entry.regex->matches(name); });
        case Entry::Match::Backreference: {
            // A name from the path is compared as a name and never used as a pattern. Names without
            // a dot are case sensitive (puppetserver 7.9.5).
            const auto name = with_captures(entry.text, captures);
            if (is_domain(name, 2)) return is(labels_of(name));
            return is_opaque(name) && any_name([&](std::string_view n) { return n == name; });
        }
        case Entry::Match::Extensions: break;
    }
    const auto holds = [&](const Entry::Extension& wanted) {
        const auto is_allowed = [&](std::string_view value) {
            return std::find(wanted.allowed.begin(), wanted.allowed.end(), value) !=
                   wanted.allowed.end();
        };
        if (!wanted.kind.empty()) {
            const std::string_view prefix = wanted.kind == "dns-name" ? "DNS:"
                                            : wanted.kind == "ip"     ? "IP:"
                                                                      : "";
            return !prefix.empty() &&
                   std::any_of(client.alternative_names.begin(), client.alternative_names.end(),
                               [&](std::string_view name) {
                                   return name.starts_with(prefix) &&
                                          is_allowed(name.substr(prefix.size()));
                               });
        }
        std::string key = wanted.key;
        for (const auto& [oid, name] : names_)
            if (name == key) key = oid;
        const auto* value = client.extension(key);
        return value && is_allowed(*value);
    };
    // One matching kind of alternative name is enough, as in puppetserver.
    bool names_asked = false, names_good = false;
    for (const auto& wanted : entry.extensions) {
        if (wanted.kind.empty()) {
            if (!holds(wanted)) return false;
        } else {
            names_asked = true;
            names_good = names_good || holds(wanted);
        }
    }
    return !names_asked || names_good;
}

std::shared_ptr<const http::ClientCertificate> AuthConf::caller(
    const http::Request& request) const {
    std::shared_ptr<const http::ClientCertificate> client = request.peer.certificate;
    if (header_info_ && !request.peer.tls) {
        client = nullptr;
        auto header_certificate = std::make_shared<http::ClientCertificate>();
        if (request.headers.get("X-Client-Verify") != "SUCCESS") return nullptr;
        const std::string encoded(request.headers.get("X-Client-Cert"));
        if (!encoded.empty()) {
            auto pem = http::percent_decode(encoded);
            auto certificate = pem ? pki::Certificate::from_pem(*pem, "X-Client-Cert")
                                   : Result<pki::Certificate>(failure("encoding"));
            if (!certificate) return nullptr;
            header_certificate->subject = certificate->subject();
            header_certificate->issuer = certificate->issuer();
            header_certificate->serial = certificate->serial();
            header_certificate->alternative_names = certificate->alternative_names();
            header_certificate->extensions = certificate->puppet_extensions();
            header_certificate->itself = std::move(*certificate);
        }
        // "CN=x,O=y" (RFC 2253) or "/O=y/CN=x".
        const std::string_view dn = request.headers.get("X-Client-DN");
        for (auto part : base::split(dn, dn.starts_with('/') ? '/' : ',')) {
            part = base::trim(part, " ");
            if (part.size() > 3 && base::same_ignoring_case(part.substr(0, 3), "CN=") &&
                header_certificate->name.empty()) {
                header_certificate->name = part.substr(3);
            }
        }
        header_certificate->trust = http::ClientCertificate::Trust::Verified;
        client = std::move(header_certificate);
    }
    if (!client || client->trust != http::ClientCertificate::Trust::Verified) return nullptr;
    // Patterns match line by line, so a name must not contain line breaks or other control
    // characters.
    if (client->name.empty() || has_control(client->name)) return nullptr;
    return client;
}

AuthConf::Verdict AuthConf::decide(const http::Request& request) const {
    const auto paths = paths_of(request);
    for (const auto& rule : rules_) {
        std::vector<std::string> captures;
        if (!rule->applies_to(request) || !rule->applies_to(paths, captures)) continue;
        Verdict out{rule->unauthenticated, rule->name};
        if (out.allowed) return out;
        auto client = caller(request);
        if (!client) return out;
        for (const auto& entry : rule->entries) {
            if (!matches(entry, *client, captures)) continue;
            out.allowed = entry.allow;
            break;
        }
        return out;
    }
    return {};
}

}  // namespace bunraku::http
