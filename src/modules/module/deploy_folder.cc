// SPDX-License-Identifier: Apache-2.0
#include "modules/module/deploy_folder.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <fmt/format.h>
#include <fnmatch.h>
#include <unistd.h>

#include "core/base/assert.h"
#include "core/codec/digest.h"
#include "core/codec/json_text.h"
#include "core/value/rich_data.h"
#include "modules/module/feed.h"
#include "modules/module/sources.h"

namespace bunraku::module {

namespace {

using base::failure;
using base::Result;

constexpr std::string_view kHome = ".bunraku";

constexpr std::string_view kManifest = ".files", kState = ".json";

bool is_record(std::string_view name) {
    return name.ends_with(kManifest) || name.ends_with(kState);
}

/// Returns "COMMIT-ID" of a folder name "COMMIT-ID" or "COMMIT-ID-NUMBER". Empty for other names.
std::string_view stem_of(std::string_view name) {
    constexpr std::size_t kCommit = 12, kId = 16;
    const auto hexadecimal = [](std::string_view text) {
        return text.find_first_not_of("0123456789abcdef") == text.npos;
    };
    const auto stem = name.substr(0, kCommit + 1 + kId);
    if (stem.size() != kCommit + 1 + kId || stem[kCommit] != '-' ||
        !hexadecimal(stem.substr(0, kCommit)) || !hexadecimal(stem.substr(kCommit + 1)))
        return {};
    return name.size() == stem.size() || name[stem.size()] == '-' ? stem : std::string_view();
}

std::string texts_json(const std::map<std::string, std::string>& texts) {
    std::string out;
    for (const auto& [key, text] : texts) {
        out += fmt::format("{}\n    {}: {}", out.empty() ? "" : ",", codec::json_string(key),
                           codec::json_string(text));
    }
    return out.empty() ? "{}" : "{" + out + "\n  }";
}

std::string state_text(const VersionState& s) {
    return fmt::format(
        "{{\n  \"id\": {},\n  \"source\": {},\n  \"branch\": {},\n  \"commit\": {},\n"
        "  \"files\": {},\n  \"modules\": {},\n  \"trees\": {}\n}}\n",
        codec::json_string(s.id()), codec::json_string(s.source), codec::json_string(s.branch),
        codec::json_string(s.commit), codec::json_string(s.files), texts_json(s.modules),
        texts_json(s.trees));
}

std::map<std::string, std::string> texts_of(const value::Value& json, std::string_view key) {
    std::map<std::string, std::string> out;
    const value::Value* texts = json.as_hash().find(key);
    if (!texts || !texts->is_hash()) return out;
    for (const value::Entry& e : texts->as_hash()) {
        if (e.key.is_string() && e.value.is_string())
            out.emplace(e.key.as_string(), e.value.as_string());
    }
    return out;
}

bool match_parts(const std::vector<std::string>& pattern, std::size_t p,
                 const std::vector<std::string>& path, std::size_t i) {
    BUNRAKU_ASSERT(p <= pattern.size() && i <= path.size());
    if (p == pattern.size()) return i == path.size();
    if (pattern[p] == "**" && p + 1 < pattern.size()) {
        for (std::size_t k = i; k <= path.size(); ++k) {
            if (match_parts(pattern, p + 1, path, k)) return true;
        }
        return false;
    }
    return i < path.size() && ::fnmatch(pattern[p].c_str(), path[i].c_str(), 0) == 0 &&
           match_parts(pattern, p + 1, path, i + 1);
}

std::vector<std::string> parts_of(std::string_view text) {
    std::vector<std::string> out;
    while (!text.empty()) {
        const std::size_t slash = text.find('/');
        if (slash != 0) out.emplace_back(text.substr(0, slash));
        text = slash == std::string_view::npos ? std::string_view{} : text.substr(slash + 1);
    }
    return out;
}

}  // namespace

bool purge_pattern_matches(std::string_view pattern, std::string_view path) {
    const auto parts = parts_of(pattern);
    return parts.size() < 32 && match_parts(parts, 0, parts_of(path), 0);
}

std::vector<std::string> versions_beside(sys::FileSystem& files, const std::string& directory) {
    std::vector<std::string> out;
    const std::string now = files.real_path(directory).value_or("");
    const std::string home(sys::directory_name(now));
    if (sys::base_name(sys::directory_name(home)) != kHome) return out;
    for (const std::string& name : files.list(home).value_or(std::vector<std::string>())) {
        if (name == "previous" || name.starts_with('.') || is_record(name)) continue;
        out.push_back(home + "/" + name);
    }
    return out;
}

std::string version_name(const std::string& real_folder) {
    const std::string_view home = sys::directory_name(real_folder);
    if (sys::base_name(sys::directory_name(home)) != kHome) return real_folder;
    return std::string(sys::base_name(real_folder));
}

std::optional<std::string> version_folder(sys::FileSystem& files, const std::string& real_folder,
                                          const std::string& name) {
    if (name.starts_with('/')) {
        return files.is_directory(name) ? std::optional(name) : std::nullopt;
    }
    if (version_name(real_folder) == real_folder || name.empty() || name.starts_with('.') ||
        name.find('/') != std::string::npos)
        return std::nullopt;
    std::string folder = fmt::format("{}/{}", sys::directory_name(real_folder), name);
    if (!is_record(name) && files.is_directory(folder)) return folder;
    const auto stem = stem_of(name);
    for (auto& other : versions_beside(files, real_folder))
        if (!stem.empty() && stem_of(sys::base_name(other)) == stem) return std::move(other);
    return std::nullopt;
}

bool in_version(sys::FileSystem& files, const std::string& path) {
    return files.real_path(path).value_or("").find(fmt::format("/{}/", kHome)) != std::string::npos;
}

VersionFolders::VersionFolders(sys::System& system, std::string basedir, std::string name)
    : system_(&system),
      basedir_(std::move(basedir)),
      name_(std::move(name)),
      link_(basedir_ + "/" + name_),
      home_(fmt::format("{}/{}/{}", basedir_, kHome, name_)) {}

std::string VersionFolders::fresh() const { return fmt::format("{}/.new-{}", home_, ::getpid()); }

std::string VersionFolders::current() {
    if (!system_->files.is_directory(link_)) return {};
    return system_->files.real_path(link_).value_or("");
}

std::string VersionState::id() const {
    std::string text = commit + "\n";
    for (const auto& [path, identity] : modules) text += fmt::format("{}\t{}\n", path, identity);
    return codec::hex_digest(codec::DigestKind::Sha256, text).substr(0, 16);
}

VersionState VersionFolders::state() { return state_of(current()); }

VersionState VersionFolders::state_of(const std::string& folder) {
    VersionState out;
    if (folder.empty()) return out;
    base::Arena arena;
    if (auto text = system_->files.read(folder + std::string(kState))) {
        auto json = value::parse_json(arena, *text);
        if (!json || !json->is_hash()) return out;
        out.source = text_at(*json, "source");
        out.branch = text_at(*json, "branch");
        out.commit = text_at(*json, "commit");
        out.files = text_at(*json, "files");
        out.modules = texts_of(*json, "modules");
        out.trees = texts_of(*json, "trees");
    } else if (auto r10k = system_->files.read(folder + "/.r10k-deploy.json")) {
        auto json = value::parse_json(arena, *r10k);
        if (json) out.commit = text_at(*json, "signature");
        if (!is_commit(out.commit)) out.commit.clear();
    }
    return out;
}

namespace {

/// Exchanges two paths atomically if the file system supports it.
Result<void> exchange(sys::FileSystem& files, const std::string& one, const std::string& other) {
    if (::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0)
        return {};
    // Not every file system supports RENAME_EXCHANGE.
    const std::string away = fmt::format("{}.away-{}", one, ::getpid());
    BUNRAKU_TRY_VOID(files.rename(other, away));
    BUNRAKU_TRY_VOID(files.rename(one, other));
    return files.rename(away, one);
}

}  // namespace

Result<std::string> VersionFolders::finish(VersionState state, const VersionManifest& manifest) {
    auto& files = system_->files;
    state.files = manifest.digest();
    const std::string stem = fmt::format("{}/{}-{}", home_, state.commit.substr(0, 12), state.id());
    std::string version = stem;
    const std::string now = current();
    bool replaces = false;
    for (int i = 2; files.lstat(version); ++i) {
        // Replaces an earlier version with the same content that is not in use.
        const auto real = files.real_path(version);
        replaces = !real || *real != now;
        if (replaces) break;
        version = fmt::format("{}-{}", stem, i);
    }
    BUNRAKU_ALWAYS_ASSERT(version != now && version.starts_with(home_ + "/"));
    BUNRAKU_TRY_VOID(write_manifest(version, manifest));
    BUNRAKU_TRY_VOID(
        files.replace(version + std::string(kState), state_text(state), {.mode = 0644}));
    if (!replaces) {
        BUNRAKU_TRY_VOID(files.rename(fresh(), version));
        return version;
    }
    // Runs of agents may still need files of this version, so its path always exists.
    BUNRAKU_TRY_VOID(exchange(files, fresh(), version));
    const std::string gone = fmt::format("{}/.gone-{}", home_, ::getpid());
    BUNRAKU_TRY_VOID(files.remove_all(gone));
    BUNRAKU_TRY_VOID(files.rename(fresh(), gone));
    return version;
}

Result<std::optional<VersionManifest>> VersionFolders::manifest(const std::string& version) {
    const auto text = BUNRAKU_TRY(system_->files.read_if_there(version + std::string(kManifest)));
    if (!text) return std::nullopt;
    auto out = VersionManifest::read(*text);
    if (!out) return failure(fmt::format("{}{}: {}", version, kManifest, out.error().message));
    return std::move(*out);
}

Result<void> VersionFolders::write_manifest(const std::string& version,
                                            const VersionManifest& manifest) {
    return system_->files.replace(version + std::string(kManifest), manifest.text(),
                                  {.mode = 0644});
}

Result<void> VersionFolders::use(const std::string& version) {
    auto& files = system_->files;
    // The target is relative, because the folder of the environments may be mounted elsewhere.
    BUNRAKU_ALWAYS_ASSERT(!version.empty() && !version.ends_with('/'));
    const std::string target = fmt::format("{}/{}/{}", kHome, name_, sys::base_name(version));
    const std::string old = current();
    if (old.starts_with(home_ + "/") ||
        old.find(fmt::format("/{}/{}/", kHome, name_)) != old.npos) {
        (void)files.replace_link(std::string(sys::base_name(old)), home_ + "/previous");
        // `tidy` uses this time as the end of the version's use.
        (void)retain(old);
    }
    // A rollout tells other servers that this one has switched, which a loss of power must not
    // undo.
    const std::string parent(sys::directory_name(link_));
    auto there = files.lstat(link_);
    if (!there || there->kind == sys::FileKind::Link) {
        BUNRAKU_TRY_VOID(files.replace_link(target, link_));
        return files.sync_directory(parent);
    }
    // The folder was created by r10k: exchange both atomically, so that the old folder becomes the
    // previous version.
    const std::string aside = fmt::format("{}/.link-{}", home_, ::getpid());
    BUNRAKU_TRY_VOID(files.remove_all(aside));
    BUNRAKU_TRY_VOID(files.make_link(target, aside));
    BUNRAKU_TRY_VOID(exchange(files, aside, link_));
    BUNRAKU_TRY_VOID(files.sync_directory(parent));
    std::string before = fmt::format("{}/before-{}", home_, sys::base_name(version));
    BUNRAKU_TRY_VOID(files.rename(aside, before));
    return files.replace_link(std::string(sys::base_name(before)), home_ + "/previous");
}

Result<void> VersionFolders::retain(const std::string& version) {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return system_->files.set_mtime(version + std::string(kState),
                                    std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec);
}

Result<std::string> VersionFolders::before() {
    const std::string now = current();
    const auto name = system_->files.read_link(home_ + "/previous");
    const std::string version = name ? home_ + "/" + *name : "";
    if (version.empty() || !system_->files.is_directory(version) ||
        system_->files.real_path(version).value_or("") == now) {
        return failure(fmt::format("There is no version of '{}' before the one in use", name_));
    }
    return version;
}

void VersionFolders::tidy(int keep, std::int64_t unused_for) {
    auto& files = system_->files;
    auto names = files.list(home_);
    if (!names) return;
    const std::string now(sys::base_name(current()));
    const std::string previous = files.read_link(home_ + "/previous").value_or("");
    std::vector<std::pair<std::int64_t, std::string>> others;
    for (const std::string& name : *names) {
        if (name == "previous" || name == now || name == previous) continue;
        auto status = files.lstat(home_ + "/" + name);
        if (!status) continue;
        if (name.starts_with('.')) {
            (void)files.remove_all(home_ + "/" + name);
        } else if (is_record(name)) {
            if (!files.lstat(home_ + "/" + name.substr(0, name.rfind('.')))) {
                (void)files.remove(home_ + "/" + name);
            }
        } else {
            const auto used = files.lstat(home_ + "/" + name + std::string(kState));
            others.emplace_back(used ? used->mtime_ns : status->ctime_ns, name);
        }
    }
    std::sort(others.rbegin(), others.rend());
    const std::int64_t oldest = (std::int64_t{std::time(nullptr)} - unused_for) * 1'000'000'000;
    for (std::size_t i = 0; i < others.size(); ++i) {
        const auto& [used, name] = others[i];
        if (static_cast<int>(i) + 2 < keep || (unused_for > 0 && used > oldest)) continue;
        BUNRAKU_ALWAYS_ASSERT(!name.empty() && name != now && name != previous);
        for (const std::string_view record : {kState, kManifest})
            (void)files.remove(fmt::format("{}/{}{}", home_, name, record));
        (void)files.remove_all(home_ + "/" + name);
    }
}

Result<void> VersionFolders::remove() {
    auto& files = system_->files;
    // Without a name, this would remove all environments.
    BUNRAKU_ALWAYS_ASSERT(!name_.empty() && name_ != "." && name_ != "..");
    BUNRAKU_TRY_VOID(files.make_directories(home_));
    auto there = files.lstat(link_);
    if (there) {
        const std::string gone = fmt::format("{}/.gone-{}", home_, ::getpid());
        BUNRAKU_TRY_VOID(files.remove_all(gone));
        BUNRAKU_TRY_VOID(files.rename(link_, gone));
    }
    return files.remove_all(home_);
}

namespace {

class Carrier {
public:
    /// If `to` is empty, nothing is copied, and `manifest` lists the files of the version.
    Carrier(sys::FileSystem& files, const std::string& from, const std::string& to,
            const CarryRules& rules, const VersionManifest* manifest = nullptr)
        : files_(files), from_(from), to_(to), rules_(rules), manifest_(manifest) {}

