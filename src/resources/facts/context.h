// What the readers of facts share: the machine, the arena of the values, and texts as Facter writes
// them. Not part of the folder's interface.
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

/// What this machine runs on, as the fact `virtual` names it, and the container it is in.
struct Virtuality {
    std::string kind;       ///< "kvm", "docker", "physical"
    std::string machine;    ///< the same without a container
    std::string container;  ///< "" outside of one
    std::string container_id;
};

/// One request to a service of the cloud that a machine runs in.
struct MetadataRequest {
    std::string method = "GET";
    std::string host;  ///< a name or an address; port 80
    std::string path;
    std::vector<std::pair<std::string, std::string>> headers;
    double timeout = 5;  ///< seconds for the answer; 0.6 for the connection
};
/// The body of a good answer; "" where there is none.
std::string fetch_metadata(const MetadataRequest& request);

struct Context {
    base::Arena& arena;
    sys::System& system;
    /// Asks a metadata service; the machine's own where none is given.
    std::function<std::string(const MetadataRequest&)> fetch = fetch_metadata;
    /// What was found out with much waiting, for the other facts that need it.
    std::map<std::string, Value> asked = {};
    std::optional<Virtuality> virtuality = {};

    /// The content of a file, or "" where it cannot be read.
    std::string read(const std::string& path);
    /// Without the blanks and NULs around it.
    std::string read_word(const std::string& path);
    std::optional<std::string> try_read(const std::string& path);
    std::vector<std::string> list(const std::string& path);

    Value text(std::string_view s) { return value::make_string(arena, s); }
    /// undef for the empty text: the key is left out.
    Value text_or_undef(std::string_view s) { return s.empty() ? Value::undef() : text(s); }
    Value integer(std::int64_t i) { return Value::integer(i); }
};

/// A hash under construction that leaves out what is undef. Keys are literals or live in the arena.
class Fields {
public:
    explicit Fields(Context& context) : builder_(context.arena) {}
    Fields& add(std::string_view key, const Value& v) {
        if (!v.is_undef()) builder_.set(key, v);
        return *this;
    }
    bool empty() const { return builder_.size() == 0; }
    Value build() const { return builder_.build(); }
    /// undef where nothing was added.
    Value build_or_undef() const { return empty() ? Value::undef() : build(); }

private:
    HashBuilder builder_;
};

// Texts, apart from where they come from.

std::string_view trim(base::TextView s BUNRAKU_LIFETIMEBOUND);
std::vector<std::string_view> split_lines(base::TextView text BUNRAKU_LIFETIMEBOUND);
std::vector<std::string_view> split_words(base::TextView line BUNRAKU_LIFETIMEBOUND);
std::int64_t to_integer(std::string_view text);
/// "21.44 GiB", "0 bytes".
std::string human_bytes(std::uint64_t bytes);
/// "2.00 GHz".
std::string human_hertz(std::uint64_t hertz);
/// "8.93%", "0%", "100%".
std::string capacity(std::uint64_t used, std::uint64_t total);
/// KEY=value lines with shell quotes, as in os-release.
std::string shell_variable(std::string_view text, std::string_view key);

struct UptimeParts {
    std::int64_t days, hours, seconds;
    std::string text;
};
UptimeParts uptime_parts(std::int64_t seconds);

struct MemoryInfo {
    std::uint64_t total = 0, available = 0, swap_total = 0, swap_free = 0;
};
/// Of /proc/meminfo, in bytes.
MemoryInfo parse_meminfo(std::string_view text);

struct CpuInfo {
    std::vector<std::string> models;
    int count = 0, physical = 0, cores = 0, threads = 0;
    std::uint64_t hertz = 0;
    std::set<std::string, std::less<>> flags;
};
/// Of /proc/cpuinfo.
CpuInfo parse_cpuinfo(std::string_view text);
/// Which levels of x86-64 these flags make up, as `processors.extensions` has them.
std::vector<std::string> cpu_levels(const CpuInfo& info);

struct MountEntry {
    std::string device, path, filesystem;
    std::vector<std::string> options;
};
/// Of /proc/self/mounts, without what Facter leaves out.
std::vector<MountEntry> parse_mounts(std::string_view text);

/// The interface of the default route in /proc/net/route; "" where there is none.
std::string parse_default_route(std::string_view text);
/// The comma list of file systems in /proc/filesystems.
std::string parse_filesystems(std::string_view text);
/// "virtualbox" for a DMI product name; "" where it tells nothing.
std::string_view hypervisor_of_product(std::string_view product);
/// A file of /sys/class/dmi/id, without blanks around it.
std::string read_dmi(Context& context, const char* name);
const Virtuality& detect_virtuality(Context& context);

/// A record of the part of Facter called `source`.
void tell(base::LogSink* log, base::Level level, std::string_view source, std::string text);

/// A flat fact of old and the structured one that it is made of. Names with ".*" stand for many.
struct LegacyName {
    std::string_view name, path;
    bool own = false;  ///< Facter resolves it by itself: it stays where the other one is blocked
};
std::vector<LegacyName> legacy_names();
/// What Facter resolves one by one: parts of facts ("os.name"), and facts of one part ("timezone").
std::vector<std::string_view> core_names();
/// "ipaddress_.*" and the like, as Facter tells which facts are meant.
bool fits_pattern(std::string_view pattern, std::string_view name);

// The facts, one file a group.

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
Value resolve_aio_agent_version(Context&);

}  // namespace bunraku::facts
