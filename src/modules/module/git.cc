// SPDX-License-Identifier: Apache-2.0
#include "modules/module/git.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <fmt/format.h>
#include <mutex>
#include <thread>

#include "core/base/assert.h"
#include "core/base/jitter.h"
#include "core/codec/digest.h"
#include "modules/module/feed.h"

namespace bunraku::module {

namespace {

using base::failure;
using base::Result;

using Environment = std::vector<std::pair<std::string, std::optional<std::string>>>;

/// Returns a git command without prompts and with English messages.
sys::Command git_command(const std::vector<std::string>& arguments, Environment more = {}) {
    sys::Command c;
    c.argv = {"git"};
    // The owner of a checkout must not be able to run programs here.
    c.argv.insert(c.argv.end(), {"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"});
    c.argv.insert(c.argv.end(), arguments.begin(), arguments.end());
    c.environment = {{"GIT_TERMINAL_PROMPT", "0"},
                     {"LC_ALL", "C"},
                     {"GIT_DIR", std::nullopt},
                     {"GIT_WORK_TREE", std::nullopt},
                     {"GIT_OPTIONAL_LOCKS", "0"},
                     {"GIT_INDEX_FILE", std::nullopt},
                     {"GIT_OBJECT_DIRECTORY", std::nullopt}};
    for (auto& variable : more) c.environment.push_back(std::move(variable));
    c.timeout = std::chrono::minutes(30);
    return c;
}

std::unexpected<base::Error> git_failed(std::string_view verb, std::string text) {
    while (text.ends_with('\n')) text.pop_back();
    return failure(fmt::format("git {} failed: {}", verb, shown_text(text)));
}

/// Runs git. The error contains its messages. `verb` names the operation for the error.
Result<std::string> git(sys::System& system, std::string_view verb,
                        const std::vector<std::string>& arguments, Environment more = {}) {
    auto out = system.processes.run(git_command(arguments, std::move(more)));
    if (!out) return failure("Could not run git: " + out.error().message);
    if (!out->ok()) return git_failed(verb, out->errors);
    return std::move(out->output);
}

/// Returns git's messages without its progress reports.
std::string without_progress(std::string_view output) {
    std::string out;
    while (!output.empty()) {
        const std::size_t end = output.find('\n');
        std::string_view line = output.substr(0, end);
        output = end == std::string_view::npos ? std::string_view{} : output.substr(end + 1);
        if (const std::size_t last = line.rfind('\r'); last != std::string_view::npos) {
            line.remove_prefix(last + 1);
        }
        const bool progress = line.find("% (") != std::string_view::npos ||
                              line.find(", done.") != std::string_view::npos ||
                              line.starts_with("remote: Enumerating objects") ||
                              line.starts_with("remote: Total ") ||
                              line.starts_with("Cloning into ");
        if (!progress && !line.empty()) out.append(line).append("\n");
    }
    return out;
}

bool holds(std::string_view text, std::initializer_list<std::string_view> parts) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](std::string_view p) { return text.find(p) != text.npos; });
}

/// Reports whether the message indicates a temporarily overloaded server (sshd's MaxStartups, a
/// full queue, a proxy), so that a later attempt may succeed.
bool is_passing(std::string_view output) {
    return holds(output, {"Connection reset", "Connection closed", "connection was closed",
                          "early EOF", "unexpected disconnect", "returned error: 429",
                          "returned error: 502", "returned error: 503", "returned error: 504"});
}

/// Reports whether the message indicates an incomplete mirror, as a power failure leaves it.
bool sounds_broken(std::string_view output) {
    return holds(output, {"bad object", "corrupt", "not a git repository", "unable to read",
                          "failed to unpack tree", "does not point to a valid object", "packfile",
                          "not a valid object", "unable to parse", "does not match index"});
}

