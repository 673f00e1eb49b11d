// SPDX-License-Identifier: Apache-2.0
// The Puppet value: 16 bytes, trivially copyable, with pointers into an arena that must outlive it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/base/arena.h"

namespace bunraku::base {
struct SemVer;
struct SemVerRange;
}  // namespace bunraku::base
namespace bunraku::regex {
class Regex;
}
namespace bunraku::types {
class Type;
class Object;
}  // namespace bunraku::types

namespace bunraku::value {

class Value;
struct HashRep;

/// The kind of a value. The order has no meaning.
enum class Kind : std::uint8_t {
    Undef,
    Default,
    Boolean,
    Integer,
    Float,
    String,
    Array,
    Hash,
    Regexp,
    Sensitive,
    Timestamp,  ///< nanoseconds since the epoch
    Timespan,   ///< nanoseconds
    SemVer,
    SemVerRange,
    Binary,
    Uri,
    Type,      ///< a type, including resource and class references
    Object,    ///< an instance of an Object type (Deferred, Error, user types)
    Closure,   ///< a callable: a lambda or a function
    Iterator,  ///< a lazy sequence (Iterator[T])
};

/// Maximum nesting depth of a value, counting arrays, hashes, Sensitive, objects, iterators and
/// types. Values that nest deeper cannot be made, so code that traverses values may recurse without
/// a check (docs/design/0019).
inline constexpr unsigned kMaxDepth = 1000;
/// Throws Puppet's error for a value that is nested too deeply.
[[noreturn]] void too_deep();

/// Base of the values whose behaviour is implemented in a higher layer: types, objects, closures,
/// iterators. It is allocated in an arena, so its destructor does not run.
class Extension {
public:
    /// Depth as in Value::depth, computed from the contents at construction.
    unsigned depth() const { return depth_; }
    /// Implements Ruby's eql?: same type and same content.
    virtual bool equal(const Extension& other) const = 0;
    virtual std::uint64_t hash() const = 0;
    /// Appends the text for string interpolation.
    virtual void print(std::string& out) const = 0;
    /// Returns the Pcore form as plain data, such as {"__ptype" => "Pcore::IntegerType", "from" =>
    /// 1}. Returns undef if there is none.
    virtual Value to_rich_data(base::Arena& arena) const = 0;

protected:
    ~Extension() = default;
    /// Called in the constructor for a content whose depth is `inner`.
    void hold(unsigned inner) {
        if (inner >= kMaxDepth) too_deep();
        if (inner >= depth_) depth_ = static_cast<std::uint16_t>(inner + 1);
    }

private:
    std::uint16_t depth_ = 0;
};

/// A regular expression value. `regex` lives as long as the value's arena.
struct RegexpRep {
    std::string_view
        source;  ///< the text between the slashes, without the options that Ruby's to_s adds
    std::uint32_t options = 0;  ///< regex::Option
    const regex::Regex* regex = nullptr;
};

class Value {
public:
    constexpr Value() : kind_(Kind::Undef), size_(0), int_(0) {}

