// SPDX-License-Identifier: Apache-2.0
#include "compile/reference/help_page.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

#include "core/base/text.h"

namespace bunraku::reference {

namespace {

constexpr std::size_t kCodeIndent = 4;

bool is_heading(std::string_view line) {
    if (line.starts_with("## ")) return true;
    return line.size() > 2 && std::isupper(static_cast<unsigned char>(line[0])) != 0 &&
           std::ranges::all_of(
               line, [](unsigned char c) { return std::isupper(c) != 0 || c == ' ' || c == '/'; });
}

/// Returns the position of the first two consecutive blanks.
std::size_t gap_of(std::string_view text) { return std::min(text.find("  "), text.size()); }

std::string without_ticks(std::string text) {
    std::erase(text, '`');
    return text;
}

/// Reports whether the line explains a term, such as "backup    sends files". Prose has no such
/// gaps near its beginning.
bool explains(std::string_view line) {
    const std::size_t gap = gap_of(line);
    if (gap == line.size() || gap == 0 || gap > 24) return false;
    const auto c = static_cast<unsigned char>(line[0]);
    if (std::islower(c) == 0 && c != '`' && c != ':') return false;
    return line.substr(0, gap).find_first_of(".;") == std::string_view::npos &&
           base::words(line.substr(0, gap)).size() <= 4;
}

class Reader {
public:
    HelpPage read(std::string_view markdown) {
        bool first = true;
        for (const std::string_view line : base::lines(markdown)) {
            if (first) {
                first = false;
                if (const auto dash = line.find(" - "); dash != line.npos)
                    page_.summary = line.substr(dash + 3);
                continue;
            }
            take(line);
        }
        return std::move(page_);
    }

private:
    HelpBlock& start(HelpBlock::Kind kind, std::string term = {}, std::string text = {}) {
        open_ = true;
        indent_ = 0;
        return page_.blocks.emplace_back(
            HelpBlock{.kind = kind, .term = std::move(term), .text = std::move(text)});
    }
    bool continues(HelpBlock::Kind kind) const {
        return open_ && !page_.blocks.empty() && page_.blocks.back().kind == kind;
    }
    void append(std::string_view text) {
        std::string& to = page_.blocks.back().text;
        if (!to.empty()) to += ' ';
        to += text;
    }
    void term(std::string_view line, std::size_t indent) {
        const std::size_t gap = gap_of(line);
        start(HelpBlock::Kind::Term, without_ticks(std::string(line.substr(0, gap))),
              std::string(base::trim(line.substr(gap))));
        indent_ = indent;
    }

    void take(std::string_view line) {
        if (line.starts_with("|")) {
            if (in_table_ && !line.starts_with("|--") && !line.starts_with("| --")) {
                auto row = table_cells(line);
                row.resize(std::max<std::size_t>(row.size(), 2));
                start(HelpBlock::Kind::Term, without_ticks(row[0]), row[1]);
            }
            in_table_ = true;
            return;
        }
        in_table_ = false;
        const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
        const std::string_view text = line.substr(indent);
        if (text.empty()) {
            // An empty line inside a code block is part of it if more code follows.
            if (continues(HelpBlock::Kind::Code)) code_gap_ = true;
            open_ = continues(HelpBlock::Kind::Code);
            return;
        }
        if (is_heading(line)) {
            start(HelpBlock::Kind::Heading, {},
                  base::upper(line.starts_with("## ") ? line.substr(3) : line));
            open_ = false;
            return;
        }
        if (continues(HelpBlock::Kind::Term) && indent >= indent_ + 4 && !text.starts_with("--")) {
            append(text);
        } else if (indent >= 2 && text[0] == '-' && text.size() > 1 && text[1] != ' ') {
            term(text, indent);
        } else if (indent >= kCodeIndent) {
            if (continues(HelpBlock::Kind::Code)) {
                page_.blocks.back().text += code_gap_ ? "\n\n" : "\n";
                page_.blocks.back().text += line.substr(kCodeIndent);
            } else {
                start(HelpBlock::Kind::Code, {}, std::string(line.substr(kCodeIndent)));
            }
            code_gap_ = false;
        } else if (indent == 0 && explains(line) && !continues(HelpBlock::Kind::Text)) {
            term(line, 0);
        } else if (continues(HelpBlock::Kind::Text)) {
            append(text);
        } else {
            start(HelpBlock::Kind::Text, {}, std::string(text));
        }
    }

