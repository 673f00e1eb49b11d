// SPDX-License-Identifier: Apache-2.0
// Long-term maintenance of the CA folder: additional keys, pruning of lists, and the roll-over from
// one authority to the next (docs/design/0123).
#include <algorithm>
#include <cerrno>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/text.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "core/sys/lock.h"
#include "net/pki/authority_folder.h"
#include "net/pki/verify.h"

namespace bunraku::pki {

using base::failure;
using base::Result;

namespace {

std::string bundle_text(const std::vector<Certificate>& certificates) {
    std::string out;
    for (const auto& c : certificates) out += c.pem();
    return out;
}

constexpr std::uint32_t kForAll = 0644, kForOwner = 0640;

}  // namespace

std::vector<AuthorityFolder::Signer> AuthorityFolder::signers() const {
    std::vector<Signer> out{{&certificate(), key_, false}};
    const auto add = [&](const std::string& path, bool root) {
        auto key = read_private_key(path);
        if (!key) return;
        for (const auto& authority : bundle_) {
            if (key->belongs_to(authority) && !(authority == certificate()))
                out.push_back({&authority, *key, root});
        }
    };
    add(paths_.next_key(), false);
    add(paths_.previous_key(), false);
    add(paths_.root_key(), true);
    BUNRAKU_ASSERT(!out.front().root && *out.front().authority == certificate());
    return out;
}

Result<void> AuthorityFolder::add_to_lists(std::vector<Crl>& lists,
                                           const std::vector<std::string>& serials) const {
    // All authorities share one sequence of serials. Each list contains all revoked serials,
    // including those that the other authorities signed.
    for (const auto& signer : signers()) {
        if (signer.root) continue;
        for (auto& crl : lists) {
            if (!is_issued_by(crl, *signer.authority)) continue;
            crl = BUNRAKU_TRY(next_crl(crl, *signer.authority, signer.key, serials, now_()));
        }
    }
    return {};
}

Result<std::size_t> AuthorityFolder::prune_crl() const {
    auto lock = BUNRAKU_TRY(sys::FileLock::acquire(paths_.lock()));
    auto all = BUNRAKU_TRY(crls());
    const auto own = BUNRAKU_TRY(own_crl_in(all, paths_.cacrl));
    const auto count = duplicates_in(all[own]);
    if (count == 0) return 0;
    BUNRAKU_ASSERT(own < all.size());
    all[own] = BUNRAKU_TRY(next_crl(all[own], certificate(), key_, {}, now_()));
    BUNRAKU_TRY_VOID(write_crls(paths_.cacrl, all));
    return count;
}

Result<std::size_t> AuthorityFolder::prune_crl(const std::vector<std::string>& serials) const {
    auto lock = BUNRAKU_TRY(sys::FileLock::acquire(paths_.lock()));
    auto all = BUNRAKU_TRY(crls());
    const auto own = BUNRAKU_TRY(own_crl_in(all, paths_.cacrl));
    std::vector<std::string> there;
    for (const auto& serial : serials)
        if (is_revoked(all[own], serial)) there.push_back(serial);
    if (there.empty()) return 0;
    const auto before = serials_in(all[own]).size();
    all[own] =
        BUNRAKU_TRY(next_crl(all[own], certificate(), key_, {}, now_(), kCrlLifetime, there));
    BUNRAKU_TRY_VOID(write_crls(paths_.cacrl, all));
    BUNRAKU_ASSERT(serials_in(all[own]).size() <= before);
    return before - serials_in(all[own]).size();
}

std::optional<Certificate> AuthorityFolder::authority_of_key(const std::string& path) const {
    auto key = read_private_key(path);
    if (!key) return std::nullopt;
    for (const auto& authority : bundle_)
        if (key->belongs_to(authority) && !(authority == certificate())) return authority;
    return std::nullopt;
}

std::optional<Certificate> AuthorityFolder::next_authority() const {
    return authority_of_key(paths_.next_key());
}

std::optional<Certificate> AuthorityFolder::previous_authority() const {
    return authority_of_key(paths_.previous_key());
}

bool AuthorityFolder::is_ours(const Certificate& authority) const {
    const auto all = signers();
    return std::any_of(all.begin(), all.end(), [&](const auto& signer) {
        return !signer.root && *signer.authority == authority;
    });
}

Result<Certificate> AuthorityFolder::begin_rollover(const NewAuthority& what) const {
    auto lock = BUNRAKU_TRY(sys::FileLock::acquire(paths_.lock()));
    const auto there = BUNRAKU_TRY(read_certificates(paths_.cacert));
    for (const auto& path : {paths_.next_key(), paths_.previous_key()}) {
        // A key without a certificate, or the signing key itself, is a leftover of a crash.
        const auto left = read_private_key(path);
        if (left && std::ranges::any_of(there, [&](const auto& c) {
                return left->belongs_to(c) && !(c == certificate());
            }))
            return failure(fmt::format("A roll-over is already in progress: {}", path), EEXIST);
    }
    for (const auto& authority : bundle_) {
        if (authority.common_name() == what.name)
            return failure(fmt::format("The certificate authority {} exists already", what.name),
                           EEXIST);
    }
    const auto& old = certificate();
    auto key = BUNRAKU_TRY(what.key());
    Draft draft;
    draft.authority = true;
    draft.common_name = what.name;
    draft.not_before = now_() - 86400;
    draft.not_after = now_() + what.ttl;
    draft.serial = BUNRAKU_TRY(take_serial());
    const auto make = [&]() -> Result<Certificate> {
        if (old.issuer() == old.subject())
            return make_certificate(draft, key.native(), nullptr, key);
        for (const auto& signer : signers()) {
            if (!signer.root || signer.authority->subject() != old.issuer()) continue;
            draft.not_after = std::min(draft.not_after, signer.authority->not_after());
            return make_certificate(draft, key.native(), signer.authority, signer.key);
        }
        return failure(
            fmt::format("{} was signed by {}, whose key is not available here: use that CA to sign "
                        "the next authority",
                        old.subject_utf8(), old.issuer_utf8()));
    };
    auto fresh = BUNRAKU_TRY(make());
    BUNRAKU_ALWAYS_ASSERT(key.belongs_to(fresh));
    BUNRAKU_TRY_VOID(note(fresh));
    // The lists are written first, because a client that has the authority's certificate requests
    // its list.
    for (const auto& path : {paths_.cacrl, paths_.infra_crl()}) {
        if (!sys::disk().exists(path)) continue;
        auto lists = BUNRAKU_TRY(read_crls(path));
        const auto own = BUNRAKU_TRY(own_crl_in(lists, path));
        lists.push_back(BUNRAKU_TRY(next_crl(lists[own], fresh, key, {}, now_())));
        BUNRAKU_TRY_VOID(write_crls(path, lists));
    }
    auto bundle = bundle_;
    bundle.push_back(fresh);
    BUNRAKU_TRY_VOID(write(paths_.next_key(), key.pem(), kForOwner));
    BUNRAKU_TRY_VOID(write(paths_.cacert, bundle_text(bundle), kForAll));
    return fresh;
}

Result<void> AuthorityFolder::switch_authority() const {
    auto lock = BUNRAKU_TRY(sys::FileLock::acquire(paths_.lock()));
    auto next = next_authority();
    if (!next)
        return failure("There is no next certificate authority: begin a roll-over first", ENOENT);
    auto key = BUNRAKU_TRY(read_private_key(paths_.next_key()));
    // After a crash at any point, exactly one authority signs, and the switch can be repeated.
    BUNRAKU_TRY_VOID(write(paths_.previous_key(), key_.pem(), kForOwner));
    // puppetserver treats the first certificate and the first list as its own.
    auto bundle = bundle_;
    std::stable_partition(bundle.begin(), bundle.end(), [&](const auto& c) { return c == *next; });
    BUNRAKU_ALWAYS_ASSERT(bundle.size() > 1 && bundle.front() == *next);
    for (const auto& path : {paths_.cacrl, paths_.infra_crl()}) {
        if (!sys::disk().exists(path)) continue;
        auto lists = BUNRAKU_TRY(read_crls(path));
        std::stable_partition(lists.begin(), lists.end(),
                              [&](const auto& crl) { return is_issued_by(crl, *next); });
        BUNRAKU_TRY_VOID(write_crls(path, lists));
    }
    BUNRAKU_TRY_VOID(write(paths_.cacert, bundle_text(bundle), kForAll));
    BUNRAKU_TRY_VOID(write(paths_.cakey, key.pem(), kForOwner));
    BUNRAKU_TRY_VOID(write(paths_.capub, key.public_pem(), kForAll));
    return sys::disk().remove(paths_.next_key());
}

Result<std::vector<std::string>> AuthorityFolder::holders_of_previous() const {
    std::vector<std::string> out;
    auto previous = previous_authority();
    if (!previous) return out;
    for (const auto& status : BUNRAKU_TRY(statuses(Listed::Certificates))) {
        if (status.state == CertificateStatus::State::Revoked) continue;
        if (status.certificate->issuer() != previous->subject()) continue;
        if (status.certificate->not_after() > now_()) out.push_back(status.name);
    }
    return out;
}

Result<void> AuthorityFolder::end_rollover() const {
    auto lock = BUNRAKU_TRY(sys::FileLock::acquire(paths_.lock()));
    auto previous = previous_authority();
    if (!previous) return failure("There is no previous certificate authority to remove", ENOENT);
    auto bundle = bundle_;
    std::erase(bundle, *previous);
    BUNRAKU_ALWAYS_ASSERT(std::ranges::find(bundle, certificate()) != bundle.end());
    BUNRAKU_TRY_VOID(write(paths_.cacert, bundle_text(bundle), kForAll));
    for (const auto& path : {paths_.cacrl, paths_.infra_crl()}) {
        if (!sys::disk().exists(path)) continue;
        auto lists = BUNRAKU_TRY(read_crls(path));
        std::erase_if(lists, [&](const auto& crl) { return is_issued_by(crl, *previous); });
        BUNRAKU_TRY_VOID(write_crls(path, lists));
    }
    return sys::disk().remove(paths_.previous_key());
}

}  // namespace bunraku::pki
