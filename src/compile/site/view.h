// SPDX-License-Identifier: Apache-2.0
// The settings of a compile: those of the site with an overlay. Compiles with the same settings
// share one view.
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

/// A view of the settings. Thread-safe.
class View {
public:
    /// `store` must outlive the view.
    View(const config::Settings& settings, const Overlay& overlay,
         const StoreAccess::Embedded& store, std::string user_agent);

    const config::Settings& settings() const { return settings_; }
    const std::string& user_agent() const { return user_agent_; }
    bool rich_data() const { return settings_.boolean("rich_data"); }
    bool storeconfigs() const { return settings_.boolean("storeconfigs"); }

    /// Returns every setting as the value of `$settings::NAME`. The result lives as long as the
    /// view.
    value::Value shown(bool own) const;

    /// A connection to the store. The destructor returns it to the view.
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

/// Returns every setting as the value of `$settings::NAME`, with booleans and numbers as such.
value::Value settings_as_value(base::Arena& arena, const config::Settings& settings);

/// Returns the settings that depend on `environment`, as values of `$settings::NAME`.
/// environment.conf overrides puppet.conf, and the command line overrides both. Empty if the
/// environment has no folder.
value::Value environment_settings(base::Arena& arena, const config::Settings& settings,
                                  const environment::Environment& environment);

/// Returns the paths in which to look for the environment that the settings name. The other fields
/// have the defaults of environment::Spec.
environment::Spec environment_spec(const config::Settings& settings);

/// Returns Puppet's message for a missing environment.
std::string environment_missing(const config::Settings& settings);

}  // namespace bunraku::site
