// SPDX-License-Identifier: Apache-2.0
#include "core/value/msgpack.h"

#include <bit>
#include <cstdint>
#include <fmt/format.h>
#include <limits>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/work_limit.h"
#include "core/codec/json_text.h"
#include "core/value/build.h"
#include "core/value/text.h"

namespace bunraku::value {

namespace {

struct MsgpackFault {
    const char* why;
};

class MsgpackReader {
public:
    MsgpackReader(base::Arena& arena, std::string_view bytes) : arena_(arena), rest_(bytes) {}

    Value document() {
        const Value out = one(0);
        if (!rest_.empty()) throw MsgpackFault{"there is data after its end"};
        return out;
    }

private:
    std::string_view take(std::uint64_t size) {
        if (size > rest_.size()) throw MsgpackFault{"it is truncated"};
        const auto out = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return out;
    }

    std::uint64_t number(int size) {
        std::uint64_t out = 0;
        for (const char c : take(static_cast<std::uint64_t>(size)))
            out = out << 8 | static_cast<unsigned char>(c);
        return out;
    }

    Value integer(std::uint64_t n) {
        if (n > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
            throw MsgpackFault{"an integer has more than 64 bits"};
        return Value::integer(static_cast<std::int64_t>(n));
    }

    Value text(std::uint64_t size) {
        const auto bytes = take(size);
        if (!codec::is_utf8(bytes)) throw MsgpackFault{"a text is not valid UTF-8"};
        return make_string(arena_, bytes);
    }

    Value array(std::uint64_t size, unsigned depth) {
        // Each element has at least one byte, so an announced size that exceeds the input is an
        // error. It must not cause an allocation.
        if (size > rest_.size()) throw MsgpackFault{"it is truncated"};
        std::vector<Value> items;
        for (std::uint64_t i = 0; i < size; ++i) items.push_back(one(depth + 1));
        return make_array(arena_, items);
    }

    Value map(std::uint64_t size, unsigned depth) {
        if (size > rest_.size() / 2) throw MsgpackFault{"it is truncated"};
        HashBuilder out(arena_);
        for (std::uint64_t i = 0; i < size; ++i) {
            const Value key = one(depth + 1);
            const Value v = one(depth + 1);
            out.set(key.is_string() ? key : make_string(arena_, to_text(key)), v);
        }
        return out.build();
    }

    Value one(unsigned depth) {
        if (depth >= kMaxDepth) throw MsgpackFault{"it is nested too deeply"};
        const auto tag = static_cast<unsigned char>(take(1)[0]);
        if (tag < 0x80) return Value::integer(tag);
        if (tag < 0x90) return map(tag & 0x0fU, depth);
        if (tag < 0xa0) return array(tag & 0x0fU, depth);
        if (tag < 0xc0) return text(tag & 0x1fU);
        if (tag >= 0xe0) return Value::integer(static_cast<signed char>(tag));
        switch (tag) {
            case 0xc0: return Value::undef();
            case 0xc2: return Value::boolean(false);
            case 0xc3: return Value::boolean(true);
            case 0xc4:
            case 0xd9: return text(number(1));
            case 0xc5:
            case 0xda: return text(number(2));
            case 0xc6:
            case 0xdb: return text(number(4));
            case 0xca:
                return Value::floating(std::bit_cast<float>(static_cast<std::uint32_t>(number(4))));
            case 0xcb: return Value::floating(std::bit_cast<double>(number(8)));
            case 0xcc: return integer(number(1));
            case 0xcd: return integer(number(2));
            case 0xce: return integer(number(4));
            case 0xcf: return integer(number(8));
            case 0xd0: return Value::integer(static_cast<std::int8_t>(number(1)));
            case 0xd1: return Value::integer(static_cast<std::int16_t>(number(2)));
            case 0xd2: return Value::integer(static_cast<std::int32_t>(number(4)));
            case 0xd3: return Value::integer(static_cast<std::int64_t>(number(8)));
            case 0xdc: return array(number(2), depth);
            case 0xdd: return array(number(4), depth);
            case 0xde: return map(number(2), depth);
            case 0xdf: return map(number(4), depth);
            default: throw MsgpackFault{"it contains an extension type"};
        }
    }

    base::Arena& arena_;
    std::string_view rest_;
};

void put_big_endian(std::string& out, std::uint64_t n, int bytes) {
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
        out += static_cast<char>(n >> shift & 0xffU);
}

/// Writes the shortest header for a size. The `tiny` form contains the size in its low bits.
void put_packed_size(std::string& out, std::size_t size, unsigned tiny, std::size_t tiny_end,
                     unsigned one_byte, unsigned two_bytes) {
    if (size < tiny_end) {
        out += static_cast<char>(tiny | size);
    } else if (one_byte != 0 && size <= 0xff) {
        put_big_endian(out, one_byte, 1);
        put_big_endian(out, size, 1);
    } else if (size <= 0xffff) {
        put_big_endian(out, two_bytes, 1);
        put_big_endian(out, size, 2);
    } else {
        put_big_endian(out, two_bytes + 1, 1);
        put_big_endian(out, size, 4);
    }
}

void put_packed_integer(std::string& out, std::int64_t n) {
    const auto bits = static_cast<std::uint64_t>(n);
    if (n >= -32 && n < 128) return put_big_endian(out, bits, 1);
    const bool negative = n < 0;
    const auto fits = [&](int size) {
        const int width = 8 * size - (negative ? 1 : 0);
        return (negative ? ~bits : bits) >> width == 0;
    };
    unsigned tag = negative ? 0xd0 : 0xcc;
    int size = 1;
    for (; size < 8 && !fits(size); size *= 2) ++tag;
    put_big_endian(out, tag, 1);
    put_big_endian(out, bits, size);
}

void put_packed_text(std::string& out, std::string_view text) {
    put_packed_size(out, text.size(), 0xa0, 32, 0xd9, 0xda);
    out += text;
}

void write_packed(std::string& out, const Value& v) {
    base::step();
    if (v.is_undef()) {
        put_big_endian(out, 0xc0, 1);
    } else if (v.is(Kind::Boolean)) {
        put_big_endian(out, v.as_boolean() ? 0xc3 : 0xc2, 1);
    } else if (v.is(Kind::Integer)) {
        put_packed_integer(out, v.as_integer());
    } else if (v.is(Kind::Float)) {
        put_big_endian(out, 0xcb, 1);
        put_big_endian(out, std::bit_cast<std::uint64_t>(v.as_float()), 8);
    } else if (v.is_array()) {
        const auto items = v.as_array();
        put_packed_size(out, items.size(), 0x90, 16, 0, 0xdc);
        for (const auto& item : items) write_packed(out, item);
    } else if (v.is_hash()) {
        put_packed_size(out, v.as_hash().size(), 0x80, 16, 0, 0xde);
        for (const auto& [key, item] : v.as_hash()) {
            put_packed_text(out, key.is_string() ? key.as_string() : to_text(key));
            write_packed(out, item);
        }
    } else {
        put_packed_text(out, v.is_string() ? std::string(v.as_string()) : to_text(v));
    }
}

}  // namespace

base::Result<Value> parse_msgpack(base::Arena& arena, std::string_view bytes) {
    try {
        return MsgpackReader(arena, bytes).document();
    } catch (const MsgpackFault& e) {
        return base::failure(fmt::format("The MessagePack is malformed: {}", e.why));
    } catch (const base::PuppetError& e) {
        return base::failure(e.message());
    }
}

std::string to_msgpack(const Value& data) {
    std::string out;
    write_packed(out, data);
    return out;
}

}  // namespace bunraku::value
