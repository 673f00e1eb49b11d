// SPDX-License-Identifier: Apache-2.0
#include "core/config/compatibility.h"

#include <algorithm>

#include "core/base/assert.h"

namespace bunraku::config {
namespace {

using enum Compatibility;

// The order is that of the enumeration.
constexpr LevelChange kChanges[] = {
    {Change::Version,
     LevelChange::Kind::Behavior,
     "version",
     OpenVox8,
     {"8.11.0", "8.28.1", "9.0.0"},
     "the releases"},
    {Change::FacterVersion,
     LevelChange::Kind::Behavior,
     "facterversion",
     OpenVox8,
     {"4.11.0", "5.6.1", "6.0.0"},
     "the releases of OpenFact; the command `facter` has 4.11.0"},
    {Change::Implementation,
     LevelChange::Kind::Behavior,
     "implementation",
     OpenVox8,
     {"", "openvox", "openvox"},
     "openvox 8.19.0, #63; 8.19.2, #107"},
    {Change::Product,
     LevelChange::Kind::Behavior,
     "product",
     OpenVox9,
     {"Puppet", "Puppet", "OpenVox"},
     "openvox 9.0.0-beta2, #530"},
    {Change::Subcommand,
     LevelChange::Kind::Behavior,
     "unknown_subcommand",
     OpenVox8,
     {"`Unknown Puppet subcommand`", "`Unknown subcommand`", "`Unknown subcommand`"},
     "openvox 8.11.0"},
    {Change::ContentChecksum,
     LevelChange::Kind::Behavior,
     "content_checksum",
     OpenVox8,
     {"content that looks like a checksum is fetched from the filebucket",
      "content that looks like a checksum is written", "the same"},
     "openvox 9.0.0-beta2, #170; Bunraku takes it to `openvox8`",
     "the content looks like a checksum: OpenVox 9 writes it as text, Puppet 8 and OpenVox 8 fetch "
     "the file with this checksum from the filebucket"},
    {Change::RegsubstEncoding,
     LevelChange::Kind::Behavior,
     "regsubst_encoding",
     OpenVox9,
     {"the fifth argument of `regsubst` is ignored", "the same",
      "`regsubst` takes at most four arguments"},
     "openvox 9.0.0-beta1, #391",
     "regsubst no longer takes an encoding: remove the fifth argument"},
    {Change::FilebucketRead,
     LevelChange::Kind::Behavior,
     "filebucket_read",
     OpenVox9,
     {"agents may read the server's filebucket", "the same",
      "agents may only store to the server's filebucket and test for a file; certificates with "
      "`pp_cli_auth` may read"},
     "openvox-server 9.0.0-beta3",
     "agents may no longer read the server's filebucket: add a rule to auth.conf if you restore "
     "files on nodes"},
    {Change::DefaultReports,
     LevelChange::Kind::Default,
     "reports",
     OpenVox9,
     {"store", "store", "none"},
     "openvox 9.0.0-beta2, #583",
     "the default of `reports` changes from store to none: set it if you use the stored reports"},
    {Change::DefaultPreprocessDeferred,
     LevelChange::Kind::Default,
     "preprocess_deferred",
     OpenVox9,
     {"false", "false", "true"},
     "openvox 9.0.0-alpha2, #462",
     "the default of `preprocess_deferred` changes from false to true: Deferred functions run "
     "before the catalog is applied"},
    {Change::DefaultServer,
     LevelChange::Kind::Default,
     "server",
     OpenVox9,
     {"puppet", "puppet", "puppet for root, otherwise empty; agents need a value"},
     "openvox 9.0.0-beta1, #536; 9.0.0-rc1, #623",
     "agents need a value of `server`: set it"},
    {Change::RemovedPluginsync,
     LevelChange::Kind::Removed,
     "pluginsync",
     OpenVox9,
     {"deprecated", "deprecated", "removed"},
     "openvox 9.0.0-beta1, #389",
     "the setting is removed; plugins are always synchronized"},
    {Change::RemovedConfigprint,
     LevelChange::Kind::Removed,
     "configprint",
     OpenVox9,
     {"deprecated", "deprecated", "removed"},
     "openvox 9.0.0-beta1, #374",
     "the setting is removed: use `config print`"},
    {Change::RemovedDataBinding,
     LevelChange::Kind::Removed,
     "data_binding_terminus",
     OpenVox9,
     {"deprecated", "deprecated", "removed; the global layer of Hiera always counts"},
     "openvox 9.0.0-beta2, #385",
     "the setting is removed: use a hiera.yaml of version 5"},
    {Change::RemovedDataProvider,
     LevelChange::Kind::Removed,
     "environment_data_provider",
     OpenVox9,
     {"deprecated", "deprecated", "removed"},
     "openvox 9.0.0-beta2, #385",
     "the setting is removed: use a hiera.yaml of version 5 in the environment"},
    {Change::SourcePermissions,
     LevelChange::Kind::Behavior,
     "source_permissions",
     OpenVox9,
     {"`source_permissions` logs a deprecation warning", "the same", "no warning"},
     "openvox 9.0.0-beta1, #418"},
    {Change::FactLdapname,
     LevelChange::Kind::Behavior,
     "ldapname",
     OpenVox9,
     {"custom facts may set `ldapname`", "the same", "`ldapname` is not an option of a fact"},
     "openfact 6.0.0, #111",
     "facts no longer have the option ldapname: remove it"},
    {Change::FactTimeouts,
     LevelChange::Kind::Behavior,
     "fact_timeouts",
     OpenVox9,
     {"`limit` and `time_limit` set a timeout", "the same", "they log a deprecation warning"},
     "openfact 6.0.0, #114 and #115",
     "use `timeout` instead"},
    {Change::FactCommands,
     LevelChange::Kind::Behavior,
     "fact_commands",
     OpenVox9,
     {"`Facter::Util::Resolution.exec` and `which` run silently", "the same",
      "they log a deprecation warning"},
     "openfact 6.0.0, #121",
     "use Facter::Core::Execution instead"},
    {Change::CatalogName,
     LevelChange::Kind::Behavior,
     "catalog_name",
     OpenVox9,
     {"an agent does not compare the name of its catalog", "the same",
      "an agent logs an error if the catalog is for another node"},
     "openvox 9.0.0-beta2, #568"},
    {Change::ModuleRequirements,
     LevelChange::Kind::Behavior,
     "module_requirements",
     OpenVox8,
     {"a module's requirement on `puppet` counts",
      "a module's requirement on `openvox` counts, or else the one on `puppet`", "the same"},
     "Vox Pupuli's modules, metadata.json",
     "the requirements of the module exclude this version"},
    {Change::NodeParameters,
     LevelChange::Kind::Behavior,
     "node_parameters",
     OpenVox9,
     {"a parameter of a node that is set again logs a warning", "the same",
      "it logs a notice if both values are equal"},
     "openvox 9.0.0-rc1, #626"},
    {Change::FactLimitWarnings,
     LevelChange::Kind::Behavior,
     "fact_limit_warnings",
     OpenVox8,
     {"the warning about a long value does not name the fact",
      "warnings about soft limits name the fact with dots", "the same"},
     "openvox 8.20.0, #137"},
    {Change::FileTimeout,
     LevelChange::Kind::Behavior,
     "filetimeout",
     OpenVox9,
     {"a `filetimeout` in puppet.conf logs a deprecation warning", "the same", "no warning"},
     "openvox 9.0.0-beta1, #419"},
    {Change::EnvironmentFunctions,
     LevelChange::Kind::Behavior,
     "environment_functions",
     OpenVox9,
     {"Ruby code may call `Puppet::Util.get_env`, `set_env`, `get_environment`, "
      "`clear_environment` and `merge_environment`",
      "the same", "they log a deprecation warning"},
     "openvox 9.0.0-beta1, #417"},
};

constexpr std::string_view kNames[] = {"puppet8", "openvox8", "openvox9"};

std::size_t index_of(Compatibility level) {
    const auto at = static_cast<std::size_t>(level);
    BUNRAKU_ASSERT(at < kLevels.size());
    return at;
}

std::string_view value_at(Compatibility level, Change change) {
    return level_change(change).values[index_of(level)];
}

}  // namespace

std::string_view level_name(Compatibility level) { return kNames[index_of(level)]; }

std::optional<Compatibility> level_from_name(std::string_view name) {
    for (const Compatibility level : kLevels)
        if (level_name(level) == name) return level;
    return std::nullopt;
}

std::span<const LevelChange> level_changes() { return kChanges; }

const LevelChange& level_change(Change change) {
    const LevelChange& row = kChanges[static_cast<std::size_t>(change)];
    BUNRAKU_ASSERT(row.change == change);
    return row;
}

bool changed(Compatibility level, Change change) { return level >= level_change(change).since; }

std::optional<std::string_view> default_at(Compatibility level, std::string_view setting) {
    for (const LevelChange& row : kChanges)
        if (row.kind == LevelChange::Kind::Default && row.name == setting)
            return row.values[index_of(level)];
    return std::nullopt;
}

bool removed_setting(Compatibility level, std::string_view setting) {
    return std::ranges::any_of(kChanges, [&](const LevelChange& row) {
        return row.kind == LevelChange::Kind::Removed && row.name == setting && level >= row.since;
    });
}

std::string_view puppet_version(Compatibility level) { return value_at(level, Change::Version); }
std::string_view facter_version(Compatibility level) {
    return value_at(level, Change::FacterVersion);
}
std::string_view implementation(Compatibility level) {
    return value_at(level, Change::Implementation);
}
std::string_view product(Compatibility level, std::string_view before) {
    return changed(level, Change::Product) ? value_at(level, Change::Product) : before;
}

}  // namespace bunraku::config