    static constexpr Value undef() { return {}; }
    static constexpr Value default_value() { return Value(Kind::Default, 0, std::int64_t{0}); }
    static constexpr Value boolean(bool b) { return Value(Kind::Boolean, 0, std::int64_t{b}); }
    static constexpr Value integer(std::int64_t i) { return Value(Kind::Integer, 0, i); }
    static Value floating(double d) {
        Value v(Kind::Float, 0, std::int64_t{0});
        v.float_ = d;
        return v;
    }
    /// Makes a string. `text` must outlive the value (arena, literal or symbol); make_string makes
    /// a copy.
    static Value string(std::string_view text) {
        return Value(Kind::String, static_cast<std::uint32_t>(text.size()), text.data());
    }
    /// Makes a string that Ruby code returned in the encoding ASCII-8BIT; `text` as for `string`.
    /// It is a String in the language and a Binary in a catalog's rich data (docs/design/0052).
    static Value bytes(std::string_view text) { return string(text).in_encoding(true); }
    static Value array(std::span<const Value> items) { return array(items, depth_of(items)); }
    /// Does the same with a known depth, which must equal `depth_of`.
    static Value array(std::span<const Value> items, unsigned depth) {
        Value v(Kind::Array, static_cast<std::uint32_t>(items.size()), items.data());
        return v.nested(depth);
    }
    static Value hash(const HashRep* rep);
    static Value regexp(const RegexpRep* rep) { return Value(Kind::Regexp, 0, rep); }
    static Value sensitive(const Value* inner) {
        return Value(Kind::Sensitive, 0, inner).nested(inner->depth() + 1);
    }
    static Value timestamp(std::int64_t ns) { return Value(Kind::Timestamp, 0, ns); }
    static Value timespan(std::int64_t ns) { return Value(Kind::Timespan, 0, ns); }
    static Value semver(const base::SemVer* v) { return Value(Kind::SemVer, 0, v); }
    static Value semver_range(const base::SemVerRange* v) { return Value(Kind::SemVerRange, 0, v); }
    static Value binary(std::string_view bytes) {
        return Value(Kind::Binary, static_cast<std::uint32_t>(bytes.size()), bytes.data());
    }
    static Value uri(std::string_view text) {
        return Value(Kind::Uri, static_cast<std::uint32_t>(text.size()), text.data());
    }
    static Value type(const types::Type* t) {
        Value v(Kind::Type, 0, t);
        if (t != nullptr) v.depth_ = static_cast<std::uint16_t>(v.extension_->depth());
        return v;
    }
    /// For an Object, Closure or Iterator.
    static Value extension(Kind kind, const Extension* e) {
        Value v(kind, 0, e);
        v.depth_ = static_cast<std::uint16_t>(e->depth());
        return v;
    }

    Kind kind() const { return kind_; }
    bool is(Kind k) const { return kind_ == k; }
    bool is_undef() const { return kind_ == Kind::Undef; }
    bool is_default() const { return kind_ == Kind::Default; }
    bool is_string() const { return kind_ == Kind::String; }
    /// Reports whether `bytes` made this string.
    bool is_bytes() const { return bytes_; }
    bool is_integer() const { return kind_ == Kind::Integer; }
    bool is_float() const { return kind_ == Kind::Float; }
    bool is_numeric() const { return kind_ == Kind::Integer || kind_ == Kind::Float; }
    bool is_array() const { return kind_ == Kind::Array; }
    bool is_hash() const { return kind_ == Kind::Hash; }
    bool is_type() const { return kind_ == Kind::Type; }
    /// Returns Puppet's truth value: false only for undef and false.
    bool truthy() const { return !(kind_ == Kind::Undef || (kind_ == Kind::Boolean && int_ == 0)); }

    /// Returns the same string as made by `bytes` or by `string`.
    Value in_encoding(bool bytes) const {
        Value v = *this;
        v.bytes_ = bytes;
        return v;
    }

    /// Nesting depth: 0 for a value that holds no other value, 1 for an array of such values, at
    /// most kMaxDepth.
    unsigned depth() const { return depth_; }
    /// Returns the depth of an array of these values.
    static unsigned depth_of(std::span<const Value> items) {
        unsigned most = 0;
        for (const Value& v : items) most = v.depth_ > most ? v.depth_ : most;
        return most + 1;
    }

    // Unchecked; the caller must have checked kind().
    bool as_boolean() const { return int_ != 0; }
    std::int64_t as_integer() const { return int_; }  ///< also Timestamp and Timespan: nanoseconds
    double as_float() const { return float_; }
    double as_number() const { return is_integer() ? static_cast<double>(int_) : float_; }
    std::string_view as_string() const {
        return {text_, size_};
    }  ///< also the bytes of a Binary and the text of a Uri
    std::span<const Value> as_array() const { return {items_, size_}; }
    const HashRep& as_hash() const { return *hash_; }
    const RegexpRep& as_regexp() const { return *regexp_; }
    const Value& unwrap() const { return *inner_; }  ///< for a Sensitive
    const base::SemVer& as_semver() const { return *semver_; }
    const base::SemVerRange& as_semver_range() const { return *semver_range_; }
    const types::Type* as_type() const { return type_; }
    /// Also valid for a Type, because Extension is the first and only base of types::Type.
    const Extension* as_extension() const { return extension_; }

