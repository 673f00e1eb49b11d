// SPDX-License-Identifier: Apache-2.0
// The facts of ZFS: the versions that the programs `zfs` and `zpool` support (OpenFact 5.0).
#include <fmt/format.h>

#include "resources/facts/context.h"

namespace bunraku::facts {

namespace {

/// What `PROGRAM upgrade -v` prints: numbered versions, and flags of features.
struct ZfsSupport {
    std::vector<std::string> versions, features;
};

/// Returns the first word of a line if the line lists a feature: a name at its beginning, alone or
/// with the remark that older programs can read the pool.
std::string_view feature_name(std::string_view line) {
    const auto end = line.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_");
    const auto rest = trim(line.substr(std::min(end, line.size())));
    return rest.empty() || rest == "(read-only compatible)" ? line.substr(0, end)
                                                            : std::string_view{};
}

/// Returns the output of `PROGRAM upgrade -v`, or undef if it cannot be run. Several facts need it,
/// so the program is run once.
Value upgrade_output(Context& context, std::string_view program) {
    const auto [kept, is_new] = context.responses.try_emplace(std::string(program));
    if (!is_new) return kept->second;
    const auto path = context.system.processes.which(program);
    if (!path) return kept->second;
    const auto outcome = context.system.processes.run(
        {.argv = {*path, "upgrade", "-v"}, .timeout = std::chrono::seconds(10)});
    if (outcome) kept->second = context.text(outcome->output);
    return kept->second;
}

ZfsSupport zfs_support(Context& context, std::string_view program) {
    ZfsSupport out;
    const Value output = upgrade_output(context, program);
    if (output.is_undef()) return out;
    for (const std::string_view line : split_lines(output.as_string())) {
        const auto word = trim(line);
        const auto digits = word.substr(0, word.find_first_not_of("0123456789"));
        if (line.starts_with(' ') && !digits.empty()) out.versions.emplace_back(digits);
        if (const auto feature = feature_name(line); !feature.empty())
            out.features.emplace_back(feature);
    }
    return out;
}

Value joined(Context& context, const std::vector<std::string>& words) {
    return context.text(fmt::format("{}", fmt::join(words, ",")));
}

}  // namespace

Value resolve_zfs_featurenumbers(Context& context) {
    const auto support = zfs_support(context, "zfs");
    return support.versions.empty() ? Value::undef() : joined(context, support.versions);
}

Value resolve_zfs_version(Context& context) {
    const auto support = zfs_support(context, "zfs");
    return support.versions.empty() ? Value::undef() : context.text(support.versions.back());
}

Value resolve_zpool_featureflags(Context& context) {
    const auto support = zfs_support(context, "zpool");
    return support.versions.empty() ? Value::undef() : joined(context, support.features);
}

Value resolve_zpool_featurenumbers(Context& context) {
    const auto support = zfs_support(context, "zpool");
    return support.versions.empty() ? Value::undef() : joined(context, support.versions);
}

Value resolve_zpool_version(Context& context) {
    const auto support = zfs_support(context, "zpool");
    if (support.versions.empty()) return Value::undef();
    // Pools with feature flags have the version 5000.
    return context.text(support.features.empty() ? support.versions.back() : "5000");
}

}  // namespace bunraku::facts
