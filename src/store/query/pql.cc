// SPDX-License-Identifier: Apache-2.0
#include "store/query/pql.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <optional>

#include "core/base/assert.h"

namespace bunraku::query {

namespace {

constexpr std::string_view kEntities[] = {
    "facts",         "reports",   "catalogs",     "packages", "package_inventory",
    "resources",     "nodes",     "environments", "factsets", "fact_paths",
    "fact_contents", "inventory", "edges",        "events"};
constexpr std::string_view kFunctions[] = {"count", "avg", "sum", "min", "max", "to_string"};
constexpr std::string_view kBlank = R"re(#"\s+")re";
constexpr std::string_view kFieldName = R"re(#"[a-zA-Z0-9_]+\??")re";
constexpr std::string_view kDigits = R"re(#"[0-9]+")re";

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// A recursive-descent parser. It records every token that was expected but not found at the
/// farthest position, and builds the error message from these. PuppetDB's parser tries alternatives
/// in reverse order, so the list is printed backwards.
class Parser {
public:
    explicit Parser(std::string_view text) : text_(text) {}

    Ast query() {
        blanks();
        std::optional<Ast> result = from(0);
        if (result) {
            std::size_t end = at_;
            skip_blanks();
            if (at_ == text_.size()) return std::move(*result);
            at_ = end;
            // PuppetDB's exact text, including the colon.
            note("#\"\\s+\" (followed by end-of-string):end-of-string");
            note("");
        }
        fail();
    }

private:
    // --- Expected tokens ---

    void note(std::string_view expected) {
        BUNRAKU_ASSERT(at_ <= text_.size());
        if (at_ < farthest_) return;
        if (at_ > farthest_) {
            farthest_ = at_;
            expected_.clear();
        }
        expected_.push_back(expected);
    }

    [[noreturn]] void fail() {
        BUNRAKU_ASSERT(farthest_ <= text_.size() && !expected_.empty());
        std::size_t begin = 0, line = 1;
        for (std::size_t i = 0; i < farthest_ && i < text_.size(); ++i) {
            if (text_[i] == '\n') {
                ++line;
                begin = i + 1;
            }
        }
        std::size_t stop = text_.find('\n', begin);
        if (stop == std::string_view::npos) stop = text_.size();
        std::size_t column = 1;  // in characters, not bytes
        for (std::size_t i = begin; i < farthest_; ++i) {
            if ((static_cast<unsigned char>(text_[i]) & 0xc0) != 0x80) ++column;
        }
        std::vector<std::string_view> reasons;
        std::reverse(expected_.begin(), expected_.end());
        for (std::string_view e : expected_) {
            if (std::find(reasons.begin(), reasons.end(), e) == reasons.end()) reasons.push_back(e);
        }
        std::string message =
            fmt::format("PQL parse error at line {}, column {}:\n\n{}\n{}^\n\n", line, column,
                        text_.substr(begin, std::min<std::size_t>(stop - begin, 4096)),
                        std::string(std::min<std::size_t>(column - 1, 4096), ' '));
        if (reasons.size() == 1) message += "Expected:\n";
        if (reasons.size() > 1) message += "Expected one of:\n\n";
        for (std::string_view reason : reasons) {
            if (reason.empty()) continue;
            message += reason;
            message += '\n';
        }
        throw QueryError{400, std::move(message)};
    }

    // --- Terminals ---

    bool literal(std::string_view word) {
        if (text_.substr(at_).starts_with(word)) {
            at_ += word.size();
            return true;
        }
        note(word);
        return false;
    }

    bool skip_blanks() {
        std::size_t start = at_;
        while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
        return at_ != start;
    }

    bool blanks() {
        if (skip_blanks()) return true;
        note(kBlank);
        return false;
    }

