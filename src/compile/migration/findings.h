// SPDX-License-Identifier: Apache-2.0
// Differences in behaviour that a Puppet site would see here: in its configuration, environments,
// data and modules.
#pragma once

#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/config/settings.h"

namespace bunraku::migration {

struct MigrationFinding {
    /// Broken: does not work in Puppet either. Differs: behaves differently than in Puppet. Note:
    /// for information.
    enum class Weight : unsigned char { Broken, Differs, Note } weight = Weight::Note;
    std::string where, text;
};

/// Returns the findings; changes no files. `settings` are those of the site's puppet.conf for a
/// server.
std::vector<MigrationFinding> migration_findings(const config::Settings& settings,
                                                 base::LogSink& log);

/// Returns the settings of Puppet that are accepted but have no effect here.
std::vector<std::string_view> settings_without_effect();

}  // namespace bunraku::migration
