// SPDX-License-Identifier: Apache-2.0
#include "resources/catalog/catalog_input.h"

#include <fmt/format.h>

#include "core/base/plain_error.h"
#include "core/value/rich_data.h"
#include "resources/catalog/agent_json.h"
#include "resources/catalog/wire.h"

namespace bunraku::catalog {

using value::Value;

ReadCatalog read_catalog(std::string text, const std::string& path) {
    base::Arena arena(64 * 1024);
    auto data = value::parse_json(arena, text);
    if (!data)
        throw base::plain_error(fmt::format("Could not parse {}: {}", path, data.error().message));
    if (!data->is_hash())
        throw base::plain_error(fmt::format("{} does not contain a catalog", path));
    int version = 0;
    if (const auto* payload = data->as_hash().find("payload"); payload && payload->is_hash()) {
        if (const auto* v = data->as_hash().find("version"); v && v->is_integer())
            version = static_cast<int>(v->as_integer());
        text = value::to_json(*payload);
        data = *payload;
    }
    bool wire = version != 0;
    if (const auto* edges = data->as_hash().find("edges"); edges && edges->is_array()) {
        for (const Value& e : edges->as_array())
            wire = wire || (e.is_hash() && e.as_hash().find("relationship"));
    }
    wire = wire || data->as_hash().find("producer_timestamp") ||
           data->as_hash().find("transaction_uuid");
    auto failed = [&](const std::string& why) {
        return base::plain_error(fmt::format("{} does not contain a catalog: {}", path, why));
    };
    if (!wire) {
        auto read = catalog::read_agent_json(text);
        if (!read) throw failed(read.error().message);
        return {std::make_shared<catalog::Catalog>(std::move(*read)), false};
    }
    std::string why;
    for (int v = version ? version : newest_wire_version(); v >= oldest_wire_version(); --v) {
        auto read = catalog::read_wire(v, text);
        if (read) return {std::make_shared<catalog::Catalog>(std::move(read->catalog)), true};
        if (why.empty()) why = read.error().message;
        if (version) break;
    }
    throw failed(why);
}

}  // namespace bunraku::catalog
