// SPDX-License-Identifier: Apache-2.0
#include "compile/reference/compatibility_page.h"

#include <fmt/format.h>

#include "core/config/compatibility.h"

namespace bunraku::reference {
namespace {

constexpr std::string_view kIntroduction = R"(# Compatibility levels

The setting `compatibility` selects whose behaviour Bunraku follows where Puppet and OpenVox differ:

| value | behaviour |
|---|---|
| `puppet8` | Puppet 8.11 |
| `openvox8` | OpenVox 8.28; the default |
| `openvox9` | OpenVox 9.0 |

Set it in the section `[main]` of puppet.conf, as an option of a command, or in environment.conf for
the compiles of one environment. `bunraku doctor`, `bunraku --version`, the service `status-service`
of `/status/v1` and `$settings::compatibility` show it. `bunraku migrate check --to openvox9` lists
what of a site would change.

Additions and fixes of OpenVox that change nothing for existing code apply at every level.
`bunraku help --compatibility` generates this page from the program.

)";

std::string cell(const config::LevelChange& row, std::size_t level) {
    const std::string_view value = row.values[level];
    if (value.empty()) return "–";
    return row.kind == config::LevelChange::Kind::Default ? fmt::format("`{}`", value)
                                                          : std::string(value);
}

}  // namespace

std::string compatibility_page() {
    std::string out(kIntroduction);
    const auto section = [&](config::LevelChange::Kind kind, std::string_view title) {
        out += fmt::format(
            "## {}\n\n| name | `puppet8` | `openvox8` | `openvox9` | source |\n"
            "|---|---|---|---|---|\n",
            title);
        for (const auto& row : config::level_changes()) {
            if (row.kind != kind) continue;
            out += fmt::format("| {} | {} | {} | {} | {} |\n", row.name, cell(row, 0), cell(row, 1),
                               cell(row, 2), row.source);
        }
        out += '\n';
    };
    using enum config::LevelChange::Kind;
    section(Default, "Defaults of settings");
    section(Removed, "Removed settings");
    section(Behavior, "Behaviour");
    out.pop_back();
    return out;
}

}  // namespace bunraku::reference
