// SPDX-License-Identifier: Apache-2.0
#include "unit/language/format/odd_layouts.h"

#include <fmt/format.h>
#include <random>
#include <string_view>

namespace bunraku::format {

namespace {

/// What may precede a token.
enum class Before : std::uint8_t { Anything, Nothing, SameLine, NewLine };

struct Piece {
    std::string text;
    Before before = Before::Anything;
    std::string heredoc;  ///< lines that follow the line of this token
};

class Generator {
public:
    explicit Generator(std::uint64_t seed) : random_(seed) {}

    std::vector<Piece> manifest() {
        const int count = pick(4);
        for (int i = 0; i <= count; ++i) top_level();
        return std::move(pieces_);
    }

    int pick(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
    bool chance(int percent) { return pick(100) < percent; }

private:
    template <std::size_t N>
    const char* one_of(const char* const (&texts)[N]) {
        return texts[static_cast<std::size_t>(pick(static_cast<int>(N)))];
    }
    void put(std::string text, Before before = Before::Anything) {
        pieces_.push_back({std::move(text), before, {}});
    }
    void words(std::initializer_list<const char*> texts) {
        for (const char* text : texts) put(text);
    }
    /// Writes up to `most` items separated by `comma`, with an optional one at the end.
    template <class Item>
    void separated(int most, bool trailing, const Item& item) {
        const int count = pick(most + 1);
        for (int i = 0; i < count; ++i) {
            if (i > 0) put(",");
            item();
        }
        if (trailing && count > 0 && chance(40)) put(",");
    }

    void top_level() {
        switch (pick(12)) {
            case 0: definition("class", true); break;
            case 1: definition("define", false); break;
            case 2: function(); break;
            case 3: node(); break;
            case 4: type_alias(); break;
            default: statement(3); break;
        }
    }

    void name() {
        put(one_of({"foo", "bar::baz", "::top", "a_long_name_of_something", "x", "profile::base"}));
    }
    void variable() {
        put(one_of({"$a", "$foo::bar", "$::osfamily", "$_x", "$a_rather_long_variable_name"}));
    }
    void reference() {
        put(one_of({"File", "Foo::Bar", "Package", "Service"}));
        put("[", Before::Nothing);
        expression(1);
        put("]");
    }
    void type() {
        switch (pick(4)) {
            case 0: put("String"); break;
            case 1: put("Stdlib::Absolutepath"); break;
            case 2:
                put(one_of({"Optional", "Array", "Variant"}));
                put("[", Before::Nothing);
                type();
                if (chance(30)) {
                    put(",");
                    type();
                }
                put("]");
                break;
            default:
                put("Enum");
                put("[", Before::Nothing);
                put("'one'");
                put(",");
                put("'two'");
                put("]");
        }
    }

    void parameter() {
        if (chance(60)) type();
        variable();
        pieces_.back().text = fmt::format("$p{}", pick(9));
        if (!chance(50)) return;
        put("=");
        expression(2);
    }
    void parameters() {
        put("(");
        separated(4, true, [this] { parameter(); });
        put(")");
    }
    void block(int depth) {
        put("{");
        const int count = pick(3);
        for (int i = 0; i < count; ++i) statement(depth - 1);
        put("}");
    }

    void definition(const char* keyword, bool inherits) {
        put(keyword);
        name();
        if (chance(70)) parameters();
        if (inherits && chance(30)) words({"inherits", "base::params"});
        block(3);
    }
    void function() {
        words({"function", "foo::make"});
        parameters();
        if (chance(50)) {
            put(">>");
            type();
        }
        block(3);
    }
    void node() {
        put("node");
        put(one_of({"'web1.example.com'", "default", "/^db\\d+$/", "web1.example.com"}));
        if (chance(30)) words({",", "'other'"});
        block(3);
    }
    void type_alias() {
        words({"type", "Foo::Alias", "="});
        if (chance(50)) return type();
        put("Struct");
        put("[", Before::Nothing);
        hash(1);
        put("]");
    }

    void statement(int depth) {
        if (depth <= 0) return assignment(1);
        switch (pick(14)) {
            case 0:
            case 1:
            case 2: resource(depth); break;
            case 3: defaults(depth); break;
            case 4: collector(depth); break;
            case 5: conditional(depth); break;
            case 6: case_of(depth); break;
            case 7: include(); break;
            case 8: call(depth); break;
            case 9: chain(depth); break;
            case 10: relationship(depth); break;
            default: assignment(depth); break;
        }
    }

    void assignment(int depth) {
        variable();
        put("=");
        expression(depth);
    }
    void attributes(int depth, bool trailing) {
        separated(4, trailing, [&] {
            if (chance(5)) {
                words({"*", "=>"});
                return variable();
            }
            put(one_of({"ensure", "mode", "require", "a_very_long_attribute", "type", "in"}));
            put(chance(90) ? "=>" : "+>");
            expression(depth);
        });
    }
    void resource(int depth) {
        if (chance(10)) put(chance(50) ? "@" : "@@");
        put(one_of({"file", "package", "foo::bar", "class"}));
        put("{");
        const int bodies = chance(80) ? 1 : 3;
        for (int i = 0; i < bodies; ++i) {
            if (i > 0) put(";");
            expression(1);
            put(":");
            attributes(depth - 1, true);
        }
        if (chance(20)) put(";");
        put("}");
    }
    void defaults(int depth) {
        if (chance(50)) {
            put("File");
        } else {
            reference();
        }
        put("{");
        attributes(depth - 1, true);
        put("}");
    }
    void collector(int depth) {
        words({"User", "<|"});
        if (chance(60)) {
            words({"title", "=="});
            expression(0);
        }
        put("|>");
        if (!chance(40)) return;
        put("{");
        attributes(depth - 1, true);
        put("}");
    }
    void conditional(int depth) {
        if (chance(30)) {
            put("unless");
            expression(1);
            block(depth);
            return;
        }
        put("if");
        expression(2);
        block(depth);
        if (chance(30)) {
            put("elsif");
            expression(1);
            block(depth);
        }
        if (chance(40)) {
            put("else");
            block(depth);
        }
    }
    void case_of(int depth) {
        put("case");
        expression(1);
        put("{");
        const int count = 1 + pick(3);
        for (int i = 0; i < count; ++i) {
            expression(0);
            if (chance(30)) {
                put(",");
                expression(0);
            }
            put(":");
            block(depth - 1);
        }
        put("}");
    }
    void include() {
        put(one_of({"include", "contain", "require", "notice"}));
        name();
        if (chance(30)) {
            put(",");
            name();
        }
    }
    void arguments(int depth, bool trailing) {
        put("(", Before::SameLine);
        separated(3, trailing, [&] { expression(depth); });
        put(")");
    }
    void call(int depth) {
        name();
        arguments(depth, true);
        if (chance(20)) lambda(depth);
    }
    void lambda(int depth) {
        put("|");
        separated(2, true, [this] { parameter(); });
        put("|");
        block(depth - 1);
    }
    void chain(int depth) {
        variable();
        const int count = 1 + pick(3);
        for (int i = 0; i < count; ++i) {
            put(".");
            put(one_of({"map", "filter", "each", "flatten"}));
            if (chance(50)) arguments(1, false);
            if (chance(60)) lambda(depth);
        }
    }
    void relationship(int depth) {
        reference();
        const int count = 1 + pick(2);
        for (int i = 0; i < count; ++i) {
            put(one_of({"->", "~>", "<-"}));
            if (chance(30)) {
                resource(depth);
            } else {
                reference();
            }
        }
    }

    void expression(int depth) {
        if (depth <= 0) return literal();
        switch (pick(16)) {
            case 0:
            case 1: array(depth); break;
            case 2:
            case 3: hash(depth); break;
            case 4:
                variable();
                put("[", Before::Nothing);
                expression(0);
                put("]");
                break;
            case 5:
            case 6: operation(depth); break;
            case 7:
                put("(");
                expression(depth - 1);
                put(")");
                break;
            case 8:
                put("!");
                expression(0);
                break;
            case 9: call(depth - 1); break;
            case 10: selector(depth); break;
            case 11: heredoc(); break;
            case 12: reference(); break;
            default: literal(); break;
        }
    }
    void array(int depth) {
        put("[");
        separated(4, true, [&] { expression(depth - 1); });
        put("]");
    }
    void hash(int depth) {
        put("{");
        separated(3, true, [&] {
            literal();
            put("=>");
            expression(depth - 1);
        });
        put("}");
    }
    void operation(int depth) {
        put("(");
        expression(0);
        const int count = 1 + pick(3);
        for (int i = 0; i < count; ++i) {
            put(one_of({"+", "-", "*", "==", "and", "or", "in", "=~", "<", "!="}));
            expression(depth - 1);
        }
        put(")");
    }
    void selector(int depth) {
        variable();
        put("?");
        put("{");
        const int count = 1 + pick(3);
        for (int i = 0; i < count; ++i) {
            if (i > 0) put(",");
            literal();
            put("=>");
            expression(depth - 1);
        }
        put("}");
    }
    void heredoc() {
        const std::string tag = fmt::format("END{}", ++heredocs_);
        put(chance(50) ? fmt::format("@(\"{}\")", tag) : fmt::format("@({}/L)", tag));
        pieces_.back().heredoc =
            fmt::format("  text # of {0}\n    $a\n  {1} {0}\n", tag, chance(50) ? "|" : "|-");
    }
    void literal() {
        switch (pick(9)) {
            case 0: put(fmt::format("{}", pick(1000))); break;
            case 1: put("'a string # of text'"); break;
            case 2: put("\"with ${var} and ${a['b']} /* in it\""); break;
            case 3: put("'two\nlines'"); break;
            case 4: variable(); break;
            case 5: put(one_of({"true", "undef", "default", "present"})); break;
            case 6: put("'it\\'s'"); break;
            case 7: put("'" + std::string(static_cast<std::size_t>(pick(130)), 'w') + "'"); break;
            default: put("'x'"); break;
        }
    }

    std::mt19937_64 random_;
    std::vector<Piece> pieces_;
    int heredocs_ = 0;
};

bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c == ':';
}

/// Writes pieces with random blanks, line breaks and comments between them.
class Writer {
public:
    Writer(Generator& random, int oddness) : random_(random), oddness_(oddness) {}

