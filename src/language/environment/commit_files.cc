// SPDX-License-Identifier: Apache-2.0
#include "language/environment/commit_files.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <exception>
#include <fmt/format.h>
#include <glob.h>
#include <map>
#include <mutex>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unordered_map>
#include <utility>

#include "core/base/assert.h"
#include "core/base/number.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "core/sys/process.h"

namespace bunraku::environment {

namespace {

base::Error failed(int number, const std::string& path) {
    return base::Error{std::string(std::strerror(number)) + " @ rb_sysopen - " + path, number};
}

sys::Command git_command(std::vector<std::string> arguments) {
    sys::Command out;
    // Hooks and monitors that the repository configures must not run.
    out.argv = {"git", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"};
    out.argv.insert(out.argv.end(), std::make_move_iterator(arguments.begin()),
                    std::make_move_iterator(arguments.end()));
    out.environment = {{"GIT_TERMINAL_PROMPT", "0"},     {"LC_ALL", "C"},
                       {"GIT_OPTIONAL_LOCKS", "0"},      {"GIT_NO_LAZY_FETCH", "1"},
                       {"GIT_DIR", std::nullopt},        {"GIT_WORK_TREE", std::nullopt},
                       {"GIT_INDEX_FILE", std::nullopt}, {"GIT_OBJECT_DIRECTORY", std::nullopt}};
    out.output_limit = std::size_t{1} << 30;
    out.timeout = std::chrono::minutes(5);
    return out;
}

/// Runs git and returns its output. The error is git's error output.
base::Result<std::string> git(std::vector<std::string> arguments) {
    auto out = sys::make_real_processes()->run(git_command(std::move(arguments)));
    if (!out) return base::failure("Could not run git: " + out.error().message);
    if (!out->ok()) {
        std::string error_text(base::trim(out->errors));
        return base::failure(error_text.empty() ? fmt::format("git ended with {}", out->status)
                                                : error_text);
    }
    return std::move(out->output);
}

/// A running `git cat-file --batch` that answers one request at a time.
class ObjectReader {
public:
    explicit ObjectReader(std::string repository) : repository_(std::move(repository)) {}
    ObjectReader(const ObjectReader&) = delete;
    ObjectReader& operator=(const ObjectReader&) = delete;
    ~ObjectReader() { close(); }

    base::Result<std::string> read(const std::string& id) {
        const std::lock_guard lock(mutex_);
        if (fd_ < 0) BUNRAKU_TRY_VOID(start());
        if (auto content = ask(id)) return std::move(*content);
        close();
        // git ends at a damaged object and reports the reason only in a separate run.
        return git({"-C", repository_, "cat-file", "blob", id});
    }

private:
    base::Result<void> start() {
        BUNRAKU_ASSERT(fd_ < 0 && pid_ < 0 && begin_ == end_);
        int pair[2];
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
            return base::failure(std::string("Could not run git: ") + std::strerror(errno), errno);
        auto command = git_command({"-C", repository_, "cat-file", "--batch"});
        const std::vector<std::string> shell = {"/bin/sh", "-c", "exec \"$@\" <&3 >&3 3>&-", "sh"};
        command.argv.insert(command.argv.begin(), shell.begin(), shell.end());
        command.channel = pair[1];
        auto pid = sys::make_real_processes()->start(command);
        ::close(pair[1]);
        if (!pid) {
            ::close(pair[0]);
            return base::failure("Could not run git: " + pid.error().message);
        }
        // The timeout keeps a hanging file system from blocking this process.
        const timeval most{.tv_sec = 60, .tv_usec = 0};
        ::setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
        fd_ = pair[0];
        pid_ = *pid;
        return {};
    }

    /// Returns nullopt if git has ended or does not have the object.
    std::optional<std::string> ask(const std::string& id) {
        BUNRAKU_ASSERT(fd_ >= 0 && pid_ > 0);
        const std::string line = id + "\n";
        if (::send(fd_, line.data(), line.size(), MSG_NOSIGNAL) !=
            static_cast<ssize_t>(line.size()))
            return std::nullopt;
        std::string head;
        for (char c = 0; c != '\n'; head += c)
            if (!fill(&c, 1)) return std::nullopt;
        // The line is "ID blob SIZE" or "ID missing".
        const auto words = base::words(head, " \n");
        if (words.size() != 3 || words[1] != "blob") return std::nullopt;
        const auto size = base::parse_integer<std::size_t>(words[2]);
        if (!size) return std::nullopt;
        std::string content(*size + 1, '\0');  // One more byte for the newline.
        if (!fill(content.data(), content.size())) return std::nullopt;
        content.pop_back();
        return content;
    }

    bool fill(char* into, std::size_t size) {
        while (size > 0) {
            BUNRAKU_ASSERT(begin_ <= end_ && end_ <= buffer_.size());
            if (begin_ < end_) {
                const auto part = std::min(size, end_ - begin_);
                std::copy_n(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_), part, into);
                begin_ += part;
                into += part;
                size -= part;
                continue;
            }
            const auto n = ::recv(fd_, buffer_.data(), buffer_.size(), 0);
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) return false;
            BUNRAKU_ASSERT(begin_ == end_);
            begin_ = 0;
            end_ = static_cast<std::size_t>(n);
        }
        return true;
    }

