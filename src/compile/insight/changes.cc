// SPDX-License-Identifier: Apache-2.0
#include "compile/insight/changes.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "core/codec/digest.h"
#include "core/codec/json_text.h"
#include "resources/catalog/diff.h"
#include "resources/catalog/relations.h"

namespace bunraku::insight {

using catalog::Catalog;
using value::Value;

namespace {

constexpr std::string_view kModules = "puppet:///modules/";
constexpr std::size_t kMostText = 64 * 1024;

std::vector<std::string> texts_of(const Value& v) {
    std::vector<std::string> out;
    if (v.is_string()) out.emplace_back(v.as_string());
    if (v.is_array())
        for (const Value& item : v.as_array())
            if (item.is_string()) out.emplace_back(item.as_string());
    return out;
}

std::string joined_path(const std::vector<std::string>& path) {
    return fmt::format("{}", fmt::join(path, "."));
}

/// Replaces a sensitive value. The result never contains the value.
std::string masked_value(const std::optional<std::string>& json) {
    return json ? codec::json_string("(sensitive)") : std::string();
}

void place(Change& change, const Catalog& catalog, const catalog::Ref& ref) {
    if (const auto* r = catalog.find(ref.type, ref.title)) {
        change.file = r->file;
        change.line = r->line;
    }
}

}  // namespace

std::string_view kind_name(Kind kind) {
    constexpr std::string_view kNames[] = {
        "conflict", "fails",   "fails otherwise", "fails as before", "works again", "finding",
        "repaired", "removed", "added",           "changed",         "content",     "plugins"};
    return kNames[static_cast<std::size_t>(kind)];
}

Contents::Found Contents::find(std::string_view source) const {
    if (!source.starts_with(kModules)) return {};
    {
        const std::lock_guard lock(mutex_);
        if (const auto it = known_.find(source); it != known_.end()) return it->second;
    }
    Found out;
    auto rest = source.substr(kModules.size());
    while (rest.ends_with('/')) rest.remove_suffix(1);
    const auto slash = rest.find('/');
    const bool leaves = rest.find("..") != std::string_view::npos;
    const auto* module = leaves ? nullptr : environment_->module(rest.substr(0, slash));
    if (module) {
        out.path = module->path + "/files";
        if (slash != std::string_view::npos) out.path += std::string(rest.substr(slash));
    } else {
        // The path at which the module would have to be.
        out.path = fmt::format("modules/{}", rest);
    }
    if (module) out.digest = digest_of(out.path, 0);
    const std::lock_guard lock(mutex_);
    return known_.emplace(source, std::move(out)).first->second;
}

std::string Contents::digest_of(const std::string& path, int depth) const {
    constexpr int kDeepest = 50;
    const auto& files = environment_->files();
    const auto stamp = files.stat(path);
    if (!stamp.exists || depth > kDeepest) return {};
    if (!stamp.directory) {
        const auto text = files.read(path);
        return text ? codec::short_digest(*text) : std::string();
    }
    std::string all;
    for (const auto& name : files.list(path))
        all += fmt::format("{}\n{}\n", name, digest_of(path + "/" + name, depth + 1));
    return "folder " + codec::short_digest(all);
}

std::optional<std::string> Contents::text(const std::string& path) const {
    auto text = environment_->files().read(path);
    if (!text || text->size() > kMostText || text->find('\0') != std::string::npos ||
        !codec::is_utf8(*text))
        return std::nullopt;
    return std::move(*text);
}

std::vector<SourceOf> sources_of(const Catalog& catalog) {
    std::vector<SourceOf> out;
    for (const auto& r : catalog.resources) {
        if (r.ref.type != "File" || r.virtual_) continue;
        const Value* source = r.parameter("source");
        if (!source || r.parameter("content")) continue;
        auto texts = texts_of(*source);
        if (!texts.empty()) out.push_back({r.ref.to_string(), std::move(texts), r.file, r.line});
    }
    return out;
}

bool of_modules(std::string_view source) { return source.starts_with(kModules); }

Contents::Found first_found(const Contents& contents, const std::vector<std::string>& sources) {
    for (const auto& source : sources)
        if (auto found = contents.find(source); !found.digest.empty()) return found;
    return {};
}

std::vector<Change> changes(const Catalog& before, const Catalog& after,
                            const catalog::Naming& naming,
                            const std::vector<catalog::IgnorePattern>& ignored) {
    catalog::DiffOptions how;
    how.tags = how.containers = how.classes = false;
    how.naming = &naming;
    auto diff = catalog::diff(before, after, how);
    catalog::apply_ignores(diff, before, after, ignored, {});
    std::vector<Change> out;
    auto whole = [&](Kind kind, const catalog::Ref& ref, const Catalog& in) {
        Change change{.kind = kind, .reference = ref.to_string()};
        place(change, in, ref);
        out.push_back(std::move(change));
    };
    for (const auto& ref : diff.removed) whole(Kind::Removed, ref, before);
    for (const auto& ref : diff.added) whole(Kind::Added, ref, after);
    for (const auto& resource : diff.changed) {
        Change change{.kind = Kind::Changed, .reference = resource.ref.to_string()};
        place(change, after, resource.ref);
        auto add = [&](std::string parameter, std::string old, std::string now) {
            change.parameter = std::move(parameter);
            change.before = std::move(old);
            change.after = std::move(now);
            out.push_back(change);
        };
        for (const auto& parameter : resource.parameters) {
            change.sensitive = parameter.sensitive;
            if (parameter.sensitive) {
                add(parameter.name, masked_value(parameter.before), masked_value(parameter.after));
                continue;
            }
            for (const auto& v : parameter.values)
                add(joined_path(v.path), v.before.value_or(""), v.after.value_or(""));
        }
        change.sensitive = false;
        if (resource.exported) {
            auto text = [](bool b) { return std::string(b ? "true" : "false"); };
            add("(exported)", text(resource.exported->first), text(resource.exported->second));
        }
    }
    return out;
}

std::vector<Change> content_changes(const std::vector<SourceOf>& before, const Contents& old,
                                    const std::vector<SourceOf>& after, const Contents& now) {
    std::vector<Change> out;
    std::map<std::string_view, const SourceOf*> known;
    for (const auto& source : before) known.emplace(source.reference, &source);
    for (const auto& source : after) {
        const auto it = known.find(source.reference);
        if (it == known.end()) continue;
        const auto was = first_found(old, it->second->sources);
        const auto is = first_found(now, source.sources);
        if (was.digest == is.digest || was.digest.empty() || is.digest.empty()) continue;
        out.push_back({.kind = Kind::Content,
                       .reference = source.reference,
                       .parameter = "source",
                       .before = was.digest,
                       .after = is.digest,
                       .file = source.file,
                       .line = source.line,
                       .input = is.path});
    }
    return out;
}

std::vector<Change> missing_sources(const std::vector<SourceOf>& sources,
                                    const Contents& contents) {
    std::vector<Change> out;
    for (const auto& each : sources) {
        const bool modules = std::ranges::all_of(
            each.sources, [](const auto& s) { return s.starts_with(kModules); });
        if (!modules || !first_found(contents, each.sources).digest.empty()) continue;
        out.push_back({.kind = Kind::Finding,
                       .reference = each.reference,
                       .parameter = "source",
                       .after = fmt::format("there is no {}", fmt::join(each.sources, ", ")),
                       .file = each.file,
                       .line = each.line,
                       .input = contents.find(each.sources.front()).path});
    }
    return out;
}

namespace {

/// The dependency graph. Each resource has a begin point and an end point; the resources in a
/// container are between its two points.
class Dependencies {
public:
    Dependencies(const Catalog& catalog, const std::vector<catalog::Relation>& relations)
        : catalog_(catalog), count_(catalog.resources.size()) {
        next_.resize(2 * count_);
        for (std::size_t i = 0; i < count_; ++i) next_[i].push_back(count_ + i);
        for (const auto& r : relations) {
            if (r.kind == catalog::Relationship::Contains) {
                next_[r.source].push_back(r.target);
                next_[count_ + r.target].push_back(count_ + r.source);
            } else {
                next_[count_ + r.source].push_back(r.target);
            }
        }
    }

