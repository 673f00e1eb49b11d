#include "cli/help_text.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "cli/help_page.h"

namespace bunraku::cli {

namespace {

constexpr std::size_t kWidth = 80, kTermIndent = 4, kTextColumn = 26;

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
    bool fresh = true;
    for (std::string_view word : base::words(row[1])) {
        if (!fresh && line.size() + 1 + word.size() > kWidth) {
            out += line + "\n";
            line.assign(kTextColumn, ' ');
            fresh = true;
        }
        if (!fresh) line += ' ';
        line += word;
        fresh = false;
    }
    out += line + "\n";
}

}  // namespace

std::string help_text(std::string_view markdown) {
    std::string out;
    std::string_view rest = markdown;
    bool in_table = false;
    while (!rest.empty()) {
        const std::size_t end = rest.find('\n');
        const std::string_view line = rest.substr(0, end);
        rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
        if (line.starts_with("|")) {
            // The first row names the columns: one sees what they are.
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

}  // namespace bunraku::cli
