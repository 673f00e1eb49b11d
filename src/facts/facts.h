// What a node knows about itself: Facter 4's core facts for Linux, read without a Ruby process.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "config/settings.h"
#include "sys/system.h"
#include "value/value.h"

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
    /// Folders of external facts (*.txt, *.json, *.yaml and programs), the later over the earlier.
    std::vector<std::string> external_directories;
    /// Folders of custom facts (*.rb), run by the plugin host: over the built-in ones.
    std::vector<std::string> custom_directories;
    /// Further folders in which those files may `require` libraries.
    std::vector<std::string> library_directories;
    /// Facts as FACTER_name=text in the environment gives them; over all others.
    std::vector<std::pair<std::string, std::string>> environment;
    /// The flat facts of old ("osfamily") as well; one that is named is given in any case.
    bool legacy = false;
    base::LogSink* log = nullptr;
    /// For custom facts: the program that runs them, and Puppet's settings that they may read.
    std::string ruby_program = "ruby";
    std::function<std::optional<std::string>(std::string_view)> setting;
};

/// The facts of this machine, a hash.
value::Value collect(base::Arena& arena, sys::System& system, const Options& options = {});
/// The same of the real machine, with Puppet's folders of external facts and what a Puppet run
/// adds; the setting include_legacy_facts counts.
value::Value collect_local(base::Arena& arena, const config::Settings& settings);

/// The legacy facts that follow from structured ones, as Facter 4.3 has them.
value::Value legacy_facts(base::Arena& arena, const value::Value& facts);

/// FACTER_name=text of this process's environment, as Facter takes them; names in lower case.
std::vector<std::pair<std::string, std::string>> environment_facts();

/// The folders of custom facts that the environment variable FACTERLIB names.
std::vector<std::string> facterlib_directories();

/// The folders where Facter looks for external facts, for root or for a user.
std::vector<std::string> default_external_directories(bool root);

/// What a Puppet run adds: clientcert, clientversion, clientnoop.
value::Value with_local_facts(base::Arena& arena, const value::Value& facts,
                              const config::Settings& settings);

/// "os.release.major" in a hash of facts; undef where it is not there.
value::Value dig(const value::Value& facts, std::string_view path);

/// External facts of one folder, merged into `into`: executable files are run.
void collect_external(base::Arena& arena, sys::System& system, const std::string& directory,
                      base::LogSink* log, std::vector<value::Entry>& into);

}  // namespace bunraku::facts
