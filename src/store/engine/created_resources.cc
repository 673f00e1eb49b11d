// SPDX-License-Identifier: Apache-2.0
#include "store/engine/created_resources.h"

#include <algorithm>

#include "core/base/assert.h"
#include "store/db/packed.h"

namespace bunraku::store {

namespace {

std::int64_t hash_of(std::string_view type, std::string_view title) {
    const Digest digest = Sha1().part(type).part(title).digest();
    std::uint64_t out = 0;
    for (std::size_t i = 0; i < sizeof out; ++i) {
        out = out << 8 | static_cast<std::uint8_t>(bytes_of(digest)[i]);
    }
    return static_cast<std::int64_t>(out);
}

bool is_absent(std::string_view value) {
    return value == "\"absent\"" || value == "\"purged\"" || value == "null" || value.empty();
}

bool is_true(std::string_view value) { return value == "\"true\"" || value == "true"; }
bool is_false(std::string_view value) { return value == "\"false\"" || value == "false"; }

}  // namespace

Result<CreatedResources> CreatedResources::read(Database& db, std::int64_t node) {
    CreatedResources out(node);
    Statement s =
        BUNRAKU_TRY(db.prepare("SELECT hashes FROM created_resources WHERE certname_id = ?"));
    s.bind(node);
    if (BUNRAKU_TRY(s.step())) out.hashes_ = unpack_numbers(s.blob(0));
    return out;
}

bool CreatedResources::contains(std::string_view type, std::string_view title) const {
    return std::ranges::binary_search(hashes_, hash_of(type, title));
}

void CreatedResources::add(std::string_view type, std::string_view title) {
    const std::int64_t hash = hash_of(type, title);
    const auto at = std::ranges::lower_bound(hashes_, hash);
    if ((at != hashes_.end() && *at == hash) || hashes_.size() >= kMost) return;
    hashes_.insert(at, hash);
    changed_ = true;
}

bool CreatedResources::remove(std::string_view type, std::string_view title) {
    const std::int64_t hash = hash_of(type, title);
    const auto at = std::ranges::lower_bound(hashes_, hash);
    if (at == hashes_.end() || *at != hash) return false;
    hashes_.erase(at);
    changed_ = true;
    return true;
}

Result<void> CreatedResources::save(Database& db) {
    if (!changed_) return {};
    BUNRAKU_ASSERT(node_ != 0 && std::ranges::is_sorted(hashes_));
    Statement s = BUNRAKU_TRY(
        db.prepare("INSERT INTO created_resources (certname_id, hashes) VALUES (?, ?)"
                   " ON CONFLICT (certname_id) DO UPDATE SET hashes = excluded.hashes"));
    const std::string packed = pack_numbers(hashes_);
    s.bind(node_).bind_blob(packed);
    BUNRAKU_TRY_VOID(s.run_later());
    changed_ = false;
    return {};
}

Existence existence_change(std::string_view type, std::string_view property,
                           std::string_view old_value, std::string_view new_value) {
    if (property == "ensure" && type != "Service") {
        // A null value is unknown, so it creates nothing.
        const bool was = !is_absent(old_value), is = !is_absent(new_value);
        if (!was && is && !old_value.empty() && old_value != "null") return Existence::Created;
        return was && !is ? Existence::Removed : Existence::Same;
    }
    if (property == "enable" && type == "Service") {
        if (is_false(old_value) && is_true(new_value)) return Existence::Created;
        if (is_true(old_value) && is_false(new_value)) return Existence::Removed;
    }
    return Existence::Same;
}

Result<void> record_existence(Database& db, std::int64_t node,
                              std::span<const ExistenceChange> changes) {
    if (changes.empty()) return {};
    CreatedResources created = BUNRAKU_TRY(CreatedResources::read(db, node));
    for (const ExistenceChange& c : changes) {
        if (c.change == Existence::Created) {
            created.add(c.type, c.title);
        } else if (c.change == Existence::Removed) {
            created.remove(c.type, c.title);
        }
    }
    return created.save(db);
}

}  // namespace bunraku::store
