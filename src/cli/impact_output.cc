#include "cli/impact_output.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>

#include "cli/fleet_options.h"
#include "compile/insight/report.h"

namespace bunraku::cli {

namespace {

using insight::Kind;
using insight::Verdict;

bool matters(const std::string& wish, const insight::Group& group) {
    const Kind kind = group.change.kind;
    const bool error = kind == Kind::Conflict || kind == Kind::Fails ||
                       kind == Kind::FailsOtherwise || kind == Kind::Finding;
    if (wish == "errors") return error;
    if (wish == "changes") return kind != Kind::FailsAsBefore;
    const auto& c = group.change;
    return !c.reference.empty() &&
           (fits(wish, c.reference) || fits(wish, c.reference + "::" + c.parameter));
}

bool written(const std::string& path, const std::string& text) {
    std::FILE* file = std::fopen(path.c_str(), "we");
    if (!file) return false;
    const bool all = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    return std::fclose(file) == 0 && all;
}

std::string in_form(const std::string& path, const insight::Impact& impact, int exit_code) {
    if (path.ends_with(".md")) return insight::impact_markdown(impact);
    if (path.ends_with(".sarif")) return insight::impact_sarif(impact, kVersion);
    if (path.ends_with(".txt"))
        return insight::impact_text(impact, {.whole = true, .exit_code = exit_code});
    return insight::impact_json(impact);
}

}  // namespace

void ImpactOutput::add_to(OptionParser& parser) {
    parser.list("fail-on", &fail_on_);
    parser.list("out", &out_);
    parser.flag("json", &json_);
    parser.flag("markdown", &markdown_);
    parser.flag("sarif", &sarif_);
    parser.flag("all", &all_);
}

void ImpactOutput::add_unjudged(insight::Impact& impact,
                                const std::vector<std::pair<std::string, std::string>>& unjudged) {
    for (const auto& [name, why] : unjudged)
        impact.nodes.push_back(
            {.name = name, .verdict = Verdict::Unjudged, .why = why, .groups = {}});
    std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
    for (const auto& node : impact.nodes) {
        if (node.verdict != Verdict::Unjudged) continue;
        auto it = std::ranges::find(reasons, node.why, &decltype(reasons)::value_type::first);
        if (it == reasons.end()) it = reasons.insert(it, {node.why, {}});
        it->second.push_back(node.name);
    }
    constexpr std::size_t kReasons = 10, kNamed = 4;
    for (std::size_t i = 0; i < std::min(reasons.size(), kReasons); ++i) {
        const auto& [why, names] = reasons[i];
        if (names.size() == 1) {
            impact.notes.push_back(fmt::format("{} was not judged: {}", names[0], why));
            continue;
        }
        const auto named = std::min(names.size(), kNamed);
        const std::vector<std::string> first(names.begin(),
                                             names.begin() + static_cast<std::ptrdiff_t>(named));
        impact.notes.push_back(fmt::format(
            "{} nodes were not judged ({}{}): {}", names.size(), fmt::join(first, ", "),
            names.size() > named ? fmt::format(" and {} more", names.size() - named) : "", why));
    }
}

int ImpactOutput::exit_code(const insight::Impact& impact) const {
    for (const auto& wish : fail_on_) {
        if (std::ranges::any_of(impact.groups, [&](const auto& g) { return matters(wish, g); }))
            return 2;
    }
    return impact.count(Verdict::Unjudged) > 0 ? 3 : 0;
}

int ImpactOutput::write(const OptionParser& parser, const insight::Impact& impact,
                        base::LogSink& log) const {
    const int code = exit_code(impact);
    auto options = text_options(parser, all_);
    options.exit_code = code;
    const std::string out = json_       ? insight::impact_json(impact)
                            : markdown_ ? insight::impact_markdown(impact)
                            : sarif_    ? insight::impact_sarif(impact, kVersion)
                                        : insight::impact_text(impact, options);
    bool told = std::fwrite(out.data(), 1, out.size(), stdout) == out.size();
    for (const auto& path : out_) {
        if (written(path, in_form(path, impact, code))) continue;
        log.log(base::Level::Err, fmt::format("Could not write to {}", path));
        told = false;
    }
    return told ? code : 1;
}

}  // namespace bunraku::cli
