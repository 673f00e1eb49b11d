// SPDX-License-Identifier: Apache-2.0
#include "cli/impact_output.h"

#include <cstdio>
#include <fmt/format.h>

#include "cli/fleet_options.h"
#include "compile/insight/impact_result.h"
#include "compile/insight/report.h"

namespace bunraku::cli {

namespace {

bool written(const std::string& path, const std::string& text) {
    std::FILE* file = std::fopen(path.c_str(), "we");
    if (!file) return false;
    const bool all = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    return std::fclose(file) == 0 && all;
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

int ImpactOutput::write(const OptionParser& parser, const insight::Impact& impact,
                        base::LogSink& log) const {
    const int code = insight::impact_exit_code(impact, fail_on_);
    auto options = text_options(parser, all_);
    options.exit_code = code;
    const std::string out = json_       ? insight::impact_json(impact)
                            : markdown_ ? insight::impact_markdown(impact)
                            : sarif_    ? insight::impact_sarif(impact, kVersion)
                                        : insight::impact_text(impact, options);
    bool complete = std::fwrite(out.data(), 1, out.size(), stdout) == out.size();
    for (const auto& path : out_) {
        if (written(path, insight::impact_for_file(path, impact, code, kVersion))) continue;
        log.log(base::Level::Err, fmt::format("Could not write to {}", path));
        complete = false;
    }
    return complete ? code : 1;
}

}  // namespace bunraku::cli