    void close() {
        if (fd_ >= 0) ::close(fd_);
        fd_ = -1;
        begin_ = end_ = 0;
        if (pid_ > 0) {
            ::kill(-pid_, SIGKILL);
            while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
            }
        }
        pid_ = -1;
    }

    const std::string repository_;
    std::mutex mutex_;
    int fd_ = -1, pid_ = -1;
    std::array<char, 16 * 1024> buffer_;
    std::size_t begin_ = 0, end_ = 0;  ///< Unread part of the buffer.
};

struct Entry {
    /// Installed: a folder on the disk whose content a Puppetfile defines, not the repository.
    enum class Kind : std::uint8_t { Folder, File, Link, Submodule, Installed } kind = Kind::Folder;
    std::string id;
    /// Index of the repository that has the object: 0 for the main one, else a submodule.
    std::uint16_t repository = 0;
    bool program = false;
    std::vector<std::string> names;  ///< Names in a folder, sorted.
};

class Commit final : public CommitFiles {
public:
    Commit(std::string root, const std::vector<std::string>& repositories, std::string commit,
           std::unordered_map<std::string, Entry> entries)
        : root_(std::move(root)), commit_(std::move(commit)), entries_(std::move(entries)) {
        for (const auto& repository : repositories)
            objects_.push_back(std::make_unique<ObjectReader>(repository));
    }
    ~Commit() override {
        if (written_files_) (void)sys::disk().remove_all(written_files_->place);
    }

    const std::string& root() const override { return root_; }
    std::string version() const override { return commit_; }
    std::vector<std::string> submodules() const override { return paths(Entry::Kind::Submodule); }
    std::vector<std::string> installed() const override { return paths(Entry::Kind::Installed); }

