// SPDX-License-Identifier: Apache-2.0
#include "modules/module/version_manifest.h"

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/diagnostic.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/codec/digest.h"

namespace bunraku::module {

namespace {

using base::failure;
using base::Result;
using sys::FileKind;
using sys::FileStatus;

/// Appends a name in the format of sha256sum, with escaped backslashes and newlines.
void append_escaped(std::string& out, std::string_view text) {
    for (const char c : text) {
        if (c == '\\') {
            out += "\\\\";
        } else if (c == '\n') {
            out += "\\n";
        } else if (c == '\t') {
            out += "\\t";
        } else {
            out += c;
        }
    }
}

std::string unescaped(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\' || i + 1 == text.size()) {
            out += text[i];
            continue;
        }
        const char c = text[++i];
        out += c == 'n' ? '\n' : c == 't' ? '\t' : c;
    }
    return out;
}

bool executable(const FileStatus& status) { return (status.mode & 0100) != 0; }

}  // namespace

Result<std::string> file_sha256(sys::FileSystem& files, const std::string& path) {
    codec::Digest digest(codec::DigestKind::Sha256);
    BUNRAKU_TRY_VOID(files.read_chunks(path, [&](std::string_view bytes) {
        digest.update(bytes);
        return true;
    }));
    return digest.hex();
}

Result<void> VersionManifest::add(sys::FileSystem& files, const std::string& folder,
                                  const std::string& prefix, const VersionManifest& earlier,
                                  const std::string& earlier_folder) {
    BUNRAKU_ASSERT(prefix.empty() || prefix.ends_with('/'));
    for (const std::string& name : BUNRAKU_TRY(files.list(folder + "/" + prefix))) {
        const std::string path = prefix + name, full = folder + "/" + path;
        FileStatus status = BUNRAKU_TRY(files.lstat(full));
        if (status.kind == FileKind::Directory) {
            BUNRAKU_TRY_VOID(add(files, folder, path + "/", earlier, earlier_folder));
            continue;
        }
        ManifestEntry& e = entries_[path];
        e = {};
        if (status.kind == FileKind::Link) {
            e.link = true;
            e.content = BUNRAKU_TRY(files.read_link(full));
            continue;
        }
        if ((status.mode & 0222) != 0) {
            BUNRAKU_TRY_VOID(files.set_mode(full, status.mode & ~0222U));
            status = BUNRAKU_TRY(files.lstat(full));
        }
        e = {.executable = executable(status),
             .content = {},
             .size = status.size,
             .mtime_ns = status.mtime_ns,
             .ctime_ns = status.ctime_ns};
        const auto known = earlier.entries_.find(path);
        if (known != earlier.entries_.end() && status.links > 1) {
            const auto there = files.lstat(earlier_folder + "/" + path);
            if (there && there->inode == status.inode && there->device == status.device)
                e.content = known->second.content;
        }
        if (e.content.empty()) e.content = BUNRAKU_TRY(file_sha256(files, full));
        BUNRAKU_ASSERT(!e.link);
    }
    return {};
}

void VersionManifest::adopt(sys::FileSystem& files, const std::string& folder,
                            const std::string& prefix, const VersionManifest& earlier) {
    BUNRAKU_ASSERT(prefix.ends_with('/'));
    for (auto it = earlier.entries_.lower_bound(prefix);
         it != earlier.entries_.end() && it->first.starts_with(prefix); ++it) {
        ManifestEntry e = it->second;
        // Creating a hard link changes the ctime.
        if (const auto status = files.lstat(folder + "/" + it->first);
            status && status->mtime_ns == e.mtime_ns)
            e.ctime_ns = status->ctime_ns;
        entries_[it->first] = std::move(e);
    }
}

bool VersionManifest::holds(std::string_view prefix) const {
    const auto it = entries_.lower_bound(prefix);
    return it != entries_.end() && it->first.starts_with(prefix);
}

void VersionManifest::forget(const std::string& prefix) {
    std::erase_if(entries_, [&](const auto& e) { return e.first.starts_with(prefix); });
}

std::string VersionManifest::text() const {
    std::string out;
    for (const auto& [path, e] : entries_) {
        if (e.link) {
            out += "link\t";
            append_escaped(out, e.content);
        } else {
            out += fmt::format("{}\t{}\t{}\t{}\t{}", e.executable ? "program" : "file", e.content,
                               e.size, e.mtime_ns, e.ctime_ns);
        }
        out += '\t';
        append_escaped(out, path);
        out += '\n';
    }
    return out;
}

