// SPDX-License-Identifier: Apache-2.0
#include "modules/module/tuf.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <fmt/format.h>
#include <set>
#include <thread>

#include "core/base/arena.h"
#include "core/base/assert.h"
#include "core/base/civil_time.h"
#include "core/base/diagnostic.h"
#include "core/codec/digest.h"
#include "core/codec/ed25519.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "core/sys/lock.h"
#include "core/value/rich_data.h"
#include "modules/module/feed.h"

namespace bunraku::module {

namespace {

using base::failure;
using base::Result;
using value::Value;

constexpr std::uint64_t kMaxRoot = 512 << 10, kMaxTimestamp = 16 << 10, kMaxSnapshot = 2 << 20,
                        kMaxTargets = 128 << 20;
/// Maximum number of new roots per update.
constexpr int kMaxRotations = 256;
/// Maximum number of delegated targets roles.
constexpr std::size_t kMaxParts = 16384;
/// Error code of a mismatch that a publish between two requests may explain.
constexpr int kMixed = EAGAIN;

const Value* member(const Value& object, std::string_view key) {
    return object.is_hash() ? object.as_hash().find(key) : nullptr;
}

std::int64_t number_at(const Value& object, std::string_view key) {
    const Value* v = member(object, key);
    return v && v->is_integer() ? v->as_integer() : 0;
}

/// Returns an empty string if the text is not hexadecimal.
std::string raw_bytes(std::string_view hex) {
    std::string out;
    if (hex.size() % 2 != 0) return out;
    for (std::size_t i = 0; i < hex.size(); i += 2) {
        unsigned char byte = 0;
        const auto read = std::from_chars(hex.data() + i, hex.data() + i + 2, byte, 16);
        if (read.ptr != hex.data() + i + 2) return {};
        out += static_cast<char>(byte);
    }
    return out;
}

std::string file_of(std::string_view role) { return std::string(role) + ".json"; }

bool is_main_role(std::string_view role) {
    return std::find(std::begin(kTufRoles), std::end(kTufRoles), role) != std::end(kTufRoles);
}

/// Parses the text as {"signed": {"_type": kind, ..}, "signatures": [..]}; the value is allocated
/// in `arena`. The kind is the name of the role, and "targets" for delegated roles.
Result<Value> parse_file(base::Arena& arena, std::string_view role, std::string_view text) {
    const std::string_view kind = is_main_role(role) ? role : "targets";
    Result<Value> parsed = failure("no JSON");
    try {
        parsed = value::parse_json(arena, text);
    } catch (const base::PuppetError& e) {
        parsed = failure(e.message());
    }
    if (!parsed) {
        return failure(fmt::format("{} is not JSON: {}", file_of(role), parsed.error().message));
    }
    const Value* part = member(*parsed, "signed");
    const Value* signatures = member(*parsed, "signatures");
    if (!part || !part->is_hash() || !signatures || !signatures->is_array()) {
        return failure(file_of(role) + " is not TUF metadata");
    }
    if (text_at(*part, "_type") != kind) {
        return failure(fmt::format("wrong keys: {} is of the role '{}'", file_of(role),
                                   text_at(*part, "_type").substr(0, 40)));
    }
    if (!text_at(*part, "spec_version").starts_with("1.")) {
        return failure(file_of(role) + " follows another version of TUF's specification");
    }
    if (number_at(*part, "version") < 1) return failure(file_of(role) + " has no version");
    return parsed;
}

Result<std::int64_t> expiry_of(std::string_view role, const Value& part) {
    const auto time = base::parse_iso_time(text_at(part, "expires"));
    if (!time) return failure(file_of(role) + " does not say when it expires");
    return time->seconds();
}

/// Checks that the required number of the role's keys have signed `file`.
Result<void> check_signatures(const TufRoot& by, std::string_view role, const Value& file) {
    const auto found = by.roles.find(role);
    if (found == by.roles.end()) {
        return failure(fmt::format("wrong keys: the root names none for the role '{}'", role));
    }
    const TufRole& who = found->second;
    BUNRAKU_ALWAYS_ASSERT(who.threshold >= 1);
    const std::string bytes = canonical_json(*member(file, "signed"));
    // A key that signs twice, or under two ids, counts once.
    std::set<std::string> good;
    for (const Value& s : member(file, "signatures")->as_array()) {
        const std::string id(text_at(s, "keyid"));
        if (std::find(who.keys.begin(), who.keys.end(), id) == who.keys.end()) continue;
        const auto key = by.keys.find(id);
        if (key == by.keys.end() || good.contains(key->second)) continue;
        BUNRAKU_ASSERT(key->second.size() == 32);
        if (codec::ed25519_verify(key->second, bytes, raw_bytes(text_at(s, "sig")))) {
            good.insert(key->second);
        }
    }
    if (static_cast<std::int64_t>(good.size()) >= who.threshold) return {};
    return failure(fmt::format("wrong keys: {} has {} of the {} signatures that the role needs",
                               file_of(role), good.size(), who.threshold));
}

void write_canonical(std::string& out, const Value& v) {
    const auto quoted = [&](std::string_view text) {
        out += '"';
        for (char c : text) {
            if (c == '"' || c == '\\') out += '\\';
            out += c;
        }
        out += '"';
    };
    if (v.is_string()) {
        quoted(v.as_string());
    } else if (v.is_array()) {
        out += '[';
        bool any = false;
        for (const Value& item : v.as_array()) {
            if (any) out += ',';
            any = true;
            write_canonical(out, item);
        }
        out += ']';
    } else if (v.is_hash()) {
        std::vector<std::pair<std::string_view, const Value*>> sorted;
        for (const value::Entry& e : v.as_hash()) sorted.emplace_back(e.key.as_string(), &e.value);
        std::sort(sorted.begin(), sorted.end(),
                  [](const auto& a, const auto& b) { return a.first < b.first; });
        out += '{';
        for (std::size_t i = 0; i < sorted.size(); ++i) {
            if (i > 0) out += ',';
            quoted(sorted[i].first);
            out += ':';
            write_canonical(out, *sorted[i].second);
        }
        out += '}';
    } else {
        value::write_json(out, v);
    }
}

}  // namespace

std::string canonical_json(const Value& part) {
    std::string out;
    write_canonical(out, part);
    return out;
}

namespace {

/// Returns a map from key id to 32 bytes. Skips keys of other types, so their signatures do not
/// count.
std::map<std::string, std::string> read_keys(const Value* keys) {
    std::map<std::string, std::string> out;
    if (!keys || !keys->is_hash()) return out;
    for (const value::Entry& e : keys->as_hash()) {
        const Value* shown = member(e.value, "keyval");
        const std::string bytes = shown ? raw_bytes(text_at(*shown, "public")) : std::string();
        if (text_at(e.value, "scheme") != "ed25519" || bytes.size() != 32) continue;
        out.emplace(e.key.as_string(), bytes);
    }
    return out;
}

Result<TufRole> read_role(const Value* role, std::string_view name) {
    const Value* ids = role ? member(*role, "keyids") : nullptr;
    if (!ids || !ids->is_array()) {
        return failure(fmt::format("the role '{}' has no keys", name));
    }
    TufRole out;
    out.threshold = number_at(*role, "threshold");
    if (out.threshold < 1)
        return failure(fmt::format("the role '{}' requires no signatures", name));
    for (const Value& id : ids->as_array()) {
        if (id.is_string()) out.keys.emplace_back(id.as_string());
    }
    return out;
}

/// Checks the name, because it becomes a file name.
bool is_part_name(std::string_view name) {
    return !name.empty() && name.size() <= 64 && !is_main_role(name) &&
           name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_") == name.npos;
}

/// Reads "delegations" of targets.json. Supports delegations by the SHA-256 prefix of paths.
Result<void> read_delegations(const Value& delegations, TufRoot& delegated,
                              std::map<std::string, std::string, std::less<>>& parts) {
    delegated.keys = read_keys(member(delegations, "keys"));
    const Value* roles = member(delegations, "roles");
    if (!roles || !roles->is_array()) return {};
    for (const Value& role : roles->as_array()) {
        const std::string name(text_at(role, "name"));
        if (!is_part_name(name)) return failure("targets.json hands a part to an odd name");
        if (delegated.roles.size() >= kMaxParts) {
            return failure("endless data: targets.json is in too many parts");
        }
        delegated.roles[name] = BUNRAKU_TRY(read_role(&role, name));
        const Value* prefixes = member(role, "path_hash_prefixes");
        if (!prefixes || !prefixes->is_array()) continue;
        for (const Value& prefix : prefixes->as_array()) {
            if (prefix.is_string()) parts.emplace(prefix.as_string(), name);
        }
    }
    return {};
}

}  // namespace

Result<TufRoot> TufRoot::parse(std::string_view text) {
    base::Arena arena;
    const Value file = BUNRAKU_TRY(parse_file(arena, "root", text));
    const Value& part = *member(file, "signed");
    TufRoot out;
    out.version = number_at(part, "version");
    out.expires = BUNRAKU_TRY(expiry_of("root", part));
    out.keys = read_keys(member(part, "keys"));
    const Value* roles = member(part, "roles");
    for (std::string_view name : kTufRoles) {
        auto role = read_role(roles ? member(*roles, name) : nullptr, name);
        if (!role) return failure("root.json: " + role.error().message);
        out.roles[std::string(name)] = std::move(*role);
    }
    return out;
}

std::string TufClient::kept(std::string_view name) const {
    return sys::disk().read(options_.state + "/" + std::string(name)).value_or(std::string());
}

Result<void> TufClient::keep(std::string_view name, const std::string& text) const {
    return sys::disk().replace(options_.state + "/" + std::string(name), text,
                               {.mode = 0644, .sync = true});
}

Result<void> TufClient::fresh(std::string_view role, std::int64_t expires) const {
    if (expires > options_.now()) return {};
    return failure(fmt::format(
        "freeze: {} expired on {}: no newer one has been signed, or it is being withheld",
        file_of(role), base::iso_text(base::civil_time(expires))));
}

/// Updates from the stored root to the newest one. Each root must be signed by the previous one and
/// by itself.
Result<void> TufClient::follow_root() {
    std::string text = options_.root;
    root_ = BUNRAKU_TRY(TufRoot::parse(text));
    if (std::string seen = kept("root.json"); !seen.empty()) {
        auto newer = TufRoot::parse(seen);
        if (newer && newer->version > root_.version) {
            root_ = std::move(*newer);
            text = std::move(seen);
        }
    }
    {
        base::Arena arena;
        const Value file = BUNRAKU_TRY(parse_file(arena, "root", text));
        BUNRAKU_TRY_VOID(check_signatures(root_, "root", file));
    }
    std::string newest;
    for (int i = 0;; ++i) {
        const std::string name = fmt::format("{}.root.json", root_.version + 1);
        auto next = options_.fetch(name, kMaxRoot);
        if (!next && next.error().code == 404) break;
        if (!next) return std::unexpected(next.error());
        if (i >= kMaxRotations) return failure("endless data: the roots do not end");
        base::Arena arena;
        const Value file = BUNRAKU_TRY(parse_file(arena, "root", *next));
        TufRoot fresh_root = BUNRAKU_TRY(TufRoot::parse(*next));
        BUNRAKU_TRY_VOID(check_signatures(root_, "root", file));
        BUNRAKU_TRY_VOID(check_signatures(fresh_root, "root", file));
        if (fresh_root.version != root_.version + 1) {
            return failure(fmt::format("rollback: {} is of version {}", name, fresh_root.version));
        }
        BUNRAKU_ALWAYS_ASSERT(fresh_root.version > root_.version);
        root_ = std::move(fresh_root);
        newest = std::move(*next);
    }
    if (!newest.empty()) BUNRAKU_TRY_VOID(keep("root.json", newest));
    return fresh("root", root_.expires);
}

Result<TufClient::File> TufClient::read(std::string_view role, std::string text) const {
    base::Arena arena;
    const Value parsed = BUNRAKU_TRY(parse_file(arena, role, text));
    BUNRAKU_TRY_VOID(check_signatures(is_main_role(role) ? root_ : delegated_, role, parsed));
    const Value& part = *member(parsed, "signed");
    File out;
    out.version = number_at(part, "version");
    out.expires = BUNRAKU_TRY(expiry_of(role, part));
    const auto digest = [](const Value& of) {
        const Value* hashes = member(of, "hashes");
        return hashes ? std::string(text_at(*hashes, "sha256")) : std::string();
    };
    if (const Value* meta = member(part, "meta"); meta && meta->is_hash()) {
        for (const value::Entry& e : meta->as_hash()) {
            out.files.emplace(e.key.as_string(),
                              File::Statement{number_at(e.value, "version"),
                                              number_at(e.value, "length"), digest(e.value)});
        }
    }
    if (const Value* targets = member(part, "targets"); targets && targets->is_hash()) {
        for (const value::Entry& e : targets->as_hash()) {
            const std::int64_t length = number_at(e.value, "length");
            out.targets.emplace(
                e.key.as_string(),
                Target{static_cast<std::uint64_t>(std::max<std::int64_t>(length, 0)),
                       digest(e.value)});
        }
    }
    if (const Value* delegations = member(part, "delegations"); delegations && role == "targets") {
        BUNRAKU_TRY_VOID(read_delegations(*delegations, out.delegated, out.parts));
    }
    out.text = std::move(text);
    return out;
}

/// Returns the file described by `described`. Uses the stored file if it matches.
Result<TufClient::File> TufClient::fetched(std::string_view role, const File::Statement& described,
                                           std::uint64_t limit) const {
    const std::string name = file_of(role);
    const auto is_it = [&](const std::string& text) {
        return (described.length <= 0 ||
                text.size() == static_cast<std::uint64_t>(described.length)) &&
               (described.sha256.empty() ||
                codec::hex_digest(codec::DigestKind::Sha256, text) == described.sha256);
    };
    if (std::string have = kept(name); !have.empty() && !described.sha256.empty() && is_it(have)) {
        auto file = read(role, std::move(have));
        if (file && file->version == described.version) return file;
    }
    if (described.length > 0) limit = std::min(limit, static_cast<std::uint64_t>(described.length));
    auto text = options_.fetch(name, limit);
    if (!text && text.error().code == EFBIG) {
        return failure(
            fmt::format("endless data: {} is longer than the {} bytes it may have", name, limit),
            kMixed);
    }
    if (!text) return std::unexpected(text.error());
    if (!is_it(*text)) {
        return failure(
            fmt::format("mix and match: {} is not the file that was signed for this moment", name),
            kMixed);
    }
    File file = BUNRAKU_TRY(read(role, std::move(*text)));
    if (file.version != described.version) {
        return failure(fmt::format("mix and match: {} is of version {}, and version {} is signed "
                                   "for this moment",
                                   name, file.version, described.version),
                       kMixed);
    }
    return file;
}

Result<void> TufClient::refresh_once() {
    BUNRAKU_TRY_VOID(follow_root());

    // A stored file counts only if the current keys have signed it. Thus versions signed with a
    // stolen key are forgotten when the key is revoked.
    const auto seen = [&](std::string_view role) {
        std::string text = kept(file_of(role));
        Result<File> none = failure("nothing");
        return text.empty() ? none : read(role, std::move(text));
    };
    auto text = options_.fetch("timestamp.json", kMaxTimestamp);
    if (!text && text.error().code == EFBIG) {
        return failure(
            fmt::format("endless data: timestamp.json is longer than {} bytes", kMaxTimestamp));
    }
    if (!text) return std::unexpected(text.error());
    File timestamp = BUNRAKU_TRY(read("timestamp", std::move(*text)));
    const auto snapshot_of = [](const File& file) {
        const auto found = file.files.find("snapshot.json");
        return found == file.files.end() ? File::Statement{} : found->second;
    };
    if (const auto before = seen("timestamp")) {
        if (timestamp.version < before->version) {
            return failure(
                fmt::format("rollback: timestamp.json is of version {}, and version {} "
                            "was seen before",
                            timestamp.version, before->version));
        }
        if (snapshot_of(timestamp).version < snapshot_of(*before).version) {
            return failure(fmt::format(
                "rollback: timestamp.json names version {} of snapshot.json, and version {} was "
                "seen before",
                snapshot_of(timestamp).version, snapshot_of(*before).version));
        }
    }
    BUNRAKU_ASSERT(timestamp.version >= 1);
    BUNRAKU_TRY_VOID(fresh("timestamp", timestamp.expires));
    BUNRAKU_TRY_VOID(keep("timestamp.json", timestamp.text));

    const auto snapshot_before = seen("snapshot");
    const File snapshot = BUNRAKU_TRY(fetched("snapshot", snapshot_of(timestamp), kMaxSnapshot));
    if (snapshot_before) {
        for (const auto& [name, described] : snapshot_before->files) {
            const auto now = snapshot.files.find(name);
            if (now == snapshot.files.end() || now->second.version < described.version) {
                return failure(
                    fmt::format("rollback: snapshot.json names version {} of {}, and "
                                "version {} was seen before",
                                now == snapshot.files.end() ? 0 : now->second.version, name,
                                described.version));
            }
        }
    }
    BUNRAKU_TRY_VOID(fresh("snapshot", snapshot.expires));
    BUNRAKU_TRY_VOID(keep("snapshot.json", snapshot.text));

    const auto described = snapshot.files.find("targets.json");
    if (described == snapshot.files.end()) return failure("snapshot.json names no targets.json");
    File targets = BUNRAKU_TRY(fetched("targets", described->second, kMaxTargets));
    BUNRAKU_TRY_VOID(fresh("targets", targets.expires));
    BUNRAKU_TRY_VOID(keep("targets.json", targets.text));
    targets_ = std::move(targets.targets);
    parts_ = std::move(targets.parts);
    delegated_ = std::move(targets.delegated);
    descriptions_ = snapshot.files;
    loaded_.clear();
    return {};
}

Result<void> TufClient::refresh() {
    auto& files = sys::disk();
    BUNRAKU_TRY_VOID(files.make_directories(options_.state, 0755));
    const auto alone = BUNRAKU_TRY(sys::FileLock::acquire(options_.state + "/lock"));
    auto done = refresh_once();
    // A mismatch may be the effect of a publish between two requests, so try again a few times.
    for (int i = 0; i < 3 && !done && done.error().code == kMixed; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        done = refresh_once();
    }
    return done;
}

/// Returns an empty string if no role has the path.
std::string TufClient::role_of(std::string_view path) const {
    const std::string digest = codec::hex_digest(codec::DigestKind::Sha256, path);
    BUNRAKU_ASSERT(digest.size() == 64);
    for (std::size_t n = 1; !parts_.empty() && n <= digest.size(); ++n) {
        const auto found = parts_.find(std::string_view(digest).substr(0, n));
        if (found != parts_.end()) return found->second;
    }
    return {};
}

Result<void> TufClient::load(const std::string& role) {
    const auto alone = BUNRAKU_TRY(sys::FileLock::acquire(options_.state + "/lock"));
    const auto described = descriptions_.find(file_of(role));
    if (described == descriptions_.end()) return failure("snapshot.json names no " + file_of(role));
    File part = BUNRAKU_TRY(fetched(role, described->second, kMaxTargets));
    BUNRAKU_TRY_VOID(fresh(role, part.expires));
    BUNRAKU_TRY_VOID(keep(file_of(role), part.text));
    for (auto& [path, target] : part.targets) {
        // A role's entries for paths outside of its delegation are ignored.
        if (role_of(path) == role) targets_.emplace(path, std::move(target));
    }
    BUNRAKU_ASSERT(!is_main_role(role) && !loaded_.contains(role));
    loaded_.insert(role);
    return {};
}

Result<std::optional<TufClient::Target>> TufClient::target(std::string_view path) {
    const std::unique_lock alone(mutex_);
    constexpr int kTries = 4;
    for (int i = 1;;) {
        if (const auto found = targets_.find(path); found != targets_.end()) return found->second;
        const std::string role = role_of(path);
        if (role.empty() || loaded_.contains(role)) return std::nullopt;
        auto done = load(role);
        if (done) continue;
        // The tree was published after the metadata was fetched.
        if (done.error().code != kMixed || i++ == kTries) return std::unexpected(done.error());
        BUNRAKU_TRY_VOID(refresh());
    }
}

Result<void> TufClient::check(std::string_view path, std::string_view bytes) {
    const auto wanted = BUNRAKU_TRY(target(path));
    if (!wanted) {
        return failure(fmt::format("arbitrary software: {} is not in targets.json", path));
    }
    if (bytes.size() != wanted->length || wanted->sha256.empty() ||
        codec::hex_digest(codec::DigestKind::Sha256, bytes) != wanted->sha256) {
        return failure(
            fmt::format("arbitrary software: {} is not the file that targets.json names", path));
    }
    return {};
}

}  // namespace bunraku::module
