// SPDX-License-Identifier: Apache-2.0
#include "modules/forge/bundle.h"

#include <cstring>
#include <ctime>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include "core/base/civil_time.h"
#include "core/base/diagnostic.h"
#include "core/codec/digest.h"
#include "core/codec/json_text.h"
#include "core/codec/libarchive.h"
#include "core/sys/disk.h"
#include "core/value/rich_data.h"
#include "modules/forge/snapshot.h"
#include "modules/module/feed.h"

namespace bunraku::forge {

namespace {

using base::failure;
using base::Result;
using codec::libarchive;
using module::kSignatureSuffix;

constexpr std::string_view kFormat = "bunraku-bundle-1", kList = "bundle.json",
                           kFolder = "releases/";
constexpr std::uint64_t kMaxList = 512U << 20;

std::string sha256_text(std::string_view bytes) {
    return codec::hex_digest(codec::DigestKind::Sha256, bytes);
}

std::string words_of_archive(archive* a) {
    const char* text = libarchive().error_string(a);
    return text ? text : "unknown error";
}

/// Writes a tar archive to a file.
class TarFile {
public:
    explicit TarFile(const sys::Write& write)
        : write_(write),
          archive_(libarchive().write_new(), libarchive().write_free),
          entry_(libarchive().entry_new(), libarchive().entry_free) {}
    Result<void> open() {
        libarchive().write_set_format_pax_restricted(archive_.get());
        libarchive().write_set_bytes_in_last_block(archive_.get(), 1);
        const auto sink = [](archive*, void* to, const void* data, std::size_t n) -> la_ssize_t {
            auto& self = *static_cast<TarFile*>(to);
            self.written_ = self.write_({static_cast<const char*>(data), n});
            return self.written_ ? static_cast<la_ssize_t>(n) : -1;
        };
        if (libarchive().write_open2(archive_.get(), this, nullptr, sink, nullptr, nullptr) !=
            ARCHIVE_OK) {
            return wrong();
        }
        return {};
    }
    Result<void> add(std::string_view name, std::string_view content) {
        archive_entry* e = entry_.get();
        libarchive().entry_clear(e);
        libarchive().entry_set_pathname(e, std::string(name).c_str());
        libarchive().entry_set_filetype(e, AE_IFREG);
        libarchive().entry_set_perm(e, 0644);
        libarchive().entry_set_size(e, static_cast<la_int64_t>(content.size()));
        if (libarchive().write_header(archive_.get(), e) < ARCHIVE_WARN ||
            (!content.empty() &&
             libarchive().write_data(archive_.get(), content.data(), content.size()) !=
                 static_cast<la_ssize_t>(content.size()))) {
            return wrong();
        }
        return {};
    }
    Result<void> close() {
        if (libarchive().write_close(archive_.get()) != ARCHIVE_OK) return wrong();
        return {};
    }

private:
    Result<void> wrong() {
        BUNRAKU_TRY_VOID(written_);
        return failure(
            fmt::format("cannot write the bundle: {}", words_of_archive(archive_.get())));
    }
    const sys::Write& write_;
    Result<void> written_;
    std::unique_ptr<archive, int (*)(archive*)> archive_;
    std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry_;
};

/// Calls `each` with every file of a tar archive. Refuses, without reading it, a file that is
/// longer than the `limit` for its name.
Result<void> walk_tar(
    const std::string& path, const std::function<std::uint64_t(const std::string& name)>& limit,
    const std::function<Result<bool>(const std::string& name, std::string content)>& each) {
    BUNRAKU_TRY_VOID(codec::load_libarchive());
    const std::unique_ptr<archive, int (*)(archive*)> reader(libarchive().read_new(),
                                                             libarchive().read_free);
    libarchive().read_support_format_tar(reader.get());
    const auto wrong = [&] {
        return failure(fmt::format("{} is not a bundle: {}", path, words_of_archive(reader.get())));
    };
    if (libarchive().read_open_filename(reader.get(), path.c_str(), 1 << 16) != ARCHIVE_OK) {
        return wrong();
    }
    for (archive_entry* header = nullptr;;) {
        const int code = libarchive().read_next_header(reader.get(), &header);
        if (code == ARCHIVE_EOF) return {};
        if (code != ARCHIVE_OK && code != ARCHIVE_WARN) return wrong();
        const char* raw = libarchive().entry_pathname(header);
        const std::string name(raw ? raw : "");
        const auto size =
            static_cast<std::uint64_t>(std::max<la_int64_t>(libarchive().entry_size(header), 0));
        if (libarchive().entry_filetype(header) != AE_IFREG ||
            libarchive().entry_hardlink(header)) {
            return failure(fmt::format("{}: '{}' is not a file", path, name.substr(0, 200)));
        }
        if (size > limit(name)) {
            return failure(fmt::format("{}: unexpected file '{}', or the file is too long", path,
                                       name.substr(0, 200)));
        }
        std::string content(size, '\0');
        std::size_t have = 0;
        while (have < content.size()) {
            const auto n =
                libarchive().read_data(reader.get(), content.data() + have, content.size() - have);
            if (n < 0) return wrong();
            if (n == 0) break;
            have += static_cast<std::size_t>(n);
        }
        if (have != content.size()) return failure(path + " is cut short");
        if (!BUNRAKU_TRY(each(name, std::move(content)))) return {};
    }
}

/// A release as listed in bundle.json.
struct Bundled {
    std::string slug, sha256, signature_sha256;
    std::uint64_t size = 0;
    std::int64_t created = 0;
};

struct BundleList {
    std::map<std::string, Bundled> releases;  ///< by slug
    std::vector<Flags::Deprecation> deprecated;
};

Result<BundleList> read_list(const std::string& path, std::string_view text) {
    const auto broken = [&](std::string_view why) {
        return failure(fmt::format("{}: bundle.json is broken: {}", path, why));
    };
    base::Arena arena;
    Result<value::Value> parsed = failure("no JSON");
    try {
        parsed = value::parse_json(arena, text);
    } catch (const base::PuppetError& e) {
        parsed = failure(e.message());
    }
    if (!parsed) return broken(parsed.error().message);
    if (module::text_at(*parsed, "format") != kFormat) return broken("its format is not supported");
    const value::Value* list = parsed->as_hash().find("releases");
    if (!list || !list->is_array()) return broken("it has no releases");
    const auto number = [](const value::Value& of, std::string_view key) {
        const value::Value* v = of.as_hash().find(key);
        return v && v->is_integer() ? v->as_integer() : -1;
    };
    BundleList out;
    for (const value::Value& item : list->as_array()) {
        if (!item.is_hash()) return broken("a release is not an object");
        Bundled b;
        b.slug = module::text_at(item, "slug");
        b.sha256 = module::text_at(item, "sha256");
        b.signature_sha256 = module::text_at(item, "signature_sha256");
        const std::int64_t size = number(item, "size"), created = number(item, "created");
        if (!module::parse_release_name(b.slug) || b.sha256.size() != 64 || size < 0 ||
            static_cast<std::uint64_t>(size) > module::TarballLimits{}.packed) {
            return broken(fmt::format("'{}' is not a release", b.slug.substr(0, 100)));
        }
        b.size = static_cast<std::uint64_t>(size);
        b.created = std::max<std::int64_t>(created, 0);
        const std::string slug = b.slug;
        if (!out.releases.emplace(slug, std::move(b)).second)
            return broken(slug + " is listed twice");
    }
    if (const value::Value* gone = parsed->as_hash().find("deprecated"); gone && gone->is_array()) {
        for (const value::Value& item : gone->as_array()) {
            Flags::Deprecation d{std::string(module::text_at(item, "module")),
                                 std::string(module::text_at(item, "at")),
                                 std::string(module::text_at(item, "reason")),
                                 std::string(module::text_at(item, "replacement"))};
            if (!module::parse_module_name(d.module))
                return broken("a deprecation has an invalid module name");
            if (!d.replacement.empty() && !module::parse_module_name(d.replacement)) {
                return broken("a replacement has an invalid module name");
            }
            out.deprecated.push_back(std::move(d));
        }
    }
    return out;
}

/// bundle.json and its signature, which are the first files of a bundle.
struct BundleHead {
    std::string list, signature;
};
Result<BundleHead> bundle_head(const std::string& path) {
    BundleHead out;
    const std::string signature_name = std::string(kList) + std::string(kSignatureSuffix);
    BUNRAKU_TRY_VOID(walk_tar(
        path,
        [&](const std::string& name) {
            return name == kList ? kMaxList : module::TarballLimits{}.packed;
        },
        [&](const std::string& name, std::string content) -> Result<bool> {
            if (out.list.empty()) {
                if (name != kList)
                    return failure(path + " is not a bundle: bundle.json is missing");
                out.list = std::move(content);
                return true;
            }
            if (name == signature_name) out.signature = std::move(content);
            return false;
        }));
    if (out.list.empty()) return failure(path + " is not a bundle: bundle.json is missing");
    return out;
}

}  // namespace

Result<std::uint64_t> export_bundle(ForgeStore& forge_store, const std::string& repo,
                                    const BundleExport& options) {
    BUNRAKU_TRY_VOID(codec::load_libarchive());
    const std::string name = forge_store.published(repo);
    if (name.empty()) return failure(fmt::format("'{}' was never published", repo));
    const auto snapshot = BUNRAKU_TRY(Snapshot::load(forge_store, name));
    std::set<std::string> left_out;
    if (!options.without.empty()) {
        const BundleHead head = BUNRAKU_TRY(bundle_head(options.without));
        const BundleList before = BUNRAKU_TRY(read_list(options.without, head.list));
        for (const auto& [slug, b] : before.releases) {
            left_out.insert(slug + " " + b.sha256);
        }
    }
    auto& files = sys::disk();
    struct Item {
        const Release* release;
        std::string path, signature;
    };
    std::vector<Item> items;
    std::string list, deprecated;
    for (const Release& r : snapshot->releases()) {
        if (r.deleted || left_out.contains(fmt::format("{} {}", r.slug, r.sha256))) continue;
        Item item{&r, snapshot->path() + "/" + module::release_path(r.author, r.slug), {}};
        // A pull-through repository exports only the archives that it has fetched.
        if (!files.is_file(item.path)) continue;
        item.signature =
            files.read(item.path + std::string(kSignatureSuffix)).value_or(std::string());
        list += fmt::format(
            R"({}{{"slug":"{}","size":{},"created":{},"sha256":"{}","signature_sha256":{}}})",
            list.empty() ? "\n" : ",\n", r.slug, r.size, r.created, r.sha256,
            item.signature.empty() ? "null" : codec::json_string(sha256_text(item.signature)));
        items.push_back(std::move(item));
    }
    for (const SnapshotModule& m : snapshot->modules()) {
        if (!m.deprecated) continue;
        deprecated += fmt::format(
            R"({}{{"module":{},"at":{},"reason":{},"replacement":{}}})",
            deprecated.empty() ? "\n" : ",\n", codec::json_string(m.deprecated->module),
            codec::json_string(m.deprecated->at), codec::json_string(m.deprecated->reason),
            codec::json_string(m.deprecated->replacement));
    }
    list = fmt::format(
        "{{\"format\":\"{}\",\"repository\":{},\"published\":{},\"created\":\"{}\","
        "\n\"releases\":[{}],\n\"deprecated\":[{}]}}\n",
        kFormat, codec::json_string(repo), codec::json_string(name),
        base::iso_text(base::civil_time(std::time(nullptr))), list, deprecated);

    const auto fill = [&](const sys::Write& write) -> Result<void> {
        TarFile tar(write);
        BUNRAKU_TRY_VOID(tar.open());
        BUNRAKU_TRY_VOID(tar.add(kList, list));
        if (options.key) {
            BUNRAKU_TRY_VOID(tar.add(
                std::string(kList) + std::string(kSignatureSuffix),
                module::sign_minisign(*options.key, list, fmt::format("bundle of {}", name))));
        }
        for (const Item& item : items) {
            // A concurrent publish may remove this tree. The working set still has the file.
            auto read = files.read(item.path);
            if (!read)
                read = files.read(forge_store.unit_path(repo, std::string(item.release->slug)));
            const std::string bytes = BUNRAKU_TRY(read);
            if (sha256_text(bytes) != item.release->sha256) {
                return failure(
                    fmt::format("{} has other bytes than when it was published", item.path));
            }
            const std::string entry = fmt::format("{}{}.tar.gz", kFolder, item.release->slug);
            // A signature precedes its archive, so that the import can store both together.
            if (!item.signature.empty()) {
                BUNRAKU_TRY_VOID(tar.add(entry + std::string(kSignatureSuffix), item.signature));
            }
            BUNRAKU_TRY_VOID(tar.add(entry, bytes));
        }
        return tar.close();
    };
    BUNRAKU_TRY_VOID(files.replace_from(options.file, fill, {.mode = 0644, .sync = true}));
    return items.size();
}

namespace {

/// Passes every release of a bundle to `take`, after checking it against the bundle's trusted list.
Result<void> each_release(const std::string& path, const BundleList& list,
                          const std::function<Result<void>(const Bundled&, const std::string& bytes,
                                                           const std::string& signature)>& take) {
    const std::string list_signature = std::string(kList) + std::string(kSignatureSuffix);
    std::set<std::string> came;
    std::string signature_of, signature;
    const auto listed = [&](const std::string& name, bool* is_signature) -> const Bundled* {
        std::string_view rest = name;
        if (!rest.starts_with(kFolder)) return nullptr;
        rest.remove_prefix(kFolder.size());
        *is_signature = rest.ends_with(kSignatureSuffix);
        if (*is_signature) rest.remove_suffix(kSignatureSuffix.size());
        if (!rest.ends_with(".tar.gz")) return nullptr;
        rest.remove_suffix(7);
        const auto found = list.releases.find(std::string(rest));
        return found == list.releases.end() ? nullptr : &found->second;
    };
    BUNRAKU_TRY_VOID(walk_tar(
        path,
        [&](const std::string& name) -> std::uint64_t {
            if (name == kList) return kMaxList;
            if (name == list_signature) return module::kMaxSignature;
            bool is_signature = false;
            const Bundled* b = listed(name, &is_signature);
            return !b ? 0 : is_signature ? module::kMaxSignature : b->size;
        },
        [&](const std::string& name, std::string content) -> Result<bool> {
            if (name == kList || name == list_signature) return true;
            bool is_signature = false;
            const Bundled* b = listed(name, &is_signature);
            const auto wrong = [&](std::string_view what) {
                return failure(fmt::format("{}: '{}' {}", path, name.substr(0, 200), what));
            };
            if (!b) return wrong("is not in bundle.json");
            if (sha256_text(content) != (is_signature ? b->signature_sha256 : b->sha256)) {
                return wrong("does not match its digest in bundle.json");
            }
            if (is_signature) {
                signature_of = b->slug;
                signature = std::move(content);
                return true;
            }
            if (!came.insert(b->slug).second) return wrong("is included twice");
            if (!b->signature_sha256.empty() && signature_of != b->slug) {
                return wrong("lacks its signature");
            }
            BUNRAKU_TRY_VOID(
                take(*b, content, b->signature_sha256.empty() ? std::string() : signature));
            return true;
        }));
    for (const auto& [slug, b] : list.releases) {
        if (!came.contains(slug))
            return failure(fmt::format("{} is cut short: {} is missing", path, slug));
    }
    return {};
}

}  // namespace

Result<BundleImport> import_bundle(ForgeStore& forge_store, const std::string& repo,
                                   const std::string& file,
                                   const std::optional<module::PublicKey>& key) {
    if (!forge_store.exists(repo))
        return failure(fmt::format("there is no repository '{}'", repo), 404);
    const BundleHead head = BUNRAKU_TRY(bundle_head(file));
    if (key) {
        if (head.signature.empty()) return failure(file + " is not signed");
        auto signature = module::Minisign::parse(head.signature);
        if (!signature) return failure(fmt::format("{}: {}", file, signature.error().message));
        if (signature->key_id != key->id) {
            return failure(fmt::format("{} is signed with the key {}, not with {}", file,
                                       module::PublicKey{signature->key_id, {}}.number(),
                                       key->number()));
        }
        if (!signature->verifies(*key, head.list)) {
            return failure(file + " does not match its signature");
        }
    }
    const BundleList list = BUNRAKU_TRY(read_list(file, head.list));
    const module::SignatureRules rules = forge_store.config(repo).signatures;
    std::set<std::string> have;
    for (const Unit& unit : forge_store.units(repo)) {
        if (!unit.remote) have.insert(unit.name.slug());
    }
    // Check the whole bundle first, so that a refused bundle changes nothing.
    BUNRAKU_TRY_VOID(each_release(
        file, list,
        [&](const Bundled& b, const std::string& bytes,
            const std::string& signature) -> Result<void> {
            auto tarball = module::inspect_tarball(bytes);
            if (!tarball) return failure(fmt::format("{}: {}", b.slug, tarball.error().message));
            if (tarball->metadata.slug() != b.slug) {
                return failure(fmt::format("{} holds {}", b.slug, tarball->metadata.slug()));
            }
            if (have.contains(b.slug)) {
                auto known = BUNRAKU_TRY(forge_store.record(repo, b.slug));
                std::string_view rest = known;
                auto record = read_record(&rest);
                if (!record || record->sha256 != b.sha256) {
                    return failure(
                        fmt::format("{} is in '{}' already, with other content", b.slug, repo));
                }
            }
            return rules.check(*module::parse_release_name(b.slug), bytes, signature);
        }));
    BundleImport out;
    std::unique_ptr<ForgeStore::Batch> batch;
    int stored = 0;
    BUNRAKU_TRY_VOID(each_release(
        file, list,
        [&](const Bundled& b, const std::string& bytes,
            const std::string& signature) -> Result<void> {
            // Hold the lock only for a few releases at a time, because other processes may need to
            // upload.
            if (!batch) batch = BUNRAKU_TRY(forge_store.begin(repo));
            auto kept = batch->upload(bytes, b.slug + ".tar.gz", false, b.created, signature);
            if (!kept) return failure(fmt::format("{}: {}", b.slug, kept.error().message));
            ++(have.contains(b.slug) ? out.present : out.stored);
            if (++stored % 64 != 0) return {};
            BUNRAKU_TRY_VOID(batch->finish());
            batch.reset();
            return {};
        }));
    if (batch) BUNRAKU_TRY_VOID(batch->finish());
    batch.reset();
    if (list.deprecated.empty()) return out;
    BUNRAKU_TRY_VOID(forge_store.change_flags(repo, [&](Flags& flags) -> Result<void> {
        for (const Flags::Deprecation& d : list.deprecated) {
            if (!flags.deprecation(d.module)) flags.deprecated.push_back(d);
        }
        return {};
    }));
    return out;
}

}  // namespace bunraku::forge