/// Adds options that make git cheaper. A mirror can be fetched again and a deploy syncs the disk
/// once at the end, so git need not sync each file. `tidy` decides when git does its maintenance.
/// Protocol version 0 saves a request; the newer protocol needs it only to filter references, and a
/// mirror wants all of them.
std::vector<std::string> cheap(std::vector<std::string> arguments) {
    const std::vector<std::string> more = {
        "-c", "maintenance.auto=false", "-c", "gc.auto=0",
        "-c", "core.fsync=none",        "-c", "protocol.version=0"};
    arguments.insert(arguments.begin(), more.begin(), more.end());
    return arguments;
}

/// A slot for a connection to a git server. Few connections start at once: git's own server queues
/// only five simultaneous connections (a refused client tries again a second later), and sshd
/// rejects some of ten. If no connection starts or ends for a while, all are probably waiting for a
/// distant server, so one more may start.
class ServerSlot {
public:
    explicit ServerSlot(const std::string& url)
        : counted_(!url.starts_with('/') && !url.starts_with("file:")) {
        if (!counted_) return;
        std::unique_lock held(mutex);
        for (;;) {
            const auto next = last + (under_way < kFew ? kApart : kAWhile);
            if (Clock::now() >= next) break;
            moved.wait_until(held, next);
        }
        BUNRAKU_ASSERT(under_way >= 0);
        ++under_way;
        last = Clock::now();
    }
    ~ServerSlot() {
        if (!counted_) return;
        const std::unique_lock held(mutex);
        BUNRAKU_ASSERT(under_way > 0);
        --under_way;
        last = Clock::now();
        moved.notify_one();
    }
    ServerSlot(const ServerSlot&) = delete;

private:
    using Clock = std::chrono::steady_clock;
    static constexpr int kFew = 6;
    static constexpr std::chrono::microseconds kApart{1000}, kAWhile{5000};
    static inline std::mutex mutex;
    static inline std::condition_variable moved;
    static inline int under_way = 0;
    static inline Clock::time_point last;  ///< time when a connection last started or ended
    bool counted_;
};

std::unexpected<base::Error> given_up(std::string_view verb, const std::string& url,
                                      const GitTimeouts& timeouts) {
    return failure(fmt::format("git {} timed out: {} has sent nothing for {} seconds", verb,
                               shown_url(url), timeouts.silence.count() / 1000));
}

/// Reports whether the peeled object of every tag is known.
bool all_peeled(const GitRefs& refs) {
    return std::none_of(refs.begin(), refs.end(), [](const auto& ref) {
        return ref.first.starts_with("refs/tags/") && ref.second.peeled.empty();
    });
}

std::string first_line(std::string_view text) {
    return std::string(text.substr(0, text.find('\n')));
}

}  // namespace

