// SPDX-License-Identifier: Apache-2.0
#include "modules/module/tarball.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "core/base/text.h"
#include "core/codec/json_text.h"
#include "core/codec/libarchive.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"

namespace bunraku::module {

namespace {

using base::failure;
using base::Result;
using codec::libarchive;

struct ReaderDelete {
    void operator()(archive* a) const { libarchive().read_free(a); }
};
using Reader = std::unique_ptr<archive, ReaderDelete>;

std::string archive_message(archive* a) {
    const char* text = libarchive().error_string(a);
    return text ? text : "unknown error";
}

/// Decompresses the whole stream once to check that it ends correctly with the right checksum. The
/// tar reader stops at the end mark of the archive and would not detect a stream that is truncated
/// after it.
Result<void> check_gzip(std::string_view bytes, const TarballLimits& limits) {
    if (bytes.size() < 18 || static_cast<unsigned char>(bytes[0]) != 0x1F ||
        static_cast<unsigned char>(bytes[1]) != 0x8B) {
        return failure("the file is not a gzipped tar archive: it is not in gzip format");
    }
    z_stream z{};
    if (inflateInit2(&z, 15 + 16) != Z_OK) return failure("out of memory");
    std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&z, inflateEnd);
    std::vector<unsigned char> buffer(256U << 10);
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    z.avail_in = static_cast<uInt>(bytes.size());
    std::uint64_t total = 0;
    for (;;) {
        z.next_out = buffer.data();
        z.avail_out = static_cast<uInt>(buffer.size());
        const int code = inflate(&z, Z_NO_FLUSH);
        total += buffer.size() - z.avail_out;
        if (total > limits.unpacked) {
            return failure(
                fmt::format("the archive unpacks to more than {} MiB", limits.unpacked >> 20));
        }
        if (code == Z_STREAM_END) {
            // Trailing zero bytes are accepted, and further gzip members are read.
            while (z.avail_in > 0 && *z.next_in == 0) {
                ++z.next_in;
                --z.avail_in;
            }
            if (z.avail_in == 0) return {};
            if (inflateReset(&z) != Z_OK) return failure("out of memory");
            continue;
        }
        if (code != Z_OK) {
            return failure(fmt::format("the file is not a gzipped tar archive: {}",
                                       code == Z_BUF_ERROR ? "the gzip stream is truncated"
                                       : z.msg             ? z.msg
                                                           : "broken gzip stream"));
        }
        if (z.avail_in == 0 && z.avail_out != 0) {
            return failure("the file is not a gzipped tar archive: the gzip stream is truncated");
        }
    }
}

Reader open_reader(std::string_view bytes, std::string* error) {
    Reader reader(libarchive().read_new());
    libarchive().read_support_filter_gzip(reader.get());
    libarchive().read_support_format_tar(reader.get());
    libarchive().read_support_format_gnutar(reader.get());
    if (libarchive().read_open_memory(reader.get(), bytes.data(), bytes.size()) != ARCHIVE_OK) {
        *error = archive_message(reader.get());
        return nullptr;
    }
    return reader;
}

/// Returns the name of an entry: raw bytes in ustar and GNU headers, UTF-8 in pax headers. The
/// caller must hold Utf8Names, because otherwise libarchive does not return names that are not
/// ASCII.
std::string name_of(archive_entry* header) {
    const char* raw = libarchive().entry_pathname_utf8(header);
    if (!raw) raw = libarchive().entry_pathname(header);
    return raw ? raw : "";
}

/// Splits the name of an entry into segments. Returns nullopt if it is absolute or contains "..".
std::optional<std::vector<std::string_view>> segments(std::string_view path) {
    if (path.empty() || path[0] == '/') return std::nullopt;
    std::vector<std::string_view> out;
    while (!path.empty()) {
        const std::size_t slash = path.find('/');
        const std::string_view part = path.substr(0, slash);
        path = slash == std::string_view::npos ? std::string_view{} : path.substr(slash + 1);
        if (part.empty() || part == ".") continue;
        if (part == ".." || part.size() > 255) return std::nullopt;
        for (char c : part) {
            if (static_cast<unsigned char>(c) < 0x20 || c == '\\' || c == 0x7F) {
                return std::nullopt;
            }
        }
        out.push_back(part);
    }
    return out;
}

/// Reports whether a link inside `depth` folders of the top folder, with this target, stays within
/// the top folder.
bool link_stays(std::string_view target, std::size_t depth) {
    if (target.empty() || target[0] == '/') return false;
    long level = static_cast<long>(depth);
    while (!target.empty()) {
        const std::size_t slash = target.find('/');
        const std::string_view part = target.substr(0, slash);
        target = slash == std::string_view::npos ? std::string_view{} : target.substr(slash + 1);
        if (part.empty() || part == ".") continue;
        level += part == ".." ? -1 : 1;
        if (level < 0) return false;
    }
    return true;
}

std::string printable(std::string_view text) {
    std::string out = codec::json_string(text.substr(0, 200));
    return "'" + out.substr(1, out.size() - 2) + "'";
}

Result<std::string> read_entry(archive* a, std::uint64_t limit) {
    std::string out;
    const void* block = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    for (;;) {
        const int code = libarchive().read_data_block(a, &block, &size, &offset);
        if (code == ARCHIVE_EOF) return out;
        if (code != ARCHIVE_OK && code != ARCHIVE_WARN) {
            return failure("the archive is broken: " + archive_message(a));
        }
        const auto at = static_cast<std::uint64_t>(offset);
        if (at > limit || size > limit - at || out.size() > limit - size)
            return failure("too long");
        if (out.size() < at) out.resize(at);  // a hole in a sparse file
        out.append(static_cast<const char*>(block), size);
    }
}

/// Moves to the next entry, counts it and sets `header`. Returns false at the end of the archive.
Result<bool> next_entry(archive* a, const TarballLimits& limits, std::uint64_t& count,
                        archive_entry*& header) {
    const int code = libarchive().read_next_header(a, &header);
    if (code == ARCHIVE_EOF) {
        if (count == 0) return failure("the archive is empty");
        return false;
    }
    if (code != ARCHIVE_OK && code != ARCHIVE_WARN)
        return failure("the file is not a gzipped tar archive: " + archive_message(a));
    if (++count > limits.entries)
        return failure(fmt::format("the archive has more than {} entries", limits.entries));
    return true;
}

/// The paths of an archive so far. A path cannot be both a file and a folder.
class EntryPaths {
public:
    Result<void> add(const std::vector<std::string_view>& parts, bool folder) {
        std::string path;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (i > 0) path += '/';
            path += parts[i];
            const bool is_folder = folder || i + 1 < parts.size();
            const auto [known, fresh] = folders_.try_emplace(path, is_folder);
            if (!fresh && known->second != is_folder) {
                return failure(fmt::format("entry {} is a file and a folder", printable(path)));
            }
        }
        return {};
    }

private:
    std::map<std::string, bool> folders_;  ///< path to whether it is a folder
};

