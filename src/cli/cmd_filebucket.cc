// SPDX-License-Identifier: Apache-2.0
// `filebucket`: stores and returns files by their digests, in this machine's bucket or the
// server's. Messages and exit codes are those of Puppet 8.11 (application/filebucket.rb,
// file_bucket/dipper.rb).
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fmt/format.h>
#include <map>
#include <unistd.h>

#include "cli/actions.h"
#include "compile/reference/help_text.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/codec/digest.h"
#include "core/codec/json_text.h"
#include "core/sys/disk.h"
#include "core/sys/process.h"
#include "resources/apply/bucket_dates.h"
#include "resources/apply/types/file/bucket.h"
#include "services/agent/apply_session.h"
#include "services/agent/open_link.h"
#include "services/agent/server_content.h"

namespace bunraku::cli {

namespace {

using base::plain_error;
using Words = std::vector<std::string>;

/// A temporary file that the destructor deletes and that only its owner can read.
class ScratchFile {
public:
    explicit ScratchFile(std::string_view content) {
        const char* folder = std::getenv("TMPDIR");
        path_ = fmt::format("{}/diffXXXXXX", folder && *folder ? folder : "/tmp");
        const int fd = ::mkstemp(path_.data());
        if (fd < 0) throw plain_error("Could not create a temporary file");
        ::close(fd);
        if (auto written = sys::disk().write(path_, content); !written) {
            ::unlink(path_.c_str());
            throw plain_error(written.error().message);
        }
    }
    ScratchFile(const ScratchFile&) = delete;
    ScratchFile& operator=(const ScratchFile&) = delete;
    ~ScratchFile() { ::unlink(path_.c_str()); }
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

class Dipper {
public:
    Dipper(Invocation& invocation, base::LogSink& log)
        : settings_(invocation.settings), session_(invocation.settings, log), log_(log) {}

    void use_folder(const std::string& folder) {
        folder_ = sys::expand_path(folder);
        bucket_.emplace(context(), "puppet", folder_);
    }
    /// Returns false and logs an error if the server is not available.
    bool use_server(std::string_view user_agent) {
        auto link = agent::open_link(settings_, log_, context().system, std::string(user_agent));
        if (!link) {
            log_.log(base::Level::Err, link.error().message);
            return false;
        }
        link_ = std::move(*link);
        server_.emplace(*link_, settings_);
        context().bucket_server = &*server_;
        bucket_.emplace(context(), "puppet", "", 0);
        return true;
    }

    int backup(const Words& files) {
        if (files.empty()) throw plain_error("You must specify a file to back up");
        for (const std::string& file : files) {
            if (!disk().exists(file)) {
                fmt::print(stderr, "{}: no such file\n", file);
            } else if (!disk().access(file, R_OK)) {
                fmt::print(stderr, "{}: cannot read file\n", file);
            } else {
                const auto path = disk().real_path(file).value_or(sys::expand_path(file));
                fmt::print("{}: {}\n", file, bucket_->backup(path));
            }
        }
        return 0;
    }

    int get(const Words& words) {
        const std::string content = content_of(words.empty() ? "" : words[0]);
        std::fwrite(content.data(), 1, content.size(), stdout);
        return 0;
    }

    int restore(const Words& words) {
        if (words.size() != 2)
            throw plain_error("Need exactly two arguments: filebucket restore <file> <sum>");
        const std::string& file = words[0];
        if (const auto now = disk().read(file); now && codec::hex_digest(kind(), *now) == words[1])
            return 0;
        const std::string content = content_of(words[1]);
        const auto status = disk().stat(file);
        const bool locked = status && !disk().access(file, W_OK);
        if (locked) apply::unwrap(disk().set_mode(file, status->mode | 0200));
        const auto written = disk().write(file, content);
        if (locked) apply::unwrap(disk().set_mode(file, status->mode));
        apply::unwrap(written);
        return 0;
    }

    int diff(const Words& words) {
        if (words.size() != 2)
            throw plain_error("Need exactly two arguments: filebucket diff <file_a> <file_b>");
        if (settings_.text("diff").empty())
            throw plain_error("Diff is not supported on this platform");
        std::optional<ScratchFile> scratch[2];
        sys::Command command{.argv = {settings_.text("diff")}};
        const std::string arguments = settings_.text("diff_args");
        for (const auto word : base::words(arguments)) command.argv.emplace_back(word);
        for (std::size_t i = 0; i < 2; ++i) {
            if (disk().exists(words[i])) {
                command.argv.push_back(words[i]);
            } else {
                command.argv.push_back(scratch[i].emplace(content_of(words[i])).path());
            }
        }
        const auto done = context().system.processes.run(command);
        if (!done) throw plain_error(done.error().message);
        std::fwrite(done->output.data(), 1, done->output.size(), stdout);
        return 0;
    }

