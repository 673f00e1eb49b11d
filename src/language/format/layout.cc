// SPDX-License-Identifier: Apache-2.0
#include "language/format/layout.h"

#include <algorithm>

#include "core/base/assert.h"

namespace bunraku::format {

namespace {

using Op = Layout::Op;
using Kind = Layout::Kind;
using Break = Layout::Break;

constexpr int kIndent = 2;

bool is_break(Kind kind) { return kind == Kind::Line || kind == Kind::Soft || kind == Kind::Hard; }

/// Writes the operations of a resolved layout.
class Renderer {
public:
    Renderer(const std::vector<Op>& ops, int limit) : ops_(ops), limit_(limit) {}

    std::string run() {
        for (std::size_t i = 0; i < ops_.size(); ++i) step(i);
        BUNRAKU_ASSERT(groups_.empty() && indent_ == 0);
        if (!out_.empty() || !comments_.empty()) end_line(false);
        return std::move(out_);
    }

private:
    enum class Pending : std::uint8_t { None, Space, Newline, Blank };

    void step(std::size_t i) {
        const Op& op = ops_[i];
        const bool broken = groups_.empty() || groups_.back();
        switch (op.kind) {
            case Kind::Text:
            case Kind::Inline: write(op.text); break;
            case Kind::Space: want(Pending::Space); break;
            case Kind::Line:
            case Kind::Soft:
                if (broken) {
                    want(op.blank ? Pending::Blank : Pending::Newline);
                } else if (op.kind == Kind::Line) {
                    want(Pending::Space);
                }
                break;
            case Kind::Hard: want(op.blank ? Pending::Blank : Pending::Newline); break;
            case Kind::Begin: groups_.push_back(breaks(i)); break;
            case Kind::End:
                BUNRAKU_ASSERT(!groups_.empty());
                groups_.pop_back();
                break;
            case Kind::Indent: indent_ += broken ? kIndent : 0; break;
            case Kind::Dedent: indent_ -= broken ? kIndent : 0; break;
            case Kind::IfBroken:
                if (broken) write(op.text);
                break;
            case Kind::Pad:
                if (broken && op.count > 0) padding_ = op.count;
                break;
            case Kind::Comment: comments_.push_back(op.text); break;
            case Kind::Heredoc: heredocs_.push_back(op.text); break;
            case Kind::Raw:
                want(Pending::Newline);
                start_text();
                out_.resize(line_start_);
                out_ += op.text;
                break;
        }
    }

    void want(Pending what) { pending_ = std::max(pending_, what); }

    /// Ends the current line: its comments, and then the texts of its heredocs.
    void end_line(bool blank) {
        for (std::string_view comment : comments_) {
            if (out_.size() > line_start_) out_ += ' ';
            out_ += comment;
        }
        comments_.clear();
        out_ += '\n';
        for (std::string_view lines : heredocs_) {
            out_ += lines;
            if (!out_.ends_with('\n')) out_ += '\n';
        }
        heredocs_.clear();
        if (blank) out_ += '\n';
        line_start_ = out_.size();
    }

    void start_text() {
        if (!comments_.empty()) want(Pending::Newline);
        const bool at_start = out_.empty();
        switch (pending_) {
            case Pending::None: break;
            case Pending::Space:
                if (out_.size() > line_start_) {
                    out_.append(static_cast<std::size_t>(1 + padding_), ' ');
                    column_ += 1 + padding_;
                }
                break;
            case Pending::Newline:
            case Pending::Blank:
                if (!at_start || !comments_.empty()) end_line(pending_ == Pending::Blank);
                break;
        }
        pending_ = Pending::None;
        padding_ = 0;
        if (out_.size() == line_start_) {
            out_.append(static_cast<std::size_t>(indent_), ' ');
            column_ = indent_;
        }
    }

    void write(std::string_view text) {
        if (text.empty()) return;
        const std::size_t newline = text.rfind('\n');
        // The line of a heredoc's tag ends at the next line break, which must not be in a string.
        if (newline != std::string_view::npos && !heredocs_.empty()) want(Pending::Newline);
        start_text();
        out_ += text;
        if (newline == std::string_view::npos) {
            column_ += width_of(text);
        } else {
            column_ = width_of(text.substr(newline + 1));
        }
    }

    int column_now() const {
        if (pending_ >= Pending::Newline || !comments_.empty() || out_.size() == line_start_)
            return indent_;
        return column_ + (pending_ == Pending::Space ? 1 : 0);
    }

    /// Decides whether the group at `begin` is written in several lines.
    bool breaks(std::size_t begin) const {
        const Op& op = ops_[begin];
        if (op.first == 0) return false;
        if (op.when == Break::Always) return true;
        if (fits(begin, column_now(), false)) return false;
        if (op.when == Break::IfTooLong) return true;
        return fits(begin, indent_ + kIndent, true);
    }

