#include "module/state.h"

#include <fmt/format.h>

#include "codec/digest.h"

namespace bunraku::module {

namespace {

using base::Result;

Result<void> add_folder(sys::FileSystem& files, const std::string& folder,
                        const std::string& prefix, TreeManifest& out) {
    for (const std::string& name : BUNRAKU_TRY(files.list(folder))) {
        if (prefix.empty() && (name == ".git" || name == "REVISION")) continue;
        const std::string path = folder + "/" + name;
        const auto status = BUNRAKU_TRY(files.lstat(path));
        if (status.kind == sys::FileKind::Directory) {
            BUNRAKU_TRY_VOID(add_folder(files, path, prefix + name + "/", out));
        } else if (status.kind == sys::FileKind::Link) {
            out[prefix + name] = "link " + BUNRAKU_TRY(files.read_link(path));
        } else if (status.kind == sys::FileKind::File) {
            codec::Digest digest(codec::DigestKind::Sha256);
            BUNRAKU_TRY_VOID(files.read_chunks(path, [&](std::string_view piece) {
                digest.update(piece);
                return true;
            }));
            out[prefix + name] =
                fmt::format("{} {}", status.mode & 0100 ? "executable" : "file", digest.hex());
        } else {
            out[prefix + name] = std::string(sys::file_kind_name(status.kind));
        }
    }
    return {};
}

}  // namespace

Result<TreeManifest> read_manifest(sys::FileSystem& files, const std::string& folder) {
    TreeManifest out;
    BUNRAKU_TRY_VOID(add_folder(files, folder, "", out));
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
                                  const TreeManifest& manifest) {
    // Fields end with a NUL, which no path holds: names may have any other byte.
    std::string text;
    const auto add = [&](std::string_view field) { text.append(field).push_back('\0'); };
    add(target);
    add(identity);
    for (const auto& [path, what] : manifest) {
        add(path);
        add(what);
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

std::optional<TreeManifest> InstallRecords::find(const std::string& target,
                                                 std::string_view identity) {
    auto text = files_.read(path_of(target));
    if (!text) return std::nullopt;
    std::vector<std::string_view> fields;
    std::string_view rest = *text;
    for (std::size_t end; (end = rest.find('\0')) != std::string_view::npos;) {
        fields.push_back(rest.substr(0, end));
        rest.remove_prefix(end + 1);
    }
    const bool whole = rest.empty() && fields.size() >= 2 && fields.size() % 2 == 0;
    if (!whole || fields[0] != target || fields[1] != identity) return std::nullopt;
    TreeManifest out;
    for (std::size_t i = 2; i < fields.size(); i += 2) {
        out.emplace(fields[i], fields[i + 1]);
    }
    return out;
}

}  // namespace bunraku::module
