// SPDX-License-Identifier: Apache-2.0
#include "modules/forge/api_v3_filter.h"

#include "core/base/civil_time.h"
#include "core/base/number.h"
#include "core/base/text.h"

namespace bunraku::forge {

using http::Response;

namespace {

/// Reports whether two version ranges have a version in common.
bool overlap(const base::SemVerRange& a, const base::SemVerRange& b) {
    for (const auto& p : a.parts) {
        for (const auto& q : b.parts) {
            if (p.none || q.none) continue;
            const auto below = [](const base::SemVerRange::Part& x,
                                  const base::SemVerRange::Part& y) {
                // Reports whether x ends before y begins.
                if (!x.max || !y.min) return false;
                const auto order = *x.max <=> *y.min;
                return order < 0 || (order == 0 && (x.exclude_max || y.exclude_min));
            };
            if (!below(p, q) && !below(q, p)) return true;
        }
    }
    return false;
}

/// Reports whether a release requires some version of `who` in the range.
bool requires_some(const Release& r, std::string_view who, const base::SemVerRange& range) {
    std::string_view all = r.line(Index::Requirements);
    while (!all.empty()) {
        all.remove_prefix(1);
        const std::size_t end = all.find('\t');
        const std::string_view row = all.substr(0, end);
        all = end == std::string_view::npos ? std::string_view{} : all.substr(end);
        const std::size_t equals = row.find('=');
        if (row.substr(0, equals) != who) continue;
        const std::string_view text = row.substr(equals + 1);
        auto own = base::SemVerRange::parse(text.empty() ? ">= 0.0.0" : text);
        if (own && overlap(*own, range)) return true;
    }
    return false;
}

bool requires_any(const Release& r, std::string_view who) {
    return r.line(Index::Requirements).find(fmt::format("\t{}=", who)) != std::string_view::npos;
}

}  // namespace

bool Filter::takes(const Hit& hit) const {
    const Release& r = *hit.release;
    if (r.deleted && !show_deleted) return false;
    if (trivial()) return true;
    if (nothing || (r.flags & flags) != flags) return false;
    const SnapshotModule& m = hit.module();
    if (owner && m.author != *owner) return false;
    if (hide_deprecated && m.deprecated) return false;
    if (tag && r.line(Index::Tags).find(tag_json) == std::string_view::npos) return false;
    if (!system.empty() && !has_system(r.line(Index::Systems))) return false;
    if (puppet && !requires_some(r, "puppet", *puppet)) return false;
    // A module without a requirement on OpenVox supports the versions of Puppet.
    if (openvox && !requires_some(r, requires_any(r, "openvox") ? "openvox" : "puppet", *openvox))
        return false;
    if (pe && !requires_some(r, "pe", *pe)) return false;
    return r.created >= since;
}

bool Filter::has_system(std::string_view systems) const {
    const std::string start = '\t' + system + '|';
    for (std::size_t at = 0; (at = systems.find(start, at)) != std::string_view::npos; ++at) {
        const std::size_t end = systems.find('\t', at + 1);
        const std::string_view row = systems.substr(at, end - at);
        if (system_release.empty()) return true;
        if (row.find("|" + system_release + "|") != std::string_view::npos) return true;
    }
    return false;
}

std::optional<Response> Filter::read(const Call& call, Filter* out) {
    out->owner = call.query("owner");
    out->tag = call.query("tag");
    if (out->tag) out->tag_json = codec::json_string(*out->tag);
    out->show_deleted = call.flag("show_deleted");
    out->hide_deprecated = call.flag("hide_deprecated");
    if (call.flag("with_tasks")) out->flags |= kHasTasks;
    if (call.flag("with_plans")) out->flags |= kHasPlans;
    if (call.flag("with_pdk")) out->flags |= kPdk;
    // No release here is endorsed, premium or scored by the public Forge.
    if (call.flag("supported") || call.flag("premium") || call.query("endorsements")) {
        out->nothing = true;
    }
    if (const std::string* score = call.query("with_minimum_score")) {
        if (*score != "0" && !score->empty()) out->nothing = true;
    }
    if (const std::string* groups = call.query("module_groups")) {
        const auto words = words_of(*groups);
        if (std::find(words.begin(), words.end(), "base") == words.end()) out->nothing = true;
    }
    if (const std::string* system = call.query("operatingsystem")) {
        out->system = base::lower(*system);
        if (const std::string* r = call.query("operatingsystemrelease")) {
            out->system_release = base::lower(*r);
        }
    }
    const auto range = [&](std::string_view name, std::optional<base::SemVerRange>* to) {
        const std::string* text = call.query(name);
        if (!text || text->empty()) return true;
        *to = base::SemVerRange::parse(*text);
        return to->has_value();
    };
    if (!range("puppet_requirement", &out->puppet) ||
        !range("openvox_requirement", &out->openvox) || !range("pe_requirement", &out->pe)) {
        return error_response(400, "the requirement is not a valid version range");
    }
    if (const std::string* since = call.query("with_release_since")) {
        const auto time = base::parse_iso_time(
            *since, base::kZoneOptional | base::kBlankBeforeZone | base::kAnyShape);
        if (!time) return error_response(400, "with_release_since must be a date, YYYY-MM-DD");
        out->since = time->seconds();
    }
    return std::nullopt;
}

std::optional<Response> read_page(const Call& call, Page* out) {
    const auto number = [&](std::string_view name, std::uint64_t& n) {
        const std::string* text = call.query(name);
        return !text || base::read_integer(*text, n);
    };
    if (!number("limit", out->limit) || !number("offset", out->offset)) {
        return error_response(400, "limit and offset must be integers");
    }
    if (out->limit < 1 || out->limit > 100 || out->offset > (std::uint64_t{1} << 40)) {
        return error_response(400, "limit must be between 1 and 100, offset at least 0");
    }
    return std::nullopt;
}

}  // namespace bunraku::forge
