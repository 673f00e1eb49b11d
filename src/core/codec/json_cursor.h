// A strict JSON reader that goes over the text once, gives slices of it, and makes values only
// where they are asked for: what ingest costs is decided here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bunraku::codec {

/// What is wrong with a document; caught at its door.
struct JsonError {
    std::string message;
    /// Of a document that is no JSON: what is wrong there, without the place, and the place.
    std::string what = {};
    std::size_t line = 0, column = 0;
};

/// What a reader makes of text that not everybody can hold.
enum class Texts : std::uint8_t {
    Readable,  ///< U+0000, which PostgreSQL cannot hold, and lone surrogates become U+FFFD
    Exact      ///< U+0000 stays, lone surrogates are errors; numbers may be of any length
};

class JsonCursor {
public:
    static constexpr int kMaxDepth = 256;

    /// `text` is valid UTF-8 (see check_utf8) and outlives the cursor. Arrays and objects nest at
    /// most `max_depth` deep.
    explicit JsonCursor(std::string_view text, Texts texts = Texts::Readable,
                        int max_depth = kMaxDepth)
        : begin_(text.data()),
          at_(text.data()),
          end_(text.data() + text.size()),
          texts_(texts),
          max_depth_(max_depth) {}

    enum class Kind { Null, Boolean, Number, String, Array, Object };
    /// Of the value that comes next.
    Kind kind();

    /// Steps into an object; next_key then gives each key, behind which its value must be read.
    void enter_object();
    /// False: the object ended.
    bool next_key(std::string_view* key);
    void enter_array();
    bool next_element();

    /// A string's text, unescaped: of the document itself, or kept by the cursor until the next
    /// call but two.
    std::string_view string();
    bool boolean();
    void null();
    std::int64_t integer();  ///< fails on fractions and what is too long
    std::string_view number();

    /// The value as it stands in the text. Only brackets and strings are looked at.
    std::string_view skip();
    /// The value checked to its end and written in canonical form: no blanks, keys in byte order
    /// (of equal ones the last counts), escapes only where they must be.
    void canonical(std::string& out);

    /// Nothing but blanks may follow.
    void finish();

    [[noreturn]] void fail(std::string_view what) const;
    /// The same of another place, counted in bytes.
    [[noreturn]] void fail_at(std::size_t offset, std::string_view what);
    std::size_t offset() const { return static_cast<std::size_t>(at_ - begin_); }

private:
    char peek();
    void blanks();
    void expect(char c);
    void word(std::string_view text);
    [[noreturn]] void unexpected() const;
    /// Behind an element: the end of the object or array, or the comma before the next one.
    bool ended(char close);
    /// The raw text between the quotes; says whether there are escapes in it.
    std::string_view raw_string(bool* escaped);
    void unescape(std::string_view raw, std::string& out) const;
    void canonical_value(std::string& out, int depth);

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

/// The kind of a canonical text, by its first character.
JsonCursor::Kind kind_of_json(std::string_view canonical);

/// Empty: fine; else what is wrong with the bytes.
std::string check_utf8(std::string_view text);

}  // namespace bunraku::codec
