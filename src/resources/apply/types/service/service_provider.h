// How the type service speaks to the init systems: one provider each in providers/service/.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "resources/apply/execution.h"
#include "resources/apply/resource.h"

namespace bunraku::apply {

/// One resource's service. The verbs throw base::PuppetError with the words of what was run. What
/// the resource gives as `start`, `stop`, `restart` and `status` goes before the provider's own
/// commands; where there is neither, the process table is looked at (`pattern`) and signals are
/// sent.
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

    /// What `enable` is said to be: "true", "false", "mask".
    virtual std::string enabled() { return "false"; }
    /// Sets it; asked only of those with the feature `enableable`.
    virtual void enable(const std::string& wanted) { static_cast<void>(wanted); }
    /// False where `enable` means nothing to the service, so that nothing is to be done.
    virtual bool can_enable() { return true; }

protected:
    std::string name() const { return resource_.name(); }
    void debug(std::string text) const { context_.message(Level::Debug, std::move(text)); }
    /// The provider's own command for "start", "stop", "restart" or "status"; empty: it has none.
    virtual std::vector<std::string> own_command(std::string_view what) = 0;
    /// Runs what the resource gives for a verb, else the provider's own.
    Executed run(std::string_view what, bool fail_on_error);
    bool has_command_for(std::string_view what);

    Resource& resource_;
    Context& context_;

private:
    std::string find_pid();
};

/// A class of providers of services.
struct ServiceProviderClass : ProviderClass {
    std::unique_ptr<ServiceProvider> (*make)(Resource&) = nullptr;
    /// The names of all services; null: it knows none.
    std::vector<std::string> (*list)(Context&) = nullptr;
    /// Where init scripts are looked for when `path` does not say; "": nowhere.
    std::string_view default_path = {};
};

template <class P>
std::unique_ptr<ServiceProvider> make_service_provider(Resource& resource) {
    return std::make_unique<P>(resource);
}

/// A text without the line ends at its end.
std::string chomped(std::string text);

}  // namespace bunraku::apply
