// SPDX-License-Identifier: Apache-2.0
#include "services/console/live.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/number.h"
#include "core/codec/json_text.h"

namespace bunraku::console {

using base::Result;

LiveEvents::LiveEvents(FleetWatch& fleet, sys::Executor& aside, sys::Executor& reads,
                       sys::Runtime& runtime,
                       std::function<std::optional<RolloutStamps>()> rollouts)
    : fleet_(fleet),
      aside_(aside),
      reads_(reads),
      runtime_(runtime),
      read_rollouts_(std::move(rollouts)),
      process_(fmt::format("{:x}", runtime.now_ms())) {}

std::string LiveEvents::id_of(std::uint64_t number) const {
    return fmt::format("{}-{}", process_, number);
}

Result<std::shared_ptr<http::BodyStream>> LiveEvents::open(const Viewer& viewer,
                                                           std::string_view last_id,
                                                           Identify identify, Follow follow) {
    auto subscriber = std::make_shared<Subscriber>();
    subscriber->viewer = viewer;
    subscriber->identify = std::move(identify);
    subscriber->follow = follow;
    subscriber->stream = std::make_shared<http::BodyStream>();
    subscriber->seen = fleet_.newest_news();
    subscriber->opened_ms = subscriber->sent_ms = runtime_.now_ms();
    std::string first = "retry: 2000\n";
    if (!last_id.empty()) {
        const auto dash = last_id.rfind('-');
        const auto number = dash == std::string_view::npos
                                ? std::nullopt
                                : base::parse_integer<std::uint64_t>(last_id.substr(dash + 1));
        const bool known = number && last_id.substr(0, dash) == process_ &&
                           *number <= subscriber->seen && fleet_.news_after(*number);
        if (known) {
            subscriber->seen = *number;
        } else {
            first += "event: reset\n";
        }
    }
    first += fmt::format("id: {}\ndata: {{}}\n\n", id_of(subscriber->seen));
    (void)subscriber->stream->push(first);
    {
        const std::lock_guard lock(mutex_);
        std::erase_if(all_, [](const auto& other) { return other->stream->ended(); });
        const auto own = std::ranges::count_if(all_, [&](const auto& other) {
            return other->viewer.name == viewer.name && other->viewer.via == viewer.via;
        });
        if (all_.size() >= kMost || static_cast<std::size_t>(own) >= kMostOfViewer)
            return base::failure("There are too many open pages");
        all_.push_back(subscriber);
    }
    schedule();
    return subscriber->stream;
}

std::size_t LiveEvents::size() const {
    const std::lock_guard lock(mutex_);
    return all_.size();
}

void LiveEvents::schedule() {
    {
        const std::lock_guard lock(mutex_);
        if (ticking_ || all_.empty()) return;
        ticking_ = true;
    }
    if (aside_.post_after(kPause, [this] { tick(); }) != 0) return;
    const std::lock_guard lock(mutex_);
    ticking_ = false;
}

void LiveEvents::tick() {
    read_later();
    serve_all();
    {
        const std::lock_guard lock(mutex_);
        ticking_ = false;
    }
    schedule();
}

void LiveEvents::read_later() {
    {
        const std::lock_guard lock(mutex_);
        if (reading_ || runtime_.now_ms() < next_read_ms_) return;
        reading_ = true;
    }
    if (reads_.post([this] { read(); })) return;
    const std::lock_guard lock(mutex_);
    reading_ = false;
}

void LiveEvents::read() {
    const auto begin = runtime_.now_ms();
    // If the store is unavailable, the fleet stays unchanged, and heartbeats continue.
    (void)fleet_.current();
    bool rollouts = false;
    {
        const std::lock_guard lock(mutex_);
        rollouts = read_rollouts_ && begin >= next_rollouts_ms_ &&
                   std::ranges::any_of(all_, [](const auto& one) {
                       return one->follow == Follow::RunsAndRollouts;
                   });
    }
    auto stamps = rollouts ? read_rollouts_() : std::nullopt;
    {
        const std::lock_guard lock(mutex_);
        const auto end = runtime_.now_ms();
        if (stamps) rollouts_ = std::move(stamps);
        if (rollouts) next_rollouts_ms_ = end + kRolloutsMs;
        next_read_ms_ = end + std::min(kLongestReadPauseMs,
                                       (kReadShare - 1) * std::max<std::int64_t>(0, end - begin));
        reading_ = false;
    }
    serve_all();
}

void LiveEvents::serve_all() {
    const std::lock_guard serving(serving_);
    std::vector<std::shared_ptr<Subscriber>> all;
    {
        const std::lock_guard lock(mutex_);
        std::erase_if(all_, [](const auto& one) { return one->stream->ended(); });
        all = all_;
    }
    const auto now = runtime_.now_ms();
    for (const auto& subscriber : all) serve(*subscriber, now);
}

std::string LiveEvents::visible_rollouts(const Subscriber& to) const {
    std::string out;
    if (to.follow != Follow::RunsAndRollouts) return to.rollouts;
    const std::lock_guard lock(mutex_);
    if (!rollouts_) return to.rollouts;
    for (const auto& [environment, stamp] : *rollouts_)
        if (to.viewer.sees(environment)) out += stamp + ";";
    return out;
}

/// The caller holds `serving_`.
void LiveEvents::serve(Subscriber& to, std::int64_t now_ms) {
    auto rollouts = visible_rollouts(to);
    const bool moved = rollouts != to.rollouts;
    const auto newest = fleet_.newest_news();
    const bool beat = now_ms - to.sent_ms >= kHeartbeatMs;
    if (newest == to.seen && !beat && !moved) return;
    // A viewer whose rights changed gets a new stream with the new ones.
    const auto viewer = to.identify();
    const bool over = now_ms - to.opened_ms >= kLongestMs;
    if (!viewer || *viewer != to.viewer || over) {
        (void)to.stream->push(
            fmt::format("event: end\ndata: {{\"again\":{}}}\n\n", viewer ? "true" : "false"));
        return to.stream->finish();
    }
    auto text = newest == to.seen ? std::string() : event_text(to.viewer, to.seen, newest);
    to.seen = newest;
    if (moved) text += fmt::format("event: rollouts\nid: {}\ndata: {{}}\n\n", id_of(newest));
    to.rollouts = std::move(rollouts);
    if (text.empty()) {
        if (!beat) return;
        text = ":\n\n";
    }
    to.sent_ms = now_ms;
    (void)to.stream->push(text);
}

/// Returns an empty text if the viewer may see none of the runs.
std::string LiveEvents::event_text(const Viewer& viewer, std::uint64_t after,
                                   std::uint64_t newest) const {
    const auto news = fleet_.news_after(after);
    if (!news) return fmt::format("event: reset\nid: {}\ndata: {{}}\n\n", id_of(newest));
    std::string runs;
    std::size_t number = 0;
    for (const RunNews& run : *news) {
        if (run.number > newest || !viewer.sees(run.environment)) continue;
        if (++number > kMostRuns) continue;
        runs += fmt::format(R"({}{{"node":{},"state":"{}","run":"{}","time":{}}})",
                            runs.empty() ? "" : ",", codec::json_string(run.certname),
                            text_of(run.state).id, run.run, run.end);
    }
    if (number == 0) return {};
    if (number > kMostRuns) runs.clear();
    return fmt::format("event: runs\nid: {}\ndata: {{\"count\":{},\"runs\":[{}]}}\n\n",
                       id_of(newest), number, runs);
}

}  // namespace bunraku::console
