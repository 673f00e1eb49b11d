// SPDX-License-Identifier: Apache-2.0
#include "core/value/build.h"

#include <algorithm>
#include <bit>
#include <memory>

#include "core/base/assert.h"
#include "core/base/diagnostic.h"
#include "core/base/semver.h"
#include "core/base/work_limit.h"
#include "core/regex/regex.h"
#include "core/value/internal.h"
#include "core/value/merge.h"

namespace bunraku::value {

namespace {

/// Number of index slots for `n` entries: a power of two, at most half full.
std::uint32_t slots_for(std::size_t n) {
    BUNRAKU_ASSERT(n > 0 && n <= std::size_t{1} << 30);
    return static_cast<std::uint32_t>(std::bit_ceil(n * 2));
}

void insert(std::uint32_t* index, std::uint32_t mask, std::uint64_t hash, std::uint32_t number) {
    BUNRAKU_ASSERT(number > 0 && number <= mask);
    BUNRAKU_ASSERT((mask & (mask + 1)) == 0);
    auto at = static_cast<std::uint32_t>(hash) & mask;
    while (index[at] != 0) at = (at + 1) & mask;
    index[at] = number;
}

Value copy(base::Arena& arena, const Value& v) {
    base::step();
    switch (v.kind()) {
        case Kind::String: return make_string(arena, v.as_string()).in_encoding(v.is_bytes());
        case Kind::Binary: return make_binary(arena, v.as_string());
        case Kind::Uri: return Value::uri(arena.copy(v.as_string()));
        case Kind::Array: {
            const auto from = v.as_array();
            const auto to = arena.array<Value>(from.size());
            for (std::size_t i = 0; i < from.size(); ++i) to[i] = copy(arena, from[i]);
            BUNRAKU_ASSERT(to.size() == from.size());
            BUNRAKU_ASSERT(v.depth() == Value::depth_of(from));
            return Value::array(to, v.depth());
        }
        case Kind::Hash: {
            const HashRep& from = v.as_hash();
            const auto to = arena.array<Entry>(from.size());
            for (std::size_t i = 0; i < from.size(); ++i) {
                to[i] = {copy(arena, from.entries[i].key), copy(arena, from.entries[i].value)};
            }
            return hash_over(arena, to);
        }
        case Kind::Regexp: return make_regexp(arena, v.as_regexp().source, v.as_regexp().options);
        case Kind::Sensitive: return make_sensitive(arena, copy(arena, v.unwrap()));
        case Kind::SemVer: return make_semver(arena, v.as_semver());
        case Kind::SemVerRange: return make_semver_range(arena, v.as_semver_range());
        default: return v;
    }
}

}  // namespace

Value make_string(base::Arena& arena, std::string_view text) {
    return Value::string(arena.copy(text));
}

Value make_binary(base::Arena& arena, std::string_view bytes) {
    return Value::binary(arena.copy(bytes));
}

Value make_array(base::Arena& arena, std::span<const Value> items) {
    return Value::array(arena.copy(items));
}

Value make_sensitive(base::Arena& arena, const Value& inner) {
    return Value::sensitive(arena.make<Value>(inner));
}

Value make_semver(base::Arena& arena, base::SemVer version) {
    return Value::semver(arena.own(std::make_unique<base::SemVer>(std::move(version))));
}

Value make_semver_range(base::Arena& arena, base::SemVerRange range) {
    return Value::semver_range(arena.own(std::make_unique<base::SemVerRange>(std::move(range))));
}

Value make_regexp(base::Arena& arena, std::string_view source, std::uint32_t options) {
    auto compiled = regex::Regex::cached(source, options);
    if (!compiled) throw base::PuppetError(compiled.error().message);
    using Shared = std::shared_ptr<const regex::Regex>;
    const Shared* shared_regex = arena.own(std::make_unique<Shared>(*std::move(compiled)));
    RegexpRep* rep = arena.make<RegexpRep>();
    rep->source = arena.copy(source);
    rep->options = options;
    rep->regex = shared_regex->get();
    return Value::regexp(rep);
}

Value deep_copy(base::Arena& arena, const Value& v) { return copy(arena, v); }

Value hash_over(base::Arena& arena, std::span<const Entry> entries) {
    HashRep* rep = arena.make<HashRep>();
    rep->entries = entries;
    rep->depth = HashRep::depth_of(entries);
    if (entries.size() > kLinearEntries) {
        const auto index = arena.array<std::uint32_t>(slots_for(entries.size()));
        BUNRAKU_ASSERT(index.size() >= entries.size() * 2);
        rep->index_mask = static_cast<std::uint32_t>(index.size() - 1);
        for (std::uint32_t i = 0; i < entries.size(); ++i) {
            insert(index.data(), rep->index_mask, hash_of(entries[i].key), i + 1);
        }
        rep->index = index.data();
    }
    return Value::hash(rep);
}

void HashBuilder::reindex() {
    index_.assign(slots_for(entries_.size() + entries_.size() / 2), 0);
    const auto mask = static_cast<std::uint32_t>(index_.size() - 1);
    for (std::uint32_t i = 0; i < entries_.size(); ++i) {
        insert(index_.data(), mask, hash_of(entries_[i].key), i + 1);
    }
}

const Value* HashBuilder::find(const Value& key) const {
    BUNRAKU_ASSERT(index_.empty() == (entries_.size() <= kLinearEntries));
    if (index_.empty()) return HashRep{.entries = entries_}.find(key);
    const HashRep view{.entries = entries_,
                       .index = index_.data(),
                       .index_mask = static_cast<std::uint32_t>(index_.size() - 1)};
    return view.find(key);
}

void HashBuilder::set(const Value& key, const Value& value) {
    BUNRAKU_ASSERT(index_.empty() == (entries_.size() <= kLinearEntries));
    BUNRAKU_ASSERT(index_.empty() || index_.size() >= entries_.size() * 2);
    if (index_.empty()) {
        if (const Value* old = HashRep{.entries = entries_}.find(key)) {
            *const_cast<Value*>(old) = value;
            return;
        }
        entries_.push_back({key, value});
        if (entries_.size() > kLinearEntries) reindex();
        return;
    }
    // One hash lookup finds either the entry or the slot of the new one.
    const auto mask = static_cast<std::uint32_t>(index_.size() - 1);
    auto at = static_cast<std::uint32_t>(hash_of(key)) & mask;
    for (; index_[at] != 0; at = (at + 1) & mask) {
        BUNRAKU_ASSERT(index_[at] <= entries_.size());
        Entry& e = entries_[index_[at] - 1];
        if (!equal(e.key, key)) continue;
        e.value = value;
        return;
    }
    entries_.push_back({key, value});
    index_[at] = static_cast<std::uint32_t>(entries_.size());
    if (index_.size() < entries_.size() * 2) reindex();
    BUNRAKU_ASSERT(index_.size() >= entries_.size() * 2);
}

bool HashBuilder::erase(const Value& key) {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        if (!equal(entries_[i].key, key)) continue;
        entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(i));
        index_.clear();
        if (entries_.size() > kLinearEntries) reindex();
        BUNRAKU_ASSERT(index_.empty() == (entries_.size() <= kLinearEntries));
        return true;
    }
    return false;
}

