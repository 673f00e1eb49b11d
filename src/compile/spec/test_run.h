// SPDX-License-Identifier: Apache-2.0
// Compiles every class with every set of facts, and checks the files below spec/expect
// (`bunraku test`).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compile/site/node_arguments.h"
#include "compile/site/site.h"
#include "compile/spec/test_coverage.h"
#include "compile/spec/test_results.h"
#include "core/base/diagnostic.h"
#include "core/config/settings.h"

namespace bunraku::spec {

/// What to test. The members are named after the options of the command.
struct TestRunOptions {
    site::NodeArguments compile;
    std::vector<std::string> classes;  ///< patterns; empty means all
    std::string facts_dir, path, manifest;
    bool nodes = false, coverage = false;
    /// Returns the problem that an agent would report about a catalog, or an empty text. May be
    /// empty. Called on several threads.
    std::function<std::string(site::Session& session, const catalog::Catalog& catalog)> check;
};

/// Called after each test. Never called on two threads at the same time.
using TestProgress = std::function<void(std::size_t done, std::size_t all)>;

class TestRun {
public:
    /// Gathers the facts and finds the classes and the files below spec/expect. `options` and `log`
    /// must outlive the object. Throws base::PuppetError.
    TestRun(const config::Settings& settings, site::Options site, const TestRunOptions& options,
            base::LogSink& log);
    ~TestRun();

    /// Runs all tests on this number of threads.
    void run(std::size_t threads, const TestProgress& progress);
    /// The tests; `run` adds their results.
    const std::vector<TestResult>& tests() const;
    const Coverage& coverage() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace bunraku::spec
