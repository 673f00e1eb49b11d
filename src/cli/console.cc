#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <unistd.h>

#include "cli/command.h"
#include "value/rich_data.h"

namespace bunraku::cli {

namespace {

using base::Diagnostic;
using base::Level;

constexpr const char* kReset = "\033[0m";

enum class Coloring : std::uint8_t { None, Ansi, Html };

struct LevelStyle {
    std::string_view name;
    const char* ansi;
    const char* html;
    bool error_stream;
};

/// Puppet's console: label, colour and stream of each level.
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

/// The line of the source with a caret under the column; empty where it can't be read.
std::string source_excerpt(const base::Location& where) {
    if (where.file.empty() || where.line <= 0) return {};
    std::ifstream in(where.file);
    std::string line;
    for (int i = 0; i < where.line; ++i) {
        if (!std::getline(in, line)) return {};
    }
    if (line.size() > 400) return {};
    std::string number = std::to_string(where.line);
    std::string text = fmt::format("  {} | {}\n", number, line);
    if (where.column > 0) {
        std::string pad;
        int column = 1;
        for (char c : line) {
            if (column >= where.column) break;
            // Continuation bytes of UTF-8 take no room; tabs must stay tabs to line up.
            if ((static_cast<unsigned char>(c) & 0xC0) == 0x80) continue;
            pad += c == '\t' ? '\t' : ' ';
            ++column;
        }
        text += fmt::format("  {} | {}^\n", std::string(number.size(), ' '), pad);
    }
    return text;
}

class ConsoleSink final : public base::LogSink {
public:
    ConsoleSink(Level level, Streams streams, Coloring out, Coloring errors, bool excerpts)
        : level_(level), streams_(streams), out_(out), errors_(errors), excerpts_(excerpts) {}

    using LogSink::log;
    bool enabled(Level level) const override { return level >= level_; }
    void log(const Diagnostic& d) override {
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
        // Records with an issue carry their place apart from the text; plain logs show none.
        if (!d.issue_code.empty() || d.deprecation) {
            std::string place = base::format_location(d.where);
            if (!place.empty() && d.message.find(place) == std::string::npos) {
                text.append(" ").append(place);
            }
        }
        if (coloring == Coloring::Ansi) text += kReset;
        if (coloring == Coloring::Html) text += "</span>";
        text += '\n';
        if (excerpts_ && to_err && d.level >= Level::Err) text += source_excerpt(d.where);
        std::fwrite(text.data(), 1, text.size(), stream);
        std::fflush(stream);
    }
    void show_trace(const std::vector<std::string>& trace) {
        if (!excerpts_) return;
        for (const std::string& frame : trace) fmt::print(stderr, "    from {}\n", frame);
    }

private:
    Level level_;
    Streams streams_;
    Coloring out_, errors_;
    bool excerpts_;
};

class JsonSink final : public base::LogSink {
public:
    explicit JsonSink(Level level) : level_(level) {}
    using LogSink::log;
    bool enabled(Level level) const override { return level >= level_; }
    void log(const Diagnostic& d) override {
        if (!enabled(d.level)) return;
        std::string out = fmt::format("{{\"level\":\"{}\",\"message\":", base::level_name(d.level));
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
        out += "}\n";
        std::fwrite(out.data(), 1, out.size(), stderr);
    }

private:
    static void add_text(std::string& out, std::string_view text) {
        value::write_json(out, value::Value::string(text));
    }
    Level level_;
};

/// What Puppet::Util::Colors does with the setting; where nobody set it the terminal decides.
Coloring coloring_of(const std::string& choice, int fd) {
    if (choice.empty()) {
        const char* no_color = std::getenv("NO_COLOR");
        return isatty(fd) == 1 && !(no_color && *no_color) ? Coloring::Ansi : Coloring::None;
    }
    if (choice == "ansi" || choice == "true" || choice == "yes") return Coloring::Ansi;
    return choice == "html" ? Coloring::Html : Coloring::None;
}

}  // namespace

std::unique_ptr<base::LogSink> make_console_sink(const OptionParser& options, Streams streams) {
    Level level = options.log_level.value_or(Level::Notice);
    if (options.log_format == "json") return std::make_unique<JsonSink>(level);
    return std::make_unique<ConsoleSink>(level, streams, coloring_of(options.color, STDOUT_FILENO),
                                         coloring_of(options.color, STDERR_FILENO),
                                         isatty(STDERR_FILENO) == 1);
}

void report_error(base::LogSink& sink, const base::PuppetError& error, std::string_view suffix) {
    sink.log(Diagnostic{.level = Level::Err,
                        .message = error.full_text() + std::string(suffix),
                        .where = error.where(),
                        .issue_code = error.issue_code()});
    if (auto* console = dynamic_cast<ConsoleSink*>(&sink)) console->show_trace(error.trace());
}

}  // namespace bunraku::cli
