// PuppetDB's admin API: /pdb/admin/v1/{archive,cmd,summary-stats}.
#pragma once

#include <memory>

#include "http/router.h"
#include "store/service.h"

namespace bunraku::server {

void add_admin_routes(
    http::Router& router, std::shared_ptr<store::Service> service,
    std::function<std::optional<http::Response>(const http::Request&)> admit = {});

}  // namespace bunraku::server
