// SPDX-License-Identifier: Apache-2.0
// `ca`: the tool for the certificate authority, like `puppetserver ca` (2.4 and additions of later
// versions). Each action prints its own output.
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>

#include "cli/actions.h"
#include "cli/command.h"
#include "core/base/text.h"
#include "services/server/ca_actions.h"

namespace bunraku::cli {

namespace {

struct CaAction {
    const char* name;
    server::CaOutcome (*run)(server::CaInput& input);
    /// Returns the errors for missing or invalid options.
    std::vector<std::string> (*check)(const server::CaInput& input);
};

std::vector<std::string> nothing_to_check(const server::CaInput&) { return {}; }

template <server::CaOutcome (*Action)(const server::CaInput&)>
server::CaOutcome with(server::CaInput& input) {
    return Action(input);
}

/// Like puppetserver-ca, rejects names that look like options.
void check_names(const server::CaInput& input, std::vector<std::string>& errors) {
    for (const auto& name : input.certnames) {
        if (name.starts_with("--")) {
            errors.push_back(
                fmt::format("    Cannot manage cert named `{}` from the CLI, if "
                            "needed use the HTTP API directly",
                            name));
        }
    }
}

template <char Action>
std::vector<std::string> names_needed(const server::CaInput& input) {
    std::vector<std::string> out;
    check_names(input, out);
    if (!input.certnames.empty()) return out;
    out.emplace_back(Action == 'r'   ? "  At least one certname is required to revoke"
                     : Action == 'c' ? "  At least one certname is required to clean"
                                     : "    At least one certname is required to generate");
    return out;
}

std::vector<std::string> check_generate(const server::CaInput& input) {
    auto out = names_needed<'g'>(input);
    for (const auto& name : input.certnames) {
        if (base::lower(name) != name) out.emplace_back("    Certificate names must be lower case");
        const bool plain = std::all_of(name.begin(), name.end(),
                                       [](char c) { return c >= ' ' && c <= '~' && c != '/'; });
        if (!plain) {
            out.push_back(
                fmt::format("  Certname {} must not contain unprintable or non-ASCII "
                            "characters",
                            name));
        }
    }
    return out;
}

std::vector<std::string> check_sign(const server::CaInput& input) {
    if (input.all && !input.certnames.empty())
        return {"--all and --certname cannot be used together"};
    if (!input.all && input.certnames.empty()) return {"No arguments given"};
    std::vector<std::string> out;
    check_names(input, out);
    return out;
}

std::vector<std::string> check_list(const server::CaInput& input) {
    if (input.format != "text" && input.format != "json") {
        return {fmt::format("Unknown format flag '{}'. Valid formats are 'text', 'json'.",
                            input.format)};
    }
    if (input.all && !input.certnames.empty())
        return {"Cannot combine use of --all and --certname."};
    return {};
}

std::vector<std::string> check_import(const server::CaInput& input) {
    if (!input.private_key.empty() && !input.bundle.empty() && !input.lists.empty()) return {};
    return {"    Missing required argument",
            "    --cert-bundle, --private-key, --crl-chain are required"};
}

std::vector<std::string> check_delete(const server::CaInput& input) {
    std::vector<std::string> out;
    check_names(input, out);
    const bool some = input.expired || input.revoked || !input.certnames.empty();
    if (!some && !input.all)
        out.emplace_back("  Must pass one of the valid flags to determine which certs to delete");
    if (some && input.all) {
        out.emplace_back(
            "  The --all flag must not be used with --expired, --revoked, or --certname");
    }
    return out;
}

std::vector<std::string> check_prune(const server::CaInput& input) {
    const bool named = !input.certnames.empty() || !input.serials.empty();
    if (input.entries && !named)
        return {"--remove-entries option require --serial or --certname values"};
    if (!input.entries && named) return {"--serial and --certname are used with --remove-entries"};
    return {};
}

const CaAction kActions[] = {
    {"clean", with<server::ca_clean>, names_needed<'c'>},
    {"delete", with<server::ca_delete>, check_delete},
    {"doctor", with<server::ca_doctor>, nothing_to_check},
    {"enable", with<server::ca_enable>, nothing_to_check},
    {"generate", with<server::ca_generate>, check_generate},
    {"import", server::ca_import, check_import},
    {"list", with<server::ca_list>, check_list},
    {"migrate", with<server::ca_migrate>, nothing_to_check},
    {"prune", with<server::ca_prune>, check_prune},
    {"revoke", with<server::ca_revoke>, names_needed<'r'>},
    {"rollover", with<server::ca_rollover>, nothing_to_check},
    {"setup", server::ca_setup, nothing_to_check},
    {"sign", with<server::ca_sign>, check_sign},
};

std::vector<std::string> split_lists(const std::vector<std::string>& lists) {
    std::vector<std::string> out;
    for (const auto& list : lists)
        for (auto part : base::split(list, ','))
            if (!part.empty()) out.emplace_back(part);
    return out;
}

int run_ca(Invocation& invocation) {
    OptionParser options(invocation);
    server::CaInput input;
    std::vector<std::string> names, serials, words;
    options.list("certname", &names);
    options.list("serial", &serials);
    options.value("subject-alt-names", &input.alternative_names);
    options.value("ca-name", &input.ca_name);
    options.value("ttl", &input.ttl);
    options.value("format", &input.format);
    options.value("private-key", &input.private_key);
    options.value("cert-bundle", &input.bundle);
    options.value("crl-chain", &input.lists);
    options.value("within", &input.within);
    options.flag("all", &input.all);
    options.flag("json", &input.json);
    options.flag("ca-client", &input.ca_client);
    options.flag("force", &input.force);
    options.flag("infracrl", &input.infra);
    options.flag("expired", &input.expired);
    options.flag("revoked", &input.revoked);
    options.flag("remove-duplicates", &input.duplicates);
    options.flag("remove-expired", &input.expired);
    options.flag("remove-entries", &input.entries);
    if (!options.parse(&words)) return options.exit_code();
    std::vector<std::string> rest;
    const auto name = take_action(words, rest);
    const auto* action = std::find_if(std::begin(kActions), std::end(kActions),
                                      [&](const CaAction& a) { return a.name == name; });
    const auto hint = [&](int code) {
        fmt::print(stderr, "\nSee '{} help ca'\n", invocation.program);
        return code;
    };
    if (action == std::end(kActions)) {
        fmt::print(stderr, "Unknown action: {}\n", name);
        return hint(1);
    }
    if (name == "rollover" && rest.size() == 1) {
        input.stage = rest[0];
        rest.clear();
    }
    input.certnames = split_lists(names);
    input.serials = split_lists(serials);
    if (input.format.empty()) input.format = input.json ? "json" : "text";
    input.json = input.format == "json";
    input.program = invocation.program;
    std::vector<std::string> errors;
    for (const auto& word : rest) errors.push_back(fmt::format("    Unknown input `{}`", word));
    for (auto& line : action->check(input)) errors.push_back(std::move(line));
    if (!errors.empty()) return hint(server::ca_wrong(input, errors));
    input.settings = invocation.settings;
    auto code = action->run(input);
    if (code) return *code;
    fmt::print(stderr, "Fatal error when running action '{}'\n  Error: {}\n", name,
               code.error().message);
    return 1;
}

}  // namespace

BUNRAKU_COMMAND(ca){.name = "ca",
                    .summary = "Manage the certificate authority: list, sign, revoke, roll over.",
                    .run = run_ca,
                    .run_mode = "server"};

}  // namespace bunraku::cli
