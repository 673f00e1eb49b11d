// SPDX-License-Identifier: Apache-2.0
#include "services/server/known_reports.h"

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/codec/digest.h"
#include "core/sys/disk.h"
#include "core/value/build.h"
#include "core/value/hash_access.h"
#include "core/value/rich_data.h"
#include "net/http/message.h"
#include "net/http/wire.h"

namespace bunraku::server {

using value::Value;

namespace {

/// Reports of unchanged runs are small; larger ones are not stored.
constexpr std::size_t kMaxReport = 4 << 20;
/// Size limit of the reports in memory, which is enough for some thousand nodes. The cache is
/// cleared when it is full.
constexpr std::size_t kMostRecent = 8 << 20;

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
    if (saved) {
        auto name = codec::short_digest(json);
        remember(node, std::make_shared<const Known>(Known{name, json}));
        return name;
    }
    log_.log(base::Level::Warning,
             fmt::format("Could not store the report of {}: {}", node, saved.error().message));
    return {};
}

void KnownReports::remember(const std::string& node, std::shared_ptr<const Known> known) const {
    const auto size = node.size() + known->json.size();
    if (size > kMostRecent / 64) return;
    const std::lock_guard lock(mutex_);
    if (const auto it = recent_.find(node); it != recent_.end()) {
        BUNRAKU_ASSERT(recent_bytes_ >= node.size() + it->second->json.size());
        recent_bytes_ -= node.size() + it->second->json.size();
        recent_.erase(it);
    }
    BUNRAKU_ASSERT(!recent_.empty() || recent_bytes_ == 0);
    if (recent_bytes_ + size > kMostRecent) {
        recent_.clear();
        recent_bytes_ = 0;
    }
    recent_bytes_ += size;
    BUNRAKU_ASSERT(recent_bytes_ <= kMostRecent && !recent_.contains(node));
    recent_.emplace(node, std::move(known));
}

/// Returns null if no report has that name any more.
std::shared_ptr<const KnownReports::Known> KnownReports::known(const std::string& node,
                                                               const std::string& name) const {
    {
        const std::lock_guard lock(mutex_);
        const auto it = recent_.find(node);
        if (it != recent_.end()) return it->second->name == name ? it->second : nullptr;
    }
    const auto packed = sys::disk().read(path_of(node));
    if (!packed) return nullptr;
    auto plain = http::decode_content("gzip", *packed, kMaxReport);
    if (plain.status != 0 || codec::short_digest(plain.body) != name) return nullptr;
    auto out = std::make_shared<const Known>(Known{name, std::move(plain.body)});
    remember(node, out);
    return out;
}

std::optional<Value> KnownReports::find(base::Arena& arena, const std::string& node,
                                        const std::string& name, const Value& difference) const {
    const auto known_one = known(node, name);
    if (!known_one) return std::nullopt;
    const auto report = value::parse_json(arena, known_one->json);
    // Two nodes may share a file because of a hash collision.
    if (!report || !report->is_hash() || value::text_at(*report, "host") != node)
        return std::nullopt;
    return laid_over(arena, *report, difference);
}

}  // namespace bunraku::server
