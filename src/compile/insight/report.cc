// SPDX-License-Identifier: Apache-2.0
#include "compile/insight/report.h"

#include <algorithm>
#include <fmt/format.h>

#include "compile/insight/folded_names.h"
#include "compile/insight/inputs.h"
#include "core/base/html_text.h"
#include "core/base/text.h"
#include "core/codec/json_text.h"
#include "core/value/rich_data.h"
#include "resources/catalog/line_diff.h"

namespace bunraku::insight {

namespace {

constexpr Verdict kVerdicts[] = {Verdict::Fails,      Verdict::FailsOtherwise, Verdict::Changed,
                                 Verdict::WorksAgain, Verdict::FailsAsBefore,  Verdict::Same,
                                 Verdict::Untouched,  Verdict::Unjudged};

bool is_error(Kind kind) {
    return kind == Kind::Conflict || kind == Kind::Fails || kind == Kind::FailsOtherwise ||
           kind == Kind::Finding;
}
/// Reports whether the changes have JSON values; others have text.
bool has_values(Kind kind) { return kind == Kind::Changed; }

std::string counted(std::size_t count, std::string_view one, std::string_view many) {
    return fmt::format("{} {}", count, count == 1 ? one : many);
}

/// Makes paths below the environment relative.
std::string shorter(std::string text, const std::string& root) {
    if (root.empty()) return text;
    const std::string start = root + "/";
    for (auto at = text.find(start); at != std::string::npos; at = text.find(start, at))
        text.erase(at, start.size());
    return text;
}

/// Returns a string value without quotes, and any other value as JSON.
std::string plain(const std::string& json) {
    if (!json.starts_with('"')) return json;
    base::Arena arena(json.size() + 1024);
    const auto v = value::parse_json(arena, json);
    return v && v->is_string() ? std::string(v->as_string()) : json;
}

std::string cut(std::string_view text, std::size_t most) {
    if (text.size() <= most) return std::string(text);
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
    return std::string(text.substr(0, most)) + "...";
}

std::vector<std::string> at_most(std::vector<std::string> lines, std::size_t most) {
    if (lines.size() <= most) return lines;
    const auto left = lines.size() - most + 1;
    lines.resize(most - 1);
    lines.push_back(fmt::format(" ({} more lines)", left));
    return lines;
}

/// Returns the files of a Kind::Plugin as lines that begin with '-', '+' or ' '.
std::vector<std::string> plugin_lines(const Change& c, std::size_t most_text) {
    std::vector<std::string> out;
    for (const auto line : base::split(c.after, '\n')) {
        const char sign = line.ends_with(" added") ? '+' : line.ends_with(" removed") ? '-' : ' ';
        out.push_back(sign + cut(line, most_text));
    }
    return out;
}

}  // namespace

std::vector<std::string> group_lines(const Group& group, std::size_t most_lines,
                                     std::size_t most_text) {
    const Change& c = group.change;
    std::vector<std::string> out;
    if (c.kind == Kind::Plugin) return at_most(plugin_lines(c, most_text), most_lines);
    if (!has_values(c.kind)) return out;
    const std::string old = plain(c.before), now = plain(c.after);
    if (!c.before.empty() && !c.after.empty() &&
        (old.find('\n') != std::string::npos || now.find('\n') != std::string::npos)) {
        for (auto& line : catalog::line_diff(old, now, group.same_context ? 1 : 0))
            if (!line.starts_with("@@")) out.push_back(cut(line, most_text));
    } else {
        auto add = [&](char sign, const std::string& json, const std::string& text) {
            if (json.empty()) return;
            const bool shown = text.find('\n') == std::string::npos && text == json;
            out.push_back(fmt::format(
                "{}{}", sign,
                cut(shown || text.find('\n') != std::string::npos ? json : text, most_text)));
        };
        add('-', c.before, old);
        add('+', c.after, now);
    }
    return at_most(std::move(out), most_lines);
}

std::string group_title(const Group& group, const std::string& root) {
    const Change& c = group.change;
    switch (c.kind) {
        case Kind::Fails: return "fails, worked before: " + shorter(c.after, root);
        case Kind::FailsOtherwise:
            return fmt::format("fails with another error than before: {}", shorter(c.after, root));
        case Kind::FailsAsBefore: return "fails as before: " + shorter(c.after, root);
        case Kind::WorksAgain: return "works again; was: " + shorter(c.before, root);
        case Kind::Conflict:
        case Kind::Finding:
            return (c.reference.empty() ? "" : c.reference + ": ") + shorter(c.after, root);
        case Kind::Repaired:
            return "no longer: " + (c.reference.empty() ? "" : c.reference + ": ") +
                   shorter(c.before, root);
        case Kind::Content: return c.reference + " content of its source";
        case Kind::Changed: return c.reference + " " + c.parameter;
        case Kind::Plugin: return fmt::format("plugins of {}", c.reference);
        default: return c.reference;
    }
}

namespace {

char sign(Kind kind) {
    switch (kind) {
        case Kind::Added: return '+';
        case Kind::Removed: return '-';
        case Kind::Changed:
        case Kind::Content:
        case Kind::Plugin: return '~';
        case Kind::WorksAgain:
        case Kind::Repaired: return '*';
        case Kind::FailsAsBefore: return ' ';
        default: return '!';
    }
}

std::string names(const Impact& impact, const Group& group, std::size_t most) {
    std::vector<std::string> out;
    for (const auto node : group.nodes) out.push_back(impact.nodes[node].name);
    return folded_names(std::move(out), most);
}

class Painter {
public:
    explicit Painter(bool color) : color_(color) {}
    std::string paint(std::string_view code, std::string_view text) const {
        return color_ ? fmt::format("\033[{}m{}\033[0m", code, text) : std::string(text);
    }
    std::string by_sign(char sign, std::string_view text) const {
        return sign == '+'   ? paint("32", text)
               : sign == '-' ? paint("31", text)
               : sign == '!' ? paint("1;31", text)
               : sign == '~' ? paint("33", text)
                             : std::string(text);
    }

private:
    bool color_;
};

/// "1 fails as before", "2 fail as before".
std::string_view verdict_words(Verdict verdict, std::size_t count) {
    if (verdict == Verdict::Same) return "the same";
    if (count != 1) {
        switch (verdict) {
            case Verdict::Fails: return "fail";
            case Verdict::FailsOtherwise: return "fail otherwise";
            case Verdict::FailsAsBefore: return "fail as before";
            case Verdict::WorksAgain: return "work again";
            default: break;
        }
    }
    return verdict_name(verdict);
}

std::string summary(const Impact& impact) {
    std::string out = counted(impact.nodes.size(), "node", "nodes") + ":";
    bool first = true;
    for (const Verdict verdict : kVerdicts) {
        const auto count = impact.count(verdict);
        if (count == 0) continue;
        out += fmt::format("{} {} {}", first ? "" : ",", count, verdict_words(verdict, count));
        first = false;
    }
    return out;
}

/// Returns the inputs that cause a change. Below each input are its reader and the classes that
/// include the reader.
std::vector<std::string> because_lines(const Group& group, bool whole) {
    constexpr std::size_t kMost = 3;
    std::vector<std::string> out;
    const auto& because = group.because;
    const bool proven = !because.empty() && because.front().proven;
    for (std::size_t i = 0; i < because.size(); ++i) {
        if (!whole && i == kMost) {
            out.push_back(fmt::format("and {} more inputs", because.size() - i));
            break;
        }
        const std::string_view word = i > 0    ? "    and"
                                      : proven ? "because"
                                               : "possibly because of some of these:";
        out.push_back(fmt::format("{} {}", word, because[i].input));
        std::string indent(std::string_view("because ").size(), ' ');
        for (const auto& hop : because[i].hops()) {
            out.push_back(indent + "└─ " + hop);
            indent += "   ";
        }
    }
    return out;
}

std::vector<std::string> block(const Impact& impact, const Group& group, const Painter& painter,
                               bool whole) {
    constexpr std::size_t kAll = 1'000'000'000;
    std::vector<std::string> out;
    const char mark = sign(group.change.kind);
    out.push_back(painter.by_sign(
        mark, fmt::format("{} {}", mark,
                          cut(group_title(group, impact.root), whole ? kAll : std::size_t{400}))));
    for (const auto& line : group_lines(group, whole ? kAll : 8, whole ? kAll : 200))
        out.push_back("    " + painter.by_sign(line.empty() ? ' ' : line[0], line));
    for (auto& line : because_lines(group, whole)) out.push_back("    " + line);
    out.push_back(fmt::format("    {}: {}", counted(group.nodes.size(), "node", "nodes"),
                              names(impact, group, whole ? kAll : 4)));
    return out;
}

}  // namespace

std::string impact_headline(const Impact& impact) {
    const auto fails = impact.count(Verdict::Fails) + impact.count(Verdict::FailsOtherwise);
    const auto changed = impact.count(Verdict::Changed), again = impact.count(Verdict::WorksAgain);
    std::string out =
        fmt::format("{} of {} change", changed, counted(impact.nodes.size(), "node", "nodes"));
    if (fails > 0) out += fmt::format(", {} fail{}", fails, fails == 1 ? "s" : "");
    if (again > 0) out += fmt::format(", {} work{} again", again, again == 1 ? "s" : "");
    const auto conflicts = static_cast<std::size_t>(std::ranges::count_if(
        impact.groups, [](const Group& g) { return g.change.kind == Kind::Conflict; }));
    const auto plugins = static_cast<std::size_t>(std::ranges::count_if(
        impact.groups, [](const Group& g) { return g.change.kind == Kind::Plugin; }));
    if (plugins > 0)
        out += fmt::format(", plugins of {} change for all agents",
                           counted(plugins, "module", "modules"));
    if (!impact.with.empty())
        out +=
            fmt::format(", {} with {}", counted(conflicts, "conflict", "conflicts"), impact.with);
    if (const auto left = impact.count(Verdict::Unjudged); left > 0)
        out += fmt::format(", {} not judged", left);
    return out;
}

std::string impact_text(const Impact& impact, const TextOptions& options) {
    const Painter painter(options.color);
    std::string out = painter.paint("1", fmt::format("{} → {}: {}", impact.from, impact.to,
                                                     impact_headline(impact))) +
                      "\n";
    std::size_t used = 4 + impact.notes.size();
    std::size_t shown = 0;
    for (const Group& group : impact.groups) {
        if (!options.whole && group.change.kind == Kind::FailsAsBefore) {
            ++shown;
            continue;
        }
        const auto lines = block(impact, group, painter, options.whole);
        if (!options.whole && shown > 0 && used + lines.size() + 1 > options.lines) break;
        used += lines.size() + 1;
        out += '\n';
        for (const auto& line : lines) out += line + "\n";
        ++shown;
    }
    if (shown < impact.groups.size())
        out += fmt::format("\n... and {} (--all shows them)\n",
                           counted(impact.groups.size() - shown, "more change", "more changes"));
    for (const auto& note : impact.notes) out += "\nNote: " + note;
    if (!impact.notes.empty()) out += '\n';
    out += "\n" + summary(impact);
    if (options.exit_code) out += fmt::format("; exit code {}", *options.exit_code);
    out += '\n';
    return out;
}

std::string impact_json(const Impact& impact) {
    using codec::json_string;
    std::string out =
        fmt::format("{{\"from\":{},\"to\":{},\"root\":{},\"summary\":{{", json_string(impact.from),
                    json_string(impact.to), json_string(impact.root));
    if (!impact.with.empty()) out.insert(1, fmt::format("\"with\":{},", json_string(impact.with)));
    for (const Verdict verdict : kVerdicts) {
        out += fmt::format("{}{}:{}", verdict == kVerdicts[0] ? "" : ",",
                           json_string(verdict_name(verdict)), impact.count(verdict));
    }
    out += "},\"nodes\":[";
    for (std::size_t i = 0; i < impact.nodes.size(); ++i) {
        const auto& node = impact.nodes[i];
        out += fmt::format("{}{{\"node\":{},\"verdict\":{},\"groups\":[{}]", i ? "," : "",
                           json_string(node.name), json_string(verdict_name(node.verdict)),
                           fmt::join(node.groups, ","));
        if (!node.why.empty()) out += ",\"why\":" + json_string(node.why);
        if (node.varies) out += ",\"varies\":true";
        out += '}';
    }
    out += "],\"groups\":[";
    for (std::size_t g = 0; g < impact.groups.size(); ++g) {
        const auto& group = impact.groups[g];
        const auto& c = group.change;
        out += fmt::format("{}{{\"kind\":{}", g ? "," : "", json_string(kind_name(c.kind)));
        auto text = [&](std::string_view name, const std::string& value) {
            if (!value.empty()) out += fmt::format(",\"{}\":{}", name, json_string(value));
        };
        text("reference", c.reference);
        text("parameter", c.parameter);
        if (has_values(c.kind)) {
            if (!c.before.empty()) out += ",\"before\":" + c.before;
            if (!c.after.empty()) out += ",\"after\":" + c.after;
        } else {
            text("before", c.before);
            text("after", c.after);
        }
        if (c.sensitive) out += ",\"sensitive\":true";
        if (!group.same_context) out += ",\"same_context\":false";
        if (!c.file.empty()) {
            text("file", below(c.file, impact.root));
            out += fmt::format(",\"line\":{}", c.line);
        }
        out += ",\"because\":[";
        for (std::size_t i = 0; i < group.because.size(); ++i) {
            const auto& cause = group.because[i];
            out += fmt::format("{}{{\"input\":{}", i ? "," : "", json_string(cause.input));
            text("path", cause.path);
            if (cause.line > 0) out += fmt::format(",\"line\":{}", cause.line);
            text("reader", cause.reader);
            text("place", cause.place);
            if (!cause.via.empty()) {
                out += ",\"via\":[";
                for (std::size_t n = 0; n < cause.via.size(); ++n)
                    out += (n ? "," : "") + json_string(cause.via[n]);
                out += ']';
            }
            out += fmt::format(",\"proven\":{}}}", cause.proven);
        }
        out += "],\"nodes\":[";
        for (std::size_t i = 0; i < group.nodes.size(); ++i)
            out += (i ? "," : "") + json_string(impact.nodes[group.nodes[i]].name);
        out += "]}";
    }
    out += "],\"notes\":[";
    for (std::size_t i = 0; i < impact.notes.size(); ++i)
        out += (i ? "," : "") + json_string(impact.notes[i]);
    return out + fmt::format("],\"compiled\":{{\"before\":{},\"after\":{},\"tried\":{}}}}}\n",
                             impact.compiled_before, impact.compiled_after, impact.tried);
}

namespace {

std::string one_line(std::string text) {
    std::ranges::replace(text, '\n', ' ');
    return text;
}

/// Returns text between backticks; works for any text.
std::string code(std::string text) {
    text = one_line(std::move(text));
    if (text.find('`') == std::string::npos) return "`" + text + "`";
    return "`` " + text + " ``";
}

}  // namespace

std::string impact_markdown(const Impact& impact) {
    constexpr std::size_t kMost = 60'000;  // GitHub takes 65,536 characters
    std::string out = fmt::format("### Puppet: {}\n\n{} → {}. {}.\n", impact_headline(impact),
                                  code(impact.from), code(impact.to), summary(impact));
    for (const auto& note : impact.notes) out += fmt::format("\n> {}\n", note);
    std::size_t shown = 0;
    for (const Group& group : impact.groups) {
        const char mark = sign(group.change.kind);
        std::string text =
            fmt::format("\n<details{}><summary>{} <code>{}</code> – {}</summary>\n\n",
                        is_error(group.change.kind) ? " open" : "",
                        mark == '!'   ? "❌"
                        : mark == '+' ? "➕"
                        : mark == '-' ? "➖"
                        : mark == '*' ? "✅"
                                      : "✏️",
                        base::html_text(one_line(cut(group_title(group, impact.root), 300))),
                        counted(group.nodes.size(), "node", "nodes"));
        const auto lines = group_lines(group, 30, 300);
        if (!lines.empty()) {
            // A fence longer than any in the text.
            std::string fence = "```";
            for (const auto& line : lines)
                while (line.find(fence) != std::string::npos) fence += '`';
            text += fence + "diff\n";
            for (const auto& line : lines) text += line + "\n";
            text += fence + "\n\n";
        }
        for (std::size_t i = 0; i < group.because.size() && i < 10; ++i)
            text +=
                fmt::format("{} {}  \n", i == 0 ? "because" : "and", code(group.because[i].text()));
        text += fmt::format("\n{}\n\n</details>\n", names(impact, group, 50));
        if (out.size() + text.size() > kMost) break;
        out += text;
        ++shown;
    }
    if (shown < impact.groups.size())
        out += fmt::format("\n... and {}.\n",
                           counted(impact.groups.size() - shown, "more change", "more changes"));
    return out;
}

std::string impact_sarif(const Impact& impact, std::string_view version) {
    using codec::json_string;
    std::string out = fmt::format(
        "{{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\":\"2.1.0\","
        "\"runs\":[{{\"tool\":{{\"driver\":{{\"name\":\"bunraku impact\",\"version\":{},"
        "\"rules\":[",
        json_string(version));
    auto rule = [](Kind kind) {
        std::string name(kind_name(kind));
        std::ranges::replace(name, ' ', '-');
        return name;
    };
    for (int k = 0; k <= static_cast<int>(Kind::Plugin); ++k)
        out +=
            fmt::format("{}{{\"id\":{}}}", k ? "," : "", json_string(rule(static_cast<Kind>(k))));
    out += "]}},\"results\":[";
    bool first = true;
    for (const Group& group : impact.groups) {
        const Change& c = group.change;
        std::string message = group_title(group, impact.root);
        for (const auto& line : group_lines(group, 20, 300)) message += "\n" + line;
        for (const auto& cause : group.because) message += "\nbecause " + cause.text();
        message += fmt::format("\n{}: {}", counted(group.nodes.size(), "node", "nodes"),
                               names(impact, group, 20));
        std::string path, place;
        int line = 0;
        if (!group.because.empty()) {
            path = group.because.front().path;
            line = group.because.front().line;
        }
        if (path.empty() && !c.file.empty()) {
            path = below(c.file, impact.root);
            line = c.line;
        }
        // Code scanning can only show files of the repository.
        if (!path.empty() && path[0] != '/') {
            place = fmt::format(
                ",\"locations\":[{{\"physicalLocation\":{{\"artifactLocation\":{{\"uri\":{}}},"
                "\"region\":{{\"startLine\":{}}}}}}}]",
                json_string(path), std::max(line, 1));
        }
        out += fmt::format("{}{{\"ruleId\":{},\"level\":\"{}\",\"message\":{{\"text\":{}}}{}}}",
                           first ? "" : ",", json_string(rule(c.kind)),
                           is_error(c.kind)                ? "error"
                           : c.kind == Kind::FailsAsBefore ? "warning"
                                                           : "note",
                           json_string(message), place);
        first = false;
    }
    return out + "]}]}\n";
}

}  // namespace bunraku::insight
