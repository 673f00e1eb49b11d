// SPDX-License-Identifier: Apache-2.0
// Formats of the results of `bunraku test`.
#pragma once

#include <string>
#include <vector>

namespace bunraku::spec {

struct TestResult {
    enum class State : unsigned char { Passed, Failed, Skipped } state = State::Passed;
    std::string subject;  ///< a class, "node NAME", or a file that cannot be parsed
    std::string file;     ///< file of the class
    std::string facts;    ///< name of the set of facts
    std::string problem;
    std::vector<std::string> warnings;
    std::size_t resources = 0;
    double seconds = 0;

    bool failed() const { return state == State::Failed; }
    std::string name() const { return facts.empty() ? subject : subject + " on " + facts; }
};

/// Returns all failures, with equal ones combined, and the counts.
std::string plain_text(const std::vector<TestResult>& tests, double seconds);
/// Returns a JSON object: the tests, the numbers of passed, failed and skipped tests, and the
/// duration in seconds.
std::string json_text(const std::vector<TestResult>& tests, double seconds);
/// Returns TAP version 13.
std::string tap_text(const std::vector<TestResult>& tests);
/// Returns JUnit XML for CI servers, with one suite per class.
std::string junit_text(const std::vector<TestResult>& tests, double seconds);

}  // namespace bunraku::spec
