#include "compile/diagnostics/explain_codes.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/similar.h"
#include "core/base/text.h"

namespace bunraku::diagnostics {

namespace {

std::string indented(std::string_view text) {
    std::string out;
    for (const auto line : base::lines(text)) out += fmt::format("    {}\n", line);
    return out;
}

/// Within 78 columns.
std::string filled_lines(std::string_view text) {
    constexpr std::size_t kWidth = 78;
    std::string out, line;
    for (const auto word : base::words(text)) {
        if (!line.empty() && line.size() + 1 + word.size() > kWidth) {
            out += line + "\n";
            line.clear();
        }
        if (!line.empty()) line += ' ';
        line += word;
    }
    return out + line + "\n";
}

const IssueEntry* find_issue(std::string_view code) {
    const auto all = issue_entries();
    const auto at = std::ranges::lower_bound(all, code, {}, &IssueEntry::code);
    return at != all.end() && at->code == code ? &*at : nullptr;
}

/// How many of the words of both are the same.
std::size_t shared_words(std::string_view a, std::string_view b) {
    std::size_t n = 0;
    const auto of_b = base::split(b, '_');
    for (const auto word : base::split(a, '_'))
        n += static_cast<std::size_t>(std::ranges::count(of_b, word));
    return n;
}

}  // namespace

std::optional<std::string> explained_issue(std::string_view code) {
    const IssueEntry* e = find_issue(base::upper(base::trim(code)));
    if (!e) return std::nullopt;
    std::string out =
        fmt::format("{}\n\n{}\n{}", e->code, filled_lines(e->meaning), filled_lines(e->remedy));
    if (!e->wrong.empty())
        out += fmt::format("\nWrong:\n\n{}\nRight:\n\n{}", indented(e->wrong), indented(e->right));
    return out;
}

std::string issue_list() {
    std::string out;
    for (const auto& e : issue_entries()) {
        const std::string_view first = e.meaning.substr(0, e.meaning.find_first_of(".:"));
        out += fmt::format("{}\n    {}\n", e.code, first);
    }
    return out;
}

std::string issue_suggestion(std::string_view code) {
    const std::string wanted = base::upper(base::trim(code));
    std::vector<std::string> all;
    for (const auto& e : issue_entries()) all.emplace_back(e.code);
    auto found = base::similar_names(wanted, all);
    if (!found.empty()) return fmt::format("{}", fmt::join(found, ", "));
    std::size_t best = 1;
    for (const auto& e : issue_entries()) {
        const std::size_t shared = shared_words(wanted, e.code);
        if (shared < best) continue;
        if (shared > best) found.clear();
        best = shared;
        if (found.size() < 5) found.emplace_back(e.code);
    }
    return fmt::format("{}", fmt::join(found, ", "));
}

std::string issue_page() {
    std::string out =
        "# Errors by their codes\n\nAn error carries a code in JSON (`--log-format json`: "
        "`issue_code`; `parser validate --render-as json`), the same as\nPuppet's. `bunraku "
        "explain CODE` says what stands here. (Made by `bunraku help --errors`.)\n";
    for (const auto& e : issue_entries()) {
        out += fmt::format("\n## {}\n\n{} {}\n", e.code, e.meaning, e.remedy);
        if (!e.wrong.empty())
            out += fmt::format("\n```puppet\n# wrong\n{}\n# right\n{}\n```\n", e.wrong, e.right);
    }
    return out;
}

}  // namespace bunraku::diagnostics
