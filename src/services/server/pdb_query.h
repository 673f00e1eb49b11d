// SPDX-License-Identifier: Apache-2.0
// PuppetDB's query API over HTTP: /pdb/query/v4 and all paths below it.
#pragma once

#include <memory>

#include "net/http/router.h"
#include "store/engine/query_engine.h"

namespace bunraku::server {

struct PdbQueryOptions {
    bool pretty = false;  ///< default for requests without the parameter
    std::uint64_t max_body = 16 << 20;
};

/// Adds GET and POST routes of every entity, which only listed clients may use.
void add_query_routes(http::Router& router, std::shared_ptr<store::QueryEngine> engine,
                      const PdbQueryOptions& options = {});

}  // namespace bunraku::server
