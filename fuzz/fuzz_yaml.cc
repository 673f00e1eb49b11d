// SPDX-License-Identifier: Apache-2.0
// Data files: for any bytes, the result is a document or the error message of Psych. A document
// does not change when it is written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fmt/format.h>
#include <string_view>

#include "core/codec/yaml.h"
#include "core/codec/yaml_outline.h"
#include "core/codec/yaml_writer.h"

using namespace bunraku::codec;
using Kind = YamlNode::Kind;

/// The writer supports only collections and strings. Other values are written as strings.
static void write(YamlWriter& out, const YamlNode& n) {
    switch (n.kind) {
        case Kind::Sequence:
            out.start_sequence();
            for (const auto& item : n.items) write(out, item);
            out.end_sequence();
            break;
        case Kind::Mapping:
            out.start_mapping();
            for (const auto& [key, value] : n.entries) {
                write(out, key);
                write(out, value);
            }
            out.end_mapping();
            break;
        case Kind::Null: out.plain(""); break;
        case Kind::Boolean: out.plain(n.boolean ? "true" : "false"); break;
        case Kind::Integer: out.plain(fmt::format("{}", n.integer)); break;
        // The writer treats symbols, dates and times as strings. It quotes them so that they are
        // read as strings again.
        default: out.string(n.text); break;
    }
}

static bool same(const YamlNode& a, const YamlNode& b) {
    if (a.kind == Kind::Float) return b.kind == Kind::String;
    if (a.kind != b.kind || a.boolean != b.boolean || a.integer != b.integer || a.text != b.text)
        return false;
    if (a.items.size() != b.items.size() || a.entries.size() != b.entries.size()) return false;
    for (std::size_t i = 0; i < a.items.size(); i++)
        if (!same(a.items[i], b.items[i])) return false;
    for (std::size_t i = 0; i < a.entries.size(); i++)
        if (!same(a.entries[i].second, b.entries[i].second)) return false;
    return true;
}

/// Reports whether all keys are different when they are written as strings. Documents with equal
/// keys are not suitable for this test.
static bool plain_keys(const YamlNode& n) {
    for (const auto& item : n.items)
        if (!plain_keys(item)) return false;
    for (const auto& [key, value] : n.entries)
        if (key.kind != Kind::String || key.symbol || key.date || key.time || !plain_keys(value))
            return false;
    return true;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto outline = outline_yaml(text);
    for (const auto& scalar : outline.scalars)
        if (scalar.parent >= 0 && !outline.scalars[static_cast<std::size_t>(scalar.parent)].key)
            std::abort();
    auto first = parse_yaml(text, "f.yaml");
    if (!first || !plain_keys(*first)) return 0;
    YamlWriter out;
    write(out, *first);
    auto second = parse_yaml(out.finish(), "f.yaml");
    if (!second || !same(*first, *second)) std::abort();
    return 0;
}
