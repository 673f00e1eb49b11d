// SPDX-License-Identifier: Apache-2.0
#include "modules/forge/deploy_hook.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <ctime>
#include <fmt/format.h>
#include <mutex>
#include <thread>

#include "core/base/text.h"
#include "core/codec/digest.h"
#include "core/codec/json_text.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "core/sys/system.h"
#include "core/sys/wording.h"
#include "modules/forge/api.h"
#include "modules/forge/deploy_jobs.h"
#include "modules/forge/html_page.h"
#include "modules/forge/webhook.h"
#include "modules/module/deploy.h"
#include "modules/module/deploy_definitions.h"
#include "modules/module/names.h"
#include "modules/module/trust.h"

namespace bunraku::forge {

using base::failure;
using base::Level;
using base::Result;
using http::Request;
using http::Response;

namespace {

constexpr std::ptrdiff_t kMostWaiting = 100;
constexpr std::chrono::milliseconds kGrace{500};

Response busy(std::string_view why) {
    Response out = error_response(503, std::string(why));
    out.headers.set("Retry-After", "60");
    return out;
}

}  // namespace

Result<DeployHookOptions> DeployHookOptions::read(const std::string& path) {
    auto& files = sys::disk();
    auto status = BUNRAKU_TRY(files.stat(path));
    if ((status.mode & 0007) != 0) {
        return failure(fmt::format("{} contains a secret but is readable by all users", path));
    }
    const std::string text = BUNRAKU_TRY(files.read(path));
    DeployHookOptions out;
    out.r10k = "/etc/puppetlabs/r10k/r10k.yaml";
    for (std::string_view row : base::split(text, '\n')) {
        const std::size_t equals = row.find('=');
        const std::string key(base::trim(row.substr(0, equals)));
        if (key.empty() || key[0] == '#') continue;
        if (equals == std::string_view::npos) {
            return failure(fmt::format("{}: '{}' is not KEY = VALUE", path, key));
        }
        const std::string value(base::trim(row.substr(equals + 1)));
        if (key == "secret") {
            out.secret = value;
        } else if (key == "r10k") {
            out.r10k = value;
        } else if (key == "post_deploy") {
            out.post_deploy = value;
        } else if (key == "modules") {
            out.modules = value != "false";
        } else {
            return failure(fmt::format("{}: there is no '{}'", path, key));
        }
    }
    if (out.secret.size() < 8) {
        return failure(path + ": a secret of at least 8 characters is needed");
    }
    return out;
}

struct DeployHook::Impl {
    Impl(DeployHookOptions o, const config::Settings& s, base::LogSink& l)
        : options(std::move(o)), settings(s), log(l), jobs(options.state + "/webhooks") {}

    DeployHookOptions options;
    const config::Settings& settings;
    base::LogSink& log;
    std::mutex mutex;
    std::condition_variable wanted;
    std::atomic<bool> ending{false};
    DeployJobs jobs;  ///< guarded by `mutex`
    std::thread worker;

