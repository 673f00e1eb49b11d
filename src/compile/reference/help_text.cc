// SPDX-License-Identifier: Apache-2.0
#include "compile/reference/help_text.h"

#include <algorithm>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "compile/reference/help_page.h"
#include "core/base/text.h"

namespace bunraku::reference {

namespace {

constexpr std::size_t kWidth = 80, kTermIndent = 4, kTextColumn = 26;

/// Appends `line` followed by `text`, in lines of `width` columns with a hanging indent.
void append_broken(std::string& out, std::string line, std::string_view text, std::size_t indent,
                   std::size_t width) {
    bool fresh = true;
    for (const auto word : base::words(text)) {
        if (!fresh && line.size() + 1 + word.size() > width) {
            out += line + "\n";
            line.assign(indent, ' ');
            fresh = true;
        }
        if (!fresh) line += ' ';
        line += word;
        fresh = false;
    }
    out += line + "\n";
}

void append_row(std::string& out, const std::vector<std::string>& row) {
    std::string line(kTermIndent, ' ');
    std::string term = row.empty() ? "" : row[0];
    std::erase(term, '`');
    line += term;
    if (row.size() < 2) {
        out += line + "\n";
        return;
    }
    if (line.size() + 2 > kTextColumn) {
        out += line + "\n";
        line.clear();
    }
    line.resize(kTextColumn, ' ');
    append_broken(out, std::move(line), row[1], kTextColumn, kWidth);
}

std::size_t line_indent(std::string_view line) {
    return std::min(line.find_first_not_of(' '), line.size());
}

}  // namespace

std::string narrowed(std::string_view text, std::size_t width) {
    /// from this column on, an indented line continues an explanation
    constexpr std::size_t kExplanation = 12;
    /// a line of at least this length continues on the next line
    constexpr std::size_t kFull = 64;
    const std::size_t deep = std::min<std::size_t>(8, width / 5);
    std::string out, open;
    std::size_t open_indent = 0;
    bool goes_on = false;
    const auto close = [&] {
        if (!open.empty())
            append_broken(out, std::string(open_indent, ' '), open, open_indent, width);
        open.clear();
        goes_on = false;
    };
    for (auto line : base::lines(text)) {
        const std::size_t indent = line_indent(line);
        const auto content = line.substr(indent);
        if (content.empty()) {
            close();
            out += '\n';
            continue;
        }
        const bool explains = indent >= kExplanation;
        if (goes_on && (explains ? open_indent == deep : indent == open_indent)) {
            open += ' ';
            open += content;
        } else {
            close();
            if (line.size() <= width && !explains) {
                out.append(line).append("\n");
                continue;
            }
            // "-l, --list     what it means" has two parts.
            const auto gap = explains ? std::string_view::npos : content.find("  ");
            if (indent > 0 && gap != std::string_view::npos && line.size() > width) {
                const auto first = std::min<std::size_t>(indent, 2);
                append_broken(out, std::string(first, ' '), content.substr(0, gap), first, width);
                open = base::trim(content.substr(gap));
                open_indent = deep;
                goes_on = true;
                continue;
            }
            open = content;
            open_indent = explains ? deep : std::min<std::size_t>(indent, 4);
        }
        goes_on = explains || line.size() >= kFull;
    }
    close();
    return out;
}

std::string for_terminal(std::string text) {
    winsize size{};
    if (::isatty(STDOUT_FILENO) != 1 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return text;
    constexpr std::size_t kLeast = 20;
    return size.ws_col >= kLeast && size.ws_col < kWidth ? narrowed(text, size.ws_col) : text;
}

std::string help_text(std::string_view markdown) {
    std::string out;
    std::string_view rest = markdown;
    bool in_table = false;
    while (!rest.empty()) {
        const std::size_t end = rest.find('\n');
        const std::string_view line = rest.substr(0, end);
        rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
        if (line.starts_with("|")) {
            // Omit the first row with the column names, because they are obvious.
            if (in_table && !line.starts_with("|--")) append_row(out, table_cells(line));
            in_table = true;
            continue;
        }
        in_table = false;
        if (line.starts_with("# ")) {
            out += line.substr(2);
        } else if (line.starts_with("## ")) {
            out += base::upper(line.substr(3));
        } else {
            out += line;
        }
        out += '\n';
    }
    return out;
}

}  // namespace bunraku::reference
