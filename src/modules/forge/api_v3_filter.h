// SPDX-License-Identifier: Apache-2.0
// The parameters of lists in API v3: which releases they select, and which page they return.
#pragma once

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/codec/json_text.h"
#include "modules/forge/api_v3_records.h"

namespace bunraku::forge {

/// Parameters that select releases.
struct Filter {
    const std::string *owner = nullptr, *tag = nullptr;
    std::string system, system_release, tag_json;
    bool show_deleted = false, hide_deprecated = false;
    unsigned flags = 0;    ///< flags that must all be set
    bool nothing = false;  ///< true if no release here can match
    std::optional<base::SemVerRange> puppet, openvox, pe;
    std::int64_t since = 0;

    /// Reads the parameters into `out`. Returns the response if one of them is invalid.
    static std::optional<http::Response> read(const Call& call, Filter* out);
    bool trivial() const {
        return !owner && !tag && system.empty() && !hide_deprecated && flags == 0 && !nothing &&
               !puppet && !openvox && !pe && since == 0;
    }
    bool takes(const Hit& hit) const;

private:
    bool has_system(std::string_view systems) const;
};

struct Page {
    std::uint64_t limit = 20, offset = 0;
};

/// Reads limit and offset. Returns the response if one of them is invalid.
std::optional<http::Response> read_page(const Call& call, Page* out);

/// Returns a page of `items` with its links. `append(out, item)` writes one item.
template <class T, class F>
std::string paged(const Call& call, const Page& page, std::string_view resource,
                  const std::vector<T>& items, F append) {
    // The links repeat the query parameters. They contain as few escapes as possible, because some
    // clients escape the link a second time.
    std::string kept = fmt::format("/v3/{}?", resource);
    for (const auto& [key, value] : call.request.query) {
        if (key == "limit" || key == "offset") continue;
        std::string v = value;
        if (key == "module" || key == "slugs") std::replace(v.begin(), v.end(), '/', '-');
        std::string encoded = http::percent_encode(v, " ,");
        std::replace(encoded.begin(), encoded.end(), ' ', '+');
        kept += http::percent_encode(key) + "=" + encoded + "&";
    }
    const auto link = [&](std::uint64_t offset) {
        return codec::json_string(fmt::format("{}limit={}&offset={}", kept, page.limit, offset));
    };
    const std::uint64_t total = items.size();
    const bool more = page.offset < total && total - page.offset > page.limit;
    std::string out = fmt::format(
        R"({{"pagination":{{"limit":{},"offset":{},"first":{},"previous":{},"current":{},"next":{},"total":{}}},"results":[)",
        page.limit, page.offset, link(0),
        page.offset > 0 ? link(page.offset > page.limit ? page.offset - page.limit : 0) : "null",
        link(page.offset), more ? link(page.offset + page.limit) : "null", total);
    const std::uint64_t end = std::min(total, page.offset + page.limit);
    for (std::uint64_t i = page.offset; i < end; ++i) {
        if (i > page.offset) out += ',';
        append(out, items[i]);
    }
    return out + "]}";
}

}  // namespace bunraku::forge
