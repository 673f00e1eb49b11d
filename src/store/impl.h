// What the parts of Store share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "store/database.h"
#include "store/packed.h"
#include "store/store.h"

namespace bunraku::store {

struct Store::Impl {
    std::unique_ptr<Database> db;

    Result<std::int64_t> node_id(std::string_view certname, bool create);  ///< 0: unknown
    Result<std::size_t> collect_garbage();
    Result<ReplaceReport> replace(std::string_view certname, std::int64_t producer_timestamp,
                                  const catalog::Catalog& catalog,
                                  const catalog::WireEnvelope& envelope,
                                  std::vector<catalog::Relation> relations);
};

/// Texts as a JSON array and back.
std::string strings_to_json(const std::vector<std::string>& items);
std::vector<std::string> strings_from_json(std::string_view json);

/// How a parameter's value is looked for: its JSON with sorted keys, or its hash where it is long.
std::string match_text(const catalog::Value& v);

}  // namespace bunraku::store
