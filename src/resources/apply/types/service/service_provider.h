// SPDX-License-Identifier: Apache-2.0
// The interface between the type service and the init systems, each of which has one provider in
// providers/service/.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "resources/apply/execution.h"
#include "resources/apply/resource.h"

namespace bunraku::apply {

/// The provider of one service resource. Functions throw base::PuppetError with the output of the
/// command. The parameters `start`, `stop`, `restart` and `status` take precedence over the
/// provider's own commands. If there is neither, the provider searches the process table for
/// `pattern` and sends signals.
class ServiceProvider {
public:
    explicit ServiceProvider(Resource& resource)
        : resource_(resource), context_(resource.context()) {}
    virtual ~ServiceProvider() = default;
    ServiceProvider(const ServiceProvider&) = delete;
    ServiceProvider& operator=(const ServiceProvider&) = delete;

    virtual bool running();
    virtual void start();
    virtual void stop();
    virtual void restart();

    /// Returns the current value of `enable`: "true", "false" or "mask".
    virtual std::string enabled() { return "false"; }
    /// Sets `enable`. Called only for providers with the feature `enableable`.
    virtual void enable(const std::string& wanted) { static_cast<void>(wanted); }
    /// Returns false if `enable` does not apply to the service, so that nothing needs to change.
    virtual bool can_enable() { return true; }

protected:
    std::string name() const { return resource_.name(); }
    void debug(std::string text) const { context_.message(Level::Debug, std::move(text)); }
    /// Returns the provider's own command for "start", "stop", "restart" or "status"; empty if it
    /// has none.
    virtual std::vector<std::string> own_command(std::string_view what) = 0;
    /// Runs the command that the resource specifies for an action, otherwise the provider's own
    /// command.
    Executed run(std::string_view what, bool fail_on_error);
    bool has_command_for(std::string_view what);

    Resource& resource_;
    Context& context_;

private:
    std::string find_pid();
};

/// The definition of a service provider.
struct ServiceProviderClass : ProviderClass {
    std::unique_ptr<ServiceProvider> (*make)(Resource&) = nullptr;
    /// Returns the names of all services. Null if the provider cannot list services.
    std::vector<std::string> (*list)(Context&) = nullptr;
    /// Folder of init scripts if the resource does not set `path`; empty if there is none.
    std::string_view default_path = {};
};

template <class P>
std::unique_ptr<ServiceProvider> make_service_provider(Resource& resource) {
    return std::make_unique<P>(resource);
}

/// Returns the text without trailing newlines.
std::string chomped(std::string text);

}  // namespace bunraku::apply
