#include "module/puppetfile.h"

#include <fmt/format.h>
#include <utility>

#include "module/names.h"

namespace bunraku::module {

namespace {

using base::failure;
using base::Result;

struct Token {
    enum class Kind { Word, Text, Symbol, Key, Punctuation, Newline, End } kind = Kind::End;
    std::string text;
    int line = 0;
};

/// Splits the subset of Ruby that Puppetfiles hold.
class Lexer {
public:
    explicit Lexer(std::string_view text) : text_(text) {}
    Result<Token> next() {
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (c == '#') {
                while (at_ < text_.size() && text_[at_] != '\n') ++at_;
            } else if (c == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') {
                at_ += 2;
                ++line_;
            } else if (c == '\n' || c == ';') {
                ++at_;
                Token t{Token::Kind::Newline, "", line_};
                if (c == '\n') ++line_;
                return t;
            } else if (c == ' ' || c == '\t' || c == '\r') {
                ++at_;
            } else {
                break;
            }
        }
        if (at_ >= text_.size()) return Token{Token::Kind::End, "", line_};
        const char c = text_[at_];
        if (c == '\'' || c == '"') return quoted(c);
        if (text_.substr(at_, 2) == "=>") {
            at_ += 2;
            return Token{Token::Kind::Punctuation, "=>", line_};
        }
        if (c == ':' && at_ + 1 < text_.size()) {
            ++at_;
            if (text_[at_] == '\'' || text_[at_] == '"') {
                auto t = quoted(text_[at_]);
                if (t) t->kind = Token::Kind::Symbol;
                return t;
            }
            std::string name = word();
            if (name.empty()) return failure(fmt::format("line {}: a name must follow ':'", line_));
            return Token{Token::Kind::Symbol, std::move(name), line_};
        }
        std::string name = word();
        if (!name.empty()) {
            if (at_ < text_.size() && text_[at_] == ':' && text_.substr(at_, 2) != "::") {
                ++at_;
                return Token{Token::Kind::Key, std::move(name), line_};
            }
            return Token{Token::Kind::Word, std::move(name), line_};
        }
        if (std::string_view(",{}()").find(c) != std::string_view::npos) {
            ++at_;
            return Token{Token::Kind::Punctuation, std::string(1, c), line_};
        }
        return failure(fmt::format("line {}: unexpected '{}'", line_, c));
    }

private:
    std::string word() {
        std::string out;
        while (at_ < text_.size()) {
            const char c = text_[at_];
            const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
                              (c >= '0' && c <= '9') || c == '.';
            if (!good) break;
            out += c;
            ++at_;
        }
        return out;
    }
    Result<Token> quoted(char mark) {
        const int start = line_;
        std::string out;
        for (++at_; at_ < text_.size(); ++at_) {
            const char c = text_[at_];
            if (c == mark) {
                ++at_;
                return Token{Token::Kind::Text, std::move(out), start};
            }
            if (c == '\n') ++line_;
            if (c == '\\' && at_ + 1 < text_.size()) {
                const char n = text_[at_ + 1];
                if (n == mark || n == '\\') {
                    out += n;
                    ++at_;
                    continue;
                }
            }
            if (mark == '"' && c == '#' && text_.substr(at_, 2) == "#{") {
                return failure(fmt::format("line {}: interpolation is not supported", line_));
            }
            out += c;
        }
        return failure(fmt::format("line {}: a string is not closed", start));
    }
    std::string_view text_;
    std::size_t at_ = 0;
    int line_ = 1;
};

struct Argument {
    std::string key;  ///< empty: positional
    std::string text;
    bool symbol = false, truth = false;
};

class Parser {
public:
    explicit Parser(std::string_view text) : lexer_(text) {}
    Result<Puppetfile> parse() {
        Puppetfile out;
        std::string folder;
        BUNRAKU_TRY_VOID(step());
        while (token_.kind != Token::Kind::End) {
            if (token_.kind == Token::Kind::Newline) {
                BUNRAKU_TRY_VOID(step());
                continue;
            }
            const int line = token_.line;
            if (token_.kind != Token::Kind::Word) return unexpected();
            const std::string command = token_.text;
            BUNRAKU_TRY_VOID(step());
            const auto arguments = BUNRAKU_TRY(read_arguments());
            const bool one = arguments.size() == 1 && arguments[0].key.empty();
            if (command == "forge" || command == "moduledir") {
                if (!one) return failure(fmt::format("line {}: {} takes one text", line, command));
                if (command == "forge") out.forge = arguments[0].text;
                if (command == "moduledir") folder = out.moduledir = arguments[0].text;
            } else if (command == "mod") {
                auto module = BUNRAKU_TRY(read_module(arguments, line));
                if (module.moduledir.empty()) module.moduledir = folder;
                out.modules.push_back(std::move(module));
            } else if (command == "metadata" && arguments.empty()) {
                return failure(fmt::format("line {}: 'metadata' is not supported", line));
            } else {
                return failure(fmt::format("line {}: '{}' is none of forge, moduledir and mod",
                                           line, command));
            }
        }
        return out;
    }

private:
    Result<void> step() {
        token_ = BUNRAKU_TRY(lexer_.next());
        return {};
    }
    std::unexpected<base::Error> unexpected() const {
        return failure(fmt::format("line {}: unexpected '{}'", token_.line,
                                   token_.text.empty() ? "end of line" : token_.text));
    }
    bool punctuation(std::string_view text) const {
        return token_.kind == Token::Kind::Punctuation && token_.text == text;
    }
    Result<void> skip_lines() {
        while (token_.kind == Token::Kind::Newline) BUNRAKU_TRY_VOID(step());
        return {};
    }
    Result<Argument> value(std::string key) {
        Argument a{.key = std::move(key)};
        if (token_.kind == Token::Kind::Text) {
            a.text = token_.text;
        } else if (token_.kind == Token::Kind::Symbol) {
            a.text = token_.text;
            a.symbol = true;
        } else if (token_.kind == Token::Kind::Word &&
                   (token_.text == "true" || token_.text == "false" || token_.text == "nil")) {
            a.truth = token_.text == "true";
            a.text = token_.text;
            a.symbol = true;
        } else {
            return unexpected();
        }
        BUNRAKU_TRY_VOID(step());
        return a;
    }
    Result<std::vector<Argument>> read_arguments() {
        std::vector<Argument> out;
        int open = 0;
        for (;;) {
            if (open > 0) BUNRAKU_TRY_VOID(skip_lines());
            if (punctuation("(") || punctuation("{")) {
                ++open;
                BUNRAKU_TRY_VOID(step());
                continue;
            }
            if (open > 0 && (punctuation(")") || punctuation("}"))) {
                --open;
                BUNRAKU_TRY_VOID(step());
                continue;
            }
            if (token_.kind == Token::Kind::Newline || token_.kind == Token::Kind::End) {
                if (open > 0) return unexpected();
                return out;
            }
            if (punctuation(",")) {
                BUNRAKU_TRY_VOID(step());
                BUNRAKU_TRY_VOID(skip_lines());
                continue;
            }
            if (token_.kind == Token::Kind::Key) {
                std::string key = token_.text;
                BUNRAKU_TRY_VOID(step());
                BUNRAKU_TRY_VOID(skip_lines());
                out.push_back(BUNRAKU_TRY(value(std::move(key))));
                continue;
            }
            Argument a = BUNRAKU_TRY(value({}));
            if (punctuation("=>")) {
                BUNRAKU_TRY_VOID(step());
                BUNRAKU_TRY_VOID(skip_lines());
                a = BUNRAKU_TRY(value(a.text));
            }
            out.push_back(std::move(a));
        }
    }
    static Result<PuppetfileModule> read_module(const std::vector<Argument>& arguments, int line) {
        PuppetfileModule m;
        m.line = line;
        std::size_t positional = 0;
        for (const Argument& a : arguments) {
            if (a.key.empty()) {
                if (positional == 0) {
                    m.name = a.text;
                } else if (positional == 1) {
                    if (a.symbol && a.text == "local") {
                        m.local = true;
                    } else {
                        m.version = a.text;
                    }
                } else {
                    return failure(fmt::format("line {}: too many arguments", line));
                }
                ++positional;
            } else if (a.key == "git") {
                m.git = a.text;
            } else if (a.key == "ref" || a.key == "tag" || a.key == "branch" || a.key == "commit") {
                m.of_control_branch = a.symbol && a.text == "control_branch";
                m.ref = a.text;
            } else if (a.key == "default_branch") {
                m.default_ref = a.text;
            } else if (a.key == "version") {
                m.version = a.text;
            } else if (a.key == "type") {
                if (a.text != "forge" && a.text != "git") {
                    return failure(fmt::format("line {}: modules of type '{}' are not supported",
                                               line, a.text));
                }
            } else if (a.key == "source") {
                m.git = a.text;
            } else if (a.key == "install_path" || a.key == "path") {
                m.moduledir = a.text;
                m.own_folder = true;
            } else if (a.key == "local") {
                m.local = a.truth;
            } else if (a.key == "exclude_spec") {
                m.exclude_spec = a.truth;
            } else if (a.key == "default_branch_override") {
                continue;
            } else if (a.key == "svn" || a.key == "tarball") {
                return failure(
                    fmt::format("line {}: '{}' is not supported for a module", line, a.key));
            } else {
                m.unknown.push_back(a.key);
            }
        }
        // r10k's common words: of a git module the version is the reference.
        if (m.from_git() && m.ref.empty()) m.ref = std::exchange(m.version, {});
        // Names become folders, references become arguments of git.
        auto full = parse_module_name(m.name);
        const bool plain = !m.name.empty() && m.name.size() < 200 &&
                           m.name.find_first_not_of(
                               "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
                               std::string::npos;
        if (!full && !(plain && (m.from_git() || m.local))) {
            return failure(fmt::format("line {}: '{}' is not a module name", line, m.name));
        }
        if (m.git.starts_with('-') || m.ref.starts_with('-') || m.default_ref.starts_with('-')) {
            return failure(
                fmt::format("line {}: an address or reference cannot begin with '-'", line));
        }
        if (!m.from_git() && !m.version.empty() && m.version != "latest" &&
            !base::SemVerRange::parse(m.version)) {
            return failure(
                fmt::format("line {}: '{}' is neither a version nor a range", line, m.version));
        }
        return m;
    }

    Lexer lexer_;
    Token token_;
};

}  // namespace

std::string PuppetfileModule::folder() const {
    const std::size_t cut = name.find_first_of("-/");
    return cut == std::string::npos ? name : name.substr(cut + 1);
}

Result<Puppetfile> parse_puppetfile(std::string_view text) {
    auto out = Parser(text).parse();
    if (!out) return out;
    std::map<std::string, int> folders;
    for (const PuppetfileModule& m : out->modules) {
        const std::string key = m.moduledir + "/" + m.folder();
        if (auto [it, fresh] = folders.emplace(key, m.line); !fresh) {
            return failure(
                fmt::format("line {}: '{}' would be installed where line {} puts a "
                            "module already",
                            m.line, m.name, it->second));
        }
    }
    return out;
}

}  // namespace bunraku::module
