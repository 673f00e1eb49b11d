// SPDX-License-Identifier: Apache-2.0
#include "services/rollout/checks.h"

#include <charconv>
#include <cmath>
#include <fmt/format.h>

#include "core/base/arena.h"
#include "core/value/hash_access.h"
#include "core/value/rich_data.h"
#include "net/http/message.h"

namespace bunraku::rollout {

namespace {

CheckResult no_answer(std::string why) {
    return {.answer = CheckAnswer::None, .detail = std::move(why)};
}

/// Prometheus writes numbers as texts, also "NaN" and "+Inf".
std::optional<double> number_in(const value::Value& pair) {
    if (!pair.is_array() || pair.as_array().size() != 2) return std::nullopt;
    const value::Value& text = pair.as_array()[1];
    if (!text.is_string()) return std::nullopt;
    std::string_view digits = text.as_string();
    if (digits.starts_with('+')) digits.remove_prefix(1);
    double out = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
    if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return out;
}

CheckResult compared(const Check& check, double number) {
    if (std::isnan(number)) return no_answer("the query has no value (NaN)");
    if (check.most && number > *check.most) {
        return {.answer = CheckAnswer::Bad,
                .detail = fmt::format("The query {} has the value {}, which is above {}",
                                      check.query, number, *check.most)};
    }
    if (check.least && number < *check.least) {
        return {.answer = CheckAnswer::Bad,
                .detail = fmt::format("The query {} has the value {}, which is below {}",
                                      check.query, number, *check.least)};
    }
    return {.answer = CheckAnswer::Good, .detail = {}};
}

std::string name_of(const Check& check) {
    return check.command.empty() ? "the query " + check.query : "the check " + check.command[0];
}

}  // namespace

std::string prometheus_url(const Check& check) {
    std::string out = check.prometheus;
    while (out.ends_with('/')) out.pop_back();
    return fmt::format("{}/api/v1/query?query={}", out, http::percent_encode(check.query));
}

CheckResult prometheus_result(const Check& check, std::string_view body) {
    base::Arena arena(body.size() + 1024);
    const auto parsed = value::parse_json(arena, body);
    const value::Value* data = parsed && parsed->is_hash() ? at(*parsed, "data") : nullptr;
    const value::Value* result = data && data->is_hash() ? at(*data, "result") : nullptr;
    if (!result || !result->is_array()) return no_answer("the response is not of Prometheus");
    if (text_at(*data, "resultType") == "scalar") {
        const auto number = number_in(*result);
        return number ? compared(check, *number) : no_answer("the query has no value");
    }
    if (text_at(*data, "resultType") != "vector")
        return no_answer("the query must return a number or an instant vector");
    CheckResult out = no_answer("the query has no value");
    for (const value::Value& sample : result->as_array()) {
        const value::Value* pair = sample.is_hash() ? at(sample, "value") : nullptr;
        const auto number = pair ? number_in(*pair) : std::nullopt;
        if (!number) return no_answer("the query has no number");
        out = compared(check, *number);
        if (out.answer != CheckAnswer::Good) return out;
    }
    return out;
}

CheckResult Checks::run_command(const WaveCheck& wanted) const {
    const Check& check = wanted.check;
    sys::Command command{.argv = check.command};
    command.timeout = std::chrono::seconds(check.timeout_s);
    command.output_limit = 64 * 1024;
    command.environment = {{"BUNRAKU_ENVIRONMENT", wanted.environment},
                           {"BUNRAKU_VERSION", wanted.version},
                           {"BUNRAKU_WAVE", fmt::format("{}", wanted.wave)}};
    command.stop = [this] { return stopping_ ? sys::Stop::Kill : sys::Stop::No; };
    const auto done = processes_.run(command);
    if (!done) return no_answer(done.error().message);
    if (done->timed_out) return no_answer(fmt::format("no result in {} s", check.timeout_s));
    if (done->stopped) return no_answer("the server stops");
    if (done->status == 0) return {.answer = CheckAnswer::Good, .detail = {}};
    if (done->status == 1) {
        return {.answer = CheckAnswer::Bad,
                .detail = fmt::format("The check {} failed", check.command[0])};
    }
    return no_answer(fmt::format("exit code {}", done->status));
}

CheckResult Checks::ask_prometheus(const Check& check) const {
    if (!get_) return no_answer("there is no HTTP client");
    const auto body = get_(prometheus_url(check), std::chrono::seconds(check.timeout_s),
                           [this] { return stopping_.load(); });
    return body ? prometheus_result(check, *body) : no_answer(body.error().message);
}

CheckResult Checks::run(const WaveCheck& wanted) const {
    CheckResult out{.answer = CheckAnswer::Good, .detail = {}};
    if (!wanted.check.command.empty()) out = run_command(wanted);
    if (out.answer == CheckAnswer::Good && !wanted.check.prometheus.empty())
        out = ask_prometheus(wanted.check);
    return out;
}

std::optional<CheckResult> Checks::result(const WaveCheck& wanted) {
    if (wanted.check.empty()) return CheckResult{.answer = CheckAnswer::Good, .detail = {}};
    {
        const std::lock_guard lock(mutex_);
        Entry& entry = entries_[wanted.rollout];
        if (entry.running) return std::nullopt;
        if (entry.sequence == wanted.sequence && entry.result) {
            const bool again = entry.result->answer == CheckAnswer::None &&
                               runtime_.now_ms() - entry.ended_ms >= kRetryMs;
            if (!again) return entry.result;
        } else {
            entry.result.reset();
        }
        entry.sequence = wanted.sequence;
        entry.name = name_of(wanted.check);
        entry.running = true;
    }
    const bool posted = executor_.post([this, wanted] {
        CheckResult found = run(wanted);
        const std::lock_guard lock(mutex_);
        const auto at = entries_.find(wanted.rollout);
        if (at == entries_.end()) return;
        at->second.running = false;
        at->second.result = std::move(found);
        at->second.ended_ms = runtime_.now_ms();
    });
    if (!posted) {
        const std::lock_guard lock(mutex_);
        entries_[wanted.rollout].running = false;
    }
    return std::nullopt;
}

std::string Checks::waiting(std::int64_t rollout, std::int64_t sequence) const {
    const std::lock_guard lock(mutex_);
    const auto at = entries_.find(rollout);
    if (at == entries_.end() || at->second.sequence != sequence) return {};
    const Entry& entry = at->second;
    if (entry.result && entry.result->answer == CheckAnswer::None)
        return fmt::format("{}, which has no answer: {}", entry.name, entry.result->detail);
    return entry.running ? entry.name : std::string();
}

void Checks::forget(std::int64_t rollout) {
    const std::lock_guard lock(mutex_);
    const auto at = entries_.find(rollout);
    if (at != entries_.end() && !at->second.running) entries_.erase(at);
}

}  // namespace bunraku::rollout
