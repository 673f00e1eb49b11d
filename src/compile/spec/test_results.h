// Outcomes of `bunraku test`, as people and as programs read them.
#pragma once

#include <string>
#include <vector>

namespace bunraku::spec {

struct TestResult {
    enum class State : unsigned char { Passed, Failed, Skipped } state = State::Passed;
    std::string subject;  ///< a class, "node NAME", or a file that cannot be parsed
    std::string file;     ///< of the class
    std::string facts;    ///< the name of the set of facts
    std::string problem;
    std::vector<std::string> warnings;
    std::size_t resources = 0;
    double seconds = 0;

    bool failed() const { return state == State::Failed; }
    std::string name() const { return facts.empty() ? subject : subject + " on " + facts; }
};

/// Failures in full, equal ones once, and the count.
std::string plain_text(const std::vector<TestResult>& tests, double seconds);
/// An object: the tests, how many passed, failed and were skipped, and the seconds it took.
std::string json_text(const std::vector<TestResult>& tests, double seconds);
/// TAP version 13.
std::string tap_text(const std::vector<TestResult>& tests);
/// As CI servers read it: a suite for each class.
std::string junit_text(const std::vector<TestResult>& tests, double seconds);

}  // namespace bunraku::spec
