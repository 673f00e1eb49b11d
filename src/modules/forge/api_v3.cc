// SPDX-License-Identifier: Apache-2.0
// API v3: modules, releases, users, files and plans. Responses are assembled from prepared
// fragments.
#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <map>
#include <set>

#include "core/base/civil_time.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/base/text_view.h"
#include "core/codec/json_text.h"
#include "core/value/rich_data.h"
#include "modules/forge/api.h"
#include "modules/forge/downloads.h"
#include "modules/forge/markdown.h"
#include "modules/forge/pages.h"
#include "modules/forge/search.h"

namespace bunraku::forge {

using http::Response;

namespace {

constexpr std::array<std::string_view, 26> kReleaseFields = {"uri",
                                                             "slug",
                                                             "module",
                                                             "version",
                                                             "metadata",
                                                             "tags",
                                                             "supported",
                                                             "pdk",
                                                             "validation_score",
                                                             "file_uri",
                                                             "file_size",
                                                             "file_md5",
                                                             "file_sha256",
                                                             "downloads",
                                                             "readme",
                                                             "changelog",
                                                             "license",
                                                             "reference",
                                                             "docs",
                                                             "pe_compatibility",
                                                             "tasks",
                                                             "plans",
                                                             "created_at",
                                                             "updated_at",
                                                             "deleted_at",
                                                             "deleted_for"};
constexpr std::array<std::string_view, 19> kModuleFields = {
    "uri",         "slug",           "name",           "downloads",     "created_at",
    "updated_at",  "deprecated_at",  "deprecated_for", "superseded_by", "supported",
    "endorsement", "module_group",   "premium",        "owner",         "current_release",
    "releases",    "feedback_score", "homepage_url",   "issues_url"};
constexpr std::array<std::string_view, 9> kUserFields = {
    "uri",           "slug",         "gravatar_id", "username",  "display_name",
    "release_count", "module_count", "created_at",  "updated_at"};

/// Returns the words of a list parameter. Puppet separates them with commas; g10k and the
/// documentation use spaces.
std::vector<std::string_view> words_of(base::TextView text BUNRAKU_LIFETIMEBOUND) {
    std::vector<std::string_view> out;
    while (!text.empty()) {
        const std::size_t cut = text.find_first_of(" ,+");
        if (cut != 0) out.push_back(text.substr(0, cut));
        text = cut == std::string_view::npos ? std::string_view{} : text.substr(cut + 1);
    }
    return out;
}

/// Returns a mask with one bit for each omitted field.
template <std::size_t N>
std::uint64_t excluded(const Call& call, const std::array<std::string_view, N>& fields) {
    const std::string* list = call.query("exclude_fields");
    std::uint64_t mask = 0;
    if (!list) return mask;
    for (std::string_view word : words_of(*list)) {
        for (std::size_t i = 0; i < N; ++i) {
            if (fields[i] == word) mask |= std::uint64_t{1} << i;
        }
    }
    return mask;
}

/// Writes the fields of an object in the order of their table.
template <std::size_t N>
class Object {
public:
    Object(std::string& out, const std::array<std::string_view, N>& fields, std::uint64_t mask)
        : out_(out), fields_(fields), mask_(mask) {
        out_ += '{';
    }
    /// Reports whether the next field is included. If so, the caller must write its value next.
    bool next() {
        const std::size_t i = at_++;
        if (mask_ & (std::uint64_t{1} << i)) return false;
        if (any_) out_ += ',';
        any_ = true;
        out_ += '"';
        out_ += fields_[i];
        out_ += "\":";
        return true;
    }
    void text(std::string_view raw_json) {
        if (next()) out_ += raw_json;
    }
    void quoted(std::string_view safe) {
        if (!next()) return;
        out_ += '"';
        out_ += safe;
        out_ += '"';
    }
    void end() { out_ += '}'; }

private:
    std::string& out_;
    const std::array<std::string_view, N>& fields_;
    std::uint64_t mask_;
    std::size_t at_ = 0;
    bool any_ = false;
};

/// Options for the output.
struct OutputOptions {
    std::uint64_t mask = 0;  ///< fields to omit
    bool html = false;       ///< true to render READMEs and similar texts as HTML
    DownloadCounts* downloads = nullptr;
};

template <std::size_t N>
OutputOptions output_options_of(const Call& call, const std::array<std::string_view, N>& fields) {
    return {excluded(call, fields), call.flag("with_html"), &call.service.downloads()};
}

/// Appends a text as a JSON string, unchanged or rendered as HTML.
void append_text(std::string& out, std::string_view json, bool html) {
    if (!html || json == "null") {
        out += json;
    } else {
        codec::append_json_string(out, markdown_html(fragment_text(json)));
    }
}

/// A release found in a selection.
struct Hit {
    const Snapshot* snapshot = nullptr;
    const Release* release = nullptr;
    const SnapshotModule& module() const { return snapshot->module_at(release->module); }
};

void append_release(std::string& out, const Hit& hit, const OutputOptions& how) {
    const Release& r = *hit.release;
    const SnapshotModule& m = hit.module();
    Object<kReleaseFields.size()> o(out, kReleaseFields, how.mask);
    if (o.next()) out.append("\"/v3/releases/").append(r.slug).append("\"");
    o.quoted(r.slug);
    if (o.next()) {
        out.append("{\"uri\":\"/v3/modules/").append(m.slug).append("\",\"slug\":\"");
        out.append(m.slug).append("\",\"name\":\"").append(m.name).append("\",\"deprecated_at\":");
        if (m.deprecated) {
            codec::append_json_string(out, m.deprecated->at);
        } else {
            out += "null";
        }
        out.append(",\"owner\":").append(m.owner).append("}");
    }
    o.quoted(r.version);
    o.text(r.fragment(Fragment::Metadata));
    o.text(r.line(Index::Tags));
    o.text("false");
    o.text(r.flags & kPdk ? "true" : "false");
    o.text("0");
    if (o.next()) out.append("\"/v3/files/").append(r.slug).append(".tar.gz\"");
    if (o.next()) fmt::format_to(std::back_inserter(out), "{}", r.size);
    if (r.md5.empty()) {
        o.text("null");
    } else {
        o.quoted(r.md5);
    }
    if (r.sha256.empty()) {
        o.text("null");
    } else {
        o.quoted(r.sha256);
    }
    if (o.next()) {
        fmt::format_to(std::back_inserter(out), "{}",
                       how.downloads->of_release(hit.snapshot->repository(), r.slug));
    }
    if (o.next()) append_text(out, r.fragment(Fragment::Readme), how.html);
    if (o.next()) append_text(out, r.fragment(Fragment::Changelog), how.html);
    if (o.next()) append_text(out, r.fragment(Fragment::License), how.html);
    if (o.next()) append_text(out, r.fragment(Fragment::Reference), how.html);
    o.text("null");
    o.text("null");
    o.text(r.fragment(Fragment::Tasks));
    o.text(r.fragment(Fragment::Plans));
    o.quoted(module::forge_time(r.created));
    o.quoted(r.deleted ? r.deleted->at : module::forge_time(r.created));
    if (o.next()) out += r.deleted ? codec::json_string(r.deleted->at) : "null";
    if (o.next()) out += r.deleted ? codec::json_string(r.deleted->reason) : "null";
    o.end();
}

void append_short_release(std::string& out, const Release& r) {
    out.append("{\"uri\":\"/v3/releases/").append(r.slug).append("\",\"slug\":\"").append(r.slug);
    out.append("\",\"version\":\"").append(r.version).append("\",\"supported\":false,");
    out.append("\"created_at\":\"")
        .append(module::forge_time(r.created))
        .append("\",\"deleted_at\":");
    out += r.deleted ? codec::json_string(r.deleted->at) : "null";
    out.append(",\"file_uri\":\"/v3/files/").append(r.slug).append(".tar.gz\",\"file_size\":");
    fmt::format_to(std::back_inserter(out), "{}}}", r.size);
}

void append_module(std::string& out, const Snapshot& s, const SnapshotModule& m,
                   const OutputOptions& how) {
    const Release& current = s.releases()[m.current];
    std::int64_t first = current.created, last = current.created;
    for (std::uint32_t i : m.releases) {
        first = std::min(first, s.releases()[i].created);
        last = std::max(last, s.releases()[i].created);
    }
    Object<kModuleFields.size()> o(out, kModuleFields, how.mask);
    if (o.next()) out.append("\"/v3/modules/").append(m.slug).append("\"");
    o.quoted(m.slug);
    o.quoted(m.name);
    if (o.next()) {
        fmt::format_to(std::back_inserter(out), "{}",
                       how.downloads->of_module(s.repository(), m.slug));
    }
    o.quoted(module::forge_time(first));
    o.quoted(m.deprecated ? std::max(m.deprecated->at, module::forge_time(last))
                          : module::forge_time(last));
    if (o.next()) out += m.deprecated ? codec::json_string(m.deprecated->at) : "null";
    if (o.next()) {
        out += m.deprecated && !m.deprecated->reason.empty()
                   ? codec::json_string(m.deprecated->reason)
                   : "null";
    }
    if (o.next()) {
        if (m.deprecated && !m.deprecated->replacement.empty()) {
            out.append("{\"uri\":\"/v3/modules/").append(m.deprecated->replacement);
            out.append("\",\"slug\":\"").append(m.deprecated->replacement).append("\"}");
        } else {
            out += "null";
        }
    }
    o.text("false");
    o.text("null");
    o.text("\"base\"");
    o.text("false");
    o.text(m.owner);
    if (o.next())
        append_release(out, {&s, &current}, {.html = how.html, .downloads = how.downloads});
    if (o.next()) {
        out += '[';
        bool any = false;
        for (std::uint32_t i : m.releases) {
            const Release& r = s.releases()[i];
            if (r.deleted && m.live) continue;
            if (any) out += ',';
            any = true;
            append_short_release(out, r);
        }
        out += ']';
    }
    o.text("null");
    o.text(current.line(Index::ProjectPage));
    o.text(current.line(Index::IssuesUrl));
    o.end();
}

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

/// Parameters that select releases.
struct Filter {
    const std::string *owner = nullptr, *tag = nullptr;
    std::string system, system_release, tag_json;
    bool show_deleted = false, hide_deprecated = false;
    unsigned flags = 0;    ///< flags that must all be set
    bool nothing = false;  ///< true if no release here can match
    std::optional<base::SemVerRange> puppet, pe;
    std::int64_t since = 0;

