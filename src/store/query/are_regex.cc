// SPDX-License-Identifier: Apache-2.0
#include "store/query/are_regex.h"

#include <fmt/format.h>
#include <list>
#include <mutex>
#include <oniguruma.h>
#include <optional>
#include <unordered_map>

#include "core/base/assert.h"
#include "store/query/ast.h"

namespace bunraku::query {

namespace {

// Much more than reasonable patterns need, and much less than a second of work.
constexpr unsigned long kRetryLimit = 2'000'000;
constexpr unsigned int kStackLimit = 1'000'000;
constexpr std::size_t kMaxPattern = 16 << 10;
constexpr int kMaxNesting = 200;
constexpr int kMaxRepetition = 255;

[[noreturn]] void bad(std::string_view why) {
    throw QueryError{400, fmt::format("ERROR: invalid regular expression: {}", why)};
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

class Translator {
public:
    explicit Translator(std::string_view text) : text_(text) {}

    std::string run(bool* ignore_case) {
        if (text_.size() > kMaxPattern) bad("regular expression is too complex");
        directors();
        if (literal_) {
            for (char c : text_.substr(at_)) escape(c);
        } else {
            alternatives(0);
            if (at_ < text_.size()) bad("parentheses () not balanced");
            BUNRAKU_ASSERT(at_ == text_.size());
        }
        *ignore_case = ignore_case_;
        return std::move(out_);
    }

private:
    /// Parses "***=" and "(?i)" at the start of the pattern.
    void directors() {
        if (text_.starts_with("***=")) {
            literal_ = true;
            at_ = 4;
            return;
        }
        if (text_.starts_with("***:")) at_ = 4;
        std::string_view rest = text_.substr(at_);
        if (!rest.starts_with("(?") || rest.size() < 3 || !is_letter(rest[2])) return;
        std::size_t i = 2;
        for (; i < rest.size() && rest[i] != ')'; ++i) {
            switch (rest[i]) {
                case 'i': ignore_case_ = true; break;
                case 'c': ignore_case_ = false; break;
                case 'm':
                case 'n': lines_ = true, dot_stops_ = true; break;
                case 'p': lines_ = false, dot_stops_ = true; break;
                case 'w': lines_ = true, dot_stops_ = false; break;
                case 's': lines_ = false, dot_stops_ = false; break;
                case 'x': expanded_ = true; break;
                case 't': expanded_ = false; break;
                case 'q': literal_ = true; break;
                case 'b':
                case 'e': break;
                default: bad("invalid embedded option");
            }
        }
        if (i >= rest.size()) bad("invalid embedded option");
        at_ += i + 1;
    }

    void escape(char c) {
        if (c > 0 && !is_digit(c) && !is_letter(c) && c != '_') out_ += '\\';
        if (c == '\n') {
            out_ += 'n';
        } else {
            out_ += c;
        }
    }

    bool at_end() const { return at_ >= text_.size(); }

    void alternatives(int depth) {
        if (depth > kMaxNesting) bad("regular expression is too complex");
        bool atom_before = false, quantified = false;
        while (!at_end()) {
            char c = text_[at_];
            if (c == ')') return;
            if (c == '|') {
                out_ += c;
                ++at_;
                atom_before = quantified = false;
                continue;
            }
            if (expanded_ && (c == ' ' || c == '\t' || c == '\n' || c == '\r')) {
                ++at_;
                continue;
            }
            if (expanded_ && c == '#') {
                while (!at_end() && text_[at_] != '\n') ++at_;
                continue;
            }
            if (c == '*' || c == '+' || c == '?' ||
                (c == '{' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) {
                if (!atom_before || quantified) bad("quantifier operand invalid");
                quantifier();
                quantified = true;
                continue;
            }
            quantified = false;
            atom_before = atom(depth);
        }
    }

    void quantifier() {
        BUNRAKU_ASSERT(!at_end());
        char c = text_[at_++];
        if (c != '{') {
            out_ += c;
        } else {
            int low = number(), high = low;
            bool open = false;
            if (!at_end() && text_[at_] == ',') {
                ++at_;
                open = at_end() || !is_digit(text_[at_]);
                if (!open) high = number();
            }
            if (at_end()) bad("braces {} not balanced");
            if (text_[at_] != '}') bad("invalid repetition count(s)");
            ++at_;
            if (low > kMaxRepetition || high > kMaxRepetition || (!open && low > high)) {
                bad("invalid repetition count(s)");
            }
            // The group makes Oniguruma read "{2}?" as a lazy quantifier.
            out_ += open ? fmt::format("{{{},}}", low) : fmt::format("{{{},{}}}", low, high);
            repetitions_ *= std::max(1, high);
            BUNRAKU_ASSERT(repetitions_ >= 1);
            if (repetitions_ > 100'000) bad("regular expression is too complex");
        }
        if (!at_end() && text_[at_] == '?') {
            out_ += '?';
            ++at_;
        }
    }

    int number() {
        int n = 0;
        while (!at_end() && is_digit(text_[at_])) {
            n = std::min(n * 10 + (text_[at_++] - '0'), 100000);
        }
        return n;
    }

    /// Parses one atom or constraint. Returns true if a quantifier may follow.
    bool atom(int depth) {
        BUNRAKU_ASSERT(!at_end() && depth >= 0);
        char c = text_[at_++];
        switch (c) {
            case '^': out_ += lines_ ? "^" : "\\A"; return false;
            case '$': out_ += lines_ ? "$" : "\\z"; return false;
            case '.': out_ += dot_stops_ ? "[^\\n]" : "(?m:.)"; return true;
            case '[': bracket(); return true;
            case '(': {
                bool constraint = false;
                if (!at_end() && text_[at_] == '?') {
                    std::string_view rest = text_.substr(at_);
                    std::size_t n = 0;
                    for (std::string_view kind : {"?:", "?=", "?!", "?<=", "?<!"}) {
                        if (rest.starts_with(kind)) n = kind.size();
                    }
                    if (rest.starts_with("?#")) {
                        while (!at_end() && text_[at_] != ')') ++at_;
                        if (at_end()) bad("parentheses () not balanced");
                        ++at_;
                        return true;
                    }
                    if (n == 0) bad("quantifier operand invalid");
                    constraint = !rest.starts_with("?:");
                    out_ += '(';
                    out_ += rest.substr(0, n);
                    at_ += n;
                } else {
                    out_ += '(';
                    ++groups_;
                }
                alternatives(depth + 1);
                if (at_end()) bad("parentheses () not balanced");
                ++at_;
                out_ += ')';
                return !constraint;
            }
            case '\\': return escape_sequence();
            default:
                if (static_cast<unsigned char>(c) >= 0x80) {
                    // A quantifier applies to the whole character.
                    out_ += c;
                    while (!at_end() && (static_cast<unsigned char>(text_[at_]) & 0xc0) == 0x80) {
                        out_ += text_[at_++];
                    }
                } else {
                    escape(c);
                }
                return true;
        }
    }

    bool escape_sequence() {
        if (at_end()) bad("invalid escape \\ sequence");
        char c = text_[at_++];
        switch (c) {
            case 'd': out_ += "[0-9]"; return true;
            case 'D': out_ += "[^0-9]"; return true;
            case 's':
            case 'S':
            case 'w':
            case 'W':
                out_ += '\\';
                out_ += c;
                return true;
            case 'A': out_ += "\\A"; return false;
            case 'Z': out_ += "\\z"; return false;
            case 'm': out_ += "(?<!\\w)(?=\\w)"; return false;
            case 'M': out_ += "(?<=\\w)(?!\\w)"; return false;
            case 'y': out_ += "\\b"; return false;
            case 'Y': out_ += "\\B"; return false;
            default: break;
        }
        if (is_digit(c) && c != '0') {
            int n = c - '0';
            while (!at_end() && is_digit(text_[at_]) && n * 10 + (text_[at_] - '0') <= groups_) {
                n = n * 10 + (text_[at_++] - '0');
            }
            if (n > groups_) bad("invalid backreference number");
            BUNRAKU_ASSERT(n >= 1 && n <= groups_);
            out_ += fmt::format("(?:\\{})", n);
            return true;
        }
        literal_code(character_escape(c));
        return true;
    }

    std::uint32_t hexadecimal(int least, int most) {
        std::uint32_t code = 0;
        int n = 0;
        BUNRAKU_ASSERT(least >= 1 && least <= most);
        for (; n < most && !at_end(); ++n) {
            char c = text_[at_];
            int digit = is_digit(c)            ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
            if (digit < 0) break;
            code = code * 16 + static_cast<std::uint32_t>(digit);
            ++at_;
        }
        if (n < least || code > 0x10ffff) bad("invalid escape \\ sequence");
        return code;
    }

    /// Returns the code point of the character after a backslash.
    std::uint32_t character_escape(char c) {
        switch (c) {
            case 'a': return 7;
            case 'b': return 8;
            case 'B': return '\\';
            case 'e': return 27;
            case 'f': return 12;
            case 'n': return 10;
            case 'r': return 13;
            case 't': return 9;
            case 'v': return 11;
            case 'c':
                if (at_end()) bad("invalid escape \\ sequence");
                return static_cast<unsigned char>(text_[at_++]) & 31u;
            case 'u': return hexadecimal(4, 4);
            case 'U': return hexadecimal(8, 8);
            case 'x': return hexadecimal(1, 255);
            case '0': {
                std::uint32_t code = 0;
                for (int i = 0; i < 2 && !at_end() && text_[at_] >= '0' && text_[at_] < '8'; ++i) {
                    code = code * 8 + static_cast<std::uint32_t>(text_[at_++] - '0');
                }
                return code;
            }
            default:
                if (is_letter(c) || is_digit(c)) bad("invalid escape \\ sequence");
                return static_cast<unsigned char>(c);
        }
    }

    void literal_code(std::uint32_t code) {
        // A byte above 127 can only be the first byte of an escaped character.
        if (code >= 0x80 && code < 0x100 && at_ > 0 &&
            static_cast<unsigned char>(text_[at_ - 1]) == code) {
            out_ += static_cast<char>(code);
            while (!at_end() && (static_cast<unsigned char>(text_[at_]) & 0xc0) == 0x80) {
                out_ += text_[at_++];
            }
            return;
        }
        out_ += fmt::format("\\x{{{:x}}}", code);
    }

    void bracket() {
        // "[[:<:]]" and "[[:>:]]" are separate constraints.
        std::string_view rest = text_.substr(at_);
        if (rest.starts_with("[:<:]]")) {
            at_ += 6;
            out_ += "(?<!\\w)(?=\\w)";
            return;
        }
        if (rest.starts_with("[:>:]]")) {
            at_ += 6;
            out_ += "(?<=\\w)(?!\\w)";
            return;
        }
        out_ += '[';
        if (!at_end() && text_[at_] == '^') {
            out_ += '^';
            ++at_;
            if (dot_stops_) out_ += "\\n";
        }
        bool first = true;
        for (;; first = false) {
            if (at_end()) bad("brackets [] not balanced");
            char c = text_[at_];
            if (c == ']' && !first) break;
            std::uint32_t from = 0;
            bool single = member(&from);
            if (at_ + 1 < text_.size() && text_[at_] == '-' && text_[at_ + 1] != ']') {
                if (!single) bad("invalid character range");
                ++at_;
                std::uint32_t to = 0;
                if (!member_code(&to)) bad("invalid character range");
                if (to < from) bad("invalid character range");
                out_ += fmt::format("\\x{{{:x}}}-\\x{{{:x}}}", from, to);
            } else if (single) {
                out_ += fmt::format("\\x{{{:x}}}", from);
            }
        }
        ++at_;
        out_ += ']';
    }

    /// Parses a member of a bracket expression. Writes a class to the output and returns false;
    /// returns true for a single character, which it stores in `code`.
    bool member(std::uint32_t* code) {
        std::string_view rest = text_.substr(at_);
        if (rest.starts_with("[:")) {
            std::size_t end = rest.find(":]", 2);
            if (end == std::string_view::npos) bad("brackets [] not balanced");
            std::string_view name = rest.substr(2, end - 2);
            bool known = false;
            for (std::string_view k :
                 {"alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct",
                  "space", "upper", "xdigit", "word"}) {
                known = known || k == name;
            }
            if (!known) bad("invalid character class");
            out_ += name == "digit" ? "0-9" : fmt::format("[:{}:]", name);
            at_ += end + 2;
            return false;
        }
        if (rest.starts_with("[.") || rest.starts_with("[=")) {
            std::size_t end = rest.find(rest[1] == '.' ? ".]" : "=]", 2);
            if (end == std::string_view::npos) bad("brackets [] not balanced");
            std::size_t stop = at_ + end + 2;
            at_ += 2;
            plain(code);
            if (at_ != stop - 2) bad("invalid collating element");
            at_ = stop;
            return true;
        }
        if (rest.size() > 1 && rest[0] == '\\') {
            char c = rest[1];
            if (c == 'd' || c == 's' || c == 'w') {
                at_ += 2;
                out_ += c == 'd' ? "0-9" : c == 's' ? "\\s" : "\\w";
                return false;
            }
            if (c == 'D' || c == 'S' || c == 'W') bad("invalid escape \\ sequence");
        }
        return member_code(code);
    }

    bool member_code(std::uint32_t* code) {
        if (at_end()) bad("brackets [] not balanced");
        if (text_[at_] == '\\') {
            ++at_;
            if (at_end()) bad("invalid escape \\ sequence");
            char c = text_[at_++];
            if (static_cast<unsigned char>(c) >= 0x80) {
                --at_;
                plain(code);
            } else {
                *code = character_escape(c);
            }
            return true;
        }
        plain(code);
        return true;
    }

    /// Reads one UTF-8 character.
    void plain(std::uint32_t* code) {
        if (at_end()) bad("brackets [] not balanced");
        auto c = static_cast<unsigned char>(text_[at_++]);
        int more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0;
        *code = more == 3 ? c & 7u : more == 2 ? c & 15u : more == 1 ? c & 31u : c;
        for (; more > 0 && !at_end(); --more) {
            *code = (*code << 6) | (static_cast<unsigned char>(text_[at_++]) & 63u);
        }
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::string out_;
    int groups_ = 0;
    long repetitions_ = 1;
    bool ignore_case_ = false, lines_ = false, dot_stops_ = false, expanded_ = false,
         literal_ = false;
};

const OnigUChar* bytes(const char* p) { return reinterpret_cast<const OnigUChar*>(p); }

OnigSyntaxType& syntax() {
    static OnigSyntaxType own = [] {
        OnigEncoding encodings[] = {ONIG_ENCODING_UTF8};
        onig_initialize(encodings, 1);
        OnigSyntaxType copy;
        onig_copy_syntax(&copy, ONIG_SYNTAX_RUBY);
        return copy;
    }();
    return own;
}

/// Reports whether the text ends with a complete character. Oniguruma advances by the length that
/// the lead byte gives, so a truncated character would lead it past the end.
bool sound_end(std::string_view s) {
    for (std::size_t back = 1; back <= 3 && back <= s.size(); ++back) {
        auto c = static_cast<unsigned char>(s[s.size() - back]);
        if (c < 0x80) return true;
        if (c >= 0xc0) {
            std::size_t length = c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf8 ? 4 : 6;
            return length <= back;
        }
    }
    return true;
}

}  // namespace

std::string translate_are(std::string_view pattern, bool* ignore_case) {
    return Translator(pattern).run(ignore_case);
}

std::shared_ptr<const AreRegex> AreRegex::compile(std::string_view pattern) {
    bool ignore_case = false;
    if (!sound_end(pattern)) bad("invalid byte sequence");
    std::string translated = translate_are(pattern, &ignore_case);
    regex_t* compiled = nullptr;
    OnigErrorInfo info{};
    int rc =
        onig_new(&compiled, bytes(translated.data()), bytes(translated.data() + translated.size()),
                 ignore_case ? ONIG_OPTION_IGNORECASE : ONIG_OPTION_NONE, ONIG_ENCODING_UTF8,
                 &syntax(), &info);
    if (rc != ONIG_NORMAL) {
        OnigUChar text[ONIG_MAX_ERROR_MESSAGE_LEN];
        int n = onig_error_code_to_str(text, rc, &info);
        bad(std::string_view(reinterpret_cast<char*>(text),
                             static_cast<std::size_t>(std::max(n, 0))));
    }
    BUNRAKU_ASSERT(compiled != nullptr);
    std::shared_ptr<AreRegex> result(new AreRegex());
    result->compiled_ = compiled;
    return result;
}

std::shared_ptr<const AreRegex> AreRegex::cached(std::string_view pattern) {
    constexpr std::size_t kCapacity = 64;
    thread_local std::list<std::pair<std::string, std::shared_ptr<const AreRegex>>> cache;
    for (auto it = cache.begin(); it != cache.end(); ++it) {
        if (it->first != pattern) continue;
        cache.splice(cache.begin(), cache, it);
        return cache.front().second;
    }
    auto compiled = compile(pattern);
    cache.emplace_front(std::string(pattern), compiled);
    if (cache.size() > kCapacity) cache.pop_back();
    BUNRAKU_ASSERT(cache.size() <= kCapacity && cache.front().first == pattern);
    return compiled;
}

AreRegex::~AreRegex() {
    if (compiled_) onig_free(static_cast<regex_t*>(compiled_));
}

bool AreRegex::matches(std::string_view text) const {
    BUNRAKU_ASSERT(compiled_ != nullptr);
    if (!sound_end(text)) return false;
    struct Parameters {
        OnigMatchParam* raw = onig_new_match_param();
        Parameters() {
            onig_initialize_match_param(raw);
            onig_set_retry_limit_in_match_of_match_param(raw, kRetryLimit);
            onig_set_retry_limit_in_search_of_match_param(raw, kRetryLimit);
            onig_set_match_stack_limit_size_of_match_param(raw, kStackLimit);
        }
        ~Parameters() { onig_free_match_param(raw); }
    };
    thread_local Parameters parameters;
    int rc = onig_search_with_param(static_cast<regex_t*>(compiled_), bytes(text.data()),
                                    bytes(text.data() + text.size()), bytes(text.data()),
                                    bytes(text.data() + text.size()), nullptr, ONIG_OPTION_NONE,
                                    parameters.raw);
    if (rc >= 0) return true;
    if (rc == ONIG_MISMATCH) return false;
    bad("regular expression is too complex");
}

}  // namespace bunraku::query
