// SPDX-License-Identifier: Apache-2.0
// The actions of `ca` for certificates: list, sign, revoke, clean and generate.
#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "core/base/arena.h"
#include "core/base/text.h"
#include "core/codec/json_text.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "core/value/rich_data.h"
#include "net/pki/authority.h"
#include "net/pki/request.h"
#include "services/server/ca_actions.h"
#include "services/server/ca_client.h"
#include "services/server/ca_settings.h"

namespace bunraku::server {

using base::failure;
using base::Result;
using value::Value;

namespace {

std::string member_text(const Value& of, std::string_view name) {
    const auto* found = of.is_hash() ? of.as_hash().find(name) : nullptr;
    return found && found->is_string() ? std::string(found->as_string()) : std::string();
}

/// Formats a list of strings as Ruby does.
std::string ruby_list(const Value& list) {
    std::string out;
    for (const auto& item : list.as_array()) {
        out += (out.empty() ? "" : ", ") +
               codec::json_string(item.is_string() ? item.as_string() : std::string_view());
    }
    return "[" + out + "]";
}

void print_certificates(const CaInput& input, const char* title,
                        const std::vector<Value>& certificates) {
    if (certificates.empty()) return;
    fmt::print(input.out, "{}\n", title);
    std::size_t width = 0;
    for (const auto& c : certificates) width = std::max(width, member_text(c, "name").size());
    for (const auto& c : certificates) {
        const auto* prints = c.as_hash().find("fingerprints");
        std::string line = fmt::format("    {:<{}} (SHA256)  {}", member_text(c, "name"), width + 6,
                                       prints ? member_text(*prints, "SHA256") : "");
        const auto* names = c.as_hash().find("subject_alt_names");
        if (!names) names = c.as_hash().find("dns_alt_names");
        if (names && names->is_array() && names->as_array().size() > 0)
            line += "\talt names: " + ruby_list(*names);
        const auto* extensions = c.as_hash().find("authorization_extensions");
        if (extensions && extensions->is_hash() && extensions->as_hash().size() > 0) {
            std::string all;
            for (const auto& entry : extensions->as_hash()) {
                all += fmt::format("{}{}: {}", all.empty() ? "" : ", ", entry.key.as_string(),
                                   entry.value.is_string() ? entry.value.as_string() : "");
            }
            line += "\tauthorization extensions: [" + all + "]";
        }
        fmt::print(input.out, "{}\n", line);
    }
}

void wrong_answer(const CaInput& input, const std::string& what, const CaAnswer& answer,
                  const char* colon = ":") {
    ca_wrong(input, {fmt::format("    When attempting to {}, received{}", what, colon),
                     fmt::format("      code: {}", answer.status),
                     fmt::format("      body: {}", answer.body)});
}

/// In order of severity, as puppetserver-ca combines several results.
enum class Done : std::uint8_t { Success, Invalid, NotFound, Failed };

int exit_code_of(Done worst) {
    return worst == Done::Success ? 0 : worst == Done::Invalid ? 24 : 1;
}

Done signed_as(const CaInput& input, const std::string& name, const CaAnswer& answer) {
    if (answer.status == 204) {
        fmt::print(input.out, "Successfully signed certificate request for {}\n", name);
        return Done::Success;
    }
    if (answer.status == 404) {
        ca_wrong(input, {fmt::format("    Could not find certificate request for {}", name)});
        return Done::NotFound;
    }
    wrong_answer(input, fmt::format("sign certificate request '{}'", name), answer, "");
    return Done::Failed;
}

bool is_good(const CaAnswer& answer) { return answer.status == 200 || answer.status == 204; }

/// Returns the statuses as a value allocated in `arena`. On failure, prints an error and returns
/// nullopt.
Result<std::optional<Value>> fetch_statuses(const CaInput& input, CaClient& client,
                                            const std::string& state, base::Arena& arena) {
    auto answer = BUNRAKU_TRY(client.statuses(state));
    if (answer.status != 200) {
        ca_wrong(input, {fmt::format("    code: {}", answer.status),
                         fmt::format("    body: {}", answer.body)});
        return std::optional<Value>();
    }
    auto document = value::parse_json(arena, answer.body);
    if (!document || !document->is_array())
        return failure("The server's response is not a list of certificates");
    for (const auto& one : document->as_array())
        if (!one.is_hash()) return failure("The server's response is not a list of certificates");
    return std::optional<Value>(*document);
}

}  // namespace

CaOutcome ca_list(const CaInput& input) {
    auto client = BUNRAKU_TRY(open_ca_client(input.settings));
    const bool everything = input.all || !input.certnames.empty();
    base::Arena arena;
    auto found = BUNRAKU_TRY(fetch_statuses(input, *client, everything ? "" : "requested", arena));
    if (!found) {
        fmt::print(input.err, "Error while getting {}\n",
                   everything ? "certificates" : "certificate requests");
        return 1;
    }
    std::vector<Value> requested, is_signed, revoked;
    std::set<std::string> there;
    for (const auto& one : found->as_array()) {
        const auto name = member_text(one, "name");
        if (!input.certnames.empty() && std::find(input.certnames.begin(), input.certnames.end(),
                                                  name) == input.certnames.end()) {
            continue;
        }
        there.insert(name);
        const auto state = member_text(one, "state");
        (state == "requested" ? requested : state == "signed" ? is_signed : revoked).push_back(one);
    }
    std::vector<std::string> missing;
    for (const auto& name : input.certnames)
        if (!there.contains(name)) missing.push_back(name);
    const int code = missing.empty() ? 0 : 1;
    if (!input.json) {
        if (there.empty() && missing.empty()) fmt::print(input.out, "No certificates to list\n");
        print_certificates(input, "Requested Certificates:", requested);
        print_certificates(input, "Signed Certificates:", is_signed);
        print_certificates(input, "Revoked Certificates:", revoked);
        if (!missing.empty()) fmt::print(input.out, "Missing Certificates:\n");
        for (const auto& name : missing) fmt::print(input.out, "    {}\n", name);
        return code;
    }
    std::string out;
    const auto add = [&](const char* name, const std::vector<Value>& list, bool always) {
        if (list.empty() && !always) return;
        out += fmt::format("{}\"{}\":[", out.empty() ? "" : ",", name);
        for (std::size_t i = 0; i < list.size(); i++)
            out += (i ? "," : "") + value::to_json(list[i]);
        out += "]";
    };
    add("requested", requested, input.all || (there.empty() && missing.empty()));
    add("signed", is_signed, input.all);
    add("revoked", revoked, input.all);
    if (!missing.empty()) {
        out += out.empty() ? "\"missing\":[" : ",\"missing\":[";
        for (std::size_t i = 0; i < missing.size(); i++)
            out += (i ? "," : "") + codec::json_string(missing[i]);
        out += "]";
    }
    fmt::print(input.out, "{{{}}}\n", out);
    return code;
}

CaOutcome ca_sign(const CaInput& input) {
    auto client = BUNRAKU_TRY(open_ca_client(input.settings));
    auto names = input.certnames;
    if (input.all) {
        base::Arena arena;
        auto found = BUNRAKU_TRY(fetch_statuses(input, *client, "", arena));
        if (!found) return 1;
        for (const auto& one : found->as_array())
            if (member_text(one, "state") == "requested") names.push_back(member_text(one, "name"));
        if (names.empty()) {
            ca_wrong(input, {"    No waiting certificate requests to sign"});
            return 24;
        }
    }
    std::optional<std::int64_t> ttl;
    if (!input.ttl.empty() && !(ttl = ca_ttl(input, input.ttl))) return 1;
    Done worst = Done::Success;
    for (const auto& name : names)
        worst = std::max(worst, signed_as(input, name, BUNRAKU_TRY(client->sign(name, ttl))));
    return worst == Done::Success ? 0 : 1;
}

CaOutcome ca_revoke(const CaInput& input) {
    auto client = BUNRAKU_TRY(open_ca_client(input.settings));
    Done worst = Done::Success;
    for (const auto& name : input.certnames) {
        const auto answer = BUNRAKU_TRY(client->revoke(name));
        auto done = Done::Success;
        if (is_good(answer)) {
            fmt::print(input.out, "Certificate for {} has been revoked\n", name);
        } else if (answer.status == 404) {
            ca_wrong(input, {fmt::format("    Could not find certificate for {}", name)});
            done = Done::NotFound;
        } else if (answer.status == 409) {
            ca_wrong(input, {fmt::format("    Could not revoke unsigned csr for {}", name)});
            done = Done::Invalid;
        } else {
            wrong_answer(input, fmt::format("revoke certificate '{}'", name), answer);
            done = Done::Failed;
        }
        worst = std::max(worst, done);
    }
    return exit_code_of(worst);
}

CaOutcome ca_clean(const CaInput& input) {
    auto client = BUNRAKU_TRY(open_ca_client(input.settings));
    Done worst = Done::Success;
    for (const auto& name : input.certnames) {
        const auto revoked = BUNRAKU_TRY(client->revoke(name));
        if (is_good(revoked)) {
            fmt::print(input.out, "Certificate for {} has been revoked\n", name);
        } else if (revoked.status != 404 && revoked.status != 409) {
            wrong_answer(input, fmt::format("revoke certificate '{}'", name), revoked);
            worst = Done::Failed;
            continue;
        }
        const auto removed = BUNRAKU_TRY(client->remove(name));
        if (is_good(removed)) {
            fmt::print(input.out, "Cleaned files related to {}\n", name);
            // A request without a certificate cannot be revoked. The exit code reflects that.
            if (revoked.status == 409) worst = std::max(worst, Done::Invalid);
        } else if (removed.status == 404) {
            ca_wrong(input, {fmt::format("    Could not find files to clean for {}", name)});
            worst = Done::Failed;
        } else {
            wrong_answer(input, fmt::format("clean certificate '{}'", name), removed);
            worst = Done::Failed;
        }
    }
    return exit_code_of(worst);
}

namespace {

/// Generates certificates for other machines.
class Generator {
public:
    explicit Generator(const CaInput& input) : input_(input), settings_(input_.settings) {}
    Result<bool> online(const std::string& name, CaClient& client, std::optional<std::int64_t> ttl);
    Result<bool> offline(const std::string& name, const pki::AuthorityFolder& folder,
                         std::int64_t ttl);

private:
    std::string path(const char* setting, const std::string& name) const {
        return fmt::format("{}/{}.pem", settings_.text(std::string_view(setting)), name);
    }
    bool is_free(const std::string& name) const;
    Result<void> save(const std::string& what, const char* setting, const std::string& name,
                      const std::string& text);
    Result<pki::PrivateKey> make() const {
        if (settings_.text("key_type") == "ec")
            return pki::make_ec_key(settings_.text("named_curve"));
        return pki::make_rsa_key(static_cast<int>(settings_.integer("keylength")));
    }
    Result<pki::RequestAttributes> attributes() const {
        const auto file = settings_.text("csr_attributes");
        auto text = files_.read(file);
        if (!text) return pki::RequestAttributes();
        return pki::parse_request_attributes(*text, file);
    }

