// SPDX-License-Identifier: Apache-2.0
// Selects the releases that a mirror needs from a larger forge: the modules of a Puppetfile, their
// dependencies, and the newest few releases.
#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <map>
#include <set>

#include "core/base/semver.h"
#include "core/sys/system.h"
#include "modules/forge/sync.h"
#include "modules/module/puppetfile.h"

namespace bunraku::forge {

namespace {

using base::failure;
using base::Result;
using module::Offer;

base::SemVer version_of(const Offer& offer) {
    return base::SemVer::parse(offer.name.version).value_or(base::SemVer{});
}

/// Sorts the newest first.
void sort_by_version(std::vector<Offer>& offers) {
    std::stable_sort(offers.begin(), offers.end(),
                     [](const Offer& a, const Offer& b) { return version_of(a) > version_of(b); });
}

/// Returns the newest match. Stable releases have priority over pre-releases.
const Offer* newest_in(const std::vector<Offer>& newest_first, const base::SemVerRange* range) {
    const Offer* otherwise = nullptr;
    for (const Offer& o : newest_first) {
        const base::SemVer version = version_of(o);
        if (range && !range->includes(version)) continue;
        if (version.prerelease.empty()) return &o;
        if (!otherwise) otherwise = &o;
    }
    return otherwise;
}

}  // namespace

Result<std::vector<SyncRequest>> requests_of_puppetfile(const std::string& path) {
    sys::RealSystem real;
    sys::System& system = real.system();
    const std::string text = BUNRAKU_TRY(system.files.read(path));
    const module::Puppetfile file = BUNRAKU_TRY(module::read_puppetfile(system, path, text));
    std::vector<SyncRequest> out;
    for (const module::PuppetfileModule& m : file.modules) {
        if (m.kind != module::PuppetfileModule::Kind::Forge) continue;
        auto name = module::parse_module_name(m.name);
        if (!name) return failure(fmt::format("{}: '{}' has no author", path, m.name));
        out.push_back({*name, m.version.empty() ? "latest" : m.version});
    }
    if (out.empty()) return failure(path + " names no module of a forge");
    return out;
}

std::vector<Offer> newest_of_each(std::vector<Offer> offers, int count) {
    sort_by_version(offers);
    std::map<std::string, int> seen;
    std::erase_if(offers, [&](const Offer& o) { return ++seen[o.name.module.slug()] > count; });
    return offers;
}

Result<std::vector<Offer>> offers_for(module::Fetcher& fetcher, const std::string& base,
                                      const std::vector<SyncRequest>& requests,
                                      bool with_dependencies, int latest,
                                      const std::function<void(const std::string&)>& warn) {
    constexpr std::size_t kMostModules = 20000;
    std::map<std::string, std::vector<Offer>> known;
    std::map<std::string, Offer> out;
    std::deque<SyncRequest> todo(requests.begin(), requests.end());
    std::set<std::string> done;
    while (!todo.empty()) {
        const SyncRequest requested = std::move(todo.front());
        todo.pop_front();
        const std::string slug = requested.module.slug();
        if (!done.insert(slug + " " + requested.range).second) continue;
        auto it = known.find(slug);
        if (it == known.end()) {
            if (known.size() >= kMostModules) {
                return failure(fmt::format("more than {} modules are needed", kMostModules));
            }
            auto listed = BUNRAKU_TRY(module::list_module(fetcher, base, requested.module, warn));
            sort_by_version(listed);
            it = known.emplace(slug, std::move(listed)).first;
        }
        std::vector<const Offer*> chosen;
        const std::vector<Offer>& all = it->second;
        const bool every = requested.range.empty() || (requested.range == "latest" && latest > 1);
        if (every) {
            for (const Offer& o : all) {
                if (latest > 0 && chosen.size() >= static_cast<std::size_t>(latest)) break;
                chosen.push_back(&o);
            }
        } else if (requested.range == "latest") {
            if (const Offer* o = newest_in(all, nullptr)) chosen.push_back(o);
        } else {
            const auto range = base::SemVerRange::parse(requested.range);
            if (const Offer* o = range ? newest_in(all, &*range) : nullptr) chosen.push_back(o);
        }
        if (chosen.empty()) {
            warn(fmt::format("{} has no {} {}", base, slug, requested.range));
            continue;
        }
        for (const Offer* o : chosen) {
            if (!out.emplace(o->name.slug(), *o).second || !with_dependencies) continue;
            for (const module::Dependency& d : o->dependencies) {
                if (auto name = module::parse_module_name(d.name)) {
                    todo.push_back({*name, d.requirement});
                }
            }
        }
    }
    std::vector<Offer> list;
    for (auto& [slug, offer] : out) list.push_back(std::move(offer));
    return list;
}

}  // namespace bunraku::forge