    base::Result<std::string> read(const std::string& path) const override {
        const ResolvedPath place = find(path, true);
        switch (place.what) {
            case ResolvedPath::Elsewhere: return disk_files()->read(place.path);
            case ResolvedPath::OutsideLink: return base::failure(outside_link_error(place), EXDEV);
            case ResolvedPath::Missing: return std::unexpected(failed(place.error, path));
            case ResolvedPath::InSubmodule:
                return base::failure(
                    fmt::format("{} is in the submodule {}: commit {} does not hold its files",
                                path, place.path, commit_),
                    ENOENT);
            case ResolvedPath::Here: break;
        }
        BUNRAKU_ASSERT(place.entry);
        if (place.entry->kind != Entry::Kind::File) return std::unexpected(failed(EISDIR, path));
        auto content = object(*place.entry);
        if (!content) {
            return base::failure(fmt::format("Could not read {} of commit {}: {}", path, commit_,
                                             content.error().message),
                                 EIO);
        }
        return content;
    }
    Stamp stat(const std::string& path) const override {
        const ResolvedPath place = look(path, true);
        if (place.what == ResolvedPath::Elsewhere) return disk_files()->stat(place.path);
        if (place.what != ResolvedPath::Here) return {};
        Stamp out;
        out.exists = true;
        out.directory = place.entry->kind != Entry::Kind::File;
        // Different contents have different ids.
        out.inode =
            base::parse_integer<std::uint64_t>(std::string_view(place.entry->id).substr(0, 16), 16)
                .value_or(0);
        return out;
    }
    bool is_real_folder(const std::string& path) const override {
        const ResolvedPath place = look(path, false);
        if (place.what == ResolvedPath::Elsewhere) return disk_files()->is_real_folder(place.path);
        return place.what == ResolvedPath::Here && (place.entry->kind == Entry::Kind::Folder ||
                                                    place.entry->kind == Entry::Kind::Submodule);
    }
    std::vector<std::string> list(const std::string& path) const override {
        const ResolvedPath place = look(path, true);
        if (place.what == ResolvedPath::Elsewhere) return disk_files()->list(place.path);
        return place.what == ResolvedPath::Here ? place.entry->names : std::vector<std::string>();
    }
    std::optional<std::string> link(const std::string& path) const override {
        const ResolvedPath place = look(path, false);
        if (place.what == ResolvedPath::Elsewhere) return disk_files()->link(place.path);
        if (place.what != ResolvedPath::Here || place.entry->kind != Entry::Kind::Link)
            return std::nullopt;
        return target_of(*place.entry);
    }
    std::vector<std::string> glob(const std::string& pattern) const override {
        // glob(3) matches the pattern on the folders of the commit. The C library passes no context
        // to its callbacks and cannot pass on exceptions, hence the thread-local pointer.
        struct GlobContext {
            const Commit& commit;
            std::exception_ptr error;
            Stamp stat(const char* path) {
                try {
                    return commit.stat(path);
                } catch (...) {
                    error = std::current_exception();
                    return {};
                }
            }
        };
        struct Open {
            std::vector<std::string> names;
            std::size_t at = 0;
            dirent entry{};
        };
        static thread_local GlobContext* glob_context = nullptr;
        GlobContext own{*this, nullptr};
        GlobContext* const before = std::exchange(glob_context, &own);
        glob_t found{};
        found.gl_opendir = [](const char* path) -> void* {
            try {
                if (glob_context->stat(path).directory)
                    return new Open{glob_context->commit.list(path), 0, {}};
            } catch (...) {
                glob_context->error = std::current_exception();
            }
            errno = ENOENT;
            return nullptr;
        };
        found.gl_readdir = [](void* opened) -> dirent* {
            auto& open = *static_cast<Open*>(opened);
            BUNRAKU_ASSERT(open.at <= open.names.size());
            if (open.at == open.names.size()) return nullptr;
            const std::string& name = open.names[open.at++];
            open.entry.d_ino = 1;
            open.entry.d_type = DT_UNKNOWN;
            const std::size_t size = std::min(name.size(), sizeof open.entry.d_name - 1);
            std::memcpy(open.entry.d_name, name.data(), size);
            open.entry.d_name[size] = '\0';
            return &open.entry;
        };
        found.gl_closedir = [](void* opened) { delete static_cast<Open*>(opened); };
        found.gl_stat = [](const char* path, struct stat* into) {
            const Stamp stamp = glob_context->stat(path);
            *into = {};
            into->st_mode = stamp.directory ? S_IFDIR : S_IFREG;
            if (!stamp.exists) errno = ENOENT;
            return stamp.exists ? 0 : -1;
        };
        // lstat also finds a dangling link.
        found.gl_lstat = [](const char* path, struct stat* into) {
            *into = {};
            into->st_mode = S_IFLNK;
            try {
                if (glob_context->commit.link(path)) return 0;
            } catch (...) {
                glob_context->error = std::current_exception();
                return -1;
            }
            const Stamp stamp = glob_context->stat(path);
            into->st_mode = stamp.directory ? S_IFDIR : S_IFREG;
            if (!stamp.exists) errno = ENOENT;
            return stamp.exists ? 0 : -1;
        };
        std::vector<std::string> out;
        if (::glob(pattern.c_str(), GLOB_BRACE | GLOB_ALTDIRFUNC, nullptr, &found) == 0)
            out.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
        ::globfree(&found);
        BUNRAKU_ASSERT(glob_context == &own);
        glob_context = before;
        if (own.error) std::rethrow_exception(own.error);
        return out;
    }
    const base::PathMapping* moved() const override {
        const std::lock_guard lock(written_files_mutex_);
        if (!written_files_) written_files_ = write_all_files();
        return &*written_files_;
    }

private:
    /// The result of resolving a path.
    struct ResolvedPath {
        enum What : std::uint8_t {
            Here,
            Missing,
            Elsewhere,
            OutsideLink,
            InSubmodule
        } what = Missing;
        const Entry* entry = nullptr;
        int error = ENOENT;       ///< For Missing.
        std::string path;         ///< The path on the disk, the link (LeadsOut) or the submodule.
        std::string link_target;  ///< For LeadsOut.
    };

