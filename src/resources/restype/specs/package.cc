// SPDX-License-Identifier: Apache-2.0
// The resource type package.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "ensure",
     .kind = AttributeKind::Property,
     .doc = "The state of the package: `present`, `absent`, `purged`, `disabled`, `latest`, or a "
            "version or range of versions.",
     .values = "present=installed|absent|purged|disabled|latest",
     .patterns = "/./"},
    {.name = "package_settings",
     .kind = AttributeKind::Property,
     .doc = "Settings for the package, for providers that support them.",
     .feature = "package_settings"},
    {.name = "flavor",
     .kind = AttributeKind::Property,
     .doc = "The flavor or stream of the package.",
     .feature = "supports_flavors"},
    {.name = "mark",
     .kind = AttributeKind::Property,
     .doc = "Whether the package manager must leave the package alone.",
     .values = "hold|none",
     .feature = "holdable"},
    {.name = "name", .namevar = true, .doc = "The name of the package in the package manager."},
    {.name = "provider", .namevar = true, .doc = "The backend for this resource."},
    {.name = "command",
     .namevar = true,
     .doc = "The targeted command of providers that can manage several installations.",
     .feature = "targetable"},
    {.name = "source",
     .doc = "Where to find the package file, for providers without repositories."},
    {.name = "instance", .doc = "A read-only parameter set by Puppet."},
    {.name = "status", .doc = "A read-only parameter set by Puppet."},
    {.name = "adminfile", .doc = "A file of defaults for package installation."},
    {.name = "responsefile", .doc = "A file with answers to questions that the installation asks."},
    {.name = "configfiles",
     .doc = "Whether to preserve or replace configuration files.",
     .values = "keep|replace"},
    {.name = "category", .doc = "A read-only parameter set by Puppet."},
    {.name = "platform", .doc = "A read-only parameter set by Puppet."},
    {.name = "root", .doc = "A read-only parameter set by Puppet."},
    {.name = "vendor", .doc = "A read-only parameter set by Puppet."},
    {.name = "description", .doc = "A read-only parameter set by Puppet."},
    {.name = "allowcdrom", .doc = "Permits apt to use CD-ROM sources.", .values = "true|false"},
    {.name = "enable_only",
     .doc = "Enables a module without installing its packages.",
     .values = "true|false|yes|no"},
    {.name = "environment",
     .doc = "Environment variables for the commands that install, update and remove the package, "
            "each as `NAME=value`."},
    {.name = "install_only",
     .doc = "Only installs packages, does not upgrade them.",
     .values = "true|false|yes|no",
     .feature = "install_only"},
    {.name = "install_options",
     .doc = "More options for the installation command.",
     .feature = "install_options"},
    {.name = "uninstall_options",
     .doc = "More options for the removal command.",
     .feature = "uninstall_options"},
    {.name = "allow_virtual",
     .doc = "Permits the name of a virtual package.",
     .values = "true|false|yes|no",
     .feature = "virtual_packages"},
    {.name = "reinstall_on_refresh",
     .doc = "Installs again when a refresh event arrives.",
     .values = "true|false"},
};

}  // namespace

extern const TypeSpec kPackage = {
    .name = "package",
    .doc = "Manages packages of the system's or a language's package manager.",
    .attributes = kAttributes,
    .composite_namevar = true};

}  // namespace bunraku::restype
