// SPDX-License-Identifier: Apache-2.0
// Publishes a repository: prepares a complete folder, syncs it, and switches to it by renaming a
// link. If the process dies before that, the old snapshot remains published.
#include <algorithm>
#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <fmt/format.h>
#include <gdbm.h>
#include <map>
#include <memory>
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
#include "modules/module/parallel.h"

namespace bunraku::forge {

namespace {

using base::failure;
using base::Result;

/// Appends to a file through a buffer and remembers the first error.
class Out {
public:
    explicit Out(const std::string& path)
        : path_(path), fd_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
        if (fd_ < 0) error_ = errno;
        buffer_.reserve(kBuffer + 65536);
    }
    ~Out() {
        if (fd_ >= 0) ::close(fd_);
    }
    Out(const Out&) = delete;
    void add(std::string_view text) {
        buffer_ += text;
        if (buffer_.size() >= kBuffer) flush();
    }
    Result<void> close() {
        BUNRAKU_ASSERT(error_ != 0 || fd_ >= 0);
        flush();
        if (fd_ >= 0 && ::fsync(fd_) != 0 && error_ == 0) error_ = errno;
        if (fd_ >= 0 && ::close(fd_) != 0 && error_ == 0) error_ = errno;
        fd_ = -1;
        if (error_ != 0) return failure("cannot write " + path_, error_);
        return {};
    }

private:
    static constexpr std::size_t kBuffer = 1 << 20;
    void flush() {
        BUNRAKU_ASSERT(fd_ >= 0 || error_ != 0);
        std::string_view rest = buffer_;
        while (!rest.empty() && error_ == 0) {
            const ssize_t n = ::write(fd_, rest.data(), rest.size());
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) {
                error_ = errno;
                break;
            }
            rest.remove_prefix(static_cast<std::size_t>(n));
        }
        buffer_.clear();
    }
    std::string path_, buffer_;
    int fd_, error_ = 0;
};

/// A release to be written to the snapshot.
struct Item {
    const Unit* unit;
    base::SemVer version;
};

Result<void> write_dependencies(const std::string& path,
                                const std::map<std::string, std::string>& records) {
    // gdbm's own calls report through errno and a library error. A bigger block keeps the number of
    // bucket splits of large repositories small.
    GDBM_FILE db =
        gdbm_open(path.c_str(), 0, GDBM_NEWDB | GDBM_NOLOCK | GDBM_CLOEXEC, 0644, nullptr);
    if (!db) return failure(fmt::format("cannot write {}: {}", path, gdbm_strerror(gdbm_errno)));
    std::unique_ptr<std::remove_pointer_t<GDBM_FILE>, int (*)(GDBM_FILE)> guard(
        db, [](GDBM_FILE f) { return gdbm_close(f); });
    for (const auto& [key, value] : records) {
        datum k{const_cast<char*>(key.data()), static_cast<int>(key.size())};
        datum v{const_cast<char*>(value.data()), static_cast<int>(value.size())};
        if (gdbm_store(db, k, v, GDBM_REPLACE) != 0) {
            return failure(fmt::format("cannot write {}: {}", path, gdbm_strerror(gdbm_errno)));
        }
    }
    gdbm_sync(db);
    return {};
}

/// A text store above this size is replaced if less than half of it is used.
constexpr std::uint64_t kManyTexts = 64U << 20;

/// Returns the total length of the pieces (offset, length), counting each distinct piece once.
std::uint64_t bytes_of(std::vector<std::pair<std::uint64_t, std::uint32_t>> pieces) {
    std::sort(pieces.begin(), pieces.end());
    pieces.erase(std::unique(pieces.begin(), pieces.end()), pieces.end());
    std::uint64_t out = 0;
    BUNRAKU_ASSERT(std::ranges::adjacent_find(pieces) == pieces.end());
    for (const auto& [offset, length] : pieces) out += length;
    return out;
}

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

