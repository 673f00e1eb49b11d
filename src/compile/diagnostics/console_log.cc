// SPDX-License-Identifier: Apache-2.0
#include "compile/diagnostics/console_log.h"

#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compile/diagnostics/source_error.h"
#include "core/base/text.h"
#include "core/sys/clock.h"
#include "core/sys/terminal.h"
#include "core/sys/wording.h"
#include "core/value/rich_data.h"
#include "resources/catalog/wire_time.h"

namespace bunraku::diagnostics {

namespace {

using base::Diagnostic;
using base::Level;

constexpr const char* kReset = "\033[0m";

/// Refused: disabled by the user. None: enabled, but the output is not a terminal.
enum class Coloring : std::uint8_t { Refused, None, Ansi, Html };

struct LevelStyle {
    std::string_view name;
    const char* ansi;
    const char* html;
    bool error_stream;
};

/// Returns the label, colour and stream of a level, as on Puppet's console.
LevelStyle style_of(Level level) {
    switch (level) {
        case Level::Debug: return {"Debug", "\033[0;36m", "color: #40FFFF", false};
        case Level::Info: return {"Info", "\033[0;32m", "color: #00CD00", false};
        case Level::Notice: return {"Notice", "\033[m", "", false};
        case Level::Warning: return {"Warning", "\033[1;33m", "color: #FFFF60", true};
        case Level::Err: return {"Error", "\033[1;31m", "color: #FFA0A0", true};
        case Level::Alert: return {"Alert", "\033[1;31m", "color: #FFA0A0", true};
        case Level::Emerg: return {"Emergency", "\033[1;31m", "color: #FFA0A0", true};
        case Level::Crit: return {"Critical", "\033[1;31m", "color: #FFA0A0", true};
    }
    return {"Notice", "", "", false};
}

/// Reports whether a record may be the error of a file system: it has no place in a manifest.
bool may_be_system_error(const Diagnostic& d) {
    return d.level >= Level::Warning && !d.authored && !d.where.known() && d.issue_code.empty() &&
           !d.message.contains("(file: ") && !d.message.contains("(line: ");
}

/// A sink that adds explanations to errors.
class SourceErrorSink : public base::LogSink {
public:
    using LogSink::log;
    void log(const Diagnostic& d) override { log_explained(d, nullptr); }
    void log_explained(const Diagnostic& d, const compiler::Explanation* known) {
        if (!plain_system_errors || !may_be_system_error(d)) return write(d, known);
        Diagnostic plain = d;
        plain.message = sys::plain_text(d.message);
        write(plain, known);
    }
    virtual void show_trace(const std::vector<std::string>&) {}

