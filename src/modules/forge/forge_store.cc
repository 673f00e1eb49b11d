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
#include "core/codec/digest.h"
#include "modules/forge/publish_files.h"

namespace bunraku::forge {

namespace {

using base::failure;
using base::Result;

constexpr std::string_view kTar = ".tar.gz";
constexpr std::string_view kRecord = ".rec";

/// Replaces separators, so that the text is a single line.
std::string one_line(std::string_view text) {
    std::string out(text.substr(0, 2000));
    for (char& c : out) {
        if (static_cast<unsigned char>(c) < 0x20) c = ' ';
    }
    return out;
}

std::string md5_of(std::string_view bytes) {
    return codec::hex_digest(codec::DigestKind::Md5, bytes);
}
std::string sha256_of(std::string_view bytes) {
    return codec::hex_digest(codec::DigestKind::Sha256, bytes);
}

/// Returns the header and index of a record file, without its fragments.
std::optional<std::string> read_head(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return std::nullopt;
    std::string head(4096, '\0');
    const ssize_t n = ::pread(fd, head.data(), head.size(), 0);
    ::close(fd);
    if (n <= 0) return std::nullopt;
    head.resize(static_cast<std::size_t>(n));
    return head;
}

/// Reports whether the file is the record of a release whose archive is still upstream.
bool is_remote_record(const std::string& path) {
    auto head = read_head(path);
    if (!head) return false;
    const auto fields = base::split(std::string_view(*head).substr(0, head->find('\n')), '\t');
    return fields.size() > 9 && (std::atoi(std::string(fields[8]).c_str()) & kRemote) != 0;
}

std::string no_repository(std::string_view repo) {
    return module::valid_identifier(repo) ? fmt::format("there is no repository '{}'", repo)
                                          : "invalid repository ID";
}

}  // namespace

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

bool Token::allows(std::string_view repository) const {
    return std::any_of(repositories.begin(), repositories.end(),
                       [&](const std::string& r) { return r == "*" || r == repository; });
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
    return change_bindings([&](std::vector<Binding>& all) {
        std::erase_if(all, [&](const Binding& b) { return b.repository == repo; });
    });
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

ForgeStore::Batch::Batch(ForgeStore& forge_store, std::string repo, sys::FileLock lock)
    : forge_store_(forge_store),
      repo_(std::move(repo)),
      units_(forge_store_.repo_folder(repo_) + "/units"),
      temporary_(forge_store_.repo_folder(repo_) + "/tmp"),
      rules_(forge_store_.config(repo_).signatures),
      lock_(std::move(lock)) {
    // The lock's holder owns the temporary folder, so its files are remains of processes that have
    // ended.
    (void)forge_store_.files_->remove_all(temporary_);
    (void)forge_store_.files_->make_directories(temporary_, 0755);
}

Result<void> ForgeStore::Batch::write(const std::string& name, std::string_view bytes) {
    BUNRAKU_ALWAYS_ASSERT(!name.empty() && name[0] != '.' && name.find('/') == std::string::npos);
    const std::string from = fmt::format("{}/{}", temporary_, ++counter_);
    BUNRAKU_TRY_VOID(forge_store_.files_->write(from, bytes, 0644));
    BUNRAKU_TRY_VOID(forge_store_.files_->rename(from, units_ + "/" + name));
    written_.push_back(name);
    return {};
}

Result<void> ForgeStore::Batch::write_record(const std::string& slug, std::string_view record) {
    if (!texts_) texts_ = BUNRAKU_TRY(TextStore::open(forge_store_.repo_folder(repo_)));
    return write(slug + std::string(kRecord), BUNRAKU_TRY(texts_->apart(record)));
}

bool ForgeStore::Batch::has(const std::string& slug) const {
    if (::access((units_ + "/" + slug + std::string(kTar)).c_str(), F_OK) == 0) return true;
    return is_remote_record(units_ + "/" + slug + std::string(kRecord));
}

Result<std::string> ForgeStore::Batch::upload(std::string_view bytes, std::string_view file_name,
                                              bool fresh, std::int64_t created,
                                              std::string_view signature) {
    constexpr int kBad = static_cast<int>(Refusal::Bad);
    constexpr int kConflict = static_cast<int>(Refusal::Conflict);
    auto tarball = module::inspect_tarball(bytes);
    if (!tarball) return failure(tarball.error().message, kBad);
    const std::string slug = tarball->metadata.slug();
    if (auto named = module::parse_file_name(file_name); named && named->slug() != slug) {
        return failure(fmt::format("the file is named '{}', but its metadata.json says '{}'",
                                   named->slug(), slug),
                       kBad);
    }
    const module::ReleaseName release{tarball->metadata.module, tarball->metadata.version};
    // A repeated upload of the same bytes need not include the signature that is stored already.
    std::string known_signature;
    if (signature.empty()) signature = known_signature = forge_store_.signature(repo_, slug);
    if (auto signed_well = rules_.check(release, bytes, signature); !signed_well) {
        return failure(signed_well.error().message, kBad);
    }
    const std::string sha256 = sha256_of(bytes);
    const std::string path = units_ + "/" + slug + std::string(kTar);
    if (has(slug)) {
        const std::string taken =
            "A release with the version specified in the metadata.json already exists for this "
            "module.";
        auto text = forge_store_.files_->read(units_ + "/" + slug + std::string(kRecord));
        std::string_view rest = text ? std::string_view(*text) : std::string_view{};
        auto known = read_record(&rest);
        const bool same = known ? known->sha256 == sha256 : [&] {
            auto old = forge_store_.files_->read(path);
            return old && *old == bytes;
        }();
        if (fresh || !same) return failure(taken, kConflict);
        if (known && ::access(path.c_str(), F_OK) == 0) {
            BUNRAKU_TRY_VOID(store_signature(slug, signature));
            BUNRAKU_TRY_VOID(forge_store_.undelete(repo_, {slug}));
            return slug;
        }
    }
    BUNRAKU_TRY_VOID(store_signature(slug, signature));
    // Write the record first, because a unit exists once its archive exists.
    BUNRAKU_TRY_VOID(
        write_record(slug, make_record(*tarball, bytes.size(), md5_of(bytes), sha256,
                                       created > 0 ? created : std::int64_t{std::time(nullptr)})));
    BUNRAKU_TRY_VOID(write(slug + std::string(kTar), bytes));
    // An upload of a release that was deleted over the API restores it.
    BUNRAKU_TRY_VOID(forge_store_.undelete(repo_, {slug}));
    return slug;
}

/// Called before the archive is written, so that the archive never exists without its signature.
Result<void> ForgeStore::Batch::store_signature(const std::string& slug,
                                                std::string_view signature) {
    if (signature.empty()) return {};
    if (auto file = module::Minisign::parse(signature); !file) {
        return failure(slug + ": " + file.error().message, static_cast<int>(Refusal::Bad));
    }
    return write(slug + std::string(module::kSignatureSuffix), signature);
}

Result<bool> ForgeStore::Batch::link(std::string_view from, const std::string& slug) {
    const std::string source = forge_store_.repo_folder(from) + "/units/" + slug;
    const std::string target = units_ + "/" + slug;
    auto theirs = forge_store_.record(from, slug);
    if (!theirs) return failure("the release's record cannot be read: " + theirs.error().message);
    std::string_view a = *theirs;
    auto their_record = read_record(&a);
    if (!their_record) return failure("the record of " + slug + " is broken");
    if (has(slug)) {
        auto ours = forge_store_.files_->read(target + std::string(kRecord));
        std::string_view b = ours ? std::string_view(*ours) : std::string_view{};
        auto our_record = read_record(&b);
        if (our_record && our_record->sha256 == their_record->sha256) {
            BUNRAKU_TRY_VOID(forge_store_.undelete(repo_, {slug}));
            return false;
        }
        return failure(fmt::format("{} is in '{}' already, with other content", slug, repo_),
                       static_cast<int>(Refusal::Conflict));
    }
    const std::string signature = forge_store_.signature(from, slug);
    const module::ReleaseName release{
        {std::string(their_record->author), std::string(their_record->name)},
        std::string(their_record->version)};
    if (rules_.concerns(release.module)) {
        const std::string bytes =
            BUNRAKU_TRY(forge_store_.files_->read(source + std::string(kTar)));
        BUNRAKU_TRY_VOID(rules_.check(release, bytes, signature));
    }
    BUNRAKU_TRY_VOID(store_signature(slug, signature));
    BUNRAKU_TRY_VOID(write_record(slug, *theirs));
    if (::link((source + std::string(kTar)).c_str(), (target + std::string(kTar)).c_str()) != 0 &&
        errno != ENOENT) {
        return failure(fmt::format("{} cannot be linked", slug), errno);
    }
    written_.push_back(slug + std::string(kTar));
    BUNRAKU_TRY_VOID(forge_store_.undelete(repo_, {slug}));
    return true;
}

Result<bool> ForgeStore::Batch::store_remote(const RemoteRelease& release) {
    const std::string slug = release.metadata.slug();
    if (has(slug)) return false;
    BUNRAKU_TRY_VOID(write_record(slug, make_record(release)));
    return true;
}

Result<void> ForgeStore::Batch::fill_remote(const std::string& slug, std::string_view bytes,
                                            std::string_view signature) {
    auto text = forge_store_.files_->read(units_ + "/" + slug + std::string(kRecord));
    if (!text) return failure("there is no release " + slug, 404);
    std::string_view rest = *text;
    auto known = read_record(&rest);
    if (!known) return failure("the record of " + slug + " is broken");
    if (known->sha256.empty() ? known->md5 != md5_of(bytes) : known->sha256 != sha256_of(bytes)) {
        return failure("the archive that upstream sent for " + slug +
                       " does not have the checksum it names");
    }
    auto tarball = module::inspect_tarball(bytes);
    if (!tarball) return failure(tarball.error().message);
    if (tarball->metadata.slug() != slug) {
        return failure(fmt::format("upstream sent {} for {}", tarball->metadata.slug(), slug));
    }
    BUNRAKU_TRY_VOID(
        rules_.check({tarball->metadata.module, tarball->metadata.version}, bytes, signature));
    BUNRAKU_TRY_VOID(store_signature(slug, signature));
    // From now on the record is derived from the archive instead of the upstream's description.
    BUNRAKU_TRY_VOID(write_record(slug, make_record(*tarball, bytes.size(), md5_of(bytes),
                                                    sha256_of(bytes), known->created, kPulled)));
    return write(slug + std::string(kTar), bytes);
}

Result<void> ForgeStore::Batch::erase(const std::string& slug) {
    BUNRAKU_ALWAYS_ASSERT(!slug.empty() && slug.find('/') == std::string::npos);
    const std::string stem = units_ + "/" + slug;
    ::unlink((stem + std::string(kTar)).c_str());
    ::unlink((stem + std::string(kRecord)).c_str());
    ::unlink((stem + std::string(module::kSignatureSuffix)).c_str());
    return {};
}

Result<void> ForgeStore::Batch::finish() {
    // Above this number of files, syncing the file system once is cheaper than syncing each file.
    constexpr std::size_t kMany = 32;
    const int fd =
        written_.size() > kMany ? ::open(units_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        if (texts_) BUNRAKU_TRY_VOID(texts_->sync());
        const int done = ::syncfs(fd);
        ::close(fd);
        written_.clear();
        if (done != 0) return failure("cannot sync " + units_, errno);
        return {};
    }
    std::vector<std::string> paths = {units_};
    for (const std::string& name : written_) paths.push_back(units_ + "/" + name);
    if (texts_ && texts_->take_dirty()) paths.push_back(texts_->path());
    written_.clear();
    return sync_together(paths);
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
        BUNRAKU_TRY_VOID(
            files_->replace(path, BUNRAKU_TRY(store.apart(again)), {.mode = 0644, .sync = true}));
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

std::vector<Binding> ForgeStore::bindings() const {
    std::vector<Binding> out;
    auto text = files_->read(consumers_file());
    if (!text) return out;
    for (std::string_view row : base::split(*text, '\n')) {
        const auto f = base::split(row, '\t');
        if (f.size() == 2) out.push_back({std::string(f[0]), std::string(f[1])});
    }
    return out;
}

Result<void> ForgeStore::change_bindings(const std::function<void(std::vector<Binding>&)>& change) {
    auto held = BUNRAKU_TRY(lock(".consumers"));
    std::vector<Binding> all = bindings();
    change(all);
    std::string text;
    for (const Binding& b : all) text += b.consumer + "\t" + b.repository + "\n";
    return files_->replace(consumers_file(), text, {.mode = 0644, .sync = true});
}

Result<bool> ForgeStore::bind(std::string_view consumer, std::string_view repo) {
    if (!module::valid_identifier(consumer)) {
        return failure(fmt::format("'{}' is not a valid consumer ID", one_line(consumer)));
    }
    BUNRAKU_TRY_VOID(need(repo));
    bool added = false;
    BUNRAKU_TRY_VOID(change_bindings([&](std::vector<Binding>& all) {
        for (const Binding& b : all) {
            if (b.consumer == consumer && b.repository == repo) return;
        }
        all.push_back({std::string(consumer), std::string(repo)});
        added = true;
    }));
    return added;
}

Result<bool> ForgeStore::unbind(std::string_view consumer, std::string_view repo) {
    bool removed = false;
    BUNRAKU_TRY_VOID(change_bindings([&](std::vector<Binding>& all) {
        removed = std::erase_if(all, [&](const Binding& b) {
                      return b.consumer == consumer && b.repository == repo;
                  }) > 0;
    }));
    return removed;
}

std::vector<Token> ForgeStore::tokens() const {
    std::vector<Token> out;
    auto text = files_->read(tokens_file());
    if (!text) return out;
    for (std::string_view row : base::split(*text, '\n')) {
        const auto f = base::split(row, '\t');
        if (f.size() != 3 && f.size() != 5) continue;
        Token t{std::string(f[0]), std::string(f[1]), {}};
        if (f.size() == 5) {
            t.reads_only = f[3] == "read";
            t.until = base::parse_integer<std::int64_t>(f[4]).value_or(1);
        }
        for (std::string_view r : base::split(f[2], ',')) t.repositories.emplace_back(r);
        out.push_back(std::move(t));
    }
    return out;
}

Result<std::string> ForgeStore::add_token(const std::string& name,
                                          const std::vector<std::string>& repositories,
                                          bool reads_only, std::int64_t until) {
    if (!module::valid_identifier(name)) {
        return failure(fmt::format("'{}' is not a valid name of a token", one_line(name)));
    }
    std::string list;
    for (const std::string& r : repositories) {
        if (r != "*" && !module::valid_identifier(r)) return failure(no_repository(r));
        if (!list.empty()) list += ',';
        list += r;
    }
    if (list.empty()) return failure("a token needs at least one repository, or '*' for all");
    const std::string token = BUNRAKU_TRY(new_secret());
    auto held = BUNRAKU_TRY(lock(".tokens"));
    std::string text;
    for (const Token& t : tokens()) {
        if (t.name == name) return failure(fmt::format("there is a token '{}' already", name));
    }
    auto old = files_->read(tokens_file());
    text =
        (old ? *old : std::string()) + fmt::format("{}\t{}\t{}\t{}\t{}\n", name, sha256_of(token),
                                                   list, reads_only ? "read" : "write", until);
    BUNRAKU_TRY_VOID(files_->replace(tokens_file(), text, {.mode = 0600, .sync = true}));
    return token;
}

Result<bool> ForgeStore::remove_token(const std::string& name) {
    auto held = BUNRAKU_TRY(lock(".tokens"));
    auto old = files_->read(tokens_file());
    if (!old) return false;
    std::string text;
    bool found = false;
    for (std::string_view row : base::split(*old, '\n')) {
        if (row.empty()) continue;
        if (base::split(row, '\t')[0] == name) {
            found = true;
        } else {
            text.append(row).append("\n");
        }
    }
    if (!found) return false;
    BUNRAKU_TRY_VOID(files_->replace(tokens_file(), text, {.mode = 0600, .sync = true}));
    return true;
}

std::vector<User> ForgeStore::users() const {
    std::vector<User> out;
    auto text = files_->read(users_file());
    if (!text) return out;
    for (std::string_view row : base::split(*text, '\n')) {
        const auto f = base::split(row, '\t');
        if (f.size() != 4) continue;
        User u{std::string(f[0]), std::string(f[1]), {}, 0};
        u.until = base::parse_integer<std::int64_t>(f[2]).value_or(1);
        for (std::string_view g : base::split(f[3], ',')) {
            if (!g.empty()) u.groups.emplace_back(g);
        }
        out.push_back(std::move(u));
    }
    return out;
}

namespace {

std::string text_of(const std::vector<User>& users) {
    std::string out;
    for (const User& u : users) {
        out += fmt::format("{}\t{}\t{}\t", u.name, u.sha256, u.until);
        for (std::size_t i = 0; i < u.groups.size(); ++i) out += (i ? "," : "") + u.groups[i];
        out += '\n';
    }
    return out;
}

}  // namespace

Result<std::string> ForgeStore::add_user(const std::string& name,
                                         const std::vector<std::string>& groups,
                                         std::int64_t until) {
    for (const std::string& each : groups) {
        if (!module::valid_identifier(each)) {
            return failure(fmt::format("'{}' is not a valid name of a group", one_line(each)));
        }
    }
    if (!module::valid_identifier(name)) {
        return failure(fmt::format("'{}' is not a valid name of a user", one_line(name)));
    }
    const std::string password = BUNRAKU_TRY(new_secret());
    auto held = BUNRAKU_TRY(lock(".users"));
    std::vector<User> all = users();
    std::erase_if(all, [&](const User& u) { return u.name == name; });
    all.push_back({name, sha256_of(password), groups, until});
    BUNRAKU_TRY_VOID(files_->replace(users_file(), text_of(all), {.mode = 0600, .sync = true}));
    return password;
}

Result<bool> ForgeStore::remove_user(const std::string& name) {
    auto held = BUNRAKU_TRY(lock(".users"));
    std::vector<User> all = users();
    if (std::erase_if(all, [&](const User& u) { return u.name == name; }) == 0) return false;
    BUNRAKU_TRY_VOID(files_->replace(users_file(), text_of(all), {.mode = 0600, .sync = true}));
    return true;
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
