// SPDX-License-Identifier: Apache-2.0
#include "services/agent/log_destinations.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include "core/base/arena.h"
#include "core/config/setting_lists.h"
#include "core/sys/clock.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "core/value/build.h"
#include "core/value/rich_data.h"
#include "resources/apply/storage.h"

namespace bunraku::agent {

namespace {

using base::failure;
using base::Level;
using base::Result;
using value::Value;

std::int64_t now_ns() {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * 1'000'000'000L + now.tv_nsec;
}

/// Returns a record in Puppet's format for JSON files or, with all keys, in the format of logstash.
std::string record_json(const base::Diagnostic& d, bool logstash) {
    base::Arena arena(1024);
    value::HashBuilder h(arena);
    h.set("level", value::make_string(arena, base::level_name(d.level)));
    h.set("message", value::make_string(arena, d.message));
    h.set("source", value::make_string(arena, d.source));
    std::vector<Value> tags{value::make_string(arena, base::level_name(d.level))};
    for (const std::string& t : d.tags) tags.push_back(value::make_string(arena, t));
    h.set("tags", value::make_array(arena, tags));
    const Value time = value::make_string(arena, apply::iso8601_local(now_ns()));
    if (!logstash) h.set("time", time);
    if (!d.where.file.empty()) {
        h.set("file", value::make_string(arena, d.where.file));
    } else if (logstash) {
        h.set("file", Value::undef());
    }
    if (d.where.line > 0) {
        h.set("line", Value::integer(d.where.line));
    } else if (logstash) {
        h.set("line", Value::undef());
    }
    if (logstash) {
        h.set("version", Value::integer(1));
        h.set("@timestamp", time);
    }
    return value::to_json(h.build());
}

/// A sink that drops records below its level.
class Leveled : public base::LogSink {
public:
    explicit Leveled(Level level) : level_(level) {}
    using LogSink::log;
    bool enabled(Level level) const override { return level >= level_; }
    void log(const base::Diagnostic& d) override {
        if (enabled(d.level)) write(d);
    }

protected:
    virtual void write(const base::Diagnostic& d) = 0;

private:
    Level level_;
};

class FileSink final : public Leveled {
public:
    enum class Form { Lines, Json, JsonLines };
    FileSink(int fd, Form form, Level level) : Leveled(level), fd_(fd), form_(form) {
        // A JSON file is continued if it exists. Like Puppet, never closes the array.
        struct stat st{};
        if (form_ != Form::Json || ::fstat(fd_, &st) != 0) return;
        if (st.st_size == 0) put("[\n");
        first_ = st.st_size <= 2;
    }
    ~FileSink() override { ::close(fd_); }

protected:
    void write(const base::Diagnostic& d) override {
        switch (form_) {
            case Form::Lines:
                put(fmt::format("{} {} ({}): {}\n", sys::local_text(now_ns()), d.source,
                                base::level_name(d.level), d.message));
                break;
            case Form::JsonLines: put(record_json(d, false) + "\n"); break;
            case Form::Json:
                put((first_ ? "" : ",\n") + record_json(d, false) + "\n");
                first_ = false;
                break;
        }
    }

private:
    void put(std::string_view text) {
        while (!text.empty()) {
            ssize_t n = ::write(fd_, text.data(), text.size());
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) return;
            text.remove_prefix(static_cast<std::size_t>(n));
        }
    }
    int fd_;
    Form form_;
    bool first_ = true;
};

class LogstashSink final : public Leveled {
public:
    using Leveled::Leveled;

protected:
    void write(const base::Diagnostic& d) override {
        std::puts(record_json(d, true).c_str());
        std::fflush(stdout);
    }
};

int syslog_priority(Level level) {
    switch (level) {
        case Level::Debug: return LOG_DEBUG;
        case Level::Info: return LOG_INFO;
        case Level::Notice: return LOG_NOTICE;
        case Level::Warning: return LOG_WARNING;
        case Level::Err: return LOG_ERR;
        case Level::Alert: return LOG_ALERT;
        case Level::Emerg: return LOG_EMERG;
        case Level::Crit: return LOG_CRIT;
    }
    return LOG_NOTICE;
}

struct Facility {
    std::string_view name;
    int code;
};
constexpr Facility kFacilities[] = {
    {"auth", LOG_AUTH},     {"authpriv", LOG_AUTHPRIV}, {"cron", LOG_CRON},
    {"daemon", LOG_DAEMON}, {"ftp", LOG_FTP},           {"kern", LOG_KERN},
    {"local0", LOG_LOCAL0}, {"local1", LOG_LOCAL1},     {"local2", LOG_LOCAL2},
    {"local3", LOG_LOCAL3}, {"local4", LOG_LOCAL4},     {"local5", LOG_LOCAL5},
    {"local6", LOG_LOCAL6}, {"local7", LOG_LOCAL7},     {"lpr", LOG_LPR},
    {"mail", LOG_MAIL},     {"news", LOG_NEWS},         {"syslog", LOG_SYSLOG},
    {"user", LOG_USER},     {"uucp", LOG_UUCP}};

class SyslogSink final : public Leveled {
public:
    SyslogSink(Level level, int facility) : Leveled(level) {
        ::openlog("puppet-user", LOG_PID | LOG_NDELAY, facility);
    }
    ~SyslogSink() override { ::closelog(); }

protected:
    void write(const base::Diagnostic& d) override {
        for (const std::string& line : syslog_lines(d)) {
            ::syslog(syslog_priority(d.level), "%s", line.c_str());
        }
    }
};

class Several final : public base::LogSink {
public:
    using LogSink::log;
    bool enabled(Level level) const override {
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

Result<std::unique_ptr<base::LogSink>> open_file(const std::string& path, Level level,
                                                 std::vector<std::string>& created) {
    std::string folder = path.substr(0, path.rfind('/'));
    struct stat st{};
    if (!folder.empty() && ::stat(folder.c_str(), &st) != 0 && errno == ENOENT) {
        BUNRAKU_TRY_VOID(sys::disk().make_directories(folder, 0755));
        created.push_back(folder);
    }
    int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
    if (fd < 0) return failure("Could not open " + path, errno);
    auto form = path.ends_with(".jsonl")  ? FileSink::Form::JsonLines
                : path.ends_with(".json") ? FileSink::Form::Json
                                          : FileSink::Form::Lines;
    return std::make_unique<FileSink>(fd, form, level);
}

}  // namespace

std::vector<std::string> syslog_lines(const base::Diagnostic& diagnostic) {
    std::string before;
    if (diagnostic.source != "Puppet" && !diagnostic.source.empty()) {
        before = "(" + diagnostic.source + ") ";
    }
    std::vector<std::string> out;
    std::string_view rest = diagnostic.message;
    while (!rest.empty()) {
        const std::size_t end = rest.find('\n');
        out.push_back(before + std::string(rest.substr(0, end)));
        rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    }
    return out;
}

Result<std::unique_ptr<base::LogSink>> make_log_destinations(const std::vector<std::string>& names,
                                                             std::unique_ptr<base::LogSink> console,
                                                             std::optional<Level> level,
                                                             const std::string& facility) {
    std::vector<std::string> all;
    for (const std::string& name : names) {
        for (std::string& one : config::split_list(name)) {
            if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(std::move(one));
        }
    }
    if (all.empty()) return console;
    const Level lowest = level.value_or(Level::Notice);
    auto out = std::make_unique<Several>();
    std::vector<std::string> created;
    for (const std::string& name : all) {
        if (name == "console") {
            out->sinks.push_back(std::move(console));
        } else if (name == "syslog") {
            auto it = std::find_if(std::begin(kFacilities), std::end(kFacilities),
                                   [&](const Facility& f) { return f.name == facility; });
            if (it == std::end(kFacilities)) {
                return failure(fmt::format("Invalid syslog facility {}", facility));
            }
            out->sinks.push_back(std::make_unique<SyslogSink>(lowest, it->code));
        } else if (name == "logstash_event") {
            out->sinks.push_back(std::make_unique<LogstashSink>(lowest));
        } else if (name.starts_with('/')) {
            out->sinks.push_back(BUNRAKU_TRY(open_file(name, lowest, created)));
        } else {
            return failure(fmt::format("Unknown destination type {}", name));
        }
    }
    for (const std::string& folder : created) {
        out->log(Level::Info, fmt::format("Creating log directory {}", folder));
    }
    return std::unique_ptr<base::LogSink>(std::move(out));
}

}  // namespace bunraku::agent