    std::string outside_link_error(const ResolvedPath& place) const {
        return fmt::format("The link {} of commit {} leads out of the repository, to {}",
                           place.path, commit_, place.link_target);
    }
    base::Result<std::string> object(const Entry& entry) const {
        BUNRAKU_ASSERT(entry.repository < objects_.size());
        return objects_.at(entry.repository)->read(entry.id);
    }
    std::vector<std::string> paths(Entry::Kind kind) const {
        std::vector<std::string> out;
        for (const auto& [path, entry] : entries_)
            if (entry.kind == kind) out.push_back(path);
        std::ranges::sort(out);
        return out;
    }
    std::string absolute(const std::string& tree_path) const {
        return tree_path.empty() ? root_ : root_ + "/" + tree_path;
    }
    /// Writes all files of the commit to a new private folder.
    base::PathMapping write_all_files() const {
        auto& disk = sys::disk();
        std::string top = disk_files()->variable("TMPDIR").value_or("/tmp") + "/bunraku-XXXXXX";
        if (::mkdtemp(top.data()) == nullptr)
            throw base::plain_error(
                fmt::format("Could not create the folder {}: {}", top, std::strerror(errno)));
        base::PathMapping out{root_, top};
        std::vector<std::string_view> paths;
        for (const auto& [path, entry] : entries_)
            if (!path.empty()) paths.push_back(path);
        std::ranges::sort(paths);  // Folders before their content.
        for (const auto path : paths) {
            const Entry& entry = entries_.at(std::string(path));
            const auto there = fmt::format("{}/{}", top, path);
            auto done = [&]() -> base::Result<void> {
                using enum Entry::Kind;
                if (entry.kind == Folder || entry.kind == Submodule)
                    return disk.make_directory(there, 0700);
                if (entry.kind == Link) return disk.make_link(out.placed(target_of(entry)), there);
                if (entry.kind == Installed)
                    return disk.make_link(absolute(std::string(path)), there);
                return disk.write(there, BUNRAKU_TRY(object(entry)), entry.program ? 0700 : 0600);
            }();
            if (done) continue;
            (void)disk.remove_all(top);
            throw base::plain_error(
                fmt::format("Could not write {} of commit {} to a temporary folder: {}", path,
                            commit_, done.error().message));
        }
        return out;
    }
    ResolvedPath look(const std::string& path, bool follow) const {
        ResolvedPath out = find(path, follow);
        if (out.what == ResolvedPath::OutsideLink) throw base::plain_error(outside_link_error(out));
        return out;
    }
    std::string target_of(const Entry& link) const {
        BUNRAKU_ASSERT(link.kind == Entry::Kind::Link);
        {
            const std::lock_guard lock(targets_mutex_);
            if (auto it = targets_.find(link.id); it != targets_.end()) return it->second;
        }
        auto target = object(link);
        if (!target)
            throw base::plain_error(fmt::format("Could not read a link of commit {}: {}", commit_,
                                                target.error().message));
        const std::lock_guard lock(targets_mutex_);
        return targets_.emplace(link.id, std::move(*target)).first->second;
    }