    /// Reports whether the group at `begin` and the text that follows it up to the next possible
    /// line break fit into the line, if the group starts at `column` and is not broken. With
    /// `after_break`, `column` is the one after the first break of the group.
    bool fits(std::size_t begin, int column, bool after_break) const {
        const std::size_t end = ops_[begin].match;
        std::size_t i = after_break ? ops_[begin].first + 1 : begin + 1;
        bool space = false;
        const auto text = [&](std::string_view shown) {
            if (shown.empty()) return true;
            column += space ? 1 : 0;
            space = false;
            const std::size_t first = shown.find('\n');
            if (first == std::string_view::npos) return (column += width_of(shown)) <= limit_;
            if (column + width_of(shown.substr(0, first)) > limit_) return false;
            column = width_of(shown.substr(shown.rfind('\n') + 1));
            return column <= limit_;
        };
        for (; i < end; ++i) {
            const Op& op = ops_[i];
            if (op.kind == Kind::Hard) return true;
            if (op.kind == Kind::Comment) {
                column = indent_;
                space = false;
            }
            if (op.kind == Kind::Space || op.kind == Kind::Line) space = true;
            if ((op.kind == Kind::Text || op.kind == Kind::Inline) && !text(op.text)) return false;
            if (op.kind == Kind::Begin && op.when == Break::Always && op.first != 0) {
                // Only the first and the last line of this group are in lines of the outer one.
                for (++i; i < op.first; ++i) {
                    if (ops_[i].kind == Kind::Space) space = true;
                    if (ops_[i].kind == Kind::Text && !text(ops_[i].text)) return false;
                }
                i = op.last;
                column = indent_ + op.count * kIndent;
                space = false;
            }
        }
        return rest_fits(i + 1, text, space);
    }

    template <class Text>
    bool rest_fits(std::size_t i, const Text& text, bool& space) const {
        std::size_t outer = groups_.size();  // groups that are open at `i`
        int inner = 0;                       // groups that began after the start
        for (; i < ops_.size(); ++i) {
            const Op& op = ops_[i];
            switch (op.kind) {
                case Kind::Text:
                    if (!text(op.text)) return false;
                    if (op.text.find('\n') != std::string_view::npos) return true;
                    break;
                case Kind::Inline:
                    if (inner == 0 && (outer == 0 || groups_[outer - 1])) return true;
                    if (!text(op.text)) return false;
                    break;
                case Kind::Space: space = true; break;
                case Kind::Line:
                case Kind::Soft:
                    if (inner > 0 || outer == 0 || groups_[outer - 1]) return true;
                    if (op.kind == Kind::Line) space = true;
                    break;
                case Kind::Hard:
                case Kind::Comment:
                case Kind::Raw: return true;
                case Kind::Begin: ++inner; break;
                case Kind::End:
                    if (inner > 0) {
                        --inner;
                    } else if (outer > 0) {
                        --outer;
                    }
                    break;
                case Kind::IfBroken:
                    if ((inner == 0 && (outer == 0 || groups_[outer - 1])) && !text(op.text))
                        return false;
                    break;
                default: break;
            }
        }
        return true;
    }

    const std::vector<Op>& ops_;
    int limit_;
    std::string out_;
    std::size_t line_start_ = 0;
    int column_ = 0, indent_ = 0, padding_ = 0;
    Pending pending_ = Pending::None;
    std::vector<bool> groups_;  ///< for each open group, whether it is broken
    std::vector<std::string_view> comments_, heredocs_;
};

}  // namespace

int width_of(std::string_view text) {
    return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }));
}

bool Layout::has_break(std::size_t begin) const {
    return std::any_of(
        ops_.begin() + static_cast<std::ptrdiff_t>(begin), ops_.end(), [](const Op& op) {
            return op.kind == Kind::Hard || op.kind == Kind::Comment || op.kind == Kind::Raw ||
                   (op.kind == Kind::Begin && op.when == Break::Always);
        });
}

int Layout::flat_width(std::size_t begin, std::size_t end) const {
    int width = 0;
    for (std::size_t i = begin; i < end; ++i) {
        const Op& op = ops_[i];
        switch (op.kind) {
            case Kind::Text:
            case Kind::Inline:
                if (op.text.find('\n') != std::string_view::npos) return -1;
                width += width_of(op.text);
                break;
            case Kind::Space:
            case Kind::Line: ++width; break;
            case Kind::Hard:
            case Kind::Comment:
            case Kind::Raw: return -1;
            case Kind::Begin:
                if (op.when == Break::Always) return -1;
                break;
            default: break;
        }
    }
    return width;
}

/// Sets the members of each group that depend on its content.
void Layout::resolve() {
    struct Open {
        std::uint32_t begin;
        int indent;
    };
    std::vector<Open> open;
    for (std::uint32_t i = 0; i < ops_.size(); ++i) {
        Op& op = ops_[i];
        if (op.kind == Kind::Begin) {
            open.push_back({i, 0});
        } else if (open.empty()) {
            continue;
        } else if (op.kind == Kind::End) {
            ops_[open.back().begin].match = i;
            open.pop_back();
        } else if (op.kind == Kind::Indent || op.kind == Kind::Dedent) {
            open.back().indent += op.kind == Kind::Indent ? 1 : -1;
        } else if (is_break(op.kind)) {
            Op& group = ops_[open.back().begin];
            if (group.first == 0) group.first = i;
            group.last = i;
            group.count = open.back().indent;
            if (op.kind == Kind::Hard) group.when = Break::Always;
        }
    }
    BUNRAKU_ASSERT(open.empty());
}

std::string Layout::render(int line_length) {
    resolve();
    return Renderer(ops_, line_length).run();
}

}  // namespace bunraku::format