    const CaInput& input_;
    const config::Settings& settings_;
    sys::FileSystem& files_ = sys::disk();
};

bool Generator::is_free(const std::string& name) const {
    std::vector<std::string> taken;
    for (const char* setting : {"certdir", "privatekeydir", "publickeydir", "signeddir"}) {
        if (files_.exists(path(setting, name)))
            taken.push_back(fmt::format("Existing file at '{}'", path(setting, name)));
    }
    if (taken.empty()) return true;
    taken.push_back(fmt::format(
        "Please delete these files if you really want to generate a new cert for {}.", name));
    ca_wrong(input_, taken);
    return false;
}

Result<void> Generator::save(const std::string& what, const char* setting, const std::string& name,
                             const std::string& text) {
    const auto file = path(setting, name);
    const std::string folder(sys::directory_name(file));
    if (!files_.exists(folder)) BUNRAKU_TRY_VOID(files_.make_directories(folder, 0755));
    sys::WriteOptions options;
    options.mode = 0640;
    if (auto status = files_.stat(folder)) {
        options.uid = status->uid;
        options.gid = status->gid;
    }
    BUNRAKU_TRY_VOID(files_.replace(file, text, options));
    fmt::print(input_.out, "Successfully saved {} for {} to {}\n", what, name, file);
    return {};
}

Result<bool> Generator::online(const std::string& name, CaClient& client,
                               std::optional<std::int64_t> ttl) {
    if (!is_free(name)) return false;
    auto key = BUNRAKU_TRY(make());
    pki::RequestContent content;
    content.common_name = name;
    content.alternative_names = input_.alternative_names.empty() ? name : input_.alternative_names;
    content.attributes = BUNRAKU_TRY(attributes());
    auto request = BUNRAKU_TRY(pki::make_request(key, content));
    BUNRAKU_TRY_VOID(save("private key", "privatekeydir", name, key.pem()));
    BUNRAKU_TRY_VOID(save("public key", "publickeydir", name, key.public_pem()));
    const auto sent = BUNRAKU_TRY(client.submit(name, request.pem()));
    if (!is_good(sent)) {
        wrong_answer(input_, fmt::format("submit certificate request for '{}'", name), sent);
        return false;
    }
    fmt::print(input_.out, "Successfully submitted certificate request for {}\n", name);
    auto answer = BUNRAKU_TRY(client.certificate(name));
    const bool at_once = answer.status == 200;
    if (!at_once) {
        if (signed_as(input_, name, BUNRAKU_TRY(client.sign(name, ttl))) != Done::Success)
            return false;
        answer = BUNRAKU_TRY(client.certificate(name));
    }
    if (answer.status == 404) {
        ca_wrong(input_,
                 {fmt::format("    Signed certificate {} could not be found on the CA", name)});
        return false;
    }
    if (answer.status != 200) {
        wrong_answer(input_, fmt::format("download certificate '{}'", name), answer);
        return false;
    }
    BUNRAKU_TRY_VOID(save("certificate", "certdir", name, answer.body));
    if (!at_once) return true;
    fmt::print(input_.out, "Certificate for {} was autosigned.\n", name);
    if (ttl) {
        fmt::print(
            input_.err,
            "ttl was specified, but the CA autosigned the CSR. Unable to specify {} for {}\n",
            input_.ttl, name);
    }
    return true;
}

Result<bool> Generator::offline(const std::string& name, const pki::AuthorityFolder& folder,
                                std::int64_t ttl) {
    if (!is_free(name)) return false;
    auto key = BUNRAKU_TRY(make());
    pki::AuthorityFolder::Terms terms;
    terms.ttl = ttl;
    terms.alternative_names = pki::alternative_name_list(input_.alternative_names);
    for (auto& [oid, text] : BUNRAKU_TRY(attributes()).extension_requests) {
        const auto known = pki::puppet_oid(oid);
        terms.extensions.emplace_back(known.empty() ? oid : known, text);
    }
    terms.extensions.emplace_back(pki::puppet_oid("pp_cli_auth"), "true");
    auto made = BUNRAKU_TRY(folder.sign(name, key.native(), terms));
    BUNRAKU_TRY_VOID(save("certificate", "certdir", name, made.pem()));
    fmt::print(input_.out, "Successfully saved certificate for {} to {}\n", name,
               folder.paths().certificate_of(name));
    BUNRAKU_TRY_VOID(save("private key", "privatekeydir", name, key.pem()));
    BUNRAKU_TRY_VOID(save("public key", "publickeydir", name, key.public_pem()));
    return true;
}

}  // namespace

CaOutcome ca_generate(const CaInput& input) {
    std::optional<std::int64_t> ttl;
    if (!input.ttl.empty() && !(ttl = ca_ttl(input, input.ttl))) return 1;
    Generator generator(input);
    bool good = true;
    if (!input.ca_client) {
        auto client = BUNRAKU_TRY(open_ca_client(input.settings));
        for (const auto& name : input.certnames)
            good &= BUNRAKU_TRY(generator.online(name, *client, ttl));
        return good ? 0 : 1;
    }
    if (!input.force && BUNRAKU_TRY(ca_must_stop(input))) return 1;
    auto ca = BUNRAKU_TRY(read_ca_settings(input.settings));
    auto folder = BUNRAKU_TRY(pki::AuthorityFolder::open(ca.paths, ca_now));
    for (const auto& name : input.certnames)
        good &= BUNRAKU_TRY(generator.offline(name, folder, ttl.value_or(ca.ca_ttl)));
    return good ? 0 : 1;
}

}  // namespace bunraku::server
