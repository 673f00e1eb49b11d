// SPDX-License-Identifier: Apache-2.0
#include "core/value/yaml_document.h"

#include "core/base/work_limit.h"
#include "core/codec/yaml_writer.h"
#include "core/value/rich_data.h"

namespace bunraku::value {

namespace {

void write(codec::YamlWriter& writer, const Value& v) {
    base::step();
    if (v.is_array()) {
        writer.start_sequence();
        for (const Value& item : v.as_array()) write(writer, item);
        writer.end_sequence();
    } else if (v.is_hash()) {
        writer.start_mapping();
        for (const auto& e : v.as_hash()) {
            write(writer, e.key);
            write(writer, e.value);
        }
        writer.end_mapping();
    } else if (v.is_string()) {
        writer.string(v.as_string());
    } else {
        writer.plain(v.is_undef() ? "" : to_json(v));
    }
}

}  // namespace

std::string yaml_document(const Value& data, std::string_view heading) {
    codec::YamlWriter writer;
    write(writer, data);
    std::string text = writer.finish();
    constexpr std::string_view kStart = "---";
    if (text.starts_with(kStart)) text.replace(0, kStart.size(), heading);
    return text;
}

}  // namespace bunraku::value
