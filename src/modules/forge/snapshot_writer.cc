// SPDX-License-Identifier: Apache-2.0
#include "modules/forge/snapshot_writer.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <fmt/format.h>
#include <gdbm.h>
#include <type_traits>
#include <unistd.h>

#include "core/base/assert.h"
#include "core/codec/json_text.h"
#include "modules/forge/publish_files.h"

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

/// The files to which each release adds a line.
struct ForgeStore::SnapshotWriter::Lists {
    explicit Lists(const std::string& stage)
        : records(stage + "/.records"),
          modules(stage + "/modules.json"),
          manifest(stage + "/PULP_MANIFEST") {}
    Out records, modules, manifest;
};

ForgeStore::SnapshotWriter::SnapshotWriter(const ForgeStore& forge_store, std::string_view repo,
                                           std::string current)
    : forge_store_(forge_store),
      files_(*forge_store.files_),
      repo_(repo),
      current_(std::move(current)),
      stage_(forge_store.making_folder(repo)) {}

ForgeStore::SnapshotWriter::~SnapshotWriter() = default;

Result<void> ForgeStore::SnapshotWriter::begin() {
    BUNRAKU_TRY_VOID(files_.make_directory(stage_, folder_mode(forge_store_.config(repo_))));
    state_.units_stamp = forge_store_.units_stamp(repo_);
    state_.marks_stamp = forge_store_.marks_stamp(repo_);
    store_ = BUNRAKU_TRY(TextStore::open(forge_store_.repo_folder(repo_)));
    if (!store_->same_boot()) {
        // The published texts are known to be on disk, because the publish synced them.
        const auto before = forge_store_.published_state(current_);
        const bool shared =
            before && same_file(forge_store_.snapshot_path(current_) + "/.texts", store_->path());
        BUNRAKU_TRY_VOID(forge_store_.renew_records(repo_, *store_, shared ? before->texts : 0));
        state_.units_stamp = forge_store_.units_stamp(repo_);
    }
    units_ = forge_store_.units(repo_);
    marks_ = forge_store_.flags(repo_);
    settings_ = forge_store_.config(repo_);
    return {};
}

/// Returns the releases of each module, oldest version first.
std::map<std::string, std::vector<ForgeStore::SnapshotWriter::Item>>
ForgeStore::SnapshotWriter::by_module() const {
    std::map<std::string, std::vector<Item>> modules;
    for (const Unit& unit : units_) {
        modules[unit.name.module.slashed()].push_back(
            {&unit, *base::SemVer::parse(unit.name.version)});
    }
    for (auto& [name, items] : modules) {
        std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
            const auto order = a.version <=> b.version;
            if (order != 0) return order < 0;
            return a.unit->name.version < b.unit->name.version;
        });
    }
    return modules;
}

Result<void> ForgeStore::SnapshotWriter::add_releases() {
    lists_ = std::make_unique<Lists>(stage_);
    lists_->modules.add("[");
    for (const auto& [name, items] : by_module()) BUNRAKU_TRY_VOID(add_module(name, items));
    lists_->modules.add("]\n");
    BUNRAKU_TRY_VOID(lists_->records.close());
    BUNRAKU_TRY_VOID(lists_->modules.close());
    return lists_->manifest.close();
}

Result<std::vector<ForgeStore::SnapshotWriter::Recorded>> ForgeStore::SnapshotWriter::read_records(
    const std::vector<Item>& items) {
    std::vector<Recorded> out;
    for (const Item& item : items) {
        const std::string slug = item.unit->name.slug();
        std::string bytes = BUNRAKU_TRY(forge_store_.record_in(repo_, slug, *store_, &moved_));
        std::string_view rest = bytes;
        auto r = read_record(&rest);
        if (!r || r->slug() != slug) return failure("the record of " + slug + " is broken");
        const unsigned flags = r->flags;
        out.push_back({&item, slug, std::move(bytes), flags});
    }
    return out;
}

