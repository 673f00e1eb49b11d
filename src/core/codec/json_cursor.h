// SPDX-License-Identifier: Apache-2.0
// A strict JSON reader. It reads the text in one pass, returns slices of it, and makes values only
// on request. It largely determines the cost of ingest.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bunraku::codec {

/// An error in a document; the code that received the document catches it.
struct JsonError {
    std::string message;
    /// For a syntax error: the message without the location, and the location.
    std::string what = {};
    std::size_t line = 0, column = 0;
};

/// How the reader treats text that some consumers cannot store.
enum class Texts : std::uint8_t {
    Readable,  ///< U+0000, which PostgreSQL cannot hold, and lone surrogates become U+FFFD
    Exact      ///< U+0000 is preserved, lone surrogates are errors, and numbers may have any length
};

class JsonCursor {
public:
    static constexpr int kMaxDepth = 256;

    /// `text` must be valid UTF-8 (see check_utf8) and outlive the cursor. Arrays and objects may
    /// nest at most `max_depth` levels deep.
    explicit JsonCursor(std::string_view text, Texts texts = Texts::Readable,
                        int max_depth = kMaxDepth)
        : begin_(text.data()),
          at_(text.data()),
          end_(text.data() + text.size()),
          texts_(texts),
          max_depth_(max_depth) {}

    enum class Kind { Null, Boolean, Number, String, Array, Object };
    /// Returns the kind of the next value.
    Kind kind();

    /// Enters an object. next_key then returns each key, and the caller must read the value after
    /// it.
    void enter_object();
    /// Returns false at the end of the object.
    bool next_key(std::string_view* key);
    void enter_array();
    bool next_element();

    /// Returns the unescaped text of a string. It is a view of the document or of the cursor's
    /// buffer; the third next call may overwrite the buffer.
    std::string_view string();
    bool boolean();
    void null();
    std::int64_t integer();  ///< fails on fractions and on numbers that do not fit
    std::string_view number();

    /// Returns the text of the next value unchanged. Checks only brackets and strings.
    std::string_view skip();
    /// Validates the whole next value and appends its canonical form: no blanks, keys in byte order
    /// (the last of equal keys wins), and only the required escapes.
    void canonical(std::string& out);

    /// Fails if anything but blanks follows.
    void finish();

    [[noreturn]] void fail(std::string_view what) const;
    /// Fails at another position, a byte offset.
    [[noreturn]] void fail_at(std::size_t offset, std::string_view what);
    std::size_t offset() const { return static_cast<std::size_t>(at_ - begin_); }

private:
    char peek();
    void blanks();
    void expect(char c);
    void word(std::string_view text);
    [[noreturn]] void unexpected() const;
    /// Reads after an element: returns true at the end of the object or array, or reads the comma
    /// before the next element.
    bool ended(char close);
    /// Returns the raw text between the quotes, and reports whether it contains escapes.
    std::string_view raw_string(bool* escaped);
    void unescape(std::string_view raw, std::string& out) const;
    void canonical_value(std::string& out, int depth);
    void canonical_array(std::string& out, int depth);
    void canonical_object(std::string& out, int depth);
    /// Skips a comma or the closing bracket `close`. Returns true after a comma.
    bool another(char close);

    const char* begin_;
    const char* at_;
    const char* end_;
    Texts texts_;
    bool first_ = false;
    int max_depth_;
    int depth_ = 0;
    unsigned slot_ = 0;
    std::string scratch_[3];
};

/// Returns the kind of a canonical text, by its first character.
JsonCursor::Kind kind_of_json(std::string_view canonical);

/// Returns a description of the invalid bytes, or an empty text if all bytes are valid.
std::string check_utf8(std::string_view text);

}  // namespace bunraku::codec
