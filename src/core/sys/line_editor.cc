// SPDX-License-Identifier: Apache-2.0
#include "core/sys/line_editor.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "core/base/assert.h"

namespace bunraku::sys {

namespace {

/// Puts the terminal into raw mode during the lifetime of the object.
class RawMode {
public:
    explicit RawMode(int fd) : fd_(fd) {
        if (::tcgetattr(fd, &old_) != 0) return;
        termios raw = old_;
        raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG | IEXTEN);
        raw.c_iflag &= ~static_cast<tcflag_t>(IXON | ICRNL);
        raw.c_cc[VMIN] = 1;
        raw.c_cc[VTIME] = 0;
        changed_ = ::tcsetattr(fd, TCSADRAIN, &raw) == 0;
    }
    RawMode(const RawMode&) = delete;
    RawMode& operator=(const RawMode&) = delete;
    ~RawMode() {
        if (changed_) ::tcsetattr(fd_, TCSADRAIN, &old_);
    }

private:
    int fd_;
    termios old_{};
    bool changed_ = false;
};

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80; }

/// Returns the number of code points, which nearly always equals the number of columns.
std::size_t columns(std::string_view text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return !continues_character(c); }));
}

std::size_t width_of(int fd) {
    winsize size{};
    return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 10 ? size.ws_col : 80;
}

bool of_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0;
}

constexpr int ctrl(char c) { return c & 0x1F; }

}  // namespace