Result<std::string> ForgeStore::publish(std::string_view repo) {
    BUNRAKU_TRY_VOID(need(repo));
    auto held = BUNRAKU_TRY(lock(repo));
    BUNRAKU_TRY_VOID(need(repo));
    const std::string folder = root_ + "/snapshots";
    BUNRAKU_TRY_VOID(files_->make_directories(folder, 0755));
    BUNRAKU_TRY_VOID(files_->make_directories(published_folder(), 0755));

    // Remove old folders of this repository: all unfinished ones, and all but the newest snapshots.
    // Readers may still be using the newest ones.
    const std::string prefix = std::string(repo) + "@", making = ".making." + std::string(repo);
    const std::string current = published(repo);
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

    const std::string stage = folder + "/" + making;
    BUNRAKU_TRY_VOID(files_->make_directory(stage, folder_mode(config(repo))));
    PublishedState state;
    state.units_stamp = units_stamp(repo);
    state.marks_stamp = marks_stamp(repo);
    auto store = BUNRAKU_TRY(TextStore::open(repo_folder(repo)));
    if (!store->same_boot()) {
        // The published texts are known to be on disk, because the publish synced them.
        const auto before = published_state(current);
        const bool shared = before && same_file(snapshot_path(current) + "/.texts", store->path());
        BUNRAKU_TRY_VOID(renew_records(repo, *store, shared ? before->texts : 0));
        state.units_stamp = units_stamp(repo);
    }
    const std::vector<Unit> all = units(repo);
    const Flags marks = flags(repo);
    const RepositoryConfig settings = config(repo);

    // By module, oldest version first.
    std::map<std::string, std::vector<Item>> modules;
    for (const Unit& unit : all) {
        modules[unit.name.module.slashed()].push_back(
            {&unit, *base::SemVer::parse(unit.name.version)});
    }
    Out records(stage + "/.records"), list(stage + "/modules.json"),
        manifest(stage + "/PULP_MANIFEST");
    bool moved = false;
    std::vector<std::pair<std::uint64_t, std::uint32_t>> used_texts;
    std::map<std::string, std::string> dependencies;
    std::set<std::string> folders;
    list.add("[");
    bool first = true;
    for (auto& [name, items] : modules) {
        std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
            const auto order = a.version <=> b.version;
            if (order != 0) return order < 0;
            return a.unit->name.version < b.unit->name.version;
        });
        std::string value = "[";
        std::vector<std::string> texts_of_items;
        bool owned = settings.reserves(items.front().unit->name.module);
        for (const Item& item : items) {
            const std::string slug = item.unit->name.slug();
            texts_of_items.push_back(BUNRAKU_TRY(record_in(repo, slug, *store, &moved)));
            std::string_view rest = texts_of_items.back();
            auto r = read_record(&rest);
            if (!r || r->slug() != slug) return failure("the record of " + slug + " is broken");
            owned |= (r->flags & (kRemote | kPulled)) == 0;
        }
        for (std::size_t i = 0; i < items.size(); ++i) {
            const Item& item = items[i];
            const std::string slug = item.unit->name.slug();
            const std::string& bytes = texts_of_items[i];
            std::string_view rest = bytes;
            auto r = read_record(&rest);
            // A release from an upstream is skipped if its name is reserved or owned here.
            if (owned && (r->flags & (kRemote | kPulled)) != 0) continue;
            records.add(bytes);
            state.records += bytes.size();
            ++state.releases;
            for (std::size_t f = 0; f < kFragments; ++f) {
                used_texts.emplace_back(r->places[f], r->lengths[f]);
            }
            if (marks.deletion(slug)) continue;
            const std::string path = module::release_path(r->author, slug);
            const std::string parent(sys::directory_name(path));
            if (folders.insert(parent).second) {
                BUNRAKU_TRY_VOID(files_->make_directories(stage + "/" + parent, 0755));
            }
            if (!item.unit->remote) {
                if (::link(unit_path(repo, slug).c_str(), (stage + "/" + path).c_str()) != 0) {
                    // If the file system has no hard links or the link limit is reached, copy the
                    // file.
                    BUNRAKU_TRY_VOID(files_->copy(unit_path(repo, slug), stage + "/" + path));
                }
                BUNRAKU_TRY_VOID(place_signature(repo, slug, stage + "/" + path));
                manifest.add(fmt::format("{},{},{}\n", path, r->sha256, r->size));
            }
            if (value.size() > 1) value += ", ";
            value += dependency_entry(repo, path, *r);
            list.add((first ? "" : ",\n ") + list_entry(*r));
            first = false;
        }
        if (value.size() > 1) dependencies[name] = value + "]";
    }
    list.add("]\n");
    BUNRAKU_TRY_VOID(records.close());
    BUNRAKU_TRY_VOID(list.close());
    BUNRAKU_TRY_VOID(manifest.close());
    BUNRAKU_TRY_VOID(store->sync());
    if (moved) {
        sync_file_system(repo_folder(repo) + "/units");
        state.units_stamp = units_stamp(repo);
    }
    state.texts = store->size();
    if (::link(store->path().c_str(), (stage + "/.texts").c_str()) != 0) {
        BUNRAKU_TRY_VOID(files_->copy(store->path(), stage + "/.texts"));
    }
    BUNRAKU_TRY_VOID(write_dependencies(stage + "/.dependency_db", dependencies));
    BUNRAKU_TRY_VOID(metadata(repo).write(stage, std::time(nullptr)));

    // Clients compare times in seconds, so two publishes must never have the same second.
    const std::int64_t then = std::max(published_as(current).second, last_of_deleted().second);
    const std::int64_t now = std::max(static_cast<std::int64_t>(std::time(nullptr)), then + 1);
    BUNRAKU_ALWAYS_ASSERT(now > then);
    BUNRAKU_ASSERT(state.texts == store->size());
    Out meta(stage + "/.meta"), flagged(stage + "/.flags");
    state.second = now;
    meta.add(state.text());
    flagged.add(marks.text());
    BUNRAKU_TRY_VOID(meta.close());
    BUNRAKU_TRY_VOID(flagged.close());
    for (const std::string& f : folders) sync_folder(stage + "/" + f);
    sync_folder(stage);

    const std::string name = fmt::format("{}{}", prefix, last + 1);
    BUNRAKU_ALWAYS_ASSERT(published_number(name) > published_number(current));
    BUNRAKU_TRY_VOID(files_->rename(stage, folder + "/" + name));
    sync_folder(folder);
    BUNRAKU_TRY_VOID(switch_to(repo, name));
    // All records now refer to this store. Unused texts are dropped when the next store is started.
    store->remove_older();
    if (store->size() > kManyTexts && store->size() > 2 * bytes_of(std::move(used_texts))) {
        BUNRAKU_TRY_VOID(TextStore::begin_next(repo_folder(repo)));
    }
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
