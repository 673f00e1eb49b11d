// SPDX-License-Identifier: Apache-2.0
// A fake machine for tests: files in memory, and programs with prepared results.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/sys/system.h"

namespace bunraku::sys {

/// Files, folders and links in memory. It stores modes and owners but does not enforce permissions.
class MemoryFileSystem final : public FileSystem {
public:
    MemoryFileSystem();
    Result<FileStatus> stat(const std::string& path) override;
    Result<FileStatus> lstat(const std::string& path) override;
    Result<std::string> read(const std::string& path) override;
    Result<void> read_chunks(const std::string& path,
                             const std::function<bool(std::string_view)>& chunk) override;
    Result<std::unique_ptr<Reader>> open(const std::string& path) override;
    Result<std::string> read_link(const std::string& path) override;
    Result<std::vector<std::string>> list(const std::string& path) override;
    Result<std::string> real_path(const std::string& path) override;
    bool access(const std::string& path, int how) override;
    Result<void> write(const std::string& path, std::string_view content,
                       std::uint32_t mode) override;
    Result<void> append(const std::string& path, std::string_view content,
                        std::uint32_t mode) override;
    Result<void> replace_from(const std::string& path, const Fill& fill,
                              const WriteOptions& options) override;
    Result<void> make_directory(const std::string& path, std::uint32_t mode) override;
    Result<void> sync_directory(const std::string&) override { return {}; }
    Result<void> make_link(const std::string& target, const std::string& path) override;
    Result<void> rename(const std::string& from, const std::string& to) override;
    Result<void> remove(const std::string& path) override;
    Result<void> remove_directory(const std::string& path) override;
    Result<void> set_mode(const std::string& path, std::uint32_t mode) override;
    Result<void> set_owner(const std::string& path, std::optional<std::uint32_t> uid,
                           std::optional<std::uint32_t> gid, bool follow) override;
    Result<void> set_mtime(const std::string& path, std::int64_t mtime_ns) override;

    /// Makes the file and its parent folders.
    void put(const std::string& path, std::string_view content, std::uint32_t mode = 0644);
    /// Makes the next changing call fail with this errno, after `after` successful ones.
    void fail_after(int after, int error) {
        fail_countdown_ = after;
        fail_errno_ = error;
    }
    /// Makes all calls fail with this errno, including reads, from the `after`-th on, `times`
    /// times.
    void fail_calls(int after, int error, int times = 1) {
        calls_left_ = after;
        call_errno_ = error;
        call_failures_ = times;
    }
    /// The files that were replaced by rename, with their mode and owner.
    std::vector<std::pair<std::string, WriteOptions>> replaced;
    int calls = 0;    ///< number of calls that can fail
    int changes = 0;  ///< number of successful changing calls, for noop tests

private:
    struct Node {
        FileStatus status;
        std::string content;  ///< for a link, its target
    };
    Result<std::string> resolve(const std::string& path, bool follow_last, const char* call);
    Node* find(const std::string& resolved);
    Result<void> change(const char* call, const std::string& path);
    Result<Node*> create(const std::string& path, FileKind kind, std::uint32_t mode,
                         const char* call);
    std::map<std::string, Node> nodes_;
    std::uint64_t next_inode_ = 2;
    int fail_countdown_ = -1;
    int fail_errno_ = 0;
    int calls_left_ = -1, call_errno_ = 0, call_failures_ = 0;
};

/// Returns prepared results and records the commands.
class FakeProcesses final : public Processes {
public:
    base::Result<Outcome> run(const Command& command) override;
    base::Result<int> start(const Command& command) override;
    base::Result<void> kill(int pid, int signal) override;
    bool alive(int pid) override;
    std::optional<std::string> which(std::string_view name, std::string_view path) override;

    /// Sets the result of programs whose command text (shell_text) begins with `prefix`. Longer
    /// prefixes win over shorter ones, and later rules over earlier ones.
    void answer(std::string prefix, Outcome outcome);
    void answer(std::string prefix, std::function<Outcome(const Command&)> outcome);
    /// Programs that `which` finds as "/usr/bin/NAME".
    std::vector<std::string> programs;
    std::vector<Command> calls;
    /// Returns the command texts of `calls`.
    std::vector<std::string> texts() const;

private:
    std::vector<std::pair<std::string, std::function<Outcome(const Command&)>>> rules_;
};

/// A clock that advances only on request or by sleeping.
class FakeClock final : public Clock {
public:
    std::int64_t now_ns() override { return now; }
    std::int64_t monotonic_ns() override { return now; }
    void sleep_ns(std::int64_t ns) override { now += ns; }
    std::int64_t now = 1'700'000'000'000'000'000;
};

class FakeUsers final : public Users {
public:
    std::optional<User> user(std::string_view name) override;
    std::optional<User> user(std::uint32_t uid) override;
    std::optional<Group> group(std::string_view name) override;
    std::optional<Group> group(std::uint32_t gid) override;
    std::vector<User> all_users() override { return users; }
    std::vector<Group> all_groups() override { return groups; }
    std::uint32_t effective_uid() override { return uid; }
    std::uint32_t effective_gid() override { return gid; }

    std::vector<User> users = {{"root", "x", "root", "/root", "/bin/bash", 0, 0}};
    std::vector<Group> groups = {{"root", 0, {}}};
    std::uint32_t uid = 0, gid = 0;
};

/// All four fakes together.
struct FakeSystem {
    MemoryFileSystem files;
    FakeProcesses processes;
    FakeClock clock;
    FakeUsers users;
    System system{files, processes, clock, users};
};

}  // namespace bunraku::sys