Result<void> ForgeStore::SnapshotWriter::add_module(const std::string& name,
                                                    const std::vector<Item>& items) {
    const auto releases = BUNRAKU_TRY(read_records(items));
    bool owned = settings_.reserves(items.front().unit->name.module);
    for (const Recorded& release : releases) {
        owned |= (release.flags & (kRemote | kPulled)) == 0;
    }
    std::string dependencies = "[";
    for (const Recorded& release : releases) {
        // A release from an upstream is skipped if its name is reserved or owned here.
        if (owned && (release.flags & (kRemote | kPulled)) != 0) continue;
        std::string_view rest = release.bytes;
        const RecordView r = *read_record(&rest);
        lists_->records.add(release.bytes);
        state_.records += release.bytes.size();
        ++state_.releases;
        for (std::size_t f = 0; f < kFragments; ++f) {
            used_texts_.emplace_back(r.places[f], r.lengths[f]);
        }
        if (marks_.deletion(release.slug)) continue;
        const std::string path = module::release_path(r.author, release.slug);
        BUNRAKU_TRY_VOID(place(release, r, path));
        if (dependencies.size() > 1) dependencies += ", ";
        dependencies += dependency_entry(repo_, path, r);
        lists_->modules.add((first_ ? "" : ",\n ") + list_entry(r));
        first_ = false;
    }
    if (dependencies.size() > 1) dependencies_[name] = dependencies + "]";
    return {};
}

/// Places the archive of a release and its signature in the tree.
Result<void> ForgeStore::SnapshotWriter::place(const Recorded& release, const RecordView& r,
                                               const std::string& path) {
    const std::string parent(sys::directory_name(path));
    if (folders_.insert(parent).second) {
        BUNRAKU_TRY_VOID(files_.make_directories(stage_ + "/" + parent, 0755));
    }
    if (release.item->unit->remote) return {};
    const std::string from = forge_store_.unit_path(repo_, release.slug);
    if (::link(from.c_str(), (stage_ + "/" + path).c_str()) != 0) {
        // If the file system has no hard links or the link limit is reached, copy the file.
        BUNRAKU_TRY_VOID(files_.copy(from, stage_ + "/" + path));
    }
    BUNRAKU_TRY_VOID(forge_store_.place_signature(repo_, release.slug, stage_ + "/" + path));
    lists_->manifest.add(fmt::format("{},{},{}\n", path, r.sha256, r.size));
    return {};
}

Result<void> ForgeStore::SnapshotWriter::finish() {
    BUNRAKU_TRY_VOID(store_->sync());
    if (moved_) {
        sync_file_system(forge_store_.repo_folder(repo_) + "/units");
        state_.units_stamp = forge_store_.units_stamp(repo_);
    }
    state_.texts = store_->size();
    if (::link(store_->path().c_str(), (stage_ + "/.texts").c_str()) != 0) {
        BUNRAKU_TRY_VOID(files_.copy(store_->path(), stage_ + "/.texts"));
    }
    BUNRAKU_TRY_VOID(write_dependencies(stage_ + "/.dependency_db", dependencies_));
    BUNRAKU_TRY_VOID(forge_store_.metadata(repo_).write(stage_, std::time(nullptr)));
    BUNRAKU_TRY_VOID(write_state());
    for (const std::string& f : folders_) sync_folder(stage_ + "/" + f);
    sync_folder(stage_);
    return {};
}

Result<void> ForgeStore::SnapshotWriter::write_state() {
    // Clients compare times in seconds, so two publishes must never have the same second.
    const std::int64_t then =
        std::max(forge_store_.published_as(current_).second, forge_store_.last_of_deleted().second);
    const std::int64_t now = std::max(static_cast<std::int64_t>(std::time(nullptr)), then + 1);
    BUNRAKU_ALWAYS_ASSERT(now > then);
    BUNRAKU_ASSERT(state_.texts == store_->size());
    Out meta(stage_ + "/.meta"), flagged(stage_ + "/.flags");
    state_.second = now;
    meta.add(state_.text());
    flagged.add(marks_.text());
    BUNRAKU_TRY_VOID(meta.close());
    return flagged.close();
}

Result<void> ForgeStore::SnapshotWriter::drop_unused_texts() {
    // All records now refer to this store. Unused texts are dropped when the next store is started.
    store_->remove_older();
    if (store_->size() <= kManyTexts || store_->size() <= 2 * bytes_of(std::move(used_texts_))) {
        return {};
    }
    return TextStore::begin_next(forge_store_.repo_folder(repo_));
}

}  // namespace bunraku::forge
