// SPDX-License-Identifier: Apache-2.0
// Runs report processors of modules, which are written in Ruby, for the reports that agents send.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "compile/site/request.h"
#include "core/value/value.h"
#include "services/server/compiler.h"

namespace bunraku::server {

/// Uses one child process for all reports of an environment, which is started on first use.
/// Thread-safe: one report is processed at a time.
class RubyReports {
public:
    explicit RubyReports(Compiler& compiler);
    ~RubyReports();
    /// Returns false if no module has a processor with that name. Throws the exceptions of the
    /// processor.
    bool process(std::string_view name, const value::Value& report, const site::Overlay& overlay);

private:
    struct WorkerLimit;
    Compiler& compiler_;
    std::mutex mutex_;
    std::unique_ptr<WorkerLimit> worker_limit_;
};

}  // namespace bunraku::server
