// SPDX-License-Identifier: Apache-2.0
// Maintenance: updates the statistics for query plans, and removes old and unused data.
#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "store/db/secrets.h"
#include "store/db/source_locations.h"
#include "store/db/writer.h"
#include "store/engine/impl.h"
#include "store/engine/service.h"

namespace bunraku::store {

using std::chrono::milliseconds;

/// Updates PostgreSQL's statistics. Otherwise the plans of a quickly growing store assume its
/// former small size, because PostgreSQL's own daemon runs once a minute at best. JSON columns are
/// excluded: sorting samples of them costs more than everything else. A worker runs this between
/// two batches while the store is growing, because later it would delay the queries that follow.
void Service::refresh_statistics() {
    if (backend_ != Backend::Postgresql) return;
    Busy only(analyzing_);
    if (!only || applied_ < next_analyze_) return;
    next_analyze_ = applied_ * 3;
    static constexpr std::string_view kAnalyzed[] = {
        "certnames",
        "environments",
        "producers",
        "packages",
        "certname_packages",
        "exported_tags",
        "exported_params",
        "catalog_resources",
        "factset_facts",
        "fact_paths",
        "parameters (id)",
        "catalogs (certname_id, environment_id, producer_timestamp, kind_set_id)",
        "resources (id, parameters_id, type, title, exported, file, line, tag_set_id)",
        "tag_sets",
        "tag_set_members",
        "parameter_values",
        "catalog_types",
        "factsets (certname_id, environment_id, producer_timestamp, name_set_id)",
        "fact_name_sets",
        "fact_name_set_members",
        "kind_sets",
        "kind_set_members",
        "places (id, file, line)",
        "report_counts",
        "latest_events",
        "facts (id, name, match, number)",
        "fact_leaves (fact_id, path_id, match, number)",
        "report_kinds (id, certname_id, status, environment_id)",
        "reports (id, certname_id, kind_id, plan, producer_timestamp, start_time, end_time)",
        "resource_events (certname_id, report_id, status, timestamp, resource_type,"
        " resource_title, property, containing_class)",
    };
    auto done = with_writer([](Writer& writer) -> Result<void> {
        // A quarter of the usual sample is enough for plans and takes a quarter of the time.
        BUNRAKU_TRY_VOID(writer.db().execute("SET default_statistics_target = 25"));
        // One statement per table avoids holding locks on all of them.
        for (std::string_view table : kAnalyzed) {
            BUNRAKU_TRY_VOID(writer.db().execute(fmt::format("ANALYZE {}", table)));
        }
        return {};
    });
    if (!done) log("warning", done.error().message);
}

/// Adds resubmitted commands to the queue. Retries later if the queue is full.
void Service::import_resubmitted() {
    if (queue_->import_resubmitted().refused)
        (void)maintenance_->post_after(kIncomingPause, [this] { import_resubmitted(); });
}

/// Schedules a removal of unused content. Runs only after something became unused.
void Service::expect_garbage() {
    if (garbage_expected_.exchange(true)) return;
    (void)maintenance_->post_after(kContentPause, [this] {
        garbage_expected_ = false;
        if (!remove_content_now()) expect_garbage();
    });
}

void Service::schedule_cleaning() {
    if (options_.gc_interval_ms <= 0) return;
    (void)maintenance_->post_after(milliseconds(options_.gc_interval_ms), [this] {
        auto done = clean(CleanWhat::all());
        if (!done) log("warning", "Garbage collection failed: " + done.error().message);
        schedule_cleaning();
    });
}

/// Returns the start of the retained history. Content that was lost earlier is not part of any
/// catalog that can be requested.
std::int64_t Service::history_begins() const {
    const std::int64_t ttl = options_.lifetimes.catalog_history_ttl_ms;
    return options_.runtime->now_ms() - std::max<std::int64_t>(ttl, 0);
}

/// Returns false if more content is left.
bool Service::remove_content_now() {
    const std::int64_t until = history_begins();
    for (int steps = 0; steps < 200; ++steps) {
        auto more = one_step([until](Writer& writer) -> Result<GcStep> {
            ContentRemoval step = BUNRAKU_TRY(remove_content(writer, 250, until));
            return GcStep{step.removed, step.more};
        });
        if (!more) return false;
        if (!more->more) return true;
    }
    return false;
}

/// Checks once a second whether the standby is current enough for queries.
void Service::watch_replica() {
    if (auto seen = replica_->look(); !seen && replica_->newly_silent()) {
        log("warning", "The read database is not used: " + seen.error().message);
    }
    (void)watcher_->post_after(kReplicaPause, [this] { watch_replica(); });
}

Result<bool> Service::clean(const CleanWhat& what) {
    Busy only(cleaning_);
    if (!only) return false;
    // Only one server on a database cleans at a time. The lock ends with its connection.
    std::unique_ptr<Database> lock;
    if (backend_ == Backend::Postgresql) {
        lock = BUNRAKU_TRY(
            Database::open(options_.database, Database::Access::ReadWrite, 10000, wait_limits()));
        Statement s = BUNRAKU_TRY(lock->prepare_once("SELECT pg_try_advisory_lock(1112886866, 3)"));
        if (!BUNRAKU_TRY(s.step()) || s.integer(0) == 0) return false;
    }
    const auto cleaned = clean_now(what);
    note_change();  // also after an error, because each step is a transaction of its own
    BUNRAKU_TRY_VOID(cleaned);
    return true;
}

/// Runs a step of the garbage collector, then pauses for as long as the step took so that others
/// can use the database.
Result<GcStep> Service::one_step(const std::function<Result<GcStep>(Writer&)>& step) {
    GcStep out;
    sys::TimePoint begun;
    BUNRAKU_TRY_VOID(with_writer([&](Writer& writer) -> Result<void> {
        begun = options_.runtime->now();
        out = BUNRAKU_TRY(step(writer));
        return {};
    }));
    if (!out.more) return out;
    auto taken = std::chrono::duration_cast<milliseconds>(options_.runtime->now() - begun);
    std::unique_lock lock(mutex_);
    worker_limit_.wait_for(lock, std::clamp(taken, milliseconds(1), milliseconds(200)),
                           [&] { return stopping_; });
    if (stopping_) out.more = false;
    return out;
}

Result<void> Service::clean_now(const CleanWhat& what) {
    std::int64_t now = options_.runtime->now_ms();
    auto repeat = [&](std::size_t most,
                      const std::function<Result<GcStep>(Writer&)>& step) -> Result<void> {
        std::size_t total = 0;
        for (;;) {
            GcStep done = BUNRAKU_TRY(one_step(step));
            total += done.done;
            if (!done.more || (most > 0 && total >= most)) return {};
        }
    };
    const Lifetimes& l = options_.lifetimes;
    if (what.expire_nodes) {
        BUNRAKU_TRY_VOID(repeat(0, [&](Writer& w) { return expire_nodes(w, l, now, 500); }));
    }
    if (what.purge_nodes) {
        std::size_t step = what.purge_batch > 0 ? std::min<std::size_t>(what.purge_batch, 10) : 10;
        BUNRAKU_ASSERT(step > 0);
        BUNRAKU_TRY_VOID(
            repeat(what.purge_batch, [&](Writer& w) { return purge_nodes(w, l, now, step); }));
    }
    if (what.purge_reports) {
        BUNRAKU_TRY_VOID(repeat(0, [&](Writer& w) { return purge_reports(w, l, now, 200); }));
    }
    if (what.purge_reports || what.purge_events) {
        // Purging only reports also removes the events of the same age.
        Lifetimes of_events = l;
        if (!what.purge_events) of_events.resource_events_ttl_ms = l.report_ttl_ms;
        BUNRAKU_TRY_VOID(
            repeat(0, [&](Writer& w) { return purge_events(w, of_events, now, 2000); }));
    }
    if (what.other) {
        BUNRAKU_TRY_VOID(repeat(0, [&](Writer& w) { return purge_versions(w, l, now, 1000); }));
    }
    if (what.other) {
        // An older program on the same database does not record source locations.
        constexpr std::size_t kSome = 100;
        BUNRAKU_TRY_VOID(repeat(0, [](Writer& writer) -> Result<GcStep> {
            Transaction transaction = BUNRAKU_TRY(writer.begin());
            const std::size_t filled = BUNRAKU_TRY(fill_source_locations(writer.db(), kSome));
            BUNRAKU_TRY_VOID(transaction.commit());
            return GcStep{filled, filled == kSome};
        }));
        // An older program on the same database does not encrypt.
        BUNRAKU_TRY_VOID(with_writer([&](Writer& writer) -> Result<void> {
            BUNRAKU_TRY(seal_clear_secrets(writer, writer.postgresql()));
            return {};
        }));
    }
    if (what.packages || what.other) {
        const std::int64_t until = history_begins();
        BUNRAKU_TRY_VOID(repeat(0, [&](Writer& w) -> Result<GcStep> {
            ContentRemoval step = BUNRAKU_TRY(remove_content(w, 500, until));
            return GcStep{step.removed, step.more};
        }));
    }
    if (!what.other) return {};
    // The search reads much, and holds no lock. Only the removal stops other writers.
    std::int64_t generation = 0;
    BUNRAKU_TRY_VOID(with_writer([&](Writer& writer) -> Result<void> {
        generation = BUNRAKU_TRY(begin_search(writer));
        return {};
    }));
    UnusedNames unused;
    {
        auto connection = BUNRAKU_TRY(reader());
        unused = BUNRAKU_TRY(unused_names(*connection, 1000, generation));
    }
    return with_writer([&](Writer& writer) -> Result<void> {
        BUNRAKU_TRY(purge_names(writer, unused));
        return {};
    });
}

Result<bool> Service::delete_node(std::string_view certname) {
    {
        const std::lock_guard lock(facts_mutex_);
        newest_facts_.erase(std::string(certname));
    }
    // Operations that may affect many rows run in steps.
    for (bool more = true; more;) {
        more = BUNRAKU_TRY(one_step([&](Writer& w) { return purge_reports_of(w, certname); })).more;
    }
    bool known = false;
    BUNRAKU_TRY_VOID(with_writer([&](Writer& writer) -> Result<void> {
        Transaction transaction = BUNRAKU_TRY(writer.begin_removal());
        known = BUNRAKU_TRY(purge_node(writer, certname));
        BUNRAKU_TRY_VOID(transaction.commit());
        writer.forget();
        return {};
    }));
    note_change();
    expect_garbage();
    return known;
}

}  // namespace bunraku::store