    /// Reads the longest of these words at the current position.
    template <std::size_t N>
    std::optional<std::string_view> one_of(const std::string_view (&words)[N]) {
        std::optional<std::string_view> best;
        for (std::string_view word : words) {
            if (text_.substr(at_).starts_with(word)) {
                if (!best || word.size() > best->size()) best = word;
            } else {
                note(word);
            }
        }
        if (best) at_ += best->size();
        return best;
    }

    /// Runs a rule and restores the position if it fails.
    template <class Rule>
    auto attempt(Rule rule) -> decltype(rule()) {
        std::size_t start = at_;
        auto result = rule();
        if (!result) at_ = start;
        return result;
    }

    void descend(int depth) {
        if (depth > kMaxQueryDepth) {
            throw QueryError{
                400, fmt::format("The query is nested more than {} levels deep", kMaxQueryDepth)};
        }
    }

    // --- from entity [projection] { .. } ---

    std::optional<Ast> from(int depth) {
        descend(depth);
        auto entity = one_of(kEntities);
        if (!entity) return {};
        std::optional<Ast> extract = attempt([&]() -> std::optional<Ast> {
            blanks();
            if (!literal("[")) return {};
            blanks();
            std::vector<Ast> fields = {Ast::text("extract"), Ast::array()};
            if (auto list = attempt([&] { return field_list(); })) {
                fields[1] = Ast::array(std::move(*list));
                blanks();
            }
            if (!literal("]")) return {};
            return Ast::array(std::move(fields));
        });
        blanks();
        auto body = where(depth);
        if (!body) return {};
        std::vector<Ast> result = {Ast::text("from"), Ast::text(std::string(*entity))};
        if (extract) {
            // A projection contains the condition and the grouping.
            if (body->condition) extract->items().push_back(std::move(*body->condition));
            if (body->grouping) extract->items().push_back(std::move(*body->grouping));
            result.push_back(std::move(*extract));
        } else {
            if (body->condition) result.push_back(std::move(*body->condition));
            if (body->grouping) result.push_back(std::move(*body->grouping));
        }
        for (Ast& clause : body->paging) result.push_back(std::move(clause));
        return Ast::array(std::move(result));
    }

    struct Body {
        std::optional<Ast> condition;
        std::optional<Ast> grouping;
        std::vector<Ast> paging;
    };

    std::optional<Body> where(int depth) {
        if (!literal("{")) return {};
        Body body;
        blanks();
        body.condition = attempt([&] { return expression(depth + 1); });
        blanks();
        body.grouping = attempt([&] { return group_by(); });
        if (!body.grouping) {
            while (auto clause = attempt([&] { return paging(); })) {
                body.paging.push_back(std::move(*clause));
                blanks();
            }
        }
        blanks();
        if (!literal("}")) return {};
        return body;
    }

    // --- Conditions ---

    std::optional<Ast> expression(int depth) {
        descend(depth);
        return chain(depth, "or",
                     [&](int d) { return chain(d, "and", [&](int e) { return negation(e); }); });
    }

    template <class Part>
    std::optional<Ast> chain(int depth, std::string_view word, Part part) {
        std::optional<Ast> first = part(depth);
        if (!first) return {};
        std::vector<Ast> parts;
        for (;;) {
            auto next = attempt([&]() -> std::optional<Ast> {
                if (!blanks() || !literal(word) || !blanks()) return {};
                return part(depth);
            });
            if (!next) break;
            if (parts.empty()) {
                parts.push_back(Ast::text(std::string(word)));
                parts.push_back(std::move(*first));
            }
            parts.push_back(std::move(*next));
        }
        if (parts.empty()) return first;
        BUNRAKU_ASSERT(parts.size() >= 3);
        return Ast::array(std::move(parts));
    }

