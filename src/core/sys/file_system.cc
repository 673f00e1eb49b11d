// The machine's own files, by system calls.
#include "core/sys/file_system.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/sys/descriptor.h"

namespace bunraku::sys {

namespace {

/// Ruby's text for a failed system call.
std::unexpected<base::Error> system_failure(int error, std::string_view call,
                                            const std::string& path) {
    std::array<char, 128> buffer{};
    const char* text = strerror_r(error, buffer.data(), buffer.size());
    return base::failure(fmt::format("{} @ {} - {}", text, call, path), error);
}

int open_retrying(const std::string& path, int flags, mode_t mode = 0) {
    return retrying([&] { return ::open(path.c_str(), flags | O_CLOEXEC, mode); });
}

FileStatus convert(const struct ::stat& st) {
    FileStatus s;
    switch (st.st_mode & S_IFMT) {
        case S_IFDIR: s.kind = FileKind::Directory; break;
        case S_IFLNK: s.kind = FileKind::Link; break;
        case S_IFIFO: s.kind = FileKind::Fifo; break;
        case S_IFSOCK: s.kind = FileKind::Socket; break;
        case S_IFCHR: s.kind = FileKind::Character; break;
        case S_IFBLK: s.kind = FileKind::Block; break;
        default: s.kind = FileKind::File;
    }
    s.mode = st.st_mode & 07777;
    s.uid = st.st_uid;
    s.gid = st.st_gid;
    s.size = static_cast<std::uint64_t>(st.st_size);
    s.inode = st.st_ino;
    s.device = st.st_dev;
    s.links = st.st_nlink;
    auto ns = [](const timespec& t) { return t.tv_sec * 1'000'000'000LL + t.tv_nsec; };
    s.mtime_ns = ns(st.st_mtim);
    s.ctime_ns = ns(st.st_ctim);
    s.atime_ns = ns(st.st_atim);
    return s;
}

bool has_nul(const std::string& path) { return path.find('\0') != std::string::npos; }

class FileReader final : public Reader {
public:
    FileReader(int fd, std::string path) : file_(fd), path_(std::move(path)) {}
    Result<std::size_t> read(std::span<char> into) override {
        const ssize_t n = retrying([&] { return ::read(file_.get(), into.data(), into.size()); });
        if (n < 0) return system_failure(errno, "io_fread", path_);
        return static_cast<std::size_t>(n);
    }

private:
    Descriptor file_;
    std::string path_;
};

class RealFileSystem final : public FileSystem {
public:
    Result<FileStatus> stat(const std::string& path) override {
        struct ::stat st{};
        if (has_nul(path)) return system_failure(EINVAL, "rb_file_s_stat", path);
        if (retrying([&] { return ::stat(path.c_str(), &st); }) != 0)
            return system_failure(errno, "rb_file_s_stat", path);
        return convert(st);
    }
    Result<FileStatus> lstat(const std::string& path) override {
        struct ::stat st{};
        if (has_nul(path)) return system_failure(EINVAL, "rb_file_s_lstat", path);
        if (retrying([&] { return ::lstat(path.c_str(), &st); }) != 0)
            return system_failure(errno, "rb_file_s_lstat", path);
        return convert(st);
    }
    Result<std::string> read(const std::string& path) override {
        std::string content;
        BUNRAKU_TRY_VOID(each_chunk(path, &content, [&](std::string_view part) {
            content += part;
            return true;
        }));
        return content;
    }
    Result<void> read_chunks(const std::string& path,
                             const std::function<bool(std::string_view)>& chunk) override {
        return each_chunk(path, nullptr, chunk);
    }
    Result<std::unique_ptr<Reader>> open(const std::string& path) override {
        if (has_nul(path)) return system_failure(EINVAL, "rb_sysopen", path);
        const int fd = open_retrying(path, O_RDONLY);
        if (fd < 0) return system_failure(errno, "rb_sysopen", path);
        return std::make_unique<FileReader>(fd, path);
    }
    Result<std::string> read_link(const std::string& path) override {
        std::array<char, 4096> buffer{};
        const ssize_t n =
            retrying([&] { return ::readlink(path.c_str(), buffer.data(), buffer.size()); });
        if (n < 0) return system_failure(errno, "rb_readlink", path);
        return std::string(buffer.data(), static_cast<std::size_t>(n));
    }
    Result<std::vector<std::string>> list(const std::string& path) override {
        DIR* dir;
        do dir = ::opendir(path.c_str());
        while (!dir && errno == EINTR);
        if (!dir) return system_failure(errno, "dir_initialize", path);
        std::vector<std::string> names;
        for (;;) {
            errno = 0;
            const dirent* entry = ::readdir(dir);
            if (!entry && errno == EINTR) continue;
            if (!entry) break;
            std::string_view name = entry->d_name;
            if (name != "." && name != "..") names.emplace_back(name);
        }
        int error = errno;
        ::closedir(dir);
        if (error != 0) return system_failure(error, "dir_read", path);
        std::sort(names.begin(), names.end());
        return names;
    }
    Result<std::string> real_path(const std::string& path) override {
        char* resolved;
        do resolved = ::realpath(path.c_str(), nullptr);
        while (!resolved && errno == EINTR);
        if (!resolved) return system_failure(errno, "rb_realpath_internal", path);
        std::string text = resolved;
        std::free(resolved);
        return text;
    }
    bool access(const std::string& path, int how) override {
        return retrying([&] { return ::faccessat(AT_FDCWD, path.c_str(), how, AT_EACCESS); }) == 0;
    }

    Result<void> write(const std::string& path, std::string_view content,
                       std::uint32_t mode) override {
        return put(path, content, mode, O_TRUNC);
    }
    Result<void> append(const std::string& path, std::string_view content,
                        std::uint32_t mode) override {
        return put(path, content, mode, O_APPEND);
    }
    Result<void> replace_from(const std::string& path, const Fill& fill,
                              const WriteOptions& options) override {
        return replace_with(path, options, fill);
    }
    Result<void> make_directory(const std::string& path, std::uint32_t mode) override {
        return done([&] { return ::mkdir(path.c_str(), mode); }, "dir_s_mkdir", path);
    }
    Result<void> make_link(const std::string& target, const std::string& path) override {
        return done([&] { return ::symlink(target.c_str(), path.c_str()); }, "rb_file_s_symlink",
                    fmt::format("({}, {})", target, path));
    }
    Result<void> rename(const std::string& from, const std::string& to) override {
        return done([&] { return ::rename(from.c_str(), to.c_str()); }, "rb_file_s_rename",
                    fmt::format("({}, {})", from, to));
    }
    Result<void> remove(const std::string& path) override {
        return done([&] { return ::unlink(path.c_str()); }, "apply2files", path);
    }
    Result<void> remove_directory(const std::string& path) override {
        return done([&] { return ::rmdir(path.c_str()); }, "dir_s_rmdir", path);
    }
    Result<void> set_mode(const std::string& path, std::uint32_t mode) override {
        return done([&] { return ::chmod(path.c_str(), mode); }, "apply2files", path);
    }
    Result<void> set_owner(const std::string& path, std::optional<std::uint32_t> uid,
                           std::optional<std::uint32_t> gid, bool follow) override {
        constexpr auto kKeep = static_cast<std::uint32_t>(-1);
        const auto call = [&] {
            return ::fchownat(AT_FDCWD, path.c_str(), uid.value_or(kKeep), gid.value_or(kKeep),
                              follow ? 0 : AT_SYMLINK_NOFOLLOW);
        };
        return done(call, "apply2files", path);
    }
    Result<void> set_mtime(const std::string& path, std::int64_t mtime_ns) override {
        timespec times[2] = {{0, UTIME_OMIT}, {mtime_ns / 1'000'000'000, mtime_ns % 1'000'000'000}};
        return done([&] { return ::utimensat(AT_FDCWD, path.c_str(), times, 0); }, "apply2files",
                    path);
    }

private:
    template <class Call>
    static Result<void> done(const Call& call, std::string_view name, const std::string& path) {
        if (retrying(call) != 0) return system_failure(errno, name, path);
        return {};
    }
    template <class F>
    static Result<void> each_chunk(const std::string& path, std::string* reserve, const F& chunk) {
        if (has_nul(path)) return system_failure(EINVAL, "rb_sysopen", path);
        Descriptor in(open_retrying(path, O_RDONLY));
        if (!in.good()) return system_failure(errno, "rb_sysopen", path);
        if (struct ::stat st{}; reserve && ::fstat(in.get(), &st) == 0 && st.st_size > 0) {
            reserve->reserve(static_cast<std::size_t>(st.st_size));
        }
        std::array<char, 65536> buffer;
        for (;;) {
            const ssize_t n =
                retrying([&] { return ::read(in.get(), buffer.data(), buffer.size()); });
            if (n == 0) return {};
            if (n < 0) return system_failure(errno, "io_fread", path);
            if (!chunk(std::string_view(buffer.data(), static_cast<std::size_t>(n)))) return {};
        }
    }
    static Result<void> put(const std::string& path, std::string_view content, std::uint32_t mode,
                            int how) {
        if (has_nul(path)) return system_failure(EINVAL, "rb_sysopen", path);
        Descriptor out(open_retrying(path, O_WRONLY | O_CREAT | how, mode));
        if (!out.good()) return system_failure(errno, "rb_sysopen", path);
        if (int e = write_all(out.get(), content)) return system_failure(e, "io_write", path);
        if (out.close() != 0) return system_failure(errno, "io_write", path);
        return {};
    }
    /// Removed again where it does not come to its name.
    struct Temporary {
        std::string path;
        bool made = false;
        ~Temporary() {
            if (made) ::unlink(path.c_str());
        }
    };
    /// A new file beside `path`, filled, given its owner and mode, then renamed over it.
    static Result<void> replace_with(const std::string& path, const WriteOptions& options,
                                     const Fill& fill) {
        static std::atomic<unsigned> counter{0};
        if (has_nul(path)) return system_failure(EINVAL, "rb_sysopen", path);
        Temporary temporary;
        int fd = -1;
        // Without a mode it is as the process's umask has it, which only the kernel can ask for
        // without changing it for other threads.
        const mode_t first = options.mode ? 0600 : 0666;
        for (int attempt = 0; attempt < 100 && fd < 0; ++attempt) {
            temporary.path = fmt::format("{}/.{}{}.{}", directory_name(path),
                                         base_name(path).substr(0, 200), ::getpid(), counter++);
            fd = open_retrying(temporary.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, first);
            if (fd < 0 && errno != EEXIST) return system_failure(errno, "rb_sysopen", path);
        }
        Descriptor out(fd);
        if (!out.good()) return system_failure(EEXIST, "rb_sysopen", path);
        temporary.made = true;
        BUNRAKU_TRY_VOID(fill([&](std::string_view part) -> Result<void> {
            if (int e = write_all(out.get(), part)) return system_failure(e, "io_write", path);
            return {};
        }));
        int error = 0;
        if (options.uid || options.gid) {
            constexpr auto kKeep = static_cast<std::uint32_t>(-1);
            const auto call = [&] {
                return ::fchown(out.get(), options.uid.value_or(kKeep),
                                options.gid.value_or(kKeep));
            };
            if (retrying(call) != 0) error = errno;
        }
        // After chown, which clears the set-id bits.
        const auto then = [&](const auto& call) {
            if (error == 0 && retrying(call) != 0) error = errno;
        };
        if (options.mode) then([&] { return ::fchmod(out.get(), *options.mode); });
        if (options.sync) then([&] { return ::fsync(out.get()); });
        if (out.close() != 0 && error == 0) error = errno;
        then([&] { return ::rename(temporary.path.c_str(), path.c_str()); });
        if (error != 0) return system_failure(error, "rb_file_s_rename", path);
        temporary.made = false;
        if (options.sync) {
            Descriptor folder(
                open_retrying(std::string(directory_name(path)), O_RDONLY | O_DIRECTORY));
            if (folder.good()) ::fsync(folder.get());
        }
        return {};
    }
};

}  // namespace

std::unique_ptr<FileSystem> make_real_file_system() { return std::make_unique<RealFileSystem>(); }

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
    // Of links in a circle and of names that no file can have it is as certain.
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
    // An own stack: how deep folders nest is up to whoever made them.
    std::vector<std::pair<std::string, bool>> todo{{path, false}};
    while (!todo.empty()) {
        auto [current, emptied] = todo.back();
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

/// Whether it begins at the root, and nothing in it has to be worked out.
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
            std::array<char, 4096> buffer{};
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
    return out.empty() ? "/" : out;
}

}  // namespace bunraku::sys
