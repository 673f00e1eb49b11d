// SPDX-License-Identifier: Apache-2.0
// Both forms are made from the PN text: the kind of each bracket determines the kind of its
// content.
#include "language/syntax/pn_format.h"

#include <vector>

#include "core/base/assert.h"

namespace bunraku::syntax {

namespace {

/// Splits PN into its tokens: brackets, strings, and words (names, keys, numbers).
template <class F>
void for_each_token(std::string_view pn, F&& f) {
    for (std::size_t i = 0; i < pn.size();) {
        const char c = pn[i];
        if (c == ' ') {
            ++i;
            continue;
        }
        std::size_t end = i + 1;
        if (c == '"') {
            while (end < pn.size() && pn[end] != '"') end += pn[end] == '\\' ? 2 : 1;
            ++end;
        } else if (std::string_view("()[]{}").find(c) == std::string_view::npos) {
            while (end < pn.size() &&
                   std::string_view(" ()[]{}").find(pn[end]) == std::string_view::npos)
                ++end;
        }
        end = end < pn.size() ? end : pn.size();
        BUNRAKU_ASSERT(end > i);
        f(pn.substr(i, end - i));
        i = end;
    }
}

/// Writes a PN string as JSON. Only octal escapes differ.
void json_string(std::string& out, std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\' || i + 1 >= text.size()) {
            out += text[i];
        } else if (text[i + 1] == 'o' && i + 4 < text.size()) {
            const int code =
                (text[i + 2] - '0') * 64 + (text[i + 3] - '0') * 8 + (text[i + 4] - '0');
            out += "\\u00";
            out += "0123456789abcdef"[(code >> 4) & 15];
            out += "0123456789abcdef"[code & 15];
            i += 4;
        } else {
            out += text[i];
            out += text[++i];
        }
    }
}

}  // namespace

std::string pn_to_json(std::string_view pn) {
    std::string out;
    bool first = true;     // True if the current list is still empty.
    bool is_name = false;  // True if the next word is the name of a call.
    for_each_token(pn, [&](std::string_view token) {
        const char c = token[0];
        if (c == ')' || c == ']' || c == '}') {
            out += c == ']' ? "]" : "]}";
            first = false;
            return;
        }
        if (!first) out += ',';
        first = false;
        if (c == '(' || c == '[' || c == '{') {
            out += c == '(' ? "{\"^\":[" : c == '{' ? "{\"#\":[" : "[";
            first = true;
            is_name = c == '(';
            return;
        }
        if (is_name) {
            out.append("\"").append(token).append("\"");
        } else if (c == '"') {
            json_string(out, token);
        } else if (c == ':') {
            out.append("\"").append(token.substr(1)).append("\"");
        } else {
            out += token == "nil" ? std::string_view("null") : token;
        }
        is_name = false;
    });
    return out;
}

std::string pn_to_pretty_json(std::string_view pn) {
    const std::string json = pn_to_json(pn);
    std::string out;
    std::size_t depth = 0;
    const auto line = [&] {
        out += '\n';
        out.append(depth * 2, ' ');
    };
    for (std::size_t i = 0; i < json.size(); ++i) {
        const char c = json[i];
        if (c == '"') {
            const auto from = i++;
            while (i < json.size() && json[i] != '"') i += json[i] == '\\' ? 2 : 1;
            out += json.substr(from, i - from + 1);
        } else if (c == '[' || c == '{') {
            out += c;
            if (i + 1 < json.size() && (json[i + 1] == ']' || json[i + 1] == '}')) {
                out += json[++i];
                continue;
            }
            ++depth;
            line();
        } else if (c == ']' || c == '}') {
            --depth;
            line();
            out += c;
        } else {
            out += c;
            if (c == ',') line();
            if (c == ':') out += ' ';
        }
    }
    return out;
}

std::string pn_indented(std::string_view pn) {
    std::string out;
    std::size_t depth = 0;
    bool joined =
        // True if the next token follows without a line break: the name of a call, or the value of
        // a key.
        true;
    bool is_name = false;
    for_each_token(pn, [&](std::string_view token) {
        const char c = token[0];
        if (c == ')' || c == ']' || c == '}') {
            --depth;
            out += c;
            joined = false;
            is_name = false;
            return;
        }
        if (!joined && !is_name) {
            out += '\n';
            out.append(depth * 2, ' ');
        }
        joined = false;
        out += token;
        if (c == '(' || c == '[' || c == '{') {
            ++depth;
            is_name = c == '(';
            return;
        }
        if (c == ':' && !is_name) {
            out += ' ';
            joined = true;
        }
        is_name = false;
    });
    return out;
}

}  // namespace bunraku::syntax
