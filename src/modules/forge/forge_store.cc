// SPDX-License-Identifier: Apache-2.0
#include "modules/forge/forge_store.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <fmt/format.h>
#include <map>
#include <unistd.h>

#include "core/base/assert.h"
#include "core/base/civil_time.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/base/text_view.h"
#include "modules/forge/publish_files.h"
#include "modules/forge/store_files.h"

namespace bunraku::forge {

using base::failure;
using base::Result;

const Flags::Deletion* Flags::deletion(std::string_view slug) const {
    for (const Deletion& d : deleted) {
        if (d.slug == slug) return &d;
    }
    return nullptr;
}

const Flags::Deprecation* Flags::deprecation(std::string_view module) const {
    for (const Deprecation& d : deprecated) {
        if (d.module == module) return &d;
    }
    return nullptr;
}

std::string Flags::text() const {
    std::string out;
    for (const Deletion& d : deleted) {
        out += fmt::format("deleted\t{}\t{}\t{}\n", d.slug, d.at, one_line(d.reason));
    }
    for (const Deprecation& d : deprecated) {
        out += fmt::format("deprecated\t{}\t{}\t{}\t{}\n", d.module, d.at, d.replacement,
                           one_line(d.reason));
    }
    return out;
}

Flags Flags::parse(std::string_view text) {
    Flags out;
    for (std::string_view row : base::split(text, '\n')) {
        const auto f = base::split(row, '\t');
        if (f.size() == 4 && f[0] == "deleted") {
            out.deleted.push_back({std::string(f[1]), std::string(f[2]), std::string(f[3])});
        } else if (f.size() == 5 && f[0] == "deprecated") {
            out.deprecated.push_back(
                {std::string(f[1]), std::string(f[2]), std::string(f[4]), std::string(f[3])});
        }
    }
    return out;
}

ForgeStore::ForgeStore(std::string root)
    : root_(std::move(root)), files_(sys::make_real_file_system()) {}

std::string ForgeStore::repo_folder(std::string_view repo) const {
    return root_ + "/repos/" + std::string(repo);
}

std::string ForgeStore::snapshot_path(std::string_view snapshot) const {
    return root_ + "/snapshots/" + std::string(snapshot);
}

std::string ForgeStore::unit_path(std::string_view repo, const std::string& slug) const {
    return repo_folder(repo) + "/units/" + slug + std::string(kTar);
}

bool ForgeStore::exists(std::string_view repo) const {
    return module::valid_identifier(repo) &&
           ::access((repo_folder(repo) + "/units").c_str(), F_OK) == 0;
}

Result<void> ForgeStore::need(std::string_view repo) const {
    if (!exists(repo)) return failure(no_repository(repo), 404);
    return {};
}

Result<void> ForgeStore::make_root() const {
    if (files_->exists(root_)) return {};
    const std::string above(sys::directory_name(root_));
    BUNRAKU_TRY_VOID(files_->make_directories(above, 0700));
    // The folder is private regardless of the mode of its parent, because it contains private
    // repositories.
    if (auto made = files_->make_directory(root_, 0700); !made)
        return made.error().code == EEXIST ? Result<void>() : made;
    const auto status = BUNRAKU_TRY(files_->stat(above));
    if (::geteuid() == 0) return files_->set_owner(root_, status.uid, status.gid, true);
    return {};
}

Result<void> ForgeStore::set_modes(std::string_view repo, const RepositoryConfig& config) const {
    const std::uint32_t mode = folder_mode(config);
    BUNRAKU_TRY_VOID(files_->set_mode(repo_folder(repo), mode));
    const std::string snapshots = root_ + "/snapshots";
    const auto names = files_->list(snapshots);
    for (const auto& name : names ? *names : std::vector<std::string>()) {
        if (!name.starts_with(std::string(repo) + "@")) continue;
        const std::string path = snapshots + "/" + name;
        const auto status = files_->lstat(path);
        if (status && status->kind == sys::FileKind::Directory)
            BUNRAKU_TRY_VOID(files_->set_mode(path, mode));
    }
    return {};
}

Result<sys::FileLock> ForgeStore::lock(std::string_view name) const {
    BUNRAKU_TRY_VOID(make_root());
    BUNRAKU_TRY_VOID(files_->make_directories(root_ + "/locks", 0755));
    return sys::FileLock::acquire(root_ + "/locks/" + std::string(name));
}

Result<bool> ForgeStore::create(std::string_view repo, const std::string& upstream) {
    if (!module::valid_identifier(repo)) {
        return failure(
            fmt::format("'{}' is not a valid repository ID: letters, digits, '_', '-' "
                        "and '.', beginning with a letter or digit",
                        one_line(repo)));
    }
    auto held = BUNRAKU_TRY(lock(repo));
    const bool there = exists(repo);
    BUNRAKU_TRY_VOID(files_->make_directories(repo_folder(repo) + "/units", 0755));
    if (!upstream.empty()) {
        RepositoryConfig now = config(repo);
        now.upstreams = {upstream};
        BUNRAKU_TRY_VOID(
            files_->replace(config_file(repo), now.text(), {.mode = 0600, .sync = true}));
    }
    BUNRAKU_TRY_VOID(sync_together({repo_folder(repo), root_ + "/repos"}));
    return !there;
}

bool RepositoryConfig::reserves(const module::ModuleName& module) const {
    const std::string slug = module.slug();
    return std::any_of(own.begin(), own.end(), [&](const std::string& name) {
        return name == module.author || name == slug;
    });
}

std::string RepositoryConfig::text() const {
    std::string out;
    for (const std::string& url : upstreams) out += "upstream\t" + one_line(url) + "\n";
    for (const std::string& name : own) out += "own\t" + one_line(name) + "\n";
    if (!ca_file.empty()) out += "ca\t" + one_line(ca_file) + "\n";
    if (closed) out += "closed\n";
    for (const Reader& r : readers) out += fmt::format("reader\t{}\t{}\n", r.text(), r.until);
    return out + signatures.text();
}

RepositoryConfig RepositoryConfig::parse(std::string_view text) {
    RepositoryConfig out;
    for (std::string_view row : base::split(text, '\n')) {
        if (row.starts_with("upstream\t")) out.upstreams.emplace_back(row.substr(9));
        if (row.starts_with("own\t")) out.own.emplace_back(row.substr(4));
        if (row.starts_with("ca\t")) out.ca_file = row.substr(3);
        if (row == "closed") out.closed = true;
        (void)out.signatures.read_line(row);
        if (row.starts_with("reader\t")) {
            const auto f = base::split(row, '\t');
            auto reader = f.size() == 3 ? Reader::parse(f[1]) : std::nullopt;
            if (!reader) continue;
            reader->until = base::parse_integer<std::int64_t>(f[2]).value_or(1);
            out.readers.push_back(std::move(*reader));
        }
    }
    return out;
}

RepositoryConfig ForgeStore::config(std::string_view repo) const {
    if (!module::valid_identifier(repo)) return {};
    auto text = files_->read(config_file(repo));
    if (text) return RepositoryConfig::parse(*text);
    RepositoryConfig out;
    // If the file exists but cannot be read, the repository may be private, so it is treated as
    // private.
    out.closed = text.error().code != ENOENT && text.error().code != ENOTDIR;
    return out;
}

Result<void> ForgeStore::configure(std::string_view repo, const RepositoryConfig& config) {
    BUNRAKU_TRY_VOID(need(repo));
    auto held = BUNRAKU_TRY(lock(repo));
    BUNRAKU_TRY_VOID(need(repo));
    BUNRAKU_TRY_VOID(set_modes(repo, config));
    return files_->replace(config_file(repo), config.text(), {.mode = 0600, .sync = true});
}

Result<void> ForgeStore::remove_repository(std::string_view repo) {
    BUNRAKU_TRY_VOID(need(repo));
    {
        auto held = BUNRAKU_TRY(lock(repo));
        // A repository that is created again under this ID continues the numbers and dates of this
        // one, because clients and this server remember snapshots by name and date.
        {
            auto mine = BUNRAKU_TRY(lock(".last"));
            LastPublish last = last_of_deleted();
            const LastPublish before = last;
            if (auto names = files_->list(root_ + "/snapshots")) {
                for (const std::string& name : *names) {
                    if (!name.starts_with(std::string(repo) + "@")) continue;
                    const LastPublish one = published_as(name);
                    last.number = std::max(last.number, one.number);
                    last.second = std::max(last.second, one.second);
                }
            }
            BUNRAKU_ALWAYS_ASSERT(last.number >= before.number && last.second >= before.second);
            if (last.number != before.number || last.second != before.second) {
                BUNRAKU_TRY_VOID(files_->replace(root_ + "/last",
                                                 fmt::format("{}\t{}\n", last.number, last.second),
                                                 {.mode = 0644, .sync = true}));
            }
        }
        // Unpublish the repository first, then move it to the trash with one rename. A crash in
        // between leaves only garbage.
        ::unlink((published_folder() + "/" + std::string(repo)).c_str());
        BUNRAKU_ALWAYS_ASSERT(module::valid_identifier(repo));
        const std::string trash = fmt::format("{}/trash/{}.{}.{}", root_, repo, ::getpid(),
                                              static_cast<long long>(std::time(nullptr)));
        BUNRAKU_TRY_VOID(files_->make_directories(root_ + "/trash", 0755));
        BUNRAKU_TRY_VOID(files_->rename(repo_folder(repo), trash));
        (void)files_->remove_all(trash);
        // Remove the remains of interrupted deletions.
        if (auto rest = files_->list(root_ + "/trash")) {
            for (const std::string& name : *rest)
                (void)files_->remove_all(root_ + "/trash/" + name);
        }
        if (auto names = files_->list(root_ + "/snapshots")) {
            for (const std::string& name : *names) {
                if (name.starts_with(std::string(repo) + "@")) {
                    (void)files_->remove_all(snapshot_path(name));
                }
            }
        }
    }
    return access().unbind_all(repo);
}

std::vector<std::string> ForgeStore::repositories() const {
    std::vector<std::string> out;
    auto names = files_->list(root_ + "/repos");
    if (!names) return out;
    for (std::string& name : *names) {
        if (exists(name)) out.push_back(std::move(name));
    }
    return out;
}

Result<std::unique_ptr<ForgeStore::Batch>> ForgeStore::begin(std::string_view repo) {
    BUNRAKU_TRY_VOID(need(repo));
    auto held = BUNRAKU_TRY(lock(repo));
    BUNRAKU_TRY_VOID(need(repo));  // it may have been deleted while this thread waited
    return std::unique_ptr<Batch>(new Batch(*this, std::string(repo), std::move(held)));
}

Result<std::string> ForgeStore::upload(std::string_view repo, std::string_view bytes,
                                       std::string_view file_name, bool fresh) {
    auto batch = BUNRAKU_TRY(begin(repo));
    std::string slug = BUNRAKU_TRY(batch->upload(bytes, file_name, fresh));
    BUNRAKU_TRY_VOID(batch->finish());
    return slug;
}

std::vector<Unit> ForgeStore::units(std::string_view repo) const {
    std::vector<Unit> out;
    if (!exists(repo)) return out;
    const std::string folder = repo_folder(repo) + "/units";
    auto names = files_->list(folder);
    if (!names) return out;
    // Sorted names put SLUG.rec before SLUG.tar.gz.
    std::string record;
    const auto orphan = [&] {
        if (record.empty()) return;
        if (auto name = module::parse_release_name(record);
            name && is_remote_record(folder + "/" + record + std::string(kRecord))) {
            out.push_back({std::move(*name), true});
        }
        record.clear();
    };
    for (const std::string& file : *names) {
        if (file.ends_with(kRecord)) {
            orphan();
            record = file.substr(0, file.size() - kRecord.size());
        } else if (auto name = module::parse_file_name(file)) {
            if (record != name->slug()) orphan();
            record.clear();
            out.push_back({std::move(*name), false});
        }
    }
    orphan();
    return out;
}

std::string ForgeStore::signature(std::string_view repo, const std::string& slug) const {
    return files_
        ->read(repo_folder(repo) + "/units/" + slug + std::string(module::kSignatureSuffix))
        .value_or(std::string());
}

Result<std::string> ForgeStore::record(std::string_view repo, const std::string& slug) const {
    const std::string stem = repo_folder(repo) + "/units/" + slug;
    auto text = files_->read(stem + std::string(kRecord));
    if (text) {
        std::string_view rest = *text;
        auto r = read_record(&rest);
        if (r && !r->apart && rest.size() == r->fragments_size()) return text;
        if (r && r->apart) {
            auto fragments = TextStore::read(repo_folder(repo), *r);
            if (fragments) return record_whole(*text, *fragments);
        }
    }
    // The record is missing or has an old format: rebuild it from the archive.
    const std::string bytes = BUNRAKU_TRY(files_->read(stem + std::string(kTar)));
    auto status = BUNRAKU_TRY(files_->stat(stem + std::string(kTar)));
    auto tarball = module::inspect_tarball(bytes);
    if (!tarball) return failure(slug + ": " + tarball.error().message);
    return make_record(*tarball, bytes.size(), md5_of(bytes), sha256_of(bytes),
                       status.mtime_ns / 1000000000);
}

Result<std::string> ForgeStore::record_in(std::string_view repo, const std::string& slug,
                                          TextStore& store, bool* moved) const {
    const std::string path = repo_folder(repo) + "/units/" + slug + std::string(kRecord);
    if (auto text = files_->read(path)) {
        std::string_view rest = *text;
        auto r = read_record(&rest);
        if (r && r->apart && r->generation == store.generation() && rest.empty()) return text;
    }
    const std::string whole = BUNRAKU_TRY(record(repo, slug));
    std::string head = BUNRAKU_TRY(store.apart(whole));
    BUNRAKU_TRY_VOID(files_->replace(path, head, {.mode = 0644}));
    *moved = true;
    return head;
}

Result<void> ForgeStore::renew_records(std::string_view repo, TextStore& store,
                                       std::uint64_t known) const {
    for (const Unit& unit : units(repo)) {
        const std::string stem = repo_folder(repo) + "/units/" + unit.name.slug();
        const std::string path = stem + std::string(kRecord);
        const std::string text = files_->read(path).value_or("");
        std::string_view rest = text;
        auto r = read_record(&rest);
        bool good = r && (!r->apart || r->generation == store.generation());
        for (std::size_t i = 0; good && r->apart && i < kFragments; ++i) {
            good = r->places[i] + r->lengths[i] <= known;
        }
        if (good) continue;
        // Without an archive, the record is an upstream's description, which can be requested
        // again. With an archive, the record is rebuilt from it.
        ::unlink(path.c_str());
        if (unit.remote) continue;
        const std::string again = BUNRAKU_TRY(record(repo, unit.name.slug()));
        const auto fragments = BUNRAKU_TRY(store.apart(again));
        BUNRAKU_TRY_VOID(files_->replace(path, fragments, {.mode = 0644, .sync = true}));
    }
    BUNRAKU_TRY_VOID(store.sync());
    return store.note_boot();
}

Result<int> ForgeStore::remove(std::string_view repo, const module::ModuleName& module,
                               std::string_view version) {
    auto batch = BUNRAKU_TRY(begin(repo));
    int count = 0;
    std::vector<std::string> gone;
    for (const Unit& unit : units(repo)) {
        if (unit.name.module.slug() != module.slug()) continue;
        if (!version.empty() && unit.name.version != version) continue;
        BUNRAKU_TRY_VOID(batch->erase(unit.name.slug()));
        gone.push_back(unit.name.slug());
        ++count;
    }
    BUNRAKU_TRY_VOID(batch->finish());
    BUNRAKU_TRY_VOID(undelete(repo, gone));
    return count;
}

Result<int> ForgeStore::copy(std::string_view from, std::string_view to,
                             const std::optional<module::ModuleName>& module,
                             std::string_view version) {
    BUNRAKU_TRY_VOID(need(from));
    BUNRAKU_TRY_VOID(need(to));
    if (from == to) return failure("a repository cannot be copied into itself");
    auto batch = BUNRAKU_TRY(begin(to));
    int count = 0;
    for (const Unit& unit : units(from)) {
        if (module && unit.name.module.slug() != module->slug()) continue;
        if (!version.empty() && unit.name.version != version) continue;
        BUNRAKU_TRY(batch->link(from, unit.name.slug()));
        ++count;
    }
    BUNRAKU_TRY_VOID(batch->finish());
    return count;
}

Flags ForgeStore::flags(std::string_view repo) const {
    auto text = files_->read(repo_folder(repo) + "/flags");
    return text ? Flags::parse(*text) : Flags{};
}

Result<void> ForgeStore::undelete(std::string_view repo, const std::vector<std::string>& slugs) {
    Flags all = flags(repo);
    const std::size_t gone = std::erase_if(all.deleted, [&](const Flags::Deletion& d) {
        return std::find(slugs.begin(), slugs.end(), d.slug) != slugs.end();
    });
    if (gone == 0) return {};
    return files_->replace(repo_folder(repo) + "/flags", all.text(), {.mode = 0644, .sync = true});
}

Result<void> ForgeStore::change_flags(std::string_view repo,
                                      const std::function<Result<void>(Flags&)>& change) {
    BUNRAKU_TRY_VOID(need(repo));
    auto held = BUNRAKU_TRY(lock(repo));
    BUNRAKU_TRY_VOID(need(repo));
    Flags all = flags(repo);
    BUNRAKU_TRY_VOID(change(all));
    return files_->replace(repo_folder(repo) + "/flags", all.text(), {.mode = 0644, .sync = true});
}

std::string ForgeStore::published(std::string_view repo) const {
    if (!module::valid_identifier(repo)) return {};
    char target[512];
    const ssize_t n =
        ::readlink((published_folder() + "/" + std::string(repo)).c_str(), target, sizeof target);
    if (n <= 0 || n == sizeof target) return {};
    return std::string(sys::base_name(std::string_view(target, static_cast<std::size_t>(n))));
}

std::string ForgeStore::downloads(std::string_view repo) const {
    if (!module::valid_identifier(repo)) return {};
    return files_->read(repo_folder(repo) + "/downloads").value_or(std::string());
}

Result<std::string> ForgeStore::change_downloads(
    std::string_view repo, const std::function<std::string(const std::string&)>& change) const {
    BUNRAKU_TRY_VOID(need(repo));
    const auto held = BUNRAKU_TRY(lock(fmt::format(".downloads-{}", repo)));
    std::string text = change(downloads(repo));
    BUNRAKU_TRY_VOID(files_->replace(repo_folder(repo) + "/downloads", text, {.mode = 0644}));
    return text;
}

void ForgeStore::audit(std::string_view line) const {
    const int fd =
        ::open((root_ + "/audit.log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0) return;
    const std::string text = fmt::format("{}\t{}\n", module::forge_time(std::time(nullptr)), line);
    // A single write, so that lines of several processes never interleave.
    if (::write(fd, text.data(), text.size()) < 0) {
    }
    ::close(fd);
}

}  // namespace bunraku::forge