/// Reports whether API v3 returns the text of this file.
bool is_text(const std::vector<std::string_view>& parts) {
    if (parts.size() == 2) {
        const std::string name = base::lower(parts[1]);
        for (std::string_view want : {"readme", "changelog", "license", "reference"}) {
            if (name.starts_with(want)) return true;
        }
        return false;
    }
    return parts[1] == "plans" || (parts.size() == 3 && parts[1] == "tasks");
}

/// Calls `entry(reader, header, parts)` for every entry in order, after checking its name and type.
template <class F>
Result<std::string> walk(std::string_view bytes, const TarballLimits& limits, F entry) {
    std::string error;
    const codec::Utf8Names names;
    Reader reader = open_reader(bytes, &error);
    if (!reader) return failure("the file is not a gzipped tar archive: " + error);
    std::string top;
    EntryPaths paths;
    std::uint64_t count = 0;
    for (;;) {
        archive_entry* header = nullptr;
        if (!BUNRAKU_TRY(next_entry(reader.get(), limits, count, header))) return top;
        const std::string name = name_of(header);
        auto parts = segments(name);
        if (!parts) {
            return failure(fmt::format("entry {} has an invalid path", printable(name)));
        }
        const auto kind = libarchive().entry_filetype(header);
        if (parts->empty()) {
            if (kind == AE_IFDIR) continue;  // "./"
            return failure(fmt::format("entry {} has an invalid path", printable(name)));
        }
        if (top.empty()) top = (*parts)[0];
        if ((*parts)[0] != top) {
            return failure(
                fmt::format("entry {} is outside of the top folder '{}'", printable(name), top));
        }
        const char* hard = libarchive().entry_hardlink(header);
        if (hard) {
            auto target = segments(hard);
            if (!target || target->empty() || (*target)[0] != top) {
                return failure(fmt::format("link {} leads out of the top folder", printable(name)));
            }
        } else if (kind == AE_IFLNK) {
            const char* target = libarchive().entry_symlink(header);
            if (!link_stays(target ? target : "", parts->size() - 2 + (parts->size() < 2)) ||
                parts->size() < 2) {
                return failure(fmt::format("link {} leads out of the top folder", printable(name)));
            }
        } else if (kind != AE_IFREG && kind != AE_IFDIR) {
            return failure(fmt::format("entry {} is neither file nor folder", printable(name)));
        }
        if (kind == AE_IFREG && !hard && parts->size() < 2) {
            return failure(fmt::format("entry {} is outside of a top folder", printable(name)));
        }
        BUNRAKU_TRY_VOID(paths.add(*parts, kind == AE_IFDIR));
        auto done = entry(reader.get(), header, *parts, kind == AE_IFREG && !hard);
        if (!done) return std::unexpected(std::move(done).error());
    }
}

}  // namespace

