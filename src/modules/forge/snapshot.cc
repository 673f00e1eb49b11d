// SPDX-License-Identifier: Apache-2.0
#include "modules/forge/snapshot.h"

#include <algorithm>
#include <charconv>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/assert.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/codec/digest.h"
#include "core/codec/json_text.h"

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
    BUNRAKU_ASSERT(data_ == nullptr && size_ == 0);
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
    const auto n = static_cast<std::size_t>(f);
    BUNRAKU_ASSERT(n < kFragments);
    return {fragments[n], lengths[n]};
}

namespace {

/// The extent of the snapshot in the files of its folder, which may have been appended to since.
struct Extent {
    std::int64_t second = 0;
    std::uint64_t records = UINT64_MAX, texts = UINT64_MAX;
};

Result<Extent> extent_of(const std::string& path, const std::string& name) {
    MappedFile meta;
    // A snapshot that extends another one is in the same folder and has a metadata file with its
    // number.
    const std::string own = path + "/.meta." + name.substr(name.rfind('@') + 1);
    if (!meta.open(own)) BUNRAKU_TRY_VOID(meta.open(path + "/.meta"));
    Extent out;
    const auto lines = base::split(meta.bytes(), '\n');
    base::read_integer(lines[0], out.second);
    if (lines.size() > 2) {
        base::read_integer(lines[1], out.records);
        base::read_integer(lines[2], out.texts);
    }
    return out;
}

/// `texts` contains the fragments, or the store that contains them. Returns nullopt if the
/// fragments are missing or the version is invalid.
std::optional<Release> release_of(const RecordView& view, std::string_view texts) {
    Release r;
    r.author = view.author;
    r.name = view.name;
    r.version = view.version;
    r.md5 = view.md5;
    r.sha256 = view.sha256;
    r.size = view.size;
    r.created = view.created;
    r.flags = view.flags;
    auto semver = base::SemVer::parse(view.version);
    if (!semver) return std::nullopt;
    r.semver = std::move(*semver);
    r.index = view.index;
    r.lengths = view.lengths;
    std::uint64_t next = 0;
    for (std::size_t i = 0; i < kFragments; ++i) {
        const std::uint64_t at = view.apart ? view.places[i] : next;
        if (at > texts.size() || view.lengths[i] > texts.size() - at) return std::nullopt;
        r.fragments[i] = texts.data() + at;
        next += view.lengths[i];
    }
    return r;
}

/// Removes the first name from `names` and returns it.
std::string_view next_word(std::string_view& names) {
    const std::size_t blank = names.find(' ');
    const std::string_view word = names.substr(0, blank);
    names = blank == std::string_view::npos ? std::string_view{} : names.substr(blank + 1);
    return word;
}

}  // namespace

Result<std::shared_ptr<const Snapshot>> Snapshot::load(const ForgeStore& forge_store,
                                                       const std::string& name) {
    std::shared_ptr<Snapshot> out(new Snapshot);
    out->name_ = name;
    out->repository_ = name.substr(0, name.rfind('@'));
    out->path_ = forge_store.snapshot_path(name);
    BUNRAKU_TRY_VOID(out->read());
    return std::shared_ptr<const Snapshot>(std::move(out));
}

