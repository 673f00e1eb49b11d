// SPDX-License-Identifier: Apache-2.0
// A simulated agent. It sends all requests of a real run to its server, but applies nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/config/settings.h"
#include "core/value/value.h"
#include "net/http/client.h"
#include "services/agent/conditional_state.h"
#include "services/agent/ssl.h"
#include "services/load/figures.h"
#include "services/load/machine.h"
#include "services/load/rng.h"
#include "services/load/simulated_report.h"
#include "services/load/timed_network.h"

namespace bunraku::load {

/// Options that all agents of a pool share.
struct AgentProfile {
    const config::Settings& settings;
    http::Network& network;
    Figures& figures;
    std::function<bool()> stopped;
    std::string address;  ///< "HOST:PORT"
    std::string environment;
    std::string user_agent;
    /// facts of templates, which are assigned to agents in rotation
    std::vector<value::Value> models;
    std::vector<FactChoice> choices;
    double drifting = 0;  ///< ratio of runs that find changed resources on the machine
    double changing = 0;  ///< ratio of runs whose facts differ from those of the previous run
    double absent = 0;    ///< ratio of runs that are skipped or aborted
    std::chrono::seconds facts_interval{7200};  ///< interval after which all facts are sent
    bool conditional_requests =
        true;  ///< asks whether its catalog is still valid, like Bunraku's agent
    /// Requests the folder of plugins before its contents, as Puppet's agent does at the beginning
    /// of a run.
    bool looks_for_plugins = false;
    bool keeps_connection = false;
    bool resumes = false;  ///< resumes TLS sessions on new connections
    bool first_runs =
        false;  ///< the first run starts with an empty machine and downloads every plugin and file
    enum class Reports : std::uint8_t { None, Changed, Whole } reports = Reports::Changed;
    /// Called with every response. May be empty.
    std::function<void(Step, const http::ClientRequest&, const http::ClientResponse&)> on_response =
        {};
};

class Agent {
public:
    Agent(const AgentProfile& profile, std::string name, std::uint64_t number, std::uint64_t seed);

    agent::SslFiles ssl;
    const std::string& name() const { return machine_.name; }
    MachineState& machine() { return machine_; }
    Rng& rng() { return rng_; }

    enum class Outcome : std::uint8_t { Good, Failed, Absent, PutOff, Stopped };
    /// Runs once. If the server deferred the run, wait_seconds() returns the delay before the next
    /// attempt.
    Outcome run();
    std::int64_t wait_seconds() const { return wait_seconds_; }
    /// Returns the ETag of its current catalog, for observers.
    const std::string& catalog_etag() const { return conditional_.etag; }
    const KnownCatalog* catalog() const { return catalog_ ? &*catalog_ : nullptr; }

private:
    std::optional<Outcome> connected_run();
    std::optional<http::ClientResponse> ask(Step step, http::ClientRequest request,
                                            int also_good = 0);
    http::ClientRequest request(std::string method, std::string_view path, std::string query,
                                std::string_view accept) const;
    void fail(Step step, std::string kind, const std::string& example);
    enum class CatalogCheck : std::uint8_t { Right, Unknown, Broken };
    CatalogCheck check_catalog(base::Arena& arena);
    bool fetch_plugins();
    bool fetch_catalog(base::Arena& arena);
    bool fetch_files(bool all);
    bool fetch_content(std::string_view path);
    bool report(std::int64_t begin, bool drifted);
    void abort_run(base::Arena& arena);
    value::Value facts(base::Arena& arena);
    http::ClientRequest catalog_request(base::Arena& arena);
    std::string uuid();

    const AgentProfile& profile_;
    MachineState machine_;
    Rng rng_;
    TimedNetwork network_;
    std::optional<http::Client> client_;
    agent::ConditionalState conditional_;
    std::optional<KnownCatalog> catalog_;
    std::string transaction_;
    std::int64_t wait_seconds_ = 0, retrieval_ns_ = 0;
    bool broken_ = false, has_run_ = false;
};

}  // namespace bunraku::load
