// SPDX-License-Identifier: Apache-2.0
#include "modules/module/state.h"

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/codec/digest.h"
#include "core/sys/change_times.h"

namespace bunraku::module {

namespace {

using base::Result;

constexpr std::size_t kDigest = 64;

std::string stamp_of(const sys::FileStatus& status) {
    return fmt::format("{} {} {} {}", status.size, status.mtime_ns, status.ctime_ns, status.inode);
}

class ManifestReader {
public:
    ManifestReader(sys::FileSystem& files, const KnownFiles* known, FileStamps* stamps,
                   bool* reread)
        : files_(files), known_(known), stamps_(stamps), reread_(reread) {}

    Result<void> folder(const std::string& top, const std::string& prefix, TreeManifest& out) {
        for (const std::string& name : BUNRAKU_TRY(files_.list(top + "/" + prefix))) {
            if (prefix.empty() && (name == ".git" || name == "REVISION")) continue;
            const std::string path = prefix + name, full = top + "/" + path;
            const auto status = BUNRAKU_TRY(files_.lstat(full));
            if (status.kind == sys::FileKind::Directory) {
                BUNRAKU_TRY_VOID(folder(top, path + "/", out));
            } else if (status.kind == sys::FileKind::Link) {
                out[path] = "link " + BUNRAKU_TRY(files_.read_link(full));
            } else if (status.kind == sys::FileKind::File) {
                out[path] = fmt::format("{} {}", status.mode & 0100 ? "executable" : "file",
                                        BUNRAKU_TRY(digest(full, path, status)));
            } else {
                out[path] = std::string(sys::file_kind_name(status.kind));
            }
        }
        return {};
    }

private:
    Result<std::string> digest(const std::string& full, const std::string& path,
                               const sys::FileStatus& status) {
        const std::string stamp = stamp_of(status);
        if (stamps_) (*stamps_)[path] = stamp;
        if (known_) {
            const auto then = known_->stamps.find(path);
            const auto what = known_->manifest.find(path);
            if (then != known_->stamps.end() && then->second == stamp &&
                status.ctime_ns + sys::kTimesTick < known_->recorded_ns &&
                what->second.size() > kDigest) {
                return what->second.substr(what->second.size() - kDigest);
            }
        }
        if (reread_) *reread_ = true;
        codec::Digest digest(codec::DigestKind::Sha256);
        BUNRAKU_TRY_VOID(files_.read_chunks(full, [&](std::string_view piece) {
            digest.update(piece);
            return true;
        }));
        return digest.hex();
    }

    sys::FileSystem& files_;
    const KnownFiles* known_;
    FileStamps* stamps_;
    bool* reread_;
};

}  // namespace

Result<TreeManifest> read_manifest(sys::FileSystem& files, const std::string& folder,
                                   const KnownFiles* known, FileStamps* stamps, bool* reread) {
    TreeManifest out;
    BUNRAKU_TRY_VOID(ManifestReader(files, known, stamps, reread).folder(folder, "", out));
    return out;
}

std::vector<std::string> differing(const TreeManifest& a, const TreeManifest& b) {
    std::vector<std::string> out;
    for (const auto& [path, what] : a) {
        auto other = b.find(path);
        if (other == b.end() || other->second != what) out.push_back(path);
    }
    for (const auto& [path, what] : b) {
        if (!a.contains(path)) out.push_back(path);
    }
    return out;
}

std::string InstallRecords::path_of(const std::string& target) const {
    return folder_ + "/" + codec::hex_digest(codec::DigestKind::Sha256, target).substr(0, 32);
}

Result<void> InstallRecords::keep(const std::string& target, std::string_view identity,
                                  const TreeManifest& manifest, const FileStamps& stamps) {
    // Fields end with a NUL, because names may contain any other byte.
    BUNRAKU_ASSERT(!target.empty());
    std::string text;
    const auto add = [&](std::string_view field) { text.append(field).push_back('\0'); };
    add(target);
    add(identity);
    for (const auto& [path, what] : manifest) {
        add(path);
        auto stamp = stamps.find(path);
        add(stamp == stamps.end() ? what : what + " " + stamp->second);
    }
    BUNRAKU_TRY_VOID(files_.make_directories(folder_, 0700));
    return files_.replace(path_of(target), text, {.mode = 0600});
}

std::string InstallRecords::identity(const std::string& target) {
    auto text = files_.read(path_of(target));
    if (!text || !text->starts_with(target + '\0')) return {};
    const std::size_t begin = target.size() + 1, end = text->find('\0', begin);
    return end == std::string::npos ? std::string() : text->substr(begin, end - begin);
}

std::optional<KnownFiles> InstallRecords::find(const std::string& target,
                                               std::string_view identity) {
    // Read the time before the text. If the record is replaced in between, more files than
    // necessary are checked.
    const auto status = files_.lstat(path_of(target));
    auto text = files_.read(path_of(target));
    if (!text || !status) return std::nullopt;
    std::vector<std::string_view> fields;
    std::string_view rest = *text;
    for (std::size_t end; (end = rest.find('\0')) != std::string_view::npos;) {
        fields.push_back(rest.substr(0, end));
        rest.remove_prefix(end + 1);
    }
    const bool whole = rest.empty() && fields.size() >= 2 && fields.size() % 2 == 0;
    if (!whole || fields[0] != target || fields[1] != identity) return std::nullopt;
    KnownFiles out{.manifest = {}, .stamps = {}, .recorded_ns = status->mtime_ns};
    for (std::size_t i = 2; i < fields.size(); i += 2) {
        std::string_view what = fields[i + 1];
        for (std::string_view kind : {"file ", "executable "}) {
            const std::size_t end = kind.size() + kDigest;
            if (!what.starts_with(kind) || what.size() <= end) continue;
            out.stamps.emplace(fields[i], what.substr(end + 1));
            what = what.substr(0, end);
        }
        out.manifest.emplace(fields[i], what);
    }
    return out;
}

}  // namespace bunraku::module
