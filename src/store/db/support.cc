// SPDX-License-Identifier: Apache-2.0
#include "store/db/support.h"

#include "core/base/arena.h"
#include "core/codec/hex.h"
#include "core/codec/json_text.h"
#include "core/codec/sha1.h"
#include "core/value/rich_data.h"
#include "resources/catalog/json_text.h"

namespace bunraku::store {

std::int64_t now_ms() {
    using namespace std::chrono;
    return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

std::string strings_to_json(const std::vector<std::string>& items) {
    std::string out = "[";
    for (const std::string& item : items) {
        if (out.size() > 1) out += ',';
        codec::append_json_string(out, item);
    }
    return out + "]";
}

std::vector<std::string> strings_from_json(std::string_view json) {
    std::vector<std::string> out;
    base::Arena arena(1024);
    auto data = value::parse_json(arena, json);
    if (!data || !data->is_array()) return out;
    for (const catalog::Value& item : data->as_array()) {
        if (item.is_string()) out.emplace_back(item.as_string());
    }
    return out;
}

std::string match_text(const catalog::Value& v) {
    std::string out;
    catalog::append_json_value(out, v, catalog::ValueForm::Stringified, true);
    if (out.size() > 200) out = "sha1:" + codec::to_hex(codec::sha1(out));
    return out;
}

}  // namespace bunraku::store