    static std::optional<Response> read(const Call& call, Filter* out);
    bool trivial() const {
        return !owner && !tag && system.empty() && !hide_deprecated && flags == 0 && !nothing &&
               !puppet && !pe && since == 0;
    }
    bool takes(const Hit& hit) const {
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
        if (pe && !requires_some(r, "pe", *pe)) return false;
        return r.created >= since;
    }

private:
    bool has_system(std::string_view systems) const {
        const std::string start = '\t' + system + '|';
        for (std::size_t at = 0; (at = systems.find(start, at)) != std::string_view::npos; ++at) {
            const std::size_t end = systems.find('\t', at + 1);
            const std::string_view row = systems.substr(at, end - at);
            if (system_release.empty()) return true;
            if (row.find("|" + system_release + "|") != std::string_view::npos) return true;
        }
        return false;
    }
    static bool requires_some(const Release& r, std::string_view who,
                              const base::SemVerRange& range) {
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
};

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
    if (!range("puppet_requirement", &out->puppet) || !range("pe_requirement", &out->pe)) {
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

struct Page {
    std::uint64_t limit = 20, offset = 0;
};

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

bool newer(const Hit& a, const Hit& b) {
    const auto order = a.release->semver <=> b.release->semver;
    return order > 0;
}

Response list_releases(const Call& call) {
    if (call.selection.unknown) return not_found();
    Filter filter;
    Page page;
    if (auto bad = Filter::read(call, &filter)) return *bad;
    if (auto bad = read_page(call, &page)) return *bad;
    const std::string* module = call.query("module");
    std::string slug;
    if (module) {
        auto name = module::parse_module_name(*module);
        if (!name) {
            return error_response(400, fmt::format("'{}' is not a valid module slug", *module));
        }
        slug = name->slug();
    }
    const std::string* version = call.query("version");
    const std::string* sort = call.query("sort_by");
    const OutputOptions how = output_options_of(call, kReleaseFields);
    return cacheable(call, [&] {
        std::vector<Hit> hits;
        const auto& snapshots = call.selection.snapshots;
        std::set<std::string_view> seen;
        for (std::size_t n = 0; n < snapshots.size(); ++n) {
            const SnapshotPtr& s = snapshots[n];
            const std::vector<std::uint32_t>* source = &s->by_version();
            if (module) {
                const SnapshotModule* m = s->module(slug);
                if (!m) continue;
                source = &m->releases;
            }
            if (snapshots.size() == 1) hits.reserve(source->size());
            for (std::uint32_t i : *source) {
                const Hit hit{s.get(), &s->releases()[i]};
                if (version && hit.release->version != *version) continue;
                if (!filter.takes(hit)) continue;
                if (!call.selection.shows(n, hit.module().slug)) continue;
                if (snapshots.size() > 1 && !seen.insert(hit.release->slug).second) continue;
                hits.push_back(hit);
            }
        }
        if (sort && *sort == "release_date") {
            std::stable_sort(hits.begin(), hits.end(), [](const Hit& a, const Hit& b) {
                return a.release->created > b.release->created;
            });
        } else if (sort && *sort == "module") {
            std::stable_sort(hits.begin(), hits.end(), [](const Hit& a, const Hit& b) {
                if (a.module().slug != b.module().slug) return a.module().slug < b.module().slug;
                return newer(a, b);
            });
        } else if (snapshots.size() > 1) {
            std::stable_sort(hits.begin(), hits.end(), newer);
        }
        return paged(call, page, "releases", hits,
                     [&](std::string& out, const Hit& hit) { append_release(out, hit, how); });
    });
}

struct ModuleHit {
    const Snapshot* snapshot = nullptr;
    const SnapshotModule* module = nullptr;
    const Release& current() const { return snapshot->releases()[module->current]; }
};

/// Returns the module from the repository that has its newest version. Includes deleted modules if
/// `deleted` is set.
ModuleHit find_module(const Call& call, std::string_view slug, bool deleted) {
    ModuleHit best;
    for (std::size_t i = 0; i < call.selection.snapshots.size(); ++i) {
        const SnapshotPtr& s = call.selection.snapshots[i];
        const SnapshotModule* m = s->module(slug);
        if (!m || (!m->live && !deleted) || !call.selection.shows(i, slug)) continue;
        const ModuleHit hit{s.get(), m};
        if (!best.module || hit.current().semver > best.current().semver) best = hit;
    }
    return best;
}

Response list_modules(const Call& call) {
    if (call.selection.unknown) return not_found();
    Filter filter;
    Page page;
    if (auto bad = Filter::read(call, &filter)) return *bad;
    if (auto bad = read_page(call, &page)) return *bad;
    const std::string* sort = call.query("sort_by");
    if (sort && *sort != "rank" && *sort != "downloads" && *sort != "latest_release") {
        return error_response(400, "sort_by must be rank, downloads or latest_release");
    }
    std::set<std::string> slugs;
    const std::string* list = call.query("slugs");
    if (list && list->empty()) list = nullptr;
    if (list) {
        for (std::string_view word : words_of(*list)) {
            std::string slug(word);
            std::replace(slug.begin(), slug.end(), '/', '-');
            if (!find_module(call, slug, filter.show_deleted).module) {
                return error_response(404, "no such module: " + slug);
            }
            slugs.insert(std::move(slug));
        }
    }
    const std::string* starts = call.query("starts_with");
    const std::string* asked = call.query("query");
    const auto words = search_words(asked ? *asked : std::string_view{});
    const bool only_latest = call.flag("only_latest");
    const OutputOptions how = output_options_of(call, kModuleFields);
    const auto answer = [&] {
        std::vector<ModuleHit> hits;
        const auto consider = [&](const ModuleHit& hit) {
            const SnapshotModule& m = *hit.module;
            if (!m.live && !filter.show_deleted) return;
            if (starts && !m.slug.starts_with(*starts)) return;
            if (!search_matches(*hit.snapshot, m, words)) return;
            if (!filter.trivial()) {
                bool any = false;
                for (std::uint32_t i : m.releases) {
                    if (only_latest && i != m.current) continue;
                    any = filter.takes({hit.snapshot, &hit.snapshot->releases()[i]});
                    if (any) break;
                }
                if (!any) return;
            }
            hits.push_back(hit);
        };
        if (list) {
            for (const std::string& slug : slugs) {
                consider(find_module(call, slug, filter.show_deleted));
            }
        } else if (call.selection.snapshots.size() == 1) {
            const Snapshot& s = *call.selection.snapshots[0];
            for (const SnapshotModule& m : s.modules()) consider({&s, &m});
        } else {
            std::map<std::string_view, ModuleHit> merged;
            for (std::size_t n = 0; n < call.selection.snapshots.size(); ++n) {
                const SnapshotPtr& s = call.selection.snapshots[n];
                for (const SnapshotModule& m : s->modules()) {
                    if (!m.live && !filter.show_deleted) continue;
                    if (!call.selection.shows(n, m.slug)) continue;
                    ModuleHit& best = merged[m.slug];
                    const ModuleHit hit{s.get(), &m};
                    if (!best.module || hit.current().semver > best.current().semver) best = hit;
                }
            }
            for (const auto& [slug, hit] : merged) consider(hit);
        }
        if (sort && *sort == "latest_release") {
            std::stable_sort(hits.begin(), hits.end(), [](const ModuleHit& a, const ModuleHit& b) {
                return a.current().created > b.current().created;
            });
        } else if (sort && (*sort == "downloads" || !words.empty())) {
            const auto fetched = [&](const ModuleHit& hit) {
                return call.service.downloads().of_module(hit.snapshot->repository(),
                                                          hit.module->slug);
            };
            std::vector<std::pair<std::int64_t, ModuleHit>> ranked;
            for (const ModuleHit& hit : hits) {
                const std::uint64_t n = fetched(hit);
                ranked.emplace_back(*sort == "downloads"
                                        ? static_cast<std::int64_t>(n)
                                        : search_rank(*hit.snapshot, *hit.module, words, n),
                                    hit);
            }
            std::stable_sort(ranked.begin(), ranked.end(),
                             [](const auto& a, const auto& b) { return a.first > b.first; });
            for (std::size_t i = 0; i < hits.size(); ++i) hits[i] = ranked[i].second;
        }
        return paged(call, page, "modules", hits, [&](std::string& out, const ModuleHit& hit) {
            append_module(out, *hit.snapshot, *hit.module, how);
        });
    };
    // The order by download count changes with every download, so it is not cacheable.
    if (sort && *sort == "downloads") return Response::json(200, answer());
    return cacheable(call, answer);
}

struct Author {
    std::string_view name;
    std::uint64_t releases = 0, modules = 0, downloads = 0;
    std::int64_t newest = 0;  ///< newest time of a release that is not deleted
    std::int64_t first = INT64_MAX, last = 0;
};

std::vector<Author> users_of(const Call& call, const std::string* only) {
    std::map<std::string_view, Author> users;
    std::set<std::string_view> modules, releases;
    for (std::size_t n = 0; n < call.selection.snapshots.size(); ++n) {
        const SnapshotPtr& s = call.selection.snapshots[n];
        for (const SnapshotModule& m : s->modules()) {
            if (only && m.author != *only) continue;
            if (!call.selection.shows(n, m.slug)) continue;
            Author& u = users[m.author];
            u.name = m.author;
            if (m.live && modules.insert(m.slug).second) ++u.modules;
            u.downloads += call.service.downloads().of_module(s->repository(), m.slug);
            for (std::uint32_t i : m.releases) {
                const Release& r = s->releases()[i];
                u.first = std::min(u.first, r.created);
                u.last = std::max(u.last, r.created);
                if (!r.deleted) u.newest = std::max(u.newest, r.created);
                if (!r.deleted &&
                    (call.selection.snapshots.size() == 1 || releases.insert(r.slug).second)) {
                    ++u.releases;
                }
            }
        }
    }
    std::vector<Author> out;
    for (auto& [name, user] : users) out.push_back(user);
    return out;
}

void append_user(std::string& out, const Author& u, std::uint64_t mask) {
    const std::string owner = owner_json(u.name);
    const std::size_t at = owner.rfind(":\"") + 2;
    Object<kUserFields.size()> o(out, kUserFields, mask);
    if (o.next()) out.append("\"/v3/users/").append(u.name).append("\"");
    o.quoted(u.name);
    o.quoted(std::string_view(owner).substr(at, owner.size() - at - 2));
    o.quoted(u.name);
    o.quoted(u.name);
    if (o.next()) out += std::to_string(u.releases);
    if (o.next()) out += std::to_string(u.modules);
    o.quoted(module::forge_time(u.first));
    o.quoted(module::forge_time(u.last));
    o.end();
}

Response list_users(const Call& call) {
    if (call.selection.unknown) return not_found();
    Page page;
    if (auto bad = read_page(call, &page)) return *bad;
    const std::string* sort = call.query("sort_by");
    const bool by_downloads = sort && *sort == "downloads";
    const bool by_releases = sort && *sort == "releases",
               by_time = sort && *sort == "latest_release";
    if (sort && *sort != "username" && !by_downloads && !by_releases && !by_time) {
        return error_response(400,
                              "sort_by must be username, releases, downloads or latest_release");
    }
    const std::uint64_t mask = excluded(call, kUserFields);
    const auto answer = [&] {
        auto users = users_of(call, nullptr);  // by name
        const auto most_first = [&](auto key) {
            std::ranges::stable_sort(users, std::greater{}, key);
        };
        if (by_downloads) most_first(&Author::downloads);
        if (by_releases) most_first(&Author::releases);
        if (by_time) most_first(&Author::newest);
        return paged(call, page, "users", users,
                     [&](std::string& out, const Author& u) { append_user(out, u, mask); });
    };
    // The order by download count changes with every download, so it is not cacheable.
    if (by_downloads) return Response::json(200, answer());
    return cacheable(call, answer);
}

Response one_user(const Call& call, const std::string& name) {
    const auto users = users_of(call, &name);
    if (users.empty()) return not_found();
    return cacheable(call, [&] {
        std::string out;
        append_user(out, users[0], excluded(call, kUserFields));
        return out;
    });
}

Response one_file(const Call& call, std::string_view file) {
    const bool signature = file.ends_with(module::kSignatureSuffix);
    auto name = module::parse_file_name(
        signature ? file.substr(0, file.size() - module::kSignatureSuffix.size()) : file);
    if (!name) {
        return error_response(400, fmt::format("'{}' is not a valid release slug", file));
    }
    const std::string slug = name->slug();
    for (std::size_t i = 0; i < call.selection.snapshots.size(); ++i) {
        const SnapshotPtr& s = call.selection.snapshots[i];
        const Release* r = s->release(slug);
        if (!r || r->deleted || !call.selection.shows(i, name->module.slug())) continue;
        if (signature) {
            return file_response(
                call.request,
                fmt::format("{}/{}{}", s->path(), module::release_path(r->author, r->slug),
                            module::kSignatureSuffix),
                {}, "text/plain;charset=utf-8");
        }
        Response response = archive_response(call.service, call.request, *s, *r);
        if (response.status == 200 || response.status == 206) {
            response.headers.set("Content-Disposition",
                                 fmt::format("attachment; filename=\"{}.tar.gz\"", slug));
        }
        return response;
    }
    return not_found();
}

/// Returns one plan of a release, or the list of its plans.
Response release_plans(const Call& call, const Hit& hit, std::optional<std::string_view> plan) {
    base::Arena arena;
    auto parsed = value::parse_json(
        arena, hit.release->fragment(plan ? Fragment::PlanDetails : Fragment::Plans));
    if (!parsed || !parsed->is_array()) return not_found();
    if (!plan) {
        Page page;
        if (auto bad = read_page(call, &page)) return *bad;
        const auto items = parsed->as_array();
        const std::vector<value::Value> list(items.begin(), items.end());
        return cacheable(call, [&] {
            return paged(
                call, page, fmt::format("releases/{}/plans", hit.release->slug), list,
                [](std::string& out, const value::Value& v) { value::write_json(out, v); });
        });
    }
    for (const value::Value& item : parsed->as_array()) {
        if (!item.is_hash()) continue;
        const value::Value* name = item.as_hash().find("name");
        if (name && name->is_string() && name->as_string() == *plan) {
            return cacheable(call, [&] { return value::to_json(item); });
        }
    }
    return not_found();
}

/// "SLUG", "SLUG/plans" or "SLUG/plans/NAME".
struct ReleasePath {
    std::string_view slug;
    bool plans = false;
    std::optional<std::string_view> plan;
};

ReleasePath split_release_path(std::string_view rest) {
    ReleasePath out{rest};
    for (std::size_t at = 0; (at = rest.find("/plans", at)) != std::string_view::npos; ++at) {
        const std::string_view behind = rest.substr(at + 6);
        if (!behind.empty() && behind[0] != '/') continue;
        out.slug = rest.substr(0, at);
        out.plans = true;
        if (behind.size() > 1) out.plan = behind.substr(1);
        break;
    }
    return out;
}

Response one_release(const Call& call, std::string_view rest) {
    const ReleasePath path = split_release_path(rest);
    auto name = module::parse_release_name(path.slug);
    if (!name) {
        return error_response(400, fmt::format("'{}' is not a valid release slug", path.slug));
    }
    for (std::size_t i = 0; i < call.selection.snapshots.size(); ++i) {
        const SnapshotPtr& s = call.selection.snapshots[i];
        const Release* r = s->release(name->slug());
        if (!r || (r->deleted && !call.flag("show_deleted"))) continue;
        if (!call.selection.shows(i, name->module.slug())) continue;
        const Hit hit{s.get(), r};
        if (path.plans) return release_plans(call, hit, path.plan);
        return cacheable(call, [&] {
            std::string out;
            append_release(out, hit, output_options_of(call, kReleaseFields));
            return out;
        });
    }
    return not_found();
}

Response one_module(const Call& call, std::string_view text) {
    auto name = module::parse_module_name(text);
    if (!name) return error_response(400, fmt::format("'{}' is not a valid module slug", text));
    const ModuleHit hit = find_module(call, name->slug(), call.flag("show_deleted"));
    if (!hit.module) return not_found();
    return cacheable(call, [&] {
        std::string out;
        append_module(out, *hit.snapshot, *hit.module, output_options_of(call, kModuleFields));
        return out;
    });
}

}  // namespace

Response answer_v3(const Call& call, std::string_view path) {
    while (path.ends_with('/')) path.remove_suffix(1);
    if (path == "modules") return list_modules(call);
    if (path == "releases") return list_releases(call);
    if (path == "users") return list_users(call);
    if (path.starts_with("modules/")) return one_module(call, path.substr(8));
    if (path.starts_with("releases/")) return one_release(call, path.substr(9));
    if (path.starts_with("files/")) return one_file(call, path.substr(6));
    if (path.starts_with("users/")) return one_user(call, std::string(path.substr(6)));
    return not_found();
}

Wanted wanted_by_v3(const http::Request& request, std::string_view path) {
    Wanted out;
    if (path == "releases") {
        if (const std::string* module = request.query_value("module")) {
            out.module = module::parse_module_name(*module);
        }
    } else if (path.starts_with("modules/")) {
        out.module = module::parse_module_name(path.substr(8));
    } else if (path.starts_with("releases/")) {
        if (auto name = module::parse_release_name(split_release_path(path.substr(9)).slug)) {
            out.module = name->module;
            out.release = std::move(name);
        }
    } else if (path.starts_with("files/")) {
        std::string_view file = path.substr(6);
        // A signature is requested together with its archive, so resolve the archive.
        if (file.ends_with(module::kSignatureSuffix)) {
            file.remove_suffix(module::kSignatureSuffix.size());
        }
        if (auto name = module::parse_file_name(file)) {
            out.module = name->module;
            out.release = name;
            out.file = std::move(name);
        }
    }
    return out;
}

}  // namespace bunraku::forge
