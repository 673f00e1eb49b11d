// SPDX-License-Identifier: Apache-2.0
#include "services/server/ruby_reports.h"

#include "core/sys/system.h"
#include "resources/apply/context.h"
#include "resources/apply/ruby_types.h"

namespace bunraku::server {

/// The objects that live as long as a child process.
struct RubyReports::WorkerLimit {
    WorkerLimit(Compiler& compiler, const site::Overlay& overlay, std::string name)
        : environment(std::move(name)), context{.system = system.system(), .log = compiler.log()} {
        site::NodeRequest request;
        request.overlay = overlay;
        request.node = compiler.settings().text("certname");
        request.classification = site::Unclassified();
        session = compiler.site().session(std::move(request), compiler.log());
        types = std::make_unique<apply::RubyTypes>(context, [this] {
            apply::RubyTypes::Parts parts;
            parts.host = session->ruby_options();
            parts.setting = [this](std::string_view setting) -> std::optional<std::string> {
                return session->view().settings().get(setting);
            };
            parts.host.timeout = std::chrono::minutes(5);
            parts.host.worker_limit = nullptr;
            return parts;
        });
    }
    std::string environment;
    sys::RealSystem system;
    apply::Context context;
    std::unique_ptr<site::Session> session;
    std::unique_ptr<apply::RubyTypes> types;
    int reports = 0;
};

RubyReports::RubyReports(Compiler& compiler) : compiler_(compiler) {}
RubyReports::~RubyReports() = default;

bool RubyReports::process(std::string_view name, const value::Value& report,
                          const site::Overlay& overlay) {
    // Requests leave data in the memory of a child, so it is replaced after this many reports.
    constexpr int kMost = 500;
    const std::lock_guard lock(mutex_);
    const auto* chosen = overlay.find("environment");
    const std::string environment = chosen ? *chosen : "";
    if (!worker_limit_ || worker_limit_->environment != environment ||
        ++worker_limit_->reports > kMost || !worker_limit_->session->environment()->unchanged())
        worker_limit_ = std::make_unique<WorkerLimit>(compiler_, overlay, environment);
    try {
        return worker_limit_->types->process_report(name, report);
    } catch (...) {
        worker_limit_.reset();
        throw;
    }
}

}  // namespace bunraku::server
