// SPDX-License-Identifier: Apache-2.0
#include "store/db/queue_format.h"

#include <array>
#include <string.h>

#if defined(__x86_64__)
#include <nmmintrin.h>

#include "core/base/assert.h"
#endif

namespace bunraku::store::queue_format {

namespace {

constexpr std::array<std::uint32_t, 256> kTable = [] {
    std::array<std::uint32_t, 256> out{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t c = i;
        for (int k = 0; k < 8; ++k) c = c & 1 ? c >> 1 ^ 0x82f63b78U : c >> 1;
        out[i] = c;
    }
    return out;
}();

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t crc_hardware(std::string_view bytes,
                                                             std::uint32_t crc) {
    std::uint64_t c = crc;
    const char* p = bytes.data();
    std::size_t n = bytes.size();
    for (; n >= 8; n -= 8, p += 8) {
        std::uint64_t word;
        memcpy(&word, p, 8);
        c = _mm_crc32_u64(c, word);
    }
    auto out = static_cast<std::uint32_t>(c);
    for (; n > 0; --n, ++p) out = _mm_crc32_u8(out, static_cast<unsigned char>(*p));
    return out;
}
#endif

template <class T>
void put(std::string& out, T n) {
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        out += static_cast<char>(static_cast<std::uint64_t>(n) >> (8 * i));
    }
}

template <class T>
T get(std::string_view bytes, std::size_t at) {
    BUNRAKU_ASSERT(at + sizeof(T) <= bytes.size());
    std::uint64_t n = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        n |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
    }
    return static_cast<T>(n);
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes, std::uint32_t crc) {
    crc = ~crc;
#if defined(__x86_64__)
    static const bool kHardware = __builtin_cpu_supports("sse4.2");
    if (kHardware) return ~crc_hardware(bytes, crc);
#endif
    for (char b : bytes) crc = kTable[(crc ^ static_cast<unsigned char>(b)) & 0xff] ^ crc >> 8;
    return ~crc;
}

std::string segment_header() {
    std::string out(kSegmentMagic);
    put(out, kVersion);
    put(out, std::uint32_t{0});
    BUNRAKU_ASSERT(out.size() == kSegmentHeader);
    return out;
}

std::string encode(const Record& r, std::string_view certname) {
    BUNRAKU_ALWAYS_ASSERT(certname.size() <= kMaxCertname && r.body_size <= kMaxBody);
    std::string out;
    out.reserve(kRecordHeader + certname.size());
    put(out, kRecordMagic);
    put(out, static_cast<std::uint8_t>(r.type));
    put(out, r.command);
    put(out, r.version);
    put(out, static_cast<std::uint32_t>(certname.size()));
    put(out, r.body_size);
    put(out, r.id);
    put(out, r.received);
    put(out, r.producer_timestamp);
    put(out, r.body_crc);
    put(out, crc32c(certname, crc32c(out)));
    BUNRAKU_ASSERT(out.size() == kRecordHeader);
    out += certname;
    return out;
}

std::uint32_t certname_size(std::string_view header) {
    if (header.size() < kRecordHeader || get<std::uint32_t>(header, 0) != kRecordMagic) {
        return UINT32_MAX;
    }
    return get<std::uint32_t>(header, 8);
}

bool decode(std::string_view bytes, Record* r) {
    std::uint32_t name = certname_size(bytes);
    if (name > kMaxCertname || bytes.size() < kRecordHeader + name) return false;
    std::string_view certname = bytes.substr(kRecordHeader, name);
    if (get<std::uint32_t>(bytes, 44) != crc32c(certname, crc32c(bytes.substr(0, 44)))) {
        return false;
    }
    r->type = static_cast<RecordType>(bytes[4]);
    r->command = get<std::uint8_t>(bytes, 5);
    r->version = get<std::uint16_t>(bytes, 6);
    r->certname_size = name;
    r->body_size = get<std::uint32_t>(bytes, 12);
    r->id = get<std::uint64_t>(bytes, 16);
    r->received = get<std::int64_t>(bytes, 24);
    r->producer_timestamp = get<std::int64_t>(bytes, 32);
    r->body_crc = get<std::uint32_t>(bytes, 40);
    return r->body_size <= kMaxBody;
}

}  // namespace bunraku::store::queue_format