    void write(const Piece& piece) {
        gap(piece);
        out_.text += piece.text;
        if (!piece.heredoc.empty()) heredocs_ += piece.heredoc;
    }
    OddManifest finish() {
        if (random_.chance(oddness_)) comment();
        newline();
        return std::move(out_);
    }

private:
    void newline() {
        out_.text += '\n';
        out_.text += heredocs_;
        heredocs_.clear();
    }
    void comment() {
        std::string text = fmt::format("# c{} 'x' {{", out_.comments.size());
        out_.text += text;
        out_.comments.push_back(std::move(text));
        newline();
    }
    void block_comment() {
        std::string text = fmt::format("/* c{} */", out_.comments.size());
        out_.text += text;
        out_.comments.push_back(std::move(text));
    }
    void blanks() {
        static constexpr std::string_view kBlanks[] = {" ", " ", "  ", "\t", "     ", ""};
        out_.text += kBlanks[random_.pick(6)];
    }

    void gap(const Piece& piece) {
        if (piece.before == Before::Nothing) return;
        const bool break_line = !heredocs_.empty() && piece.text.find('\n') != std::string::npos;
        const bool same_line = piece.before == Before::SameLine;
        for (int i = random_.pick(3); i >= 0; --i) {
            blanks();
            if (random_.chance(oddness_)) {
                switch (random_.pick(same_line ? 1 : 5)) {
                    case 0: block_comment(); break;
                    case 1:
                    case 2: comment(); break;
                    default:
                        newline();
                        if (random_.chance(30)) newline();
                        break;
                }
            }
        }
        if (break_line) newline();
        if (!out_.text.empty() && is_word(out_.text.back()) && is_word(piece.text.front()))
            out_.text += ' ';
        // Symbols that would join to another token.
        if (!out_.text.empty() && !is_word(out_.text.back()) && !same_line) out_.text += ' ';
    }

    Generator& random_;
    int oddness_;
    OddManifest out_;
    std::string heredocs_;
};

}  // namespace

OddManifest odd_manifest(std::uint64_t seed) {
    Generator generator(seed);
    const std::vector<Piece> pieces = generator.manifest();
    static constexpr int kOddness[] = {0, 3, 10, 30};
    Writer writer(generator, kOddness[generator.pick(4)]);
    for (const Piece& piece : pieces) writer.write(piece);
    return writer.finish();
}

}  // namespace bunraku::format