    std::optional<Ast> negation(int depth) {
        descend(depth);
        if (literal("!")) {
            blanks();
            auto inner = negation(depth + 1);
            if (!inner) return {};
            return Ast::array({Ast::text("not"), std::move(*inner)});
        }
        if (auto inner = attempt([&]() -> std::optional<Ast> {
                if (!literal("(")) return {};
                blanks();
                auto inside = expression(depth + 1);
                if (!inside) return {};
                blanks();
                if (!literal(")")) return {};
                return inside;
            })) {
            return inner;
        }
        if (auto condition = attempt([&] { return comparison(depth); })) return condition;
        return attempt([&]() -> std::optional<Ast> {
            auto entity = one_of(kEntities);
            if (!entity) return {};
            blanks();
            auto body = where(depth);
            if (!body) return {};
            if (body->grouping || !body->paging.empty()) {
                throw QueryError{400, fmt::format("An implicit subquery on '{}' takes a condition "
                                                  "only, neither grouping nor paging",
                                                  *entity)};
            }
            std::vector<Ast> result = {Ast::text("subquery"), Ast::text(std::string(*entity))};
            if (body->condition) result.push_back(std::move(*body->condition));
            return Ast::array(std::move(result));
        });
    }

    static Ast binary(std::string_view op, Ast left, Ast right) {
        return Ast::array({Ast::text(std::string(op)), std::move(left), std::move(right)});
    }

    std::optional<Ast> comparison(int depth) {
        // [a, b] in ..
        if (auto list = attempt([&] { return grouped_fields(); })) {
            blanks();
            return membership(Ast::array(std::move(*list)), depth);
        }
        std::optional<std::string> name = field();
        if (!name) return {};
        bool dotted = name->find('.') != std::string::npos;
        Ast left = Ast::text(std::move(*name));
        bool apart = skip_blanks();
        std::size_t after = at_;
        if (auto result = attempt([&]() -> std::optional<Ast> {
                if (!literal("~")) return {};
                blanks();
                auto pattern = string();
                if (!pattern) return {};
                return binary("~", left, Ast::text(std::move(*pattern)));
            })) {
            return result;
        }
        if (auto result = attempt([&]() -> std::optional<Ast> {
                if (!literal("~>")) return {};
                blanks();
                auto list = bracketed([&]() -> std::optional<Ast> {
                    auto s = string();
                    if (!s) return {};
                    return Ast::text(std::move(*s));
                });
                if (!list) return {};
                return binary("~>", left, Ast::array(std::move(*list)));
            })) {
            return result;
        }
        for (std::string_view op : {">=", "<=", "<", ">"}) {
            if (auto result = attempt([&]() -> std::optional<Ast> {
                    if (!literal(op)) return {};
                    blanks();
                    auto value = ordered();
                    if (!value) return {};
                    return binary(op, left, std::move(*value));
                })) {
                return result;
            }
        }
        for (std::string_view op : {"=", "!=", "!~"}) {
            if (auto result = attempt([&]() -> std::optional<Ast> {
                    if (!literal(op)) return {};
                    blanks();
                    auto value = scalar(depth);
                    if (!value) return {};
                    Ast positive = binary(op == "!~" ? "~" : "=", left, std::move(*value));
                    if (op == "=") return positive;
                    return Ast::array({Ast::text("not"), std::move(positive)});
                })) {
                return result;
            }
        }
        if (auto result = attempt([&] { return membership(left, depth); })) return result;
        at_ = after;
        if (!apart && dotted) note(".");
        if (!apart) note(kBlank);
        if (literal("is null")) return binary("null?", left, Ast::boolean(true));
        if (literal("is not null")) return binary("null?", left, Ast::boolean(false));
        return {};
    }

    std::optional<Ast> membership(Ast left, int depth) {
        if (!literal("in")) return {};
        blanks();
        note(kBlank);
        if (auto list = attempt([&] { return bracketed([&] { return scalar(depth + 1); }); })) {
            return binary("in", std::move(left),
                          Ast::array({Ast::text("array"), Ast::array(std::move(*list))}));
        }
        auto inner = from(depth + 1);
        if (!inner) return {};
        return binary("in", std::move(left), std::move(*inner));
    }