Result<void> Snapshot::read() {
    auto records = std::make_shared<MappedFile>(), texts = std::make_shared<MappedFile>();
    const Extent extent = BUNRAKU_TRY(extent_of(path_, name_));
    BUNRAKU_TRY_VOID(records->open(path_ + "/.records"));
    BUNRAKU_TRY_VOID(texts->open(path_ + "/.texts"));
    MappedFile flags;
    BUNRAKU_TRY_VOID(flags.open(path_ + "/.flags"));
    published_at_ = extent.second;
    flags_ = std::make_shared<const Flags>(Flags::parse(flags.bytes()));
    records_ = records;
    texts_ = texts;

    std::unordered_map<std::string_view, const Flags::Deletion*> deletions;
    for (const Flags::Deletion& d : flags_->deleted) deletions[d.slug] = &d;

    std::string_view rest = records->bytes().substr(
        0,
        static_cast<std::size_t>(std::min<std::uint64_t>(extent.records, records->bytes().size())));
    const std::uint64_t end = std::min<std::uint64_t>(extent.texts, texts->bytes().size());
    std::vector<Release> all;
    std::uint64_t at = 0;
    while (!rest.empty()) {
        auto view = read_record(&rest);
        if (!view || at > end) return failure(path_ + " is broken");
        const std::string_view known = texts->bytes().substr(0, end);
        auto r = release_of(*view, view->apart ? known : known.substr(at));
        if (!r) return failure(path_ + " is broken");
        if (!view->apart) at += view->fragments_size();
        all.push_back(std::move(*r));
    }
    auto index = std::make_shared<Index>();
    index->slugs.reserve(all.size());
    index->releases.reserve(all.size());
    for (std::uint32_t i = 0; i < all.size(); ++i) {
        Release& r = all[i];
        index->slugs.push_back(fmt::format("{}-{}-{}", r.author, r.name, r.version));
        r.slug = index->slugs.back();
        if (auto d = deletions.find(r.slug); d != deletions.end()) r.deleted = d->second;
        index->releases[r.slug] = i;
        releases_.push_back(std::move(r));
    }
    index_ = index;
    number_modules();
    for (std::uint32_t m = 0; m < modules_.size(); ++m) {
        index->modules[modules_[m].slug] = m;
        index->modules[modules_[m].slashed] = m;
    }
    BUNRAKU_ASSERT(order_.size() == modules_.size() && provided_.empty());
    missing_ = std::make_shared<Missing>();
    for (std::uint32_t m = 0; m < modules_.size(); ++m) finish_module(modules_.edit(m), m);
    BUNRAKU_ASSERT(provided_.size() == missing_->names.size());
    by_version_.resize(releases_.size());
    for (std::uint32_t i = 0; i < releases_.size(); ++i) by_version_[i] = i;
    std::stable_sort(by_version_.begin(), by_version_.end(), [&](std::uint32_t a, std::uint32_t b) {
        return (releases_[b].semver <=> releases_[a].semver) < 0;
    });
    return {};
}

void Snapshot::number_modules() {
    BUNRAKU_ASSERT(modules_.empty() && order_.empty());
    std::unordered_map<std::string, std::uint32_t> numbers;
    std::vector<SnapshotModule> found;
    for (std::uint32_t i = 0; i < releases_.size(); ++i) {
        const Release& r = releases_[i];
        std::string slug = fmt::format("{}-{}", r.author, r.name);
        auto [it, fresh] = numbers.try_emplace(slug, found.size());
        if (fresh) {
            SnapshotModule& m = found.emplace_back();
            m.slug = std::move(slug);
            m.slashed = fmt::format("{}/{}", r.author, r.name);
            m.author = r.author;
            m.name = r.name;
        }
        found[it->second].releases.push_back(i);
    }
    std::sort(found.begin(), found.end(),
              [](const SnapshotModule& a, const SnapshotModule& b) { return a.slug < b.slug; });
    for (SnapshotModule& m : found) {
        order_.push_back(static_cast<std::uint32_t>(modules_.size()));
        modules_.push_back(std::move(m));
    }
}

std::int32_t Snapshot::target_of(std::string_view name) {
    if (const std::int32_t known = number_of(name); known >= 0) return known;
    if (auto it = missing_->numbers.find(std::string(name)); it != missing_->numbers.end()) {
        return it->second;
    }
    // While the snapshot is being read, no other snapshot shares this set. Later it is shared with
    // the previous snapshot.
    auto own = missing_.use_count() > 1 ? std::make_shared<Missing>(*missing_)
                                        : std::const_pointer_cast<Missing>(missing_);
    const auto target = -static_cast<std::int32_t>(own->names.size()) - 1;
    own->names.emplace_back(name);
    own->entries.push_back(codec::json_string(name) + ":[]");
    own->numbers.emplace(name, target);
    provided_.push_back(target);
    BUNRAKU_ASSERT(provided_.size() == own->names.size());
    BUNRAKU_ASSERT(own->names.size() == own->entries.size() &&
                   own->names.size() == own->numbers.size());
    missing_ = std::move(own);
    return target;
}

