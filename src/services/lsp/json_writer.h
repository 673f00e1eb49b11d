// SPDX-License-Identifier: Apache-2.0
// Writes JSON piece by piece, without building a document in memory.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "core/codec/json_text.h"
#include "services/lsp/text_position.h"

namespace bunraku::lsp {

/// Appends values, arrays and objects to a text and adds the commas. The caller closes what it
/// opens.
class JsonWriter {
public:
    JsonWriter& object() { return open('{'); }
    JsonWriter& end_object() { return close('}'); }
    JsonWriter& array() { return open('['); }
    JsonWriter& end_array() { return close(']'); }
    JsonWriter& key(std::string_view name) {
        separate();
        codec::append_json_string(out_, name);
        out_ += ':';
        first_ = true;
        return *this;
    }
    JsonWriter& string(std::string_view text) {
        separate();
        codec::append_json_string(out_, text);
        return *this;
    }
    JsonWriter& number(std::int64_t value) { return raw(std::to_string(value)); }
    JsonWriter& boolean(bool value) { return raw(value ? "true" : "false"); }
    JsonWriter& null() { return raw("null"); }
    /// Appends a text that already is JSON.
    JsonWriter& raw(std::string_view json) {
        separate();
        out_ += json;
        return *this;
    }
    JsonWriter& position(Position at) {
        return object().member("line", at.line).member("character", at.character).end_object();
    }
    JsonWriter& range(const Range& range) {
        return object()
            .key("start")
            .position(range.start)
            .key("end")
            .position(range.end)
            .end_object();
    }

    JsonWriter& member(std::string_view name, std::string_view text) {
        return key(name).string(text);
    }
    JsonWriter& member(std::string_view name, const char* text) { return key(name).string(text); }
    JsonWriter& member(std::string_view name, bool value) { return key(name).boolean(value); }
    template <std::integral Number>
        requires(!std::same_as<Number, bool>)
    JsonWriter& member(std::string_view name, Number value) {
        return key(name).number(static_cast<std::int64_t>(value));
    }
    JsonWriter& member(std::string_view name, const Range& value) { return key(name).range(value); }

    const std::string& text() const { return out_; }
    std::string take() { return std::move(out_); }

private:
    void separate() {
        if (!first_) out_ += ',';
        first_ = false;
    }
    JsonWriter& open(char bracket) {
        separate();
        out_ += bracket;
        first_ = true;
        return *this;
    }
    JsonWriter& close(char bracket) {
        out_ += bracket;
        first_ = false;
        return *this;
    }

    std::string out_;
    bool first_ = true;
};

}  // namespace bunraku::lsp
