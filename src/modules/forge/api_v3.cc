// SPDX-License-Identifier: Apache-2.0
// API v3: modules, releases, users, files and plans. Responses are assembled from prepared
// fragments.
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

#include "core/value/rich_data.h"
#include "modules/forge/api_v3_filter.h"
#include "modules/forge/api_v3_records.h"
#include "modules/forge/pages.h"
#include "modules/forge/search.h"

namespace bunraku::forge {

using http::Response;

namespace {

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

/// Returns the modules named in `slugs`, or all modules if it is null. If several snapshots have a
/// module, returns the one with the newest release.
std::vector<ModuleHit> candidates_of(const Call& call, const std::set<std::string>* slugs,
                                     const Filter& filter) {
    std::vector<ModuleHit> out;
    if (slugs) {
        for (const std::string& slug : *slugs)
            out.push_back(find_module(call, slug, filter.show_deleted));
    } else if (call.selection.snapshots.size() == 1) {
        const Snapshot& s = *call.selection.snapshots[0];
        for (const SnapshotModule& m : s.modules()) out.push_back({&s, &m});
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
        for (const auto& [slug, hit] : merged) out.push_back(hit);
    }
    return out;
}

/// Reports whether the filter matches a release of the module or, with `only_latest`, its current
/// release.
bool takes_module(const Filter& filter, const ModuleHit& hit, bool only_latest) {
    if (filter.trivial()) return true;
    return std::ranges::any_of(hit.module->releases, [&](std::uint32_t i) {
        return (!only_latest || i == hit.module->current) &&
               filter.takes({hit.snapshot, &hit.snapshot->releases()[i]});
    });
}

/// Sorts by the rank for a search or, if `words` is null, by the number of downloads.
void sort_by_rank(const Call& call, const std::vector<std::string>* words,
                  std::vector<ModuleHit>& hits) {
    std::vector<std::pair<std::int64_t, ModuleHit>> ranked;
    for (const ModuleHit& hit : hits) {
        const std::uint64_t n =
            call.service.downloads().of_module(hit.snapshot->repository(), hit.module->slug);
        ranked.emplace_back(words ? search_rank(*hit.snapshot, *hit.module, *words, n)
                                  : static_cast<std::int64_t>(n),
                            hit);
    }
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    for (std::size_t i = 0; i < hits.size(); ++i) hits[i] = ranked[i].second;
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
        for (const ModuleHit& hit : candidates_of(call, list ? &slugs : nullptr, filter)) {
            const SnapshotModule& m = *hit.module;
            if (!m.live && !filter.show_deleted) continue;
            if (starts && !m.slug.starts_with(*starts)) continue;
            if (!search_matches(*hit.snapshot, m, words)) continue;
            if (takes_module(filter, hit, only_latest)) hits.push_back(hit);
        }
        if (sort && *sort == "latest_release") {
            std::stable_sort(hits.begin(), hits.end(), [](const ModuleHit& a, const ModuleHit& b) {
                return a.current().created > b.current().created;
            });
        } else if (sort && (*sort == "downloads" || !words.empty())) {
            sort_by_rank(call, *sort == "downloads" ? nullptr : &words, hits);
        }
        return paged(call, page, "modules", hits, [&](std::string& out, const ModuleHit& hit) {
            append_module(out, *hit.snapshot, *hit.module, how);
        });
    };
    // The order by download count changes with every download, so it is not cacheable.
    if (sort && *sort == "downloads") return Response::json(200, answer());
    return cacheable(call, answer);
}

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
