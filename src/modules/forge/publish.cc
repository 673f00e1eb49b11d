// SPDX-License-Identifier: Apache-2.0
// Publishes a repository: prepares a complete folder, syncs it, and switches to it by renaming a
// link. If the process dies before that, the old snapshot remains published.
#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/assert.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/codec/json_text.h"
#include "core/sys/descriptor.h"
#include "modules/forge/forge_store.h"
#include "modules/forge/publish_files.h"
#include "modules/forge/snapshot_writer.h"
#include "modules/module/parallel.h"

namespace bunraku::forge {

namespace {

using base::failure;
using base::Result;

}  // namespace

bool same_file(const std::string& a, const std::string& b) {
    struct stat one{}, other{};
    return ::stat(a.c_str(), &one) == 0 && ::stat(b.c_str(), &other) == 0 &&
           one.st_ino == other.st_ino && one.st_dev == other.st_dev;
}

void sync_file_system(const std::string& path) {
    const sys::Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.good()) ::syncfs(folder.get());
}

std::string list_entry(const RecordView& r) {
    return fmt::format(R"({{"name": {}, "author": {}, "version": {}, "tag_list": {}}})",
                       codec::json_string(r.name), codec::json_string(r.author),
                       codec::json_string(r.version), r.line(Index::Tags));
}

std::string dependency_entry(std::string_view repository, std::string_view path,
                             const RecordView& r) {
    return fmt::format(
        R"({{"file": "/pulp/puppet/{}/{}", "version": {}, "dependencies": {}, "file_md5": "{}"}})",
        repository, path, codec::json_string(r.version), r.line(Index::Dependencies), r.md5);
}

Result<void> sync_together(const std::vector<std::string>& paths) {
    constexpr int kAtOnce = 16;
    std::vector<int> errors(paths.size(), 0);
    module::in_parallel(paths.size(), kAtOnce, [&](std::size_t i) {
        const sys::Descriptor file(::open(paths[i].c_str(), O_RDONLY | O_CLOEXEC));
        if (!file.good() && errno == ENOENT) return;
        // Some file systems return EINVAL because they do not support fsync on folders.
        if (!file.good() || (::fsync(file.get()) != 0 && errno != EINVAL)) errors[i] = errno;
    });
    for (std::size_t i = 0; i < paths.size(); ++i) {
        if (errors[i] != 0) return failure("cannot sync " + paths[i], errors[i]);
    }
    return {};
}

void sync_folder(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    ::fsync(fd);
    ::close(fd);
}

std::string PublishedState::text() const {
    return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n", second, records, texts, releases, added,
                       units_stamp, marks_stamp);
}

std::optional<PublishedState> ForgeStore::published_state(const std::string& snapshot) const {
    const std::string folder = snapshot_path(snapshot);
    auto text = files_->read(fmt::format("{}/.meta.{}", folder, published_number(snapshot)));
    if (!text) text = files_->read(folder + "/.meta");
    if (!text) return std::nullopt;
    const auto lines = base::split(*text, '\n');
    PublishedState out;
    out.name = snapshot;
    if (lines.size() < 7 || !base::read_integer(lines[0], out.second) ||
        !base::read_integer(lines[1], out.records) || !base::read_integer(lines[2], out.texts) ||
        !base::read_integer(lines[3], out.releases) || !base::read_integer(lines[4], out.added)) {
        return std::nullopt;
    }
    out.units_stamp = lines[5];
    out.marks_stamp = lines[6];
    return out;
}

namespace {

/// Returns a value that changes when the file or folder changes.
std::string stamp_at(const std::string& path) {
    struct stat s{};
    if (::stat(path.c_str(), &s) != 0) return "none";
    return fmt::format("{}.{}.{}", s.st_ino, s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
}

}  // namespace

std::string ForgeStore::units_stamp(std::string_view repo) const {
    return stamp_at(repo_folder(repo) + "/units");
}

std::string ForgeStore::marks_stamp(std::string_view repo) const {
    return stamp_at(repo_folder(repo) + "/flags") + " " + stamp_at(config_file(repo));
}

std::uint64_t ForgeStore::published_number(std::string_view snapshot) {
    const std::size_t at = snapshot.rfind('@');
    if (at == std::string_view::npos) return 0;
    return base::parse_integer<std::uint64_t>(snapshot.substr(at + 1)).value_or(0);
}

LastPublish ForgeStore::published_as(const std::string& snapshot) const {
    LastPublish out;
    out.number = published_number(snapshot);
    const std::string folder = snapshot_path(snapshot);
    auto meta = files_->read(fmt::format("{}/.meta.{}", folder, out.number));
    if (!meta) meta = files_->read(folder + "/.meta");
    if (meta) {
        out.second =
            base::parse_integer<std::int64_t>(meta->substr(0, meta->find('\n'))).value_or(0);
    }
    return out;
}

LastPublish ForgeStore::last_of_deleted() const {
    LastPublish out;
    auto text = files_->read(root_ + "/last");
    if (!text) return out;
    const std::string_view line = std::string_view(*text).substr(0, text->find('\n'));
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos) return out;
    out.number = base::parse_integer<std::uint64_t>(line.substr(0, tab)).value_or(0);
    out.second = base::parse_integer<std::int64_t>(line.substr(tab + 1)).value_or(0);
    return out;
}

