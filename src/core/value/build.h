// SPDX-License-Identifier: Apache-2.0
// Builds new values in an arena.
#pragma once

#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "core/value/value.h"

namespace bunraku::value {

/// Returns a string value with its own copy of the text.
Value make_string(base::Arena& arena, std::string_view text);
Value make_binary(base::Arena& arena, std::string_view bytes);
Value make_array(base::Arena& arena, std::span<const Value> items);
inline Value make_array(base::Arena& arena, std::initializer_list<Value> items) {
    return make_array(arena, std::span<const Value>(items.begin(), items.size()));
}
Value make_sensitive(base::Arena& arena, const Value& inner);
Value make_semver(base::Arena& arena, base::SemVer version);
Value make_semver_range(base::Arena& arena, base::SemVerRange range);
/// Throws base::PuppetError with Ruby's text if the pattern is not valid.
Value make_regexp(base::Arena& arena, std::string_view source, std::uint32_t options = 0);
/// Returns a deep copy in another arena. Extensions (types, objects) are shared, so they must
/// outlive the copy.
Value deep_copy(base::Arena& arena, const Value& v);

/// Collects entries in order. A key that is set again stays at its first position and takes the new
/// value.
class HashBuilder {
public:
    explicit HashBuilder(base::Arena& arena, std::size_t expected = 8) : arena_(arena) {
        entries_.reserve(expected);
    }
    void set(const Value& key, const Value& value);
    /// `key` must outlive the hash.
    void set(std::string_view key, const Value& value) { set(Value::string(key), value); }
    void merge(const HashRep& other) {
        for (const Entry& e : other) set(e.key, e.value);
    }
    bool erase(const Value& key);
    const Value* find(const Value& key) const;
    const Value* find(std::string_view key) const { return find(Value::string(key)); }
    std::size_t size() const { return entries_.size(); }
    const std::vector<Entry>& entries() const { return entries_; }
    /// Returns the hash. The builder may be used further without changing the result.
    Value build() const;

private:
    void reindex();
    base::Arena& arena_;
    std::vector<Entry> entries_;
    std::vector<std::uint32_t> index_;
};

}  // namespace bunraku::value
