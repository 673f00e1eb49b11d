// What a node knows about itself: Facter 4's core facts for Linux, read without a Ruby process.
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
#include "core/config/settings.h"
#include "core/sys/system.h"
#include "core/value/value.h"
#include "resources/facts/fact_groups.h"

namespace bunraku::facts {

struct Context;

/// One top-level fact. `resolve` gives undef where this machine has no such thing.
struct FactSpec {
    std::string_view name;
    std::string_view doc;
    value::Value (*resolve)(Context& context);
};

/// All facts that are built in, by name.
std::span<const FactSpec> all_facts();

struct Options {
    /// Only these top-level facts; empty: all.
    std::vector<std::string> names;
    /// Folders of external facts (*.txt, *.json, *.yaml and programs), the earlier over the later.
    std::vector<std::string> external_directories;
    /// Folders of custom facts (*.rb), run by the plugin host: over the built-in ones.
    std::vector<std::string> custom_directories;
    /// Further folders in which those files may `require` libraries.
    std::vector<std::string> library_directories;
    /// Facts as FACTER_name=text in the environment gives them; over all others.
    std::vector<std::pair<std::string, std::string>> environment;
    /// The flat facts of old ("osfamily") as well; one that is named is given in any case.
    bool legacy = false;
    /// What facter.conf says of blocked and kept facts and of groups; the rest of it is the
    /// caller's to heed.
    FacterConf conf;
    bool cache = true;                  ///< facts are kept as the configuration says
    bool block = true;                  ///< and blocked
    bool custom_dots = false;           ///< "a.b" of a custom fact is b in a
    bool puppet = true;                 ///< what Puppet adds: puppetversion
    bool trace = false, debug = false;  ///< of custom facts
    /// Seconds that one custom fact or program of an external one may take.
    double time_limit = 60;
    std::string cache_directory = "/opt/puppetlabs/facter/cache/cached_facts";
    /// Told of each fact how long it took (`facter --timing`): "fact 'os.name'", seconds.
    std::function<void(const std::string& what, double seconds)> timing;
    /// Records have the part of Facter that speaks as their source.
    base::LogSink* log = nullptr;
    /// For custom facts: the program that runs them, and Puppet's settings that they may read.
    std::string ruby_program = "ruby";
    std::function<std::optional<std::string>(std::string_view)> setting;
    /// The texts that stand for integers beyond 64 bits, by their place in the arena: external
    /// facts may have such, and format_facts prints them without quotes.
    std::shared_ptr<std::set<const char*>> large_integers =
        std::make_shared<std::set<const char*>>();
};

/// Where a fact comes from.
enum class Origin : std::uint8_t {
    Core,
    Legacy,
    Custom,    ///< Ruby's
    External,  ///< a file's, or a variable's of the environment
    File,      ///< a file of external facts, while it is looked for among the kept ones
    None       ///< nobody knows it
};
/// A fact, or a part of one ("os.name"), with the query that asked for it.
struct Resolved {
    std::string name;
    value::Value value;
    Origin origin = Origin::Core;
    std::string query;
    std::string file;
};
/// What answers the queries ("os.release.major", "ipaddress_eth0"); all facts where there are none.
std::vector<Resolved> resolve(base::Arena& arena, sys::System& system, const Options& options,
                              const std::vector<std::string>& queries);
/// As one hash; parts of facts in their places. Sorted by name all the way down, as Facter's.
value::Value assemble(base::Arena& arena, std::span<const Resolved> facts, const Options& options);

/// What the configuration says of folders, dots and the time limit, put into the options (as where
/// Puppet asks for facts; `facter` heeds more of it).
void apply_conf(Options& options);

/// The facts of this machine, a hash.
value::Value collect(base::Arena& arena, sys::System& system, const Options& options = {});
/// The same of the real machine, with Puppet's folders of external facts and what a Puppet run
/// adds; the setting include_legacy_facts counts.
value::Value collect_local(base::Arena& arena, const config::Settings& settings);

/// The legacy facts that follow from structured ones, as Facter 4.3 has them.
value::Value legacy_facts(base::Arena& arena, const value::Value& facts);

/// FACTER_name=text of this process's environment, as Facter takes them; names in lower case.
std::vector<std::pair<std::string, std::string>> environment_facts();

/// The version of Facter that these facts follow.
inline constexpr std::string_view kFacterVersion = "4.11.0";

/// The folders facter/ in Ruby's own load path that are there.
std::vector<std::string> ruby_fact_directories(sys::System& system);

/// Returns the folders of custom facts outside modules: `facter` on Ruby's load path, then those
/// that the environment variable FACTERLIB names.
std::vector<std::string> facterlib_directories();

/// The folders where Facter looks for external facts, for root or for a user.
std::vector<std::string> default_external_directories(bool root);

/// What a Puppet run adds: clientcert, clientversion, clientnoop.
value::Value with_local_facts(base::Arena& arena, const value::Value& facts,
                              const config::Settings& settings);

/// "os.release.major" in a hash of facts; undef where it is not there.
value::Value dig(const value::Value& facts, std::string_view path);

/// Records of facts as Puppet's log has them: "Facter: ..".
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