Result<Tarball> inspect_tarball(std::string_view bytes, const TarballLimits& limits) {
    if (bytes.size() > limits.packed) {
        return failure(fmt::format("the file is longer than {} MiB", limits.packed >> 20));
    }
    BUNRAKU_TRY_VOID(codec::load_libarchive());
    BUNRAKU_TRY_VOID(check_gzip(bytes, limits));
    Tarball out;
    std::string metadata;
    bool found = false;
    std::uint64_t kept = 0;
    auto top =
        walk(bytes, limits,
             [&](archive* a, archive_entry* header, const std::vector<std::string_view>& parts,
                 bool regular) -> Result<void> {
                 if (!regular) return {};
                 if (parts.size() == 2 && parts[1] == "metadata.json") {
                     if (found) return failure("the archive contains metadata.json twice");
                     found = true;
                     auto content = read_entry(a, limits.metadata);
                     if (!content) {
                         return failure(content.error().message == "too long"
                                            ? "metadata.json is too long"
                                            : content.error().message);
                     }
                     metadata = std::move(*content);
                     return {};
                 }
                 if (!is_text(parts)) return {};
                 if (static_cast<std::uint64_t>(libarchive().entry_size(header)) > limits.text)
                     return {};
                 auto content = read_entry(a, limits.text);
                 if (!content) {
                     if (content.error().message == "too long") return {};
                     return std::unexpected(std::move(content).error());
                 }
                 kept += content->size();
                 if (kept > 4 * limits.text) return {};
                 std::string path;
                 for (std::size_t i = 1; i < parts.size(); ++i) {
                     if (i > 1) path += '/';
                     path += parts[i];
                 }
                 // Responses are JSON, so names must be UTF-8.
                 if (codec::is_utf8(path)) out.texts[path] = std::move(*content);
                 return {};
             });
    if (!top) return std::unexpected(std::move(top).error());
    if (!found) return failure(fmt::format("there is no metadata.json in the folder '{}'", *top));
    out.metadata = BUNRAKU_TRY(parse_metadata(metadata));
    out.top = *top;
    if (out.top != out.metadata.slug()) {
        return failure(fmt::format("the top folder '{}' is not '{}', as metadata.json names it",
                                   out.top, out.metadata.slug()));
    }
    return out;
}

