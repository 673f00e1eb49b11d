// SPDX-License-Identifier: Apache-2.0
// The compatibility levels: the peer whose behaviour the program follows where versions differ, and
// the table of these differences.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace bunraku::config {

/// The values of the setting `compatibility`, the oldest first.
enum class Compatibility : std::uint8_t {
    Puppet8,   ///< Puppet 8.11
    OpenVox8,  ///< OpenVox 8.28
    OpenVox9   ///< OpenVox 9.0
};
inline constexpr std::array kLevels{Compatibility::Puppet8, Compatibility::OpenVox8,
                                    Compatibility::OpenVox9};
inline constexpr Compatibility kDefaultLevel = Compatibility::OpenVox8;

/// Returns "puppet8", "openvox8" or "openvox9".
std::string_view level_name(Compatibility level);
std::optional<Compatibility> level_from_name(std::string_view name);

/// A difference between levels.
enum class Change : std::uint8_t {
    Version,
    FacterVersion,
    Implementation,
    Product,
    Subcommand,
    ContentChecksum,
    RegsubstEncoding,
    FilebucketRead,
    DefaultReports,
    DefaultPreprocessDeferred,
    DefaultServer,
    RemovedPluginsync,
    RemovedConfigprint,
    RemovedDataBinding,
    RemovedDataProvider,
    SourcePermissions,
    FactLdapname,
    FactTimeouts,
    FactCommands,
    CatalogName,
    ModuleRequirements,
    NodeParameters,
    FactLimitWarnings,
    FileTimeout,
    EnvironmentFunctions
};

/// A row of the table of differences.
struct LevelChange {
    Change change;
    enum class Kind : std::uint8_t {
        Default,  ///< the default of the setting `name`
        Removed,  ///< the setting `name` does not exist any more
        Behavior
    } kind;
    std::string_view name;
    Compatibility since;  ///< the first level with the new behaviour
    /// What each level does, in Markdown; for a default its value.
    std::array<std::string_view, kLevels.size()> values;
    std::string_view source;  ///< release and pull request
    /// What `migrate check` reports for code and configuration that the change affects. Empty if it
    /// checks nothing.
    std::string_view advice = {};
};
std::span<const LevelChange> level_changes();
const LevelChange& level_change(Change change);

/// Reports whether `level` has the new behaviour.
bool changed(Compatibility level, Change change);
/// Returns the default of a setting at a level, or nullopt if no level changes it.
std::optional<std::string_view> default_at(Compatibility level, std::string_view setting);
/// Reports whether a setting that Puppet 8 has does not exist at `level`.
bool removed_setting(Compatibility level, std::string_view setting);

/// Returns the version that programs and code see, for example "8.28.1".
std::string_view puppet_version(Compatibility level);
/// Returns the fact `facterversion`.
std::string_view facter_version(Compatibility level);
/// Returns the fact `implementation`: "openvox", or "" for Puppet, which has no such fact.
std::string_view implementation(Compatibility level);
/// Returns the name of the product in messages: "OpenVox", or `before` at the older levels, whose
/// messages have "Puppet" or "puppet".
std::string_view product(Compatibility level, std::string_view before = "Puppet");

}  // namespace bunraku::config
