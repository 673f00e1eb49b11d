// SPDX-License-Identifier: Apache-2.0
// Validation of names from untrusted clients: modules, releases, repositories and consumers. An
// invalid name is never used in a path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bunraku::module {

/// The parts of "acme-web" or "acme/web".
struct ModuleName {
    std::string author, name;
    std::string slug() const { return author + "-" + name; }
    std::string slashed() const { return author + "/" + name; }
};

/// Parses a name by the Forge's pattern, AUTHOR-NAME or AUTHOR/NAME. The author consists of letters
/// and digits. The name begins with a letter and consists of letters, digits and underscores.
/// Returns nullopt if the text is invalid.
std::optional<ModuleName> parse_module_name(std::string_view text);
/// Parses a name as API v1 accepts it (Pulp's pattern): the name may also begin with a digit or
/// underscore.
std::optional<ModuleName> parse_v1_module_name(std::string_view text);

/// The parts of "acme-web-1.2.3"; the version is a semantic version.
struct ReleaseName {
    ModuleName module;
    std::string version;
    std::string slug() const { return module.slug() + "-" + version; }
};
std::optional<ReleaseName> parse_release_name(std::string_view text);
/// Parses a file name such as "acme-web-1.2.3.tar.gz".
std::optional<ReleaseName> parse_file_name(std::string_view text);

/// Reports whether the text is a valid identifier of a repository or consumer: letters, digits,
/// "_", "-" and "."; begins with a letter or digit; at most 128 characters.
bool valid_identifier(std::string_view text);

/// Returns the path of a release in a published tree, as in Pulp:
/// "system/releases/a/acme/acme-web-1.2.3.tar.gz".
std::string release_path(std::string_view author, std::string_view slug);

/// Returns the time in the format of the Forge: "2026-01-31 10:20:30 +0000".
std::string forge_time(std::int64_t seconds);

}  // namespace bunraku::module
