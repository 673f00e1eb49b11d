// Puppet values as Ruby's Marshal writes and reads them (format 4.8): Ruby does its half in C.
//
// What Ruby has no form for travels as objects of classes of share/ruby: types by their text,
// versions by theirs, instances of Object types by name and content.
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

/// What the encoding needs of the floors above: types and objects live there.
class ValueHooks {
public:
    virtual ~ValueHooks() = default;
    /// Remembers a value that Ruby can only pass around (a context, a lambda): a number for it, or
    /// 0.
    virtual std::uint64_t keep(const Value& v) {
        (void)v;
        return 0;
    }
    /// The value of such a number; undef: none.
    virtual Value kept(std::uint64_t handle) {
        (void)handle;
        return {};
    }
    /// The number by which Ruby knows an object of its own that came here with the tag "runtime";
    /// 0: it is none.
    virtual std::uint64_t runtime_id(const Value& v) {
        (void)v;
        return 0;
    }
    /// A value of Ruby's that is none here: `tag` "type" (its text), "object" ([name, hash]),
    /// "runtime" ([class, text, number]). Gives the payload itself where nobody knows better.
    virtual Value make(std::string_view tag, const Value& payload, base::Arena& arena) {
        (void)tag;
        (void)arena;
        return payload;
    }
};

/// Ruby sent something that has no counterpart, or garbage.
struct MarshalError : std::runtime_error {
    using std::runtime_error::runtime_error;
    bool unknown_class = false;  ///< else: the bytes make no sense
};

/// Appends one Marshal document to a text, piece by piece.
class MarshalWriter {
public:
    /// `moved`: where the reader finds a folder of this side.
    explicit MarshalWriter(std::string& out, ValueHooks* hooks = nullptr,
                           const base::PathMapping* moved = nullptr)
        : out_(out), hooks_(hooks), moved_(moved) {}
    /// "\4\b"; once, before everything else.
    void begin() { out_.append("\4\b", 2); }
    void array(std::size_t size) {
        out_ += '[';
        number(static_cast<std::int64_t>(size));
    }
    void hash(std::size_t size) {
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
    /// A whole value. `legacy`: as Puppet hands it to functions of the 3.x API (undef on top is "",
    /// references are Puppet::Resource, what 3.x does not know is text).
    void value(const Value& v, bool legacy = false, bool top = true);

private:
    void number(std::int64_t n);
    void user_defined(std::string_view class_name, std::string_view text);
    void object(const Value& v);

    std::string& out_;
    ValueHooks* hooks_;
    const base::PathMapping* moved_;
    std::unordered_map<std::string, std::int64_t> symbols_;
};

/// Reads one document; strings are copied into `arena`. Throws MarshalError.
Value read_marshal(std::string_view bytes, base::Arena& arena, ValueHooks* hooks = nullptr,
                   const base::PathMapping* moved = nullptr);

}  // namespace bunraku::ruby
