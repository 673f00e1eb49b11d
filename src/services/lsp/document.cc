// SPDX-License-Identifier: Apache-2.0
#include "services/lsp/document.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/value/hash_access.h"

namespace bunraku::lsp {

namespace {

std::optional<std::uint32_t> read_unsigned(const value::Value* json) {
    if (!json || !json->is_integer() || json->as_integer() < 0) return std::nullopt;
    return static_cast<std::uint32_t>(
        std::min<std::int64_t>(json->as_integer(), std::numeric_limits<std::int32_t>::max() - 1));
}

}  // namespace

std::optional<Position> read_position(const value::Value* json) {
    if (!json) return std::nullopt;
    const auto line = read_unsigned(value::at(*json, "line"));
    const auto character = read_unsigned(value::at(*json, "character"));
    if (!line || !character) return std::nullopt;
    return Position{*line, *character};
}

std::optional<Range> read_range(const value::Value* json) {
    if (!json) return std::nullopt;
    const auto start = read_position(value::at(*json, "start"));
    const auto end = read_position(value::at(*json, "end"));
    if (!start || !end) return std::nullopt;
    return Range{*start, *end};
}

Document::Document(std::string uri, std::string path, std::int64_t version, std::string text)
    : uri_(std::move(uri)),
      path_(std::move(path)),
      version_(version),
      text_(std::move(text)),
      lines_(text_) {}

base::Result<void> Document::apply(const value::Value& change, Encoding encoding) {
    const auto* text = value::at(change, "text");
    if (!text || !text->is_string()) return base::failure("A change has no text");
    const std::string_view added = text->as_string();
    if (text_.size() + added.size() > kMaxText) return base::failure("The document is too large");
    const auto* range_json = value::at(change, "range");
    if (!range_json || range_json->is_undef()) {
        text_ = added;
        lines_ = LineIndex(text_);
        return {};
    }
    const auto range = read_range(range_json);
    if (!range) return base::failure("The range of a change is not valid");
    const std::uint32_t first = lines_.offset(text_, range->start, encoding);
    const std::uint32_t second = lines_.offset(text_, range->end, encoding);
    const std::uint32_t from = std::min(first, second), to = std::max(first, second);
    text_.replace(from, to - from, added);
    lines_.replace(text_, from, to - from, static_cast<std::uint32_t>(added.size()));
    return {};
}

}  // namespace bunraku::lsp
