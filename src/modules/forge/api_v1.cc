// SPDX-License-Identifier: Apache-2.0
// API v1, used by Puppet 2.7 to 3.5: dependency answers and search.
#include <fmt/format.h>
#include <set>

#include "core/base/text.h"
#include "core/codec/json_text.h"
#include "modules/forge/api.h"

namespace bunraku::forge {

using http::Response;

Response answer_v1(const Call& call) {
    const std::string* asked = call.query("module");
    auto name = asked ? module::parse_v1_module_name(*asked) : std::optional<module::ModuleName>{};
    if (!name) return error_response(400, "Module name is missing.");
    const std::string slashed = name->slashed();
    const std::string* version = call.query("version");
    if (version && version->empty()) version = nullptr;
    // The repository with the newest release answers. If several have the same version, the one
    // bound first answers.
    const Snapshot* from = nullptr;
    const Release* found = nullptr;
    for (std::size_t i = 0; i < call.selection.snapshots.size(); ++i) {
        const SnapshotPtr& s = call.selection.snapshots[i];
        const SnapshotModule* module = s->module(slashed);
        if (!module || !module->live || !call.selection.shows(i, module->slug)) continue;
        if (version) {
            const Release* r = s->release(module->slug + "-" + *version);
            if (r && !r->deleted) {
                found = r;
                from = s.get();
                break;
            }
            continue;
        }
        const Release& newest = s->releases()[module->newest];
        if (!found || newest.semver > found->semver) {
            found = &newest;
            from = s.get();
        }
    }
    if (!found) {
        // Old clients look for this text. The other keys are those of API v3.
        const std::string text = fmt::format("Module {} has no release{}", slashed,
                                             version ? " " + *version : std::string());
        return Response::json(
            404, fmt::format(R"({{"error":{},"message":"404 Not Found","errors":[{}]}})",
                             codec::json_string(text), codec::json_string(text)));
    }
    return cacheable(call, [&] { return from->v1_answer(*found); });
}

Response search_v1(const Call& call) {
    if (call.selection.unknown) return not_found();
    const std::string* q = call.query("q");
    const std::string want = q ? base::lower(*q) : std::string();
    return cacheable(call, [&] {
        std::set<std::string_view> seen;
        std::string out = "[";
        for (std::size_t n = 0; n < call.selection.snapshots.size(); ++n) {
            const SnapshotPtr& s = call.selection.snapshots[n];
            for (const SnapshotModule& m : s->modules()) {
                if (!m.live || seen.contains(m.slug) || !call.selection.shows(n, m.slug)) continue;
                const Release& r = s->releases()[m.current];
                if (!want.empty() && r.line(Index::Words).find(want) == std::string_view::npos) {
                    continue;
                }
                seen.insert(m.slug);
                if (out.size() > 1) out += ',';
                out += fmt::format(
                    R"({{"full_name":"{}","name":"{}","author":"{}","desc":{},"project_url":{},)"
                    R"("version":{},"tag_list":{},"releases":[)",
                    m.slashed, m.name, m.author, r.line(Index::Summary), r.line(Index::ProjectPage),
                    codec::json_string(r.version), r.line(Index::Tags));
                bool first = true;
                for (std::uint32_t i : m.releases) {
                    const Release& each = s->releases()[i];
                    if (each.deleted) continue;
                    out += first ? "" : ",";
                    first = false;
                    out += "{\"version\":" + codec::json_string(each.version) + "}";
                }
                out += "]}";
            }
        }
        return out + "]";
    });
}

}  // namespace bunraku::forge
