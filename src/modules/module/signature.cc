// SPDX-License-Identifier: Apache-2.0
#include "modules/module/signature.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/text_view.h"
#include "core/codec/base64.h"

namespace bunraku::module {

namespace {

using base::failure;
using base::Result;

constexpr std::string_view kUntrusted = "untrusted comment: ", kTrusted = "trusted comment: ";
constexpr std::size_t kIdBytes = 8, kHead = 2 + kIdBytes;

/// Returns the lines without trailing carriage returns.
std::vector<std::string_view> lines_of(base::TextView text BUNRAKU_LIFETIMEBOUND) {
    std::vector<std::string_view> out;
    for (std::string_view line : base::split(text, '\n')) {
        while (line.ends_with('\r')) line.remove_suffix(1);
        out.push_back(line);
    }
    while (!out.empty() && out.back().empty()) out.pop_back();
    return out;
}

/// Decodes a base64 line. Fails unless the result has exactly this size.
Result<std::string> packed(std::string_view line, std::size_t size) {
    auto bytes = codec::base64_decode(line);
    if (!bytes || bytes->size() != size) return failure("a line is not base64 of the right length");
    return std::move(*bytes);
}

bool names(std::string_view who, const ModuleName& module) {
    return who == "*" || who == module.author || who == module.slug();
}

}  // namespace

std::string PublicKey::text() const { return codec::base64_encode("Ed" + id + key); }

std::string PublicKey::number() const {
    std::string out;
    for (auto it = id.rbegin(); it != id.rend(); ++it) {
        out += fmt::format("{:02X}", static_cast<unsigned char>(*it));
    }
    return out;
}

Result<PublicKey> PublicKey::parse(std::string_view text) {
    const auto lines = lines_of(base::trim(text));
    if (lines.empty() || lines.size() > 2) return failure("the text is not a minisign key");
    auto bytes = packed(lines.back(), kHead + 32);
    if (!bytes || !bytes->starts_with("Ed")) return failure("the text is not a minisign key");
    return PublicKey{bytes->substr(2, kIdBytes), bytes->substr(kHead)};
}

PublicKey PublicKey::of(const codec::SigningKey& key) {
    return {codec::blake2b_512(key.public_key()).substr(0, kIdBytes), key.public_key()};
}

std::string sign_minisign(const codec::SigningKey& key, std::string_view bytes,
                          std::string_view trusted_comment) {
    const PublicKey shown = PublicKey::of(key);
    const std::string signature = key.sign(codec::blake2b_512(bytes));
    std::string comment(trusted_comment);
    std::replace(comment.begin(), comment.end(), '\n', ' ');
    return fmt::format("{}signature from key {}\n{}\n{}{}\n{}\n", kUntrusted, shown.number(),
                       codec::base64_encode("ED" + shown.id + signature), kTrusted, comment,
                       codec::base64_encode(key.sign(signature + comment)));
}

Result<Minisign> Minisign::parse(std::string_view text) {
    if (text.size() > kMaxSignature) return failure("the signature is too long");
    const auto lines = lines_of(text);
    if (lines.size() != 4 || !lines[0].starts_with(kUntrusted.substr(0, 18)) ||
        !lines[2].starts_with(kTrusted)) {
        return failure("the text is not a minisign signature");
    }
    const std::string head = BUNRAKU_TRY(packed(lines[1], kHead + 64));
    if (!head.starts_with("Ed") && !head.starts_with("ED")) {
        return failure("the type of the signature is not supported");
    }
    Minisign out;
    out.hashed = head[1] == 'D';
    out.key_id = head.substr(2, kIdBytes);
    out.signature = head.substr(kHead);
    out.trusted_comment = lines[2].substr(kTrusted.size());
    out.comment_signature = BUNRAKU_TRY(packed(lines[3], 64));
    return out;
}

bool Minisign::verifies(const PublicKey& key, std::string_view bytes) const {
    if (key.id != key_id) return false;
    const bool good = hashed ? codec::ed25519_verify(key.key, codec::blake2b_512(bytes), signature)
                             : codec::ed25519_verify(key.key, bytes, signature);
    return good && codec::ed25519_verify(key.key, signature + trusted_comment, comment_signature);
}

bool valid_who(std::string_view who) {
    return who == "*" || parse_module_name(who) || parse_module_name(std::string(who) + "-x");
}

bool SignatureRules::concerns(const ModuleName& module) const {
    return std::any_of(signers.begin(), signers.end(),
                       [&](const Signer& s) { return names(s.who, module); }) ||
           std::any_of(required.begin(), required.end(),
                       [&](const std::string& who) { return names(who, module); });
}

Result<void> SignatureRules::check(const ReleaseName& release, std::string_view bytes,
                                   std::string_view signature) const {
    const std::string slug = release.slug();
    const auto rule = std::find_if(required.begin(), required.end(), [&](const std::string& who) {
        return names(who, release.module);
    });
    const bool must = rule != required.end();
    if (signature.empty()) {
        if (!must) return {};
        return failure(
            fmt::format("{} is not signed, and 'require_signed {}' wants that", slug, *rule));
    }
    auto file = Minisign::parse(signature);
    if (!file) return failure(fmt::format("{}: {}", slug, file.error().message));
    bool known = false;
    for (const Signer& s : signers) {
        if (s.key.id != file->key_id || !names(s.who, release.module)) continue;
        if (file->verifies(s.key, bytes)) return {};
        known = true;
    }
    if (known) {
        return failure(fmt::format("{} does not match its signature", slug));
    }
    if (!must) return {};
    return failure(fmt::format("{} is signed with the key {}, which may not sign for {}", slug,
                               PublicKey{file->key_id, {}}.number(), release.module.slug()));
}

std::string SignatureRules::text() const {
    std::string out;
    for (const Signer& s : signers) out += fmt::format("signer\t{}\t{}\n", s.who, s.key.text());
    for (const std::string& who : required) out += fmt::format("require_signed\t{}\n", who);
    return out;
}

bool SignatureRules::read_line(std::string_view line) {
    const auto words = base::words(line, " \t");
    if (words.size() == 3 && words[0] == "signer" && valid_who(words[1])) {
        auto key = PublicKey::parse(words[2]);
        if (!key) return false;
        signers.push_back({std::string(words[1]), std::move(*key)});
        return true;
    }
    if (words.size() == 2 && words[0] == "require_signed" && valid_who(words[1])) {
        required.emplace_back(words[1]);
        return true;
    }
    return false;
}

}  // namespace bunraku::module
