// SPDX-License-Identifier: Apache-2.0
// The definition of a provider: a way to manage the resources of a type. Each type defines the
// interface to its providers (types/<type>/<type>_provider.h). Each provider is one file in
// providers/<type>/, where the build finds it (tools/list_providers.cmake).
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace bunraku::apply {

struct Context;

/// The properties of a provider that are known without a resource. Some types derive from this
/// struct to add a factory.
struct ProviderClass {
    std::string_view name;
    /// Puppet's `confine` and `commands`. If not set, only the provider's name is known and the
    /// provider is not suitable for this system.
    bool (*suitable)(Context&) = nullptr;
    std::string_view features = {};  ///< separated by spaces
    bool prefetches = false;
    /// Puppet's `defaultfor`: returns the number of facts of this system that it names. 0 means
    /// that the provider is not a default for this system.
    int (*default_for)(Context&) = nullptr;
    /// The depth of Puppet's provider class in its class hierarchy. The deeper one of two defaults
    /// is selected. 0 marks providers that are selected only if no other is suitable (gem, pip).
    int depth = 1;

    bool has_feature(std::string_view feature) const;
};

/// Returns the built-in providers of a type, sorted by name.
std::span<const ProviderClass* const> provider_classes_of(std::string_view type);

/// Returns the provider for resources that do not specify one, like Puppet::Type.defaultprovider.
/// If several are equally good, returns the first and logs a warning once. Returns null if no
/// provider is suitable.
const ProviderClass* default_provider(Context& context, std::string_view type,
                                      std::span<const ProviderClass* const> classes);

/// The distribution according to the facts os.name, os.family and os.release.major, in lower case.
struct Platform {
    std::string name, family, major;
    bool named(std::initializer_list<std::string_view> names) const;
};
const Platform& platform(Context& context);

}  // namespace bunraku::apply
