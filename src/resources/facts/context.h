// SPDX-License-Identifier: Apache-2.0
// Definitions shared by the code that reads facts: the machine, the arena of the values, and text
// in Facter's formats. Not part of the folder's interface.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/text_view.h"
#include "core/value/build.h"
#include "resources/facts/facts.h"
#include "resources/facts/os.h"

namespace bunraku::facts {

using value::HashBuilder;
using value::Value;

/// The kind of machine, in the terms of the fact `virtual`, and the container in which the process
/// runs.
struct Virtuality {
    std::string kind;       ///< "kvm", "docker", "physical"
    std::string machine;    ///< the kind without regard to a container
    std::string container;  ///< empty outside a container
    std::string container_id;
};

/// A request to the metadata service of the cloud in which the machine runs.
struct MetadataRequest {
    std::string method = "GET";
    std::string host;  ///< a name or an address; the port is 80
    std::string path;
    std::vector<std::pair<std::string, std::string>> headers;
    double timeout = 5;  ///< seconds to wait for the response; connecting has 0.6 seconds
};
/// Returns the body of a successful response, otherwise an empty string.
std::string fetch_metadata(const MetadataRequest& request);

struct Context {
    base::Arena& arena;
    sys::System& system;
    config::Compatibility level = config::kDefaultLevel;
    /// Sends a request to a metadata service. The default sends it over the network.
    std::function<std::string(const MetadataRequest&)> fetch = fetch_metadata;
    /// Results of slow requests, shared by the facts that need them.
    std::map<std::string, Value> responses = {};
    std::optional<Virtuality> virtuality = {};

    /// Returns the content of a file, or an empty string if it cannot be read.
    std::string read(const std::string& path);
    /// Returns the content of a file without surrounding whitespace and NULs.
    std::string read_word(const std::string& path);
    std::optional<std::string> try_read(const std::string& path);
    std::vector<std::string> list(const std::string& path);