void Snapshot::finish_module(SnapshotModule& m, std::uint32_t number) {
    BUNRAKU_ASSERT(number < modules_.size() && &modules_[number] == &m);
    BUNRAKU_ASSERT(!m.releases.empty());
    if (m.owner.empty()) {
        m.owner = number > 0 && modules_[number - 1].author == m.author ? modules_[number - 1].owner
                                                                        : owner_json(m.author);
    }
    if (!m.deprecated) m.deprecated = flags_->deprecation(m.slug);
    std::stable_sort(m.releases.begin(), m.releases.end(), [&](std::uint32_t a, std::uint32_t b) {
        return (releases_[b].semver <=> releases_[a].semver) < 0;
    });
    // The newest stable release is the current one. Deleted releases count only if all releases are
    // deleted.
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
    BUNRAKU_ASSERT(m.current < releases_.size() && m.newest < releases_.size());
    m.v1.clear();
    codec::append_json_string(m.v1, m.slashed);
    m.v1 += ":[";
    bool first = true;
    for (auto it = m.releases.rbegin(); it != m.releases.rend(); ++it) {
        Release& r = releases_.edit(*it);
        r.module = number;
        if ((r.flags & (kRemote | kPulled)) == 0) m.owned = true;
        if (r.deleted) continue;
        if (!first) m.v1 += ',';
        first = false;
        r.v1_offset = static_cast<std::uint32_t>(m.v1.size());
        append_v1_unit(m.v1, repository_, r);
        r.v1_length = static_cast<std::uint32_t>(m.v1.size()) - r.v1_offset;
        std::string_view names = r.line(forge::Index::DependencyNames);
        while (!names.empty()) {
            const std::int32_t target = target_of(next_word(names));
            if (std::find(m.dependencies.begin(), m.dependencies.end(), target) ==
                m.dependencies.end()) {
                m.dependencies.push_back(target);
            }
        }
    }
    m.v1 += ']';
}

std::shared_ptr<const Snapshot> Snapshot::with(std::shared_ptr<const Snapshot> before,
                                               std::string name, std::string path,
                                               std::int64_t second,
                                               const std::vector<std::string>& records) {
    BUNRAKU_ASSERT(before);
    std::shared_ptr<Snapshot> out(new Snapshot(*before));
    out->root_ = before->root_ ? before->root_ : before;
    out->name_ = std::move(name);
    out->path_ = std::move(path);
    out->published_at_ = second;
    for (const std::string& record : records) {
        auto bytes = std::make_shared<const std::string>(record);
        std::string_view rest = *bytes;
        auto view = read_record(&rest);
        auto r = view && !view->apart ? release_of(*view, rest) : std::nullopt;
        if (!r) return nullptr;
        auto slug = std::make_shared<const std::string>(view->slug());
        BUNRAKU_ASSERT(!before->release(*slug));
        r->slug = *slug;
        out->kept_.push_back(std::move(bytes));
        const auto i = static_cast<std::uint32_t>(out->releases_.size());
        const std::string module = fmt::format("{}-{}", r->author, r->name);
        std::int32_t number = out->number_of(module);
        if (number < 0) {
            number = static_cast<std::int32_t>(out->modules_.size());
            SnapshotModule m;
            m.slug = module;
            m.slashed = fmt::format("{}/{}", r->author, r->name);
            m.author = r->author;
            m.name = r->name;
            m.owner = owner_json(m.author);
            // Dependencies on this formerly missing name now resolve to the module.
            if (auto it = out->missing_->numbers.find(m.slashed);
                it != out->missing_->numbers.end()) {
                out->provided_[static_cast<std::size_t>(-it->second - 1)] = number;
            }
            const auto place = std::lower_bound(
                out->order_.begin(), out->order_.end(), m.slug,
                [&](std::uint32_t a, const std::string& s) { return out->modules_[a].slug < s; });
            out->order_.insert(place, static_cast<std::uint32_t>(number));
            out->added_modules_[m.slug] = static_cast<std::uint32_t>(number);
            out->added_modules_[m.slashed] = static_cast<std::uint32_t>(number);
            out->modules_.push_back(std::move(m));
        }
        BUNRAKU_ASSERT(static_cast<std::size_t>(number) < out->modules_.size());
        const base::SemVer version = r->semver;
        const std::string slashed = out->modules_[static_cast<std::size_t>(number)].slashed;
        out->releases_.push_back(std::move(*r));
        out->added_releases_[*slug] = i;
        out->kept_.push_back(std::move(slug));
        // Modules with equal versions are in the order of their names, as in a full publish.
        const auto place =
            std::lower_bound(out->by_version_.begin(), out->by_version_.end(), version,
                             [&](std::uint32_t a, const base::SemVer& v) {
                                 const Release& other = out->releases_[a];
                                 const auto order = other.semver <=> v;
                                 if (order != 0) return order > 0;
                                 return out->modules_[other.module].slashed < slashed;
                             });
        out->by_version_.insert(place, i);
        SnapshotModule& m = out->modules_.edit(static_cast<std::size_t>(number));
        m.releases.push_back(i);
        out->finish_module(m, static_cast<std::uint32_t>(number));
    }
    BUNRAKU_ASSERT(out->order_.size() == out->modules_.size());
    BUNRAKU_ASSERT(out->by_version_.size() == out->releases_.size());
    BUNRAKU_ASSERT(out->releases_.size() == before->releases_.size() + records.size());
    return out;
}