Value merged(base::Arena& arena, const HashRep& left, const HashRep& right) {
    if (right.empty()) return Value::hash(&left);
    if (left.empty()) return Value::hash(&right);
    const std::size_t most = left.size() + right.size();
    auto entries = arena.array<Entry>(most);
    std::copy(left.entries.begin(), left.entries.end(), entries.begin());
    std::size_t size = left.size();
    HashRep* rep = arena.make<HashRep>();
    std::span<std::uint32_t> index;
    if (most > kLinearEntries) {
        // The left side's index can be copied while it has enough free slots.
        const std::size_t old = left.index ? left.index_mask + 1u : 0;
        if (old >= most * 2) {
            index = arena.copy(std::span<const std::uint32_t>(left.index, old));
        } else {
            index = arena.array<std::uint32_t>(slots_for(most + most / 2));
            const auto mask = static_cast<std::uint32_t>(index.size() - 1);
            for (std::uint32_t i = 0; i < size; ++i)
                insert(index.data(), mask, hash_of(entries[i].key), i + 1);
        }
    }
    BUNRAKU_ASSERT(index.empty() || index.size() >= most * 2);
    BUNRAKU_ASSERT(index.empty() == (most <= kLinearEntries));
    const auto mask = static_cast<std::uint32_t>(index.size() - 1);
    unsigned replaced = 0;  // depth of the deepest replaced value
    for (const Entry& e : right) {
        Entry* found = nullptr;
        std::uint32_t at = 0;
        if (index.empty()) {
            for (std::size_t i = 0; i < size && !found; ++i)
                if (equal(entries[i].key, e.key)) found = &entries[i];
        } else {
            for (at = static_cast<std::uint32_t>(hash_of(e.key)) & mask; index[at] != 0 && !found;
                 at = (at + 1) & mask) {
                if (equal(entries[index[at] - 1].key, e.key)) found = &entries[index[at] - 1];
            }
        }
        if (found) {
            replaced = std::max(replaced, found->value.depth());
            found->value = e.value;
            continue;
        }
        BUNRAKU_ASSERT(size < most && (index.empty() || index[at] == 0));
        entries[size++] = e;
        if (!index.empty()) index[at] = static_cast<std::uint32_t>(size);
    }
    rep->entries = entries.first(size);
    BUNRAKU_ASSERT(size >= std::max(left.size(), right.size()));
    // The depth must be computed again only if a deepest value may have been replaced.
    rep->depth = replaced + 1 < left.depth || replaced == 0 ? std::max(left.depth, right.depth)
                                                            : HashRep::depth_of(rep->entries);
    BUNRAKU_ASSERT(rep->depth >= HashRep::depth_of(rep->entries));
    if (!index.empty()) {
        rep->index = index.data();
        rep->index_mask = mask;
    }
    return Value::hash(rep);
}

Value HashBuilder::build() const {
    BUNRAKU_ASSERT(index_.empty() == (entries_.size() <= kLinearEntries));
    const auto entries = arena_.copy(std::span<const Entry>(entries_));
    HashRep* rep = arena_.make<HashRep>();
    rep->entries = entries;
    rep->depth = HashRep::depth_of(entries);
    if (index_.empty()) return Value::hash(rep);
    rep->index = arena_.copy(std::span<const std::uint32_t>(index_)).data();
    rep->index_mask = static_cast<std::uint32_t>(index_.size() - 1);
    return Value::hash(rep);
}

}  // namespace bunraku::value