    ResolvedPath find(const std::string& path, bool follow) const {
        constexpr int kMostLinks = 40;
        ResolvedPath out;
        const auto below = [&](std::string_view p) -> std::optional<std::string_view> {
            if (!p.starts_with(root_)) return std::nullopt;
            p.remove_prefix(root_.size());
            if (!p.empty() && p[0] != '/') return std::nullopt;
            return p;
        };
        const auto start = below(path);
        if (!start) {
            out.what = ResolvedPath::Elsewhere;
            out.path = path;
            return out;
        }
        std::vector<std::string> rest;  // Path segments to resolve, the next one last.
        const auto push = [&](std::string_view text) {
            const auto parts = base::split(text, '/');
            for (auto it = parts.rbegin(); it != parts.rend(); ++it)
                if (!it->empty() && *it != ".") rest.emplace_back(*it);
        };
        push(*start);
        std::string at;  // Path in the tree.
        const Entry* entry = &entries_.at("");
        std::string by_link, by_target;  // The last link that was followed, and its target.
        const auto on_disk = [&] {
            out.what = ResolvedPath::Elsewhere;
            out.path = absolute(at);
            for (auto it = rest.rbegin(); it != rest.rend(); ++it) out.path += "/" + *it;
            return out;
        };
        for (int links = 0; !rest.empty();) {
            if (entry->kind == Entry::Kind::Installed) return on_disk();
            const std::string name = std::move(rest.back());
            rest.pop_back();
            if (entry->kind == Entry::Kind::File) {
                out.error = ENOTDIR;
                return out;
            }
            if (entry->kind == Entry::Kind::Submodule) {
                out.what = ResolvedPath::InSubmodule;
                out.path = absolute(at);
                return out;
            }
            if (name == "..") {
                if (at.empty()) {
                    out.what =
                        by_link.empty() ? ResolvedPath::Elsewhere : ResolvedPath::OutsideLink;
                    out.path = by_link;
                    out.link_target = by_target;
                    if (by_link.empty()) {
                        out.path = sys::directory_name(root_);
                        for (auto it = rest.rbegin(); it != rest.rend(); ++it)
                            out.path += "/" + *it;
                    }
                    return out;
                }
                const auto slash = at.rfind('/');
                at.resize(slash == std::string::npos ? 0 : slash);
                entry = &entries_.at(at);
                continue;
            }
            BUNRAKU_ASSERT(!name.empty() && name != "." && entry->kind == Entry::Kind::Folder);
            const std::string folder = at;
            at += (at.empty() ? "" : "/") + name;
            const auto it = entries_.find(at);
            if (it == entries_.end()) return out;
            entry = &it->second;
            if (entry->kind != Entry::Kind::Link || (rest.empty() && !follow)) continue;
            if (++links > kMostLinks) {
                out.error = ELOOP;
                return out;
            }
            by_link = absolute(at);
            by_target = target_of(*entry);
            at = folder;
            if (by_target.starts_with('/')) {
                const auto inside = below(by_target);
                if (!inside) {
                    out.what = ResolvedPath::OutsideLink;
                    out.path = by_link;
                    out.link_target = by_target;
                    return out;
                }
                at.clear();
                push(*inside);
            } else {
                push(by_target);
            }
            entry = &entries_.at(at);
        }
        if (entry->kind == Entry::Kind::Installed) return on_disk();
        out.what = ResolvedPath::Here;
        out.entry = entry;
        return out;
    }

    const std::string root_, commit_;
    const std::unordered_map<std::string, Entry> entries_;
    std::vector<std::unique_ptr<ObjectReader>> objects_;
    mutable std::mutex targets_mutex_;
    mutable std::map<std::string, std::string> targets_;
    mutable std::mutex written_files_mutex_;
    mutable std::optional<base::PathMapping> written_files_;
};

