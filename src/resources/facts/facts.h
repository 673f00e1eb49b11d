// SPDX-License-Identifier: Apache-2.0
// Facter 4's core facts for Linux, read without a Ruby process.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/config/compatibility.h"
#include "core/config/settings.h"
#include "core/sys/system.h"
#include "core/value/value.h"
#include "resources/facts/fact_groups.h"

namespace bunraku::facts {

struct Context;

/// One top-level fact. `resolve` returns undef if the fact does not exist on this machine.
struct FactSpec {
    std::string_view name;
    std::string_view doc;
    value::Value (*resolve)(Context& context);
};

/// Returns all built-in facts, sorted by name.
std::span<const FactSpec> all_facts();

struct Options {
    /// Top-level facts to resolve; empty for all.
    std::vector<std::string> names;
    /// Folders of external facts (*.txt, *.json, *.yaml and programs); earlier folders take
    /// precedence.
    std::vector<std::string> external_directories;
    /// Folders of custom facts (*.rb), which the plugin host runs. They take precedence over
    /// built-in facts.
    std::vector<std::string> custom_directories;
    /// More folders from which those files may `require` libraries.
    std::vector<std::string> library_directories;
    /// Facts from environment variables FACTER_name=text. They take precedence over all others.
    std::vector<std::pair<std::string, std::string>> environment;
    /// Include the legacy flat facts ("osfamily"). A legacy fact that a query names is always
    /// included.
    bool legacy = false;
    /// The blocked facts, cached facts and groups of facter.conf; callers must apply its other
    /// settings.
    FacterConf conf;
    bool cache = true;         ///< cache facts in accordance with the configuration
    bool block = true;         ///< block facts in accordance with the configuration
    bool custom_dots = false;  ///< treat a custom fact named "a.b" as key b of the fact a
    bool puppet = true;        ///< add the fact puppetversion
    config::Compatibility level = config::kDefaultLevel;
    bool trace = false, debug = false;  ///< for custom facts
    /// Time limit in seconds for one custom fact or for one program of an external fact.
    double time_limit = 60;
    std::string cache_directory = "/opt/puppetlabs/facter/cache/cached_facts";
    /// Receives the resolution time of each fact (`facter --timing`): "fact 'os.name'", seconds.
    std::function<void(const std::string& what, double seconds)> timing;
    /// Receives log records, whose sources are classes of Facter.
    base::LogSink* log = nullptr;
    /// The Ruby program that runs custom facts, and the Puppet settings that they may read.
    std::string ruby_program = "ruby";
    std::function<std::optional<std::string>(std::string_view)> setting;
    /// Addresses in the arena of strings that represent integers beyond 64 bits. Only external
    /// facts contain such integers. format_facts prints them without quotes.
    std::shared_ptr<std::set<const char*>> large_integers =
        std::make_shared<std::set<const char*>>();
};

/// The kind of code that provides a fact.
enum class Origin : std::uint8_t {
    Core,
    Legacy,
    Custom,    ///< Ruby code
    External,  ///< a file or an environment variable
    File,      ///< a file of external facts, during the search of the cache
    None       ///< unknown fact
};
/// A fact or a part of one ("os.name"), with the query that requested it.
struct Resolved {
    std::string name;
    value::Value value;
    Origin origin = Origin::Core;
    std::string query;
    std::string file;
};
/// Returns the facts that match the queries ("os.release.major", "ipaddress_eth0"), or all facts if
/// `queries` is empty.
std::vector<Resolved> resolve(base::Arena& arena, sys::System& system, const Options& options,
                              const std::vector<std::string>& queries);
/// Combines facts into one hash, with parts of facts at their positions. Sorts all levels by name,
/// as Facter does.
value::Value assemble(base::Arena& arena, std::span<const Resolved> facts, const Options& options);

/// Copies the folders, dot handling and time limit of facter.conf to the options. Puppet needs only
/// these settings; `facter` applies more of them.
void apply_conf(Options& options);

/// Returns the facts of this machine as a hash.
value::Value collect(base::Arena& arena, sys::System& system, const Options& options = {});
/// Returns the facts of the real machine, with Puppet's folders of external facts and the facts
/// that a Puppet run adds. Respects the setting include_legacy_facts.
value::Value collect_local(base::Arena& arena, const config::Settings& settings);

/// Returns the legacy facts that Facter 4.3 derives from structured facts.
value::Value legacy_facts(base::Arena& arena, const value::Value& facts);

/// Returns the facts that environment variables FACTER_name=text define, by Facter's rules; names
/// are in lower case.
std::vector<std::pair<std::string, std::string>> environment_facts();

/// The version of Facter that the command `facter` follows.
inline constexpr std::string_view kFacterVersion = "4.11.0";

/// Returns the existing facter/ folders on Ruby's load path.
std::vector<std::string> ruby_fact_directories(sys::System& system);

/// Returns the folders of custom facts outside modules: `facter` on Ruby's load path, then those
/// that the environment variable FACTERLIB names.
std::vector<std::string> facterlib_directories();

/// Returns the folders in which Facter looks for external facts, for root or for another user.
std::vector<std::string> default_external_directories(bool root);

/// Adds the facts that a Puppet run adds: clientcert, clientversion, clientnoop and, for OpenVox,
/// implementation.
value::Value with_local_facts(base::Arena& arena, const value::Value& facts,
                              const config::Settings& settings);

/// Returns the value at a path such as "os.release.major" in a hash of facts; undef if it does not
/// exist.
value::Value dig(const value::Value& facts, std::string_view path);

/// Forwards log records in the form of Puppet's log: "Facter: ..".
class PuppetLog final : public base::LogSink {
public:
    explicit PuppetLog(base::LogSink& to) : to_(to) {}
    using LogSink::log;
    void log(const base::Diagnostic& diagnostic) override;
    bool enabled(base::Level level) const override { return to_.enabled(level); }

private:
    base::LogSink& to_;
};

}  // namespace bunraku::facts