    HelpPage page_;
    bool open_ = false, in_table_ = false, code_gap_ = false;
    std::size_t indent_ = 0;
};

/// Returns the text after "bunraku COMMAND" of each usage line.
std::vector<std::string> usage_of(const HelpPage& page, std::string_view command) {
    std::vector<std::string> out;
    const std::string begin = fmt::format("bunraku {} ", command);
    for (const auto& block : page.blocks) {
        if (block.kind != HelpBlock::Kind::Code) continue;
        for (const auto line : base::lines(block.text))
            if (line.starts_with(begin)) out.emplace_back(line.substr(begin.size()));
    }
    return out;
}

bool is_action(std::string_view word) {
    return word.size() > 1 &&
           std::ranges::all_of(
               word,
               [](unsigned char c) { return std::islower(c) != 0 || c == '_' || c == '-'; }) &&
           word[0] != '-';
}

std::string markup(std::string_view text) {
    // `code` is printed in bold.
    std::string out;
    bool bold = false;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t tick = std::min(text.find('`', at), text.size());
        out += roff(text.substr(at, tick - at));
        if (tick < text.size()) {
            bold = !bold;
            out += bold ? "\\fB" : "\\fR";
        }
        at = tick + 1;
    }
    if (bold) out += "\\fR";
    return out;
}

/// Fills lines to at most 78 characters. Escapes lines that roff would interpret as requests.
std::string filled(std::string_view text) {
    std::string out, line;
    const auto end_line = [&] {
        if (line.empty()) return;
        if (line[0] == '.' || line[0] == '\'') line.insert(0, "\\&");
        out += line + "\n";
        line.clear();
    };
    const std::string shown = markup(text);
    for (const auto word : base::words(shown)) {
        if (!line.empty() && line.size() + word.size() + 1 > 78) end_line();
        if (!line.empty()) line += ' ';
        line += word;
    }
    end_line();
    return out;
}

std::string code(std::string_view text) {
    std::string out = ".PP\n.RS 4\n.nf\n";
    for (const auto line : base::lines(text)) {
        std::string shown = roff(line);
        if (shown.starts_with('.') || shown.starts_with('\'')) shown.insert(0, "\\&");
        out += (shown.empty() ? "\\&" : shown) + "\n";
    }
    return out + ".fi\n.RE\n";
}

}  // namespace

std::vector<std::string> table_cells(std::string_view line) {
    std::vector<std::string> out(1);
    for (std::size_t i = 1; i < line.size(); ++i) {
        if (line[i] == '\\' && i + 1 < line.size() && line[i + 1] == '|') {
            out.back() += line[++i];
        } else if (line[i] == '|') {
            out.emplace_back();
        } else {
            out.back() += line[i];
        }
    }
    out.pop_back();
    for (std::string& cell : out) cell = std::string(base::trim(cell, " "));
    return out;
}

HelpPage parse_help(std::string_view markdown) { return Reader().read(markdown); }

std::vector<HelpOption> help_options(const HelpPage& page) {
    std::vector<HelpOption> out;
    for (const auto& block : page.blocks) {
        if (block.kind != HelpBlock::Kind::Term || !block.term.starts_with("-")) continue;
        HelpOption option;
        option.text = block.text;
        for (const auto part : base::words(block.term, ",")) {
            const auto words = base::words(part, " =");
            if (words.empty() || words[0].size() < 2 || words[0][0] != '-') continue;
            option.names.emplace_back(words[0]);
            if (words.size() > 1) option.argument = words[1];
        }
        if (!option.names.empty()) out.push_back(std::move(option));
    }
    return out;
}

std::vector<HelpAction> help_actions(const HelpPage& page, std::string_view command) {
    std::vector<HelpAction> out;
    for (const std::string& usage : usage_of(page, command)) {
        const auto words = base::words(usage, " []|()");
        // "[show]" is an optional action; "(a | b)" are two actions.
        std::size_t taken = 0;
        for (const auto word : words) {
            if (!is_action(word)) break;
            if (taken++ > 0 && usage.find('|') == std::string::npos) break;
            if (std::ranges::find(out, word, &HelpAction::name) == out.end())
                out.push_back({std::string(word), {}});
        }
    }
    for (const auto& block : page.blocks) {
        if (block.kind != HelpBlock::Kind::Term) continue;
        const auto words = base::words(block.term, " ,");
        for (const auto word : words)
            for (auto& action : out)
                if (action.name == word && action.text.empty()) action.text = block.text;
    }
    return out;
}