bool is_commit(std::string_view text) {
    return text.size() == 40 &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Result<sys::FileLock> wait_for_lock(const std::string& path, const std::function<bool()>& stopped) {
    if (!stopped) return sys::FileLock::acquire(path);
    for (;;) {
        auto lock = sys::FileLock::try_acquire(path);
        if (lock || lock.error().code != EWOULDBLOCK) return lock;
        if (stopped()) return failure("stopped while waiting for another run");
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

Result<GitMirror> GitMirror::open(sys::System& system, const std::string& cache,
                                  const std::string& url, const GitTimeouts& timeouts) {
    BUNRAKU_TRY_VOID(system.files.make_directories(cache, 0700));
    std::string path =
        cache + "/" + codec::hex_digest(codec::DigestKind::Sha256, url).substr(0, 32);
    auto lock = BUNRAKU_TRY(wait_for_lock(path + ".lock", timeouts.stopped));
    return GitMirror(system, url, std::move(path), std::move(lock), timeouts);
}

bool GitMirror::exists() const { return system_->files.is_directory(path_); }

Result<std::string> GitMirror::resolve(const std::string& ref) {
    if (!exists()) return failure(fmt::format("{} has no '{}'", shown_url(url_), ref));
    auto found = git(*system_, "rev-parse",
                     {"--git-dir", path_, "rev-parse", "--verify", "--quiet", "--end-of-options",
                      ref + "^{commit}"});
    if (!found || !is_commit(first_line(*found))) {
        return failure(fmt::format("{} has no '{}'", shown_url(url_), ref));
    }
    return first_line(*found);
}

/// The result may include tags of files and trees, because the references do not show the type of
/// an object. A caller that asks for their files finds that they are not commits.
std::map<std::string, std::string> GitMirror::commits_of(const GitRefs& refs) {
    std::map<std::string, std::string> out;
    for (const auto& [name, ref] : refs) {
        const bool tag = name.starts_with("refs/tags/");
        const std::string& id = tag ? ref.peeled : ref.object;
        if ((tag || name.starts_with("refs/heads/")) && is_commit(id)) out.emplace(name, id);
    }
    constexpr std::string_view kBranch = "ref: ";
    const std::string head = first_line(system_->files.read(path_ + "/HEAD").value_or(""));
    if (head.starts_with(kBranch)) {
        const auto branch = out.find(head.substr(kBranch.size()));
        if (branch != out.end()) out.emplace("HEAD", branch->second);
    } else if (is_commit(head)) {
        out.emplace("HEAD", head);
    }
    return out;
}

Result<std::map<std::string, std::string>> GitMirror::refs() {
    if (!exists()) return std::map<std::string, std::string>();
    auto stand = read_git_refs(system_->files, path_);
    if (stand && all_peeled(*stand)) return commits_of(*stand);
    const std::string text =
        BUNRAKU_TRY(git(*system_, "for-each-ref",
                        {"--git-dir", path_, "for-each-ref",
                         "--format=%(objectname)\t%(refname)%0a%(*objectname)\t%(refname)^{}",
                         "refs/heads", "refs/tags"}));
    return commits_of(parse_remote_refs(text));
}

Result<std::optional<std::map<std::string, std::string>>> GitMirror::refs_if_current() {
    std::optional<std::map<std::string, std::string>> out;
    const auto stand = exists() ? read_git_refs(system_->files, path_) : std::nullopt;
    if (!stand || stand->empty()) return out;
    auto listed =
        run_remote("ls-remote", cheap({"--git-dir", path_, "ls-remote", "--quiet", "origin"}));
    if (!listed) {
        if (sounds_broken(listed.error().message)) return out;
        return std::unexpected(listed.error());
    }
    const GitRefs there = parse_remote_refs(*listed);
    const bool same = std::equal(
        there.begin(), there.end(), stand->begin(), stand->end(), [](const auto& a, const auto& b) {
            return a.first == b.first && a.second.object == b.second.object;
        });
    if (same) out = commits_of(there);
    return out;
}

Result<std::vector<std::string>> GitMirror::paths(const std::string& commit) {
    const std::string text = BUNRAKU_TRY(git(
        *system_, "ls-tree", {"--git-dir", path_, "ls-tree", "-r", "-z", "--name-only", commit}));
    std::vector<std::string> out;
    std::string_view rest = text;
    for (std::size_t end; (end = rest.find('\0')) != std::string_view::npos;) {
        out.emplace_back(rest.substr(0, end));
        rest.remove_prefix(end + 1);
    }
    return out;
}

Result<void> GitMirror::fetch() {
    constexpr int kTries = 5;
    for (int i = 1; exists(); ++i) {
        auto done = run_remote("fetch", cheap({"--git-dir", path_, "fetch", "--progress", "--prune",
                                               "--tags", "--force"}));
        if (done) {
            tidy();
            return {};
        }
        // A git process whose parent was killed may still be running. If it was killed itself, it
        // may have left locks or an incomplete mirror.
        const bool locked = holds(done.error().message, {"cannot lock ref", ".lock': File exists"});
        const bool broken = sounds_broken(done.error().message);
        if (!locked && !broken) return std::unexpected(done.error());
        if (broken || i == kTries) break;
        std::this_thread::sleep_for(std::chrono::milliseconds(100 << i));
    }
    return clone();
}

Result<void> GitMirror::clone() {
    const std::string fresh = path_ + ".new";
    BUNRAKU_TRY_VOID(system_->files.remove_all(fresh));
    BUNRAKU_TRY(
        run_remote("clone", cheap({"clone", "--progress", "--mirror", "--", url_, fresh}), fresh));
    BUNRAKU_TRY_VOID(system_->files.remove_all(path_));
    return system_->files.rename(fresh, path_);
}

/// Runs git's maintenance only when its own thresholds are approximately reached. After each fetch,
/// it would start a process or two to find nothing to do. The maintenance runs in the background.
void GitMirror::tidy() {
    constexpr std::size_t kLoose = 27, kPacks = 100;  // kLoose is for one of 256 folders
    const auto count = [&](const char* folder) {
        auto names = system_->files.list(path_ + "/objects/" + folder);
        return names ? names->size() : 0;
    };
    if (count("17") > kLoose || count("pack") > kPacks) {
        (void)git(*system_, "gc", {"--git-dir", path_, "gc", "--auto", "--quiet"});
    }
    // The file of a new tag does not contain the peeled object, but packed-refs does.
    if (auto stand = read_git_refs(system_->files, path_); stand && !all_peeled(*stand)) {
        (void)git(*system_, "pack-refs", {"--git-dir", path_, "pack-refs", "--all"});
    }
}

Result<std::string> GitMirror::run_remote(std::string_view verb,
                                          const std::vector<std::string>& arguments,
                                          const std::string& makes) {
    constexpr int kTries = 4;
    for (int i = 1;; ++i) {
        auto done = [&] {
            const ServerSlot conversation(url_);
            return verb == "ls-remote" ? query_remote_once(verb, arguments)
                                       : run_remote_once(verb, arguments);
        }();
        if (done || i == kTries || !is_passing(done.error().message)) return done;
        if (!makes.empty()) BUNRAKU_TRY_VOID(system_->files.remove_all(makes));
        const int least = 250 << i;
        const std::chrono::milliseconds pause(base::random_between(least, 2 * least));
        for (const auto end = std::chrono::steady_clock::now() + pause;
             std::chrono::steady_clock::now() < end;) {
            if (timeout_.stopped && timeout_.stopped()) {
                return failure(fmt::format("git {} was stopped", verb));
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
    }
}

Result<std::string> GitMirror::query_remote_once(std::string_view verb,
                                                 const std::vector<std::string>& arguments) {
    sys::Command c = git_command(arguments);
    c.timeout = timeout_.silence;
    c.stop = [&] {
        return timeout_.stopped && timeout_.stopped() ? sys::Stop::Kill : sys::Stop::No;
    };
    auto out = system_->processes.run(c);
    if (!out) return failure("Could not run git: " + out.error().message);
    if (out->timed_out) return given_up(verb, url_, timeout_);
    if (out->stopped) return failure(fmt::format("git {} was stopped", verb));
    if (!out->ok()) return git_failed(verb, out->errors);
    return std::move(out->output);
}

Result<std::string> GitMirror::run_remote_once(std::string_view verb,
                                               const std::vector<std::string>& arguments) {
    using Clock = std::chrono::steady_clock;
    const std::string error_file = path_ + ".said";
    sys::Command c = git_command(arguments);
    // The progress is written to a file. If the file stops growing, the process is terminated.
    std::vector<std::string> argv = {"/bin/sh", "-c", "exec \"$@\" 2>\"$0\"", error_file};
    argv.insert(argv.end(), c.argv.begin(), c.argv.end());
    c.argv = std::move(argv);
    std::int64_t size = -1;
    auto heard = Clock::now();
    bool silent = false;
    c.stop = [&] {
        auto status = system_->files.lstat(error_file);
        const auto now = Clock::now();
        if (status && static_cast<std::int64_t>(status->size) != size) {
            size = static_cast<std::int64_t>(status->size);
            heard = now;
        }
        silent = now - heard >= timeout_.silence;
        const bool stopped = timeout_.stopped && timeout_.stopped();
        return silent || stopped ? sys::Stop::Kill : sys::Stop::No;
    };
    auto out = system_->processes.run(c);
    const std::string text = system_->files.read(error_file).value_or("");
    (void)system_->files.remove(error_file);
    if (!out) return failure("Could not run git: " + out.error().message);
    if (out->ok() && !out->stopped) return std::string();
    if (out->stopped && silent) return given_up(verb, url_, timeout_);
    if (out->stopped) return failure(fmt::format("git {} was stopped", verb));
    if (out->timed_out) return failure(fmt::format("git {} took too long", verb));
    return git_failed(verb, without_progress(text));
}

Result<void> GitMirror::write_files(const std::string& commit, const std::string& folder) {
    auto done = try_write_files(commit, folder);
    if (done || !sounds_broken(done.error().message)) return done;
    BUNRAKU_TRY_VOID(clone());
    BUNRAKU_TRY_VOID(system_->files.remove_all(folder));
    return try_write_files(commit, folder);
}

Result<void> GitMirror::try_write_files(const std::string& commit, const std::string& folder) {
    BUNRAKU_TRY_VOID(system_->files.make_directories(folder));
    // Use a separate index, so that the mirror remains bare.
    const std::string index = path_ + ".index";
    (void)system_->files.remove(index);
    const Environment environment = {{"GIT_INDEX_FILE", index}};
    auto done =
        git(*system_, "read-tree",
            {"--git-dir", path_, "--work-tree", folder, "read-tree", "--reset", "-u", commit},
            environment);
    (void)system_->files.remove(index);
    if (!done) return std::unexpected(done.error());
    return {};
}

Result<void> write_git_index(sys::System& system, const std::string& folder,
                             const std::string& commit) {
    BUNRAKU_TRY(git(system, "read-tree",
                    {"--git-dir", folder + "/.git", "--work-tree", folder, "read-tree", commit}));
    return {};
}

bool GitCheckout::is_one(sys::System& system, const std::string& path) {
    return system.files.lstat(path + "/.git").has_value();
}

Result<std::string> GitCheckout::run(std::vector<std::string> arguments) {
    const std::string verb = arguments[0];
    arguments.insert(arguments.begin(), {"-C", path_});
    // With a broken `.git`, git must not find the repository that contains the folder.
    return git(system_, verb, arguments,
               {{"GIT_CEILING_DIRECTORIES", std::string(sys::directory_name(path_))}});
}

Result<std::string> GitCheckout::head() {
    return first_line(BUNRAKU_TRY(run({"rev-parse", "--verify", "HEAD^{commit}"})));
}

Result<std::string> GitCheckout::origin() {
    return first_line(BUNRAKU_TRY(run({"config", "--get", "remote.origin.url"})));
}

Result<std::string> GitCheckout::changes() {
    const std::string status = BUNRAKU_TRY(run({"status", "--porcelain"}));
    return std::string(status.empty() ? "" : "changes");
}

Result<std::string> GitCheckout::unpushed() {
    const std::string ahead =
        BUNRAKU_TRY(run({"rev-list", "--max-count=1", "HEAD", "--branches", "--not", "--remotes"}));
    return std::string(ahead.empty() ? "" : "commits that are not pushed");
}

Result<std::string> GitCheckout::unsaved() {
    if (!BUNRAKU_TRY(run({"status", "--porcelain", "--ignored"})).empty()) {
        return std::string("changes");
    }
    if (!BUNRAKU_TRY(run({"stash", "list"})).empty()) return std::string("stashed changes");
    return unpushed();
}

Result<void> GitCheckout::learn(const GitMirror& mirror) {
    BUNRAKU_TRY(run({"fetch", "--quiet", "--tags", "--force", "--", mirror.path(),
                     "+refs/heads/*:refs/remotes/cache/*"}));
    return {};
}

Result<void> GitCheckout::move_to(const std::string& commit, bool force) {
    std::vector<std::string> arguments = {"checkout", "--quiet", "--detach"};
    if (force) arguments.emplace_back("--force");
    arguments.push_back(commit);
    BUNRAKU_TRY(run(std::move(arguments)));
    return {};
}

}  // namespace bunraku::module
