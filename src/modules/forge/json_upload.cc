// SPDX-License-Identifier: Apache-2.0
#include "modules/forge/json_upload.h"

#include <array>
#include <cstdint>

#include "core/base/arena.h"
#include "core/value/rich_data.h"

namespace bunraku::forge {

namespace {

constexpr std::array<signed char, 256> base64_table() {
    std::array<signed char, 256> table{};
    for (auto& t : table) t = -1;
    constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (std::size_t i = 0; i < kDigits.size(); ++i)
        table[static_cast<unsigned char>(kDigits[i])] = static_cast<signed char>(i);
    return table;
}
constexpr auto kBase64 = base64_table();

/// Returns the position of the closing quote of the string whose content begins at `at`.
std::size_t end_of_string(std::string_view json, std::size_t at) {
    for (; at < json.size(); ++at) {
        if (json[at] == '"') return at;
        if (json[at] == '\\') ++at;
    }
    return std::string_view::npos;
}

/// Finds the last string member "file" of the outermost object. Sets the range of its text, without
/// the quotes.
bool find_file(std::string_view json, std::size_t* from, std::size_t* to) {
    int depth = 0;
    bool found = false, is_key = false, is_file = false;
    for (std::size_t at = 0; at < json.size(); ++at) {
        switch (json[at]) {
            case '{':
            case '[':
                is_key = ++depth == 1;
                is_file = false;
                break;
            case '}':
            case ']':
                --depth;
                is_key = is_file = false;
                break;
            case ',':
                is_key = depth == 1;
                is_file = false;
                break;
            case '"': {
                const std::size_t end = end_of_string(json, at + 1);
                if (end == std::string_view::npos) return false;
                if (is_key) {
                    is_file = json.substr(at + 1, end - at - 1) == "file";
                    // If the member is repeated, the last one counts.
                    if (is_file) found = false;
                    is_key = false;
                } else if (is_file) {
                    *from = at + 1;
                    *to = end;
                    found = true;
                }
                at = end;
                break;
            }
            default: break;
        }
    }
    return found;
}

/// Decodes a JSON string with base64 content in place. Returns the decoded size.
std::optional<std::size_t> decode_in_place(char* text, std::size_t size) {
    std::uint32_t bits = 0;
    int count = 0, padding = 0;
    std::size_t out = 0;
    for (std::size_t i = 0; i < size; ++i) {
        char c = text[i];
        if (static_cast<unsigned char>(c) < 0x20) return std::nullopt;  // invalid in JSON
        if (c == '\\') {
            if (++i == size) return std::nullopt;
            if (text[i] == '/') {
                c = '/';
            } else if (text[i] == 'n' || text[i] == 'r' || text[i] == 't') {
                continue;
            } else if (text[i] == 'u' && i + 4 < size) {
                // Some encoders escape "/", "+", "=" and line breaks this way.
                unsigned code = 0;
                for (int k = 1; k <= 4; ++k) {
                    const char d = text[i + static_cast<std::size_t>(k)];
                    const int digit = d >= '0' && d <= '9'   ? d - '0'
                                      : d >= 'a' && d <= 'f' ? d - 'a' + 10
                                      : d >= 'A' && d <= 'F' ? d - 'A' + 10
                                                             : -1;
                    if (digit < 0) return std::nullopt;
                    code = code * 16 + static_cast<unsigned>(digit);
                }
                i += 4;
                if (code > 0x7f) return std::nullopt;
                c = static_cast<char>(code);
            } else {
                return std::nullopt;
            }
        }
        if (c == '\n' || c == '\r' || c == ' ' || c == '\t') continue;
        if (c == '=') {
            ++padding;
            continue;
        }
        const int digit = kBase64[static_cast<unsigned char>(c)];
        if (digit < 0 || padding > 0) return std::nullopt;
        bits = bits << 6 | static_cast<std::uint32_t>(digit);
        if (++count < 4) continue;
        text[out++] = static_cast<char>(bits >> 16);
        text[out++] = static_cast<char>(bits >> 8);
        text[out++] = static_cast<char>(bits);
        bits = 0;
        count = 0;
    }
    const bool whole = count == 0 && padding == 0;
    if (!whole && (count < 2 || count + padding != 4)) return std::nullopt;
    if (count >= 2) text[out++] = static_cast<char>(bits >> (count == 2 ? 4 : 10));
    if (count == 3) text[out++] = static_cast<char>(bits >> 2);
    return out;
}

}  // namespace

std::optional<std::string_view> unpack_json_upload(std::string& body) {
    std::size_t from = 0, to = 0;
    if (!find_file(body, &from, &to)) return std::nullopt;
    // The rest must be valid JSON. It is parsed with an empty string in place of the file.
    std::string rest = body.substr(0, from);
    rest.append(body, to);
    base::Arena arena;
    auto json = value::parse_json(arena, rest);
    if (!json || !json->is_hash()) return std::nullopt;
    const value::Value* file = json->as_hash().find("file");
    if (!file || !file->is_string()) return std::nullopt;
    auto size = decode_in_place(body.data() + from, to - from);
    if (!size) return std::nullopt;
    return std::string_view(body).substr(from, *size);
}

}  // namespace bunraku::forge
