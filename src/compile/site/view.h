// The settings that a compile sees: the site's with an overlay. Made once for all compiles that see
// the same.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "compile/site/request.h"
#include "compile/site/store_access.h"
#include "core/base/arena.h"
#include "core/config/settings.h"
#include "core/value/value.h"
#include "language/environment/environment.h"

namespace bunraku::site {

/// Thread-safe.
class View {
public:
    /// `store` must outlive it.
    View(const config::Settings& settings, const Overlay& overlay,
         const StoreAccess::Embedded& store, std::string user_agent);

    const config::Settings& settings() const { return settings_; }
    const std::string& user_agent() const { return user_agent_; }
    bool rich_data() const { return settings_.boolean("rich_data"); }
    bool storeconfigs() const { return settings_.boolean("storeconfigs"); }

    /// Every setting as the value of `$settings::NAME`; it lives as long as this.
    value::Value shown(bool own) const;

    /// A connection to the store, given back when it dies.
    class Connection {
    public:
        Connection(std::shared_ptr<const View> view, base::LogSink& log);
        ~Connection();
        Connection(const Connection&) = delete;
        StoreAccess* operator->() const { return access_.get(); }

    private:
        std::shared_ptr<const View> view_;
        std::unique_ptr<StoreAccess> access_;
    };

private:
    struct Shown {
        std::once_flag made;
        std::unique_ptr<base::Arena> arena;
        value::Value values;
    };
    config::Settings settings_;
    const StoreAccess::Embedded& store_;
    std::string user_agent_;
    mutable Shown own_, as_root_;
    mutable std::mutex mutex_;
    mutable std::vector<std::unique_ptr<StoreAccess>> idle_;
};

/// Every setting as the value `$settings::NAME` has: booleans and numbers as such.
value::Value settings_as_value(base::Arena& arena, const config::Settings& settings);

/// The settings that `environment` decides, as values of `$settings::NAME`: environment.conf counts
/// before puppet.conf, the command line before both. Empty if the environment has no folder.
value::Value environment_settings(base::Arena& arena, const config::Settings& settings,
                                  const environment::Environment& environment);

/// Where the environment that the settings name is looked for; all else as environment::Spec has
/// it.
environment::Spec environment_spec(const config::Settings& settings);

/// Puppet's words for an environment that is not there.
std::string environment_missing(const config::Settings& settings);

}  // namespace bunraku::site
