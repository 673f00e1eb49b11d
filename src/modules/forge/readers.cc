// SPDX-License-Identifier: Apache-2.0
#include "modules/forge/readers.h"

#include <algorithm>
#include <fmt/format.h>
#include <openssl/rand.h>

#include "core/base/civil_time.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "modules/module/names.h"

namespace bunraku::forge {

std::optional<Reader> Reader::parse(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    Reader out;
    out.kind = text.substr(0, colon);
    out.name = text.substr(colon + 1);
    if (out.kind == "cert") out.kind = "certificate";
    if (out.kind == "certificate") {
        out.name = base::lower(out.name);
        const std::string_view plain =
            out.name.starts_with("*.") ? std::string_view(out.name).substr(2) : out.name;
        if (!module::valid_identifier(plain)) return std::nullopt;
    } else if ((out.kind != "user" && out.kind != "group" && out.kind != "token") ||
               !module::valid_identifier(out.name)) {
        return std::nullopt;
    }
    return out;
}

std::string Requester::text() const {
    if (everything) return "forge_token";
    if (!token.empty()) return "token:" + token;
    if (!user.empty()) return "user:" + user;
    if (!certificate.empty()) return "certificate:" + certificate;
    return "anonymous";
}

bool may_read(const std::vector<Reader>& readers, std::string_view repository,
              const Requester& requester, std::int64_t now) {
    if (requester.everything) return true;
    // A token may read the repositories that it may write to.
    for (const std::string& r : requester.token_repositories) {
        if (r == "*" || r == repository) return true;
    }
    return std::any_of(readers.begin(), readers.end(), [&](const Reader& r) {
        if (r.until != 0 && r.until <= now) return false;
        if (r.kind == "user") return !requester.user.empty() && r.name == requester.user;
        if (r.kind == "token") return !requester.token.empty() && r.name == requester.token;
        if (r.kind == "group") {
            return std::find(requester.groups.begin(), requester.groups.end(), r.name) !=
                   requester.groups.end();
        }
        if (requester.certificate.empty()) return false;
        const std::string shown = base::lower(requester.certificate);
        if (r.name.starts_with("*.")) return shown.ends_with(std::string_view(r.name).substr(1));
        return shown == r.name;
    });
}

std::optional<std::int64_t> parse_expiry(std::string_view text, std::int64_t now) {
    if (text.ends_with('d')) {
        const auto days = base::parse_integer<std::uint32_t>(text.substr(0, text.size() - 1));
        if (days) return now + std::int64_t{*days} * 86400;
    }
    const auto time =
        base::parse_iso_time(text, base::kZoneOptional | base::kBlankBeforeZone | base::kAnyShape);
    if (!time) return std::nullopt;
    return time->seconds();
}

base::Result<std::string> new_secret() {
    unsigned char random[32];
    if (RAND_bytes(random, sizeof random) != 1)
        return base::failure("no random bytes are available");
    std::string out;
    for (unsigned char c : random) out += fmt::format("{:02x}", c);
    return out;
}

}  // namespace bunraku::forge
