// SPDX-License-Identifier: Apache-2.0
// Combines strings in Ruby's encoding ASCII-8BIT (Value::bytes) with strings in UTF-8.
#pragma once

#include <string>
#include <string_view>

#include "core/value/value.h"

namespace bunraku::value {

bool ascii_only(std::string_view text);

/// Reports whether Ruby treats two strings of equal bytes as equal. Strings that are not ASCII
/// differ if only one of them is in UTF-8.
inline bool same_encoding(const Value& a, const Value& b) {
    return a.is_bytes() == b.is_bytes() || ascii_only(a.as_string());
}

/// Reports whether Ruby's result of appending `more` to `text` is in ASCII-8BIT. The booleans are
/// true for texts in ASCII-8BIT. Throws Ruby's error if both texts are not ASCII and their
/// encodings differ.
bool joined_encoding(std::string_view text, bool bytes, std::string_view more, bool more_bytes);

/// Reports whether text made from `v` is in ASCII-8BIT because `v` contains such a string that is
/// not ASCII.
bool holds_wide_bytes(const Value& v);

/// A text that grows like Ruby's Array#join: the first piece decides its encoding.
class JoinedText {
public:
    void append(std::string_view more, bool bytes = false) {
        if (bytes != bytes_) [[unlikely]]
            bytes_ = first_ ? bytes : joined_encoding(text_, bytes_, more, bytes);
        first_ = false;
        text_ += more;
    }
    /// Appends the interpolated text of a value.
    void append(const Value& v);
    const std::string& text() const { return text_; }
    bool is_bytes() const { return bytes_; }

private:
    std::string text_;
    bool bytes_ = false;
    bool first_ = true;
};

}  // namespace bunraku::value
