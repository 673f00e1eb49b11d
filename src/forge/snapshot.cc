#include "forge/snapshot.h"

#include <algorithm>
#include <charconv>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codec/digest.h"
#include "codec/json_text.h"

namespace bunraku::forge {

namespace {

using base::failure;
using base::Result;

void append_v1_unit(std::string& out, std::string_view repository, const Release& r) {
    out += R"({"file":"/pulp/puppet/)";
    out.append(repository).append("/").append(module::release_path(r.author, r.slug));
    out += R"(","version":)";
    codec::append_json_string(out, r.version);
    out.append(R"(,"dependencies":)").append(r.line(Index::V1Dependencies));
    out.append(R"(,"file_md5":")").append(r.md5).append("\"}");
}

}  // namespace

std::string owner_json(std::string_view author) {
    return fmt::format(
        R"({{"uri":"/v3/users/{0}","slug":"{0}","username":"{0}","gravatar_id":"{1}"}})", author,
        codec::hex_digest(codec::DigestKind::Md5, author));
}

MappedFile::~MappedFile() {
    if (data_) ::munmap(const_cast<char*>(data_), size_);
}

Result<void> MappedFile::open(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return failure("cannot read " + path, errno);
    struct stat status{};
    if (::fstat(fd, &status) != 0) {
        ::close(fd);
        return failure("cannot read " + path, errno);
    }
    if (status.st_size > 0) {
        void* at =
            ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_SHARED, fd, 0);
        if (at == MAP_FAILED) {
            ::close(fd);
            return failure("cannot map " + path, errno);
        }
        data_ = static_cast<const char*>(at);
        size_ = static_cast<std::size_t>(status.st_size);
    }
    ::close(fd);
    return {};
}

std::string_view Release::fragment(Fragment f) const {
    const char* at = fragments;
    const auto n = static_cast<std::size_t>(f);
    for (std::size_t i = 0; i < n; ++i) at += lengths[i];
    return {at, lengths[n]};
}

Result<std::shared_ptr<const Snapshot>> Snapshot::load(const Depot& depot,
                                                       const std::string& name) {
    std::shared_ptr<Snapshot> out(new Snapshot);
    out->name_ = name;
    out->repository_ = name.substr(0, name.rfind('@'));
    out->path_ = depot.snapshot_path(name);
    BUNRAKU_TRY_VOID(out->read(depot));
    return std::shared_ptr<const Snapshot>(std::move(out));
}

Result<void> Snapshot::read(const Depot&) {
    BUNRAKU_TRY_VOID(records_.open(path_ + "/.records"));
    BUNRAKU_TRY_VOID(texts_.open(path_ + "/.texts"));
    MappedFile meta, flags;
    BUNRAKU_TRY_VOID(meta.open(path_ + "/.meta"));
    BUNRAKU_TRY_VOID(flags.open(path_ + "/.flags"));
    std::from_chars(meta.bytes().data(), meta.bytes().data() + meta.bytes().size(), published_at_);
    flags_ = Flags::parse(flags.bytes());

    std::unordered_map<std::string_view, const Flags::Deletion*> deletions;
    for (const Flags::Deletion& d : flags_.deleted) deletions[d.slug] = &d;

    std::string_view rest = records_.bytes();
    std::uint64_t at = 0;
    while (!rest.empty()) {
        auto view = read_record(&rest);
        if (!view || at + view->fragments_size() > texts_.bytes().size()) {
            return failure(path_ + " is broken");
        }
        Release r;
        r.author = view->author;
        r.name = view->name;
        r.version = view->version;
        r.md5 = view->md5;
        r.sha256 = view->sha256;
        r.size = view->size;
        r.created = view->created;
        r.flags = view->flags;
        auto semver = base::SemVer::parse(view->version);
        if (!semver) return failure(path_ + " is broken");
        r.semver = std::move(*semver);
        r.index = view->index;
        r.lengths = view->lengths;
        r.fragments = texts_.bytes().data() + at;
        at += view->fragments_size();
        releases_.push_back(std::move(r));
    }
    slugs_.reserve(releases_.size());
    release_index_.reserve(releases_.size());
    for (std::uint32_t i = 0; i < releases_.size(); ++i) {
        Release& r = releases_[i];
        slugs_.push_back(fmt::format("{}-{}-{}", r.author, r.name, r.version));
        r.slug = slugs_.back();
        if (auto d = deletions.find(r.slug); d != deletions.end()) r.deleted = d->second;
        release_index_[r.slug] = i;
    }
    link_modules();
    by_version_.resize(releases_.size());
    for (std::uint32_t i = 0; i < releases_.size(); ++i) by_version_[i] = i;
    std::stable_sort(by_version_.begin(), by_version_.end(), [&](std::uint32_t a, std::uint32_t b) {
        return (releases_[b].semver <=> releases_[a].semver) < 0;
    });
    return {};
}