    /// Parses '[' item {',' item} ']', with optional blanks everywhere.
    template <class Item>
    std::optional<std::vector<Ast>> bracketed(Item item) {
        if (!literal("[")) return {};
        blanks();
        auto list = separated(item);
        if (!list) return {};
        blanks();
        if (!literal("]")) return {};
        return list;
    }

    template <class Item>
    std::optional<std::vector<Ast>> separated(Item item) {
        std::vector<Ast> items;
        auto first = attempt(item);
        if (!first) return {};
        items.push_back(std::move(*first));
        for (;;) {
            auto next = attempt([&]() -> std::optional<Ast> {
                if (!literal(",") && !(blanks() && literal(","))) return {};
                blanks();
                return item();
            });
            if (!next) return items;
            items.push_back(std::move(*next));
        }
    }

    // --- Fields ---

    std::optional<std::vector<Ast>> grouped_fields() {
        if (!literal("[")) return {};
        blanks();
        auto list = field_list();
        if (!list) return {};
        blanks();
        if (!literal("]")) return {};
        return list;
    }

    std::optional<std::vector<Ast>> field_list() {
        return separated([&]() -> std::optional<Ast> {
            // A function is a field followed by parentheses.
            auto called = attempt([&] { return function(); });
            std::size_t after_call = at_;
            if (called) return called;
            at_ = after_call;
            auto name = field();
            if (!name) return {};
            return Ast::text(std::move(*name));
        });
    }

    std::optional<Ast> function() {
        auto name = one_of(kFunctions);
        if (!name) return {};
        blanks();
        if (!literal("(")) return {};
        blanks();
        std::vector<Ast> result = {Ast::text("function"), Ast::text(std::string(*name))};
        auto first = attempt([&]() -> std::optional<Ast> {
            if (auto s = attempt([&] { return string(); })) return Ast::text(std::move(*s));
            auto f = field();
            if (!f) return {};
            return Ast::text(std::move(*f));
        });
        if (first) {
            result.push_back(std::move(*first));
            for (;;) {
                auto next = attempt([&]() -> std::optional<Ast> {
                    blanks();
                    if (!literal(",")) return {};
                    blanks();
                    auto s = string();
                    if (!s) return {};
                    return Ast::text(std::move(*s));
                });
                if (!next) break;
                result.push_back(std::move(*next));
            }
            blanks();
        }
        if (!literal(")")) return {};
        return Ast::array(std::move(result));
    }

