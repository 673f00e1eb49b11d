// SPDX-License-Identifier: Apache-2.0
#include "cli/catalog_why.h"

#include <fmt/format.h>

#include "cli/command.h"
#include "compile/site/store_access.h"
#include "core/base/plain_error.h"
#include "core/value/hash_access.h"
#include "core/value/rich_data.h"
#include "net/http/client.h"
#include "net/http/url.h"

namespace bunraku::cli {

using value::Value;

namespace {

std::int64_t number_at(const Value& decision, const char* name) {
    const Value* found = at(decision, name);
    return found && found->is_integer() ? found->as_integer() : 0;
}

void print_decision(const Value& decision) {
    const auto text = [&](const char* name) { return text_at(decision, name); };
    const Value* served = at(decision, "served");
    fmt::print("The catalog of {} in environment {} was {} at {}", text("node"),
               text("environment"),
               served && served->truthy() ? "served from the cache" : "compiled", text("time"));
    const auto reason = text("reason");
    fmt::print("{}{}.\n", reason.empty() ? "" : ": ", reason);
    if (const Value* details = at(decision, "details"); details && details->is_array())
        for (const Value& one : details->as_array()) fmt::print("  {}\n", one.as_string());
    fmt::print("Since the server started: {} served from the cache, {} compiled.\n",
               number_at(decision, "served_total"), number_at(decision, "compiled_total"));
}

}  // namespace

int explain_cache(const config::Settings& settings, const std::string& node, std::string url,
                  bool json) {
    if (url.empty())
        url = fmt::format("https://{}:{}", settings.text("server"), settings.text("serverport"));
    while (url.ends_with('/')) url.pop_back();
    http::Client client(site::tls_options(settings, fmt::format("Bunraku/{}", kVersion)));
    const auto answer =
        client.get(fmt::format("{}/bunraku/v1/catalog-cache/{}", url, http::percent_encode(node)));
    if (!answer) throw base::plain_error(answer.error().message);
    base::Arena arena(16 * 1024);
    const auto data = value::parse_json(arena, answer->body);
    if (answer->status != 200) {
        const auto why = data ? text_at(*data, "error") : std::string();
        throw base::plain_error(
            why.empty() ? fmt::format("{} answered {}: {}", url, answer->status, answer->body)
                        : why);
    }
    if (!data) throw base::plain_error(data.error().message);
    if (json) {
        fmt::print("{}\n", answer->body);
    } else {
        print_decision(*data);
    }
    return 0;
}

}  // namespace bunraku::cli
