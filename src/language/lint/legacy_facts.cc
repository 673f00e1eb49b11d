// SPDX-License-Identifier: Apache-2.0
#include "language/lint/legacy_facts.h"

#include <algorithm>
#include <iterator>

namespace bunraku::lint {

namespace {

using Known = LegacyFact::Known;

constexpr LegacyFact kLegacyFacts[] = {
    {"architecture", "os.architecture"},
    {"augeasversion", "augeas.version"},
    {"bios_release_date", "dmi.bios.release_date"},
    {"bios_vendor", "dmi.bios.vendor"},
    {"bios_version", "dmi.bios.version"},
    {"boardassettag", "dmi.board.asset_tag"},
    {"boardmanufacturer", "dmi.board.manufacturer"},
    {"boardproductname", "dmi.board.product"},
    {"boardserialnumber", "dmi.board.serial_number"},
    {"chassisassettag", "dmi.chassis.asset_tag"},
    {"chassistype", "dmi.chassis.type"},
    {"domain", "networking.domain"},
    {"fqdn", "networking.fqdn"},
    {"gid", "identity.group"},
    {"hardwareisa", "processors.isa"},
    {"hardwaremodel", "os.hardware"},
    {"hostname", "networking.hostname"},
    {"id", "identity.user"},
    {"ipaddress", "networking.ip"},
    {"ipaddress6", "networking.ip6"},
    {"lsbdistcodename", "os.distro.codename"},
    {"lsbdistdescription", "os.distro.description"},
    {"lsbdistid", "os.distro.id"},
    {"lsbdistrelease", "os.distro.release.full"},
    {"lsbmajdistrelease", "os.distro.release.major"},
    {"lsbminordistrelease", "os.distro.release.minor"},
    {"lsbrelease", "os.distro.specification", Known::Both, "os.distro.release.specification"},
    {"macaddress", "networking.mac"},
    {"macosx_buildversion", "os.macosx.build", Known::Lint},
    {"macosx_productname", "os.macosx.product", Known::Lint},
    {"macosx_productversion", "os.macosx.version.full", Known::Lint},
    {"macosx_productversion_major", "os.macosx.version.major", Known::Lint},
    {"macosx_productversion_minor", "os.macosx.version.minor", Known::Lint},
    {"manufacturer", "dmi.manufacturer"},
    {"memoryfree", "memory.system.available"},
    {"memorysize", "memory.system.total"},
    {"netmask", "networking.netmask"},
    {"netmask6", "networking.netmask6"},
    {"network", "networking.network"},
    {"network6", "networking.network6"},
    {"operatingsystem", "os.name"},
    {"operatingsystemmajrelease", "os.release.major"},
    {"operatingsystemrelease", "os.release.full"},
    {"osfamily", "os.family"},
    {"physicalprocessorcount", "processors.physicalcount"},
    {"processorcount", "processors.count"},
    {"productname", "dmi.product.name"},
    {"productversion", "dmi.product.version", Known::Facter},
    {"rubyplatform", "ruby.platform"},
    {"rubysitedir", "ruby.sitedir"},
    {"rubyversion", "ruby.version"},
    {"scope6", "networking.scope6", Known::Facter},
    {"selinux", "os.selinux.enabled"},
    {"selinux_config_mode", "os.selinux.config_mode"},
    {"selinux_config_policy", "os.selinux.config_policy"},
    {"selinux_current_mode", "os.selinux.current_mode"},
    {"selinux_enforced", "os.selinux.enforced"},
    {"selinux_policyversion", "os.selinux.policy_version"},
    {"serialnumber", "dmi.product.serial_number"},
    {"swapencrypted", "memory.swap.encrypted", Known::Lint},
    {"swapfree", "memory.swap.available"},
    {"swapsize", "memory.swap.total"},
    {"system32", "os.windows.system32", Known::Lint},
    {"uptime", "system_uptime.uptime"},
    {"uptime_days", "system_uptime.days"},
    {"uptime_hours", "system_uptime.hours"},
    {"uptime_seconds", "system_uptime.seconds"},
    {"uuid", "dmi.product.uuid"},
    {"xendomains", "xen.domains", Known::Lint},
    {"zonename", "solaris_zones.current", Known::Lint},
};
static_assert(std::ranges::is_sorted(kLegacyFacts, {}, &LegacyFact::name));

}  // namespace

std::span<const LegacyFact> legacy_fact_table() { return kLegacyFacts; }

}  // namespace bunraku::lint
