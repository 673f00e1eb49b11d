// SPDX-License-Identifier: Apache-2.0
// Changes to the working set of a repository.
#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "core/base/assert.h"
#include "modules/forge/forge_store.h"
#include "modules/forge/publish_files.h"
#include "modules/forge/store_files.h"

namespace bunraku::forge {

using base::failure;
using base::Result;

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

}  // namespace bunraku::forge
