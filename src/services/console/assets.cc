// SPDX-License-Identifier: Apache-2.0
#include "services/console/assets.h"

#include <fmt/format.h>

#include "core/base/assert.h"
#include "services/console/frame.h"
#include "services/console/url.h"

namespace bunraku::console {

namespace {

std::string_view asset_type(std::string_view name) {
    if (name.ends_with(".css")) return "text/css;charset=utf-8";
    if (name.ends_with(".js")) return "text/javascript;charset=utf-8";
    BUNRAKU_ASSERT(name.ends_with(".svg"));
    return "image/svg+xml";
}

std::string path_of_asset(const Asset& asset) {
    const auto dot = asset.name.rfind('.');
    return fmt::format("{}/assets/{}-{}{}", kRoot, asset.name.substr(0, dot), asset.digest,
                       asset.name.substr(dot));
}

}  // namespace

std::string asset_path(std::string_view name) {
    for (const Asset& asset : embedded_assets())
        if (asset.name == name) return path_of_asset(asset);
    BUNRAKU_ASSERT(false);
    return {};
}

void mount_assets(http::Router& router) {
    http::RouteOptions options;
    options.immediate = true;
    options.max_body = 0;
    for (const Asset& asset : embedded_assets()) {
        router.add(
            "GET", path_of_asset(asset), http::Access::anyone(),
            [&asset](http::Request&) {
                Response out;
                out.headers.set("Content-Type", asset_type(asset.name));
                out.headers.set("Cache-Control", "public, max-age=31536000, immutable");
                out.body = asset.text;
                secure(out);
                return out;
            },
            options);
    }
}

}  // namespace bunraku::console
