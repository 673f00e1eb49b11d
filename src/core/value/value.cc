// SPDX-License-Identifier: Apache-2.0
// Compares, hashes and looks up values with the semantics of Ruby's eql? and Hash.
#include "core/value/value.h"

#include <cmath>
#include <cstring>

#include "core/base/assert.h"
#include "core/base/diagnostic.h"
#include "core/base/semver.h"
#include "core/base/work_limit.h"
#include "core/value/encoding.h"
#include "core/value/internal.h"
#include "core/value/time.h"

namespace bunraku::value {

namespace {

constexpr std::uint64_t kMul = 0x9E3779B97F4A7C15ULL;

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a ^ kMul) * (b ^ 0xD6E8FEB86659FD93ULL);
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t load(const char* p, std::size_t n) {
    std::uint64_t v = 0;
    std::memcpy(&v, p, n);
    return v;
}

std::uint64_t hash_bytes(std::string_view text, std::uint64_t seed) {
    std::uint64_t h = seed ^ text.size();
    const char* p = text.data();
    std::size_t n = text.size();
    for (; n >= 8; p += 8, n -= 8) h = mix(h, load(p, 8));
    return mix(h, n ? load(p, n) : 0);
}

}  // namespace

bool equal(const Value& a, const Value& b) {
    if (a.kind() != b.kind()) return false;
    switch (a.kind()) {
        case Kind::Undef:
        case Kind::Default: return true;
        case Kind::Boolean:
        case Kind::Integer:
        case Kind::Timestamp:
        case Kind::Timespan: return nanoseconds(a) == nanoseconds(b);
        case Kind::Float: return a.as_float() == b.as_float();
        case Kind::String: return a.as_string() == b.as_string() && same_encoding(a, b);
        case Kind::Binary:
        case Kind::Uri: return a.as_string() == b.as_string();
        case Kind::Array: {
            base::step();
            const auto x = a.as_array(), y = b.as_array();
            if (x.size() != y.size()) return false;
            if (x.data() == y.data()) return true;
            for (std::size_t i = 0; i < x.size(); ++i) {
                if (!equal(x[i], y[i])) return false;
            }
            return true;
        }
        case Kind::Hash: {
            const HashRep &x = a.as_hash(), &y = b.as_hash();
            base::step();
            if (&x == &y) return true;
            if (x.size() != y.size()) return false;
            for (const Entry& e : x) {
                const Value* other = y.find(e.key);
                if (other == nullptr || !equal(e.value, *other)) return false;
            }
            return true;
        }
        case Kind::Regexp:
            return a.as_regexp().source == b.as_regexp().source &&
                   a.as_regexp().options == b.as_regexp().options;
        case Kind::Sensitive: return equal(a.unwrap(), b.unwrap());
        case Kind::SemVer: {
            const base::SemVer &x = a.as_semver(), &y = b.as_semver();
            return x == y && x.build == y.build;
        }
        case Kind::SemVerRange: return a.as_semver_range() == b.as_semver_range();
        case Kind::Type:
        case Kind::Object:
        case Kind::Closure:
        case Kind::Iterator:
            return a.as_extension() == b.as_extension() ||
                   a.as_extension()->equal(*b.as_extension());
    }
    return false;
}

std::uint64_t hash_of(const Value& v) {
    const auto tag = static_cast<std::uint64_t>(v.kind());
    switch (v.kind()) {
        case Kind::Undef:
        case Kind::Default: return mix(tag, 1);
        case Kind::Boolean:
        case Kind::Integer:
        case Kind::Timestamp:
        case Kind::Timespan: return mix(tag, static_cast<std::uint64_t>(v.as_integer()));
        case Kind::Float: {
            const double d = v.as_float() == 0.0 ? 0.0 : v.as_float();
            std::uint64_t bits = 0;
            std::memcpy(&bits, &d, sizeof bits);
            return mix(tag, bits);
        }
        case Kind::String:
        case Kind::Binary:
        case Kind::Uri: return hash_bytes(v.as_string(), tag);
        case Kind::Array: {
            base::step();
            std::uint64_t h = tag;
            for (const Value& item : v.as_array()) h = mix(h, hash_of(item));
            return h;
        }
        case Kind::Hash: {
            base::step();
            // Equal hashes may have different orders.
            std::uint64_t h = tag;
            for (const Entry& e : v.as_hash()) {
                h += mix(hash_of(e.key), hash_of(e.value));
            }
            return h;
        }
        case Kind::Regexp: return hash_bytes(v.as_regexp().source, tag + v.as_regexp().options);
        case Kind::Sensitive: return mix(tag, hash_of(v.unwrap()));
        case Kind::SemVer: {
            const base::SemVer& s = v.as_semver();
            return hash_bytes(s.prerelease, mix(mix(s.major, s.minor), s.patch));
        }
        case Kind::SemVerRange: return mix(tag, v.as_semver_range().parts.size());
        case Kind::Type:
        case Kind::Object:
        case Kind::Closure:
        case Kind::Iterator: return v.as_extension()->hash();
    }
    return 0;
}

namespace {

/// Looks up through the index; `same` compares an entry's key.
template <class Same>
const Value* find_indexed(const HashRep& rep, std::uint64_t hash, Same same) {
    BUNRAKU_ASSERT((rep.index_mask & (rep.index_mask + 1)) == 0);
    BUNRAKU_ASSERT(rep.entries.size() <= rep.index_mask);
    for (std::uint32_t at = static_cast<std::uint32_t>(hash) & rep.index_mask;;
         at = (at + 1) & rep.index_mask) {
        const std::uint32_t number = rep.index[at];
        if (number == 0) return nullptr;
        BUNRAKU_ASSERT(number <= rep.entries.size());
        const Entry& e = rep.entries[number - 1];
        if (same(e.key)) return &e.value;
    }
}

}  // namespace

void too_deep() { throw base::PuppetError("stack level too deep"); }

std::uint64_t hash_of_string(std::string_view text) {
    return hash_bytes(text, static_cast<std::uint64_t>(Kind::String));
}

const Value* HashRep::find(std::string_view key) const {
    const auto same = [key](const Value& k) {
        return k.is_string() && k.as_string() == key && (!k.is_bytes() || ascii_only(key));
    };
    if (index != nullptr) return find_indexed(*this, hash_of_string(key), same);
    for (const Entry& e : entries) {
        if (same(e.key)) return &e.value;
    }
    return nullptr;
}

const Value* HashRep::find(const Value& key) const {
    if (key.is_string() && !key.is_bytes()) return find(key.as_string());
    const auto same = [&key](const Value& k) { return equal(k, key); };
    if (index != nullptr) return find_indexed(*this, hash_of(key), same);
    for (const Entry& e : entries) {
        if (same(e.key)) return &e.value;
    }
    return nullptr;
}

}  // namespace bunraku::value