std::int32_t Snapshot::number_of(std::string_view name) const {
    if (const auto it = index_->modules.find(name); it != index_->modules.end()) {
        return static_cast<std::int32_t>(it->second);
    }
    if (added_modules_.empty()) return -1;
    const auto it = added_modules_.find(std::string(name));
    return it == added_modules_.end() ? -1 : static_cast<std::int32_t>(it->second);
}

const SnapshotModule* Snapshot::module(std::string_view slug) const {
    const std::int32_t number = number_of(slug);
    return number < 0 ? nullptr : &modules_[static_cast<std::size_t>(number)];
}

const Release* Snapshot::release(std::string_view slug) const {
    if (const auto it = index_->releases.find(slug); it != index_->releases.end()) {
        return &releases_[it->second];
    }
    if (added_releases_.empty()) return nullptr;
    const auto it = added_releases_.find(std::string(slug));
    return it == added_releases_.end() ? nullptr : &releases_[it->second];
}

/// Visits, breadth first, all targets reachable from the dependencies of `release`. Calls
/// `visit(target)` once for each target, except for the module itself.
template <class F>
void Snapshot::closure(const Release& release, F visit) const {
    // Marks of this thread's last walks: a target has been visited if its mark is the number of
    // this walk.
    thread_local std::vector<std::uint64_t> marks;
    thread_local std::uint64_t walk = 0;
    ++walk;
    const std::size_t width = modules_.size() + provided_.size();
    if (marks.size() < width) marks.resize(width);
    thread_local std::vector<std::uint32_t> queue;
    queue.clear();
    BUNRAKU_ASSERT(release.module < modules_.size());
    marks[release.module] = walk;
    const auto see = [&](std::int32_t named) {
        const std::int32_t target = resolved(named);
        const std::size_t slot = target >= 0
                                     ? static_cast<std::size_t>(target)
                                     : modules_.size() + static_cast<std::size_t>(-target - 1);
        BUNRAKU_ASSERT(slot < width && marks[slot] <= walk);
        if (marks[slot] == walk) return;
        marks[slot] = walk;
        visit(target);
        if (target >= 0) queue.push_back(static_cast<std::uint32_t>(target));
    };
    std::string_view names = release.line(forge::Index::DependencyNames);
    while (!names.empty()) {
        const std::string_view name = next_word(names);
        if (const std::int32_t known = number_of(name); known >= 0) {
            see(known);
        } else if (auto it = missing_->numbers.find(std::string(name));
                   it != missing_->numbers.end()) {
            see(it->second);
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
    BUNRAKU_ASSERT(std::size_t{release.v1_offset} + release.v1_length <= module.v1.size());
    std::size_t size = module.slashed.size() + release.v1_length + 8;
    closure(release, [&](std::int32_t target) {
        const std::string* part = target >= 0
                                      ? &modules_[static_cast<std::size_t>(target)].v1
                                      : &missing_->entries[static_cast<std::size_t>(-target - 1)];
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
    BUNRAKU_ASSERT(out.size() <= size);
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
        if (target < 0) out.push_back(missing_->names[static_cast<std::size_t>(-target - 1)]);
    });
    return out;
}

}  // namespace bunraku::forge