void Snapshot::link_modules() {
    // Publishing wrote the records module by module, so releases of one stand together.
    std::unordered_map<std::string, std::uint32_t> numbers;
    for (std::uint32_t i = 0; i < releases_.size(); ++i) {
        Release& r = releases_[i];
        std::string slug = fmt::format("{}-{}", r.author, r.name);
        auto [it, fresh] = numbers.try_emplace(slug, modules_.size());
        if (fresh) {
            modules_.push_back({});
            SnapshotModule& m = modules_.back();
            m.slug = std::move(slug);
            m.slashed = fmt::format("{}/{}", r.author, r.name);
            m.author = r.author;
            m.name = r.name;
        }
        modules_[it->second].releases.push_back(i);
    }
    std::sort(modules_.begin(), modules_.end(),
              [](const SnapshotModule& a, const SnapshotModule& b) { return a.slug < b.slug; });
    module_index_.reserve(modules_.size() * 2);
    for (std::uint32_t m = 0; m < modules_.size(); ++m) {
        module_index_[modules_[m].slug] = m;
        module_index_[modules_[m].slashed] = m;
    }
    std::unordered_map<std::string_view, const Flags::Deprecation*> deprecations;
    for (const Flags::Deprecation& d : flags_.deprecated) deprecations[d.module] = &d;
    std::unordered_map<std::string_view, std::int32_t> missing;
    for (std::uint32_t number = 0; number < modules_.size(); ++number) {
        SnapshotModule& m = modules_[number];
        m.owner = number > 0 && modules_[number - 1].author == m.author ? modules_[number - 1].owner
                                                                        : owner_json(m.author);
        if (auto d = deprecations.find(m.slug); d != deprecations.end()) m.deprecated = d->second;
        std::stable_sort(m.releases.begin(), m.releases.end(),
                         [&](std::uint32_t a, std::uint32_t b) {
                             return (releases_[b].semver <=> releases_[a].semver) < 0;
                         });
        // The newest stable release is the current one; deleted ones count where no other is left.
        const auto pick = [&](bool stable, bool live) -> const std::uint32_t* {
            for (const std::uint32_t& i : m.releases) {
                if (live && releases_[i].deleted) continue;
                if (stable && !releases_[i].semver.prerelease.empty()) continue;
                return &i;
            }
            return nullptr;
        };
        const std::uint32_t* newest = pick(false, true);
        m.live = newest != nullptr;
        m.newest = newest ? *newest : m.releases[0];
        const std::uint32_t* current = pick(true, m.live);
        m.current = current ? *current : m.newest;
        codec::append_json_string(m.v1, m.slashed);
        m.v1 += ":[";
        bool first = true;
        for (auto it = m.releases.rbegin(); it != m.releases.rend(); ++it) {
            Release& r = releases_[*it];
            r.module = number;
            if (r.deleted) continue;
            if (!first) m.v1 += ',';
            first = false;
            r.v1_offset = static_cast<std::uint32_t>(m.v1.size());
            append_v1_unit(m.v1, repository_, r);
            r.v1_length = static_cast<std::uint32_t>(m.v1.size()) - r.v1_offset;
            std::string_view names = r.line(Index::DependencyNames);
            while (!names.empty()) {
                const std::size_t blank = names.find(' ');
                const std::string_view name = names.substr(0, blank);
                names =
                    blank == std::string_view::npos ? std::string_view{} : names.substr(blank + 1);
                std::int32_t target = 0;
                if (auto known = module_index_.find(name); known != module_index_.end()) {
                    target = static_cast<std::int32_t>(known->second);
                } else {
                    auto [it2, fresh] = missing.try_emplace(
                        name, -static_cast<std::int32_t>(missing_names_.size()) - 1);
                    if (fresh) {
                        missing_names_.emplace_back(name);
                        missing_.push_back(codec::json_string(name) + ":[]");
                    }
                    target = it2->second;
                }
                if (std::find(m.dependencies.begin(), m.dependencies.end(), target) ==
                    m.dependencies.end()) {
                    m.dependencies.push_back(target);
                }
            }
        }
        m.v1 += ']';
    }
}

