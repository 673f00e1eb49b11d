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

#include "core/base/number.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/sys/file_system.h"
#include "core/sys/process.h"

namespace bunraku::environment {

namespace {

base::Error failed(int number, const std::string& path) {
    return base::Error{std::string(std::strerror(number)) + " @ rb_sysopen - " + path, number};
}

sys::Command git_command(std::vector<std::string> arguments) {
    sys::Command out;
    // Nothing that stands in the repository is run.
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

/// What git printed; the error is what it said.
base::Result<std::string> git(std::vector<std::string> arguments) {
    auto out = sys::make_real_processes()->run(git_command(std::move(arguments)));
    if (!out) return base::failure("git cannot be run: " + out.error().message);
    if (!out->ok()) {
        std::string said(base::trim(out->errors));
        return base::failure(said.empty() ? fmt::format("git ended with {}", out->status) : said);
    }
    return std::move(out->output);
}

/// `git cat-file --batch`, kept open. One question at a time.
class Objects {
public:
    explicit Objects(std::string repository) : repository_(std::move(repository)) {}
    Objects(const Objects&) = delete;
    Objects& operator=(const Objects&) = delete;
    ~Objects() { close(); }

    base::Result<std::string> read(const std::string& id) {
        const std::lock_guard lock(mutex_);
        if (fd_ < 0) BUNRAKU_TRY_VOID(start());
        if (auto content = ask(id)) return std::move(*content);
        close();
        // It ends at an object that is damaged, and says why elsewhere.
        return git({"-C", repository_, "cat-file", "blob", id});
    }

private:
    base::Result<void> start() {
        int pair[2];
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
            return base::failure(std::string("git cannot be run: ") + std::strerror(errno), errno);
        auto command = git_command({"-C", repository_, "cat-file", "--batch"});
        const std::vector<std::string> shell = {"/bin/sh", "-c", "exec \"$@\" <&3 >&3 3>&-", "sh"};
        command.argv.insert(command.argv.begin(), shell.begin(), shell.end());
        command.channel = pair[1];
        auto pid = sys::make_real_processes()->start(command);
        ::close(pair[1]);
        if (!pid) {
            ::close(pair[0]);
            return base::failure("git cannot be run: " + pid.error().message);
        }
        // A file system that hangs must not hang us for ever.
        const timeval most{.tv_sec = 60, .tv_usec = 0};
        ::setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
        fd_ = pair[0];
        pid_ = *pid;
        return {};
    }

    /// nullopt: it has ended, or does not have the object.
    std::optional<std::string> ask(const std::string& id) {
        const std::string line = id + "\n";
        if (::send(fd_, line.data(), line.size(), MSG_NOSIGNAL) !=
            static_cast<ssize_t>(line.size()))
            return std::nullopt;
        std::string head;
        for (char c = 0; c != '\n'; head += c)
            if (!fill(&c, 1)) return std::nullopt;
        // "ID blob SIZE", or "ID missing".
        const auto words = base::words(head, " \n");
        if (words.size() != 3 || words[1] != "blob") return std::nullopt;
        const auto size = base::parse_integer<std::size_t>(words[2]);
        if (!size) return std::nullopt;
        std::string content(*size + 1, '\0');  // and the end of its line
        if (!fill(content.data(), content.size())) return std::nullopt;
        content.pop_back();
        return content;
    }

    bool fill(char* into, std::size_t size) {
        while (size > 0) {
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
    std::size_t begin_ = 0, end_ = 0;  ///< of what was read ahead
};

struct Entry {
    /// Installed: a folder that the repository leaves to a Puppetfile; the disk's.
    enum class Kind : std::uint8_t { Folder, File, Link, Submodule, Installed } kind = Kind::Folder;
    std::string id;
    std::uint16_t repository = 0;  ///< which has the object: 0, or that of a submodule
    bool program = false;
    std::vector<std::string> names;  ///< of a folder, sorted
};

class Commit final : public CommitFiles {
public:
    Commit(std::string root, const std::vector<std::string>& repositories, std::string commit,
           std::unordered_map<std::string, Entry> entries)
        : root_(std::move(root)), commit_(std::move(commit)), entries_(std::move(entries)) {
        for (const auto& repository : repositories)
            objects_.push_back(std::make_unique<Objects>(repository));
    }
    ~Commit() override {
        if (laid_out_) (void)sys::make_real_file_system()->remove_all(laid_out_->place);
    }

    const std::string& root() const override { return root_; }
    std::string version() const override { return commit_; }
    std::vector<std::string> submodules() const override { return paths(Entry::Kind::Submodule); }
    std::vector<std::string> installed() const override { return paths(Entry::Kind::Installed); }

    base::Result<std::string> read(const std::string& path) const override {
        const Place place = find(path, true);
        switch (place.what) {
            case Place::Elsewhere: return disk_files()->read(place.path);
            case Place::LeadsOut: return base::failure(out_text(place), EXDEV);
            case Place::Missing: return std::unexpected(failed(place.error, path));
            case Place::InSubmodule:
                return base::failure(
                    fmt::format("{} is in the submodule {}: commit {} does not hold its files",
                                path, place.path, commit_),
                    ENOENT);
            case Place::Here: break;
        }
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
        const Place place = look(path, true);
        if (place.what == Place::Elsewhere) return disk_files()->stat(place.path);
        if (place.what != Place::Here) return {};
        Stamp out;
        out.exists = true;
        out.directory = place.entry->kind != Entry::Kind::File;
        // What has another content has another id.
        out.inode =
            base::parse_integer<std::uint64_t>(std::string_view(place.entry->id).substr(0, 16), 16)
                .value_or(0);
        return out;
    }
    bool is_real_folder(const std::string& path) const override {
        const Place place = look(path, false);
        if (place.what == Place::Elsewhere) return disk_files()->is_real_folder(place.path);
        return place.what == Place::Here && (place.entry->kind == Entry::Kind::Folder ||
                                             place.entry->kind == Entry::Kind::Submodule);
    }
    std::vector<std::string> list(const std::string& path) const override {
        const Place place = look(path, true);
        if (place.what == Place::Elsewhere) return disk_files()->list(place.path);
        return place.what == Place::Here ? place.entry->names : std::vector<std::string>();
    }
    std::optional<std::string> link(const std::string& path) const override {
        const Place place = look(path, false);
        if (place.what == Place::Elsewhere) return disk_files()->link(place.path);
        if (place.what != Place::Here || place.entry->kind != Entry::Kind::Link)
            return std::nullopt;
        return target_of(*place.entry);
    }
    std::vector<std::string> glob(const std::string& pattern) const override {
        // The C library's rules over our folders: it asks by functions that are given nothing else,
        // and that nothing may be thrown out of.
        struct Asking {
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
        static thread_local Asking* asking = nullptr;
        Asking own{*this, nullptr};
        Asking* const before = std::exchange(asking, &own);
        glob_t found{};
        found.gl_opendir = [](const char* path) -> void* {
            try {
                if (asking->stat(path).directory) return new Open{asking->commit.list(path), 0, {}};
            } catch (...) {
                asking->error = std::current_exception();
            }
            errno = ENOENT;
            return nullptr;
        };
        found.gl_readdir = [](void* opened) -> dirent* {
            auto& open = *static_cast<Open*>(opened);
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
            const Stamp stamp = asking->stat(path);
            *into = {};
            into->st_mode = stamp.directory ? S_IFDIR : S_IFREG;
            if (!stamp.exists) errno = ENOENT;
            return stamp.exists ? 0 : -1;
        };
        // A link that leads nowhere is there, too.
        found.gl_lstat = [](const char* path, struct stat* into) {
            *into = {};
            into->st_mode = S_IFLNK;
            try {
                if (asking->commit.link(path)) return 0;
            } catch (...) {
                asking->error = std::current_exception();
                return -1;
            }
            const Stamp stamp = asking->stat(path);
            into->st_mode = stamp.directory ? S_IFDIR : S_IFREG;
            if (!stamp.exists) errno = ENOENT;
            return stamp.exists ? 0 : -1;
        };
        std::vector<std::string> out;
        if (::glob(pattern.c_str(), GLOB_BRACE | GLOB_ALTDIRFUNC, nullptr, &found) == 0)
            out.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
        ::globfree(&found);
        asking = before;
        if (own.error) std::rethrow_exception(own.error);
        return out;
    }
    const base::PathMapping* moved() const override {
        const std::lock_guard lock(laid_out_mutex_);
        if (!laid_out_) laid_out_ = lay_out();
        return &*laid_out_;
    }

private:
    /// Where a path leads.
    struct Place {
        enum What : std::uint8_t { Here, Missing, Elsewhere, LeadsOut, InSubmodule } what = Missing;
        const Entry* entry = nullptr;
        int error = ENOENT;       ///< of Missing
        std::string path;         ///< on the disk; of LeadsOut the link; the submodule
        std::string link_target;  ///< of LeadsOut
    };

    std::string out_text(const Place& place) const {
        return fmt::format("The link {} of commit {} leads out of the repository, to {}",
                           place.path, commit_, place.link_target);
    }
    base::Result<std::string> object(const Entry& entry) const {
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
    /// All files, in a folder that is nobody else's.
    base::PathMapping lay_out() const {
        const auto disk = sys::make_real_file_system();
        std::string top = disk_files()->variable("TMPDIR").value_or("/tmp") + "/bunraku-XXXXXX";
        if (::mkdtemp(top.data()) == nullptr)
            throw base::plain_error(
                fmt::format("Could not make the folder {}: {}", top, std::strerror(errno)));
        base::PathMapping out{root_, top};
        std::vector<std::string_view> paths;
        for (const auto& [path, entry] : entries_)
            if (!path.empty()) paths.push_back(path);
        std::ranges::sort(paths);  // folders before what is in them
        for (const auto path : paths) {
            const Entry& entry = entries_.at(std::string(path));
            const auto there = fmt::format("{}/{}", top, path);
            auto done = [&]() -> base::Result<void> {
                using enum Entry::Kind;
                if (entry.kind == Folder || entry.kind == Submodule)
                    return disk->make_directory(there, 0700);
                if (entry.kind == Link) return disk->make_link(out.placed(target_of(entry)), there);
                if (entry.kind == Installed)
                    return disk->make_link(absolute(std::string(path)), there);
                return disk->write(there, BUNRAKU_TRY(object(entry)), entry.program ? 0700 : 0600);
            }();
            if (done) continue;
            (void)disk->remove_all(top);
            throw base::plain_error(fmt::format("Could not lay out {} of commit {}: {}", path,
                                                commit_, done.error().message));
        }
        return out;
    }
    Place look(const std::string& path, bool follow) const {
        Place out = find(path, follow);
        if (out.what == Place::LeadsOut) throw base::plain_error(out_text(out));
        return out;
    }
    std::string target_of(const Entry& link) const {
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

    Place find(const std::string& path, bool follow) const {
        constexpr int kMostLinks = 40;
        Place out;
        const auto below = [&](std::string_view p) -> std::optional<std::string_view> {
            if (!p.starts_with(root_)) return std::nullopt;
            p.remove_prefix(root_.size());
            if (!p.empty() && p[0] != '/') return std::nullopt;
            return p;
        };
        const auto start = below(path);
        if (!start) {
            out.what = Place::Elsewhere;
            out.path = path;
            return out;
        }
        std::vector<std::string> rest;  // the next one last
        const auto push = [&](std::string_view text) {
            const auto parts = base::split(text, '/');
            for (auto it = parts.rbegin(); it != parts.rend(); ++it)
                if (!it->empty() && *it != ".") rest.emplace_back(*it);
        };
        push(*start);
        std::string at;  // in the tree
        const Entry* entry = &entries_.at("");
        std::string by_link, by_target;  // the last one that was followed
        const auto on_disk = [&] {
            out.what = Place::Elsewhere;
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
                out.what = Place::InSubmodule;
                out.path = absolute(at);
                return out;
            }
            if (name == "..") {
                if (at.empty()) {
                    out.what = by_link.empty() ? Place::Elsewhere : Place::LeadsOut;
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
                    out.what = Place::LeadsOut;
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
        out.what = Place::Here;
        out.entry = entry;
        return out;
    }

    const std::string root_, commit_;
    const std::unordered_map<std::string, Entry> entries_;
    std::vector<std::unique_ptr<Objects>> objects_;
    mutable std::mutex targets_mutex_;
    mutable std::map<std::string, std::string> targets_;
    mutable std::mutex laid_out_mutex_;
    mutable std::optional<base::PathMapping> laid_out_;
};

/// What the lines of `git ls-tree -r -t -z` say: "MODE TYPE ID\tPATH". A tree that no git writes,
/// made to have its files laid out elsewhere, is refused.
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
                fmt::format("commit {} has the path '{}', which no tree may have", commit, path));
        }
    }
    return out;
}

/// The files of submodules whose repositories lie in the working folder and have the commit that is
/// asked for; of their submodules, too.
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
        // Without a repository of its own git would answer for the one around it.
        if (!disk_files()->stat(folder + "/.git").exists) continue;
        auto listing = git({"-C", folder, "ls-tree", "-r", "-t", "-z", "--full-tree", id});
        if (!listing) continue;
        auto below = entries_of(id, *listing);
        if (!below) continue;
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

/// Whether a path of the working folder is a link to a folder outside of `root`.
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

/// Adds the folder `modules` of the working folder where a commit does not hold what is in it: an
/// installer fills it beside a Puppetfile (the repository holds nothing of it, or files whose names
/// begin with a dot), or it is a link that leads out of the repository.
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
            // Folders of nothing but dots do not come out of an installer.
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

/// Where the folder is in its repository, and the id of the commit.
base::Result<std::pair<std::string, std::string>> place_and_commit(const std::string& folder,
                                                                   const std::string& revision) {
    const std::string wanted = revision + "^{commit}";
    // What cannot be taken for anything else is asked for in one.
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
            fmt::format("{} is in no git repository: {}", folder, prefix.error().message));
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
    auto [inside, id] = BUNRAKU_TRY(place_and_commit(folder, revision));
    auto listing = git({"-C", folder, "ls-tree", "-r", "-t", "-z", "--full-tree", id});
    if (!listing) {
        return base::failure(
            fmt::format("Could not read commit {} of {}: {}", id, folder, listing.error().message));
    }
    // The top of the repository as the folder names it: links above it stay.
    std::string root = folder;
    while (root.size() > 1 && root.ends_with('/')) root.pop_back();
    while (inside.ends_with('/')) inside.pop_back();
    if (!inside.empty()) {
        if (!root.ends_with("/" + inside)) {
            return base::failure(
                fmt::format("{} leads into the git repository by a link: it is to be named by its "
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
