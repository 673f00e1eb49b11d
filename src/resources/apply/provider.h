// What is known of a provider, a way to manage the resources of a type, before any resource has
// one. How a type speaks to its providers is the type's own affair
// (types/<type>/<type>_provider.h); each stands in one file of providers/<type>/, where the build
// finds it (tools/list_providers.cmake).
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace bunraku::apply {

struct Context;

/// A class of providers. Types whose providers are classes of their own add to it what makes one.
struct ProviderClass {
    std::string_view name;
    /// Puppet's `confine` and `commands`. Unset: known by name only, of no use on this system.
    bool (*suitable)(Context&) = nullptr;
    std::string_view features = {};  ///< separated by blanks
    bool prefetches = false;
    /// Puppet's `defaultfor`: how many facts of this system name it; 0: it is no default here.
    int (*default_for)(Context&) = nullptr;
    /// How far down the line of Puppet's provider classes it stands; of two defaults the one
    /// further down is taken. 0: those that are taken only where there is nothing else (gem, pip).
    int depth = 1;

    bool has_feature(std::string_view feature) const;
};

/// The built-in ones of a type, by name.
std::span<const ProviderClass* const> provider_classes_of(std::string_view type);

/// The one that is taken where none is asked for, as Puppet::Type.defaultprovider; of several that
/// are as good the first, with a warning once. Null: none is suitable.
const ProviderClass* default_provider(Context& context, std::string_view type,
                                      std::span<const ProviderClass* const> classes);

/// The distribution as the facts os.name, os.family and os.release.major have it, in small letters.
struct Platform {
    std::string name, family, major;
    bool named(std::initializer_list<std::string_view> names) const;
};
const Platform& platform(Context& context);

}  // namespace bunraku::apply
