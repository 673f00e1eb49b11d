// SPDX-License-Identifier: Apache-2.0
#include "language/ruby/marshal.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/diagnostic.h"
#include "core/base/semver.h"
#include "core/base/work_limit.h"
#include "core/value/build.h"
#include "core/value/time.h"

namespace bunraku::ruby {

using value::Kind;

namespace {

constexpr int kDepth = 1500;  // Nesting of arrays and hashes.

// Ruby's Regexp::IGNORECASE, EXTENDED and MULTILINE. value::make_regexp uses the same values.
constexpr std::uint32_t kIgnoreCase = 1, kExtended = 2, kMultiline = 4;

constexpr std::string_view kSensitive = "Puppet::Pops::Types::PSensitiveType::Sensitive";
constexpr std::string_view kRuntime = "Bunraku::Runtime";
constexpr std::string_view kTimestamp = "Puppet::Pops::Time::Timestamp";
constexpr std::string_view kTimespan = "Puppet::Pops::Time::Timespan";
constexpr std::string_view kFactHash = "Bunraku::FactHash";
constexpr std::string_view kBinary = "Puppet::Pops::Types::PBinaryType::Binary";
constexpr std::string_view kVersion = "SemanticPuppet::Version";
constexpr std::string_view kVersionRange = "SemanticPuppet::VersionRange";
constexpr std::string_view kType = "Bunraku::TypeRef";
constexpr std::string_view kUri = "Bunraku::Uri";
constexpr std::string_view kObject = "Bunraku::Obj";
constexpr std::string_view kResource = "Bunraku::ResourceRef";

}  // namespace

void MarshalWriter::number(std::int64_t n) {
    if (n == 0) {
        out_ += '\0';
    } else if (n > 0 && n < 123) {
        out_ += static_cast<char>(n + 5);
    } else if (n < 0 && n > -124) {
        out_ += static_cast<char>(n - 5);
    } else {
        char bytes[8];
        int count = 0;
        std::int64_t rest = n;
        while (count < 4) {
            bytes[count++] = static_cast<char>(rest & 0xff);
            rest >>= 8;
            if (rest == 0 || rest == -1) break;
        }
        BUNRAKU_ASSERT(count > 0 && count <= 4);
        out_ += static_cast<char>(n < 0 ? -count : count);
        out_.append(bytes, static_cast<std::size_t>(count));
    }
}

void MarshalWriter::integer(std::int64_t i) {
    if (i >= -(std::int64_t{1} << 30) && i < (std::int64_t{1} << 30)) {
        out_ += 'i';
        number(i);
        return;
    }
    ++objects_;
    out_ += 'l';
    out_ += i < 0 ? '-' : '+';
    std::uint64_t magnitude =
        i < 0 ? ~static_cast<std::uint64_t>(i) + 1 : static_cast<std::uint64_t>(i);
    std::string digits;
    while (magnitude != 0) {
        digits += static_cast<char>(magnitude & 0xff);
        digits += static_cast<char>((magnitude >> 8) & 0xff);
        magnitude >>= 16;
    }
    BUNRAKU_ASSERT(!digits.empty() && digits.size() % 2 == 0 && digits.size() <= 8);
    number(static_cast<std::int64_t>(digits.size() / 2));
    out_ += digits;
}

void MarshalWriter::large_integer(__int128 i) {
    auto magnitude = static_cast<unsigned __int128>(i < 0 ? -i : i);
    std::string bytes;
    for (; magnitude != 0; magnitude >>= 8) bytes += static_cast<char>(magnitude & 0xff);
    if (bytes.size() % 2) bytes += '\0';
    BUNRAKU_ASSERT(bytes.size() <= 16);
    ++objects_;
    out_ += 'l';
    out_ += i < 0 ? '-' : '+';
    number(static_cast<std::int64_t>(bytes.size() / 2));
    out_ += bytes;
}

void MarshalWriter::floating(double d) {
    ++objects_;
    out_ += 'f';
    const std::string text = std::isnan(d)   ? "nan"
                             : std::isinf(d) ? (d < 0 ? "-inf" : "inf")
                                             : fmt::format("{}", d);
    number(static_cast<std::int64_t>(text.size()));
    out_ += text;
}

void MarshalWriter::bytes(std::string_view text) {
    ++objects_;
    out_ += '"';
    number(static_cast<std::int64_t>(text.size()));
    out_.append(text);
}

void MarshalWriter::string(std::string_view text) {
    out_ += 'I';
    if (moved_) [[unlikely]]
        bytes(moved_->placed(text));
    else
        bytes(text);
    number(1);
    symbol("E");
    out_ += 'T';
}

void MarshalWriter::symbol(std::string_view name) {
    auto [it, fresh] =
        symbols_.emplace(std::string(name), static_cast<std::int64_t>(symbols_.size()));
    BUNRAKU_ASSERT(it->second < static_cast<std::int64_t>(symbols_.size()));
    if (!fresh) {
        out_ += ';';
        number(it->second);
        return;
    }
    out_ += ':';
    number(static_cast<std::int64_t>(name.size()));
    out_.append(name);
}

// Writes an object that Ruby creates by CLASS._load(text).
void MarshalWriter::user_defined(std::string_view class_name, std::string_view text) {
    ++objects_;
    out_ += 'u';
    symbol(class_name);
    number(static_cast<std::int64_t>(text.size()));
    out_.append(text);
}

bool MarshalWriter::link(const void* container, bool legacy) {
    // Both forms of a container can occur in a document. A container's address is even.
    const auto key = reinterpret_cast<std::uintptr_t>(container) | (legacy ? 1u : 0u);
    const auto [known, fresh] = containers_.emplace(key, objects_);
    if (fresh) return false;
    out_ += '@';
    number(known->second);
    return true;
}

void MarshalWriter::object(const Value& v) {
    if (const auto id = hooks_ ? hooks_->runtime_id(v) : 0) {
        user_defined(kRuntime, fmt::format("{}:{}", id, value::to_text(v)));
        return;
    }
    base::Arena scratch(1024);
    const std::uint64_t handle = hooks_ ? hooks_->keep(v) : 0;
    const Value data = v.is(Kind::Closure) || v.is(Kind::Iterator)
                           ? Value::undef()
                           : v.as_extension()->to_rich_data(scratch);
    std::string nested;
    MarshalWriter inner(nested, hooks_, moved_);
    inner.begin();
    inner.array(3);
    const Value* name = data.is_hash() ? data.as_hash().find("__ptype") : nullptr;
    inner.value(name ? *name : Value::string(v.is(Kind::Closure) ? "Callable" : ""));
    if (data.is_hash()) {
        const auto& h = data.as_hash();
        inner.hash(h.size() - (name ? 1 : 0));
        for (const auto& e : h) {
            if (e.key.is_string() && e.key.as_string() == "__ptype") continue;
            inner.value(e.key, false, false);
            inner.value(e.value, false, false);
        }
    } else {
        inner.value(data);
    }
    inner.integer(static_cast<std::int64_t>(handle));
    user_defined(kObject, nested);
}

void MarshalWriter::value(const Value& v, bool legacy, bool top) {
    base::step();
    switch (v.kind()) {
        case Kind::Undef:
            if (legacy && top)
                string("");
            else
                nil();
            return;
        case Kind::Default: symbol("default"); return;
        case Kind::Boolean: boolean(v.as_boolean()); return;
        case Kind::Integer: integer(v.as_integer()); return;
        case Kind::Float: floating(v.as_float()); return;
        case Kind::String:
            if (v.is_bytes())
                bytes(v.as_string());
            else
                string(v.as_string());
            return;
        case Kind::Array:
            if (!v.as_array().empty() && link(v.as_array().data(), legacy)) return;
            array(v.as_array().size());
            for (const Value& item : v.as_array()) value(item, legacy, false);
            return;
        case Kind::Hash:
            if (!v.as_hash().empty() && link(&v.as_hash(), legacy)) return;
            hash(v.as_hash().size());
            for (const auto& e : v.as_hash()) {
                value(e.key, legacy, false);
                value(e.value, legacy, false);
            }
            return;
        case Kind::Regexp: {
            const auto& r = v.as_regexp();
            if (legacy) {
                std::string text = "/";
                for (std::size_t i = 0; i < r.source.size(); ++i) {
                    if (r.source[i] == '\\' && i + 1 < r.source.size()) {
                        text.append(r.source.substr(i++, 2));
                    } else if (r.source[i] == '/') {
                        text += "\\/";
                    } else {
                        text += r.source[i];
                    }
                }
                text += '/';
                if (r.options & kMultiline) text += 'm';
                if (r.options & kIgnoreCase) text += 'i';
                if (r.options & kExtended) text += 'x';
                string(text);
                return;
            }
            ++objects_;
            out_ += "I/";
            number(static_cast<std::int64_t>(r.source.size()));
            out_.append(r.source);
            out_ += static_cast<char>(r.options & 7);
            number(1);
            symbol("E");
            out_ += 'T';
            return;
        }
        case Kind::Sensitive:
            ++objects_;
            out_ += 'U';
            symbol(kSensitive);
            value(v.unwrap(), false, false);
            return;
        case Kind::Timestamp:
        case Kind::Timespan:
            if (legacy) {
                string(value::to_text(v));
                return;
            }
            ++objects_;
            out_ += 'U';
            symbol(v.is(Kind::Timestamp) ? kTimestamp : kTimespan);
            if (const auto ns = value::nanoseconds(v); ns == v.as_integer())
                integer(v.as_integer());
            else
                large_integer(ns);
            return;
        case Kind::SemVer:
        case Kind::SemVerRange:
            if (legacy) {
                string(value::to_text(v));
            } else {
                user_defined(v.is(Kind::SemVer) ? kVersion : kVersionRange, value::to_text(v));
            }
            return;
        case Kind::Binary:
            if (legacy) {
                string(value::to_text(v));
                return;
            }
            ++objects_;
            out_ += 'U';
            symbol(kBinary);
            bytes(v.as_string());
            return;
        case Kind::Uri: user_defined(kUri, v.as_string()); return;
        case Kind::Type: {
            std::string text;
            v.as_extension()->print(text);
            user_defined(legacy ? kResource : kType, text);
            return;
        }
        case Kind::Object:
        case Kind::Closure:
        case Kind::Iterator:
            if (legacy) throw base::PuppetError("Use of an Iterator is not supported here");
            object(v);
            return;
    }
    nil();
}

namespace {

/// The few collections that enclose the current position.
class OpenSet {
public:
    void insert(std::size_t slot) { slots_.push_back(slot); }
    void erase(std::size_t) { slots_.pop_back(); }
    bool contains(std::size_t slot) const {
        return std::find(slots_.begin(), slots_.end(), slot) != slots_.end();
    }

private:
    std::vector<std::size_t> slots_;
};

class Reader {
public:
    Reader(std::string_view bytes, base::Arena& arena, ValueHooks* hooks,
           const base::PathMapping* moved)
        : in_(bytes), arena_(arena), hooks_(hooks), moved_(moved) {}

