// SPDX-License-Identifier: Apache-2.0
#include "sim/whole_agent.h"

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

#include "core/base/diagnostic.h"
#include "core/codec/digest.h"
#include "core/value/build.h"
#include "services/agent/run.h"
#include "sim/code.h"

namespace bunraku::sim {

namespace fs = std::filesystem;
using base::failure;

namespace {

/// A managed file, and the prefix of its version stamp.
constexpr std::pair<const char*, const char*> kStamped[] = {
    {"template", "template"}, {"source", "source"}, {"tree/a", "a"}, {"tree/below/b", "b"}};

std::string content_of(int version, std::string_view node, std::uint64_t changes) {
    return fmt::format("content {0}\n{1} {2}\nend {0}\n", version, node, changes);
}

/// Records the first error and some facts about the run.
class RunLog final : public base::LogSink {
public:
    void log(const base::Diagnostic& d) override {
        if (d.level >= base::Level::Err && error.empty()) error = d.message;
        cached |= d.message.starts_with("Using cached catalog");
        catalog_unchanged |=
            d.message.starts_with("The server's catalog has not changed since the last run");
        unsent |= d.message.starts_with("Could not send report");
    }
    bool enabled(base::Level level) const override { return level >= base::Level::Info; }
    std::string error;
    bool cached = false, catalog_unchanged = false, unsent = false;
};

/// Overwrites the content of the file in place.
void write_over(const std::string& path, std::string_view text) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0) return;
    (void)!::write(fd, text.data(), text.size());
    ::close(fd);
}

}  // namespace

void WholeAgent::begin_life(std::string folder, bool power_lost) {
    machine_.folder = std::move(folder);
    if (power_lost) damaged_.clear();
}

WholeAgent::Outcome WholeAgent::run(const agent::SslFiles& ssl, std::uint64_t changes) {
    const auto& settings = machine_.settings;
    RunLog run_log;
    apply::ReportSink sink(run_log, machine_.system.clock);
    apply::Context context{.system = machine_.system, .log = sink};
    context.options.statefile = settings.text("statefile");
    context.options.contentsfile = settings.text("statedir") + "/contents";
    context.options.clientbucketdir = settings.text("clientbucketdir");
    context.stop = [this] {
        return machine_.stopped() ? apply::StopRequest{2, SIGTERM} : apply::StopRequest{0, 0};
    };
    site::Site site(settings);
    apply::RunSettings applying;
    applying.lastrunfile = settings.text("lastrunfile");
    applying.lastrunreport = settings.text("lastrunreport");
    applying.puppet_version = "8.11.0";
    agent::RunOptions options{
        .settings = settings,
        .context = context,
        .sink = sink,
        .applying = applying,
        .site = site,
        .ssl = ssl,
        .user_agent = "sim",
        .job_id = {},
        .stopped = machine_.stopped,
        .ruby_parts = [](const site::Session&) { return apply::RubyTypes::Parts{}; },
        .network = &machine_.network,
        .facts =
            [&](base::Arena& arena) {
                if (machine_.with_facts) machine_.with_facts();
                value::HashBuilder facts(arena);
                for (const auto& [name, text] :
                     {std::pair<std::string_view, std::string>{"role", "whole"},
                      {"cell", "c0"},
                      {"clientcert", machine_.name},
                      {"root", root()}})
                    facts.set(name, value::make_string(arena, text));
                facts.set("simulated_changes",
                          value::Value::integer(static_cast<std::int64_t>(changes)));
                return facts.build();
            }};
    Outcome out;
    out.status = agent::run(options);
    out.cached = run_log.cached;
    out.catalog_unchanged = run_log.catalog_unchanged;
    out.problem = run_log.error;
    if (const auto text = machine_.system.files.read(applying.lastrunreport);
        text && !run_log.unsent) {
        constexpr std::string_view kName = "\ntransaction_uuid: ";
        const auto at = text->find(kName);
        if (at != std::string::npos) out.report = text->substr(at + kName.size(), 36);
    }
    return out;
}

