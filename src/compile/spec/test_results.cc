// SPDX-License-Identifier: Apache-2.0
#include "compile/spec/test_results.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/html_text.h"
#include "core/base/text.h"
#include "core/codec/json_text.h"

namespace bunraku::spec {

namespace {

using State = TestResult::State;

std::size_t count(const std::vector<TestResult>& tests, State state) {
    return static_cast<std::size_t>(std::ranges::count(tests, state, &TestResult::state));
}

/// Replaces control characters with '?': XML cannot represent them, even escaped.
std::string xml(std::string_view text) {
    std::string out = base::html_text(text);
    for (char& c : out)
        if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') c = '?';
    return out;
}

std::string first_line(std::string_view text) {
    return std::string(text.substr(0, text.find('\n')));
}

/// Returns a name for one line of TAP. Escapes "#", which would start a directive.
std::string tap_name(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '#') out += '\\';
        out += c == '\n' ? ' ' : c;
    }
    return out;
}

}  // namespace

std::string plain_text(const std::vector<TestResult>& tests, double seconds) {
    std::string out;
    std::vector<bool> printed(tests.size());
    for (std::size_t i = 0; i < tests.size(); ++i) {
        if (!tests[i].failed() || printed[i]) continue;
        std::vector<std::string> sets;
        for (std::size_t k = i; k < tests.size(); ++k) {
            if (!tests[k].failed() || tests[k].subject != tests[i].subject ||
                tests[k].problem != tests[i].problem)
                continue;
            printed[k] = true;
            if (!tests[k].facts.empty()) sets.push_back(tests[k].facts);
        }
        out += fmt::format("FAILED {}", tests[i].subject);
        constexpr std::size_t kNamed = 5;
        if (!sets.empty()) {
            out += fmt::format(
                " on {}",
                fmt::join(sets.begin(),
                          sets.begin() + static_cast<std::ptrdiff_t>(std::min(sets.size(), kNamed)),
                          ", "));
            if (sets.size() > kNamed) out += fmt::format(" and {} more", sets.size() - kNamed);
        }
        out += '\n';
        for (const auto line : base::lines(tests[i].problem)) out += fmt::format("    {}\n", line);
    }
    std::vector<std::string> skipped;
    for (const auto& t : tests)
        if (t.state == State::Skipped &&
            (skipped.empty() || !skipped.back().starts_with(t.subject + ":")))
            skipped.push_back(fmt::format("{}: {}", t.subject, first_line(t.problem)));
    for (const auto& line : skipped) out += fmt::format("skipped {}\n", line);
    out += fmt::format("{} passed, {} failed", count(tests, State::Passed),
                       count(tests, State::Failed));
    if (const auto n = count(tests, State::Skipped)) out += fmt::format(", {} skipped", n);
    return out + fmt::format(" ({:.2f} s)\n", seconds);
}

std::string json_text(const std::vector<TestResult>& tests, double seconds) {
    using codec::json_string;
    std::string out =
        fmt::format(R"({{"passed":{},"failed":{},"skipped":{},"seconds":{:.3f},"tests":[)",
                    count(tests, State::Passed), count(tests, State::Failed),
                    count(tests, State::Skipped), seconds);
    for (const auto& t : tests) {
        const char* state = t.failed()                  ? "failed"
                            : t.state == State::Skipped ? "skipped"
                                                        : "passed";
        std::string warnings;
        for (const auto& w : t.warnings) warnings += (warnings.empty() ? "" : ",") + json_string(w);
        out += fmt::format(R"({}{{"subject":{},"facts":{},"file":{},"state":"{}","problem":{},)"
                           R"("warnings":[{}],"resources":{},"seconds":{:.3f}}})",
                           &t == &tests.front() ? "" : ",", json_string(t.subject),
                           json_string(t.facts), json_string(t.file), state,
                           t.problem.empty() ? "null" : json_string(t.problem), warnings,
                           t.resources, t.seconds);
    }
    return out + "]}\n";
}

std::string tap_text(const std::vector<TestResult>& tests) {
    std::string out = fmt::format("TAP version 13\n1..{}\n", tests.size());
    for (std::size_t i = 0; i < tests.size(); ++i) {
        const auto& t = tests[i];
        out += fmt::format("{} {} - {}", t.failed() ? "not ok" : "ok", i + 1, tap_name(t.name()));
        if (t.state == State::Skipped)
            out += fmt::format(" # SKIP {}", tap_name(first_line(t.problem)));
        out += '\n';
        if (!t.failed()) continue;
        out += "  ---\n  message: |\n";
        for (const auto line : base::lines(t.problem)) out += fmt::format("    {}\n", line);
        out += "  ...\n";
    }
    return out;
}

std::string junit_text(const std::vector<TestResult>& tests, double seconds) {
    std::string out = fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"bunraku test\" "
        "tests=\"{}\" "
        "failures=\"{}\" time=\"{:.3f}\">\n",
        tests.size(), count(tests, State::Failed), seconds);
    for (std::size_t i = 0; i < tests.size();) {
        std::size_t end = i;
        while (end < tests.size() && tests[end].subject == tests[i].subject) ++end;
        const std::vector<TestResult> suite(tests.begin() + static_cast<std::ptrdiff_t>(i),
                                            tests.begin() + static_cast<std::ptrdiff_t>(end));
        double time = 0;
        for (const auto& t : suite) time += t.seconds;
        out += fmt::format(
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" skipped=\"{}\" "
            "time=\"{:.3f}\">\n",
            xml(suite[0].subject), suite.size(), count(suite, State::Failed),
            count(suite, State::Skipped), time);
        for (const auto& t : suite) {
            out +=
                fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"",
                            xml(t.subject), xml(t.facts.empty() ? t.subject : t.facts), t.seconds);
            if (t.state == State::Passed && t.warnings.empty()) {
                out += "/>\n";
                continue;
            }
            out += ">\n";
            if (t.failed())
                out += fmt::format("      <failure message=\"{}\">{}</failure>\n",
                                   xml(first_line(t.problem)), xml(t.problem));
            if (t.state == State::Skipped)
                out += fmt::format("      <skipped message=\"{}\"/>\n", xml(first_line(t.problem)));
            if (!t.warnings.empty())
                out += fmt::format("      <system-err>{}</system-err>\n",
                                   xml(fmt::format("{}", fmt::join(t.warnings, "\n"))));
            out += "    </testcase>\n";
        }
        out += "  </testsuite>\n";
        i = end;
    }
    return out + "</testsuites>\n";
}

}  // namespace bunraku::spec