    Value document() {
        if (in_.size() < 2 || in_[0] != '\4' || in_[1] != '\b') garbage();
        at_ = 2;
        return read();
    }

private:
    [[noreturn]] static void garbage() { throw MarshalError("broken message"); }
    [[noreturn]] static void unknown(std::string_view what) {
        MarshalError error((std::string(what)));
        error.unknown_class = true;
        throw error;
    }

    unsigned char byte() {
        if (at_ >= in_.size()) garbage();
        return static_cast<unsigned char>(in_[at_++]);
    }
    std::int64_t number() {
        const auto c = static_cast<signed char>(byte());
        if (c == 0) return 0;
        if (c > 4) return c - 5;
        if (c < -4) return c + 5;
        std::int64_t n = c > 0 ? 0 : -1;
        const int count = c > 0 ? c : -c;
        for (int i = 0; i < count; ++i) {
            n &= ~(std::int64_t{0xff} << (8 * i));
            n |= static_cast<std::int64_t>(byte()) << (8 * i);
        }
        return n;
    }
    std::size_t length() {
        const std::int64_t n = number();
        if (n < 0 || static_cast<std::uint64_t>(n) > in_.size()) garbage();
        return static_cast<std::size_t>(n);
    }
    std::string_view raw() {
        const std::size_t n = length();
        BUNRAKU_ASSERT(at_ <= in_.size());
        if (n > in_.size() - at_) garbage();
        const auto text = in_.substr(at_, n);
        at_ += n;
        return text;
    }
    std::string_view read_symbol() {
        switch (byte()) {
            case ':': {
                const auto name = raw();
                symbols_.push_back(name);
                return name;
            }
            case ';': {
                const auto i = static_cast<std::size_t>(number());
                if (i >= symbols_.size()) garbage();
                return symbols_[i];
            }
            case 'I': {
                if (byte() != ':') garbage();
                const auto name = raw();
                symbols_.push_back(name);
                skip_ivars();
                return name;
            }
            default: garbage();
        }
    }
    /// Returns true if the instance variables name the encoding of a text.
    bool skip_ivars(bool of_text = false) {
        bool encoded = false;
        for (std::size_t n = length(); n > 0; --n) {
            const auto name = read_symbol();
            // The text is neither UTF-8 nor ASCII; Ruby has to recode it.
            if (of_text && name == "encoding") unknown("String");
            encoded |= name == "E";
            read();
        }
        return encoded;
    }
    std::size_t reserve() {
        objects_.emplace_back();
        return objects_.size() - 1;
    }
    Value enter(const Value& v) {
        base::step();
        objects_.push_back(v);
        return v;
    }
    static Value symbol_value(std::string_view name, base::Arena& arena) {
        if (name == "undef") return Value::undef();
        if (name == "default") return Value::default_value();
        return value::make_string(arena, name);
    }
    Value make(std::string_view tag, const Value& payload) {
        return hooks_ ? hooks_->make(tag, payload, arena_) : payload;
    }

