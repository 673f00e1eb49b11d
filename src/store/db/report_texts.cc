// SPDX-License-Identifier: Apache-2.0
#include "store/db/report_texts.h"

#include <algorithm>
#include <zlib.h>

#include "core/base/assert.h"
#include "core/base/uninitialized.h"
#include "core/codec/hex.h"

namespace bunraku::store {

namespace {

constexpr char kGap = '\x01', kPart = '\x02';
/// The characters of numbers and times, by their four bits. The last one ends a number.
constexpr std::string_view kCharacters = "0123456789.-:Te,";
/// Texts above this size are damaged: a report has at most 64 MiB.
constexpr std::size_t kMaxText = 256U << 20;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Returns the end of the number or time that begins at `i` inside a string.
std::size_t end_of_word(std::string_view json, std::size_t i) {
    std::size_t end = i;
    for (; i < json.size(); ++i) {
        if (is_digit(json[i])) {
            end = i + 1;
        } else if (json[i] != '.' && json[i] != '-' && json[i] != ':' && json[i] != 'T') {
            break;
        }
    }
    return end;
}

/// Returns the end of the JSON number that begins at `i`.
std::size_t end_of_number(std::string_view json, std::size_t i) {
    return std::min(json.find_first_of(",]} \n", i), json.size());
}

bool is_packable(std::string_view number) {
    return number.find_first_not_of("0123456789.-e") == std::string_view::npos;
}

}  // namespace

void ReportForm::gap(std::string_view number) {
    BUNRAKU_ASSERT(!number.empty());
    form_ += kGap;
    numbers_ += number;
    numbers_ += ',';
}

bool ReportForm::add(std::string_view json, Numbers numbers) {
    for (char c : json) {
        if (c == kGap || c == kPart) return false;
    }
    if (parts_++ > 0) form_ += kPart;
    bool text = false;
    std::size_t i = 0;
    while (i < json.size()) {
        const char c = json[i];
        std::size_t end = i;
        if (text && is_digit(c) && numbers == Numbers::Texts) {
            end = end_of_word(json, i);
            // The time zone of a machine does not change.
            if (i > 0 && json[i - 1] == '+') {
                form_ += json.substr(i, end - i);
                i = end;
                continue;
            }
        } else if (!text && (is_digit(c) || c == '-')) {
            end = end_of_number(json, i);
            const std::string_view number = json.substr(i, end - i);
            const bool varies = numbers != Numbers::Fractions ||
                                number.find_first_of(".e") != std::string_view::npos;
            if (!varies || !is_packable(number)) {
                form_ += number;
                i = end;
                continue;
            }
        }
        if (end > i) {
            gap(json.substr(i, end - i));
            i = end;
            continue;
        }
        if (c == '"') text = !text;
        form_ += c;
        // An escaped character is part of the form, with its digits.
        if (text && c == '\\' && i + 1 < json.size()) {
            const std::size_t length = json[i + 1] == 'u' ? 5 : 1;
            form_ += json.substr(i + 1, length);
            i += length;
        }
        ++i;
    }
    return true;
}

std::string ReportForm::packed() const {
    std::string out;
    for (std::size_t i = 0; i < numbers_.size(); i += 2) {
        const std::size_t high = kCharacters.find(numbers_[i]);
        // The last number needs no end, but a byte has room for two characters.
        const std::size_t low =
            i + 1 < numbers_.size() ? kCharacters.find(numbers_[i + 1]) : kCharacters.size() - 1;
        BUNRAKU_ASSERT(high < kCharacters.size() && low < kCharacters.size());
        out += static_cast<char>(high << 4 | low);
    }
    return out;
}

std::string filled_report_part(std::string_view form, std::string_view packed, std::size_t part) {
    std::string out;
    std::size_t at = 0;  // in half bytes
    auto next = [&](bool wanted) {
        for (; at < packed.size() * 2; ++at) {
            const auto byte = static_cast<unsigned char>(packed[at / 2]);
            const char c = kCharacters[at % 2 == 0 ? byte >> 4 : byte & 15];
            if (c == ',') break;
            if (wanted) out += c;
        }
        ++at;
    };
    std::size_t now = 0;
    for (char c : form) {
        if (c == kPart) {
            if (++now > part) break;
        } else if (c == kGap) {
            next(now == part);
        } else if (now == part) {
            out += c;
        }
    }
    return out;
}

std::string uuid_bytes(std::string_view text) {
    std::string digits(text);
    std::erase(digits, '-');
    return codec::from_hex(digits).value_or("");
}

std::string compressed_report_text(std::string_view text) {
    uLongf size = compressBound(text.size());
    std::string out(size, '\0');
    const int rc = compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                             reinterpret_cast<const Bytef*>(text.data()), text.size(), 6);
    BUNRAKU_ALWAYS_ASSERT(rc == Z_OK && size <= out.size());
    out.resize(size);
    return out;
}

std::string decompressed_report_text(std::string_view compressed) {
    z_stream z{};
    if (inflateInit(&z) != Z_OK) return {};
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));
    z.avail_in = static_cast<uInt>(compressed.size());
    std::string out;
    int rc = Z_OK;
    while (rc == Z_OK && out.size() < kMaxText) {
        char piece[16384] BUNRAKU_UNINITIALIZED;
        z.next_out = reinterpret_cast<Bytef*>(piece);
        z.avail_out = sizeof piece;
        rc = inflate(&z, Z_NO_FLUSH);
        out.append(piece, sizeof piece - z.avail_out);
    }
    inflateEnd(&z);
    if (rc != Z_STREAM_END) out.clear();
    return out;
}

}  // namespace bunraku::store
