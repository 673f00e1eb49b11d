// SPDX-License-Identifier: Apache-2.0
#include "language/lint/string_slurper.h"

#include <algorithm>

#include "language/lint/characters.h"

namespace bunraku::lint {

std::size_t variable_name_end(std::string_view text, std::size_t at) {
    std::size_t pos = at;
    if (text.substr(pos).starts_with("::")) pos += 2;
    if (!is_word(char_at(text, pos))) return at;
    while (true) {
        while (is_word(char_at(text, pos)) ||
               (char_at(text, pos) == '-' && is_word(char_at(text, pos + 1))))
            ++pos;
        if (!text.substr(std::min(pos, text.size())).starts_with("::") ||
            !is_word(char_at(text, pos + 2)))
            return pos;
        pos += 2;
    }
}

namespace {

using Kind = StringSegment::Kind;

/// Longer names of heredocs are not accepted, because each position is compared with them.
constexpr std::size_t kMaxHeredocName = 256;

/// Finds the end of a run of some characters. Remembers the last run, so that asking at each of its
/// positions takes linear time.
class Run {
public:
    explicit Run(std::string_view characters) : characters_(characters) {}
    /// Returns the position of the first other character at or after `from`.
    std::size_t end(std::string_view text, std::size_t from) {
        if (begin_ <= from && from < end_) return end_;
        std::size_t at = from;
        while (at < text.size() && characters_.contains(text[at])) ++at;
        begin_ = from;
        return end_ = at;
    }

private:
    std::string_view characters_;
    std::size_t begin_ = 0, end_ = 0;
};

class Slurper {
public:
    explicit Slurper(std::string_view text) : text_(text) {}

    std::optional<SlurpedString> string() {
        while (pos_ < text_.size()) {
            if (at("${")) {
                start_code();
            } else if (depth_ > 0 && text_[pos_] == '{') {
                read_character();
            } else if (text_[pos_] == '}') {
                end_code();
            } else if (at_variable()) {
                variable();
            } else if (const std::size_t size = string_end_size()) {
                pos_ += size;
                escaped_ = false;
                if (depth_ > 0) continue;
                add(Kind::Text, text_.substr(begin_, pos_ - 1 - begin_));
                return finish();
            } else if (const std::size_t escape = escaped_quote_size()) {
                pos_ += escape;
                escaped_ = false;
            } else {
                read_character();
            }
        }
        return std::nullopt;
    }

    std::optional<SlurpedString> heredoc(std::string_view name, bool interpolates) {
        while (pos_ < text_.size()) {
            if (const std::size_t size = heredoc_end_size(name); size > 0 && depth_ == 0) {
                add(Kind::Text, text_.substr(begin_, pos_ - begin_));
                add(Kind::HeredocEnd, text_.substr(pos_, size));
                pos_ += size;
                return finish();
            }
            if (!interpolates) {
                read_character();
            } else if (at("${")) {
                start_code();
            } else if (depth_ > 0 && text_[pos_] == '{') {
                read_character();
            } else if (at_variable()) {
                variable();
            } else if (text_[pos_] == '}') {
                end_code();
            } else {
                read_character();
            }
        }
        return std::nullopt;
    }

private:
    bool at(std::string_view word) const { return text_.substr(pos_).starts_with(word); }

    void add(Kind kind, std::string_view text) { out_.segments.push_back({kind, text}); }

    std::optional<SlurpedString> finish() {
        out_.size = pos_;
        return std::move(out_);
    }

    void read_character() {
        const char c = text_[pos_];
        pos_ += character_size(text_, pos_);
        escaped_ = c == '\\';
        if (depth_ == 0) return;
        if (c == '{') ++depth_;
        if (c == '}') --depth_;
    }

    void start_code() {
        if (escaped_) return read_character();
        if (depth_ == 0) {
            add(Kind::Text, text_.substr(begin_, pos_ - begin_));
            begin_ = pos_ + 2;
        }
        pos_ += 2;
        escaped_ = false;
        ++depth_;
    }