    Value read() {
        if (++depth_ > kDepth) throw base::PuppetError("stack level too deep");
        const Value v = read_one(false);
        BUNRAKU_ASSERT(depth_ > 0);
        --depth_;
        return v;
    }

    Value big_integer() {
        const bool negative = byte() == '-';
        const std::size_t n = length() * 2;
        if (n > in_.size() - at_) garbage();
        std::uint64_t magnitude = 0;
        bool overflow = false;
        std::string hex;
        for (std::size_t i = n; i-- > 0;) {
            const auto b = static_cast<unsigned char>(in_[at_ + i]);
            if (magnitude >> 56) overflow = true;
            magnitude = magnitude << 8 | b;
            if (!hex.empty())
                hex += fmt::format("{:02x}", b);
            else if (b != 0)
                hex = fmt::format("{:x}", b);
        }
        at_ += n;
        BUNRAKU_ASSERT(at_ <= in_.size());
        const std::uint64_t limit = negative ? (1ull << 63) : (1ull << 63) - 1;
        if (overflow || magnitude > limit) {
            throw base::PuppetError(fmt::format(
                "Use of a Ruby Integer outside of Puppet Integer {} range, got '{}0x{}'",
                negative ? "min" : "max", negative ? "-" : "", hex));
        }
        return Value::integer(static_cast<std::int64_t>(negative ? ~magnitude + 1 : magnitude));
    }

