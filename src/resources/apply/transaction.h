// SPDX-License-Identifier: Apache-2.0
// Applies a catalog: each resource is read, compared, changed and reported in order.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "resources/apply/graph.h"
#include "resources/apply/report.h"
#include "resources/apply/storage.h"

namespace bunraku::apply {

class Transaction;

/// Propagates events along notify edges.
class EventManager {
public:
    explicit EventManager(Transaction& transaction) : transaction_(transaction) {}
    void queue(Resource& source, const std::vector<Event>& events);
    void process(Resource& resource);
    void drop_all(Resource& resource);

private:
    struct Queue {
        bool known = false;
        std::vector<Event> events;
    };
    Queue& queue_of(Resource& r);
    void queue_for(Resource& source, Resource& target, const std::vector<Event>& events);
    bool call_back(Resource& resource, const std::vector<Event>& events);
    Transaction& transaction_;
    std::vector<Queue> queues_;  ///< indexed by vertex
};

class Transaction {
public:
    Transaction(Context& context, RalCatalog& catalog, Report& report, Storage& storage);

    /// Throws base::PuppetError if the run could not be started (cycles, pre-run checks).
    void evaluate();

    Context& context() { return context_; }
    Report& report() { return report_; }
    RelationshipGraph& graph() { return graph_; }
    Storage& storage() { return storage_; }
    Event make_event(const Resource& r, std::string name) const;

private:
    // transaction.cc
    void generate(Resource& resource);
    void generate_from(Resource& resource);
    bool eval_generate(Resource& resource);
    std::string generation_error(const base::PuppetError& error) const;
    Resource* adopt(Resource& parent, std::unique_ptr<Resource> made, bool contained);
    void pre_run_checks();
    void prefetch_if_necessary(Resource& resource);
    void eval_resource(Resource& resource);
    void propagate_failure(Resource& resource);
    bool skip(Resource& resource);
    bool missing_tags(const Resource& resource) const;
    bool failed_dependencies(Resource& resource);
    bool scheduled(Resource& resource);
    bool due(const Resource& resource) const;
    void never_suitable(Resource& resource);
    void log_failure(Resource& resource, const std::string& text);
    // harness.cc
    ResourceStatus evaluate_resource(Resource& resource);
    void perform_changes(Resource& resource, ResourceStatus& status);
    bool sync_if_needed(Resource& resource, Param& p, const CurrentValues& current,
                        const StateEntry* history, const std::vector<std::string>& audited,
                        std::set<std::string>& synced, ResourceStatus& status);
    bool corrects(Resource& resource, Param& p, const Value& is);
    void store_results(Resource& resource, const ResourceStatus& status);
    Event change_event(const Resource& r, const Param& p, const Value& current,
                       const Value& historical) const;
    void send(const Resource& r, const Param& p, const Event& event);

    friend class EventManager;
    Context& context_;
    RalCatalog& catalog_;
    Report& report_;
    Storage& storage_;
    RelationshipGraph graph_;
    EventManager events_;
    bool graph_ready_ = false;
    std::set<std::pair<std::string, std::string>> prefetched_, prefetch_failed_;
    std::set<const Resource*> dependency_notified_, class_notified_, class_warned_;
    std::vector<std::string> providerless_;
};

}  // namespace bunraku::apply
