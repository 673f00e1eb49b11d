// SPDX-License-Identifier: Apache-2.0
// Publishes a few more releases in a large repository: appends to the files of the published
// snapshot and gives it a new name. The cost depends on the number of added releases, not on the
// size of the repository.
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <fmt/format.h>
#include <gdbm.h>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/assert.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/codec/json_text.h"
#include "core/sys/descriptor.h"
#include "modules/forge/forge_store.h"
#include "modules/forge/publish_files.h"

namespace bunraku::forge {

namespace {

using base::failure;
using base::Result;

/// Writes `bytes` at `offset`. Any bytes after that offset are remains of an interrupted publish.
Result<void> write_at(const std::string& path, std::uint64_t offset, std::string_view bytes) {
    const sys::Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file.good()) return failure("cannot write " + path, errno);
    const int error = sys::write_all_at(file.get(), bytes, offset);
    if (error != 0) return failure("cannot write " + path, error);
    return {};
}

/// Adds releases to a module's entry in the published .dependency_db. Returns false if that is not
/// possible, because a reader has locked the file or it has another format. The caller then writes
/// the whole file.
bool add_dependencies(const std::string& path, const std::string& module,
                      const std::vector<std::string>& units) {
    GDBM_FILE db = gdbm_open(path.c_str(), 0, GDBM_WRITER | GDBM_CLOEXEC, 0644, nullptr);
    if (!db) return false;
    datum key{const_cast<char*>(module.data()), static_cast<int>(module.size())};
    datum old = gdbm_fetch(db, key);
    std::string value =
        old.dptr ? std::string(old.dptr, static_cast<std::size_t>(old.dsize)) : "[]";
    std::free(old.dptr);
    bool good = value.ends_with(']');
    if (good) {
        BUNRAKU_ASSERT(!units.empty());
        value.pop_back();
        for (const std::string& unit : units) {
            if (value.size() > 1) value += ", ";
            value += unit;
        }
        value += ']';
        datum now{value.data(), static_cast<int>(value.size())};
        good = gdbm_store(db, key, now, GDBM_REPLACE) == 0;
    }
    gdbm_close(db);
    return good;
}

/// Returns the target of a link, or `otherwise` if the path is no link.
std::string link_target(const std::string& path, const std::string& otherwise) {
    char target[512];
    const ssize_t n = ::readlink(path.c_str(), target, sizeof target);
    return n > 0 && n < static_cast<ssize_t>(sizeof target)
               ? std::string(target, static_cast<std::size_t>(n))
               : otherwise;
}

/// Removes the name of the snapshot before the last few, which has no readers any more. `from` is
/// the folder that all these names share.
void remove_old_name(const std::string& from, const std::string& folder, std::string_view repo,
                     std::uint64_t number) {
    constexpr std::uint64_t kKept = 3;
    if (number <= kKept) return;
    const std::string old = fmt::format("{}/{}@{}", folder, repo, number - kKept);
    struct stat status{};
    if (::lstat(old.c_str(), &status) == 0 && S_ISLNK(status.st_mode)) {
        ::unlink(fmt::format("{}/.meta.{}", from, number - kKept).c_str());
        ::unlink(old.c_str());
    }
}

}  // namespace

std::optional<PublishedState> ForgeStore::clean_state(std::string_view repo) const {
    const std::string name = published(repo);
    if (name.empty()) return std::nullopt;
    auto state = published_state(name);
    if (!state || state->releases < kManyReleases || state->added >= kMostAdded) {
        return std::nullopt;
    }
    // The working set has changed since, and those changes must be published too.
    if (state->units_stamp != units_stamp(repo) || state->marks_stamp != marks_stamp(repo)) {
        return std::nullopt;
    }
    return state;
}