    Result<module::DeployOptions> deploy_options();
    Response take(const Request& request);
    Result<DeployJob> job_of(const Push& push);
    /// Starts or wakes the worker. The caller holds `mutex`.
    void wake() {
        if (!worker.joinable()) worker = std::thread([this] { work(); });
        wanted.notify_one();
    }
    void work();
    void run(DeployJob& job);
    std::string status_json();
    std::string page();
};

Result<module::DeployOptions> DeployHook::Impl::deploy_options() {
    const std::string text = BUNRAKU_TRY(sys::disk().read(options.r10k));
    module::DeployOptions d;
    d.config = BUNRAKU_TRY(module::read_deploy_config(text, options.r10k));
    d.cache = d.config.cachedir.empty() ? settings.text("module_working_dir")
                                        : sys::expand_path(d.config.cachedir) + "/bunraku";
    d.forge.url = settings.text("module_repository");
    d.forge.authorization = settings.text("forge_authorization");
    d.forge.trust_store = settings.text("ssl_trust_store");
    d.forge.trust = module::ForgeTrust::of(settings.text("confdir"), settings.text("vardir"));
    d.forge.proxies = http::ProxyRules::of_settings(settings);
    d.modules = options.modules;
    d.stopped = [this] { return ending.load(); };
    return d;
}

/// Returns the deploy that a push requires. Branches of a source are environments; any other
/// repository is a module.
Result<DeployJob> DeployHook::Impl::job_of(const Push& push) {
    const module::DeployOptions d = BUNRAKU_TRY(deploy_options());
    DeployJob job;
    job.from = push.name;
    bool ours = false;
    const auto pushed = [&](const std::string& url) {
        return std::ranges::any_of(push.urls,
                                   [&](const auto& one) { return same_repository(one, url); });
    };
    sys::RealSystem real;
    for (const module::DeploySource& source : d.config.sources) {
        if (!source.has_branches()) {
            const auto defined = BUNRAKU_TRY(module::definitions_of(source, real.system()));
            for (const module::EnvironmentDefinition& e : defined) {
                if (!pushed(e.content.source)) continue;
                ours = true;
                const module::BranchName name = module::environment_of_branch(source, e.name);
                if (std::ranges::find(push.branches, e.content.ref) != push.branches.end())
                    job.environments.push_back(name.dirname);
            }
            continue;
        }
        if (!pushed(source.remote)) continue;
        ours = true;
        for (const std::string& branch : push.branches) {
            const module::BranchName name = module::environment_of_branch(source, branch);
            if (!name.dirname.empty()) job.environments.push_back(name.dirname);
        }
    }
    if (ours) return job;
    // Repositories "puppet-ntp", "acme-ntp" and "ntp" all contain the module ntp.
    const std::string module = push.name.substr(push.name.rfind('-') + 1);
    if (!module::parse_module_name("any-" + module)) {
        return failure(fmt::format("'{}' is neither a source nor a module", push.name), 404);
    }
    job.modules = {module};
    return job;
}

Response DeployHook::Impl::take(const Request& request) {
    if (auto good = verify_webhook(request, options.secret); !good) {
        log.log(Level::Warning, fmt::format("A webhook from {} was refused: {}",
                                            request.peer.address, good.error().message));
        return error_response(good.error().code, good.error().message);
    }
    auto push = read_webhook(request);
    if (!push) return error_response(400, push.error().message);
    if (push->ping) return Response::json(200, R"({"message":"pong"})");
    if (push->branches.empty()) return Response::json(200, R"({"message":"no branch changed"})");
    auto job = job_of(*push);
    if (!job) return error_response(job.error().code == 404 ? 404 : 500, job.error().message);
    if (job->environments.empty() && job->modules.empty()) {
        return Response::json(200, R"({"message":"no environment is made of that"})");
    }
    std::unique_lock held(mutex);
    const auto waiting = std::ranges::count_if(jobs.jobs(), &DeployJob::waits);
    if (waiting >= kMostWaiting) return busy("too many deploys wait already");
    const std::string digest = codec::hex_digest(codec::DigestKind::Sha256, request.body);
    if (jobs.seen(digest)) return error_response(409, "this delivery was processed before");
    auto taken = jobs.take(digest, std::move(*job));
    if (!taken) {
        log.log(Level::Err, "A webhook is not taken: " + taken.error().message);
        return busy("the deploy cannot be recorded");
    }
    wake();
    return Response::json(202, taken->json());
}

void DeployHook::Impl::work() {
    std::unique_lock held(mutex);
    while (!ending) {
        const DeployJob* next = jobs.next();
        if (!next) {
            wanted.wait(held);
            continue;
        }
        DeployJob job = *next;
        job.state = "running";
        job.begun = std::time(nullptr);
        jobs.update(job);
        held.unlock();
        run(job);
        held.lock();
        // A deploy that the shutdown of the server interrupts is repeated after the next start. A
        // signal to the process group may end git before this process notices it, so a failure
        // waits for a possible shutdown.
        const bool broken = job.state != "done";
        if (broken && wanted.wait_for(held, kGrace, [this] { return ending.load(); })) return;
        job.ended = std::time(nullptr);
        jobs.update(job);
    }
}

void DeployHook::Impl::run(DeployJob& job) {
    job.state = "failed";
    auto d = deploy_options();
    if (!d) {
        job.error = sys::plain_text(d.error().message);
        return;
    }
    sys::RealSystem real;
    d->environments = job.environments;
    d->only_modules = job.modules;
    auto done = job.modules.empty() ? module::deploy_environments(*d, real.system(), log)
                                    : module::deploy_modules(*d, real.system(), log);
    if (!done) {
        job.error = sys::plain_text(done.error().message);
        return;
    }
    using What = module::DeployedEnvironment::What;
    for (const module::DeployedEnvironment& e : *done) {
        if (e.what == What::Failed) {
            job.error += (job.error.empty() ? "" : "; ") + e.name + ": " + e.error;
        } else if (e.what != What::Unchanged || job.resumed) {
            // An interrupted deploy may have changed the environment before post_deploy could run.
            job.changed.push_back(e.name);
        }
    }
    if (!options.post_deploy.empty() && !job.changed.empty()) {
        sys::Command command;
        for (std::string_view word : base::words(options.post_deploy, " \t")) {
            command.argv.emplace_back(word);
        }
        for (const std::string& name : job.changed) command.argv.push_back(name);
        command.merge_errors = true;
        command.timeout = std::chrono::minutes(10);
        command.stop = [this] { return ending ? sys::Stop::Ask : sys::Stop::No; };
        auto outcome = real.system().processes.run(command);
        if (!outcome || !outcome->ok()) {
            const std::string why =
                !outcome ? outcome.error().message
                : outcome->timed_out
                    ? "it did not end"
                    : fmt::format("exit {}: {}", outcome->status, outcome->output.substr(0, 500));
            job.error += (job.error.empty() ? "" : "; ") + ("post_deploy: " + why);
        }
    }
    if (job.error.empty()) job.state = "done";
}

std::string DeployHook::Impl::status_json() {
    std::unique_lock held(mutex);
    std::string out = "{\"deploys\":[";
    for (auto it = jobs.jobs().rbegin(); it != jobs.jobs().rend(); ++it) {
        if (out.back() == '}') out += ',';
        out += it->json();
    }
    return out + "]}";
}

std::string DeployHook::Impl::page() {
    std::unique_lock held(mutex);
    std::string rows;
    for (auto it = jobs.jobs().rbegin(); it != jobs.jobs().rend(); ++it) {
        const auto& what = it->modules.empty() ? it->environments : it->modules;
        rows += fmt::format(
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n", it->id,
            html_text(it->state), html_text(module::forge_time(it->asked)), html_text(it->from),
            html_text(fmt::format("{}", fmt::join(what, ", "))), html_text(it->error));
    }
    return html_page("Deploys",
                     "<table><tr><th>No.</th><th>State</th><th>Asked</th><th>Repository</th>"
                     "<th>What</th><th>Error</th></tr>\n" +
                         rows + "</table>\n");
}

DeployHook::DeployHook(DeployHookOptions options, const config::Settings& settings,
                       base::LogSink& log)
    : impl_(std::make_unique<Impl>(std::move(options), settings, log)) {}

DeployHook::~DeployHook() {
    {
        std::unique_lock held(impl_->mutex);
        impl_->ending = true;
    }
    impl_->wanted.notify_all();
    if (impl_->worker.joinable()) impl_->worker.join();
}

void DeployHook::mount(http::Router& router) {
    {
        std::unique_lock held(impl_->mutex);
        if (impl_->jobs.next()) impl_->wake();
    }
    http::RouteOptions options;
    options.max_body = 5 << 20;
    // The shared secret is checked in the handler, because the signature covers the body.
    router.add(
        "POST", "/deploy/webhook", http::Access::anyone(),
        [this](Request& request) { return impl_->take(request); }, options);
    router.add("GET", "/deploy/status", http::Access::certificate(),
               [this](Request&) { return Response::json(200, impl_->status_json()); });
    router.add("GET", "/deploy", http::Access::certificate(),
               [this](Request&) { return html_response(impl_->page()); });
}

}  // namespace bunraku::forge
