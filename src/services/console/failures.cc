// SPDX-License-Identifier: Apache-2.0
#include "services/console/failures.h"

#include <algorithm>

#include "core/base/arena.h"
#include "core/codec/digest.h"
#include "core/value/hash_access.h"
#include "core/value/rich_data.h"

namespace bunraku::console {

using base::Result;
using store::NodeRow;
using store::RunRow;

namespace {

constexpr std::size_t kMostOfRun = 20;
constexpr std::size_t kMostMessage = 2000;
constexpr std::size_t kMostRemembered = 4000;

/// Returns the nodes whose latest run failed, at most kMostNodes, the newest first.
std::vector<const NodeRow*> failed_nodes(const Fleet& fleet, const Viewer& viewer) {
    std::vector<const NodeRow*> out;
    for (const NodeRow& node : fleet.nodes)
        if (node.run.status == store::RunStatus::Failed && viewer.sees(fleet.environment(node.run)))
            out.push_back(&node);
    if (out.size() > FailureKinds::kMostNodes) {
        std::ranges::sort(out, std::ranges::greater{},
                          [](const NodeRow* node) { return node->run.end; });
        out.resize(FailureKinds::kMostNodes);
    }
    return out;
}

std::vector<FailureKind::Part> parts_of(const std::vector<MessagePart>& parts) {
    std::vector<FailureKind::Part> out;
    for (const auto& part : parts) out.push_back({part.text, part.kind, {}});
    return out;
}

void add_values(std::vector<FailureKind::Part>& into, const std::vector<MessagePart>& parts) {
    for (std::size_t i = 0; i < std::min(into.size(), parts.size()); ++i)
        if (!into[i].kind.empty() && into[i].values.size() < FailureKind::kMostValues)
            into[i].values.insert(parts[i].text);
}

}  // namespace

Result<std::optional<LoggedError>> first_error(store::Database& db, const RunRow& run) {
    const auto data = BUNRAKU_TRY(store::run_data(db, run.id));
    base::Arena arena;
    const auto logs = value::parse_json(arena, data.logs);
    if (!logs || !logs->is_array()) return std::optional<LoggedError>();
    for (const auto& log : logs->as_array()) {
        if (value::text_at(log, "level") != "err") continue;
        const auto* line = value::at(log, "line");
        return std::optional(LoggedError{value::text_at(log, "message").substr(0, kMostMessage),
                                         value::text_at(log, "file").substr(0, kMostMessage),
                                         line && line->is_integer() ? line->as_integer() : 0});
    }
    return std::optional<LoggedError>();
}

Result<FailureKinds::Failures> FailureKinds::read(store::Database& db, const RunRow& run) {
    auto out = std::make_shared<std::vector<Failure>>();
    for (auto& event : BUNRAKU_TRY(store::run_events(db, run, "failure", kMostOfRun))) {
        out->push_back({event.type.substr(0, 255), event.title.substr(0, kMostMessage),
                        event.message.substr(0, kMostMessage), event.file.substr(0, kMostMessage),
                        event.line, event.time});
    }
    if (!out->empty()) return Failures(std::move(out));
    // The catalog failed, so the error is only in the log.
    const auto error = BUNRAKU_TRY(first_error(db, run))
                           .value_or(LoggedError{.message = "The run failed without a message"});
    out->push_back({"", "", error.message, error.file, error.line, run.end});
    return Failures(std::move(out));
}

Result<FailureKinds::Failures> FailureKinds::failures_of(store::Service& store, const RunRow& run) {
    {
        const std::lock_guard lock(mutex_);
        if (const auto it = by_report_.find(run.id); it != by_report_.end()) return it->second;
    }
    auto db = BUNRAKU_TRY(store.reader());
    auto failures = BUNRAKU_TRY(read(*db, run));
    const std::lock_guard lock(mutex_);
    // The oldest reports are the least likely to be needed again.
    if (by_report_.size() >= kMostRemembered) by_report_.erase(by_report_.begin());
    by_report_.emplace(run.id, failures);
    return failures;
}

Result<void> FailureKinds::add_first(store::Service& store, FailureKind& kind,
                                     const std::string& title) {
    if (kind.type.empty()) return {};
    {
        const std::lock_guard lock(mutex_);
        if (const auto it = first_.find(kind.id); it != first_.end()) {
            kind.since = it->second.time;
            kind.since_code = it->second.code;
            return {};
        }
    }
    auto db = BUNRAKU_TRY(store.reader());
    const auto first = BUNRAKU_TRY(store::first_failure(*db, kind.type, title));
    if (!first) return {};
    kind.since = first->time;
    kind.since_code = first->code;
    const std::lock_guard lock(mutex_);
    if (first_.size() >= kMostRemembered) first_.clear();
    first_.emplace(kind.id, *first);
    return {};
}

Result<std::vector<FailureKind>> FailureKinds::current(store::Service& store, const Fleet& fleet,
                                                       const Viewer& viewer) {
    std::map<std::string, FailureKind> kinds;
    std::map<std::string, std::string> titles;  // of one node of each kind
    for (const NodeRow* node : failed_nodes(fleet, viewer)) {
        const auto failures = BUNRAKU_TRY(failures_of(store, node->run));
        for (const Failure& failure : *failures) {
            const auto title = split_message(failure.title, node->certname);
            const auto message = split_message(failure.message, node->certname);
            const auto id = codec::short_digest(
                failure.type + "\n" + pattern_of(title) + "\n" + pattern_of(message), 16);
            auto& kind = kinds[id];
            if (kind.id.empty()) {
                kind.id = id;
                kind.type = failure.type;
                kind.title = parts_of(title);
                kind.message = parts_of(message);
                kind.file = failure.file;
                kind.line = failure.line;
                titles[id] = failure.title;
            }
            add_values(kind.title, title);
            add_values(kind.message, message);
            if (kind.nodes.empty() || kind.nodes.back().certname != node->certname)
                kind.nodes.push_back(
                    {node->certname, node->run.hash_text(), failure.time, node->run.code});
        }
    }
    std::vector<FailureKind> out;
    for (auto& [id, kind] : kinds) {
        // The first failure may be of an environment that the viewer may not see.
        if (viewer.sees_all()) BUNRAKU_TRY_VOID(add_first(store, kind, titles[id]));
        std::ranges::sort(kind.nodes, {}, &FailureKind::Node::certname);
        out.push_back(std::move(kind));
    }
    std::ranges::stable_sort(out, std::ranges::greater{},
                             [](const FailureKind& kind) { return kind.nodes.size(); });
    return out;
}

std::string failure_text(const FailureKind& kind) {
    std::string out;
    const auto append = [&](const std::vector<FailureKind::Part>& parts) {
        for (const auto& part : parts) out += part.text;
    };
    if (!kind.type.empty()) {
        out = kind.type + "[";
        append(kind.title);
        out += "]: ";
    }
    append(kind.message);
    return out;
}

}  // namespace bunraku::console
