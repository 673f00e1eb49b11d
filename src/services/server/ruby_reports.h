// Report processors that modules bring in Ruby, for reports that agents send.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "compile/site/request.h"
#include "core/value/value.h"
#include "services/server/compiler.h"

namespace bunraku::server {

/// One child for all reports of an environment, started when the first is met. Thread-safe: one
/// report is processed at a time.
class RubyReports {
public:
    explicit RubyReports(Compiler& compiler);
    ~RubyReports();
    /// False: no module has a processor of that name. Throws what it raises.
    bool process(std::string_view name, const value::Value& report, const site::Overlay& overlay);

private:
    struct WorkerLimit;
    Compiler& compiler_;
    std::mutex mutex_;
    std::unique_ptr<WorkerLimit> worker_limit_;
};

}  // namespace bunraku::server
