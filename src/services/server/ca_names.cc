// SPDX-License-Identifier: Apache-2.0
#include "services/server/ca_names.h"

#include "core/base/arena.h"
#include "core/value/rich_data.h"

namespace bunraku::server {

CaNameList read_ca_names(std::string_view body) {
    CaNameList out;
    base::Arena arena;
    auto document = value::parse_json(arena, body);
    if (!document) return out;
    out.is_json = true;
    if (!document->is_hash()) return out;
    const auto* async = document->as_hash().find("async");
    out.async = async && async->kind() == value::Kind::Boolean && async->as_boolean();
    const auto* names = document->as_hash().find("certnames");
    if (!names || !names->is_array()) return out;
    out.given = true;
    for (const auto& name : names->as_array())
        if (name.is_string()) out.names.emplace_back(name.as_string());
    return out;
}

bool is_file_name(std::string_view name) {
    return !name.empty() && name.size() <= 255 && name[0] != '.' &&
           name.find_first_of(std::string_view("/\0", 2)) == std::string_view::npos;
}

bool one_object(std::string_view pem) {
    constexpr std::string_view kBegin = "-----BEGIN ";
    const auto first = pem.find(kBegin);
    return first == std::string_view::npos ||
           pem.find(kBegin, first + kBegin.size()) == std::string_view::npos;
}

}  // namespace bunraku::server