Result<std::optional<Addition>> ForgeStore::publish_addition(
    std::string_view repo, const PublishedState& before, const std::vector<std::string>& slugs) {
    // Flags or settings have changed in the meantime, for example a deletion was reverted. This
    // needs a full publish.
    if (marks_stamp(repo) != before.marks_stamp) return std::optional<Addition>();
    if (!metadata(repo).grows(snapshot_path(before.name), std::time(nullptr))) {
        return std::optional<Addition>();
    }
    BUNRAKU_ASSERT(!slugs.empty() && before.name == published(repo));
    auto store = BUNRAKU_TRY(TextStore::open(repo_folder(repo)));
    // A snapshot with its own texts file cannot be extended.
    if (!same_file(snapshot_path(before.name) + "/.texts", store->path()) || !store->same_boot()) {
        return std::optional<Addition>();
    }
    Addition out;
    std::string heads, manifest, list;
    std::map<std::string, std::vector<std::string>> dependencies;
    std::vector<TreeFile> archives;
    const std::string from = snapshot_path(before.name);
    // Files that are synced together before the name changes.
    std::vector<std::string> changed;
    for (const std::string& slug : slugs) {
        out.records.push_back(BUNRAKU_TRY(record(repo, slug)));
        const std::string& bytes = out.records.back();
        std::string_view rest = bytes;
        auto r = read_record(&rest);
        if (!r || r->slug() != slug) return failure("the record of " + slug + " is broken");
        bool moved = false;
        heads += BUNRAKU_TRY(record_in(repo, slug, *store, &moved));
        const std::string path = module::release_path(r->author, slug);
        changed.push_back(from + "/" + std::string(sys::directory_name(path)));
        BUNRAKU_TRY_VOID(files_->make_directories(changed.back(), 0755));
        if ((r->flags & kRemote) == 0) {
            if (::link(unit_path(repo, slug).c_str(), (from + "/" + path).c_str()) != 0 &&
                errno != EEXIST) {
                BUNRAKU_TRY_VOID(files_->copy(unit_path(repo, slug), from + "/" + path));
            }
            BUNRAKU_TRY_VOID(place_signature(repo, slug, from + "/" + path));
            manifest += fmt::format("{},{},{}\n", path, r->sha256, r->size);
            archives.push_back({path, std::string(r->sha256), r->size});
        }
        list += ",\n " + list_entry(*r);
        dependencies[fmt::format("{}/{}", r->author, r->name)].push_back(
            dependency_entry(repo, path, *r));
    }
    // If the tree's own lists cannot be changed in place, a full publish is needed.
    for (const auto& [module, units] : dependencies) {
        if (!add_dependencies(from + "/.dependency_db", module, units)) {
            return std::optional<Addition>();
        }
    }
    BUNRAKU_TRY_VOID(write_at(from + "/.records", before.records, heads));
    auto listed = files_->stat(from + "/modules.json");
    auto manifested = files_->stat(from + "/PULP_MANIFEST");
    if (!listed || listed->size < 4 || !manifested) return std::optional<Addition>();
    BUNRAKU_TRY_VOID(write_at(from + "/modules.json", listed->size - 2, list + "]\n"));
    BUNRAKU_TRY_VOID(write_at(from + "/PULP_MANIFEST", manifested->size, manifest));
    BUNRAKU_TRY_VOID(metadata(repo).add(from, archives, std::time(nullptr)));

    PublishedState now = before;
    now.records += heads.size();
    now.texts = store->size();
    now.releases += slugs.size();
    now.added += slugs.size();
    now.second = std::max(static_cast<std::int64_t>(std::time(nullptr)), before.second + 1);
    now.units_stamp = units_stamp(repo);
    const std::uint64_t number = published_number(before.name) + 1;
    now.name = fmt::format("{}@{}", repo, number);
    BUNRAKU_ALWAYS_ASSERT(published_number(now.name) > published_number(before.name));
    BUNRAKU_ALWAYS_ASSERT(now.second > before.second && now.records >= before.records);
    BUNRAKU_ASSERT(out.records.size() == slugs.size() && archives.size() <= slugs.size());
    const std::string meta = fmt::format("{}/.meta.{}", from, number);
    BUNRAKU_TRY_VOID(files_->replace(meta, now.text(), {.mode = 0644}));
    const std::string folder = root_ + "/snapshots";
    // The new name is a link to the extended folder. Readers of the previous name still find their
    // files.
    ::unlink((folder + "/" + now.name).c_str());
    BUNRAKU_TRY_VOID(files_->make_link(link_target(from, before.name), folder + "/" + now.name));
    for (const char* name :
         {"/.dependency_db", "/.records", "/modules.json", "/PULP_MANIFEST", ""}) {
        changed.push_back(from + name);
    }
    changed.insert(changed.end(), {meta, folder});
    BUNRAKU_TRY_VOID(sync_together(changed));
    BUNRAKU_TRY_VOID(switch_to(repo, now.name));
    remove_old_name(from, folder, repo, number);
    out.name = now.name;
    out.second = now.second;
    return std::optional<Addition>(std::move(out));
}

}  // namespace bunraku::forge
