// SPDX-License-Identifier: Apache-2.0
// Pretty-prints JSON like PuppetDB, which uses Cheshire: objects have one member per line, arrays
// are on one line.
#include <string>
#include <string_view>

#include "store/engine/query_engine.h"

namespace bunraku::store {

namespace {

/// Returns the position after the closing quote of the string that begins at `start`.
std::size_t end_of_string(std::string_view s, std::size_t start) {
    for (std::size_t i = start;;) {
        i = s.find('"', i + 1);
        if (i == std::string_view::npos) return s.size();
        // A quote after an odd number of backslashes is escaped.
        std::size_t before = i;
        while (before > start + 1 && s[before - 1] == '\\') --before;
        if ((i - before) % 2 == 0) return i + 1;
    }
}

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

class Printer {
public:
    Printer(std::string& out, std::string_view compact) : out_(out), s_(compact) {}

    void run() {
        // The characters that end a number or a word.
        constexpr std::string_view kMeaning = "\"{}[],: \n\t\r";
        for (std::size_t i = 0; i < s_.size();) {
            char c = s_[i];
            switch (c) {
                case '"': {
                    std::size_t end = end_of_string(s_, i);
                    out_.append(s_, i, end - i);
                    i = end;
                    continue;
                }
                case '{':
                case '[': i = open(i); continue;
                case '}':
                case ']': close(c); break;
                case ',': separate(); break;
                case ':': out_ += " : "; break;
                default: {
                    if (is_blank(c)) break;
                    std::size_t end = s_.find_first_of(kMeaning, i);
                    if (end == std::string_view::npos) end = s_.size();
                    out_.append(s_, i, end - i);
                    i = end;
                    continue;
                }
            }
            ++i;
        }
    }

private:
    void line() {
        out_ += '\n';
        out_.append(depth_ * 2, ' ');
    }
    std::size_t open(std::size_t i) {
        char c = s_[i];
        std::size_t next = i + 1;
        while (next < s_.size() && is_blank(s_[next])) ++next;
        out_ += c;
        if (next < s_.size() && (s_[next] == '}' || s_[next] == ']')) {
            out_ += ' ';
            out_ += s_[next];
            return next + 1;
        }
        open_ += c;
        if (c == '{') {
            ++depth_;
            line();
        } else {
            out_ += ' ';
        }
        return next;
    }
    void close(char c) {
        if (!open_.empty()) open_.pop_back();
        if (c == ']') {
            out_ += " ]";
            return;
        }
        if (depth_ > 0) --depth_;
        line();
        out_ += c;
    }
    void separate() {
        out_ += ',';
        open_.ends_with('{') ? line() : (void)(out_ += ' ');
    }

    std::string& out_;
    std::string_view s_;
    std::string open_;  ///< the enclosing brackets
    std::size_t depth_ = 0;
};

}  // namespace

void append_pretty_json(std::string& out, std::string_view compact) { Printer(out, compact).run(); }

std::string pretty_json(std::string_view compact) {
    std::string out;
    out.reserve(compact.size() * 3 / 2);
    append_pretty_json(out, compact);
    return out;
}

}  // namespace bunraku::store
