// SPDX-License-Identifier: Apache-2.0
#include "resources/apply/transaction.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/sys/wording.h"
#include "resources/apply/component.h"
#include "resources/apply/schedule.h"
#include "resources/apply/transaction_store.h"

namespace bunraku::apply {

using base::PuppetError;

Transaction::Transaction(Context& context, RalCatalog& catalog, Report& report, Storage& storage)
    : context_(context),
      catalog_(catalog),
      report_(report),
      storage_(storage),
      graph_(context),
      events_(*this) {}

void Transaction::evaluate() {
    BUNRAKU_ASSERT(!graph_ready_ && graph_.size() == 0);
    std::vector<Resource*> initial = catalog_.resources();
    for (Resource* r : initial) generate(*r);
    pre_run_checks();

    if (!catalog_.version.empty()) {
        context_.message(Level::Info,
                         fmt::format("Applying configuration version '{}'", catalog_.version));
    }
    graph_.populate(catalog_);
    graph_ready_ = true;
    BUNRAKU_ASSERT(catalog_.resources().size() >= initial.size());
    catalog_.due = [this](const Resource& r) { return due(r); };
    if (auto cycles = graph_.report_cycles(); !cycles.empty()) {
        for (const auto& cycle : cycles) {
            for (Resource* r : cycle) {
                Event e = make_event(*r, "resource_error");
                e.status = Event::Status::Failure;
                e.message = "resource is part of a dependency cycle";
                report_.status_of(*r).add(std::move(e));
                BUNRAKU_ASSERT(report_.status_of(*r).failed);
            }
        }
        throw base::plain_error("One or more resource dependency cycles detected in graph");
    }

    std::size_t progress = 0;
    RelationshipGraph::Walk walk;
    walk.go_on = [&] { return !context_.stop_request(); };
    walk.before = [&](Resource& r) {
        prefetch_if_necessary(r);
        if (eval_generate(r)) graph_.clear_blockers();
    };
    walk.visit = [&](Resource& r) {
        ++progress;
        bool trace = context_.options.evaltrace;
        if (trace) {
            r.info(fmt::format("Starting to evaluate the resource ({} of {})", progress,
                               graph_.size()));
        }
        std::int64_t begin = trace ? context_.system.clock.monotonic_ns() : 0;
        eval_resource(r);
        if (trace) {
            double seconds =
                static_cast<double>(context_.system.clock.monotonic_ns() - begin) / 1e9;
            r.info(fmt::format("Evaluated in {} seconds", sys::seconds_text(seconds)));
        }
    };
    walk.never_suitable = [&](Resource& r) { never_suitable(r); };
    walk.cancelled = [&](Resource& r) {
        report_.status_of(r).skipped = true;
        r.debug("Transaction canceled, skipping");
    };
    graph_.traverse(walk);
    if (StopRequest stop = context_.stop_request()) throw Stopped(stop.signal);

    for (const std::string& type : providerless_) {
        context_.message(Level::Err,
                         fmt::format("Could not find a suitable provider for {}", type));
    }
    BUNRAKU_ASSERT(!report_.transaction_completed);
    report_.transaction_completed = true;
    context_.message(Level::Debug, "Finishing transaction");
}

void Transaction::never_suitable(Resource& r) {
    BUNRAKU_ASSERT(graph_ready_ && r.vertex >= 0);
    if (missing_tags(r)) return;
    if (r.provider()) {
        r.err(fmt::format("Provider {} is not functional on this host", r.provider_name()));
    } else {
        std::string type(r.type_name());
        if (std::find(providerless_.begin(), providerless_.end(), type) == providerless_.end()) {
            providerless_.push_back(type);
        }
    }
    report_.status_of(r).failed = true;
}

void Transaction::log_failure(Resource& resource, const std::string& text) { resource.err(text); }

void Transaction::pre_run_checks() {
    bool failed = false;
    for (Resource* r : catalog_.resources()) {
        try {
            guarded([&] { r->pre_run_check(); });
        } catch (const PuppetError& e) {
            log_failure(*r, error_text(e));
            failed = true;
        }
    }
    if (failed) {
        throw base::plain_error("Some pre-run checks failed");
    }
}

/// Returns the text of an error without the secrets of all resources: a type that generates
/// resources reads others, as concat_file reads its fragments, and can quote them.
std::string Transaction::generation_error(const PuppetError& error) const {
    std::string text = error_text(error);
    for (const Resource* r : catalog_.resources()) {
        if (r->secrets()) text = r->secrets()->hide(std::move(text));
    }
    return text;
}

void Transaction::generate(Resource& resource) {
    if (resource.generates()) generate_from(resource);
}

void Transaction::generate_from(Resource& resource) {
    BUNRAKU_ASSERT(!graph_ready_ && resource.vertex < 0);
    std::vector<std::unique_ptr<Resource>> made;
    try {
        made = guarded([&] { return resource.generate(); });
    } catch (const PuppetError& e) {
        report_.resources_failed_to_generate = true;
        resource.err(fmt::format("Failed to generate additional resources using 'generate': {}",
                                 generation_error(e)));
        return;
    }
    if (!resource.depth_first()) std::reverse(made.begin(), made.end());
    for (auto& one : made) {
        Resource* r = catalog_.find(one->type_name(), one->title());
        if (!r) r = adopt(resource, std::move(one), false);
        if (!r) continue;
        BUNRAKU_ASSERT(r->catalog == &catalog_);
        Resource& source = resource.depth_first() ? *r : resource;
        Resource& target = resource.depth_first() ? resource : *r;
        auto related = [](const Resource& a, const Resource& b) {
            for (Relation kind :
                 {Relation::Require, Relation::Subscribe, Relation::Before, Relation::Notify}) {
                for (const Reference& ref : a.relations(kind)) {
                    if (ref.text() == b.ref()) return true;
                }
            }
            return false;
        };
        if (!related(source, target) && !related(target, source)) {
            source.add_relation(Relation::Before,
                                {base::capitalized_segments(target.type_name()), target.title()});
        }
        generate(*r);
    }
}

Resource* Transaction::adopt(Resource& parent, std::unique_ptr<Resource> made, bool contained) {
    BUNRAKU_ASSERT(contained == graph_ready_ && made->vertex < 0);
    made->add_tag(made->type_name());
    made->add_tag_if_valid(made->title());
    for (const std::string& tag : parent.tags()) made->add_tag(tag);
    made->share_tags();
    Resource* container = parent.parent();
    Resource* r = graph_ready_
                      ? catalog_.add(std::move(made))
                      : catalog_.insert_next_to(parent, std::move(made), parent.depth_first());
    if (container) catalog_.add_edge(*container, *r);
    if (contained) graph_.add_contained(parent, *r);
    BUNRAKU_ASSERT(!contained || r->vertex >= 0);
    BUNRAKU_ASSERT(r->parent() == container);
    r->finish_redacted();
    return r;
}

bool Transaction::eval_generate(Resource& resource) {
    BUNRAKU_ASSERT(graph_ready_ && resource.vertex >= 0);
    if (!resource.eval_generates()) return false;
    std::vector<Resource*> made;
    try {
        guarded([&] {
            for (auto& one : resource.eval_generate()) {
                Resource* r = catalog_.find(one->type_name(), one->title());
                if (!r) r = adopt(resource, std::move(one), true);
                made.push_back(r);
            }
        });
        if (made.empty()) return false;
    } catch (const PuppetError& e) {
        report_.resources_failed_to_generate = true;
        resource.err(
            fmt::format("Failed to generate additional resources using 'eval_generate': {}",
                        generation_error(e)));
        return false;
    }
    std::map<std::string, Resource*, std::less<>> by_name;
    for (Resource* r : made) by_name[r->name()] = r;

    // A sentinel takes over the dependents of the resource, so that they wait for all resources
    // that it generated.
    constexpr EdgeLabel kAll{true};
    auto whit =
        std::make_unique<Whit>(context_, "completed_" + resource.title(), resource.title(), true);
    whit->set_tags(resource.tags());
    whit->add_tag("whit");
    whit->add_tag_if_valid("completed_" + resource.title());
    Resource& sentinel = *catalog_.take_ownership(std::move(whit));
    graph_.add_contained(resource, sentinel);
    BUNRAKU_ASSERT(sentinel.vertex >= 0 && sentinel.is_whit());
    auto conditional = [&](Resource& from, Resource& to, EdgeLabel label) {
        if (graph_.has_edge(to, from)) {
            if (from.debugging()) {
                from.debug(fmt::format("Skipping automatic relationship to {}", to.to_s()));
            }
        } else {
            graph_.add_relationship(from, to, label);
        }
    };
    for (const auto& e : graph_.edges_from(resource)) {
        Resource& target = *graph_.at(e.target);
        auto it = by_name.find(target.name());
        if (it != by_name.end() && it->second == &target) continue;
        graph_.add_relationship(sentinel, target, e.label);
        graph_.remove_edges(resource, target);
        BUNRAKU_ASSERT(!graph_.has_edge(resource, target));
        BUNRAKU_ASSERT(graph_.has_edge(sentinel, target));
    }
    for (Resource* r : made) conditional(*r, sentinel, kAll);
    conditional(resource, sentinel, kAll);
    for (Resource* r : made) {
        Resource* parent = &resource;
        r->find_parent([&](std::string_view name) {
            const auto it = by_name.find(name);
            if (it == by_name.end() || it->second == r) return false;
            parent = it->second;
            return true;
        });
        conditional(*parent, *r, {});
    }
    return true;
}

void Transaction::prefetch_if_necessary(Resource& resource) {
    const ProviderClass* provider = resource.provider();
    if (!provider || !provider->prefetches) return;
    std::pair<std::string, std::string> key{resource.type_name(), provider->name};
    if (prefetched_.contains(key) || prefetch_failed_.contains(key)) return;
    std::vector<Resource*> group;
    for (Resource* r : catalog_.resources()) {
        if (&r->spec() == &resource.spec() && (r->provider() == provider || !r->provider())) {
            if (!r->provider() && !r->suitable()) continue;
            if (r->provider() == provider) group.push_back(r);
        }
    }
    context_.message(Level::Debug, fmt::format("Prefetching {} resources for {}", provider->name,
                                               resource.type_name()));
    try {
        guarded([&] { resource.prefetch(group); });
    } catch (const PuppetError& e) {
        context_.message(
            Level::Err, fmt::format("Could not prefetch {} provider '{}': {}", resource.type_name(),
                                    provider->name, error_text(e)));
        prefetch_failed_.insert(key);
    }
    prefetched_.insert(key);
    BUNRAKU_ASSERT(prefetch_failed_.size() <= prefetched_.size());
}

void Transaction::eval_resource(Resource& resource) {
    BUNRAKU_ASSERT(resource.vertex >= 0);
    context_.current = &resource;
    // A failing call, or a result that is invalid for its attribute, ends the run.
    resource.resolve_deferred();
    propagate_failure(resource);
    // A failure here (an undeclared schedule) ends the run.
    if (skip(resource)) {
        report_.status_of(resource).skipped = true;
        resource.debug("Resource is being skipped, unscheduling all events");
        events_.drop_all(resource);
        if (context_.transactions) context_.transactions->retain(resource.ref());
        return;
    }
    report_.status_of(resource).scheduled = true;
    ResourceStatus& status = report_.replace(resource, evaluate_resource(resource));
    BUNRAKU_ASSERT(&status == resource.status && !status.skipped);
    BUNRAKU_ASSERT(!status.failed_to_restart && !status.restarted);
    if (!status.failed && !status.failed_to_restart) {
        std::vector<Event> events = status.events;
        events_.queue(resource, events);
    }
    events_.process(resource);
}

void Transaction::propagate_failure(Resource& resource) {
    if (const ProviderClass* p = resource.provider();
        p && p->prefetches &&
        prefetch_failed_.contains({std::string(resource.type_name()), std::string(p->name)})) {
        Event e = make_event(resource, "resource_error");
        e.status = Event::Status::Failure;
        e.message =
            fmt::format("Prefetch failed for {} provider '{}'", resource.type_name(), p->name);
        report_.status_of(resource).add(std::move(e));
    }
    std::vector<Resource*> failed;
    auto add = [&](Resource* r) {
        if (std::find(failed.begin(), failed.end(), r) == failed.end()) failed.push_back(r);
    };
    graph_.each_dependency(resource, [&](Resource* dep) {
        const ResourceStatus* s = dep->status;
        if (!s) return;
        for (Resource* r : s->failed_dependencies) add(r);
        if (s->failed || s->failed_to_restart) add(dep);
    });
    report_.status_of(resource).failed_dependencies = std::move(failed);
    BUNRAKU_ASSERT(resource.status != nullptr);
    // The resources in a container check the container's status.
    if (!resource.is_whit()) return;
    if (auto* container = static_cast<const Whit&>(resource).container())
        container->status = resource.status;
}

bool Transaction::missing_tags(const Resource& resource) const {
    return !context_.options.tags.empty() && !resource.tagged(context_.options.tags);
}

bool Transaction::scheduled(Resource& resource) {
    if (context_.options.ignoreschedules || resource.is_whit()) return true;
    const Param* p = resource.find("schedule");
    if (!p) return true;
    std::string name = plain(p->value);
    Resource* schedule = catalog_.find("Schedule", name);
    if (!schedule) resource.fail(fmt::format("Could not find schedule {}", name));
    // Looking up the entry also adds it to the state file.
    return schedule_matches(*schedule, storage_.entry(resource.ref()).checked_ns / 1'000'000'000,
                            context_.system.clock.now_ns() / 1'000'000'000);
}

bool Transaction::due(const Resource& resource) const {
    if (!graph_.due(resource) || resource.find("schedule") || missing_tags(resource)) return false;
    const Options& o = context_.options;
    if (!o.skip_tags.empty() && resource.tagged(o.skip_tags)) return false;
    return std::ranges::none_of(graph_.direct_dependencies(resource), [](const Resource* d) {
        return d->status && (d->status->failed || d->status->dependency_failed());
    });
}

bool Transaction::failed_dependencies(Resource& resource) {
    ResourceStatus& s = report_.status_of(resource);
    if (!s.dependency_failed()) return false;
    bool merge = context_.options.merge_dependency_warnings;
    if (merge && resource.is_whit()) {
        for (Resource* dep : s.failed_dependencies) {
            if (!class_notified_.insert(dep).second) continue;
            resource.notice(fmt::format("Class dependency {} has failures: {}", dep->to_s(),
                                        report_.status_of(*dep).failed));
        }
    } else if (!merge && !resource.is_whit()) {
        for (Resource* dep : s.failed_dependencies) {
            if (!dependency_notified_.insert(dep).second) continue;
            resource.notice(fmt::format("Dependency {} has failures: {}", dep->to_s(),
                                        report_.status_of(*dep).failed));
        }
    }
    return true;
}

bool Transaction::skip(Resource& resource) {
    const Options& o = context_.options;
    auto joined = [](const std::vector<std::string>& list) {
        return fmt::format("{}", fmt::join(list, ", "));
    };
    if (!o.skip_tags.empty() && resource.tagged(o.skip_tags)) {
        resource.debug("Skipping with skip tags " + joined(o.skip_tags));
        return true;
    }
    if (missing_tags(resource)) {
        resource.debug("Not tagged with " + joined(o.tags));
        return true;
    }
    if (!scheduled(resource)) {
        resource.debug("Not scheduled");
        return true;
    }
    if (failed_dependencies(resource)) {
        if (resource.is_whit()) return true;
        Resource* parent = resource.parent();
        if (o.merge_dependency_warnings && parent && parent->status &&
            failed_dependencies(*parent)) {
            for (Resource* dep : parent->status->failed_dependencies) {
                if (!class_warned_.insert(dep).second) continue;
                parent->warning("Skipping resources in class because of failed class dependencies");
            }
        } else {
            resource.warning("Skipping because of failed dependencies");
        }
        return true;
    }
    if (const ProviderClass* p = resource.provider();
        p && report_.status_of(resource).failed &&
        prefetch_failed_.contains({std::string(resource.type_name()), std::string(p->name)})) {
        resource.warning("Skipping because provider prefetch failed");
        return true;
    }
    if (resource.is_virtual()) {
        resource.debug("Skipping because virtual");
        return true;
    }
    return false;
}

}  // namespace bunraku::apply
