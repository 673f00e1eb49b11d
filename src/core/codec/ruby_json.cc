// SPDX-License-Identifier: Apache-2.0
#include "core/codec/ruby_json.h"

#include <cctype>
#include <cstring>
#include <fmt/format.h>

namespace bunraku::codec {
namespace {

constexpr std::size_t kFail = std::string_view::npos;

/// Follows the structure of Ruby's parser. Objects and values fail silently, and arrays report an
/// error at their element. An error outside arrays is reported at the start of the document.
class Check {
public:
    explicit Check(std::string_view text) : text_(text) {}

    std::string run(const std::string& otherwise) {
        std::size_t at = skip(0);
        if (at == text_.size()) return "JSON::ParserError";
        const std::size_t end = value(at, 0);
        if (!error_.empty()) return error_;
        if (end == kFail) return message(859, at);
        at = skip(end);
        return at == text_.size() ? otherwise : message(859, at);
    }

private:
    std::string message(int line, std::size_t at) {
        return fmt::format("{}: unexpected token at '{}'", line, text_.substr(at));
    }
    std::size_t complain(int line, std::size_t at) {
        if (error_.empty()) error_ = message(line, at);
        return kFail;
    }

    std::size_t skip(std::size_t i) const {
        while (i < text_.size()) {
            if (std::strchr(" \t\r\n", text_[i]) && text_[i] != 0) {
                ++i;
            } else if (text_.substr(i).starts_with("/*")) {
                const auto end = text_.find("*/", i + 2);
                if (end == kFail) return i;
                i = end + 2;
            } else if (text_.substr(i).starts_with("//")) {
                const auto end = text_.find('\n', i);
                if (end == kFail) return i;
                i = end + 1;
            } else {
                break;
            }
        }
        return i;
    }

    std::size_t value(std::size_t i, int depth) {
        if (i >= text_.size()) return kFail;
        if (depth > 100) {
            if (error_.empty()) error_ = fmt::format("nesting of {} is too deep", depth);
            return kFail;
        }
        for (std::string_view word : {"null", "true", "false"}) {
            if (text_.substr(i).starts_with(word)) return i + word.size();
        }
        if (text_.substr(i).starts_with("NaN")) return complain(225, i);
        if (text_.substr(i).starts_with("Infinity")) return complain(233, i);
        switch (text_[i]) {
            case '"': return string(i);
            case '[': return array(i, depth + 1);
            case '{': return object(i, depth + 1);
            default: return number(i);
        }
    }

    std::size_t string(std::size_t i) const {
        for (++i; i < text_.size(); ++i) {
            if (text_[i] == '"') return i + 1;
            if (static_cast<unsigned char>(text_[i]) < 0x20) return kFail;
            if (text_[i] != '\\') continue;
            ++i;
            if (i >= text_.size() || text_[i] != 'u') continue;
            for (int digit = 0; digit < 4; ++digit)
                if (++i >= text_.size() || !std::isxdigit(static_cast<unsigned char>(text_[i])))
                    return kFail;
        }
        return kFail;
    }

    std::size_t number(std::size_t i) const {
        const std::size_t start = i;
        if (i < text_.size() && text_[i] == '-') ++i;
        const std::size_t digits = i;
        while (i < text_.size() && std::isdigit(static_cast<unsigned char>(text_[i]))) ++i;
        if (i == digits) return kFail;
        if (text_[digits] == '0' && i > digits + 1) return kFail;
        if (i + 1 < text_.size() && text_[i] == '.' &&
            std::isdigit(static_cast<unsigned char>(text_[i + 1]))) {
            for (++i; i < text_.size() && std::isdigit(static_cast<unsigned char>(text_[i]));) ++i;
        }
        if (i < text_.size() && (text_[i] == 'e' || text_[i] == 'E')) {
            std::size_t k = i + 1;
            if (k < text_.size() && (text_[k] == '+' || text_[k] == '-')) ++k;
            if (k < text_.size() && std::isdigit(static_cast<unsigned char>(text_[k]))) {
                while (k < text_.size() && std::isdigit(static_cast<unsigned char>(text_[k]))) ++k;
                i = k;
            }
        }
        return i == start ? kFail : i;
    }

    std::size_t array(std::size_t i, int depth) {
        i = skip(i + 1);
        if (i < text_.size() && text_[i] == ']') return i + 1;
        while (true) {
            const std::size_t end = value(i, depth);
            if (!error_.empty()) return kFail;
            if (end == kFail) return complain(451, i);
            i = skip(end);
            if (i < text_.size() && text_[i] == ']') return i + 1;
            if (i >= text_.size() || text_[i] != ',') return complain(451, i);
            i = skip(i + 1);
        }
    }

    std::size_t object(std::size_t i, int depth) {
        i = skip(i + 1);
        if (i < text_.size() && text_[i] == '}') return i + 1;
        while (true) {
            if (i >= text_.size() || text_[i] != '"') return kFail;
            i = string(i);
            if (i == kFail) return kFail;
            i = skip(i);
            if (i >= text_.size() || text_[i] != ':') return kFail;
            i = value(skip(i + 1), depth);
            if (i == kFail) return kFail;
            i = skip(i);
            if (i < text_.size() && text_[i] == '}') return i + 1;
            if (i >= text_.size() || text_[i] != ',') return kFail;
            i = skip(i + 1);
        }
    }

    std::string_view text_;
    std::string error_;
};

}  // namespace

std::string json_error(std::string_view text, const std::string& otherwise) {
    return Check(text).run(otherwise);
}

std::string without_json_comments(std::string_view text) {
    std::string out(text);
    bool quoted = false;
    for (std::size_t i = 0; i < out.size(); ++i) {
        if (quoted) {
            if (out[i] == '\\')
                ++i;
            else if (out[i] == '"')
                quoted = false;
            continue;
        }
        if (out[i] == '"') quoted = true;
        if (out[i] != '/' || i + 1 >= out.size()) continue;
        const bool block = out[i + 1] == '*';
        if (!block && out[i + 1] != '/') continue;
        auto end = block ? out.find("*/", i + 2) : out.find('\n', i);
        end = end == std::string::npos ? out.size() : block ? end + 2 : end;
        for (; i < end; ++i) {
            if (out[i] != '\n') out[i] = ' ';
        }
        --i;
    }
    return out;
}

}  // namespace bunraku::codec
