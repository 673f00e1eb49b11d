// SPDX-License-Identifier: Apache-2.0
#include "language/erb/value.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <functional>

#include "core/base/assert.h"
#include "core/base/work_limit.h"
#include "core/value/build.h"
#include "core/value/encoding.h"

namespace bunraku::erb {

namespace {

constexpr std::size_t kMemoryLimit = 256u << 20;
constexpr int kDepthLimit = 100;
constexpr std::uint32_t kIndexFrom = 8;

[[noreturn]] void frozen() { fall_back("a value of the compile is changed"); }

}  // namespace

void fall_back(std::string reason) { throw Fallback{std::move(reason), {}}; }

void ruby_error(std::string detail) { throw Fallback{"an error in Ruby", std::move(detail)}; }

bool ascii_only(std::string_view text) {
    for (const char c : text)
        if (static_cast<unsigned char>(c) >= 0x80) return false;
    return true;
}

std::string_view class_name(const RV& v) {
    switch (v.t) {
        case T::Nil: return "NilClass";
        case T::False: return "FalseClass";
        case T::True: return "TrueClass";
        case T::Int: return "Integer";
        case T::Float: return "Float";
        case T::Str: return "String";
        case T::Sym: return "Symbol";
        case T::Array: return "Array";
        case T::Hash: return "Hash";
        case T::Range: return "Range";
        case T::Regex: return "Regexp";
        case T::Class: return "Class";
        case T::Match: return "MatchData";
        case T::Enumerator: return "Enumerator";
        default: return {};
    }
}

void Heap::charge(std::size_t bytes) {
    charged_ += bytes;
    if (charged_ > kMemoryLimit) fall_back("too much memory");
}

RV Heap::string_view(std::string_view text) {
    RV v;
    v.t = T::Str;
    v.s = arena_.make<Str>();
    v.s->data = text.data();
    v.s->size = static_cast<std::uint32_t>(text.size());
    return v;
}

RV Heap::string(std::string_view text) {
    charge(text.size());
    return string_view(arena_.copy(text));
}

RV Heap::symbol(std::string_view text) { return RV::symbol(arena_.copy(text)); }

RV Heap::array(std::size_t capacity) {
    RV v;
    v.t = T::Array;
    v.a = arena_.make<Array>();
    if (capacity > 0) reserve(*v.a, capacity);
    return v;
}

RV Heap::hash() {
    RV v;
    v.t = T::Hash;
    v.h = arena_.make<Hash>();
    return v;
}

RV Heap::pair(const RV& a, const RV& b) {
    RV v = array(2);
    v.a->items[0] = a;
    v.a->items[1] = b;
    v.a->size = 2;
    return v;
}

RV Heap::range(const RV& from, const RV& to, bool exclusive) {
    RV v;
    v.t = T::Range;
    v.r = arena_.make<Range>(from, to, exclusive);
    return v;
}

RV Heap::from_puppet(const Value& v, bool mutable_copy) {
    base::step();
    using value::Kind;
    RV out;
    switch (v.kind()) {
        case Kind::Undef: return {};
        case Kind::Default: return RV::symbol("default");
        case Kind::Boolean: return RV::boolean(v.as_boolean());
        case Kind::Integer: return RV::integer(v.as_integer());
        case Kind::Float: return RV::floating(v.as_float());
        case Kind::String:
            if (v.is_bytes() && !value::ascii_only(v.as_string()))
                fall_back("a string in ASCII-8BIT");
            out = string_view(v.as_string());
            out.s->foreign = true;
            return out;
        case Kind::Array:
            out.t = T::Array;
            out.a = arena_.make<Array>();
            out.a->origin = v;
            out.a->source = v.as_array().data();
            out.a->size = static_cast<std::uint32_t>(v.as_array().size());
            if (out.a->size == 0) out.a->source = nullptr;
            out.a->foreign = !mutable_copy;
            out.a->copied = mutable_copy;
            return out;
        case Kind::Hash:
            out.t = T::Hash;
            out.h = arena_.make<Hash>();
            out.h->origin = v;
            out.h->source = &v.as_hash();
            out.h->size = static_cast<std::uint32_t>(v.as_hash().size());
            out.h->foreign = !mutable_copy;
            out.h->copied = mutable_copy;
            return out;
        default:
            out.t = T::Opaque;
            out.v = arena_.make<Value>(v);
            return out;
    }
}

const Value* Heap::unchanged(const RV& v) const {
    if (v.is(T::Array) && !v.a->origin.is_undef() && !dirty(v)) return &v.a->origin;
    if (v.is(T::Hash) && !v.h->origin.is_undef() && !dirty(v)) return &v.h->origin;
    return nullptr;
}

Value Heap::to_puppet(const RV& v, base::Arena& arena) {
    base::step();
    if (const Value* same = unchanged(v)) return *same;
    switch (v.t) {
        case T::Nil: return Value::undef();
        case T::False: return Value::boolean(false);
        case T::True: return Value::boolean(true);
        case T::Int: return Value::integer(v.i);
        case T::Float: return Value::floating(v.f);
        case T::Str: return value::make_string(arena, v.s->view());
        case T::Sym:
            if (v.symbol_name() == "undef") return Value::undef();
            if (v.symbol_name() == "default") return Value::default_value();
            break;
        case T::Array: {
            std::vector<Value> out;
            Array& a = items(v);
            for (std::uint32_t i = 0; i < a.size; ++i) out.push_back(to_puppet(a.items[i], arena));
            return value::make_array(arena, out);
        }
        case T::Hash: {
            Hash& h = entries(v);
            value::HashBuilder out(arena, h.size);
            for (std::uint32_t i = 0; i < h.size; ++i)
                out.set(to_puppet(h.entries[i].key, arena), to_puppet(h.entries[i].value, arena));
            return out.build();
        }
        case T::Opaque: return *v.v;
        default: break;
    }
    fall_back("a value that Puppet does not know");
}

void Heap::unfold(Array& a) {
    BUNRAKU_ASSERT(a.source && a.size > 0 && a.capacity == 0 && !a.dirty);
    const Value* from = a.source;
    a.source = nullptr;
    a.items = static_cast<RV*>(arena_.allocate(sizeof(RV) * a.size, alignof(RV)));
    a.capacity = a.size;
    for (std::uint32_t i = 0; i < a.size; ++i) a.items[i] = from_puppet(from[i], !a.foreign);
}

void Heap::unfold(Hash& h) {
    BUNRAKU_ASSERT(h.source && h.source->size() == h.size && h.capacity == 0 && !h.index);
    const auto* from = h.source;
    h.source = nullptr;
    h.entries = static_cast<HashEntry*>(
        arena_.allocate(sizeof(HashEntry) * std::max(h.size, 1u), alignof(HashEntry)));
    h.capacity = h.size;
    std::uint32_t i = 0;
    for (const auto& e : *from)
        h.entries[i++] = {from_puppet(e.key), from_puppet(e.value, !h.foreign)};
    BUNRAKU_ASSERT(i == h.size);
}

bool Heap::dirty(const RV& v, int depth) const {
    base::step();
    if (depth > kDepthLimit) return true;
    if (v.is(T::Array) && v.a->copied && !v.a->source) {
        bool any = v.a->dirty;
        for (std::uint32_t i = 0; i < v.a->size && !any; ++i) any = dirty(v.a->items[i], depth + 1);
        return any;
    }
    if (v.is(T::Hash) && v.h->copied && !v.h->source) {
        bool any = v.h->dirty;
        for (std::uint32_t i = 0; i < v.h->size && !any; ++i)
            any = dirty(v.h->entries[i].value, depth + 1);
        return any;
    }
    return false;
}

std::uint32_t Heap::array_size(const RV& v) { return v.a->size; }
std::uint32_t Heap::hash_size(const RV& v) { return v.h->size; }

void Heap::append(Str& s, std::string_view text) {
    if (s.foreign) frozen();
    const std::size_t need = s.size + text.size();
    if (need > kMemoryLimit) fall_back("too much memory");
    if (need > s.capacity) {
        const auto room =
            static_cast<std::uint32_t>(std::bit_ceil(std::max<std::size_t>(need, 32)));
        charge(room);
        auto* data = static_cast<char*>(arena_.allocate(room, 1));
        std::memcpy(data, s.data, s.size);
        s.data = data;
        s.capacity = room;
    }
    BUNRAKU_ASSERT(need <= s.capacity);
    std::memmove(const_cast<char*>(s.data) + s.size, text.data(), text.size());
    s.size = static_cast<std::uint32_t>(need);
}

void Heap::assign(Str& s, std::string_view text) {
    if (s.foreign) frozen();
    charge(text.size());
    const auto copy = arena_.copy(text);
    s.data = copy.data();
    s.size = static_cast<std::uint32_t>(copy.size());
    s.capacity = 0;
}

void Heap::reserve(Array& a, std::size_t n) {
    if (n <= a.capacity) return;
    const auto room = static_cast<std::uint32_t>(std::bit_ceil(std::max<std::size_t>(n, 4)));
    charge(room * sizeof(RV));
    auto* fresh = static_cast<RV*>(arena_.allocate(sizeof(RV) * room, alignof(RV)));
    if (a.size > 0) std::memcpy(static_cast<void*>(fresh), a.items, sizeof(RV) * a.size);
    a.items = fresh;
    a.capacity = room;
    BUNRAKU_ASSERT(a.size <= a.capacity && n <= a.capacity);
}

void Heap::push(Array& a, const RV& v) {
    changes(a);
    const RV kept = v;
    reserve(a, a.size + 1u);
    BUNRAKU_ASSERT(a.size < a.capacity && !a.source);
    a.items[a.size++] = kept;
}

void Heap::insert(Array& a, std::uint32_t at, const RV& v) {
    changes(a);
    const RV kept = v;
    if (at > a.size + 1'000'000u) fall_back("too much memory");
    while (a.size < at) push(a, RV::nil());
    BUNRAKU_ASSERT(at <= a.size && !a.source);
    reserve(a, a.size + 1u);
    std::memmove(static_cast<void*>(a.items + at + 1), a.items + at, sizeof(RV) * (a.size - at));
    a.items[at] = kept;
    ++a.size;
}

void Heap::erase(Array& a, std::uint32_t at, std::uint32_t count) {
    changes(a);
    BUNRAKU_ASSERT(at <= a.size && count <= a.size - at && !a.source);
    std::memmove(static_cast<void*>(a.items + at), a.items + at + count,
                 sizeof(RV) * (a.size - at - count));
    a.size -= count;
}

void Heap::clear(Array& a) {
    changes(a);
    a.size = 0;
}

void Heap::reindex(Hash& h) {
    const auto slots = static_cast<std::uint32_t>(std::bit_ceil(h.size * 2u + 2u));
    charge(slots * sizeof(std::uint32_t));
    h.index = arena_.array<std::uint32_t>(slots).data();
    h.index_mask = slots - 1;
    BUNRAKU_ASSERT((slots & h.index_mask) == 0 && h.size < slots);
    for (std::uint32_t i = 0; i < h.size; ++i) {
        auto at = static_cast<std::uint32_t>(hash_of(h.entries[i].key)) & h.index_mask;
        while (h.index[at] != 0) at = (at + 1) & h.index_mask;
        h.index[at] = i + 1;
    }
}

std::uint32_t Heap::position(Hash& h, const RV& key) {
    if (h.size <= kIndexFrom) {
        for (std::uint32_t i = 0; i < h.size; ++i)
            if (same(h.entries[i].key, key)) return i + 1;
        return 0;
    }
    BUNRAKU_ASSERT(!h.source && h.size <= h.capacity);
    if (!h.index) reindex(h);
    BUNRAKU_ASSERT(h.size <= h.index_mask);
    auto at = static_cast<std::uint32_t>(hash_of(key)) & h.index_mask;
    for (; h.index[at] != 0; at = (at + 1) & h.index_mask)
        if (same(h.entries[h.index[at] - 1].key, key)) return h.index[at];
    return 0;
}

const RV* Heap::find(Hash& h, const RV& key) {
    const auto at = position(h, key);
    BUNRAKU_ASSERT(at <= h.size);
    return at == 0 ? nullptr : &h.entries[at - 1].value;
}

bool Heap::lookup(const RV& hash, const RV& key, RV& out) {
    if (hash.h->source) {
        const Value* found = nullptr;
        if (key.is(T::Str)) {
            found = hash.h->source->find(key.s->view());
        } else if (key.is(T::Int)) {
            found = hash.h->source->find(Value::integer(key.i));
        } else {
            unfold(*hash.h);
        }
        // A collection that may change must remain one object.
        const bool object = found && (found->is_array() || found->is_hash());
        if (object && hash.h->copied) {
            unfold(*hash.h);
        } else {
            if (found) out = from_puppet(*found);
            if (found || hash.h->source) return found != nullptr;
        }
    }
    const RV* found = find(*hash.h, key);
    if (found) out = *found;
    return found != nullptr;
}

void Heap::set(Hash& h, const RV& key, const RV& v) {
    changes(h);
    if (const auto at = position(h, key)) {
        h.entries[at - 1].value = v;
        return;
    }
    if (h.iterating > 0) ruby_error("can't add a new key into hash during iteration");
    // Ruby stores a frozen copy of a String key.
    RV kept = key.is(T::Str) && key.s->capacity > 0 ? string(key.s->view()) : key;
    if (kept.is(T::Str) && kept.s == key.s && !key.s->foreign) kept = string_view(key.s->view());
    if (kept.is(T::Str)) kept.s->foreign = true;
    if (h.size == h.capacity) {
        const auto room = static_cast<std::uint32_t>(std::bit_ceil(std::max(h.size + 1u, 8u)));
        charge(room * sizeof(HashEntry));
        auto* fresh =
            static_cast<HashEntry*>(arena_.allocate(sizeof(HashEntry) * room, alignof(HashEntry)));
        if (h.size > 0)
            std::memcpy(static_cast<void*>(fresh), h.entries, sizeof(HashEntry) * h.size);
        h.entries = fresh;
        h.capacity = room;
    }
    BUNRAKU_ASSERT(h.size < h.capacity);
    h.entries[h.size++] = {kept, v};
    if (!h.index) return;
    if (h.size * 2u > h.index_mask) {
        h.index = nullptr;
        return;
    }
    auto at = static_cast<std::uint32_t>(hash_of(kept)) & h.index_mask;
    while (h.index[at] != 0) at = (at + 1) & h.index_mask;
    h.index[at] = h.size;
}

bool Heap::erase(Hash& h, const RV& key, RV* old) {
    changes(h);
    if (h.iterating > 0) fall_back("a hash is changed while it is iterated");
    const auto at = position(h, key);
    if (at == 0) return false;
    if (old) *old = h.entries[at - 1].value;
    std::memmove(static_cast<void*>(h.entries + at - 1), h.entries + at,
                 sizeof(HashEntry) * (h.size - at));
    --h.size;
    h.index = nullptr;
    return true;
}

void Heap::clear(Hash& h) {
    changes(h);
    if (h.iterating > 0) fall_back("a hash is changed while it is iterated");
    h.size = 0;
    h.index = nullptr;
}

RV Heap::copy_array(const RV& v) {
    const Array& from = items(v);
    RV out = array(from.size);
    if (from.size > 0)
        std::memcpy(static_cast<void*>(out.a->items), from.items, sizeof(RV) * from.size);
    out.a->size = from.size;
    return out;
}

RV Heap::copy_hash(const RV& v) {
    const Hash& from = entries(v);
    RV out = hash();
    charge(from.size * sizeof(HashEntry));
    out.h->entries = static_cast<HashEntry*>(
        arena_.allocate(sizeof(HashEntry) * std::max(from.size, 1u), alignof(HashEntry)));
    if (from.size > 0)
        std::memcpy(static_cast<void*>(out.h->entries), from.entries,
                    sizeof(HashEntry) * from.size);
    out.h->size = out.h->capacity = from.size;
    return out;
}

bool Heap::equal(const RV& a, const RV& b, int depth) {
    base::step();
    if (depth > kDepthLimit) fall_back("nested too deep");
    if (a.t == T::Int && b.t == T::Float) return static_cast<double>(a.i) == b.f;
    if (a.t == T::Float && b.t == T::Int) return a.f == static_cast<double>(b.i);
    if (a.t == T::Float && b.t == T::Float) return a.f == b.f;
    if (a.t != b.t) {
        if (a.is(T::Opaque) || b.is(T::Opaque)) {
            // Puppet's objects never equal plain Ruby objects.
            const RV& other = a.is(T::Opaque) ? b : a;
            if (other.t > T::Hash) fall_back("== with an object");
        }
        return false;
    }
    if (a.t == T::Array) {
        Array& x = items(a);
        Array& y = items(b);
        if (x.size != y.size) return false;
        for (std::uint32_t i = 0; i < x.size; ++i)
            if (!equal(x.items[i], y.items[i], depth + 1)) return false;
        return true;
    }
    if (a.t == T::Hash) {
        Hash& x = entries(a);
        Hash& y = entries(b);
        if (x.size != y.size) return false;
        for (std::uint32_t i = 0; i < x.size; ++i) {
            const RV* other = find(y, x.entries[i].key);
            if (!other || !equal(x.entries[i].value, *other, depth + 1)) return false;
        }
        return true;
    }
    if (a.t == T::Range)
        return a.r->exclusive == b.r->exclusive && equal(a.r->from, b.r->from, depth + 1) &&
               equal(a.r->to, b.r->to, depth + 1);
    return same(a, b, depth);
}

bool Heap::same(const RV& a, const RV& b, int depth) {
    base::step();
    if (depth > kDepthLimit) fall_back("nested too deep");
    if (a.t != b.t) return false;
    switch (a.t) {
        case T::Nil:
        case T::False:
        case T::True: return true;
        case T::Int: return a.i == b.i;
        case T::Float: return a.f == b.f;
        case T::Str: return a.s->view() == b.s->view();
        case T::Sym:
        case T::Class: return a.symbol_name() == b.symbol_name();
        case T::Opaque: return value::equal(*a.v, *b.v);
        case T::Array: {
            Array& x = items(a);
            Array& y = items(b);
            if (x.size != y.size) return false;
            for (std::uint32_t i = 0; i < x.size; ++i)
                if (!same(x.items[i], y.items[i], depth + 1)) return false;
            return true;
        }
        case T::Hash: {
            Hash& x = entries(a);
            Hash& y = entries(b);
            if (x.size != y.size) return false;
            for (std::uint32_t i = 0; i < x.size; ++i) {
                const RV* other = find(y, x.entries[i].key);
                if (!other || !same(x.entries[i].value, *other, depth + 1)) return false;
            }
            return true;
        }
        default: fall_back("== of objects");
    }
}

std::uint64_t Heap::hash_of(const RV& v, int depth) {
    base::step();
    if (depth > kDepthLimit) fall_back("nested too deep");
    const auto mix = [](std::uint64_t h, std::uint64_t x) {
        return (h ^ x) * 0x9e3779b97f4a7c15ull + 0x632be59bd9b4e019ull + (h >> 29);
    };
    const auto kind = static_cast<std::uint64_t>(v.t);
    switch (v.t) {
        case T::Nil:
        case T::False:
        case T::True: return mix(kind, 1);
        case T::Int: return mix(kind, static_cast<std::uint64_t>(v.i));
        case T::Float: return mix(kind, std::bit_cast<std::uint64_t>(v.f == 0 ? 0.0 : v.f));
        case T::Str: return mix(kind, std::hash<std::string_view>{}(v.s->view()));
        case T::Sym:
        case T::Class: return mix(kind, std::hash<std::string_view>{}(v.symbol_name()));
        case T::Opaque: return mix(kind, value::hash_of(*v.v));
        case T::Array: {
            std::uint64_t h = kind;
            Array& a = items(v);
            for (std::uint32_t i = 0; i < a.size; ++i) h = mix(h, hash_of(a.items[i], depth + 1));
            return h;
        }
        case T::Hash: return mix(kind, v.h->size);
        default: fall_back("an object as a key");
    }
}

int Heap::compare(const RV& a, const RV& b, int depth) {
    base::step();
    constexpr int kNone = 2;
    if (depth > kDepthLimit) fall_back("nested too deep");
    const bool numbers = (a.is(T::Int) || a.is(T::Float)) && (b.is(T::Int) || b.is(T::Float));
    if (numbers) {
        if (a.is(T::Int) && b.is(T::Int)) return a.i < b.i ? -1 : a.i > b.i;
        const double x = a.is(T::Int) ? static_cast<double>(a.i) : a.f;
        const double y = b.is(T::Int) ? static_cast<double>(b.i) : b.f;
        return x < y ? -1 : x > y ? 1 : x == y ? 0 : kNone;
    }
    if (a.t != b.t) {
        if (a.is(T::Opaque) || b.is(T::Opaque)) fall_back("<=> with an object");
        return kNone;
    }
    const auto sign = [](int n) { return n < 0 ? -1 : n > 0; };
    switch (a.t) {
        case T::Nil:
        case T::True:
        case T::False: return 0;
        case T::Str: return sign(a.s->view().compare(b.s->view()));
        case T::Sym: return sign(a.symbol_name().compare(b.symbol_name()));
        case T::Array: {
            Array& x = items(a);
            Array& y = items(b);
            for (std::uint32_t i = 0; i < x.size && i < y.size; ++i)
                if (const int c = compare(x.items[i], y.items[i], depth + 1); c != 0) return c;
            return x.size < y.size ? -1 : x.size > y.size;
        }
        case T::Hash: return equal(a, b) ? 0 : kNone;
        default: fall_back("<=> of objects");
    }
}

}  // namespace bunraku::erb