    Value regexp_of(std::string_view source, int options) {
        return value::make_regexp(arena_, source, static_cast<std::uint32_t>(options & 7));
    }

    Value user_data(std::string_view cls, std::string_view text) {
        if (cls == kVersion) {
            auto version = base::SemVer::parse(text);
            if (!version) return value::make_string(arena_, text);
            return value::make_semver(arena_, std::move(*version));
        }
        if (cls == kVersionRange) {
            auto range = base::SemVerRange::parse(text);
            if (!range) return value::make_string(arena_, text);
            return value::make_semver_range(arena_, std::move(*range));
        }
        if (cls == kType || cls.starts_with("Puppet::Pops::Types::P"))
            return make("type", value::make_string(arena_, text));
        if (cls == kResource || cls == "Puppet::Resource")
            return make("type", value::make_string(arena_, text));
        if (cls == kUri || cls.starts_with("URI::")) return Value::uri(arena_.copy(text));
        if (cls == kRuntime) {
            Reader inner(text, arena_, hooks_, moved_);
            inner.depth_ = depth_;
            const Value data = inner.document();
            if (!data.is_array() || data.as_array().size() != 3) garbage();
            const Value made = make("runtime", data);
            return made.is_array() ? data.as_array()[1] : made;
        }
        if (cls == kObject || cls == "Puppet::LookupContext" ||
            cls == "Puppet::Pops::Types::Deferred" || cls.starts_with("Bunraku::DataTypes::")) {
            Reader inner(text, arena_, hooks_, moved_);
            inner.depth_ = depth_;
            const Value data = inner.document();
            if (!data.is_array() || data.as_array().size() != 3) garbage();
            const auto parts = data.as_array();
            if (hooks_ && parts[2].is_integer() && parts[2].as_integer() != 0) {
                const Value v = hooks_->kept(static_cast<std::uint64_t>(parts[2].as_integer()));
                if (!v.is_undef()) return v;
            }
            return make("object", data);
        }
        unknown(cls);
    }

