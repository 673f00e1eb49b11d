#include "server/known_reports.h"

#include <fmt/format.h>

#include "codec/digest.h"
#include "http/message.h"
#include "http/wire.h"
#include "sys/disk.h"
#include "value/build.h"
#include "value/hash_access.h"
#include "value/rich_data.h"

namespace bunraku::server {

using value::Value;

namespace {

/// Nothing happened in it: larger ones are not worth a file.
constexpr std::size_t kMaxReport = 4 << 20;

Value laid_over(base::Arena& arena, const Value& below, const Value& above) {
    value::HashBuilder out(arena);
    out.merge(below.as_hash());
    for (const auto& e : above.as_hash()) {
        const auto* old = e.key.is_string() && e.key.as_string() == "metrics"
                              ? below.as_hash().find("metrics")
                              : nullptr;
        const bool both = old && old->is_hash() && e.value.is_hash();
        out.set(e.key, both ? laid_over(arena, *old, e.value) : e.value);
    }
    return out.build();
}

}  // namespace

std::string KnownReports::path_of(const std::string& node) const {
    return fmt::format("{}/{}.json.gz", folder_, codec::short_digest(node));
}

std::string KnownReports::keep(const std::string& node, const std::string& json) {
    if (json.size() > kMaxReport) return {};
    auto saved = sys::disk().make_directories(folder_, 0700);
    if (saved) saved = sys::disk().replace(path_of(node), http::gzip(json), {.mode = 0600});
    if (saved) return codec::short_digest(json);
    log_.log(base::Level::Warning,
             fmt::format("Cannot keep the report of {}: {}", node, saved.error().message));
    return {};
}

std::optional<Value> KnownReports::find(base::Arena& arena, const std::string& node,
                                        const std::string& name, const Value& difference) const {
    const auto packed = sys::disk().read(path_of(node));
    if (!packed) return std::nullopt;
    const auto plain = http::decode_content("gzip", *packed, kMaxReport);
    if (plain.status != 0 || codec::short_digest(plain.body) != name) return std::nullopt;
    const auto report = value::parse_json(arena, plain.body);
    // Two nodes may share a file, by chance.
    if (!report || !report->is_hash() || value::text_at(*report, "host") != node)
        return std::nullopt;
    return laid_over(arena, *report, difference);
}

}  // namespace bunraku::server