    /// Lists the paths of all backed-up files, ordered by path and then by time.
    int list(const std::string& from, const std::string& until, bool json) {
        if (link_) throw plain_error("Listing remote file buckets is not allowed");
        if (!disk().is_directory(folder_)) throw plain_error("File not found");
        const auto now = context().system.clock.now_ns() / 1'000'000'000;
        const auto first =
            from.empty() ? std::optional<std::int64_t>(0) : apply::bucket_date(from, now);
        const auto last =
            until.empty() ? std::optional<std::int64_t>(now) : apply::bucket_date(until, now);
        if (!last) throw plain_error("Error while parsing 'todate'");
        if (!first) throw plain_error("Error while parsing 'fromdate'");
        std::map<std::string, std::vector<std::pair<std::int64_t, std::string>>> found;
        collect(folder_, *first, *last, found, 0);
        std::string out;
        for (auto& [path, backups] : found) {
            std::ranges::stable_sort(backups);
            for (const auto& [time, digest] : backups) {
                const auto when = local_time(time / 1'000'000'000);
                if (json)
                    out += fmt::format(R"({}{{"digest":"{}","time":"{}","path":{}}})",
                                       out.empty() ? "" : ",\n ", digest, when,
                                       codec::json_string(path));
                else
                    out += fmt::format("{} {} {}\n", digest, when, path);
            }
        }
        if (json) out = "[" + out + "]\n";
        std::fwrite(out.data(), 1, out.size(), stdout);
        return 0;
    }

private:
    apply::Context& context() { return session_.context(); }
    sys::FileSystem& disk() { return context().system.files; }
    codec::DigestKind kind() {
        return codec::digest_kind(context().options.digest_algorithm)
            .value_or(codec::DigestKind::Sha256);
    }
    std::string content_of(const std::string& sum) {
        if (sum.find_first_not_of("0123456789abcdef") != std::string::npos ||
            sum.size() != codec::hex_digest(kind(), "").size())
            throw plain_error(fmt::format("Invalid checksum \"{}\"", sum));
        return bucket_->get(sum);
    }
    static std::string local_time(std::int64_t seconds) {
        const std::time_t time = seconds;
        std::tm parts{};
        ::localtime_r(&time, &parts);
        char text[64];
        return {text, std::strftime(text, sizeof text, "%F %T", &parts)};
    }
    template <class Found>
    void collect(const std::string& folder, std::int64_t first, std::int64_t last, Found& found,
                 int depth) {
        constexpr int kLevels = 10;  // eight digits, the digest, and one spare level
        if (depth > kLevels) return;
        for (const auto& name : disk().list(folder).value_or(Words())) {
            const std::string path = sys::join(folder, name);
            const auto status = disk().lstat(path);
            if (!status) continue;
            if (status->kind == sys::FileKind::Directory) {
                collect(path, first, last, found, depth + 1);
            } else if (name == "paths" && status->kind == sys::FileKind::File) {
                const auto seconds = status->mtime_ns / 1'000'000'000;
                if (seconds < first || seconds > last) continue;
                const auto text = disk().read(path).value_or("");
                for (const auto line : base::lines(base::trim(text)))
                    found[std::string(line)].emplace_back(status->mtime_ns, sys::base_name(folder));
            }
        }
    }

    const config::Settings& settings_;
    agent::ApplySession session_;
    base::LogSink& log_;
    std::string folder_;
    std::unique_ptr<agent::ServerLink> link_;
    std::optional<agent::ServerBucket> server_;
    std::optional<apply::Bucket> bucket_;
};

int run_filebucket(Invocation& invocation) {
    std::string folder, from, until;
    bool local = false, remote = false, json = false;
    OptionParser options(invocation);
    options.value("bucket", &folder);
    options.value("b", &folder);
    options.value("fromdate", &from);
    options.value("f", &from);
    options.value("todate", &until);
    options.value("t", &until);
    options.flag("local", &local);
    options.flag("l", &local);
    options.flag("remote", &remote);
    options.flag("r", &remote);
    options.flag("json", &json);
    std::string server;
    options.value("s", &server);
    Words positional, words;
    if (!options.parse(&positional)) return options.exit_code();
    if (!server.empty()) invocation.settings.set("server", server);
    auto log = make_console_sink(options, Streams::Puppet);
    const std::string action = take_action(positional, words);
    static constexpr std::string_view kBucketActions[] = {"backup", "diff", "get", "list",
                                                          "restore"};
    if (std::ranges::find(kBucketActions, action) == std::end(kBucketActions)) {
        if (!action.empty())
            fmt::print(stderr, "Error: 'filebucket' has no '{}' action.\n", action);
        std::fputs(reference::help_text(command_help("filebucket")).c_str(),
                   action.empty() ? stdout : stderr);
        return action.empty() ? 0 : 1;
    }
    try {
        Dipper dipper(invocation, *log);
        // --remote is the default, as in Puppet.
        if (!folder.empty() || local) {
            dipper.use_folder(folder.empty() ? invocation.settings.text("clientbucketdir")
                                             : folder);
        } else if (!dipper.use_server(user_agent(invocation.settings))) {
            return 1;
        }
        if (action == "backup") return dipper.backup(words);
        if (action == "get") return dipper.get(words);
        if (action == "restore") return dipper.restore(words);
        if (action == "diff") return dipper.diff(words);
        return dipper.list(from, until, json);
    } catch (const base::PuppetError& error) {
        report_error(*log, plain_error("Could not run: " + error.message()), "");
        return 1;
    }
}

}  // namespace

BUNRAKU_COMMAND(filebucket){.name = "filebucket",
                            .summary = "Store and retrieve files in a filebucket.",
                            .run = run_filebucket,
                            .system_errors = SystemErrors::Puppet};

}  // namespace bunraku::cli
