// Which releases of modules the built-in types stand for that only modules bring (file_line,
// ini_setting, ..). The content of the module's files decides, as for its functions
// (compiler/native_functions.h): a release that is not known is left to its own Ruby.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "resources/apply/context.h"

namespace bunraku::apply {

struct ModuleRelease {
    /// Of the type's files, each with its name: the first eight bytes of a SHA-256.
    std::uint64_t digest;
    /// Counts the changes of behaviour since the oldest release that is known.
    int level;
};

struct ModuleType {
    std::string_view name;
    /// What the type is made of in the module's lib folder. The first is that of the type itself.
    std::span<const std::string_view> files;
    /// By digest.
    std::span<const ModuleRelease> releases;
    int newest;  ///< level
    /// Types of one family look at each other: all of them are built in in a catalog, or none.
    std::string_view family = {};
};

/// By name. Made by tools/module_releases/table.
std::span<const ModuleType> module_types();
/// Null: the type is not one of the table.
const ModuleType* find_module_type_releases(std::string_view name);

/// The level of the release that this run's modules bring, the newest where none brings the type;
/// nullopt: one that is not known, or a provider of another module belongs to it.
std::optional<int> module_level(Context& context, const ModuleType& type);
/// The same for a type that was taken to be known.
int module_level(Context& context, std::string_view type);

}  // namespace bunraku::apply
