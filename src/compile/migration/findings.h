// What of a Puppet site would be otherwise here: its configuration, environments, data and modules.
#pragma once

#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/config/settings.h"

namespace bunraku::migration {

struct MigrationFinding {
    /// Broken: it does not work, here or anywhere. Differs: it does something else than in Puppet.
    /// Note: worth knowing.
    enum class Weight : unsigned char { Broken, Differs, Note } weight = Weight::Note;
    std::string where, text;
};

/// Reads and changes nothing. `settings` are those of the site's puppet.conf for a server.
std::vector<MigrationFinding> migration_findings(const config::Settings& settings,
                                                 base::LogSink& log);

/// Settings of Puppet that are accepted and do nothing here.
std::vector<std::string_view> settings_without_effect();

}  // namespace bunraku::migration