namespace {

/// O_EXCL prevents following or overwriting anything that an earlier entry created.
Result<void> write_entry(const std::string& path, std::string_view content, bool executable) {
    ::unlink(path.c_str());
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                          executable ? 0755 : 0644);
    if (fd < 0) return failure("cannot write " + path, errno);
    ::fchmod(fd, executable ? 0755 : 0644);
    while (!content.empty()) {
        const ssize_t n = ::write(fd, content.data(), content.size());
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            ::close(fd);
            return failure("cannot write " + path, errno);
        }
        content.remove_prefix(static_cast<std::size_t>(n));
    }
    if (::close(fd) != 0) return failure("cannot write " + path, errno);
    return {};
}

}  // namespace

Result<std::map<std::string, std::string>> tarball_files(std::string_view bytes,
                                                         const TarballLimits& limits) {
    BUNRAKU_TRY_VOID(codec::load_libarchive());
    BUNRAKU_TRY_VOID(check_gzip(bytes, limits));
    std::map<std::string, std::string> out;
    std::uint64_t left = limits.unpacked;
    BUNRAKU_TRY(walk(bytes, limits,
                     [&](archive* a, archive_entry*, const std::vector<std::string_view>& parts,
                         bool regular) -> Result<void> {
                         if (!regular || parts.size() < 2) return {};
                         std::string path;
                         for (std::size_t i = 1; i < parts.size(); ++i) {
                             path.append(i > 1 ? "/" : "").append(parts[i]);
                         }
                         std::string content = BUNRAKU_TRY(read_entry(a, left));
                         left -= content.size();
                         out[std::move(path)] = std::move(content);
                         return {};
                     }));
    return out;
}

Result<void> unpack_tarball(std::string_view bytes, const std::string& target,
                            const TarballLimits& limits) {
    if (bytes.size() > limits.packed) {
        return failure(fmt::format("the file is longer than {} MiB", limits.packed >> 20));
    }
    BUNRAKU_TRY_VOID(codec::load_libarchive());
    BUNRAKU_TRY_VOID(check_gzip(bytes, limits));
    auto& fs = sys::disk();
    BUNRAKU_TRY_VOID(fs.make_directories(target, 0755));
    auto done = walk(bytes, limits,
                     [&](archive* a, archive_entry* header,
                         const std::vector<std::string_view>& parts, bool regular) -> Result<void> {
                         if (parts.size() < 2) return {};
                         std::string path = target, folder = target;
                         for (std::size_t i = 1; i < parts.size(); ++i) {
                             folder = path;
                             path.append("/").append(parts[i]);
                         }
                         if (libarchive().entry_filetype(header) == AE_IFDIR)
                             return fs.make_directories(path, 0755);
                         if (!regular) return {};
                         BUNRAKU_TRY_VOID(fs.make_directories(folder, 0755));
                         auto content = read_entry(a, limits.unpacked);
                         if (!content) return std::unexpected(std::move(content).error());
                         const bool executable = (libarchive().entry_perm(header) & 0111) != 0;
                         return write_entry(path, *content, executable);
                     });
    if (!done) {
        (void)fs.remove_all(target);
        return std::unexpected(std::move(done).error());
    }
    return {};
}