Result<VersionManifest> VersionManifest::read(std::string_view text) {
    VersionManifest out;
    for (const std::string_view line : base::split(text, '\n')) {
        if (line.empty()) continue;
        const auto fields = base::split(line, '\t');
        ManifestEntry e;
        e.link = fields[0] == "link";
        e.executable = fields[0] == "program";
        const bool known = e.link || e.executable || fields[0] == "file";
        if (!known || fields.size() != (e.link ? 3U : 6U))
            return failure(fmt::format("invalid line in a manifest: '{}'", line));
        e.content = unescaped(fields[1]);
        if (!e.link) {
            e.size = base::parse_integer<std::uint64_t>(fields[2]).value_or(0);
            e.mtime_ns = base::parse_integer<std::int64_t>(fields[3]).value_or(0);
            e.ctime_ns = base::parse_integer<std::int64_t>(fields[4]).value_or(0);
        }
        out.entries_[unescaped(fields.back())] = std::move(e);
    }
    return out;
}

VersionManifest::Changes VersionManifest::compare(sys::FileSystem& files, const std::string& folder,
                                                  bool& refreshed) {
    Changes out;
    for (auto& [path, e] : entries_) {
        const std::string full = folder + "/" + path;
        auto status = files.lstat(full);
        if (status && status->kind == FileKind::File && (status->mode & 0222) != 0 &&
            files.set_mode(full, status->mode & ~0222U)) {
            status = files.lstat(full);
        }
        if (!status) {
            out.deleted.push_back(path);
        } else if (e.link) {
            const bool same =
                status->kind == FileKind::Link && files.read_link(full).value_or("") == e.content;
            if (!same) out.edited.push_back(path);
        } else if (status->kind != FileKind::File || executable(*status) != e.executable ||
                   status->size != e.size) {
            out.edited.push_back(path);
        } else if (status->mtime_ns != e.mtime_ns || status->ctime_ns != e.ctime_ns) {
            // The next version may have hard-linked the file, which changes the ctime, so compare
            // the content.
            const auto now = file_sha256(files, full);
            if (!now || *now != e.content) {
                out.edited.push_back(path);
                continue;
            }
            e.mtime_ns = status->mtime_ns;
            e.ctime_ns = status->ctime_ns;
            refreshed = true;
        }
    }
    BUNRAKU_ASSERT(out.edited.size() + out.deleted.size() <= entries_.size());
    BUNRAKU_ASSERT(std::ranges::is_sorted(out.edited) && std::ranges::is_sorted(out.deleted));
    return out;
}

Result<bool> VersionManifest::restore(sys::FileSystem& files, const std::string& folder,
                                      const std::string& path, const std::string& from) {
    const auto known = entries_.find(path);
    const auto there = files.lstat(from);
    if (known == entries_.end() || !there) return false;
    ManifestEntry& e = known->second;
    const std::string full = folder + "/" + path;
    if (e.link) {
        if (there->kind != FileKind::Link || files.read_link(from).value_or("") != e.content)
            return false;
    } else if (there->kind != FileKind::File ||
               file_sha256(files, from).value_or("") != e.content) {
        return false;
    }
    // Remove whatever is in the way of a folder or of the file itself.
    for (std::size_t slash = path.find('/'); slash != path.npos;
         slash = path.find('/', slash + 1)) {
        const std::string above = folder + "/" + path.substr(0, slash);
        const auto status = files.lstat(above);
        if (status && status->kind != FileKind::Directory) BUNRAKU_TRY_VOID(files.remove(above));
    }
    BUNRAKU_TRY_VOID(files.make_directories(std::string(sys::directory_name(full))));
    const auto old = files.lstat(full);
    if (old && old->kind == FileKind::Directory) BUNRAKU_TRY_VOID(files.remove_all(full));
    if (e.link) {
        BUNRAKU_TRY_VOID(files.replace_link(e.content, full));
        return true;
    }
    // Users with read access to the folder get read access to the file.
    const std::uint32_t open =
        BUNRAKU_TRY(files.stat(folder)).mode & (e.executable ? 0555U : 0444U);
    BUNRAKU_TRY_VOID(files.copy(from, full, {.mode = open}));
    BUNRAKU_TRY_VOID(files.set_mtime(full, there->mtime_ns));
    const FileStatus status = BUNRAKU_TRY(files.lstat(full));
    e.size = status.size;
    e.mtime_ns = status.mtime_ns;
    e.ctime_ns = status.ctime_ns;
    return true;
}

std::string VersionManifest::digest() const {
    codec::Digest out(codec::DigestKind::Sha256);
    for (const auto& [path, e] : entries_) {
        out.update(fmt::format("{} {} ",
                               e.link         ? "link"
                               : e.executable ? "program"
                                              : "file",
                               e.content));
        out.update(path);
        out.update(std::string_view("\0", 1));
    }
    return out.hex();
}

}  // namespace bunraku::module