const SnapshotModule* Snapshot::module(std::string_view slug) const {
    const auto it = module_index_.find(slug);
    return it == module_index_.end() ? nullptr : &modules_[it->second];
}

const Release* Snapshot::release(std::string_view slug) const {
    const auto it = release_index_.find(slug);
    return it == release_index_.end() ? nullptr : &releases_[it->second];
}

/// Breadth first over what is reached from the dependencies of `release`; `visit(target)` with each
/// target once, the module itself left out.
template <class F>
void Snapshot::closure(const Release& release, F visit) const {
    // Marks of this thread's last walks: a target is seen where its mark is this walk's number.
    thread_local std::vector<std::uint64_t> marks;
    thread_local std::uint64_t walk = 0;
    ++walk;
    const std::size_t width = modules_.size() + missing_.size();
    if (marks.size() < width) marks.resize(width);
    thread_local std::vector<std::uint32_t> queue;
    queue.clear();
    marks[release.module] = walk;
    const auto see = [&](std::int32_t target) {
        const std::size_t slot = target >= 0
                                     ? static_cast<std::size_t>(target)
                                     : modules_.size() + static_cast<std::size_t>(-target - 1);
        if (marks[slot] == walk) return;
        marks[slot] = walk;
        visit(target);
        if (target >= 0) queue.push_back(static_cast<std::uint32_t>(target));
    };
    std::string_view names = release.line(Index::DependencyNames);
    while (!names.empty()) {
        const std::size_t blank = names.find(' ');
        const std::string_view name = names.substr(0, blank);
        names = blank == std::string_view::npos ? std::string_view{} : names.substr(blank + 1);
        if (auto known = module_index_.find(name); known != module_index_.end()) {
            see(static_cast<std::int32_t>(known->second));
            continue;
        }
        for (std::int32_t target : modules_[release.module].dependencies) {
            if (target < 0 && missing_names_[static_cast<std::size_t>(-target - 1)] == name) {
                see(target);
                break;
            }
        }
    }
    for (std::size_t i = 0; i < queue.size(); ++i) {
        for (std::int32_t target : modules_[queue[i]].dependencies) see(target);
    }
}

std::string Snapshot::v1_answer(const Release& release) const {
    thread_local std::vector<const std::string*> parts;
    parts.clear();
    const SnapshotModule& module = modules_[release.module];
    std::size_t size = module.slashed.size() + release.v1_length + 8;
    closure(release, [&](std::int32_t target) {
        const std::string* part = target >= 0 ? &modules_[static_cast<std::size_t>(target)].v1
                                              : &missing_[static_cast<std::size_t>(-target - 1)];
        parts.push_back(part);
        size += part->size() + 1;
    });
    std::string out;
    out.reserve(size);
    out += "{\"";
    out += module.slashed;
    out += "\":[";
    out.append(module.v1, release.v1_offset, release.v1_length);
    out += ']';
    for (const std::string* part : parts) {
        out += ',';
        out += *part;
    }
    out += '}';
    return out;
}

std::vector<std::string> Snapshot::missing_of(const Release& release) const {
    std::vector<std::string> out;
    closure(release, [&](std::int32_t target) {
        if (target < 0) out.push_back(missing_names_[static_cast<std::size_t>(-target - 1)]);
    });
    return out;
}

}  // namespace bunraku::forge