/// Parses the lines of `git ls-tree -r -t -z`: "MODE TYPE ID\tPATH". Rejects paths that git itself
/// never writes, because a crafted tree could place files outside of the target folder.
base::Result<std::unordered_map<std::string, Entry>> entries_of(const std::string& commit,
                                                                std::string_view listing) {
    std::unordered_map<std::string, Entry> out;
    out[""].id = commit;
    for (const auto line : base::split(listing, '\0')) {
        const auto tab = line.find('\t');
        const auto words = base::words(line.substr(0, tab));
        if (tab == std::string_view::npos || words.size() != 3) continue;
        const std::string path(line.substr(tab + 1));
        Entry& entry = out[path];
        entry.id = words[2];
        entry.kind = words[1] == "tree"     ? Entry::Kind::Folder
                     : words[1] == "commit" ? Entry::Kind::Submodule
                     : words[0] == "120000" ? Entry::Kind::Link
                                            : Entry::Kind::File;
        entry.program = words[0] == "100755";
        const auto slash = path.rfind('/');
        out[slash == std::string::npos ? "" : path.substr(0, slash)].names.push_back(
            path.substr(slash == std::string::npos ? 0 : slash + 1));
    }
    for (auto& [path, entry] : out) {
        std::ranges::sort(entry.names);
        if (path.empty()) continue;
        const auto slash = path.rfind('/');
        const auto name = std::string_view(path).substr(slash == std::string::npos ? 0 : slash + 1);
        const auto parent = out.find(slash == std::string::npos ? "" : path.substr(0, slash));
        if (name.empty() || name == "." || name == ".." || base::same_ignoring_case(name, ".git") ||
            parent->second.kind != Entry::Kind::Folder) {
            return base::failure(
                fmt::format("commit {} contains the path '{}', which is not valid", commit, path));
        }
    }
    return out;
}

/// Adds the files of submodules, and of their submodules, if the submodule's repository is in the
/// working folder and contains the recorded commit.
void add_submodules(const std::string& root, std::unordered_map<std::string, Entry>& entries,
                    std::vector<std::string>& repositories) {
    std::vector<std::string> waiting;
    for (const auto& [path, entry] : entries)
        if (entry.kind == Entry::Kind::Submodule) waiting.push_back(path);
    std::ranges::sort(waiting);
    constexpr std::size_t kMost = 4096;
    while (!waiting.empty() && repositories.size() < kMost) {
        const std::string path = std::move(waiting.back());
        waiting.pop_back();
        const std::string folder = root + "/" + path, id = entries[path].id;
        // If the folder is not a repository, git uses the one that contains the folder.
        if (!disk_files()->stat(folder + "/.git").exists) continue;
        auto listing = git({"-C", folder, "ls-tree", "-r", "-t", "-z", "--full-tree", id});
        if (!listing) continue;
        auto below = entries_of(id, *listing);
        if (!below) continue;
        BUNRAKU_ASSERT(!repositories.empty());
        const auto number = static_cast<std::uint16_t>(repositories.size());
        repositories.push_back(folder);
        for (auto& [name, entry] : *below) {
            entry.repository = number;
            if (name.empty()) {
                entries[path] = std::move(entry);
                continue;
            }
            const std::string full = path + "/" + name;
            if (entry.kind == Entry::Kind::Submodule) waiting.push_back(full);
            entries[full] = std::move(entry);
        }
    }
}

/// Reports whether `path`, in the working folder, is a link to a folder outside of `root`.
bool leads_out(const std::string& root, const std::string& path) {
    if (!disk_files()->link(path) || !disk_files()->stat(path).directory) return false;
    char* real = ::realpath(path.c_str(), nullptr);
    char* real_root = ::realpath(root.c_str(), nullptr);
    const bool out =
        real && real_root && !(std::string(real) + "/").starts_with(std::string(real_root) + "/");
    std::free(real);
    std::free(real_root);
    return out;
}

