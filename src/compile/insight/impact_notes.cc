// SPDX-License-Identifier: Apache-2.0
#include "compile/insight/impact_notes.h"

#include <algorithm>
#include <fmt/format.h>

#include "language/environment/commit_files.h"
#include "modules/module/puppetfile.h"

namespace bunraku::insight {

namespace {

/// Adds a note if the Puppetfiles of the two states differ. The modules of a Puppetfile are
/// installed only once, so both states use the same ones.
void note_modules(const FleetSelection& fleet, const Comparison& comparison, Impact& impact) {
    const auto& disk = *environment::disk_files();
    const site::Sources both[] = {comparison.from.request().sources,
                                  comparison.to.request().sources};
    // Do not open a commit without modules next to its Puppetfile.
    if (std::ranges::none_of(both, [&](const auto& sources) {
            return !sources.revision.empty() && disk.stat(sources.directory + "/modules").directory;
        }))
        return;
    std::string texts[2];
    bool installed = false;
    std::size_t at = 0;
    for (const auto& sources : both) {
        if (!sources.revision.empty()) {
            auto commit = environment::CommitFiles::open(sources.directory, sources.revision);
            if (!commit) return;
            installed = installed || !(*commit)->installed().empty();
            texts[at++] = (*commit)->read(sources.directory + "/Puppetfile").value_or("");
        } else {
            const auto& files = sources.files ? *sources.files : disk;
            texts[at++] = files.read(sources.directory + "/Puppetfile").value_or("");
        }
    }
    if (installed && texts[0] != texts[1]) {
        impact.notes.emplace_back(
            "The Puppetfile differs between the two, but both were compiled with the modules that "
            "are installed in " +
            fleet.control() +
            "/modules: changes in other versions of these modules are not included");
    }
}

/// Adds a note about submodules whose commits are not available, because compiles may fail without
/// them.
void note_submodules(site::Site& site, const Comparison& comparison, Impact& impact) {
    for (const auto* state : {&comparison.from, &comparison.to}) {
        const auto environment = site.environment(state->request());
        const auto* commit = dynamic_cast<const environment::CommitFiles*>(&environment->files());
        const auto missing = commit ? commit->submodules() : std::vector<std::string>();
        if (!missing.empty())
            impact.notes.push_back(
                fmt::format("{} does not hold the files of its submodules ({}), and no repository "
                            "in the working folder does: compiles that need them fail",
                            state->label, fmt::join(missing, ", ")));
    }
}

/// Adds a note about modules that are not installed, because compiles may fail without them.
void note_missing_modules(site::Site& site, const Comparison& comparison, Impact& impact) {
    if (impact.count(Verdict::Fails) + impact.count(Verdict::FailsOtherwise) +
            impact.count(Verdict::FailsAsBefore) ==
        0)
        return;
    const auto environment = site.environment(comparison.to.request());
    const auto text = environment->files().read(environment->directory() + "/Puppetfile");
    // A Puppetfile that needs Ruby is not evaluated here.
    const auto wanted = text ? module::parse_puppetfile(*text) : base::failure("there is none");
    if (!wanted) return;
    std::vector<std::string> missing;
    for (const auto& each : wanted->modules) {
        const auto there = [&](const auto& m) { return m.name == each.folder(); };
        if (std::ranges::none_of(environment->modules(), there)) missing.push_back(each.name);
    }
    if (missing.empty()) return;
    constexpr std::size_t kNamed = 5;
    const auto named = std::min(missing.size(), kNamed);
    const auto others = missing.size() - named;
    impact.notes.push_back(fmt::format(
        "{} that the Puppetfile names {} not installed ({}{}): compiles that need {} fail",
        missing.size() == 1 ? "A module" : fmt::format("{} modules", missing.size()),
        missing.size() == 1 ? "is" : "are",
        fmt::join(missing.begin(), missing.begin() + static_cast<std::ptrdiff_t>(named), ", "),
        others > 0 ? fmt::format(" and {} more", others) : "",
        missing.size() == 1 ? "it" : "them"));
}

}  // namespace

void add_module_notes(site::Site& site, const FleetSelection& fleet, const Comparison& comparison,
                      Impact& impact) {
    note_modules(fleet, comparison, impact);
    note_submodules(site, comparison, impact);
    note_missing_modules(site, comparison, impact);
}

}  // namespace bunraku::insight
