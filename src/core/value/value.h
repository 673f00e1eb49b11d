// The Puppet value: 16 bytes, trivially copyable, pointing into an arena that outlives it.
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

/// What a value is. The order has no meaning.
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
    Type,      ///< a type, resource and class references included
    Object,    ///< an instance of an Object type (Deferred, Error, user types)
    Closure,   ///< something callable: a lambda, a function
    Iterator,  ///< lazy sequence (Iterator[T])
};

/// How deep a value may nest: arrays, hashes, Sensitive, objects, iterators and types within one
/// another. Whatever walks values may recurse this far and asks no more: what nests deeper is
/// never made (docs/design/0019).
inline constexpr unsigned kMaxDepth = 1000;
/// Throws the error of a value nested too deep, as Puppet words it.
[[noreturn]] void too_deep();

/// Base of the values whose behaviour lives on a higher floor: types, objects, closures, iterators.
/// Lives in an arena: no destructor runs.
class Extension {
public:
    /// As Value::depth: of what was put into it when it was made.
    unsigned depth() const { return depth_; }
    /// Ruby's eql?: same type and same content.
    virtual bool equal(const Extension& other) const = 0;
    virtual std::uint64_t hash() const = 0;
    /// Appends the text that string interpolation gives.
    virtual void print(std::string& out) const = 0;
    /// The Pcore form as plain data: {"__ptype" => "Pcore::IntegerType", "from" => 1}. undef: has
    /// none.
    virtual Value to_rich_data(base::Arena& arena) const = 0;

protected:
    ~Extension() = default;
    /// For the constructor: it holds something that nests `inner` deep.
    void hold(unsigned inner) {
        if (inner >= kMaxDepth) too_deep();
        if (inner >= depth_) depth_ = static_cast<std::uint16_t>(inner + 1);
    }

private:
    std::uint16_t depth_ = 0;
};

/// A regular expression value. `regex` stays alive as long as the arena of the value.
struct RegexpRep {
    std::string_view
        source;  ///< between the slashes, options as Ruby's to_s would need them not included
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
    /// `text` must outlive the value (arena, literal or symbol). See make_string for a copy.
    static Value string(std::string_view text) {
        return Value(Kind::String, static_cast<std::uint32_t>(text.size()), text.data());
    }
    /// A string that Ruby code answered in its encoding ASCII-8BIT; `text` as for `string`. The
    /// language sees a String, the rich data of a catalog a Binary (docs/design/0052).
    static Value bytes(std::string_view text) { return string(text).in_encoding(true); }
    static Value array(std::span<const Value> items) { return array(items, depth_of(items)); }
    /// The same where the depth is known: what `depth_of` would say.
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
    /// Object, Closure or Iterator.
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
    /// A string of `bytes`.
    bool is_bytes() const { return bytes_; }
    bool is_integer() const { return kind_ == Kind::Integer; }
    bool is_float() const { return kind_ == Kind::Float; }
    bool is_numeric() const { return kind_ == Kind::Integer || kind_ == Kind::Float; }
    bool is_array() const { return kind_ == Kind::Array; }
    bool is_hash() const { return kind_ == Kind::Hash; }
    bool is_type() const { return kind_ == Kind::Type; }
    /// Puppet's truth: everything but undef and false.
    bool truthy() const { return !(kind_ == Kind::Undef || (kind_ == Kind::Boolean && int_ == 0)); }

    /// The same string as `bytes`, or as `string`.
    Value in_encoding(bool bytes) const {
        Value v = *this;
        v.bytes_ = bytes;
        return v;
    }

    /// How deep it nests: 0 for what holds no other value, 1 for an array of such; never above
    /// kMaxDepth.
    unsigned depth() const { return depth_; }
    /// The depth of an array of these.
    static unsigned depth_of(std::span<const Value> items) {
        unsigned most = 0;
        for (const Value& v : items) most = v.depth_ > most ? v.depth_ : most;
        return most + 1;
    }

    // Unchecked: the caller has looked at kind().
    bool as_boolean() const { return int_ != 0; }
    std::int64_t as_integer() const { return int_; }  ///< also Timestamp and Timespan: nanoseconds
    double as_float() const { return float_; }
    double as_number() const { return is_integer() ? static_cast<double>(int_) : float_; }
    std::string_view as_string() const {
        return {text_, size_};
    }  ///< also Binary's bytes and Uri's text
    std::span<const Value> as_array() const { return {items_, size_}; }
    const HashRep& as_hash() const { return *hash_; }
    const RegexpRep& as_regexp() const { return *regexp_; }
    const Value& unwrap() const { return *inner_; }  ///< of Sensitive
    const base::SemVer& as_semver() const { return *semver_; }
    const base::SemVerRange& as_semver_range() const { return *semver_range_; }
    const types::Type* as_type() const { return type_; }
    /// Also of a Type: types::Type has Extension as its first and only base.
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
        nullptr;  ///< open addressing, entry number + 1; absent up to eight entries
    std::uint32_t index_mask = 0;
    std::uint32_t depth = 1;  ///< as Value::depth

    /// The depth of a hash of these.
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
    /// The value, or null. Keys compare by `equal`.
    const Value* find(const Value& key) const;
    const Value* find(std::string_view key) const;
    const Entry* begin() const { return entries.data(); }
    const Entry* end() const { return entries.data() + entries.size(); }
};

inline Value Value::hash(const HashRep* rep) {
    return Value(Kind::Hash, 0, rep).nested(rep->depth);
}

/// Ruby's eql?, what hash keys, sets and `unique` use: 1 and 1.0 differ, strings are case
/// sensitive. (The language's == is evaluator::equals.)
bool equal(const Value& a, const Value& b);
std::uint64_t hash_of(const Value& v);

/// The text that interpolation "${v}" gives: undef is "", arrays and hashes as Puppet prints them,
/// Sensitive is redacted.
std::string to_text(const Value& v);
void print(std::string& out, const Value& v);
/// Like to_text, but strings inside are quoted as in Puppet source ('a'), undef is `undef`: for
/// messages and for what is nested in arrays and hashes.
std::string to_source(const Value& v);
void print_source(std::string& out, const Value& v);
/// Ruby's Float#to_s: "1.0", "1.0e+20", "1.0e-05", "Infinity", "NaN".
std::string format_float(double d);
/// 'text' with Puppet's single or double quotes and escapes.
std::string quote(std::string_view text);
/// The same, always with double quotes.
std::string quote_double(std::string_view text);

}  // namespace bunraku::value
