// SPDX-License-Identifier: Apache-2.0
// The flat facts of Facter 3 and earlier with one fixed replacement. The facts of this machine and
// the check legacy_facts read this table.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace bunraku::lint {

struct LegacyFact {
    /// The programs that have the fact. Facter on Linux lacks the facts of other systems, and
    /// puppet-lint lacks some facts of Facter.
    enum class Known : std::uint8_t { Both, Facter, Lint };

    std::string_view name;
    std::string_view path;  ///< of the structured fact, such as "os.family"
    Known known = Known::Both;
    std::string_view lint_path = {};  ///< what puppet-lint puts in its place, if it differs
};

/// Returns the table, ordered by name.
std::span<const LegacyFact> legacy_fact_table();

}  // namespace bunraku::lint
