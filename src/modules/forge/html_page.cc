// SPDX-License-Identifier: Apache-2.0
#include "modules/forge/html_page.h"

#include <fmt/format.h>

#include "core/base/html_text.h"

namespace bunraku::forge {

std::string html_page(std::string_view title, std::string_view body) {
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>"
        "<meta name=\"viewport\" content=\"width=device-width\"><style>"
        "body{{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}}"
        "table{{border-collapse:collapse}}td,th{{text-align:left;padding:.2em .8em .2em 0;"
        "vertical-align:top}}pre{{overflow:auto;background:#8881;padding:.6em}}"
        ".add{{color:#070}}.del{{color:#a00}}</style></head>\n<body><h1>{0}</h1>\n{1}</body></html>"
        "\n",
        base::html_text(title), body);
}

http::Response html_response(std::string page) {
    http::Response r;
    r.headers.set("Content-Type", "text/html;charset=utf-8");
    r.headers.set("Content-Security-Policy",
                  "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' https:; "
                  "form-action 'self'; frame-ancestors 'none'; base-uri 'none'");
    r.headers.set("X-Content-Type-Options", "nosniff");
    r.headers.set("Referrer-Policy", "no-referrer");
    r.body = std::move(page);
    return r;
}

}  // namespace bunraku::forge
