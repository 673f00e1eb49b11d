// SPDX-License-Identifier: Apache-2.0
// Facter's default output format, which users also store in files: names without quotes, one
// "name => value" per line, otherwise JSON (Facter 4.3's legacy formatter).
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/value/rich_data.h"
#include "resources/facts/context.h"
#include "resources/facts/documents.h"

namespace bunraku::facts {
namespace {

constexpr std::string_view kArrow = " => ";
constexpr int kMaxDepth = 200;

class FacterText {
public:
    FacterText(base::Arena& arena, std::string_view text)
        : arena_(arena), lines_(split_lines(text)) {}

    base::Result<Value> facts() {
        HashBuilder out(arena_);
        while (at_ < lines_.size()) {
            const std::string_view line = trim(lines_[at_++]);
            if (line.empty()) continue;
            const auto arrow = line.find(kArrow);
            if (arrow == std::string_view::npos) return unexpected(line);
            const std::string_view text = line.substr(arrow + kArrow.size());
            // Outside collections, strings have no quotes, so "6.18" may be a string or a number.
            // In Facter's own facts it is a string.
            BUNRAKU_ASSERT(!text.empty());
            Value v = text == "true"    ? Value::boolean(true)
                      : text == "false" ? Value::boolean(false)
                                        : value::make_string(arena_, text);
            if (text[0] == '{' || text[0] == '[') v = BUNRAKU_TRY(value_of(text, 0));
            out.set(value::make_string(arena_, line.substr(0, arrow)), v);
        }
        return out.build();
    }

private:
    std::unexpected<base::Error> unexpected(std::string_view line) const {
        return base::failure(fmt::format("unexpected '{}' at line {}", line, at_));
    }

    base::Result<Value> value_of(std::string_view text, int depth) {
        BUNRAKU_ASSERT(depth <= kMaxDepth + 1 && at_ > 0 && at_ <= lines_.size());
        if (depth > kMaxDepth) return base::failure("nested too deeply");
        if (text.ends_with(',')) text.remove_suffix(1);
        if (text == "{") return hash(depth);
        if (text == "[") return list(depth);
        auto scalar = value::parse_json(arena_, text);
        if (!scalar) return unexpected(text);
        return scalar;
    }

    base::Result<Value> hash(int depth) {
        HashBuilder out(arena_);
        while (at_ < lines_.size()) {
            const std::string_view line = trim(lines_[at_++]);
            if (line == "}" || line == "},") return out.build();
            if (line.empty()) continue;
            const auto arrow = line.find(kArrow);
            if (arrow == std::string_view::npos) return unexpected(line);
            const Value v = BUNRAKU_TRY(value_of(line.substr(arrow + kArrow.size()), depth + 1));
            out.set(value::make_string(arena_, line.substr(0, arrow)), v);
        }
        return base::failure("unterminated hash");
    }

    base::Result<Value> list(int depth) {
        std::vector<Value> items;
        while (at_ < lines_.size()) {
            const std::string_view line = trim(lines_[at_++]);
            if (line == "]" || line == "],") return value::make_array(arena_, items);
            if (!line.empty()) items.push_back(BUNRAKU_TRY(value_of(line, depth + 1)));
        }
        return base::failure("unterminated list");
    }

    base::Arena& arena_;
    std::vector<std::string_view> lines_;
    std::size_t at_ = 0;
};

}  // namespace

base::Result<Value> parse_facter_text(base::Arena& arena, std::string_view text) {
    return FacterText(arena, text).facts();
}

}  // namespace bunraku::facts
