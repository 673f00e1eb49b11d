// SPDX-License-Identifier: Apache-2.0
// Rollouts as a part of a server that has the role `store`.
#include "services/server/role.h"

#include <atomic>
#include <fmt/format.h>

#include "net/http/client.h"
#include "net/http/network.h"
#include "services/rollout/access.h"
#include "services/rollout/controller.h"
#include "services/rollout/routes.h"

namespace bunraku::rollout {

using base::Result;

namespace {

constexpr std::chrono::seconds kPause{2};

/// Sends an event to a webhook. Any status 2xx is a success.
Result<void> send_event(http::Network& network, const std::string& url, const std::string& body) {
    http::ClientOptions options;
    options.network = &network;
    options.system_authorities = true;
    options.connect_timeout = options.timeout = std::chrono::seconds(5);
    http::ClientRequest request{.method = "POST", .url = url, .headers = {}, .body = body};
    request.headers.set("Content-Type", "application/json");
    const auto answer = http::Client(std::move(options)).send(request);
    if (!answer) return std::unexpected(answer.error());
    if (answer->status / 100 == 2) return {};
    return base::failure(fmt::format("{} answered {}", url, answer->status));
}

Result<std::string> get_body(http::Network& network, const std::string& url,
                             std::chrono::milliseconds timeout,
                             const std::function<bool()>& stopped) {
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    http::ClientOptions options;
    options.network = &network;
    options.system_authorities = true;
    options.connect_timeout = options.timeout = timeout;
    options.max_body = 16 << 20;
    // The timeouts of the client end an exchange without progress, and this one a slow one.
    options.stopped = [&] { return stopped() || std::chrono::steady_clock::now() > deadline; };
    auto answer = http::Client(std::move(options)).get(url);
    if (!answer) return std::unexpected(answer.error());
    if (answer->status / 100 == 2) return std::move(answer->body);
    return base::failure(http::error_prefix("GET", url) + fmt::format("status {}", answer->status));
}

class RolloutRole final : public server::Role {
public:
    explicit RolloutRole(server::Context& context)
        : log_(context.log),
          counters_(context.counters),
          authorization_(context.authorization),
          tokens_(context.tokens),
          alone_(context.store->backend() == store::Backend::Sqlite),
          versions_(std::make_shared<StoreVersions>(
              context.store, context.runtime, context.state_directory + "/rollouts",
              server::make_local_versions(context.state_directory + "/versions", context.log))),
          executor_(context.runtime.executor(
              {.threads = 1, .name = "rollouts", .error = [this](const std::string& what) {
                   log_.log(base::Level::Err, what);
               }})) {
        auto* network = &context.network;
        controller_ = std::make_shared<Controller>(ControllerOptions{
            .service = context.store,
            .versions = versions_,
            .deployed = Deployed(system_.system(), context.settings.list("environmentpath")),
            .system = system_.system(),
            .runtime = context.runtime,
            .log = context.log,
            .counters = context.counters,
            .server = context.settings.text("certname"),
            .send = [network](const std::string& url,
                              const std::string& body) { return send_event(*network, url, body); },
            .get =
                [network](const std::string& url, std::chrono::milliseconds timeout,
                          const std::function<bool()>& stopped) {
                    return get_body(*network, url, timeout, stopped);
                }});
        add_metrics(counters_, versions_);
        context.versions = versions_;
        context.rollouts = std::make_shared<RolloutAccess>(
            RolloutAccess{.controller = controller_, .changed = [this] { schedule(); }});
        // If the store is unavailable now, it is read as soon as it answers.
        if (!controller_->join() || !alone_ || !versions_->table().environments.empty()) schedule();
    }
    ~RolloutRole() override { add_metrics(counters_, nullptr); }
    std::string_view name() const override { return "rollouts"; }
    void mount(http::Router& router) override {
        add_rollout_routes(router, {.controller = controller_,
                                    .authorization = authorization_,
                                    .tokens = tokens_,
                                    .changed = [this] { schedule(); }});
    }
    void stop() override {
        executor_->stop();
        controller_->stop();
    }

private:
    static void add_metrics(base::Counters& counters,
                            const std::shared_ptr<StoreVersions>& versions) {
        // Without versions, the role has ended; the metrics may still be read.
        const auto read = [&versions](double (*of)(const StoreVersions&)) {
            return [versions, of] { return versions ? of(*versions) : 0.0; };
        };
        counters.gauge("bunraku_rollouts_live", "Rollouts that are not finished.", {},
                       read([](const StoreVersions& all) {
                           double out = 0;
                           for (const auto& [name, one] : all.table().environments)
                               out += one.rollout ? 1 : 0;
                           return out;
                       }));
        counters.gauge("bunraku_rollout_nodes", "Nodes with another version than their target.",
                       {{"state", "due"}},
                       read([](const StoreVersions& all) { return all.due(); }));
        counters.counter("bunraku_rollout_due_asked_total",
                         "Runs that asked the store for the version of a node.", {},
                         read([](const StoreVersions& all) {
                             return static_cast<double>(all.figures().asked);
                         }));
        counters.counter("bunraku_rollout_refused_total",
                         "Requests without a version, because the store was unavailable.", {},
                         read([](const StoreVersions& all) {
                             return static_cast<double>(all.figures().refused);
                         }));
    }
    /// Runs the controller soon, unless that is planned already.
    void schedule() {
        if (scheduled_.exchange(true)) return;
        (void)executor_->post_after(kPause, [this] {
            scheduled_ = false;
            const auto live = controller_->tick();
            if (!live && live.error().message != problem_)
                log_.log(base::Level::Warning, "Rollouts wait: " + live.error().message);
            problem_ = live ? std::string() : live.error().message;
            // With SQLite, only this process starts rollouts.
            if (!live || *live || !alone_) schedule();
        });
    }

    base::LogSink& log_;
    base::Counters& counters_;
    std::shared_ptr<http::Authorization> authorization_;
    server::ApiTokens* tokens_;
    bool alone_;
    sys::RealSystem system_;
    std::shared_ptr<StoreVersions> versions_;
    std::shared_ptr<Controller> controller_;
    std::atomic<bool> scheduled_{false};
    std::string problem_;  ///< the last error; used by the executor only
    std::unique_ptr<sys::Executor> executor_;
};

}  // namespace

}  // namespace bunraku::rollout

namespace bunraku::server {

base::Result<std::unique_ptr<Role>> make_rollout_role(Context& context) {
    return std::unique_ptr<Role>(new rollout::RolloutRole(context));
}

}  // namespace bunraku::server
