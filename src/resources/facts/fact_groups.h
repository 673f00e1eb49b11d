// The groups that facts belong to, for what facter.conf blocks and keeps.
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

/// What facter.conf says (HOCON). All of it is optional.
struct FacterConf {
    // global
    std::vector<std::string> external_directories, custom_directories;
    std::optional<bool> no_external_facts, no_custom_facts, no_ruby, show_legacy, sequential,
        force_dot_resolution;
    std::optional<double> fact_timeout;  ///< ours: seconds that one custom fact may take
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

/// Reads it; nothing where it is not there. What is wrong is told, and the file counts for nothing.
FacterConf read_facter_conf(sys::FileSystem& files, const std::string& path, base::LogSink* log);

/// Facter's groups, with those of the configuration and one of every file of external facts.
class FactGroups {
public:
    FactGroups(const FacterConf& conf, sys::FileSystem& files,
               const std::vector<std::string>& external_directories, base::LogSink* log);

    struct Kept {
        std::string group;
        std::int64_t seconds = 0;
    };
    /// For how long the facts of that name are kept, and in which file; nullopt: they are not.
    std::optional<Kept> kept(std::string_view fact) const;
    /// The group that a fact is kept with.
    std::optional<std::string> group_of(std::string_view fact) const;
    /// As the configuration has it of the group itself.
    std::optional<std::int64_t> group_seconds(std::string_view group) const;
    /// The facts of what is blocked; the group "legacy" is none of them.
    std::vector<std::string> blocked_facts() const;
    bool blocks_legacy() const;
    /// `facter --list-block-groups`.
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
    std::vector<std::pair<std::string, Kept>> kept_;  // in reverse order of the names
    std::vector<std::pair<std::string, std::int64_t>> group_seconds_;
};

/// "30 days" in seconds, as Facter counts; nullopt for a unit that there is none of, which is told.
std::optional<std::int64_t> ttl_seconds(std::string_view text, base::LogSink* log);

}  // namespace bunraku::facts
