// SPDX-License-Identifier: Apache-2.0
#include "resources/apply/types/file/mode.h"

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/diagnostic.h"
#include "core/base/number.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

bool clause_ok(std::string_view clause) {
    std::size_t i = clause.find_first_not_of("ugoa");
    if (i == std::string_view::npos) return false;
    if (clause[i] != '-' && clause[i] != '=' && clause[i] != '+') return false;
    return clause.find_first_not_of("-=+rstwxXugo", i) == std::string_view::npos;
}

std::uint32_t bit_of(char c) {
    BUNRAKU_ASSERT(c == 'r' || c == 'w' || c == 'x');
    return c == 'r' ? 4 : c == 'w' ? 2 : 1;
}

}  // namespace

bool octal_mode(std::string_view t) {
    if (t.empty() || t.find_first_not_of("01234567") != std::string_view::npos) return false;
    return t.size() <= 4 || (t.size() == 5 && t[0] == '0');
}

bool valid_mode(std::string_view text) {
    if (octal_mode(text)) return true;
    if (text.empty()) return false;
    while (true) {
        std::size_t comma = text.find(',');
        if (!clause_ok(text.substr(0, comma))) return false;
        if (comma == std::string_view::npos) return true;
        text.remove_prefix(comma + 1);
    }
}

std::string normalized_mode(std::string_view text) {
    if (!octal_mode(text)) return std::string(text);
    std::size_t start = text.find_first_not_of('0');
    return start == std::string_view::npos ? "0" : std::string(text.substr(start));
}

std::string octal_text(std::uint32_t mode) {
    std::string out = "0000";
    for (std::size_t i = out.size(); i-- > 0; mode >>= 3)
        out[i] = static_cast<char>('0' + (mode & 7));
    BUNRAKU_ASSERT(octal_mode(out));
    return out;
}

std::string shown_mode(std::string_view text) {
    std::string out(text);
    if (octal_mode(text) && out.size() < 4) out.insert(0, 4 - out.size(), '0');
    BUNRAKU_ASSERT(out.size() >= text.size());
    return out;
}

std::uint32_t apply_mode(std::string_view change, std::uint32_t current, bool directory) {
    if (change.empty()) throw PuppetError("An empty mode string is illegal");
    if (change.find_first_not_of("01234567") == std::string_view::npos) {
        const auto mode = base::parse_integer<std::uint32_t>(change, 8);
        if (!mode || *mode > 07777) throw PuppetError("The mode is out of range");
        return *mode;
    }
    if (change.find_first_not_of("0123456789") == std::string_view::npos) {
        throw PuppetError("Numeric modes must be in octal, not decimal!");
    }
    // Index 0 is the user, 1 the group, 2 other. The special bits are separate.
    std::uint32_t original[3] = {current >> 6 & 7, current >> 3 & 7, current & 7};
    std::uint32_t final_mode[3] = {original[0], original[1], original[2]};
    std::uint32_t special = current >> 9 & 7;
    bool any_x = (current & 0111) != 0;
    constexpr std::string_view kWho = "ugo";

    std::string_view rest = change;
    while (true) {
        std::size_t comma = rest.find(',');
        std::string_view part = rest.substr(0, comma);
        auto fail = [&](std::string_view what) {
            std::string at = part == change ? "" : fmt::format(" at \"{}\"", part);
            throw PuppetError(fmt::format("{}{} in symbolic mode \"{}\"", what, at, change));
        };
        std::size_t dsl_at = part.find_first_not_of("ugoa");
        if (dsl_at == std::string_view::npos ||
            std::string_view("-+=").find(part[dsl_at]) == std::string_view::npos) {
            fail("Missing action");
        }
        std::string_view to = part.substr(0, dsl_at);
        std::string_view dsl = part.substr(dsl_at);
        std::uint32_t snapshot[3] = {final_mode[0], final_mode[1], final_mode[2]};
        for (std::size_t who = 0; who < 3; ++who) {
            bool applies = to.empty() || to.find('a') != std::string_view::npos ||
                           to.find(kWho[who]) != std::string_view::npos;
            if (!applies) continue;
            std::uint32_t v = snapshot[who];
            char action = '!';
            auto act = [&](std::uint32_t m, std::uint32_t bits) {
                if (action == '!') fail("Missing operation (-, =, or +)");
                return action == '-' ? m & ~bits : m | bits;
            };
            for (char op : dsl) {
                switch (op) {
                    case '-':
                    case '+':
                    case '=':
                        action = op;
                        if (op == '=') v = 0;
                        break;
                    case 'u': v = act(v, snapshot[0]); break;
                    case 'g': v = act(v, snapshot[1]); break;
                    case 'o': v = act(v, snapshot[2]); break;
                    case 'r':
                    case 'w':
                    case 'x': v = act(v, bit_of(op)); break;
                    case 'X':
                        if (action != '+') fail("X only works with the '+' operator");
                        if (directory || any_x) v = act(v, 1);
                        break;
                    case 't': special = act(special, 1); break;
                    case 's': special = act(special, who == 0 ? 4 : who == 1 ? 2 : 1); break;
                    default: fail("Unknown operation");
                }
            }
            final_mode[who] = v;
        }
        if (comma == std::string_view::npos) break;
        rest.remove_prefix(comma + 1);
    }
    BUNRAKU_ASSERT(special <= 7 && final_mode[0] <= 7 && final_mode[1] <= 7 && final_mode[2] <= 7);
    return special << 9 | final_mode[0] << 6 | final_mode[1] << 3 | final_mode[2];
}

}  // namespace bunraku::apply
