// SPDX-License-Identifier: Apache-2.0
#include "services/console/message_parts.h"

#include <algorithm>

namespace bunraku::console {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
/// Characters inside versions, addresses, hashes and numbers.
bool is_token(char c) {
    return is_word(c) || c == '.' || c == '-' || c == ':' || c == '+' || c == '~';
}

/// Returns the kind of a word, or an empty text if it is not a value.
std::string_view kind_of(std::string_view token) {
    if (std::ranges::none_of(token, is_digit)) return {};
    if (std::ranges::all_of(token, is_digit)) return "number";
    const bool hex = std::ranges::all_of(token, [](char c) {
        return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    });
    if (hex && token.size() >= 7) return "hash";
    if (!is_digit(token[0])) return {};  // a name such as "sha256" or "web1"
    const auto dots = std::ranges::count(token, '.');
    const bool address = dots == 3 && std::ranges::all_of(token, [](char c) {
                             return is_digit(c) || c == '.' || c == ':';
                         });
    return address ? "address" : "version";
}

/// Returns the length of the word at the start of `text`, without punctuation at its end.
std::size_t token_length(std::string_view text) {
    std::size_t length = 0;
    while (length < text.size() && is_token(text[length])) ++length;
    while (length > 0 && !is_word(text[length - 1])) --length;
    return length;
}

/// Returns the end of a quoted text at the start of `text`, or 0. An apostrophe does not begin a
/// quoted text.
std::size_t quoted_length(std::string_view text, bool after_word) {
    const char quote = text[0];
    if ((quote != '\'' && quote != '"') || after_word) return 0;
    const auto end = text.find(quote, 1);
    return end == std::string_view::npos || end == 1 ? 0 : end + 1;
}

class Splitter {
public:
    Splitter(std::string_view message, std::string_view certname)
        : rest_(message), certname_(certname) {}
    std::vector<MessagePart> run() {
        while (!rest_.empty()) step();
        return std::move(parts_);
    }

private:
    void step() {
        if (!certname_.empty() && rest_.starts_with(certname_))
            return take(certname_.size(), "node");
        if (const auto length = quoted_length(rest_, after_word_); length > 0) {
            fixed(1);
            take(length - 2, "text");
            return fixed(1);
        }
        const auto length = after_word_ ? 0 : token_length(rest_);
        if (length == 0) return fixed(1);
        const auto kind = kind_of(rest_.substr(0, length));
        kind.empty() ? fixed(length) : take(length, kind);
    }
    void fixed(std::size_t length) {
        if (parts_.empty() || !parts_.back().kind.empty()) parts_.push_back({});
        parts_.back().text += rest_.substr(0, length);
        after_word_ = is_word(rest_[length - 1]);
        rest_.remove_prefix(length);
    }
    void take(std::size_t length, std::string_view kind) {
        parts_.push_back({std::string(rest_.substr(0, length)), kind});
        after_word_ = true;
        rest_.remove_prefix(length);
    }

    std::string_view rest_, certname_;
    std::vector<MessagePart> parts_;
    bool after_word_ = false;
};

}  // namespace

std::vector<MessagePart> split_message(std::string_view message, std::string_view certname) {
    return Splitter(message, certname).run();
}

std::string pattern_of(const std::vector<MessagePart>& parts) {
    std::string out;
    for (const auto& part : parts) {
        if (part.kind.empty()) {
            out += part.text;
        } else {
            out += '<';
            out += part.kind;
            out += '>';
        }
    }
    return out;
}

}  // namespace bunraku::console