    friend struct ValueLayout;

private:
    constexpr Value(Kind k, std::uint32_t size, std::int64_t i) : kind_(k), size_(size), int_(i) {}
    Value(Kind k, std::uint32_t size, const char* p) : kind_(k), size_(size), text_(p) {}
    Value(Kind k, std::uint32_t size, const Value* p) : kind_(k), size_(size), items_(p) {}
    Value(Kind k, std::uint32_t size, const HashRep* p) : kind_(k), size_(size), hash_(p) {}
    Value(Kind k, std::uint32_t size, const RegexpRep* p) : kind_(k), size_(size), regexp_(p) {}
    Value(Kind k, std::uint32_t size, const base::SemVer* p) : kind_(k), size_(size), semver_(p) {}
    Value(Kind k, std::uint32_t size, const base::SemVerRange* p)
        : kind_(k), size_(size), semver_range_(p) {}
    Value(Kind k, std::uint32_t size, const types::Type* p) : kind_(k), size_(size), type_(p) {}
    Value(Kind k, std::uint32_t size, const Extension* p) : kind_(k), size_(size), extension_(p) {}
    Value nested(unsigned depth) {
        if (depth > kMaxDepth) [[unlikely]]
            too_deep();
        depth_ = static_cast<std::uint16_t>(depth);
        return *this;
    }

    Kind kind_;
    bool bytes_ = false;
    std::uint16_t depth_ = 0;
    std::uint32_t size_;
    union {
        std::int64_t int_;
        double float_;
        const char* text_;
        const Value* items_;
        const Value* inner_;
        const HashRep* hash_;
        const RegexpRep* regexp_;
        const base::SemVer* semver_;
        const base::SemVerRange* semver_range_;
        const types::Type* type_;
        const Extension* extension_;
    };
};
static_assert(sizeof(Value) == 16 && std::is_trivially_copyable_v<Value>);

struct Entry {
    Value key;
    Value value;
};

/// An insertion-ordered hash. Immutable once built (HashBuilder).
struct HashRep {
    std::span<const Entry> entries;
    const std::uint32_t* index =
        nullptr;  ///< open addressing, entry number + 1; null for up to eight entries
    std::uint32_t index_mask = 0;
    std::uint32_t depth = 1;  ///< depth as in Value::depth

    /// Returns the depth of a hash of these entries.
    static unsigned depth_of(std::span<const Entry> entries) {
        unsigned most = 0;
        for (const Entry& e : entries) {
            const unsigned inner = std::max(e.key.depth(), e.value.depth());
            most = std::max(most, inner);
        }
        return most + 1;
    }
    std::size_t size() const { return entries.size(); }
    bool empty() const { return entries.empty(); }
    /// Returns the value of a key, or null. Keys are compared with `equal`.
    const Value* find(const Value& key) const;
    const Value* find(std::string_view key) const;
    const Entry* begin() const { return entries.data(); }
    const Entry* end() const { return entries.data() + entries.size(); }
};

inline Value Value::hash(const HashRep* rep) {
    return Value(Kind::Hash, 0, rep).nested(rep->depth);
}

/// Implements Ruby's eql?, which hash keys, sets and `unique` use. 1 and 1.0 differ, and strings
/// are case sensitive. (The language's == is evaluator::equals.)
bool equal(const Value& a, const Value& b);
std::uint64_t hash_of(const Value& v);

/// Returns the text of the interpolation "${v}". undef is "", arrays and hashes have Puppet's
/// format, and Sensitive is redacted.
std::string to_text(const Value& v);
void print(std::string& out, const Value& v);
/// Returns text like to_text, but strings are quoted as in Puppet source ('a') and undef is
/// `undef`. For messages and for values nested in arrays and hashes.
std::string to_source(const Value& v);
void print_source(std::string& out, const Value& v);
/// Implements Ruby's Float#to_s: "1.0", "1.0e+20", "1.0e-05", "Infinity", "NaN".
std::string format_float(double d);
/// Returns the text in Puppet's single or double quotes, with escapes.
std::string quote(std::string_view text);
/// Does the same, always with double quotes.
std::string quote_double(std::string_view text);

}  // namespace bunraku::value
