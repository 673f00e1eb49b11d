// Names a stranger may send: modules, releases, repositories, consumers. What is not valid here
// never becomes part of a path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bunraku::module {

/// "acme-web" or "acme/web" in its parts.
struct ModuleName {
    std::string author, name;
    std::string slug() const { return author + "-" + name; }
    std::string slashed() const { return author + "/" + name; }
};

/// The Forge's pattern: AUTHOR-NAME or AUTHOR/NAME; the author letters and digits, the name
/// begins with a letter and holds letters, digits and underscores. nullopt: is none.
std::optional<ModuleName> parse_module_name(std::string_view text);
/// As API v1 takes it (Pulp's pattern): the name may begin with a digit or underscore too.
std::optional<ModuleName> parse_v1_module_name(std::string_view text);

/// "acme-web-1.2.3" in its parts; the version is a semantic one.
struct ReleaseName {
    ModuleName module;
    std::string version;
    std::string slug() const { return module.slug() + "-" + version; }
};
std::optional<ReleaseName> parse_release_name(std::string_view text);
/// Of "acme-web-1.2.3.tar.gz".
std::optional<ReleaseName> parse_file_name(std::string_view text);

/// Repositories and consumers: letters, digits, "_", "-", "."; begins with a letter or digit; up
/// to 128 characters.
bool valid_identifier(std::string_view text);

/// "system/releases/a/acme/acme-web-1.2.3.tar.gz": Pulp's place of a release in a published tree.
std::string release_path(std::string_view author, std::string_view slug);

/// "2026-01-31 10:20:30 +0000", as the Forge writes times.
std::string forge_time(std::int64_t seconds);

}  // namespace bunraku::module