    bool plain_system_errors = false;

protected:
    virtual void write(const Diagnostic& d, const compiler::Explanation* known) = 0;
};

/// Returns the width of the terminal, or 0 if unknown.
std::size_t terminal_width() {
    winsize size{};
    return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/// Reports whether the stream is connected to systemd's journal (systemd.exec(5), JOURNAL_STREAM).
bool is_journal(std::FILE* stream) {
    const char* named = std::getenv("JOURNAL_STREAM");
    struct stat status{};
    if (!named || ::fstat(::fileno(stream), &status) != 0) return false;
    return named == fmt::format("{}:{}", status.st_dev, status.st_ino);
}

/// Returns the prefix for a line in the format of sd-daemon(3).
std::string_view syslog_prefix(Level level) {
    switch (level) {
        case Level::Debug: return "<7>";
        case Level::Info: return "<6>";
        case Level::Notice: return "<5>";
        case Level::Warning: return "<4>";
        case Level::Err: return "<3>";
        case Level::Crit: return "<2>";
        case Level::Alert: return "<1>";
        case Level::Emerg: return "<0>";
    }
    return "<5>";
}

/// Returns a record's text for the stream. For the journal, each line begins with the priority;
/// otherwise, the text begins with the time if `stamps` requests it.
std::string stamped(std::string text, Level level, std::FILE* stream, Stamps stamps) {
    if (!is_journal(stream)) {
        if (stamps == Stamps::Time)
            text.insert(0, sys::local_text(sys::make_real_clock()->now_ns()) + " ");
        return text;
    }
    std::string out;
    for (const auto line : base::lines(text)) out.append(syslog_prefix(level)).append(line) += '\n';
    return out;
}

class ConsoleSink final : public SourceErrorSink {
public:
    ConsoleSink(Level level, Streams streams, Coloring out, Coloring errors, bool explains,
                std::string code, Stamps stamps)
        : level_(level),
          stamps_(stamps),
          streams_(streams),
          out_(out),
          errors_(errors),
          explains_(explains),
          sources_(std::move(code)) {}

    bool enabled(Level level) const override { return level >= level_; }
    void write(const Diagnostic& d, const compiler::Explanation* known) override {
        if (!enabled(d.level)) return;
        LevelStyle style = style_of(d.level);
        bool to_err = style.error_stream || streams_ == Streams::Errors;
        std::FILE* stream = to_err ? stderr : stdout;
        const Coloring coloring = to_err ? errors_ : out_;
        std::string text;
        if (coloring == Coloring::Ansi) text += style.ansi;
        if (coloring == Coloring::Html) text += fmt::format("<span style=\"{}\">", style.html);
        text.append(style.name).append(": ");
        if (d.source != "Puppet" && !d.source.empty()) text.append(d.source).append(": ");
        text += d.message;
        // Records with an issue code have the location outside of the text, but plain logs show
        // only the text.
        if (!d.issue_code.empty() || d.deprecation) {
            std::string place = base::format_location(d.where);
            if (!place.empty() && d.message.find(place) == std::string::npos) {
                text.append(" ").append(place);
            }
        }
        if (coloring == Coloring::Ansi) text += kReset;
        if (coloring == Coloring::Html) text += "</span>";
        // If a text already ends with a newline (such as a diff of files), Puppet adds another one
        // when a colour reset follows it.
        if (coloring != Coloring::Refused || !text.ends_with('\n')) text += '\n';
        if (explains_ && to_err && d.level >= Level::Err)
            text += source_error_text(explain_record(d, known, sources_), d, terminal_width());
        text = stamped(std::move(text), d.level, stream, stamps_);
        std::fwrite(text.data(), 1, text.size(), stream);
        std::fflush(stream);
    }
    void show_trace(const std::vector<std::string>& trace) override {
        if (!explains_) return;
        for (const std::string& frame : trace) fmt::print(stderr, "    from {}\n", frame);
    }

private:
    Level level_;
    Stamps stamps_;
    Streams streams_;
    Coloring out_, errors_;
    bool explains_;
    SourceTexts sources_;
};

/// Returns the first member of a JSON record, as in the access log.
std::string json_time() {
    const auto now = sys::make_real_clock()->now_ns() / 1'000'000;
    return fmt::format("\"time\":\"{}\",", catalog::format_wire_time(now));
}

class JsonSink final : public SourceErrorSink {
public:
    JsonSink(Level level, bool explains, std::string code, Stamps stamps)
        : level_(level), stamps_(stamps), explains_(explains), sources_(std::move(code)) {}
    bool enabled(Level level) const override { return level >= level_; }
    void write(const Diagnostic& d, const compiler::Explanation* known) override {
        if (!enabled(d.level)) return;
        std::string out = "{";
        if (stamps_ == Stamps::Time) out += json_time();
        out += fmt::format("\"level\":\"{}\",\"message\":", base::level_name(d.level));
        add_text(out, d.message);
        if (d.source != "Puppet" && !d.source.empty()) {
            out += ",\"source\":";
            add_text(out, d.source);
        }
        if (!d.where.file.empty()) {
            out += ",\"file\":";
            add_text(out, d.where.file);
        }
        if (d.where.line > 0) out += fmt::format(",\"line\":{}", d.where.line);
        if (d.where.column > 0) out += fmt::format(",\"pos\":{}", d.where.column);
        if (!d.issue_code.empty()) {
            out += ",\"issue_code\":";
            add_text(out, d.issue_code);
        }
        if (d.deprecation) out += ",\"kind\":\"deprecation\"";
        if (!d.tags.empty()) {
            out += ",\"tags\":[";
            for (std::size_t i = 0; i < d.tags.size(); ++i) {
                if (i) out += ',';
                add_text(out, d.tags[i]);
            }
            out += ']';
        }
        if (explains_ && d.level >= Level::Err)
            out += source_error_json(explain_record(d, known, sources_));
        out += "}\n";
        if (is_journal(stderr)) out.insert(0, syslog_prefix(d.level));
        std::fwrite(out.data(), 1, out.size(), stderr);
    }

private:
    static void add_text(std::string& out, std::string_view text) {
        value::write_json(out, value::Value::string(text));
    }
    Level level_;
    Stamps stamps_;
    bool explains_;
    SourceTexts sources_;
};

/// Writes one SARIF log, with the warnings and errors, when the command ends.
class SarifSink final : public SourceErrorSink {
public:
    SarifSink(std::string code, std::string_view version)
        : sources_(std::move(code)), version_(version) {}
    ~SarifSink() override {
        const std::string out = sarif_log(records_, version_);
        std::fwrite(out.data(), 1, out.size(), stderr);
    }
    SarifSink(const SarifSink&) = delete;
    bool enabled(Level level) const override { return level >= Level::Warning; }
    void write(const Diagnostic& d, const compiler::Explanation* known) override {
        if (enabled(d.level)) records_.emplace_back(d, explain_record(d, known, sources_));
    }

private:
    SourceTexts sources_;
    std::string_view version_;
    std::vector<std::pair<Diagnostic, SourceError>> records_;
};

/// Interprets the setting like Puppet::Util::Colors. If it is not set, the kind of the output
/// decides.
Coloring coloring_of(const std::string& choice, int fd) {
    if (choice.empty()) return sys::has_colors(fd) ? Coloring::Ansi : Coloring::None;
    if (choice == "ansi" || choice == "true" || choice == "yes") return Coloring::Ansi;
    return choice == "html" ? Coloring::Html : Coloring::Refused;
}

}  // namespace

std::string json_record(Level level, std::string_view message) {
    std::string out =
        fmt::format("{{{}\"level\":\"{}\",\"message\":", json_time(), base::level_name(level));
    value::write_json(out, value::Value::string(message));
    return out + "}\n";
}

std::unique_ptr<base::LogSink> make_console_log(const ConsoleLogOptions& options) {
    std::unique_ptr<SourceErrorSink> sink;
    if (options.format == "json")
        sink = std::make_unique<JsonSink>(options.level, options.explain_errors, options.code,
                                          options.stamps);
    else if (options.format == "sarif")
        sink = std::make_unique<SarifSink>(options.code, options.version);
    else
        sink = std::make_unique<ConsoleSink>(
            options.level, options.streams, coloring_of(options.color, STDOUT_FILENO),
            coloring_of(options.color, STDERR_FILENO),
            options.explain_errors || isatty(STDERR_FILENO) == 1, options.code, options.stamps);
    sink->plain_system_errors = options.plain_system_errors;
    return sink;
}

void report_error(base::LogSink& sink, const base::PuppetError& error, std::string_view suffix,
                  std::string_view prefix) {
    const Diagnostic record{.level = Level::Err,
                            .message = fmt::format("{}{}{}", prefix, error.full_text(), suffix),
                            .where = error.where(),
                            .issue_code = error.issue_code(),
                            .authored = error.authored};
    auto* source_errors = dynamic_cast<SourceErrorSink*>(&sink);
    if (!source_errors) return sink.log(record);
    const auto* known = dynamic_cast<const compiler::ExplainedError*>(&error);
    compiler::Explanation place;
    place.where = error.shown_location();
    source_errors->log_explained(record, known ? &known->explanation : &place);
    source_errors->show_trace(error.trace());
}

}  // namespace bunraku::diagnostics
