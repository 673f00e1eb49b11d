// PuppetDB's query API, /pdb/query/v4 and everything below it, over HTTP.
#pragma once

#include <memory>

#include "net/http/router.h"
#include "store/engine/query_engine.h"

namespace bunraku::server {

struct PdbQueryOptions {
    bool pretty = false;  ///< where a request does not say
    std::uint64_t max_body = 16 << 20;
};

/// Routes GET and POST of every entity, for listed clients.
void add_query_routes(http::Router& router, std::shared_ptr<store::QueryEngine> engine,
                      const PdbQueryOptions& options = {});

}  // namespace bunraku::server
