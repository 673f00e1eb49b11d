// One agent whose machine is imagined: it asks its server for all that a run asks for, and applies
// nothing.
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

/// What all agents of a crowd have in common.
struct AgentProfile {
    const config::Settings& settings;
    http::Network& network;
    Figures& figures;
    std::function<bool()> stopped;
    std::string address;  ///< "HOST:PORT"
    std::string environment;
    std::string user_agent;
    std::vector<value::Value> models;  ///< facts of templates; agents take them by turns
    std::vector<FactChoice> choices;
    double drifting = 0;  ///< the share of runs that find something changed on the machine
    double changing = 0;  ///< ... whose facts are not those of the run before
    double absent = 0;    ///< ... that are missed, or left in the middle
    std::chrono::seconds facts_interval{7200};  ///< after which facts travel whole
    bool conditional_requests =
        true;  ///< asks whether its catalog is still right, as Bunraku's agent does
    bool keeps_connection = false;
    bool resumes = false;  ///< TLS sessions go on over connections
    bool first_runs =
        false;  ///< nothing is there in the first run: every plugin and file is fetched
    enum class Reports : std::uint8_t { None, Changed, Whole } reports = Reports::Changed;
    /// Told of every answer; may be empty.
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
    /// One run; `wait_seconds()` says when to come again where it was put off.
    Outcome run();
    std::int64_t wait_seconds() const { return wait_seconds_; }
    /// Of the catalog that it has; for those who look from outside.
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
    CatalogCheck ask_whether_right(base::Arena& arena);
    bool fetch_plugins();
    bool fetch_catalog(base::Arena& arena);
    bool fetch_files(bool all);
    bool fetch_content(std::string_view path);
    bool report(std::int64_t begin, bool drifted);
    void leave_in_the_middle(base::Arena& arena);
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
    bool broken_ = false, been_here_ = false;
};

}  // namespace bunraku::load
