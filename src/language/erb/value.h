// Values while a template runs natively: Ruby's mutable objects over Puppet's values.
//
// Everything lives in the arena of one rendering. What came from the compile ("foreign") is read
// in place and may not be changed: a template that does so is left to Ruby.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/arena.h"
#include "core/value/value.h"

namespace bunraku::erb {

using value::Value;

/// Thrown where the native subset cannot go on; nothing has happened yet that could not be done
/// again. `detail` is Ruby's text where the reason is an error that Ruby would raise as well.
struct Fallback {
    std::string reason;
    std::string detail;
};
[[noreturn]] void fall_back(std::string reason);
/// An error that Ruby raises too: `detail` is its message.
[[noreturn]] void ruby_error(std::string detail);

enum class T : std::uint8_t {
    Nil,
    False,
    True,
    Int,
    Float,
    Str,
    Sym,
    Array,
    Hash,
    Range,
    Regex,
    Class,   ///< String, Array, ..: by name
    Opaque,  ///< any other Puppet value
    Enumerator,
    Match,      ///< what match() gives
    Scope,      ///< the method `scope` of the wrapper
    ScopeHash,  ///< scope.to_hash
    Output,     ///< what a text statement evaluates to
};

struct Str;
struct Array;
struct Hash;
struct Range;
struct Enumerator;
struct MatchData;
struct RegexRef;

/// A reference to a Ruby object, or an immediate.
struct RV {
    T t = T::Nil;
    std::uint32_t size = 0;
    union {
        std::int64_t i = 0;
        double f;
        const char* text;  ///< Sym, Class
        Str* s;
        Array* a;
        Hash* h;
        const Range* r;
        const RegexRef* re;
        const Value* v;
        const Enumerator* e;
        const MatchData* m;
    };

    static RV nil() { return {}; }
    static RV boolean(bool b) {
        RV v;
        v.t = b ? T::True : T::False;
        return v;
    }
    static RV integer(std::int64_t n) {
        RV v;
        v.t = T::Int;
        v.i = n;
        return v;
    }
    static RV floating(double d) {
        RV v;
        v.t = T::Float;
        v.f = d;
        return v;
    }
    /// `name` outlives the rendering.
    static RV symbol(std::string_view name) {
        RV v;
        v.t = T::Sym;
        v.text = name.data();
        v.size = static_cast<std::uint32_t>(name.size());
        return v;
    }
    bool truthy() const { return t != T::Nil && t != T::False; }
    bool is(T kind) const { return t == kind; }
    std::string_view symbol_name() const { return {text, size}; }
};

struct Str {
    const char* data = nullptr;
    std::uint32_t size = 0;
    std::uint32_t capacity = 0;  ///< 0: not ours, copied at the first change
    bool foreign = false;
    std::string_view view() const { return {data, size}; }
};

struct Array {
    RV* items = nullptr;
    std::uint32_t size = 0;
    std::uint32_t capacity = 0;
    const Value* source = nullptr;  ///< not looked at yet
    bool foreign = false;           ///< may not be changed
    bool copied = false;            ///< the compile's, changed here first
    bool dirty = false;             ///< was changed
};

struct HashEntry {
    RV key;
    RV value;
};

struct Hash {
    HashEntry* entries = nullptr;
    std::uint32_t size = 0;
    std::uint32_t capacity = 0;
    std::uint32_t* index = nullptr;  ///< entry + 1, above eight entries; null: to be made
    std::uint32_t index_mask = 0;
    const value::HashRep* source = nullptr;  ///< not looked at yet
    bool foreign = false;                    ///< may not be changed
    bool copied = false;                     ///< the compile's, changed here only
    bool dirty = false;                      ///< was changed
    std::uint32_t iterating = 0;
};

struct Range {
    RV from;
    RV to;
    bool exclusive = false;
};

/// A method that iterates, called without a block.
struct Enumerator {
    enum class Kind : std::uint8_t { Each, Map, EachWithIndex, Select, Reject } kind{};
    Array* array = nullptr;
};

/// The memory of one rendering, and what can be done with values without running code.
class Heap {
public:
    Heap() : arena_(8 * 1024) {}
    base::Arena& arena() { return arena_; }

    RV string(std::string_view text);       ///< copies
    RV string_view(std::string_view text);  ///< `text` outlives the rendering
    RV array(std::size_t capacity = 0);
    RV hash();
    RV pair(const RV& a, const RV& b);
    RV range(const RV& from, const RV& to, bool exclusive);
    RV symbol(std::string_view text);  ///< copies
    /// A Puppet value as Ruby code sees it. `mutable_copy`: a template may change the arrays and
    /// hashes in it, for itself; the caller sees to it that it always gets the same object.
    RV from_puppet(const Value& v, bool mutable_copy = false);
    /// For the arguments of Puppet functions; `arena` is the compile's.
    Value to_puppet(const RV& v, base::Arena& arena);

    // Reading: what comes from Puppet is unfolded at the first look.
    Array& items(const RV& v) {
        if (v.a->source) unfold(*v.a);
        return *v.a;
    }
    Hash& entries(const RV& v) {
        if (v.h->source) unfold(*v.h);
        return *v.h;
    }
    std::uint32_t array_size(const RV& v);
    std::uint32_t hash_size(const RV& v);

    // Changing; foreign objects are refused.
    void append(Str& s, std::string_view text);
    void assign(Str& s, std::string_view text);
    void push(Array& a, const RV& v);
    void insert(Array& a, std::uint32_t at, const RV& v);
    void erase(Array& a, std::uint32_t at, std::uint32_t count = 1);
    void clear(Array& a);
    void set(Hash& h, const RV& key, const RV& v);
    bool erase(Hash& h, const RV& key, RV* old = nullptr);
    void clear(Hash& h);
    /// Null where the key is not there.
    const RV* find(Hash& h, const RV& key);
    /// hash[key] without unfolding what comes from Puppet.
    bool lookup(const RV& hash, const RV& key, RV& out);

    RV copy_array(const RV& v);
    RV copy_hash(const RV& v);

    /// ==
    bool equal(const RV& a, const RV& b, int depth = 0);
    /// eql?
    bool same(const RV& a, const RV& b, int depth = 0);
    std::uint64_t hash_of(const RV& v, int depth = 0);
    /// <=>: -1, 0, 1, or 2 where Ruby gives nil.
    int compare(const RV& a, const RV& b, int depth = 0);

    /// to_s
    void print(std::string& out, const RV& v);
    void inspect(std::string& out, const RV& v, int depth = 0);
    std::string to_s(const RV& v) {
        std::string out;
        print(out, v);
        return out;
    }

    /// Whether an array or hash of the compile was changed, or one in it.
    bool dirty(const RV& v, int depth = 0) const;
    /// Some value of the compile was changed.
    bool changed = false;

    /// Bytes made so far; beyond a limit the rendering is left to Ruby.
    void charge(std::size_t bytes);

private:
    void unfold(Array& a);
    void unfold(Hash& h);
    template <class T>
    void changes(T& object) {
        if (object.foreign) fall_back("a value of the compile is changed");
        object.dirty = true;
        changed = changed || object.copied;
    }
    void reserve(Array& a, std::size_t n);
    void reindex(Hash& h);
    std::uint32_t position(Hash& h, const RV& key);  // entry + 1; 0: not there

    base::Arena arena_;
    std::size_t charged_ = 0;
};

/// Every byte below 0x80.
bool ascii_only(std::string_view text);
/// The name of the class of a value ("String"); empty where it is not known.
std::string_view class_name(const RV& v);

}  // namespace bunraku::erb
