// bunraku impact: which nodes a change touches, what becomes of them, and why.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <future>

#include "cli/command.h"
#include "cli/fleet_options.h"
#include "cli/impact_output.h"
#include "cli/terminal.h"
#include "compile/insight/impact.h"
#include "compile/insight/interaction.h"
#include "core/base/plain_error.h"
#include "language/environment/commit_files.h"
#include "modules/module/puppetfile.h"

namespace bunraku::cli {

namespace {

using base::PuppetError;

struct ImpactOptions {
    FleetOptions fleet;
    std::string from, to, with;
    std::vector<std::string> ignore, ignore_attributes;
    ImpactOutput output;
    bool everything = false, because = true, kept = true;
};

void add_impact_options(OptionParser& parser, ImpactOptions& o) {
    o.fleet.add_to(parser);
    parser.value("from", &o.from);
    parser.value("to", &o.to);
    parser.value("with", &o.with);
    o.output.add_to(parser);
    parser.list("ignore", &o.ignore);
    parser.list("ignore-attr", &o.ignore_attributes);
    parser.flag("everything", &o.everything);
    parser.flag("because", &o.because);
    parser.flag("kept", &o.kept);
}

std::vector<catalog::IgnorePattern> ignored(const ImpactOptions& o) {
    std::vector<catalog::IgnorePattern> out;
    auto add = [&](const char* option, const std::string& text) {
        auto pattern = catalog::IgnorePattern::parse(text);
        if (!pattern)
            throw base::plain_error(fmt::format("{}: {}", option, pattern.error().message));
        out.push_back(std::move(*pattern));
    };
    for (const auto& text : o.ignore) add("--ignore", text);
    for (const auto& name : o.ignore_attributes) add("--ignore-attr", "*[*]::" + name);
    return out;
}

/// What a Puppetfile names is installed once, for both states.
void note_modules(const ImpactOptions& o, const insight::Comparison& comparison,
                  insight::Impact& impact) {
    const auto& disk = *environment::disk_files();
    const site::Sources both[] = {comparison.from.request().sources,
                                  comparison.to.request().sources};
    // A commit is not opened to see that nothing lies beside its Puppetfile.
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
            o.fleet.control() + "/modules: what other versions of them change is not seen");
    }
}

/// Why compiles may fail: submodules whose commits are nowhere here.
void note_submodules(site::Site& site, const insight::Comparison& comparison,
                     insight::Impact& impact) {
    for (const auto* state : {&comparison.from, &comparison.to}) {
        const auto environment = site.environment(state->request());
        const auto* commit = dynamic_cast<const environment::CommitFiles*>(&environment->files());
        const auto missing = commit ? commit->submodules() : std::vector<std::string>();
        if (!missing.empty())
            impact.notes.push_back(
                fmt::format("{} does not hold the files of its submodules ({}), and no repository "
                            "in the working folder does: what needs them fails",
                            state->label, fmt::join(missing, ", ")));
    }
}

/// Why compiles may fail: modules that nobody has installed.
void note_missing_modules(site::Site& site, const insight::Comparison& comparison,
                          insight::Impact& impact) {
    using insight::Verdict;
    if (impact.count(Verdict::Fails) + impact.count(Verdict::FailsOtherwise) +
            impact.count(Verdict::FailsAsBefore) ==
        0)
        return;
    const auto environment = site.environment(comparison.to.request());
    const auto text = environment->files().read(environment->directory() + "/Puppetfile");
    // One that is a program is not run for this.
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
        "{} that the Puppetfile names {} not installed ({}{}): what needs {} fails",
        missing.size() == 1 ? "A module" : fmt::format("{} modules", missing.size()),
        missing.size() == 1 ? "is" : "are",
        fmt::join(missing.begin(), missing.begin() + static_cast<std::ptrdiff_t>(named), ", "),
        others > 0 ? fmt::format(" and {} more", others) : "",
        missing.size() == 1 ? "it" : "them"));
}

