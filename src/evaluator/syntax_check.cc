#include "evaluator/syntax_check.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <string>

#include "base/arena.h"
#include "base/diagnostic.h"
#include "syntax/parser.h"
#include "value/rich_data.h"

namespace bunraku::evaluator {

namespace {

struct Finding {
    std::string_view code;
    std::string message;
};

/// The first `limit` bytes in one line.
std::string excerpt(std::string_view message, std::size_t limit) {
    std::string out;
    for (const char c : message.substr(0, limit)) {
        if (c == '\n')
            out += "\\n";
        else if (c != '\r')
            out += c;
    }
    return out;
}

std::optional<Finding> check_json(std::string_view text) {
    base::Arena arena;
    const auto parsed = value::parse_json(arena, text);
    if (parsed) return std::nullopt;
    return Finding{"ILLEGAL_JSON",
                   fmt::format("JSON syntax checker: Cannot parse invalid JSON string. \"{}\"",
                               excerpt(parsed.error().message, 100))};
}

std::optional<Finding> check_base64(std::string_view text) {
    std::string clean;
    for (const char c : text)
        if (c != '\r' && c != '\n' && c != '?' && c != ' ' && c != '\t') clean += c;
    const auto letter = [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
               c == '+' || c == '/';
    };
    std::size_t letters = clean.size();
    while (letters > 0 && clean.size() - letters < 2 && clean[letters - 1] == '=') --letters;
    const bool good =
        clean.size() % 4 == 0 &&
        std::all_of(clean.begin(), clean.begin() + static_cast<long>(letters), letter);
    if (good) return std::nullopt;
    return Finding{
        "ILLEGAL_BASE64",
        clean.size() * 8 % 6 != 0
            ? "Base64 syntax checker: Cannot parse invalid Base64 string - padding is not correct"
            : "Base64 syntax checker: Cannot parse invalid Base64 string - contains letters "
              "outside "
              "strict base 64 range (or whitespace)"};
}

std::optional<Finding> check_puppet(std::string_view text, bool epp) {
    std::string problem;
    try {
        const auto tree = syntax::parse("", std::string(text), {.epp = epp});
        for (const base::Diagnostic& d : syntax::validate(*tree)) {
            if (d.level != base::Level::Err) continue;
            problem = d.message + " " + base::format_location(d.where);
            break;
        }
    } catch (const base::PuppetError& error) {
        problem = error.full_text();
    }
    if (problem.empty()) return std::nullopt;
    return Finding{
        epp ? "ILLEGAL_EPP" : "ILLEGAL_PP",
        fmt::format("{} syntax checker: \"{}\"", epp ? "EPP" : "PP", excerpt(problem, 500))};
}

std::optional<Finding> check(std::string_view text, std::string_view name, bool* known) {
    *known = true;
    if (name == "json") return check_json(text);
    if (name == "base64") return check_base64(text);
    if (name == "pp") return check_puppet(text, false);
    if (name == "epp") return check_puppet(text, true);
    *known = false;
    return std::nullopt;
}

}  // namespace

void check_external_syntax(const value::Value& text, std::string_view syntax,
                           const syntax::Node* site) {
    if (syntax.empty() || !text.is_string()) return;
    // "data+json" is looked up as "data+json", then as "json".
    for (std::string_view name = syntax;;) {
        bool known = false;
        if (const auto finding = check(text.as_string(), name, &known)) {
            base::PuppetError error(fmt::format("Invalid produced text having syntax: '{}'. {}",
                                                syntax, finding->message),
                                    std::string(finding->code), base::PuppetError::Class::Plain);
            throw error.at(site->where());
        }
        const auto plus = name.find('+');
        if (known || plus == std::string_view::npos) return;
        name.remove_prefix(plus + 1);
    }
}

}  // namespace bunraku::evaluator