Result<void> unpack_any_tarball(std::string_view bytes, const std::string& target,
                                const TarballLimits& limits) {
    if (bytes.size() > limits.packed) {
        return failure(fmt::format("the file is longer than {} MiB", limits.packed >> 20));
    }
    BUNRAKU_TRY_VOID(codec::load_libarchive());
    BUNRAKU_TRY_VOID(check_gzip(bytes, limits));
    auto& fs = sys::disk();
    BUNRAKU_TRY_VOID(fs.make_directories(target, 0755));
    const auto unpack = [&]() -> Result<void> {
        const codec::Utf8Names names;
        EntryPaths paths;
        std::string error;
        Reader reader = open_reader(bytes, &error);
        if (!reader) return failure("the file is not a gzipped tar archive: " + error);
        std::uint64_t count = 0, left = limits.unpacked;
        for (archive_entry* header = nullptr;;) {
            if (!BUNRAKU_TRY(next_entry(reader.get(), limits, count, header))) return {};
            const std::string name = name_of(header);
            const auto parts = segments(name);
            if (!parts)
                return failure(fmt::format("entry {} has an invalid path", printable(name)));
            std::string path = target, folder = target;
            for (const std::string_view part : *parts) {
                folder = path;
                path.append("/").append(part);
            }
            // Links are skipped, so no path leads through a link.
            const auto kind = libarchive().entry_filetype(header);
            BUNRAKU_TRY_VOID(paths.add(*parts, kind == AE_IFDIR));
            if (kind == AE_IFDIR) BUNRAKU_TRY_VOID(fs.make_directories(path, 0755));
            if (kind != AE_IFREG || libarchive().entry_hardlink(header) || parts->empty()) continue;
            BUNRAKU_TRY_VOID(fs.make_directories(folder, 0755));
            const std::string content = BUNRAKU_TRY(read_entry(reader.get(), left));
            left -= content.size();
            const bool executable = (libarchive().entry_perm(header) & 0111) != 0;
            BUNRAKU_TRY_VOID(write_entry(path, content, executable));
        }
    };
    auto done = unpack();
    if (!done) (void)fs.remove_all(target);
    return done;
}

Result<std::string> pack_tarball(const std::string& top, const std::vector<PackedFile>& files) {
    BUNRAKU_TRY_VOID(codec::load_libarchive());
    std::string out;
    std::unique_ptr<archive, int (*)(archive*)> writer(libarchive().write_new(),
                                                       libarchive().write_free);
    const codec::Utf8Names names;
    archive* a = writer.get();
    libarchive().write_set_format_pax_restricted(a);
    libarchive().write_add_filter_gzip(a);
    libarchive().write_set_options(a, "gzip:!timestamp");
    libarchive().write_set_bytes_in_last_block(a, 1);
    const auto sink = [](archive*, void* to, const void* data, std::size_t n) -> la_ssize_t {
        static_cast<std::string*>(to)->append(static_cast<const char*>(data), n);
        return static_cast<la_ssize_t>(n);
    };
    if (libarchive().write_open2(a, &out, nullptr, sink, nullptr, nullptr) != ARCHIVE_OK) {
        return failure(archive_message(a));
    }
    std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(libarchive().entry_new(),
                                                                   libarchive().entry_free);
    std::vector<std::string> made;
    const auto add_folder = [&](const std::string& path) -> bool {
        for (const std::string& m : made) {
            if (m == path) return true;
        }
        made.push_back(path);
        libarchive().entry_clear(entry.get());
        libarchive().entry_set_pathname(entry.get(), (path + "/").c_str());
        libarchive().entry_set_filetype(entry.get(), AE_IFDIR);
        libarchive().entry_set_perm(entry.get(), 0755);
        return libarchive().write_header(a, entry.get()) >= ARCHIVE_WARN;
    };
    if (!add_folder(top)) return failure(archive_message(a));
    for (const PackedFile& file : files) {
        const std::string path = top + "/" + file.path;
        for (std::size_t slash = top.size(); (slash = path.find('/', slash + 1)) != path.npos;) {
            if (!add_folder(path.substr(0, slash))) return failure(archive_message(a));
        }
        libarchive().entry_clear(entry.get());
        libarchive().entry_set_pathname(entry.get(), path.c_str());
        libarchive().entry_set_filetype(entry.get(), AE_IFREG);
        libarchive().entry_set_perm(entry.get(), file.executable ? 0755 : 0644);
        libarchive().entry_set_size(entry.get(), static_cast<la_int64_t>(file.content.size()));
        if (libarchive().write_header(a, entry.get()) < ARCHIVE_WARN ||
            (!file.content.empty() &&
             libarchive().write_data(a, file.content.data(), file.content.size()) < 0)) {
            return failure(archive_message(a));
        }
    }
    if (libarchive().write_close(a) != ARCHIVE_OK) return failure(archive_message(a));
    return out;
}

}  // namespace bunraku::module
