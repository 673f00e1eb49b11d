#include "cli/apply_setup.h"

#include <algorithm>
#include <cstdio>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "apply/storage.h"
#include "value/build.h"
#include "value/rich_data.h"

namespace bunraku::cli {
namespace {

std::vector<std::string> tag_list(std::string_view text) {
    std::vector<std::string> out;
    while (!text.empty()) {
        std::size_t comma = text.find(',');
        std::string_view one = text.substr(0, comma);
        while (!one.empty() && one.front() == ' ') one.remove_prefix(1);
        while (!one.empty() && one.back() == ' ') one.remove_suffix(1);
        if (!one.empty()) out.emplace_back(one);
        if (comma == std::string_view::npos) break;
        text.remove_prefix(comma + 1);
    }
    return out;
}

// "32d", "12h", "3600".
std::int64_t seconds_of(const std::string& text) {
    char* end = nullptr;
    long n = std::strtol(text.c_str(), &end, 10);
    switch (end ? *end : '\0') {
        case 'y': return n * 365L * 86400;
        case 'd': return n * 86400L;
        case 'h': return n * 3600L;
        case 'm': return n * 60L;
        default: return n;
    }
}

class FileSink final : public base::LogSink {
public:
    enum class Form { Lines, Json, JsonLines };
    FileSink(int fd, Form form, base::Level level) : fd_(fd), form_(form), level_(level) {}
    ~FileSink() override {
        if (form_ == Form::Json) put(first_ ? "[]\n" : "]\n");
        ::close(fd_);
    }
    using LogSink::log;
    bool enabled(base::Level level) const override { return level >= level_; }
    void log(const base::Diagnostic& d) override {
        if (!enabled(d.level)) return;
        timespec now{};
        clock_gettime(CLOCK_REALTIME, &now);
        std::int64_t ns = now.tv_sec * 1'000'000'000L + now.tv_nsec;
        if (form_ == Form::Lines) {
            put(fmt::format("{} {} ({}): {}\n", sys::local_text(ns), d.source,
                            base::level_name(d.level), d.message));
            return;
        }
        base::Arena arena(1024);
        value::HashBuilder h(arena);
        h.set("level", value::make_string(arena, base::level_name(d.level)));
        h.set("message", value::make_string(arena, d.message));
        h.set("source", value::make_string(arena, d.source));
        std::vector<value::Value> tags{value::make_string(arena, base::level_name(d.level))};
        for (const std::string& t : d.tags) tags.push_back(value::make_string(arena, t));
        h.set("tags", value::make_array(arena, tags));
        h.set("time", value::make_string(arena, apply::iso8601_local(ns)));
        if (!d.where.file.empty()) h.set("file", value::make_string(arena, d.where.file));
        if (d.where.line > 0) h.set("line", value::Value::integer(d.where.line));
        std::string text = value::to_json(h.build());
        if (form_ == Form::JsonLines) {
            put(text + "\n");
        } else {
            put((first_ ? "[" : ",\n") + text);
        }
        first_ = false;
    }

private:
    void put(std::string_view text) {
        while (!text.empty()) {
            ssize_t n = ::write(fd_, text.data(), text.size());
            if (n <= 0) return;
            text.remove_prefix(static_cast<std::size_t>(n));
        }
    }
    int fd_;
    Form form_;
    base::Level level_;
    bool first_ = true;
};

class Several final : public base::LogSink {
public:
    using LogSink::log;
    bool enabled(base::Level level) const override {
        return std::any_of(sinks.begin(), sinks.end(),
                           [&](const auto& s) { return s->enabled(level); });
    }
    void log(const base::Diagnostic& d) override {
        for (const auto& s : sinks) {
            if (s->enabled(d.level)) s->log(d);
        }
    }
    std::vector<std::unique_ptr<base::LogSink>> sinks;
};

}  // namespace

ApplySession::ApplySession(Invocation& invocation, base::LogSink& log)
    : invocation_(invocation),
      sink_(log, system_.system().clock),
      context_{.system = system_.system(), .log = sink_} {
    const config::Settings& s = invocation.settings;
    apply::Options& o = context_.options;
    o.noop = s.boolean("noop");
    o.show_diff = s.boolean("show_diff");
    o.ignoreschedules = s.boolean("ignoreschedules");
    o.default_schedules = s.boolean("default_schedules");
    o.evaltrace = s.boolean("evaltrace");
    o.graph = s.boolean("graph");
    o.merge_dependency_warnings = s.boolean("merge_dependency_warnings");
    o.exclude_unchanged_resources = s.boolean("exclude_unchanged_resources");
    o.preprocess_deferred = s.boolean("preprocess_deferred");
    o.tags = tag_list(s.text("tags"));
    o.skip_tags = tag_list(s.text("skip_tags"));
    if (auto v = s.text("digest_algorithm"); !v.empty()) o.digest_algorithm = v;
    o.diff = s.text("diff");
    o.diff_args = s.text("diff_args");
    o.statefile = s.text("statefile");
    o.graphdir = s.text("graphdir");
    o.clientbucketdir = s.text("clientbucketdir");
    o.statettl = seconds_of(s.text("statettl"));
    if (auto v = s.text("environment"); !v.empty()) o.environment = v;
}

apply::RunSettings ApplySession::run_settings() const {
    const config::Settings& s = invocation_.settings;
    apply::RunSettings out;
    out.lastrunfile = s.text("lastrunfile");
    out.lastrunreport = s.text("lastrunreport");
    out.reportdir = s.text("reportdir");
    auto processors = tag_list(s.text("reports"));
    out.store_report = std::find(processors.begin(), processors.end(), "store") != processors.end();
    out.prerun_command = s.text("prerun_command");
    out.postrun_command = s.text("postrun_command");
    out.puppet_version = std::string(kPuppetVersion);
    return out;
}

std::optional<std::string> ModuleContent::local_path(std::string_view uri) {
    // "puppet://SERVER/modules/NAME/PATH"; the server is this program.
    std::size_t at = uri.find("://");
    if (at == std::string_view::npos) return std::nullopt;
    std::string_view path = uri.substr(at + 3);
    std::size_t slash = path.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    path.remove_prefix(slash + 1);
    constexpr std::string_view kModules = "modules/";
    if (!path.starts_with(kModules) || !environment_) return std::nullopt;
    path.remove_prefix(kModules.size());
    slash = path.find('/');
    std::string_view name = path.substr(0, slash);
    std::string_view rest =
        slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
    const environment::Module* module = environment_->module(name);
    if (!module) return std::nullopt;
    std::string files = sys::join(module->path, "files");
    std::string full = rest.empty() ? files : sys::expand_path(sys::join(files, rest));
    if (full != files && !full.starts_with(files + "/")) return std::nullopt;
    return full;
}

std::unique_ptr<base::LogSink> make_log_destinations(const std::vector<std::string>& names,
                                                     std::unique_ptr<base::LogSink> console,
                                                     std::optional<base::Level> level) {
    std::vector<std::string> all;
    for (const std::string& name : names) {
        for (std::string& one : tag_list(name)) all.push_back(std::move(one));
    }
    if (all.empty()) return console;
    auto out = std::make_unique<Several>();
    for (const std::string& name : all) {
        if (name == "console" || name == "syslog" || name == "eventlog") {
            if (console) out->sinks.push_back(std::move(console));
            continue;
        }
        int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
        if (fd < 0) return nullptr;
        auto form = name.ends_with(".jsonl")  ? FileSink::Form::JsonLines
                    : name.ends_with(".json") ? FileSink::Form::Json
                                              : FileSink::Form::Lines;
        out->sinks.push_back(
            std::make_unique<FileSink>(fd, form, level.value_or(base::Level::Notice)));
    }
    return out;
}

}  // namespace bunraku::cli
