// SPDX-License-Identifier: Apache-2.0
#include "services/server/version_journal.h"

#include <fmt/format.h>

#include "core/base/number.h"
#include "core/base/text.h"
#include "core/sys/disk.h"

namespace bunraku::server {

namespace {

/// Fields are separated by tabs. Names with tabs or line breaks are not recorded.
bool is_plain(std::string_view text) {
    return text.find_first_of("\t\n") == std::string_view::npos && !text.empty();
}

}  // namespace

VersionJournal::Content VersionJournal::read() const {
    Content out;
    if (path_.empty()) return out;
    const auto text = sys::disk().read(path_);
    if (!text) return out;
    const auto number = [](std::string_view field) {
        return base::parse_integer<std::uint64_t>(field).value_or(0);
    };
    for (const auto line : base::split(*text, '\n')) {
        const auto fields = base::split(line, '\t');
        if (fields.size() == 4 && fields[0] == "base" && fields[3] == ".") {
            out.bases[std::string(fields[1])] = fields[2];
        } else if (fields.size() == 9 && fields[0] == "run" && fields[8] == ".") {
            out.runs.push_back({.environment = std::string(fields[1]),
                                .node = std::string(fields[2]),
                                .version = std::string(fields[3]),
                                .transaction = number(fields[4]),
                                .last = {number(fields[5]), number(fields[6])},
                                .began_ns = static_cast<std::int64_t>(number(fields[7]))});
        } else if (fields.size() == 4 && fields[0] == "ended" && fields[3] == ".") {
            std::erase_if(out.runs, [&](const Run& run) {
                return run.environment == fields[1] && run.node == fields[2];
            });
        }
    }
    return out;
}

base::Result<void> VersionJournal::replace(const Content& content) const {
    if (path_.empty()) return {};
    std::string text;
    for (const auto& [environment, version] : content.bases)
        if (is_plain(version)) text += fmt::format("base\t{}\t{}\t.\n", environment, version);
    for (const auto& run : content.runs) {
        if (!is_plain(run.node) || !is_plain(run.version)) continue;
        text += fmt::format("run\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t.\n", run.environment, run.node,
                            run.version, run.transaction, run.last[0], run.last[1], run.began_ns);
    }
    // A rollout moves the link of the environment next. After a loss of power, the link must not be
    // newer than the journal.
    return sys::disk().replace(path_, text, {.mode = 0600, .sync = true});
}

base::Result<void> VersionJournal::ended(std::string_view environment,
                                         std::string_view node) const {
    if (path_.empty() || !is_plain(node)) return {};
    // The line break in front ends a line that a crash left incomplete.
    return sys::disk().append(path_, fmt::format("\nended\t{}\t{}\t.\n", environment, node), 0600);
}

}  // namespace bunraku::server