    /// Paths that were not carried over although the new version has nothing at these paths.
    const std::vector<std::string>& left() const { return left_; }

    Result<void> folder(const std::string& prefix) {
        BUNRAKU_ASSERT(prefix.empty() || prefix.ends_with('/'));
        for (const std::string& name : BUNRAKU_TRY(files_.list(from_ + "/" + prefix))) {
            const std::string path = prefix + name;
            if (path == ".git" || path == ".r10k-deploy.json") continue;
            BUNRAKU_TRY_VOID(entry(path));
        }
        return {};
    }

private:
    static bool holds(const std::vector<std::string>& list, const std::string& path) {
        return std::find(list.begin(), list.end(), path) != list.end();
    }
    bool was_managed(const std::string& path) const {
        return std::binary_search(rules_.managed.begin(), rules_.managed.end(), path);
    }
    bool managed_folder(const std::string& path) const {
        const auto next =
            std::lower_bound(rules_.managed.begin(), rules_.managed.end(), path + "/");
        return next != rules_.managed.end() && next->starts_with(path + "/");
    }
    bool allowed(const std::string& path) const {
        return std::any_of(rules_.allowlist.begin(), rules_.allowlist.end(),
                           [&](const auto& p) { return purge_pattern_matches(p, path); });
    }
    bool leads_to_module(const std::string& path) const {
        return std::any_of(rules_.module_paths.begin(), rules_.module_paths.end(),
                           [&](const auto& m) { return m.starts_with(path + "/"); });
    }
    Result<void> entry(const std::string& path) {
        const std::string from = from_ + "/" + path;
        const auto old = BUNRAKU_TRY(files_.lstat(from));
        const auto now = in_version(path);
        const bool is_folder = old.kind == sys::FileKind::Directory;
        if (holds(rules_.module_paths, path)) {
            if (now) return {};
            return rules_.keep_modules ? copy(path, from) : leave(path);
        }
        if (now) {
            const bool both = is_folder && *now == sys::FileKind::Directory;
            return both ? folder(path + "/") : Result<void>{};
        }
        if (!is_folder && was_managed(path)) return leave(path);
        const std::string above(path.substr(0, path.rfind('/') == path.npos ? 0 : path.rfind('/')));
        const bool among_modules = !above.empty() && holds(rules_.module_folders, above);
        if (is_folder &&
            (managed_folder(path) || leads_to_module(path) || rules_.purge_environment)) {
            if (allowed(path)) return copy(path);
            if (among_modules && rules_.purge_puppetfile && !rules_.keep_modules)
                return leave(path);
            return folder(path + "/");
        }
        if (among_modules && rules_.purge_puppetfile && !rules_.keep_modules) return leave(path);
        if (rules_.purge_environment && !allowed(path)) return leave(path);
        return copy(path);
    }
    std::optional<sys::FileKind> in_version(const std::string& path) const {
        if (!manifest_) {
            const auto status = files_.lstat(to_ + "/" + path);
            return status ? std::optional(status->kind) : std::nullopt;
        }
        if (manifest_->holds(path + "/")) return sys::FileKind::Directory;
        if (manifest_->entries().contains(path)) return sys::FileKind::File;
        return std::nullopt;
    }
    Result<void> leave(const std::string& path) {
        left_.push_back(path);
        return {};
    }
    /// `like` has the same meaning as in copy_tree. Unmanaged files are copied without it, because
    /// users may edit them.
    Result<void> copy(const std::string& path, const std::string& like = {}) {
        if (manifest_) return {};
        BUNRAKU_ASSERT(!to_.empty());
        const std::string from = from_ + "/" + path, to = to_ + "/" + path;
        BUNRAKU_TRY_VOID(files_.make_directories(std::string(sys::directory_name(to))));
        const auto status = BUNRAKU_TRY(files_.lstat(from));
        switch (status.kind) {
            case sys::FileKind::Directory:
                return copy_tree(from, to, {}, like,
                                 like.empty() ? CopyMode::Same : CopyMode::Frozen);
            case sys::FileKind::Link:
                return files_.make_link(BUNRAKU_TRY(files_.read_link(from)), to);
            case sys::FileKind::File: return files_.copy(from, to, {.mode = status.mode});
            default: return {};
        }
    }
    sys::FileSystem& files_;
    const std::string &from_, to_;
    const CarryRules& rules_;
    const VersionManifest* manifest_;
    std::vector<std::string> left_;
};

}  // namespace

Result<void> carry_over(sys::FileSystem& files, const std::string& from, const std::string& to,
                        const CarryRules& rules) {
    BUNRAKU_ASSERT(std::ranges::is_sorted(rules.managed));
    BUNRAKU_ASSERT(!from.empty() && !to.empty() && from != to);
    return Carrier(files, from, to, rules).folder("");
}

Result<std::vector<std::string>> not_carried(sys::FileSystem& files, const std::string& version,
                                             const VersionManifest& manifest,
                                             const CarryRules& rules) {
    BUNRAKU_ASSERT(std::ranges::is_sorted(rules.managed));
    Carrier carrier(files, version, "", rules, &manifest);
    BUNRAKU_TRY_VOID(carrier.folder(""));
    return carrier.left();
}

}  // namespace bunraku::module
