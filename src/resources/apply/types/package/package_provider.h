// How the type package speaks to the package managers: one provider each in providers/package/.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "resources/apply/execution.h"
#include "resources/apply/resource.h"

namespace bunraku::apply {

/// What is there of a package.
struct PackageState {
    std::string name;
    /// The version; "absent" or "purged"; of managers that keep several versions beside each other
    /// all.
    std::vector<std::string> versions;
    bool held = false;
    bool list = false;    ///< shown as a list, as gem's are
    std::string command;  ///< of managers of which there may be several: the one that was asked

    bool gone() const {
        return versions.size() == 1 && (versions[0] == "absent" || versions[0] == "purged");
    }
    /// What `ensure` is said to be.
    Value value(Context& context) const;
};

/// One resource's package. The verbs throw base::PuppetError with the manager's words.
class PackageProvider {
public:
    explicit PackageProvider(Resource& resource)
        : resource_(resource), context_(resource.context()) {}
    virtual ~PackageProvider() = default;
    PackageProvider(const PackageProvider&) = delete;
    PackageProvider& operator=(const PackageProvider&) = delete;

    /// Asks the machine; nullopt: there is no such package on it.
    virtual std::optional<PackageState> query() = 0;
    /// Makes the version be there that `ensure` names.
    virtual void install() = 0;
    virtual void update() { install(); }
    virtual void uninstall() = 0;
    virtual void purge() { uninstall(); }
    virtual void hold(bool) {}
    /// The newest version on offer. Asked for what is installed only.
    virtual std::string latest() = 0;
    /// True where one of these versions is what `wanted`, a version or a range that is none of
    /// them, means.
    virtual bool satisfied(const PackageState& is, const std::string& wanted) {
        static_cast<void>(is), static_cast<void>(wanted);
        return false;
    }
    /// Gets ahead what these packages, which are to be installed next, need, where that is one
    /// command. What goes wrong is of no account: each is installed by itself all the same.
    virtual void fetch(const std::vector<std::string>& names) { static_cast<void>(names); }
    virtual bool fetches() const { return false; }
    /// After all properties are set.
    virtual void flush() {}

    /// What `query` said first, or what was known beforehand.
    const PackageState& state();
    void know(PackageState state) { state_ = std::move(state); }
    void forget() { state_.reset(); }
    bool known() const { return state_.has_value(); }

protected:
    std::string name() const { return resource_.name(); }
    std::string wanted() const { return plain(resource_.should("ensure")); }
    /// `ensure` names a version or a range.
    bool versioned() const;
    /// `install_options` and `uninstall_options` as arguments: a hash gives KEY=VALUE by key.
    std::vector<std::string> options(std::string_view attribute) const;
    void debug(std::string text) const { context_.message(Level::Debug, std::move(text)); }

    Resource& resource_;
    Context& context_;

private:
    std::optional<PackageState> state_;
};

class OutsideProgram;

/// A class of providers of packages.
struct PackageProviderClass : ProviderClass {
    std::unique_ptr<PackageProvider> (*make)(Resource&) = nullptr;
    /// All packages that are there, in one question. `command`: as in PackageState, "" for the
    /// usual.
    std::vector<PackageState> (*list)(Context&, const std::string& command) = nullptr;
    bool allow_virtual = true;  ///< what the attribute is where nothing is said
    /// The program that does it; null: it is built in, and `list` tells.
    OutsideProgram* outside = nullptr;
};

template <class P>
std::unique_ptr<PackageProvider> make_package_provider(Resource& resource) {
    return std::make_unique<P>(resource);
}

}  // namespace bunraku::apply