    Value text(std::string_view s) { return value::make_string(arena, s); }
    /// Returns undef for an empty text, so that Fields omits the key.
    Value text_or_undef(std::string_view s) { return s.empty() ? Value::undef() : text(s); }
    Value integer(std::int64_t i) { return Value::integer(i); }
};

/// A builder of a hash that omits undef values. Keys are literals or live in the arena.
class Fields {
public:
    explicit Fields(Context& context) : builder_(context.arena) {}
    Fields& add(std::string_view key, const Value& v) {
        if (!v.is_undef()) builder_.set(key, v);
        return *this;
    }
    bool empty() const { return builder_.size() == 0; }
    Value build() const { return builder_.build(); }
    /// Returns undef if nothing was added.
    Value build_or_undef() const { return empty() ? Value::undef() : build(); }

private:
    HashBuilder builder_;
};

// Functions on text, independent of its source.

std::string_view trim(base::TextView s BUNRAKU_LIFETIMEBOUND);
std::vector<std::string_view> split_lines(base::TextView text BUNRAKU_LIFETIMEBOUND);
std::vector<std::string_view> split_words(base::TextView line BUNRAKU_LIFETIMEBOUND);
std::int64_t to_integer(std::string_view text);
/// Formats a size, for example "21.44 GiB" or "0 bytes".
std::string human_bytes(std::uint64_t bytes);
/// Formats a frequency, for example "2.00 GHz".
std::string human_hertz(std::uint64_t hertz);
/// Formats a ratio, for example "8.93%", "0%" or "100%".
std::string capacity(std::uint64_t used, std::uint64_t total);
/// Returns the value of a variable in KEY=value lines with shell quoting, such as os-release.
std::string shell_variable(std::string_view text, std::string_view key);

struct UptimeParts {
    std::int64_t days, hours, seconds;
    std::string text;
};
UptimeParts uptime_parts(std::int64_t seconds);

struct MemoryInfo {
    std::uint64_t total = 0, available = 0, swap_total = 0, swap_free = 0;
};
/// Parses /proc/meminfo; the results are in bytes.
MemoryInfo parse_meminfo(std::string_view text);

struct CpuInfo {
    std::vector<std::string> models;
    int count = 0, physical = 0, cores = 0, threads = 0;
    std::uint64_t hertz = 0;
    std::set<std::string, std::less<>> flags;
};
/// Parses /proc/cpuinfo.
CpuInfo parse_cpuinfo(std::string_view text);
/// Returns the x86-64 levels that the CPU flags support, as in the fact `processors.extensions`.
std::vector<std::string> cpu_levels(const CpuInfo& info);

struct MountEntry {
    std::string device, path, filesystem;
    std::vector<std::string> options;
};
/// Parses /proc/self/mounts, without the entries that Facter omits.
std::vector<MountEntry> parse_mounts(std::string_view text);

/// Returns the interface of the default route in /proc/net/route, or an empty string if there is
/// none.
std::string parse_default_route(std::string_view text);
/// Returns the file systems in /proc/filesystems, separated by commas.
std::string parse_filesystems(std::string_view text);
/// Returns the hypervisor for a DMI product name, for example "virtualbox", or an empty string if
/// the name matches none.
std::string_view hypervisor_of_product(std::string_view product);
/// Reads a file of /sys/class/dmi/id without surrounding whitespace.
std::string read_dmi(Context& context, const char* name);
const Virtuality& detect_virtuality(Context& context);

/// Logs a message with `source`, a class of Facter, as its source.
void log_record(base::LogSink* log, base::Level level, std::string_view source, std::string text);

/// A legacy flat fact and the structured fact that provides its value. A name with ".*" represents
/// many facts.
struct LegacyName {
    std::string_view name, path;
    /// true if Facter resolves it separately, so that it remains if the structured fact is blocked
    bool own = false;
};
std::vector<LegacyName> legacy_names();
/// Returns the names that Facter resolves one by one: parts of facts ("os.name") and facts without
/// parts ("timezone").
std::vector<std::string_view> core_names();
/// Reports whether the name matches a pattern such as "ipaddress_.*", by Facter's rules.
bool fits_pattern(std::string_view pattern, std::string_view name);

// The facts, with one source file per group.

Value resolve_augeas(Context&);
Value resolve_az_metadata(Context&);
Value resolve_cloud(Context&);
Value resolve_disks(Context&);
Value resolve_dmi(Context&);
Value resolve_ec2_metadata(Context&);
Value resolve_ec2_userdata(Context&);
Value resolve_facterversion(Context&);
Value resolve_filesystems(Context&);
Value resolve_fips(Context&);
Value resolve_gce(Context&);
Value resolve_hypervisors(Context&);
Value resolve_identity(Context&);
Value resolve_is_virtual(Context&);
Value resolve_kernel(Context&);
Value resolve_kernelmajversion(Context&);
Value resolve_kernelrelease(Context&);
Value resolve_kernelversion(Context&);
Value resolve_load_averages(Context&);
Value resolve_memory(Context&);
Value resolve_mountpoints(Context&);
Value resolve_networking(Context&);
Value resolve_os(Context&);
Value resolve_partitions(Context&);
Value resolve_path(Context&);
Value resolve_processors(Context&);
Value resolve_puppetversion(Context&);
Value resolve_ruby(Context&);
Value resolve_ssh(Context&);
Value resolve_system_uptime(Context&);
Value resolve_timezone(Context&);
Value resolve_virtual(Context&);
Value resolve_xen(Context&);
Value resolve_zfs_featurenumbers(Context&);
Value resolve_zfs_version(Context&);
Value resolve_zpool_featureflags(Context&);
Value resolve_zpool_featurenumbers(Context&);
Value resolve_zpool_version(Context&);
Value resolve_aio_agent_version(Context&);

}  // namespace bunraku::facts
