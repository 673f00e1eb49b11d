#include "modules/module/deploy_folder.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <fmt/format.h>
#include <fnmatch.h>
#include <unistd.h>

#include "core/codec/json_text.h"
#include "core/value/rich_data.h"
#include "modules/module/feed.h"
#include "modules/module/sources.h"

namespace bunraku::module {

namespace {

using base::failure;
using base::Result;

constexpr std::string_view kHome = ".bunraku";

std::string version_name(const std::string& commit) {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    ::gmtime_r(&now, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &parts);
    return fmt::format("{}-{}", text, commit.substr(0, 12));
}

std::string state_text(const VersionState& s) {
    std::string out = fmt::format(
        "{{\n  \"source\": {},\n  \"branch\": {},\n  \"commit\": {},\n  \"modules\": {{",
        codec::json_string(s.source), codec::json_string(s.branch), codec::json_string(s.commit));
    bool first = true;
    for (const auto& [path, identity] : s.modules) {
        out += fmt::format("{}\n    {}: {}", first ? "" : ",", codec::json_string(path),
                           codec::json_string(identity));
        first = false;
    }
    return out + (first ? "}\n}\n" : "\n  }\n}\n");
}

bool match_parts(const std::vector<std::string>& pattern, std::size_t p,
                 const std::vector<std::string>& path, std::size_t i) {
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

VersionState VersionFolders::state() {
    VersionState out;
    const std::string folder = current();
    if (folder.empty()) return out;
    base::Arena arena;
    if (auto text = system_->files.read(folder + ".json")) {
        auto json = value::parse_json(arena, *text);
        if (!json || !json->is_hash()) return out;
        out.source = text_at(*json, "source");
        out.branch = text_at(*json, "branch");
        out.commit = text_at(*json, "commit");
        const value::Value* modules = json->as_hash().find("modules");
        if (!modules || !modules->is_hash()) return out;
        for (const value::Entry& e : modules->as_hash()) {
            if (!e.key.is_string() || !e.value.is_string()) continue;
            out.modules.emplace(e.key.as_string(), e.value.as_string());
        }
    } else if (auto r10k = system_->files.read(folder + "/.r10k-deploy.json")) {
        auto json = value::parse_json(arena, *r10k);
        if (json) out.commit = text_at(*json, "signature");
        if (!is_commit(out.commit)) out.commit.clear();
    }
    return out;
}

Result<std::string> VersionFolders::finish(const VersionState& state) {
    const std::string stem = home_ + "/" + version_name(state.commit);
    std::string version = stem;
    for (int i = 2; system_->files.lstat(version); ++i) version = fmt::format("{}-{}", stem, i);
    BUNRAKU_TRY_VOID(system_->files.replace(version + ".json", state_text(state), {.mode = 0644}));
    BUNRAKU_TRY_VOID(system_->files.rename(fresh(), version));
    return version;
}

Result<void> VersionFolders::use(const std::string& version) {
    auto& files = system_->files;
    // As it is read: the environments' folder may be mounted elsewhere.
    const std::string target = fmt::format("{}/{}/{}", kHome, name_, sys::base_name(version));
    const std::string old = current();
    if (old.starts_with(home_ + "/") ||
        old.find(fmt::format("/{}/{}/", kHome, name_)) != old.npos) {
        (void)files.replace_link(std::string(sys::base_name(old)), home_ + "/previous");
    }
    auto there = files.lstat(link_);
    if (!there || there->kind == sys::FileKind::Link) return files.replace_link(target, link_);
    // A folder that r10k made: both change places at once, and it is the version before.
    const std::string aside = fmt::format("{}/.link-{}", home_, ::getpid());
    BUNRAKU_TRY_VOID(files.remove_all(aside));
    BUNRAKU_TRY_VOID(files.make_link(target, aside));
    if (::renameat2(AT_FDCWD, aside.c_str(), AT_FDCWD, link_.c_str(), RENAME_EXCHANGE) != 0) {
        // Not every file system can.
        const std::string away = fmt::format("{}/.away-{}", home_, ::getpid());
        BUNRAKU_TRY_VOID(files.rename(link_, away));
        BUNRAKU_TRY_VOID(files.rename(aside, link_));
        BUNRAKU_TRY_VOID(files.rename(away, aside));
    }
    std::string before = fmt::format("{}/before-{}", home_, sys::base_name(version));
    BUNRAKU_TRY_VOID(files.rename(aside, before));
    return files.replace_link(std::string(sys::base_name(before)), home_ + "/previous");
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

void VersionFolders::tidy(int keep) {
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
        } else if (name.ends_with(".json")) {
            if (!files.lstat(home_ + "/" + name.substr(0, name.size() - 5))) {
                (void)files.remove(home_ + "/" + name);
            }
        } else {
            others.emplace_back(status->ctime_ns, name);
        }
    }
    std::sort(others.rbegin(), others.rend());
    for (std::size_t i = 0; i < others.size(); ++i) {
        if (static_cast<int>(i) + 2 < keep) continue;
        (void)files.remove(home_ + "/" + others[i].second + ".json");
        (void)files.remove_all(home_ + "/" + others[i].second);
    }
}

Result<void> VersionFolders::remove() {
    auto& files = system_->files;
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
    Carrier(sys::FileSystem& files, const std::string& from, const std::string& to,
            const CarryRules& rules)
        : files_(files), from_(from), to_(to), rules_(rules) {}

    Result<void> folder(const std::string& prefix) {
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
        const std::string from = from_ + "/" + path, to = to_ + "/" + path;
        const auto old = BUNRAKU_TRY(files_.lstat(from));
        const auto now = files_.lstat(to);
        const bool is_folder = old.kind == sys::FileKind::Directory;
        if (holds(rules_.module_paths, path)) {
            return rules_.keep_modules && !now ? copy(path, from) : Result<void>{};
        }
        if (now) {
            const bool both = is_folder && now->kind == sys::FileKind::Directory;
            return both ? folder(path + "/") : Result<void>{};
        }
        if (!is_folder && was_managed(path)) return {};
        const std::string above(path.substr(0, path.rfind('/') == path.npos ? 0 : path.rfind('/')));
        const bool among_modules = !above.empty() && holds(rules_.module_folders, above);
        if (is_folder &&
            (managed_folder(path) || leads_to_module(path) || rules_.purge_environment)) {
            if (allowed(path)) return copy(path);
            if (among_modules && rules_.purge_puppetfile && !rules_.keep_modules) return {};
            return folder(path + "/");
        }
        if (among_modules && rules_.purge_puppetfile && !rules_.keep_modules) return {};
        if (rules_.purge_environment && !allowed(path)) return {};
        return copy(path);
    }
    /// `like` as copy_tree has it: people change what is nobody's, which is therefore copied.
    Result<void> copy(const std::string& path, const std::string& like = {}) {
        const std::string from = from_ + "/" + path, to = to_ + "/" + path;
        BUNRAKU_TRY_VOID(files_.make_directories(std::string(sys::directory_name(to))));
        const auto status = BUNRAKU_TRY(files_.lstat(from));
        switch (status.kind) {
            case sys::FileKind::Directory: return copy_tree(from, to, {}, like);
            case sys::FileKind::Link:
                return files_.make_link(BUNRAKU_TRY(files_.read_link(from)), to);
            case sys::FileKind::File: return files_.copy(from, to, {.mode = status.mode});
            default: return {};
        }
    }
    sys::FileSystem& files_;
    const std::string &from_, &to_;
    const CarryRules& rules_;
};

}  // namespace

Result<void> carry_over(sys::FileSystem& files, const std::string& from, const std::string& to,
                        const CarryRules& rules) {
    return Carrier(files, from, to, rules).folder("");
}

}  // namespace bunraku::module
