// SPDX-License-Identifier: Apache-2.0
#include "testing/fake.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>

namespace bunraku::sys {

namespace {

std::unexpected<base::Error> failed(int error, std::string_view call, const std::string& path) {
    return base::failure(fmt::format("{} @ {} - {}", std::strerror(error), call, path), error);
}

}  // namespace

MemoryFileSystem::MemoryFileSystem() {
    Node root;
    root.status.kind = FileKind::Directory;
    root.status.mode = 0755;
    root.status.inode = 1;
    nodes_.emplace("/", root);
}

MemoryFileSystem::Node* MemoryFileSystem::find(const std::string& resolved) {
    auto it = nodes_.find(resolved);
    return it == nodes_.end() ? nullptr : &it->second;
}

Result<std::string> MemoryFileSystem::resolve(const std::string& path, bool follow_last,
                                              const char* call) {
    ++calls;
    if (calls_left_ >= 0 && calls_left_-- == 0) {
        if (--call_failures_ > 0) calls_left_ = 0;
        return failed(call_errno_, call, path);
    }
    std::string rest = expand_path(path, "/"), done = "/";
    int links = 0;
    while (rest.size() > 1) {
        std::size_t slash = rest.find('/', 1);
        std::string name = rest.substr(1, slash == std::string::npos ? slash : slash - 1);
        rest = slash == std::string::npos ? "" : rest.substr(slash);
        std::string next = join(done, name);
        Node* node = find(next);
        bool last = rest.size() <= 1;
        if (node && node->status.kind == FileKind::Link && (!last || follow_last)) {
            if (++links > 40) return failed(ELOOP, call, path);
            rest = expand_path(node->content, done) + rest;
            done = "/";
            continue;
        }
        if (!last && !node) return failed(ENOENT, call, path);
        if (!last && node->status.kind != FileKind::Directory) return failed(ENOTDIR, call, path);
        done = next;
    }
    return done;
}

Result<void> MemoryFileSystem::change(const char* call, const std::string& path) {
    if (fail_countdown_ >= 0 && fail_countdown_-- == 0) return failed(fail_errno_, call, path);
    ++changes;
    return {};
}

Result<MemoryFileSystem::Node*> MemoryFileSystem::create(const std::string& path, FileKind kind,
                                                         std::uint32_t mode, const char* call) {
    std::string at = BUNRAKU_TRY(resolve(path, kind == FileKind::File, call));
    Node* parent = find(std::string(directory_name(at)));
    if (!parent) return failed(ENOENT, call, path);
    if (parent->status.kind != FileKind::Directory) return failed(ENOTDIR, call, path);
    if (Node* existing = find(at)) {
        if (kind == FileKind::File && existing->status.kind == FileKind::File) return existing;
        return failed(existing->status.kind == FileKind::Directory && kind == FileKind::File
                          ? EISDIR
                          : EEXIST,
                      call, path);
    }
    Node node;
    node.status.kind = kind;
    node.status.mode = mode;
    node.status.inode = next_inode_++;
    return &nodes_.emplace(at, std::move(node)).first->second;
}

Result<FileStatus> MemoryFileSystem::stat(const std::string& path) {
    std::string at = BUNRAKU_TRY(resolve(path, true, "rb_file_s_stat"));
    Node* node = find(at);
    if (!node) return failed(ENOENT, "rb_file_s_stat", path);
    node->status.size = node->content.size();
    return node->status;
}
Result<FileStatus> MemoryFileSystem::lstat(const std::string& path) {
    std::string at = BUNRAKU_TRY(resolve(path, false, "rb_file_s_lstat"));
    Node* node = find(at);
    if (!node) return failed(ENOENT, "rb_file_s_lstat", path);
    node->status.size = node->content.size();
    return node->status;
}
Result<std::string> MemoryFileSystem::read(const std::string& path) {
    std::string at = BUNRAKU_TRY(resolve(path, true, "rb_sysopen"));
    Node* node = find(at);
    if (!node) return failed(ENOENT, "rb_sysopen", path);
    if (node->status.kind == FileKind::Directory) return failed(EISDIR, "io_fread", path);
    return node->content;
}
Result<void> MemoryFileSystem::read_chunks(const std::string& path,
                                           const std::function<bool(std::string_view)>& chunk) {
    std::string content = BUNRAKU_TRY(read(path));
    if (!content.empty()) chunk(content);
    return {};
}
Result<std::unique_ptr<Reader>> MemoryFileSystem::open(const std::string& path) {
    class TextReader final : public Reader {
    public:
        explicit TextReader(std::string text) : text_(std::move(text)) {}
        Result<std::size_t> read(std::span<char> into) override {
            const std::size_t n = std::min({into.size(), text_.size() - at_, std::size_t{7}});
            text_.copy(into.data(), n, at_);  // small pieces, so that callers must read repeatedly
            at_ += n;
            return n;
        }

    private:
        std::string text_;
        std::size_t at_ = 0;
    };
    return std::make_unique<TextReader>(BUNRAKU_TRY(read(path)));
}
Result<std::string> MemoryFileSystem::read_link(const std::string& path) {
    std::string at = BUNRAKU_TRY(resolve(path, false, "rb_readlink"));
    Node* node = find(at);
    if (!node) return failed(ENOENT, "rb_readlink", path);
    if (node->status.kind != FileKind::Link) return failed(EINVAL, "rb_readlink", path);
    return node->content;
}
Result<std::vector<std::string>> MemoryFileSystem::list(const std::string& path) {
    std::string at = BUNRAKU_TRY(resolve(path, true, "dir_initialize"));
    Node* node = find(at);
    if (!node) return failed(ENOENT, "dir_initialize", path);
    if (node->status.kind != FileKind::Directory) return failed(ENOTDIR, "dir_initialize", path);
    std::vector<std::string> names;
    for (const auto& [name, child] : nodes_) {
        if (name != "/" && directory_name(name) == at) names.emplace_back(base_name(name));
    }
    std::sort(names.begin(), names.end());
    return names;
}
Result<std::string> MemoryFileSystem::real_path(const std::string& path) {
    std::string at = BUNRAKU_TRY(resolve(path, true, "rb_realpath_internal"));
    if (!find(at)) return failed(ENOENT, "rb_realpath_internal", path);
    return at;
}
bool MemoryFileSystem::access(const std::string& path, int how) {
    auto status = stat(path);
    return status && (!(how & 1) || (status->mode & 0111) != 0);
}

Result<void> MemoryFileSystem::write(const std::string& path, std::string_view content,
                                     std::uint32_t mode) {
    BUNRAKU_TRY_VOID(change("rb_sysopen", path));
    BUNRAKU_TRY(create(path, FileKind::File, mode & 0644, "rb_sysopen"))->content = content;
    return {};
}
Result<void> MemoryFileSystem::append(const std::string& path, std::string_view content,
                                      std::uint32_t mode) {
    BUNRAKU_TRY_VOID(change("rb_sysopen", path));
    BUNRAKU_TRY(create(path, FileKind::File, mode & 0644, "rb_sysopen"))->content += content;
    return {};
}
Result<void> MemoryFileSystem::replace_from(const std::string& path, const Fill& fill,
                                            const WriteOptions& options) {
    std::string content;
    BUNRAKU_TRY_VOID(fill([&](std::string_view part) -> Result<void> {
        content += part;
        return {};
    }));
    BUNRAKU_TRY_VOID(change("rb_sysopen", path));
    // A rename replaces a link instead of following it.
    std::string at = BUNRAKU_TRY(resolve(path, false, "rb_sysopen"));
    if (const Node* old = find(at); old && old->status.kind == FileKind::Directory)
        return failed(EISDIR, "rb_sysopen", path);
    // Behaves like a rename: the old file exists until the new one does.
    auto old = nodes_.extract(at);
    const auto made = create(path, FileKind::File, 0644, "rb_sysopen");
    if (!made) {
        if (!old.empty()) nodes_.insert(std::move(old));
        return std::unexpected(made.error());
    }
    Node* node = *made;
    node->content = std::move(content);
    replaced.emplace_back(path, options);
    node->status.mode = options.mode.value_or(0644);
    node->status.uid = options.uid.value_or(0);
    node->status.gid = options.gid.value_or(0);
    return {};
}
Result<void> MemoryFileSystem::make_directory(const std::string& path, std::uint32_t mode) {
    BUNRAKU_TRY_VOID(change("dir_s_mkdir", path));
    auto made = create(path, FileKind::Directory, mode & ~022u, "dir_s_mkdir");
    if (!made) return std::unexpected(made.error());
    return {};
}
Result<void> MemoryFileSystem::make_link(const std::string& target, const std::string& path) {
    BUNRAKU_TRY_VOID(change("rb_file_s_symlink", path));
    BUNRAKU_TRY(create(path, FileKind::Link, 0777, "rb_file_s_symlink"))->content = target;
    return {};
}
Result<void> MemoryFileSystem::rename(const std::string& from, const std::string& to) {
    BUNRAKU_TRY_VOID(change("rb_file_s_rename", from));
    std::string source = BUNRAKU_TRY(resolve(from, false, "rb_file_s_rename"));
    std::string target = BUNRAKU_TRY(resolve(to, false, "rb_file_s_rename"));
    if (!find(source)) return failed(ENOENT, "rb_file_s_rename", from);
    std::vector<std::pair<std::string, Node>> moved;
    for (auto it = nodes_.begin(); it != nodes_.end();) {
        if (it->first == source || it->first.starts_with(source + "/")) {
            moved.emplace_back(target + it->first.substr(source.size()), std::move(it->second));
            it = nodes_.erase(it);
        } else {
            ++it;
        }
    }
    for (auto& [name, node] : moved) nodes_.insert_or_assign(name, std::move(node));
    return {};
}
Result<void> MemoryFileSystem::remove(const std::string& path) {
    BUNRAKU_TRY_VOID(change("apply2files", path));
    std::string at = BUNRAKU_TRY(resolve(path, false, "apply2files"));
    Node* node = find(at);
    if (!node) return failed(ENOENT, "apply2files", path);
    if (node->status.kind == FileKind::Directory) return failed(EISDIR, "apply2files", path);
    nodes_.erase(at);
    return {};
}
Result<void> MemoryFileSystem::remove_directory(const std::string& path) {
    BUNRAKU_TRY_VOID(change("dir_s_rmdir", path));
    if (!BUNRAKU_TRY(list(path)).empty()) return failed(ENOTEMPTY, "dir_s_rmdir", path);
    nodes_.erase(BUNRAKU_TRY(resolve(path, false, "dir_s_rmdir")));
    return {};
}
Result<void> MemoryFileSystem::set_mode(const std::string& path, std::uint32_t mode) {
    BUNRAKU_TRY_VOID(change("apply2files", path));
    Node* node = find(BUNRAKU_TRY(resolve(path, true, "apply2files")));
    if (!node) return failed(ENOENT, "apply2files", path);
    node->status.mode = mode;
    return {};
}
Result<void> MemoryFileSystem::set_owner(const std::string& path, std::optional<std::uint32_t> uid,
                                         std::optional<std::uint32_t> gid, bool follow) {
    BUNRAKU_TRY_VOID(change("apply2files", path));
    Node* node = find(BUNRAKU_TRY(resolve(path, follow, "apply2files")));
    if (!node) return failed(ENOENT, "apply2files", path);
    if (uid) node->status.uid = *uid;
    if (gid) node->status.gid = *gid;
    return {};
}
Result<void> MemoryFileSystem::set_mtime(const std::string& path, std::int64_t mtime_ns) {
    BUNRAKU_TRY_VOID(change("apply2files", path));
    Node* node = find(BUNRAKU_TRY(resolve(path, true, "apply2files")));
    if (!node) return failed(ENOENT, "apply2files", path);
    node->status.mtime_ns = mtime_ns;
    return {};
}

void MemoryFileSystem::put(const std::string& path, std::string_view content, std::uint32_t mode) {
    int before = changes;
    (void)make_directories(std::string(directory_name(path)));
    if (auto node = create(path, FileKind::File, mode, "rb_sysopen")) {
        (*node)->content = content;
        (*node)->status.mode = mode;
    }
    changes = before;
}

void FakeProcesses::answer(std::string prefix, Outcome outcome) {
    answer(std::move(prefix), [outcome](const Command&) { return outcome; });
}
void FakeProcesses::answer(std::string prefix, std::function<Outcome(const Command&)> outcome) {
    rules_.emplace_back(std::move(prefix), std::move(outcome));
}

base::Result<Outcome> FakeProcesses::run(const Command& command) {
    calls.push_back(command);
    std::string text = shell_text(command.argv);
    const std::function<Outcome(const Command&)>* best = nullptr;
    std::size_t length = 0;
    for (const auto& [prefix, outcome] : rules_) {
        if (text.starts_with(prefix) && (!best || prefix.size() >= length)) {
            best = &outcome;
            length = prefix.size();
        }
    }
    if (best) return (*best)(command);
    return base::failure(
        fmt::format("No such file or directory - {}", command.argv.empty() ? "" : command.argv[0]),
        ENOENT);
}
base::Result<int> FakeProcesses::start(const Command& command) {
    auto outcome = BUNRAKU_TRY(run(command));
    return 1000 + static_cast<int>(calls.size());
}
base::Result<void> FakeProcesses::kill(int, int) { return {}; }
bool FakeProcesses::alive(int) { return false; }

std::optional<std::string> FakeProcesses::which(std::string_view name, std::string_view) {
    if (name.starts_with('/')) {
        auto it = std::find(programs.begin(), programs.end(), base_name(name));
        return it == programs.end() ? std::nullopt : std::optional(std::string(name));
    }
    auto it = std::find(programs.begin(), programs.end(), name);
    if (it == programs.end()) return std::nullopt;
    return "/usr/bin/" + *it;
}
std::vector<std::string> FakeProcesses::texts() const {
    std::vector<std::string> out;
    for (const Command& c : calls) out.push_back(shell_text(c.argv));
    return out;
}

std::optional<User> FakeUsers::user(std::string_view name) {
    for (const User& u : users) {
        if (u.name == name) return u;
    }
    return std::nullopt;
}
std::optional<User> FakeUsers::user(std::uint32_t id) {
    for (const User& u : users) {
        if (u.uid == id) return u;
    }
    return std::nullopt;
}
std::optional<Group> FakeUsers::group(std::string_view name) {
    for (const Group& g : groups) {
        if (g.name == name) return g;
    }
    return std::nullopt;
}
std::optional<Group> FakeUsers::group(std::uint32_t id) {
    for (const Group& g : groups) {
        if (g.gid == id) return g;
    }
    return std::nullopt;
}

}  // namespace bunraku::sys