std::string action_help(std::string_view markdown, std::string_view command,
                        std::string_view action) {
    const HelpPage page = parse_help(markdown);
    const auto actions = help_actions(page, command);
    if (std::ranges::find(actions, action, &HelpAction::name) == actions.end()) return {};
    std::string usage, about, options, examples;
    const std::string call = fmt::format("bunraku {} {}", command, action);
    const auto names_it = [&](std::string_view text) {
        for (std::size_t at = 0; (at = text.find(action, at)) != text.npos; ++at) {
            const char before = at > 0 ? text[at - 1] : ' ';
            const char after = at + action.size() < text.size() ? text[at + action.size()] : ' ';
            if (std::isalnum(static_cast<unsigned char>(before)) == 0 && before != '-' &&
                std::isalnum(static_cast<unsigned char>(after)) == 0)
                return true;
        }
        return false;
    };
    std::string section;
    const auto add = [](std::string& to, std::string_view text, std::size_t indent) {
        std::string line(indent, ' ');
        const std::string pad = line;
        for (const auto word : base::words(text)) {
            if (line.size() > indent && line.size() + word.size() + 1 > 80) {
                to += line + "\n";
                line = pad;
            }
            if (line.size() > indent) line += ' ';
            line += word;
        }
        to += line + "\n";
    };
    for (const auto& block : page.blocks) {
        switch (block.kind) {
            case HelpBlock::Kind::Heading: section = block.text; break;
            case HelpBlock::Kind::Code: {
                bool ours = false;
                for (const auto line : base::lines(block.text)) {
                    if (line.starts_with("bunraku ")) {
                        ours = line.starts_with(call) &&
                               (line.size() == call.size() || line[call.size()] == ' ');
                        // Actions in brackets, such as "[show]".
                        if (!ours && section == "USAGE") ours = names_it(line.substr(0, 60));
                    }
                    if (ours)
                        (section == "EXAMPLES" ? examples : usage) += fmt::format("    {}\n", line);
                }
                break;
            }
            case HelpBlock::Kind::Text:
                if (names_it(block.text)) {
                    if (!about.empty()) about += '\n';
                    add(about, block.text, 0);
                }
                break;
            case HelpBlock::Kind::Term: {
                const bool option = block.term.starts_with("-");
                const auto words = base::words(block.term, " ,");
                if (!option && std::ranges::find(words, action) != words.end()) {
                    if (!about.empty()) about += '\n';
                    add(about, block.text, 0);
                } else if (option) {
                    options += fmt::format("    {}\n", block.term);
                    add(options, block.text, 8);
                }
                break;
            }
        }
    }
    std::string out = fmt::format("{}\n", call);
    if (!about.empty()) out += "\n" + about;
    if (!usage.empty()) out += "\nUSAGE\n" + usage;
    if (!options.empty()) out += "\nOPTIONS\n" + options;
    if (!examples.empty()) out += "\nEXAMPLES\n" + examples;
    return out;
}

std::string roff(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '\\') {
            out += "\\e";
        } else if (c == '-') {
            out += "\\-";
        } else if (c == '\'') {
            out += "\\(aq";
        } else if (c == '`') {
            out += "\\(ga";
        } else if (c == '^') {
            out += "\\(ha";
        } else if (c == '~') {
            out += "\\(ti";
        } else {
            out += c;
        }
    }
    return out;
}

std::string manual_page(std::string_view command, std::string_view summary,
                        std::string_view markdown, const ManualTexts& texts) {
    const HelpPage page = parse_help(markdown);
    std::string out = fmt::format(
        ".TH BUNRAKU\\-{} 1 {} \"Bunraku {}\" \"Bunraku Manual\"\n.SH NAME\nbunraku\\-{} \\- {}\n",
        base::upper(roff(command)), texts.date, texts.version, roff(command),
        roff(base::trim(page.summary.empty() ? summary : page.summary, ". ")));
    bool described = false;
    for (const auto& block : page.blocks) {
        if (block.kind == HelpBlock::Kind::Heading) {
            // Manual pages call this section SYNOPSIS.
            out += fmt::format(".SH {}\n", block.text == "USAGE" ? "SYNOPSIS" : roff(block.text));
            described = true;
            continue;
        }
        if (!described) {
            out += ".SH DESCRIPTION\n";
            described = true;
        }
        switch (block.kind) {
            case HelpBlock::Kind::Text: out += ".PP\n" + filled(block.text); break;
            case HelpBlock::Kind::Code: out += code(block.text); break;
            case HelpBlock::Kind::Term:
                out += fmt::format(".TP\n\\fB{}\\fR\n{}", roff(block.term), filled(block.text));
                break;
            case HelpBlock::Kind::Heading: break;
        }
    }
    out += ".SH SEE ALSO\n.BR bunraku (1),\n.BR bunraku.conf (5)\n";
    // The text after a heading is a paragraph without .PP.
    for (std::size_t at = 0; (at = out.find("\n.PP\n", at)) != std::string::npos;) {
        const std::size_t line = out.rfind('\n', at - 1) + 1;
        if (out.compare(line, 4, ".SH ") == 0) {
            out.erase(at, 4);
        } else {
            at += 4;
        }
    }
    return out;
}

}  // namespace bunraku::reference
