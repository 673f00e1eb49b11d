// SPDX-License-Identifier: Apache-2.0
// Values of a native template: Ruby's mutable objects, based on Puppet's values.
//
// All values live in the arena of one rendering. Values of the compile ("foreign") are read in
// place and must not change; a template that changes one falls back to Ruby.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/arena.h"
#include "core/base/assert.h"
#include "core/value/value.h"

namespace bunraku::erb {

using value::Value;

/// Thrown when native code cannot continue. Nothing irreversible has happened up to this point.
/// `detail` is Ruby's text if Ruby would raise an error as well.
struct Fallback {
    std::string reason;
    std::string detail;
};
[[noreturn]] void fall_back(std::string reason);
/// Throws Fallback for an error that Ruby raises, too. `detail` is its message.
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
    Class,   ///< String, Array and others, by name.
    Opaque,  ///< Any other Puppet value.
    Enumerator,
    Match,      ///< Result of match().
    Scope,      ///< Result of the method `scope`.
    ScopeHash,  ///< scope.to_hash
    Output,     ///< Result of a text statement.
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
    /// `name` must outlive the rendering.
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
    std::uint32_t capacity = 0;  ///< 0 if the text is not owned; it is copied at the first change.
    bool foreign = false;
    std::string_view view() const { return {data, size}; }
};

struct Array {
    RV* items = nullptr;
    std::uint32_t size = 0;
    std::uint32_t capacity = 0;
    const Value* source = nullptr;  ///< Set until the array is first read.
    Value origin;                   ///< The array of the compile; undef if there is none.
    bool foreign = false;           ///< Must not change.
    bool copied = false;            ///< From the compile, but changed in this copy first.
    bool dirty = false;             ///< True if it was changed.
};

struct HashEntry {
    RV key;
    RV value;
};

struct Hash {
    HashEntry* entries = nullptr;
    std::uint32_t size = 0;
    std::uint32_t capacity = 0;
    /// Index of entry plus 1, for more than eight entries; null until it is built.
    std::uint32_t* index = nullptr;
    std::uint32_t index_mask = 0;
    const value::HashRep* source = nullptr;  ///< Set until the hash is first read.
    Value origin;                            ///< The hash of the compile; undef if there is none.
    bool foreign = false;                    ///< Must not change.
    bool copied = false;                     ///< From the compile, but changed in this copy only.
    bool dirty = false;                      ///< True if it was changed.
    std::uint32_t iterating = 0;
};

struct Range {
    RV from;
    RV to;
    bool exclusive = false;
};

/// An iterating method that was called without a block.
struct Enumerator {
    enum class Kind : std::uint8_t { Each, Map, EachWithIndex, Select, Reject } kind{};
    Array* array = nullptr;
};

/// The memory of one rendering, and operations on values that run no code.
class Heap {
public:
    Heap() : arena_(8 * 1024) {}
    base::Arena& arena() { return arena_; }

    RV string(std::string_view text);       ///< Copies the text.
    RV string_view(std::string_view text);  ///< `text` must outlive the rendering.
    RV array(std::size_t capacity = 0);
    RV hash();
    RV pair(const RV& a, const RV& b);
    RV range(const RV& from, const RV& to, bool exclusive);
    RV symbol(std::string_view text);  ///< Copies the text.
    /// Converts a Puppet value to a Ruby value. With `mutable_copy` a template may change the
    /// arrays and hashes in it without affecting the compile. The caller must then always return
    /// the same object.
    RV from_puppet(const Value& v, bool mutable_copy = false);
    /// Returns the array or hash of the compile that `v` still equals; null if there is none.
    const Value* unchanged(const RV& v) const;
    /// Converts a value to an argument of a Puppet function. `arena` is the compile's. Unchanged
    /// arrays and hashes of the compile remain the same objects.
    Value to_puppet(const RV& v, base::Arena& arena);

    // Read access. Values from Puppet are unpacked at the first read.
    Array& items(const RV& v) {
        BUNRAKU_ASSERT(v.is(T::Array));
        if (v.a->source) unfold(*v.a);
        return *v.a;
    }
    Hash& entries(const RV& v) {
        BUNRAKU_ASSERT(v.is(T::Hash));
        if (v.h->source) unfold(*v.h);
        return *v.h;
    }
    std::uint32_t array_size(const RV& v);
    std::uint32_t hash_size(const RV& v);

    // Write access; foreign objects are refused.
    void append(Str& s, std::string_view text);
    void assign(Str& s, std::string_view text);
    void push(Array& a, const RV& v);
    void insert(Array& a, std::uint32_t at, const RV& v);
    void erase(Array& a, std::uint32_t at, std::uint32_t count = 1);
    void clear(Array& a);
    void set(Hash& h, const RV& key, const RV& v);
    bool erase(Hash& h, const RV& key, RV* old = nullptr);
    void clear(Hash& h);
    /// Returns null if the key does not exist.
    const RV* find(Hash& h, const RV& key);
    /// Looks up hash[key] without unpacking values from Puppet.
    bool lookup(const RV& hash, const RV& key, RV& out);

    RV copy_array(const RV& v);
    RV copy_hash(const RV& v);

    /// ==
    bool equal(const RV& a, const RV& b, int depth = 0);
    /// Ruby's eql?.
    bool same(const RV& a, const RV& b, int depth = 0);
    std::uint64_t hash_of(const RV& v, int depth = 0);
    /// Ruby's <=>: returns -1, 0 or 1; 2 if Ruby returns nil.
    int compare(const RV& a, const RV& b, int depth = 0);

    /// Ruby's to_s.
    void print(std::string& out, const RV& v);
    void inspect(std::string& out, const RV& v, int depth = 0);
    std::string to_s(const RV& v) {
        std::string out;
        print(out, v);
        return out;
    }

    /// Reports whether an array or hash of the compile, or a nested one, was changed.
    bool dirty(const RV& v, int depth = 0) const;
    /// True if any value of the compile was changed.
    bool changed = false;

    /// Counts allocated bytes. Beyond a limit the rendering falls back to Ruby.
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
    // Returns the index of the entry plus 1; 0 if the key does not exist.
    std::uint32_t position(Hash& h, const RV& key);

    base::Arena arena_;
    std::size_t charged_ = 0;
};

/// Returns true if every byte is below 0x80.
bool ascii_only(std::string_view text);
/// Returns the name of a value's class ("String"); empty if it is unknown.
std::string_view class_name(const RV& v);

}  // namespace bunraku::erb
