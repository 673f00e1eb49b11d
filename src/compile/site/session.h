// One node, ready to be compiled, and what it is compiled with.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compile/compiler/change.h"
#include "compile/compiler/repl_session.h"
#include "compile/site/request.h"
#include "compile/site/view.h"
#include "language/hiera/lookup.h"
#include "language/ruby/host.h"
#include "language/template/host.h"

namespace bunraku::site {

/// Made by Site::session. For one thread; the snapshot of the environment stays as it is while this
/// lives.
class Session {
public:
    /// What the site has for it.
    struct Parts {
        std::shared_ptr<const View> view;
        std::shared_ptr<const environment::Environment> environment;
        std::shared_ptr<hiera::DataCache> data;
        std::vector<compiler::Pass> timings;  ///< of what was done so far
        bool explain_errors = false;          ///< as Options has it
        std::size_t memory = 0;               ///< bytes that a compile may use
    };
    Session(NodeRequest request, std::string node, Parts parts, base::LogSink& log);
    ~Session();

    /// The catalog. Throws base::PuppetError; " on node NAME" is the caller's to add.
    Compiled compile();
    /// What the last compile read, whether it ended well or not; null: it was not recorded.
    const std::shared_ptr<environment::Trace>& trace() const { return trace_; }
    /// As compiler::evaluate; `variables` are set in the top scope beside the request's.
    value::Value evaluate(const std::vector<std::string>& texts, const std::string& source_name,
                          bool with_manifest,
                          std::vector<std::pair<std::string, value::Value>> variables = {});
    /// What the function gives that a Deferred names, in arrays too; other values stay. Throws.
    value::Value resolve_deferred(const value::Value& v, int depth = 0);
    /// As compiler::converse.
    void converse(bool with_manifest, const std::string& source_name,
                  const std::function<void(compiler::ReplSession&)>& action);
    /// As compiler::visit.
    void visit(bool with_manifest, const std::function<void(evaluator::Interpreter&)>& action);

    /// What this node's compiles can read of the world, for comparing with what one has read.
    /// Lives no longer than this.
    compiler::InputsSnapshot world() const;
    /// What the environment's config_version says now; empty where it has none. Throws as compile
    /// does.
    std::string config_version();

    /// What the store answers now to a read of the store by another compile of this node, as that
    /// one's trace has it. nullopt: it cannot be asked again.
    std::optional<std::string> stored_answer(const environment::ReadTable::Item& read);
    /// Whether stored_answer would give something.
    bool can_ask(const environment::ReadTable::Item& read);

    const std::string& node() const { return request_.node.name; }
    /// What is known of it: its classifier's answer as well.
    const compiler::NodeData& node_data() const { return request_.node; }
    const View& view() const { return *parts_.view; }
    std::shared_ptr<const View> shared_view() const { return parts_.view; }
    const std::shared_ptr<const environment::Environment>& environment() const {
        return parts_.environment;
    }
    const std::shared_ptr<base::Arena>& arena() const { return request_.arena; }
    /// The node's facts, as its compile sees them.
    const value::Value& facts() const { return request_.node.facts; }
    /// How Ruby code of the environment's modules is started.
    ruby::HostOptions ruby_options() const;
    hiera::Lookup& lookup() { return *lookup_; }
    /// Where the time of Ruby code went, of all compiles in this snapshot.
    ruby::Profile ruby_profile() const;

private:
    ruby::Pool& ruby_pool() const;
    void gather(NodeRequest& asked);
    value::Value local_trust(const value::Value& clientcert);
    void connect();
    StoreAccess& store();
    /// Whether this is a read of the embedded store that can be made again.
    bool asks_embedded(const environment::ReadTable::Item& read);
    /// Runs `action` within the limits of the request. Throws base::PuppetError if it needs too
    /// much memory.
    template <class Action>
    auto bounded(Action&& action);

    Parts parts_;
    std::optional<std::chrono::steady_clock::time_point> deadline_;
    std::optional<std::chrono::milliseconds> time_;
    base::LogSink& log_;
    bool record_ = false;
    std::shared_ptr<compiler::ReadLocations> places_;
    std::shared_ptr<compiler::History> history_;
    CollectorAnswer collectors_;
    std::shared_ptr<environment::Trace> trace_;
    compiler::Request request_;
    std::unique_ptr<compiler::SystemInputs> inputs_;
    std::unique_ptr<hiera::Lookup> lookup_;
    std::unique_ptr<templates::Templates> templates_;
    std::unique_ptr<View::Connection> store_;
    std::unique_ptr<compiler::ExportedSource> answers_;   ///< of `collectors_`
    std::unique_ptr<compiler::ExportedSource> recorded_;  ///< writes down what is asked
    std::set<std::string> collected_;
    std::shared_ptr<const catalog::Naming> naming_;
};

}  // namespace bunraku::site