std::string ForgeStore::making_folder(std::string_view repo) const {
    return fmt::format("{}/snapshots/.making.{}", root_, repo);
}

/// Removes old folders of this repository: an unfinished one, and all but the newest snapshots.
/// Readers may still be using the newest ones. Returns the highest number that was ever used.
Result<std::uint64_t> ForgeStore::remove_old_snapshots(std::string_view repo,
                                                       const std::string& current) const {
    const std::string folder = root_ + "/snapshots", prefix = std::string(repo) + "@";
    const std::string making(sys::base_name(making_folder(repo)));
    std::vector<std::pair<std::uint64_t, std::string>> older;
    std::uint64_t last = std::max(published_as(current).number, last_of_deleted().number);
    for (const std::string& name : BUNRAKU_TRY(files_->list(folder))) {
        if (name == making) {
            BUNRAKU_TRY_VOID(files_->remove_all(folder + "/" + name));
        } else if (name.starts_with(prefix)) {
            const std::uint64_t number = published_as(name).number;
            last = std::max(last, number);
            if (name != current) older.emplace_back(number, name);
        }
    }
    std::sort(older.rbegin(), older.rend());
    // The names of an extended snapshot are links to its folder. The folder is removed together
    // with the last link.
    const auto folder_of = [&](const std::string& name) {
        char target[512];
        const ssize_t n = ::readlink((folder + "/" + name).c_str(), target, sizeof target);
        return n > 0 && n < static_cast<ssize_t>(sizeof target)
                   ? std::string(target, static_cast<std::size_t>(n))
                   : name;
    };
    std::set<std::string> used{folder_of(current)};
    for (std::size_t i = 0; i < older.size() && i < 2; ++i) used.insert(folder_of(older[i].second));
    for (std::size_t i = 2; i < older.size(); ++i) {
        if (!used.contains(older[i].second)) {
            (void)files_->remove_all(folder + "/" + older[i].second);
        }
    }
    return last;
}

Result<std::string> ForgeStore::publish(std::string_view repo) {
    BUNRAKU_TRY_VOID(need(repo));
    auto held = BUNRAKU_TRY(lock(repo));
    BUNRAKU_TRY_VOID(need(repo));
    const std::string folder = root_ + "/snapshots";
    BUNRAKU_TRY_VOID(files_->make_directories(folder, 0755));
    BUNRAKU_TRY_VOID(files_->make_directories(published_folder(), 0755));

    const std::string current = published(repo);
    const std::uint64_t last = BUNRAKU_TRY(remove_old_snapshots(repo, current));
    SnapshotWriter writer(*this, repo, current);
    BUNRAKU_TRY_VOID(writer.begin());
    BUNRAKU_TRY_VOID(writer.add_releases());
    BUNRAKU_TRY_VOID(writer.finish());

    const std::string name = fmt::format("{}@{}", repo, last + 1);
    BUNRAKU_ALWAYS_ASSERT(published_number(name) > published_number(current));
    BUNRAKU_TRY_VOID(files_->rename(writer.folder(), folder + "/" + name));
    sync_folder(folder);
    BUNRAKU_TRY_VOID(switch_to(repo, name));
    BUNRAKU_TRY_VOID(writer.drop_unused_texts());
    return name;
}

Result<void> ForgeStore::place_signature(std::string_view repo, const std::string& slug,
                                         const std::string& archive) const {
    const std::string from =
        repo_folder(repo) + "/units/" + slug + std::string(module::kSignatureSuffix);
    const std::string to = archive + std::string(module::kSignatureSuffix);
    if (::link(from.c_str(), to.c_str()) == 0 || errno == ENOENT || errno == EEXIST) return {};
    return files_->copy(from, to);
}

Result<void> ForgeStore::switch_to(std::string_view repo, const std::string& snapshot) {
    // Clients and this server remember snapshots by their numbers.
    BUNRAKU_ALWAYS_ASSERT(published_number(snapshot) > published_number(published(repo)));
    const std::string link = published_folder() + "/" + std::string(repo);
    const std::string next = published_folder() + "/." + std::string(repo) + ".next";
    ::unlink(next.c_str());
    BUNRAKU_TRY_VOID(files_->make_link("../snapshots/" + snapshot, next));
    BUNRAKU_TRY_VOID(files_->rename(next, link));
    sync_folder(published_folder());
    return {};
}

}  // namespace bunraku::forge