/// Shows how far it is, and each kind of change as soon as it is known.
class Preview {
public:
    void operator()(std::size_t done, std::size_t all, std::span<const insight::Group> groups) {
        constexpr std::size_t kMostShown = 10;
        for (; kinds_ < std::min(groups.size(), kMostShown); ++kinds_) {
            const auto& change = groups[kinds_].change;
            line_.show_above(fmt::format("{} {} {}", insight::kind_name(change.kind),
                                         change.reference, change.parameter));
        }
        line_.show(fmt::format("{} of {} nodes, {} kinds of change", done, all, groups.size()));
    }

private:
    ProgressLine line_;
    std::size_t kinds_ = 0;
};

int run_impact(Invocation& invocation) {
    OptionParser parser(invocation);
    ImpactOptions o;
    add_impact_options(parser, o);
    std::vector<std::string> positional;
    if (!parser.parse(&positional)) return parser.exit_code();
    auto sink = make_console_sink(parser);
    base::Arena arena(64 * 1024);
    insight::Impact impact;
    insight::Comparison comparison;
    try {
        if (!positional.empty())
            throw base::plain_error(
                fmt::format("'{}' is no option of impact: see 'bunraku help "
                            "impact'",
                            positional.front()));
        auto options = site_options(*sink);
        options.explain_errors = false;
        options.threads = o.fleet.threads();
        options.queue = 2 * options.threads;
        site::Site site(invocation.settings, std::move(options));

        using StateKind = FleetOptions::StateKind;
        if (o.from.empty()) o.from = "HEAD";
        const auto from = o.fleet.meaning(o.from), to = o.fleet.meaning(o.to);
        // Both stand where the repository does, or where the first one is.
        std::string shown;
        if (from == StateKind::Revision || from == StateKind::WorkingTree ||
            to == StateKind::Revision || to == StateKind::WorkingTree)
            shown = o.fleet.control();
        comparison.from = o.fleet.state(o.from, site.settings(), shown);
        if (shown.empty()) shown = comparison.from.request().sources.directory;
        comparison.to = o.fleet.state(o.to, site.settings(), shown);
        auto name_of = [&](const insight::State& state) {
            const auto request = state.request();
            const auto* name = request.overlay.find("environment");
            return name ? *name : std::string();
        };
        comparison.everything = o.everything || name_of(comparison.from) != name_of(comparison.to);
        comparison.because = o.because;
        comparison.ignored = ignored(o);
        Preview preview;
        comparison.progress = [&](std::size_t done, std::size_t all, auto groups) {
            preview(done, all, groups);
        };
        if (o.kept) comparison.keep = kept_folder();

        // Git answers while facts are looked at. What it cannot answer is told where it is needed.
        const auto opening = std::async(std::launch::async, [&] {
            try {
                (void)site.environment(comparison.from.request());
            } catch (const PuppetError&) {
            }
        });
        const auto fleet = o.fleet.fleet(site, arena, *sink, comparison.keep);
        opening.wait();
        impact = o.with.empty() ? insight::impact(site, comparison, fleet.nodes)
                                : insight::impact_of_both(
                                      site, comparison,
                                      o.fleet.state(o.with, site.settings(), shown), fleet.nodes);
        impact.notes.insert(impact.notes.begin(), fleet.notes.begin(), fleet.notes.end());
        ImpactOutput::add_unjudged(impact, fleet.unjudged);
        note_modules(o, comparison, impact);
        note_submodules(site, comparison, impact);
        note_missing_modules(site, comparison, impact);
        sink->log(base::Level::Debug,
                  fmt::format("The first group was there after {:.3f} s, all "
                              "after {:.3f} s; {} compiles",
                              impact.first_seconds, impact.seconds,
                              impact.compiled_before + impact.compiled_after + impact.tried));
    } catch (const PuppetError& error) {
        report_error(*sink, error, "");
        return 1;
    }
    return o.output.write(parser, impact, *sink);
}

}  // namespace

BUNRAKU_COMMAND(impact){.name = "impact",
                        .summary = "Show which nodes a change touches, and what becomes of them.",
                        .run = run_impact,
                        .run_mode = "server"};

}  // namespace bunraku::cli