    void end_code() {
        if (depth_ > 0 && --depth_ == 0) {
            add(Kind::Code, text_.substr(begin_, pos_ - begin_));
            begin_ = pos_ + 1;
        }
        ++pos_;
        escaped_ = false;
    }

    /// Returns the position of the dollar sign of a variable at this position or, after a character
    /// other than a backslash, at the next one. Returns npos if no variable follows.
    std::size_t dollar() const {
        const auto names_variable = [this](std::size_t pos) {
            return char_at(text_, pos) == '$' && variable_name_end(text_, pos + 1) != pos + 1;
        };
        if (names_variable(pos_)) return pos_;
        if (text_[pos_] == '\\') return std::string_view::npos;
        const std::size_t next = pos_ + character_size(text_, pos_);
        return names_variable(next) ? next : std::string_view::npos;
    }

    bool at_variable() const {
        return depth_ == 0 && !escaped_ && dollar() != std::string_view::npos;
    }

    void variable() {
        const std::size_t begin = dollar();
        const std::size_t end = variable_name_end(text_, begin + 1);
        add(Kind::Text, text_.substr(begin_, begin - begin_));
        add(Kind::Variable, text_.substr(begin + 1, end - begin - 1));
        pos_ = begin_ = end;
        escaped_ = false;
    }

    /// Returns the size of the quote at `pos` together with pairs of backslashes before it, or 0.
    std::size_t quote_size(std::size_t pos) {
        const std::size_t end = backslashes_.end(text_, pos);
        return (end - pos) % 2 == 0 && char_at(text_, end) == '"' ? end + 1 - pos : 0;
    }

    std::size_t string_end_size() {
        if (const std::size_t size = quote_size(pos_)) return size;
        if (text_[pos_] == '\\') return 0;
        const std::size_t first = character_size(text_, pos_);
        const std::size_t size = quote_size(pos_ + first);
        return size ? first + size : 0;
    }

    std::size_t escaped_quote_size() {
        const std::size_t end = backslashes_.end(text_, pos_);
        return end > pos_ && char_at(text_, end) == '"' ? end + 1 - pos_ : 0;
    }

    /// Returns the size of "| - NAME" at this position if the line ends after it. As in
    /// puppet-lint, the text before it on the line does not matter.
    std::size_t heredoc_end_size(std::string_view name) {
        std::size_t end = pos_;
        if (char_at(text_, end) == '|') ++end;
        end = blanks_.end(text_, end);
        if (char_at(text_, end) == '-') ++end;
        end = more_blanks_.end(text_, end);
        if (!text_.substr(end).starts_with(name)) return 0;
        end += name.size();
        return end == text_.size() || line_end_size(text_, end) > 0 ? end - pos_ : 0;
    }

    std::string_view text_;
    std::size_t pos_ = 0, begin_ = 0;  ///< begin_: start of the current segment
    std::size_t depth_ = 0;            ///< open braces since the start of the current code
    bool escaped_ = false;             ///< whether the last piece of this segment is a backslash
    Run backslashes_{"\\"}, blanks_{" \t\r\n\f\v"}, more_blanks_{" \t\r\n\f\v"};
    SlurpedString out_;
};

/// Returns the name in a heredoc tag: without quotes, syntax (":json"), escapes ("/n") and blanks.
std::string_view heredoc_name(std::string_view tag) {
    if (tag.starts_with('"')) tag.remove_prefix(1);
    while (blank_size(tag, 0) > 0) tag.remove_prefix(blank_size(tag, 0));
    std::size_t end = 0;
    while (end < tag.size() && tag[end] != '"' && tag[end] != ':' && tag[end] != '/') ++end;
    while (end > 0 && (tag[end - 1] == ' ' || tag[end - 1] == '\t')) --end;
    return tag.substr(0, end);
}

}  // namespace

std::optional<SlurpedString> slurp_string(std::string_view text) { return Slurper(text).string(); }

std::optional<SlurpedString> slurp_heredoc(std::string_view text, std::string_view tag) {
    const std::string_view name = heredoc_name(tag);
    if (name.empty() || name.size() > kMaxHeredocName) return std::nullopt;
    return Slurper(text).heredoc(name, tag.starts_with('"'));
}

}  // namespace bunraku::lint