    std::optional<std::string> field() {
        std::size_t start = at_;
        std::string_view rest = text_.substr(at_);
        for (std::string_view top : {"facts", "trusted", "parameters"}) {
            if (!rest.starts_with(top) || rest.size() <= top.size() || rest[top.size()] != '.') {
                continue;
            }
            at_ += top.size();
            std::size_t good = 0;
            while (at_ < text_.size() && text_[at_] == '.') {
                ++at_;
                if (!path_part()) {
                    note(R"re(#"match\(.*?\)")re");
                    note(R"re(#"[^\s\.\",\[\]!<=>~]+(\[\d+\])?")re");
                    note(R"re(#"\".*?\"(?=\.|\s)")re");
                    break;
                }
                good = at_;
            }
            if (good) {
                if (at_ == good) note(".");
                at_ = good;
                return std::string(text_.substr(start, at_ - start));
            }
            at_ = start;
            break;
        }
        while (at_ < text_.size() && is_word(text_[at_])) ++at_;
        if (at_ == start) {
            note(kFieldName);
            note("facts");
            note("trusted");
            note("parameters");
            return {};
        }
        if (at_ < text_.size() && text_[at_] == '?') ++at_;
        return std::string(text_.substr(start, at_ - start));
    }

    /// Parses one component after a dot: "quoted", match(..), or a plain name with an optional
    /// index.
    bool path_part() {
        if (at_ >= text_.size()) return false;
        if (text_[at_] == '"') {
            // Ends at the first quote on the same line that is followed by a dot or a blank.
            for (std::size_t i = at_ + 1; i < text_.size() && text_[i] != '\n'; ++i) {
                if (text_[i] != '"') continue;
                if (i + 1 < text_.size() &&
                    (text_[i + 1] == '.' || is_blank(text_[i + 1]) || text_[i + 1] == ',' ||
                     text_[i + 1] == ']' || text_[i + 1] == '=')) {
                    at_ = i + 1;
                    return true;
                }
            }
            return false;
        }
        if (text_.substr(at_).starts_with("match(")) {
            // match("..") may contain anything except a closing quote directly followed by a
            // parenthesis.
            std::size_t quote = at_ + 6 < text_.size() && text_[at_ + 6] == '"'
                                    ? text_.find("\")", at_ + 7)
                                    : std::string_view::npos;
            std::size_t end =
                quote != std::string_view::npos ? quote + 1 : text_.find(')', at_ + 6);
            if (end != std::string_view::npos &&
                text_.substr(at_, end - at_).find('\n') == std::string_view::npos) {
                at_ = end + 1;
                return true;
            }
        }
        std::size_t start = at_;
        while (at_ < text_.size() && !is_blank(text_[at_]) &&
               std::string_view(".\",[]!<=>~").find(text_[at_]) == std::string_view::npos) {
            ++at_;
        }
        if (at_ == start) return false;
        if (at_ < text_.size() && text_[at_] == '[') {
            std::size_t i = at_ + 1;
            while (i < text_.size() && is_digit(text_[i])) ++i;
            if (i > at_ + 1 && i < text_.size() && text_[i] == ']') at_ = i + 1;
        }
        return true;
    }

    // --- Values ---

    std::optional<std::string> string() {
        if (literal("\"")) return quoted('"');
        if (literal("'")) return quoted('\'');
        return {};
    }

    std::optional<std::string> quoted(char quote) {
        std::size_t start = at_;
        while (at_ < text_.size() && text_[at_] != quote) {
            if (text_[at_] == '\\') ++at_;
            ++at_;
        }
        if (at_ >= text_.size()) {
            at_ = text_.size();
            note(quote == '"' ? "\"" : "'");
            return {};
        }
        std::string_view raw = text_.substr(start, at_ - start);
        ++at_;
        if (quote == '"') {
            // The escapes are those of JSON, so the JSON reader decodes them. An unescaped newline
            // is allowed.
            std::string json = "\"";
            for (char c : raw) {
                if (c == '\n') {
                    json += "\\n";
                } else if (c == '\t') {
                    json += "\\t";
                } else if (c == '\r') {
                    json += "\\r";
                } else {
                    json += c;
                }
            }
            json += '"';
            return std::move(read_query_json(json).as_text());
        }
        std::string out;
        out.reserve(raw.size());
        for (std::size_t i = 0; i < raw.size(); ++i) {
            if (raw[i] == '\\' && i + 1 < raw.size() && raw[i + 1] == '\'') continue;
            out += raw[i];
        }
        return out;
    }

    std::optional<std::string_view> digits() {
        std::size_t start = at_;
        while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
        if (at_ == start) {
            note(kDigits);
            return {};
        }
        return text_.substr(start, at_ - start);
    }

    std::optional<Ast> number() {
        std::size_t start = at_;
        literal("-");
        if (!digits()) return {};
        std::size_t whole = at_;
        if (literal(".") && digits()) {
            std::size_t fraction = at_;
            if (literal("E") || literal("e")) {
                if (!literal("-")) literal("+");
                if (!digits()) at_ = fraction;
            }
            double d = std::strtod(std::string(text_.substr(start, at_ - start)).c_str(), nullptr);
            if (!std::isfinite(d)) {
                throw QueryError{
                    400, fmt::format("Number out of range: {}", text_.substr(start, at_ - start))};
            }
            return Ast::real(d);
        }
        at_ = whole;
        std::int64_t i = 0;
        std::string_view text = text_.substr(start, at_ - start);
        if (std::from_chars(text.data(), text.data() + text.size(), i).ec != std::errc{}) {
            throw QueryError{400, fmt::format("For input string: \"{}\"", text)};
        }
        return Ast::integer(i);
    }

    std::optional<Ast> ordered() {
        if (auto n = attempt([&] { return number(); })) return n;
        auto s = attempt([&] { return string(); });
        if (!s) return {};
        return Ast::text(std::move(*s));
    }

    std::optional<Ast> scalar(int depth) {
        descend(depth);
        if (auto s = attempt([&] { return string(); })) return Ast::text(std::move(*s));
        if (auto n = attempt([&] { return number(); })) return n;
        if (literal("true")) return Ast::boolean(true);
        if (literal("false")) return Ast::boolean(false);
        auto list = attempt([&] { return bracketed([&] { return scalar(depth + 1); }); });
        if (!list) return {};
        return Ast::array(std::move(*list));
    }

    // --- Grouping and paging ---

    std::optional<Ast> group_by() {
        if (!literal("group by") || !blanks()) return {};
        auto list = field_list();
        if (!list) return {};
        list->insert(list->begin(), Ast::text("group_by"));
        return Ast::array(std::move(*list));
    }

    std::optional<Ast> paging() {
        for (std::string_view word : {"limit", "offset"}) {
            if (auto clause = attempt([&]() -> std::optional<Ast> {
                    if (!literal(word) || !blanks()) return {};
                    std::size_t start = at_;
                    literal("-");
                    if (!digits()) return {};
                    std::int64_t n = 0;
                    std::string_view text = text_.substr(start, at_ - start);
                    if (std::from_chars(text.data(), text.data() + text.size(), n).ec !=
                        std::errc{}) {
                        throw QueryError{400, fmt::format("For input string: \"{}\"", text)};
                    }
                    return Ast::array({Ast::text(std::string(word)), Ast::integer(n)});
                })) {
                return clause;
            }
        }
        if (!literal("order by") || !blanks()) return {};
        std::vector<Ast> terms;
        auto first = order_term();
        if (!first) return {};
        terms.push_back(std::move(*first));
        while (auto next = attempt([&]() -> std::optional<Ast> {
                   if (!literal(",")) return {};
                   blanks();
                   return order_term();
               })) {
            terms.push_back(std::move(*next));
        }
        return Ast::array({Ast::text("order_by"), Ast::array(std::move(terms))});
    }

    std::optional<Ast> order_term() {
        std::string_view rest = text_.substr(at_);
        if (rest.starts_with("asc") || rest.starts_with("desc")) {
            note("NOT \"asc\"");
            return {};
        }
        auto name = field();
        if (!name) return {};
        auto direction = attempt([&]() -> std::optional<Ast> {
            if (!blanks()) return {};
            if (literal("asc")) return Ast::text("asc");
            if (literal("desc")) return Ast::text("desc");
            return {};
        });
        blanks();
        if (!direction) return Ast::text(std::move(*name));
        return Ast::array({Ast::text(std::move(*name)), std::move(*direction)});
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t farthest_ = 0;
    std::vector<std::string_view> expected_;
};

}  // namespace

bool looks_like_ast(std::string_view text) {
    std::size_t i = 0;
    while (i < text.size() && is_blank(text[i])) ++i;
    return i < text.size() && text[i] == '[';
}

Ast parse_pql(std::string_view text) {
    if (text.size() > kMaxQueryBytes) {
        throw QueryError{400, fmt::format("The query is longer than {} bytes", kMaxQueryBytes)};
    }
    return Parser(text).query();
}

}  // namespace bunraku::query
