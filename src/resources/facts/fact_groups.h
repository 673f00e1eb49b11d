// SPDX-License-Identifier: Apache-2.0
// Groups of facts, which facter.conf uses to block and cache facts.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/sys/file_system.h"

namespace bunraku::facts {

/// The content of facter.conf (HOCON). All settings are optional.
struct FacterConf {
    // global
    std::vector<std::string> external_directories, custom_directories;
    std::optional<bool> no_external_facts, no_custom_facts, no_ruby, show_legacy, sequential,
        force_dot_resolution;
    /// seconds that one custom fact may take; an extension of Bunraku
    std::optional<double> fact_timeout;
    // cli
    std::optional<bool> debug, trace, verbose;
    std::string log_level;
    // facts
    std::vector<std::string> blocklist;
    std::vector<std::pair<std::string, std::string>> ttls;  ///< "uptime", "30 days"
    // fact-groups
    std::vector<std::pair<std::string, std::vector<std::string>>> groups;
};

/// /etc/puppetlabs/facter/facter.conf
extern const std::string kFacterConfPath;

/// Reads facter.conf. Returns no settings if the file does not exist. If the file is invalid, logs
/// the error and returns no settings.
FacterConf read_facter_conf(sys::FileSystem& files, const std::string& path, base::LogSink* log);

/// Facter's groups, the groups of the configuration, and one group for every file of external
/// facts.
class FactGroups {
public:
    FactGroups(const FacterConf& conf, sys::FileSystem& files,
               const std::vector<std::string>& external_directories, base::LogSink* log);

    struct CachePolicy {
        std::string group;
        std::int64_t seconds = 0;
    };
    /// Returns the group of a cached fact, which is also the name of its cache file, and the
    /// cache's lifetime. Returns nullopt if the fact is not cached.
    std::optional<CachePolicy> cache_policy(std::string_view fact) const;
    /// Returns the group in which a fact is cached.
    std::optional<std::string> group_of(std::string_view fact) const;
    /// Returns the lifetime that the configuration sets for the group itself.
    std::optional<std::int64_t> group_seconds(std::string_view group) const;
    /// Returns the facts of all blocked groups except the group "legacy".
    std::vector<std::string> blocked_facts() const;
    bool blocks_legacy() const;
    /// Returns the output of `facter --list-block-groups`.
    std::string list() const;

private:
    struct Group {
        std::string name;
        std::vector<std::string> facts;
        bool file = false;
    };
    const Group* find(std::string_view name) const;
    const FacterConf& conf_;
    std::vector<Group> groups_;
    std::vector<std::pair<std::string, CachePolicy>> policies_;  // in reverse order of names
    std::vector<std::pair<std::string, std::int64_t>> group_seconds_;
};

/// Converts a lifetime such as "30 days" to seconds, by Facter's rules. If the unit is unknown,
/// logs that and returns nullopt.
std::optional<std::int64_t> ttl_seconds(std::string_view text, base::LogSink* log);

}  // namespace bunraku::facts
