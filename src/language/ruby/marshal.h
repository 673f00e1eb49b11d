// SPDX-License-Identifier: Apache-2.0
// Puppet values in Ruby's Marshal format (4.8), which Ruby reads and writes in C.
//
// Values without a Ruby equivalent are sent as objects of classes in share/ruby: types and versions
// by their text, instances of Object types by name and content.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/arena.h"
#include "core/base/path_mapping.h"
#include "core/value/value.h"

namespace bunraku::ruby {

using value::Value;

/// The encoding's interface to higher layers, which define types and objects.
class ValueHooks {
public:
    virtual ~ValueHooks() = default;
    /// Stores a value that Ruby can only pass on (a context, a lambda). Returns its number, or 0 if
    /// it cannot be stored.
    virtual std::uint64_t keep(const Value& v) {
        (void)v;
        return 0;
    }
    /// Returns the value with that number; undef if there is none.
    virtual Value kept(std::uint64_t handle) {
        (void)handle;
        return {};
    }
    /// Returns Ruby's number of an object that was received with the tag "runtime"; 0 for other
    /// values.
    virtual std::uint64_t runtime_id(const Value& v) {
        (void)v;
        return 0;
    }
    /// Converts a Ruby value without an equivalent here. `tag` is "type" (its text), "object"
    /// ([name, hash]) or "runtime" ([class, text, number]). By default, returns the payload.
    virtual Value make(std::string_view tag, const Value& payload, base::Arena& arena) {
        (void)tag;
        (void)arena;
        return payload;
    }
};

/// Ruby sent a value without an equivalent, or invalid bytes.
struct MarshalError : std::runtime_error {
    using std::runtime_error::runtime_error;
    bool unknown_class = false;  ///< False if the bytes are invalid.
};

/// Writes one Marshal document part by part.
class MarshalWriter {
public:
    /// `moved` maps a folder to its path at the reader.
    explicit MarshalWriter(std::string& out, ValueHooks* hooks = nullptr,
                           const base::PathMapping* moved = nullptr)
        : out_(out), hooks_(hooks), moved_(moved) {}
    /// Writes "\4\b"; must be called once, first.
    void begin() { out_.append("\4\b", 2); }
    void array(std::size_t size) {
        ++objects_;
        out_ += '[';
        number(static_cast<std::int64_t>(size));
    }
    void hash(std::size_t size) {
        ++objects_;
        out_ += '{';
        number(static_cast<std::int64_t>(size));
    }
    void nil() { out_ += '0'; }
    void integer(std::int64_t i);
    void large_integer(__int128 i);
    void floating(double d);
    void boolean(bool b) { out_ += b ? 'T' : 'F'; }
    void string(std::string_view text);
    void bytes(std::string_view text);
    void symbol(std::string_view name);
    /// Writes a whole value. `legacy` selects the form for functions of the 3.x API: undef at the
    /// top is "", references are Puppet::Resource, and values that 3.x does not know are text.
    /// An array or hash that was already written becomes a link, so that Ruby has one object, too.
    void value(const Value& v, bool legacy = false, bool top = true);

private:
    void number(std::int64_t n);
    void user_defined(std::string_view class_name, std::string_view text);
    void object(const Value& v);
    /// Writes a link if the array or hash was already written; otherwise remembers it.
    bool link(const void* container, bool legacy);

    std::string& out_;
    ValueHooks* hooks_;
    const base::PathMapping* moved_;
    std::unordered_map<std::string, std::int64_t> symbols_;
    std::int64_t objects_ = 0;  // Not counted: nil, booleans, symbols, small integers.
    std::unordered_map<std::uintptr_t, std::int64_t> containers_;
};

/// Reads one document. Strings are copied into `arena`. Throws MarshalError.
Value read_marshal(std::string_view bytes, base::Arena& arena, ValueHooks* hooks = nullptr,
                   const base::PathMapping* moved = nullptr);

}  // namespace bunraku::ruby
