// SPDX-License-Identifier: Apache-2.0
// Operations that every file system implements through its interface, and path functions.
#include "core/sys/file_system.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fmt/format.h>
#include <unistd.h>

#include "core/base/assert.h"
#include "core/base/uninitialized.h"

namespace bunraku::sys {

std::string_view file_kind_name(FileKind kind) {
    switch (kind) {
        case FileKind::File: return "file";
        case FileKind::Directory: return "directory";
        case FileKind::Link: return "link";
        case FileKind::Fifo: return "fifo";
        case FileKind::Socket: return "socket";
        case FileKind::Character: return "characterSpecial";
        case FileKind::Block: return "blockSpecial";
    }
    return "file";
}

bool is_absence(int error) { return error == ENOENT || error == ENOTDIR; }

Result<std::optional<FileStatus>> FileSystem::look(const std::string& path, bool follow) {
    auto status = follow ? stat(path) : lstat(path);
    if (status) return *status;
    if (is_absence(status.error().code)) return std::nullopt;
    return std::unexpected(std::move(status).error());
}

Result<bool> FileSystem::there(const std::string& path) {
    const auto status = look(path, true);
    if (status) return status->has_value();
    // Link cycles and impossible file names are certain absences too.
    const int code = status.error().code;
    if (code == ELOOP || code == ENAMETOOLONG) return false;
    return std::unexpected(status.error());
}

Result<std::optional<std::string>> FileSystem::read_if_there(const std::string& path) {
    auto text = read(path);
    if (text) return std::move(*text);
    if (is_absence(text.error().code)) return std::nullopt;
    return std::unexpected(std::move(text).error());
}

Result<void> FileSystem::replace_link(const std::string& target, const std::string& path) {
    std::string beside;
    for (int attempt = 0;; ++attempt) {
        beside = fmt::format("{}/.{}{}.{}", directory_name(path), base_name(path).substr(0, 200),
                             ::getpid(), attempt);
        auto made = make_link(target, beside);
        if (made) break;
        if (made.error().code != EEXIST || attempt == 100) return made;
    }
    auto renamed = rename(beside, path);
    if (!renamed) (void)remove(beside);
    return renamed;
}

bool FileSystem::is_directory(const std::string& path) {
    auto s = stat(path);
    return s && s->kind == FileKind::Directory;
}
bool FileSystem::is_file(const std::string& path) {
    auto s = stat(path);
    return s && s->kind == FileKind::File;
}

Result<void> pump(Reader& reader, const Write& write) {
    std::vector<char> buffer(65536);
    for (;;) {
        const std::size_t n = BUNRAKU_TRY(reader.read(buffer));
        BUNRAKU_ASSERT(n <= buffer.size());
        if (n == 0) return {};
        BUNRAKU_TRY_VOID(write({buffer.data(), n}));
    }
}

Result<void> FileSystem::replace(const std::string& path, std::string_view content,
                                 const WriteOptions& options) {
    return replace_from(path, [&](const Write& write) { return write(content); }, options);
}

Result<void> FileSystem::copy(const std::string& from, const std::string& to,
                              const WriteOptions& options) {
    auto reader = BUNRAKU_TRY(open(from));
    return replace_from(to, [&](const Write& write) { return pump(*reader, write); }, options);
}

Result<void> FileSystem::make_directories(const std::string& path, std::uint32_t mode) {
    if (is_directory(path)) return {};
    std::string parent(directory_name(path));
    if (parent != path && parent != "." && !parent.empty()) {
        BUNRAKU_TRY_VOID(make_directories(parent, mode));
    }
    auto made = make_directory(path, mode);
    if (!made && made.error().code == EEXIST && is_directory(path)) return {};
    return made;
}

Result<void> FileSystem::remove_all(const std::string& path) {
    const auto status = BUNRAKU_TRY(look(path));
    if (!status) return {};
    if (status->kind != FileKind::Directory) return remove(path);
    // An explicit stack, because other users decide how deeply folders nest.
    std::vector<std::pair<std::string, bool>> todo{{path, false}};
    while (!todo.empty()) {
        auto [current, emptied] = todo.back();
        BUNRAKU_ALWAYS_ASSERT(current.starts_with(path));
        if (emptied) {
            todo.pop_back();
            BUNRAKU_TRY_VOID(remove_directory(current));
            continue;
        }
        todo.back().second = true;
        for (const std::string& name : BUNRAKU_TRY(list(current))) {
            std::string child = join(current, name);
            auto st = BUNRAKU_TRY(lstat(child));
            if (st.kind == FileKind::Directory) {
                todo.emplace_back(std::move(child), false);
            } else {
                BUNRAKU_TRY_VOID(remove(child));
            }
        }
    }
    return {};
}

std::string_view base_name(base::TextView path) {
    while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
    BUNRAKU_ASSERT(path.size() < 2 || path.back() != '/');
    std::size_t slash = path.rfind('/');
    if (slash == std::string_view::npos || path.size() == 1) return path;
    return path.substr(slash + 1);
}

std::string_view directory_name(base::TextView path) {
    while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
    std::size_t slash = path.rfind('/');
    if (slash == std::string_view::npos) return ".";
    while (slash > 0 && path[slash - 1] == '/') --slash;
    return slash == 0 ? path.substr(0, 1) : path.substr(0, slash);
}

std::string join(std::string_view directory, std::string_view name) {
    if (directory.empty() || name.starts_with('/')) return std::string(name);
    std::string out(directory);
    if (out.back() != '/') out += '/';
    out += name;
    return out;
}

namespace {

/// Reports whether the path is absolute and needs no expansion.
bool expanded(std::string_view path) {
    if (path.empty() || path[0] != '/') return false;
    for (std::size_t at = 0; at != std::string_view::npos; at = path.find('/', at + 1)) {
        const std::string_view rest = path.substr(at + 1);
        if (rest.empty() || rest[0] == '/') return path.size() == 1;
        if (rest[0] != '.') continue;
        const std::string_view name = rest.substr(0, rest.find('/'));
        if (name == "." || name == "..") return false;
    }
    return true;
}

}  // namespace

std::string expand_path(std::string_view path, std::string_view base) {
    if (expanded(path)) return std::string(path);
    std::string whole;
    if (path == "~" || path.starts_with("~/")) {
        const char* home = std::getenv("HOME");
        whole = std::string(home ? home : "/") + std::string(path.substr(1));
    } else if (path.starts_with('/')) {
        whole = path;
    } else {
        std::string from(base);
        if (from.empty()) {
            std::array<char, 4096> buffer BUNRAKU_UNINITIALIZED;
            from = ::getcwd(buffer.data(), buffer.size()) ? buffer.data() : "/";
        }
        whole = join(from, path);
    }
    std::vector<std::string_view> parts;
    std::string_view rest = whole;
    while (!rest.empty()) {
        std::size_t slash = rest.find('/');
        std::string_view part = rest.substr(0, slash);
        rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
        if (part.empty() || part == ".") continue;
        if (part == "..") {
            if (!parts.empty()) parts.pop_back();
        } else {
            parts.push_back(part);
        }
    }
    std::string out;
    for (std::string_view part : parts) out.append("/").append(part);
    if (out.empty()) out = "/";
    BUNRAKU_ASSERT(expanded(out));
    return out;
}

}  // namespace bunraku::sys
