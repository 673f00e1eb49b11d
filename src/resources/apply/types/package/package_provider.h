// SPDX-License-Identifier: Apache-2.0
// The interface between the type package and the package managers, each of which has one provider
// in providers/package/.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "resources/apply/execution.h"
#include "resources/apply/resource.h"

namespace bunraku::apply {

/// The installed state of a package.
struct PackageState {
    std::string name;
    /// The version, "absent" or "purged". For managers that support several versions at the same
    /// time, all versions.
    std::vector<std::string> versions;
    std::string flavor;  ///< the stream or profile; empty for none
    bool held = false;
    bool list = false;    ///< true if shown as a list, as for gem
    std::string command;  ///< the program that was run, for managers that may exist several times

    bool gone() const {
        return versions.size() == 1 && (versions[0] == "absent" || versions[0] == "purged");
    }
    /// Returns the current value of `ensure`.
    Value value(Context& context) const;
};

/// The provider of one package resource. Functions that change something throw base::PuppetError
/// with the manager's message.
class PackageProvider {
public:
    explicit PackageProvider(Resource& resource)
        : resource_(resource), context_(resource.context()) {}
    virtual ~PackageProvider() = default;
    PackageProvider(const PackageProvider&) = delete;
    PackageProvider& operator=(const PackageProvider&) = delete;

    /// Queries the machine. Returns nullopt if the package is not installed.
    virtual std::optional<PackageState> query() = 0;
    /// Installs the version that `ensure` specifies.
    virtual void install() = 0;
    virtual void update() { install(); }
    virtual void uninstall() = 0;
    virtual void purge() { uninstall(); }
    virtual void hold(bool) {}
    /// Disables the package, for providers with the feature `disableable`.
    virtual void disable() {}
    /// Installs the flavor that the resource specifies, for providers with `supports_flavors`.
    virtual void change_flavor() {}
    /// Returns the newest available version. Called only for installed packages.
    virtual std::string latest() = 0;
    /// Returns true if one of the installed versions satisfies `wanted`. `wanted` is a version or
    /// range that does not equal any of them.
    virtual bool satisfied(const PackageState& is, const std::string& wanted) {
        static_cast<void>(is), static_cast<void>(wanted);
        return false;
    }
    /// Downloads packages that are about to be installed, and their dependencies, if one command
    /// can do that. Ignores errors, because each package is also installed separately.
    virtual void fetch(const std::vector<std::string>& names) { static_cast<void>(names); }
    virtual bool fetches() const { return false; }
    /// Called after all properties are set.
    virtual void flush() {}

    /// Returns the cached result of `query`, or the state from the prefetch.
    const PackageState& state();
    void know(PackageState state) { state_ = std::move(state); }
    void forget() { state_.reset(); }
    bool known() const { return state_.has_value(); }

protected:
    std::string name() const { return resource_.name(); }
    std::string wanted() const { return plain(resource_.should("ensure")); }
    /// Reports whether `ensure` is a version or a range.
    bool versioned() const;
    /// Returns `install_options` or `uninstall_options` as arguments; a hash becomes KEY=VALUE,
    /// sorted by key.
    std::vector<std::string> options(std::string_view attribute) const;
    bool has_flavor() const { return !resource_.should("flavor").is_undef(); }
    void debug(std::string text) const { context_.message(Level::Debug, std::move(text)); }

    Resource& resource_;
    Context& context_;

private:
    std::optional<PackageState> state_;
};

/// Returns the attribute `environment` as names and values, and warns about entries that are not
/// NAME=VALUE, that repeat a name, or whose value is empty.
std::vector<std::pair<std::string, std::string>> package_environment(const Resource& resource);
/// Throws base::PuppetError unless every entry of `environment` has the form NAME=VALUE.
void validate_package_environment(const Value& given);

class OutsideProgram;

/// The definition of a package provider.
struct PackageProviderClass : ProviderClass {
    std::unique_ptr<PackageProvider> (*make)(Resource&) = nullptr;
    /// Returns all installed packages with one query. `command` is that of PackageState; empty for
    /// the default program.
    std::vector<PackageState> (*list)(Context&, const std::string& command) = nullptr;
    bool allow_virtual = true;  ///< default value of the attribute
    /// The outside program. If null, the provider is built in and `list` is set.
    OutsideProgram* outside = nullptr;
};

template <class P>
std::unique_ptr<PackageProvider> make_package_provider(Resource& resource) {
    return std::make_unique<P>(resource);
}

}  // namespace bunraku::apply