    /// Returns the shortest cycle through the first point that is on a cycle.
    std::string cycle() const {
        // Removes points without dependencies repeatedly; only points on or after a cycle remain.
        std::vector<std::size_t> waits(next_.size());
        for (const auto& list : next_)
            for (const auto to : list) ++waits[to];
        std::vector<std::size_t> free;
        for (std::size_t i = 0; i < waits.size(); ++i)
            if (waits[i] == 0) free.push_back(i);
        std::size_t done = 0;
        while (!free.empty()) {
            const auto at = free.back();
            free.pop_back();
            ++done;
            for (const auto to : next_[at])
                if (--waits[to] == 0) free.push_back(to);
        }
        if (done == next_.size()) return {};
        for (std::size_t i = 0; i < waits.size(); ++i) {
            if (waits[i] == 0) continue;
            if (auto path = back_to(i); !path.empty()) return path;
        }
        return {};
    }

private:
    std::string back_to(std::size_t start) const {
        constexpr std::size_t kNone = static_cast<std::size_t>(-1);
        std::vector<std::size_t> from(next_.size(), kNone), queue = {start};
        for (std::size_t at = 0; at < queue.size(); ++at) {
            for (const auto to : next_[queue[at]]) {
                if (to == start) return cycle_text(from, start, queue[at]);
                if (from[to] != kNone) continue;
                from[to] = queue[at];
                queue.push_back(to);
            }
        }
        return {};
    }
    std::string cycle_text(const std::vector<std::size_t>& from, std::size_t start,
                           std::size_t last) const {
        std::vector<std::string> names;
        for (std::size_t at = last; at != start; at = from[at]) add(names, at);
        add(names, start);
        std::ranges::reverse(names);
        // The begin and end points of a container have the same name.
        names.erase(std::unique(names.begin(), names.end()), names.end());
        while (names.size() > 1 && names.front() == names.back()) names.pop_back();
        // Rotates the cycle, so that its text does not depend on the starting point.
        std::ranges::rotate(names, std::ranges::min_element(names));
        names.push_back(names.front());
        return fmt::format("{}", fmt::join(names, " => "));
    }
    void add(std::vector<std::string>& names, std::size_t point) const {
        names.push_back(catalog_.resources[point % count_].ref.to_string());
    }

    const Catalog& catalog_;
    const std::size_t count_;
    std::vector<std::vector<std::size_t>> next_;
};

}  // namespace

std::string dependency_cycle(const Catalog& catalog, const catalog::Naming& naming) {
    const auto relations = catalog::relations(catalog, naming);
    return relations ? Dependencies(catalog, *relations).cycle() : std::string();
}

std::vector<Change> findings(const Catalog& catalog, const catalog::Naming& naming,
                             const std::vector<SourceOf>& sources, const Contents& contents) {
    auto out = missing_sources(sources, contents);
    const auto relations = catalog::relations(catalog, naming);
    if (!relations) {
        out.push_back({.kind = Kind::Finding, .after = relations.error().message});
    } else if (auto cycle = Dependencies(catalog, *relations).cycle(); !cycle.empty()) {
        out.push_back({.kind = Kind::Finding, .after = "dependency cycle: " + cycle});
    }
    return out;
}

}  // namespace bunraku::insight
