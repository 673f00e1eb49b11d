// SPDX-License-Identifier: Apache-2.0
#include "modules/forge/metadata.h"

#include <algorithm>
#include <fcntl.h>
#include <fmt/format.h>
#include <map>
#include <unistd.h>
#include <vector>

#include "core/base/assert.h"
#include "core/base/civil_time.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/codec/digest.h"
#include "core/codec/json_text.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "core/value/rich_data.h"
#include "modules/forge/publish_files.h"
#include "modules/module/tuf.h"

namespace bunraku::forge {

namespace {

using base::failure;
using base::Result;

constexpr std::int64_t kDay = 86400;

std::string hex_of(std::string_view bytes) {
    std::string out;
    for (char c : bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
    return out;
}

std::string sha256_hex(std::string_view text) {
    return codec::hex_digest(codec::DigestKind::Sha256, text);
}

std::string key_json(std::string_view public_key) {
    return fmt::format(R"({{"keytype":"ed25519","keyval":{{"public":"{}"}},"scheme":"ed25519"}})",
                       hex_of(public_key));
}

std::string key_number(std::string_view public_key) { return sha256_hex(key_json(public_key)); }

/// Returns the signed part of a role. `rest` is canonical JSON whose names sort after the common
/// members.
std::string role_part(std::string_view role, std::string_view before, std::int64_t expires,
                      std::string_view between, std::string_view rest, std::int64_t version) {
    return fmt::format(
        R"({{"_type":"{}",{}"expires":"{}",{}"spec_version":"1.0.31",{}"version":{}}})", role,
        before, base::iso_text(base::civil_time(expires)), between, rest, version);
}

/// Returns a metadata file: the part, which is already canonical, and its signatures.
std::string signed_file(std::string_view part, const std::vector<codec::SigningKey>& keys) {
    std::string signatures;
    for (const codec::SigningKey& key : keys) {
        signatures += fmt::format(R"({}{{"keyid":"{}","sig":"{}"}})", signatures.empty() ? "" : ",",
                                  key_number(key.public_key()), hex_of(key.sign(part)));
    }
    return fmt::format("{{\"signatures\":[{}],\"signed\":{}}}\n", signatures, part);
}

/// Map from names to their values, both as JSON.
using Statement = std::map<std::string, std::string>;

std::string object_text(const Statement& names) {
    std::string out = "{";
    for (const auto& [name, entry] : names) {
        if (out.size() > 1) out += ',';
        out.append(name).append(":").append(entry);
    }
    return out + "}";
}

/// Returns the entry for a metadata file that another metadata file lists.
std::string file_entry(std::string_view text, std::int64_t version) {
    return fmt::format(R"({{"hashes":{{"sha256":"{}"}},"length":{},"version":{}}})",
                       sha256_hex(text), text.size(), version);
}

std::string meta_part(const Statement& files) {
    return fmt::format(R"("meta":{},)", object_text(files));
}

// Delegated parts of the targets.

constexpr int kParts = 256;
constexpr std::string_view kFirstPart = "part-00";

std::string part_of(std::string_view path) { return "part-" + sha256_hex(path).substr(0, 2); }

std::string delegations_part(const codec::SigningKey& key) {
    const std::string number = key_number(key.public_key());
    std::string roles;
    for (int i = 0; i < kParts; ++i) {
        roles += fmt::format(
            R"({}{{"keyids":["{}"],"name":"part-{:02x}","path_hash_prefixes":["{:02x}"],)"
            R"("terminating":true,"threshold":1}})",
            i == 0 ? "" : ",", number, i, i);
    }
    return fmt::format(R"("delegations":{{"keys":{{"{}":{}}},"roles":[{}]}},)", number,
                       key_json(key.public_key()), roles);
}

std::string targets_text(const codec::SigningKey& key, std::string_view delegations,
                         const Statement& targets, std::int64_t end, std::int64_t version) {
    return signed_file(role_part("targets", delegations, end, "",
                                 fmt::format(R"("targets":{},)", object_text(targets)), version),
                       {key});
}

std::string snapshot_text(const codec::SigningKey& key, const Statement& files, std::int64_t end,
                          std::int64_t version) {
    return signed_file(role_part("snapshot", "", end, meta_part(files), "", version), {key});
}

std::string target_entry(std::string_view sha256, std::string_view size) {
    return fmt::format(R"({{"hashes":{{"sha256":"{}"}},"length":{}}})", sha256, size);
}

std::string root_part(const module::TufRoot& root) {
    std::string keys, roles;
    for (const auto& [id, bytes] : root.keys) {
        keys += fmt::format(R"({}"{}":{})", keys.empty() ? "" : ",", id, key_json(bytes));
    }
    for (const auto& [name, role] : root.roles) {
        roles +=
            fmt::format(R"({}"{}":{{"keyids":["{}"],"threshold":{}}})", roles.empty() ? "" : ",",
                        name, fmt::join(role.keys, "\",\""), role.threshold);
    }
    return role_part("root", R"("consistent_snapshot":false,)", root.expires,
                     fmt::format(R"("keys":{{{}}},"roles":{{{}}},)", keys, roles), "",
                     root.version);
}

/// Version and expiry of a metadata file.
struct Term {
    std::int64_t version = 0, expires = 0;
};
Result<Term> term_of(std::string_view text) {
    base::Arena arena;
    const value::Value file = BUNRAKU_TRY(value::parse_json(arena, text));
    const value::Value* part = file.is_hash() ? file.as_hash().find("signed") : nullptr;
    const value::Value* version =
        part && part->is_hash() ? part->as_hash().find("version") : nullptr;
    const value::Value* expires =
        part && part->is_hash() ? part->as_hash().find("expires") : nullptr;
    const auto time =
        expires && expires->is_string() ? base::parse_iso_time(expires->as_string()) : std::nullopt;
    if (!version || !version->is_integer() || !time) return failure("the metadata is broken");
    return Term{version->as_integer(), time->seconds()};
}

/// Returns the members of the object `name` in the signed part of a metadata file.
Result<Statement> object_members(std::string_view text, std::string_view name) {
    base::Arena arena;
    const value::Value file = BUNRAKU_TRY(value::parse_json(arena, text));
    const value::Value* part = file.is_hash() ? file.as_hash().find("signed") : nullptr;
    const value::Value* found = part && part->is_hash() ? part->as_hash().find(name) : nullptr;
    if (!found || !found->is_hash()) return failure("the metadata is broken");
    Statement out;
    for (const value::Entry& e : found->as_hash()) {
        out[codec::json_string(e.key.as_string())] = module::canonical_json(e.value);
    }
    return out;
}

sys::FileSystem& disk() {
    auto& files = sys::disk();
    return files;
}

Result<void> put(const std::string& path, const std::string& text, std::uint32_t mode = 0644) {
    return disk().replace(path, text, {.mode = mode, .sync = true});
}
/// Writes a file without syncing it. `switch_over` syncs all files together.
Result<void> write_unsynced(const std::string& path, const std::string& text) {
    return disk().replace(path, text, {.mode = 0644});
}

/// Reports whether the whole tree must be signed again.
bool is_late(const Term& term, std::int64_t now) {
    return term.expires - now < kTargetsDays * kDay / 3;
}

std::string metadata_of(const std::string& tree) { return tree + "/metadata"; }
std::string staging_folder(const std::string& tree) { return tree + "/.metadata.new"; }

/// Replaces the metadata of the tree with the prepared files in one step. Clients never see a
/// mixture; a client that is reading the old files starts again.
Result<void> switch_over(const std::string& tree) {
    const std::string fresh = staging_folder(tree), to = metadata_of(tree);
    std::vector<std::string> paths = {fresh};
    for (const std::string& name : BUNRAKU_TRY(disk().list(fresh))) {
        const std::string path = fresh + "/" + name;
        // A file with several links is part of the previous metadata and was synced then.
        if (BUNRAKU_TRY(disk().lstat(path)).links == 1) paths.push_back(path);
    }
    constexpr std::size_t kMany = 32;
    if (paths.size() > kMany) {
        sync_file_system(fresh);
    } else {
        BUNRAKU_TRY_VOID(sync_together(paths));
    }
    if (!disk().exists(to)) {
        BUNRAKU_TRY_VOID(disk().rename(fresh, to));
    } else if (::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) != 0) {
        // Not every file system supports RENAME_EXCHANGE.
        const std::string old = tree + "/.metadata.old";
        BUNRAKU_TRY_VOID(disk().remove_all(old));
        BUNRAKU_TRY_VOID(disk().rename(to, old));
        BUNRAKU_TRY_VOID(disk().rename(fresh, to));
        BUNRAKU_TRY_VOID(disk().remove_all(old));
    }
    sync_folder(tree);
    return disk().remove_all(fresh);
}

}  // namespace

bool TreeMetadata::on() const { return disk().exists(folder_ + "/1.root.json"); }

std::string TreeMetadata::key_file(std::string_view role) const {
    return fmt::format("{}/keys/{}.pem", folder_, role);
}

Result<codec::SigningKey> TreeMetadata::key(const std::string& file, std::string_view role) const {
    auto text = disk().read(file);
    if (!text) {
        return failure(
            fmt::format("the key of the role '{}' is needed: {}", role, text.error().message));
    }
    auto key = codec::SigningKey::parse(*text);
    if (!key) return failure(fmt::format("{}: {}", file, key.error().message));
    return key;
}

Result<codec::SigningKey> TreeMetadata::signer(std::string_view role) const {
    const auto root = BUNRAKU_TRY(module::TufRoot::parse(newest_root()));
    const auto& may = root.roles.find(role)->second.keys;
    // The second file exists if a key rotation was interrupted.
    for (const char* end : {"", ".before"}) {
        auto found = key(key_file(role) + end, role);
        if (!found && *end == '\0') return found;
        if (found &&
            std::find(may.begin(), may.end(), key_number(found->public_key())) != may.end()) {
            return found;
        }
    }
    return failure(fmt::format("{} is not the key that the root names", key_file(role)));
}

std::string TreeMetadata::newest_root() const {
    std::string text;
    for (int n = 1;; ++n) {
        auto next = disk().read(fmt::format("{}/{}.root.json", folder_, n));
        if (!next) return text;
        text = std::move(*next);
    }
}

Result<void> TreeMetadata::init(const std::string& root_key, std::int64_t now) const {
    if (on()) return failure("keys exist already; use 'rotate' to replace them");
    BUNRAKU_TRY_VOID(disk().make_directories(folder_ + "/keys", 0700));
    module::TufRoot root;
    root.version = 1;
    root.expires = now + kRootDays * kDay;
    std::vector<codec::SigningKey> signers;
    for (std::string_view role : module::kTufRoles) {
        codec::SigningKey fresh = BUNRAKU_TRY(codec::SigningKey::generate());
        const std::string number = key_number(fresh.public_key());
        root.keys.emplace(number, fresh.public_key());
        root.roles[std::string(role)] = {{number}, 1};
        const bool elsewhere = role == "root" && !root_key.empty();
        if (elsewhere && disk().exists(root_key)) return failure(root_key + " is there already");
        BUNRAKU_TRY_VOID(put(elsewhere ? root_key : key_file(role), fresh.pem(), 0600));
        if (role == "root") signers.push_back(std::move(fresh));
    }
    BUNRAKU_ASSERT(root.roles.size() == std::size(module::kTufRoles) && signers.size() == 1);
    return put(folder_ + "/1.root.json", signed_file(root_part(root), signers));
}

Result<void> TreeMetadata::rotate(std::string_view role, const std::string& root_key,
                                  std::int64_t now) const {
    if (std::find(std::begin(module::kTufRoles), std::end(module::kTufRoles), role) ==
        std::end(module::kTufRoles)) {
        return failure(
            fmt::format("Invalid role '{}': expected root, targets, snapshot or timestamp", role));
    }
    module::TufRoot root = BUNRAKU_TRY(module::TufRoot::parse(newest_root()));
    const std::string root_file = root_key.empty() ? key_file("root") : root_key;
    std::vector<codec::SigningKey> signers;
    signers.push_back(BUNRAKU_TRY(key(root_file, "root")));
    const auto& may = root.roles["root"].keys;
    if (std::find(may.begin(), may.end(), key_number(signers[0].public_key())) == may.end()) {
        return failure(root_file + " is not the key of the root");
    }
    codec::SigningKey fresh = BUNRAKU_TRY(codec::SigningKey::generate());
    const std::string number = key_number(fresh.public_key());
    for (const std::string& old : root.roles[std::string(role)].keys) root.keys.erase(old);
    root.keys.emplace(number, fresh.public_key());
    root.roles[std::string(role)] = {{number}, 1};
    ++root.version;
    root.expires = now + kRootDays * kDay;
    const std::string pem = fresh.pem(), file = role == "root" ? root_file : key_file(role);
    if (role == "root") signers.push_back(std::move(fresh));
    BUNRAKU_ASSERT(signers.size() == (role == "root" ? 2U : 1U));
    BUNRAKU_ASSERT(root.keys.contains(number));
    const std::string text = signed_file(root_part(root), signers);
    // Write the key before the root, because a root that lists a lost key would make the metadata
    // unusable. The old key is saved: if the process dies in between, that key is still the valid
    // one.
    if (auto old = disk().read(file)) BUNRAKU_TRY_VOID(put(file + ".before", *old, 0600));
    BUNRAKU_TRY_VOID(put(file, pem, 0600));
    BUNRAKU_TRY_VOID(put(fmt::format("{}/{}.root.json", folder_, root.version), text));
    return disk().remove(file + ".before");
}

Result<std::int64_t> TreeMetadata::next_version() const {
    const std::string file = folder_ + "/version";
    const auto text = disk().read(file);
    const std::int64_t next =
        (text ? base::parse_integer<std::int64_t>(base::trim(*text)).value_or(0) : 0) + 1;
    BUNRAKU_TRY_VOID(put(file, fmt::format("{}\n", next)));
    return next;
}

Result<void> TreeMetadata::write_roots(const std::string& to) const {
    for (int n = 1;; ++n) {
        const std::string name = fmt::format("{}.root.json", n);
        auto text = disk().read(folder_ + "/" + name);
        if (!text) break;
        if (disk().read(to + "/" + name).value_or("") != *text) {
            BUNRAKU_TRY_VOID(write_unsynced(to + "/" + name, *text));
        }
    }
    return write_unsynced(to + "/root.json", newest_root());
}

Result<void> TreeMetadata::write_timestamp(const std::string& to, std::string_view snapshot,
                                           std::int64_t version, std::int64_t now) const {
    const Term term = BUNRAKU_TRY(term_of(snapshot));
    const auto for_timestamp = BUNRAKU_TRY(signer("timestamp"));
    return put(to + "/timestamp.json",
               signed_file(
                   role_part("timestamp", "", now + kTimestampDays * kDay,
                             meta_part({{"\"snapshot.json\"", file_entry(snapshot, term.version)}}),
                             "", version),
                   {for_timestamp}));
}

Result<void> TreeMetadata::write(const std::string& tree, std::int64_t now) const {
    if (!on()) return {};
    const auto for_targets = BUNRAKU_TRY(signer("targets"));
    const auto for_snapshot = BUNRAKU_TRY(signer("snapshot"));
    const std::string manifest = BUNRAKU_TRY(disk().read(tree + "/PULP_MANIFEST"));
    std::map<std::string, Statement> parts;
    Statement all;
    for (std::string_view row : base::split(manifest, '\n')) {
        const auto f = base::split(row, ',');
        if (f.size() == 3) all[codec::json_string(f[0])] = target_entry(f[1], f[2]);
    }
    // Clients treat a metadata file that is no longer listed as a rollback. Therefore targets that
    // were once split stay split.
    const std::string mark = folder_ + "/parts";
    const bool in_parts = all.size() >= kTargetsInOne || disk().exists(mark);
    if (in_parts && !disk().exists(mark)) BUNRAKU_TRY_VOID(put(mark, ""));
    const std::int64_t version = BUNRAKU_TRY(next_version()), end = now + kTargetsDays * kDay;
    const std::string to = staging_folder(tree);
    BUNRAKU_TRY_VOID(disk().remove_all(to));
    BUNRAKU_TRY_VOID(disk().make_directories(to, 0755));
    Statement files;
    std::string targets;
    if (in_parts) {
        for (std::string_view row : base::split(manifest, '\n')) {
            const auto f = base::split(row, ',');
            if (f.size() != 3) continue;
            parts[part_of(f[0])][codec::json_string(f[0])] = target_entry(f[1], f[2]);
        }
        for (int i = 0; i < kParts; ++i) {
            const std::string name = fmt::format("part-{:02x}", i);
            const std::string text = targets_text(for_targets, "", parts[name], end, version);
            BUNRAKU_TRY_VOID(disk().replace(to + "/" + name + ".json", text, {.mode = 0644}));
            files[codec::json_string(name + ".json")] = file_entry(text, version);
        }
        BUNRAKU_ASSERT(files.size() == kParts && parts.size() == kParts);
        targets = targets_text(for_targets, delegations_part(for_targets), {}, end, version);
    } else {
        targets = targets_text(for_targets, "", all, end, version);
    }
    files["\"targets.json\""] = file_entry(targets, version);
    const std::string snapshot = snapshot_text(for_snapshot, files, end, version);
    BUNRAKU_TRY_VOID(write_roots(to));
    BUNRAKU_TRY_VOID(write_unsynced(to + "/targets.json", targets));
    BUNRAKU_TRY_VOID(write_unsynced(to + "/snapshot.json", snapshot));
    BUNRAKU_TRY_VOID(write_timestamp(to, snapshot, version, now));
    return switch_over(tree);
}

bool TreeMetadata::grows(const std::string& tree, std::int64_t now) const {
    if (!on()) return true;
    const std::string from = metadata_of(tree);
    const auto term = term_of(disk().read(from + "/snapshot.json").value_or("{}"));
    return term && !is_late(*term, now) &&
           disk().exists(from + "/" + std::string(kFirstPart) + ".json") &&
           disk().read(from + "/root.json").value_or("") == newest_root();
}

Result<void> TreeMetadata::add(const std::string& tree, const std::vector<TreeFile>& added,
                               std::int64_t now) const {
    if (!on() || added.empty()) return {};
    const std::string from = metadata_of(tree), to = staging_folder(tree);
    const std::string before = BUNRAKU_TRY(disk().read(from + "/snapshot.json"));
    const Term term = BUNRAKU_TRY(term_of(before));
    Statement files = BUNRAKU_TRY(object_members(before, "meta"));
    const auto for_targets = BUNRAKU_TRY(signer("targets"));
    const auto for_snapshot = BUNRAKU_TRY(signer("snapshot"));
    std::map<std::string, Statement> parts;
    for (const TreeFile& f : added) {
        parts[part_of(f.path)][codec::json_string(f.path)] =
            target_entry(f.sha256, fmt::format("{}", f.size));
    }
    BUNRAKU_TRY_VOID(disk().remove_all(to));
    BUNRAKU_TRY_VOID(disk().make_directories(to, 0755));
    for (const std::string& name : BUNRAKU_TRY(disk().list(from))) {
        const std::string file = from + "/" + name, link = to + "/" + name;
        if (::link(file.c_str(), link.c_str()) != 0) BUNRAKU_TRY_VOID(disk().copy(file, link));
    }
    const std::int64_t version = BUNRAKU_TRY(next_version());
    for (auto& [name, targets] : parts) {
        const std::string path = to + "/" + name + ".json";
        const std::string old = BUNRAKU_TRY(disk().read(path));
        Statement known = BUNRAKU_TRY(object_members(old, "targets"));
        targets.merge(known);
        // This part expires together with the others. A later expiry would hide that the others are
        // about to expire.
        const std::string text = targets_text(for_targets, "", targets, term.expires, version);
        BUNRAKU_TRY_VOID(write_unsynced(path, text));
        files[codec::json_string(name + ".json")] = file_entry(text, version);
    }
    const std::string snapshot = snapshot_text(for_snapshot, files, term.expires, version);
    BUNRAKU_TRY_VOID(write_unsynced(to + "/snapshot.json", snapshot));
    BUNRAKU_TRY_VOID(write_timestamp(to, snapshot, version, now));
    return switch_over(tree);
}

Result<std::string> TreeMetadata::renew(const std::string& tree, std::int64_t now) const {
    if (!on()) return failure("there are no keys; create them with 'forge metadata init'");
    const std::string to = tree + "/metadata";
    const std::string snapshot = disk().read(to + "/snapshot.json").value_or("");
    const auto term = snapshot.empty() ? Result<Term>(Term{}) : term_of(snapshot);
    if (!term || is_late(*term, now) ||
        disk().read(to + "/root.json").value_or("") != newest_root()) {
        BUNRAKU_TRY_VOID(write(tree, now));
        return std::string("all metadata");
    }
    const std::int64_t version = BUNRAKU_TRY(next_version());
    BUNRAKU_TRY_VOID(write_timestamp(to, snapshot, version, now));
    return std::string("timestamp");
}

}  // namespace bunraku::forge
