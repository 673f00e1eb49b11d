// Strings in Ruby's encoding ASCII-8BIT (Value::bytes) beside those in UTF-8: what becomes of both.
#pragma once

#include <string>
#include <string_view>

#include "core/value/value.h"

namespace bunraku::value {

bool ascii_only(std::string_view text);

/// Whether two strings of the same bytes are the same text to Ruby: beyond ASCII they are not,
/// where only one of them is in UTF-8.
inline bool same_encoding(const Value& a, const Value& b) {
    return a.is_bytes() == b.is_bytes() || ascii_only(a.as_string());
}

/// Whether the text is in ASCII-8BIT that Ruby makes of `text` with `more` appended (the booleans:
/// whether they are). Throws Ruby's error where both are beyond ASCII and differ.
bool joined_encoding(std::string_view text, bool bytes, std::string_view more, bool more_bytes);

/// Whether text that is made of `v` is in ASCII-8BIT because a string in it is, and beyond ASCII.
bool holds_wide_bytes(const Value& v);

/// A text that grows as one of Ruby's does by Array#join: the first piece decides its encoding.
class JoinedText {
public:
    void append(std::string_view more, bool bytes = false) {
        if (bytes != bytes_) [[unlikely]]
            bytes_ = first_ ? bytes : joined_encoding(text_, bytes_, more, bytes);
        first_ = false;
        text_ += more;
    }
    /// What interpolation makes of a value.
    void append(const Value& v);
    const std::string& text() const { return text_; }
    bool is_bytes() const { return bytes_; }

private:
    std::string text_;
    bool bytes_ = false;
    bool first_ = true;
};

}  // namespace bunraku::value
