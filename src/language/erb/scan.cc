// SPDX-License-Identifier: Apache-2.0
#include "language/erb/scan.h"

#include <algorithm>

#include "core/base/assert.h"

namespace bunraku::erb {

namespace {

/// The next tag at or after `from`: its begin, its end and its kind.
struct Tag {
    std::size_t begin = 0;
    std::size_t end = 0;
    /// "<%", "<%=", "<%#", "<%%" or "<%-"; empty at the end of the template.
    std::string_view text;
};

/// Matches `(.*?)(^[ \t]*<%-|<%-|<%%|<%=|<%#|<%|\z)`. For StringScanner, `^` also matches at the
/// scan position, so blanks between a tag and `<%-` are removed as well.
Tag next_open(std::string_view s, std::size_t from) {
    const std::size_t at = s.find("<%", from);
    if (at == std::string_view::npos) return {s.size(), s.size(), {}};
    const char sign = at + 2 < s.size() ? s[at + 2] : '\0';
    if (sign != '-' && sign != '%' && sign != '=' && sign != '#')
        return {at, at + 2, s.substr(at, 2)};
    Tag tag{at, at + 3, s.substr(at, 3)};
    if (sign == '-') {
        std::size_t blank = at;
        while (blank > from && (s[blank - 1] == ' ' || s[blank - 1] == '\t')) --blank;
        if (blank == from || s[blank - 1] == '\n') tag.begin = blank;
    }
    return tag;
}

/// Matches `(.*?)(-%>|%%>|%>|\z)`.
Tag next_close(std::string_view s, std::size_t from) {
    const std::size_t at = s.find("%>", from);
    if (at == std::string_view::npos) return {s.size(), s.size(), {}};
    if (at > from && (s[at - 1] == '-' || s[at - 1] == '%'))
        return {at - 1, at + 2, s.substr(at - 1, 3)};
    return {at, at + 2, s.substr(at, 2)};
}

/// Ruby reads the encoding and string mode from a comment at the beginning of the template.
bool has_magic_comment(std::string_view s) {
    if (!s.starts_with("<%#")) return false;
    const auto line = s.substr(0, s.find('\n'));
    return line.find("coding") != std::string_view::npos ||
           line.find("frozen") != std::string_view::npos;
}

class Compiler {
public:
    explicit Compiler(std::string_view source) : source_(source) {}

    Script run() {
        std::size_t at = 0;
        while (at < source_.size()) {
            const std::size_t before = at;
            at = tag_.empty() ? outside(at) : inside(at);
            BUNRAKU_ASSERT(at > before && at <= source_.size());
        }
        if (!content_.empty()) put();
        flush_line();
        BUNRAKU_ASSERT(line_.empty() && content_.empty());
        return std::move(script_);
    }

private:
    std::size_t outside(std::size_t from) {
        const Tag tag = next_open(source_, from);
        BUNRAKU_ASSERT(tag_.empty() && tag.begin >= from && tag.end >= tag.begin);
        const auto text = source_.substr(from, tag.begin - from);
        content_ += text;
        if (text == "\n") put();
        if (tag.text == "<%%") {
            content_ += "<%";
        } else if (!tag.text.empty()) {
            if (!content_.empty()) put();
            tag_ = tag.text == "<%-" ? tag.text.substr(0, 2) : tag.text;
        }
        return tag.end;
    }

    std::size_t inside(std::size_t from) {
        const Tag tag = next_close(source_, from);
        BUNRAKU_ASSERT(!tag_.empty() && tag.begin >= from && tag.end <= source_.size());
        content_ += source_.substr(from, tag.begin - from);
        if (tag.text == "%%>") {
            content_ += "%>";
            return tag.end;
        }
        if (tag.text.empty()) return tag.end;
        code();
        tag_ = {};
        content_.clear();
        if (tag.text != "-%>") return tag.end;
        const auto rest = source_.substr(tag.end);
        const std::size_t newline = rest.starts_with("\r\n") ? 2 : rest.starts_with('\n') ? 1 : 0;
        if (newline > 0 || rest.empty()) flush_line();
        if (newline > 0 || rest.empty()) script_.code += '\n';
        return tag.end + newline;
    }

    void put() {
        std::string command{kText};
        command += std::to_string(script_.texts.size());
        command += kText;
        command.append(static_cast<std::size_t>(std::ranges::count(content_, '\n')), '\n');
        line_.push_back(std::move(command));
        script_.texts.push_back(std::move(content_));
        content_.clear();
    }

    void code() {
        if (tag_ == "<%=") {
            line_.push_back(kOutput + content_ + kOutputEnd);
        } else if (tag_ == "<%") {
            const bool ends_line = content_.ends_with('\n');
            if (ends_line) content_.pop_back();
            line_.push_back(content_);
            if (ends_line) {
                flush_line();
                script_.code += '\n';
            }
        }
    }

    void flush_line() {
        for (std::size_t i = 0; i < line_.size(); ++i) {
            if (i > 0) script_.code += "; ";
            script_.code += line_[i];
        }
        line_.clear();
    }

    std::string_view source_;
    std::string_view tag_;
    std::string content_;
    std::vector<std::string> line_;
    Script script_;
};

}  // namespace

std::optional<Script> scan(std::string_view source) {
    if (source.find_first_of("\x01\x02\x03") != std::string_view::npos) return std::nullopt;
    if (source.find('\0') != std::string_view::npos || has_magic_comment(source))
        return std::nullopt;
    return Compiler(source).run();
}

}  // namespace bunraku::erb