base::Result<int> WholeAgent::version(std::uint64_t changes) const {
    auto& files = machine_.system.files;
    std::optional<int> out;
    for (const auto& [name, what] : kStamped) {
        const auto text = files.read(root() + "/" + name);
        const auto stamp = text ? stamp_of(*text, what) : std::nullopt;
        if (!stamp)
            return failure(
                fmt::format("{}: {}", name, text ? text->substr(0, 40) : "is not there"));
        if (out && *out != *stamp)
            return failure(fmt::format("{} is of version {}, others of {}", name, *stamp, *out));
        out = stamp;
    }
    const auto plugin =
        files.read(fmt::format("{}/{}", machine_.settings.text("plugindest"), kPlugin));
    if (!plugin || *plugin != plugin_of(*out))
        return failure(fmt::format("the plugin is '{}', files are of version {}",
                                   plugin ? *plugin : "", *out));
    const auto text = files.read(root() + "/content");
    if (!text || *text != content_of(*out, machine_.name, changes)) {
        return failure(fmt::format("content: '{}' with version {} and {} changes",
                                   text ? *text : "", *out, changes));
    }
    const auto mode = files.lstat(root() + "/content");
    if (!mode || (mode->mode & 07777) != 0640) return failure("content has a wrong mode");
    const auto target = files.read_link(root() + "/link");
    if (!target || *target != root() + "/content") return failure("link does not lead to content");
    if (files.lstat(root() + "/gone")) return failure("gone is there");
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(root() + "/tree", none)) {
        const auto name = entry.path().filename().string();
        if (name != "a" && name != "below") return failure("tree has " + name);
    }
    return *out;
}

std::optional<std::string> WholeAgent::torn() const {
    for (const auto& [name, what] : kStamped) {
        if (damaged_.contains(name)) continue;
        const auto text = machine_.system.files.read(root() + "/" + name);
        if (text && !stamp_of(*text, what)) return name;
    }
    return std::nullopt;
}

void WholeAgent::drift(const std::function<std::uint64_t(std::uint64_t)>& draw) {
    auto& files = machine_.system.files;
    if (!files.lstat(root() + "/tree/below")) return;
    const auto junk = fmt::format("spoilt {} {}\n", machine_.name, ++drifts_);
    constexpr const char* kNames[] = {"content",      "template",   "source", "tree/a",
                                      "tree/below/b", "tree/extra", "gone"};
    std::string name = kNames[draw(std::size(kNames))];
    switch (draw(5)) {
        case 0: write_over(root() + "/" + name, junk); break;
        case 1: (void)files.replace(root() + "/" + name, junk); break;
        case 2:
            (void)files.remove(root() + "/" + name);
            damaged_.erase(name);
            return;
        case 3: (void)files.set_mode(root() + "/content", 0777); return;
        default:
            name = "link";
            (void)files.remove(root() + "/link");
            write_over(root() + "/link", junk);
            break;
    }
    // If a crash happened before the write, the content was never there.
    const auto there = files.read(root() + "/" + name);
    if (!machine_.stopped() && there && *there == junk) damaged_[name] = junk;
}

std::vector<std::string> WholeAgent::lost() const {
    std::vector<std::string> out;
    for (const auto& [name, text] : damaged_) {
        const auto now = machine_.system.files.read(root() + "/" + name);
        if (now && *now == text) continue;
        const auto digest = codec::hex_digest(codec::DigestKind::Sha256, text);
        std::string path = machine_.settings.text("clientbucketdir");
        for (std::size_t i = 0; i < 8; ++i) path += fmt::format("/{}", digest[i]);
        const auto kept = machine_.system.files.read(path + "/" + digest + "/contents");
        if (!kept || *kept != text) out.push_back(name);
    }
    return out;
}

}  // namespace bunraku::sim