void LineEditor::write(std::string_view bytes) {
    while (!bytes.empty()) {
        const auto n = ::write(out_, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return;
        bytes.remove_prefix(static_cast<std::size_t>(n));
    }
}

int LineEditor::byte() {
    unsigned char c = 0;
    while (true) {
        const auto n = ::read(in_, &c, 1);
        if (n == 1) return c;
        if (n < 0 && errno == EINTR) continue;
        return kGone;
    }
}

int LineEditor::key() {
    const int c = byte();
    if (c != 27) return c;
    // The rest of an escape sequence arrives immediately after the escape character.
    pollfd more{.fd = in_, .events = POLLIN, .revents = 0};
    if (::poll(&more, 1, 50) != 1) return kNone;
    const int kind = byte();
    if (kind == 'b') return kWordLeft;
    if (kind == 'f') return kWordRight;
    if (kind != '[' && kind != 'O') return kind == kGone ? kGone : kNone;
    std::string parameters;
    int last = byte();
    while ((last >= '0' && last <= '9') || last == ';') {
        parameters += static_cast<char>(last);
        last = byte();
    }
    const bool by_word = parameters.ends_with(";5") || parameters.ends_with(";3");
    switch (last) {
        case 'A': return kUp;
        case 'B': return kDown;
        case 'C': return by_word ? kWordRight : kRight;
        case 'D': return by_word ? kWordLeft : kLeft;
        case 'H': return kHome;
        case 'F': return kEnd;
        case '~':
            if (parameters == "1" || parameters == "7") return kHome;
            if (parameters == "4" || parameters == "8") return kEnd;
            return parameters == "3" ? kDelete : kNone;
        default: return last == kGone ? kGone : kNone;
    }
}

std::size_t LineEditor::before(std::size_t at) const {
    if (at == 0) return 0;
    do --at;
    while (at > 0 && continues_character(text_[at]));
    return at;
}

std::size_t LineEditor::after(std::size_t at) const {
    if (at >= text_.size()) return text_.size();
    do ++at;
    while (at < text_.size() && continues_character(text_[at]));
    return at;
}

std::size_t LineEditor::word_before(std::size_t at) const {
    while (at > 0 && !of_word(text_[at - 1])) --at;
    while (at > 0 && of_word(text_[at - 1])) --at;
    return at;
}

std::size_t LineEditor::word_after(std::size_t at) const {
    while (at < text_.size() && !of_word(text_[at])) ++at;
    while (at < text_.size() && of_word(text_[at])) ++at;
    return at;
}

void LineEditor::show() {
    BUNRAKU_ASSERT(cursor_ <= text_.size());
    const std::size_t room = std::max<std::size_t>(width_of(out_) - 1, 8);
    const std::size_t head = std::min(columns(prompt_), room / 2);
    const std::size_t width = room - head;
    // Scroll so that the cursor is visible.
    if (cursor_ < first_) first_ = cursor_;
    BUNRAKU_ASSERT(first_ <= cursor_);
    while (columns(std::string_view(text_).substr(first_, cursor_ - first_)) > width)
        first_ = after(first_);
    std::size_t end = first_;
    for (std::size_t n = 0; n < width && end < text_.size(); ++n) end = after(end);
    std::string out = "\r" + prompt_ + text_.substr(first_, end - first_) + "\x1b[K";
    const std::size_t back = columns(std::string_view(text_).substr(cursor_, end - cursor_));
    if (back > 0) out += "\x1b[" + std::to_string(back) + "D";
    write(out);
}

void LineEditor::insert(std::string_view bytes) {
    BUNRAKU_ASSERT(cursor_ <= text_.size());
    text_.insert(cursor_, bytes);
    cursor_ += bytes.size();
}

void LineEditor::erase(std::size_t from, std::size_t to) {
    BUNRAKU_ASSERT(from <= to && to <= text_.size());
    text_.erase(from, to - from);
    cursor_ = from;
}

void LineEditor::recall(int step) {
    BUNRAKU_ASSERT(step == -1 || step == 1);
    BUNRAKU_ASSERT(recalled_ <= history_.size());
    if (step < 0 && recalled_ == 0) return;
    if (step > 0 && recalled_ >= history_.size()) return;
    if (recalled_ == history_.size()) typed_text_ = text_;
    recalled_ = step < 0 ? recalled_ - 1 : recalled_ + 1;
    text_ = recalled_ == history_.size() ? typed_text_ : history_[recalled_];
    cursor_ = text_.size();
    first_ = 0;
}

void LineEditor::complete() {
    if (!completer_) return;
    const Completion found = completer_(text_, cursor_);
    if (found.words.empty() || found.begin > cursor_) {
        write("\a");
        return;
    }
    std::string common = found.words[0];
    for (const auto& word : found.words) {
        std::size_t n = 0;
        while (n < common.size() && n < word.size() && common[n] == word[n]) ++n;
        common.resize(n);
    }
    if (common.size() > cursor_ - found.begin) {
        erase(found.begin, cursor_);
        insert(common);
        return;
    }
    if (found.words.size() == 1) return;
    // No unique completion: list the candidates in columns.
    constexpr std::size_t kMost = 200;
    std::size_t widest = 0;
    for (const auto& word : found.words) widest = std::max(widest, columns(word));
    const std::size_t per_row = std::max<std::size_t>(1, width_of(out_) / (widest + 2));
    std::string out = "\r\n";
    for (std::size_t i = 0; i < found.words.size() && i < kMost; ++i) {
        out += found.words[i];
        if ((i + 1) % per_row == 0) {
            out += "\r\n";
        } else {
            out.append(widest + 2 - columns(found.words[i]), ' ');
        }
    }
    if (found.words.size() > kMost)
        out += "and " + std::to_string(found.words.size() - kMost) + " more";
    if (!out.ends_with("\r\n")) out += "\r\n";
    write(out);
}

void LineEditor::remember(const std::string& line) {
    constexpr std::size_t kMost = 1000;
    if (line.empty() || (!history_.empty() && history_.back() == line)) return;
    history_.push_back(line);
    if (history_.size() > kMost) history_.erase(history_.begin());
    BUNRAKU_ASSERT(history_.size() <= kMost && history_.back() == line);
}

LineEditor::End LineEditor::read(std::string_view prompt) {
    const RawMode raw(in_);
    prompt_ = prompt;
    text_.clear();
    cursor_ = first_ = 0;
    recalled_ = history_.size();
    show();
    while (true) {
        const int k = key();
        switch (k) {
            case '\r':
            case '\n': write("\r\n"); return End::Line;
            case ctrl('C'): write("^C\r\n"); return End::Interrupted;
            case ctrl('D'):
                if (text_.empty()) {
                    write("\r\n");
                    return End::Closed;
                }
                erase(cursor_, after(cursor_));
                break;
            case kGone: return End::Closed;
            case kUp:
            case ctrl('P'): recall(-1); break;
            case kDown:
            case ctrl('N'): recall(1); break;
            case kLeft:
            case ctrl('B'): cursor_ = before(cursor_); break;
            case kRight:
            case ctrl('F'): cursor_ = after(cursor_); break;
            case kHome:
            case ctrl('A'): cursor_ = 0; break;
            case kEnd:
            case ctrl('E'): cursor_ = text_.size(); break;
            case kWordLeft: cursor_ = word_before(cursor_); break;
            case kWordRight: cursor_ = word_after(cursor_); break;
            case kDelete: {
                const std::size_t at = cursor_;
                erase(at, after(at));
                break;
            }
            case 127:
            case ctrl('H'): {
                const std::size_t at = cursor_;
                erase(before(at), at);
                break;
            }
            case ctrl('K'): {
                killed_ = text_.substr(cursor_);
                text_.resize(cursor_);
                break;
            }
            case ctrl('U'): {
                const std::size_t at = cursor_;
                killed_ = text_.substr(0, at);
                erase(0, at);
                break;
            }
            case ctrl('W'): {
                const std::size_t at = cursor_, from = word_before(at);
                killed_ = text_.substr(from, at - from);
                erase(from, at);
                break;
            }
            case ctrl('Y'): insert(killed_); break;
            case ctrl('L'): write("\x1b[H\x1b[2J"); break;
            case '\t': complete(); break;
            default:
                if (k >= 32 && k < 256 && k != 127) {
                    const char c = static_cast<char>(k);
                    insert({&c, 1});
                }
        }
        show();
    }
}

}  // namespace bunraku::sys