    Value user_object(std::string_view cls, const Value& data) {
        if (cls == kSensitive) return value::make_sensitive(arena_, data);
        if (cls == kTimestamp && data.is_integer()) return Value::timestamp(data.as_integer());
        if (cls == kTimespan && data.is_integer()) return Value::timespan(data.as_integer());
        if (cls == kFactHash) return data;
        if (cls == kBinary && data.is_string()) return value::make_binary(arena_, data.as_string());
        unknown(cls);
    }

    // `with_ivars` means that an 'I' preceded, so instance variables follow.
    Value read_one(bool with_ivars) {
        switch (byte()) {
            case '0': return Value::undef();
            case 'T': return Value::boolean(true);
            case 'F': return Value::boolean(false);
            case 'i': return Value::integer(number());
            case 'l': {
                const auto slot = reserve();
                return objects_[slot] = big_integer();
            }
            case 'f': {
                const auto slot = reserve();
                const auto text = raw();
                double d = 0;
                if (text == "nan") {
                    d = std::nan("");
                } else if (text == "inf") {
                    d = HUGE_VAL;
                } else if (text == "-inf") {
                    d = -HUGE_VAL;
                } else {
                    std::from_chars(text.data(), text.data() + text.size(), d);
                }
                return objects_[slot] = Value::floating(d);
            }
            case ':': {
                --at_;
                const auto name = read_symbol();
                if (with_ivars) skip_ivars();
                return symbol_value(name, arena_);
            }
            case ';': --at_; return symbol_value(read_symbol(), arena_);
            case '@': {
                const auto i = static_cast<std::size_t>(number());
                if (i >= objects_.size()) garbage();
                // Puppet has no collection that contains itself.
                if (open_.contains(i)) throw base::PuppetError("stack level too deep");
                return objects_[i];
            }
            case 'I': {
                const Value v = read_one(true);
                return v;
            }
            case '"': {
                const auto slot = reserve();
                const auto text = raw();
                const Value v = moved_ ? value::make_string(arena_, moved_->named(text))
                                       : value::make_string(arena_, text);
                objects_[slot] = v;
                const bool encoded = with_ivars && skip_ivars(true);
                return objects_[slot] = v.in_encoding(!encoded);
            }
            case '/': {
                const auto slot = reserve();
                const auto source = raw();
                const int options = byte();
                objects_[slot] = regexp_of(source, options);
                const Value v = objects_[slot];
                if (with_ivars) skip_ivars();
                return v;
            }
            case '[': {
                const auto slot = reserve();
                const std::size_t n = length();
                std::vector<Value> items;
                items.reserve(n);
                open_.insert(slot);
                for (std::size_t i = 0; i < n; ++i) items.push_back(read());
                open_.erase(slot);
                return objects_[slot] = value::make_array(arena_, items);
            }
            case '{':
            case '}': {
                const bool has_default = in_[at_ - 1] == '}';
                const auto slot = reserve();
                const std::size_t n = length();
                value::HashBuilder hash(arena_, n);
                open_.insert(slot);
                for (std::size_t i = 0; i < n; ++i) {
                    const Value key = read();
                    hash.set(key, read());
                }
                if (has_default) read();
                open_.erase(slot);
                return objects_[slot] = hash.build();
            }
            case 'C': {  // A subclass of String, Array or Hash.
                read_symbol();
                return read_one(with_ivars);
            }
            case 'e': read_symbol(); return read_one(with_ivars);  // An object with extra modules.
            case 'U': {
                const auto slot = reserve();
                const auto cls = read_symbol();
                const Value data = read();
                return objects_[slot] = user_object(cls, data);
            }
            case 'u': {
                const auto cls = read_symbol();
                const auto text = raw();
                if (with_ivars) skip_ivars();
                return enter(user_data(cls, text));
            }
            case 'o':
            case 'S': unknown(read_symbol());
            case 'c':
            case 'm':
            case 'M': unknown("Class");
            default: garbage();
        }
    }

    std::string_view in_;
    std::size_t at_ = 0;
    base::Arena& arena_;
    ValueHooks* hooks_;
    const base::PathMapping* moved_;
    std::vector<std::string_view> symbols_;
    std::vector<Value> objects_;
    OpenSet open_;  // Collections that are being read.
    int depth_ = 0;
};

}  // namespace

Value read_marshal(std::string_view bytes, base::Arena& arena, ValueHooks* hooks,
                   const base::PathMapping* moved) {
    return Reader(bytes, arena, hooks, moved).document();
}

}  // namespace bunraku::ruby