/// Adds the folder `modules` of the working folder if the commit does not contain its content.
/// There are two such cases. In the first, an installer fills the folder from the Puppetfile next
/// to it; the commit then has no such folder, or only files in it whose names begin with a dot. In
/// the second, the folder is a link that leads out of the repository.
void add_installed(const std::string& root, const std::string& inside,
                   std::unordered_map<std::string, Entry>& entries) {
    const std::string start = inside.empty() ? "" : inside + "/", path = start + "modules";
    if (!entries.contains(inside)) return;
    const auto it = entries.find(path);
    const bool linked = leads_out(root, root + "/" + path);
    if (it != entries.end() && it->second.kind == Entry::Kind::Link) {
        if (linked) it->second = Entry{.kind = Entry::Kind::Installed};
        return;
    }
    if (!linked && !entries.contains(start + "Puppetfile")) return;
    if (it != entries.end() &&
        (it->second.kind != Entry::Kind::Folder ||
         !std::ranges::all_of(it->second.names, [](const auto& n) { return n[0] == '.'; })))
        return;
    if (!disk_files()->stat(root + "/" + path).directory) return;
    if (it != entries.end()) {
        for (const auto& name : it->second.names) {
            // An installer does not create folders whose names begin with a dot.
            if (entries[path + "/" + name].kind != Entry::Kind::File) return;
        }
        for (const auto& name : it->second.names) entries.erase(path + "/" + name);
    } else {
        auto& names = entries[inside].names;
        names.emplace_back("modules");
        std::ranges::sort(names);
    }
    entries[path] = Entry{.kind = Entry::Kind::Installed};
}

std::string line_of(std::string text) {
    if (text.ends_with('\n')) text.pop_back();
    return text;
}

/// Returns the path of the folder in its repository, and the id of the commit.
base::Result<std::pair<std::string, std::string>> prefix_and_commit(const std::string& folder,
                                                                    const std::string& revision) {
    const std::string wanted = revision + "^{commit}";
    // If the revision cannot be mistaken for an option or a range, one git command returns both.
    const bool plain = !revision.empty() && revision[0] != '-' &&
                       revision.find("..") == std::string::npos &&
                       std::ranges::all_of(revision, [](unsigned char c) {
                           return std::isalnum(c) || c == '.' || c == '_' || c == '/' || c == '-';
                       });
    if (plain) {
        if (auto both = git({"-C", folder, "rev-parse", "--show-prefix", wanted})) {
            std::string text = line_of(std::move(*both));
            const auto end = text.rfind('\n');
            if (end != std::string::npos)
                return std::pair(text.substr(0, end), text.substr(end + 1));
        }
    }
    auto prefix = git({"-C", folder, "rev-parse", "--show-prefix"});
    if (!prefix) {
        return base::failure(
            fmt::format("{} is not in a git repository: {}", folder, prefix.error().message));
    }
    auto commit =
        git({"-C", folder, "rev-parse", "--verify", "--quiet", "--end-of-options", wanted});
    if (!commit) {
        return base::failure(
            fmt::format("The git repository {} has no revision '{}'", folder, revision));
    }
    return std::pair(line_of(std::move(*prefix)), line_of(std::move(*commit)));
}

}  // namespace

base::Result<std::shared_ptr<const CommitFiles>> CommitFiles::open(const std::string& folder,
                                                                   const std::string& revision) {
    if (!disk_files()->stat(folder).directory)
        return base::failure(fmt::format("There is no folder {}", folder), ENOENT);
    auto [inside, id] = BUNRAKU_TRY(prefix_and_commit(folder, revision));
    auto listing = git({"-C", folder, "ls-tree", "-r", "-t", "-z", "--full-tree", id});
    if (!listing) {
        return base::failure(
            fmt::format("Could not read commit {} of {}: {}", id, folder, listing.error().message));
    }
    // The path of the repository's top, derived from the given path, so that symbolic links above
    // the top are preserved.
    std::string root = folder;
    while (root.size() > 1 && root.ends_with('/')) root.pop_back();
    while (inside.ends_with('/')) inside.pop_back();
    if (!inside.empty()) {
        if (!root.ends_with("/" + inside)) {
            return base::failure(
                fmt::format("{} is in the git repository through a symbolic link: specify its "
                            "own path",
                            folder));
        }
        root.resize(root.size() - inside.size() - 1);
    }
    auto entries = BUNRAKU_TRY(entries_of(id, *listing));
    std::vector<std::string> repositories = {folder};
    add_submodules(root, entries, repositories);
    add_installed(root, inside, entries);
    return std::make_shared<const Commit>(std::move(root), repositories, id, std::move(entries));
}

}  // namespace bunraku::environment
