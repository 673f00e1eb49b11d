// SPDX-License-Identifier: Apache-2.0
// One node, prepared for compiling, with everything that the compile needs.
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

/// A compile session made by Site::session. For use by one thread. Its snapshot of the environment
/// does not change.
class Session {
public:
    /// The parts that the site provides.
    struct Parts {
        std::shared_ptr<const View> view;
        std::shared_ptr<const environment::Environment> environment;
        std::shared_ptr<hiera::DataCache> data;
        std::vector<compiler::Pass> timings;  ///< durations of the preparation
        bool explain_errors = false;          ///< as in Options
        std::size_t memory = 0;               ///< memory limit of a compile in bytes
        /// Time limit of the settings for a compile or an evaluation; 0 means unlimited.
        std::chrono::milliseconds time{0};
    };
    Session(NodeRequest request, std::string node, Parts parts, base::LogSink& log);
    ~Session();

    /// Compiles the catalog. Throws base::PuppetError; the caller appends " on node NAME".
    Compiled compile();
    /// Returns the reads of the last compile, even if it failed. Null if they were not recorded.
    const std::shared_ptr<environment::Trace>& trace() const { return trace_; }
    /// Like compiler::evaluate. Sets `variables` in the top scope, in addition to those of the
    /// request.
    value::Value evaluate(const std::vector<std::string>& texts, const std::string& source_name,
                          bool with_manifest,
                          std::vector<std::pair<std::string, value::Value>> variables = {});
    /// Calls the functions of Deferred values, including those in arrays and hashes, and returns
    /// their results. Returns other values unchanged. Throws.
    value::Value resolve_deferred(const value::Value& v, int depth = 0);
    /// Like compiler::converse.
    void converse(bool with_manifest, const std::string& source_name,
                  const std::function<void(compiler::ReplSession&)>& action);
    /// Like compiler::visit.
    void visit(bool with_manifest, const std::function<void(evaluator::Interpreter&)>& action);

    /// Returns the current inputs of this node's compiles, for comparison with a trace. Valid as
    /// long as the session lives.
    compiler::InputsSnapshot world() const;
    /// Returns the current output of the environment's config_version, or an empty string if it has
    /// none. Throws like compile().
    std::string config_version();

    /// Repeats a read of the store from the trace of another compile of this node. Returns the
    /// current answer in the form of the trace, or nullopt if the read cannot be repeated.
    std::optional<std::string> stored_answer(const environment::ReadTable::Item& read);
    /// Reports whether stored_answer can repeat the read.
    bool can_ask(const environment::ReadTable::Item& read);

    const std::string& node() const { return request_.node.name; }
    /// Returns the data of the node, including its classification.
    const compiler::NodeData& node_data() const { return request_.node; }
    const View& view() const { return *parts_.view; }
    std::shared_ptr<const View> shared_view() const { return parts_.view; }
    const std::shared_ptr<const environment::Environment>& environment() const {
        return parts_.environment;
    }
    const std::shared_ptr<base::Arena>& arena() const { return request_.arena; }
    /// Returns the node's facts as its compile sees them.
    const value::Value& facts() const { return request_.node.facts; }
    /// Returns the options for starting the Ruby code of the environment's modules.
    ruby::HostOptions ruby_options() const;
    hiera::Lookup& lookup() { return *lookup_; }
    /// Returns the time spent in Ruby code by all compiles with this snapshot.
    ruby::Profile ruby_profile() const;

private:
    ruby::Pool& ruby_pool() const;
    void gather();
    value::Value local_trust(const value::Value& clientcert);
    void connect();
    StoreAccess& store();
    /// Reports whether this is a repeatable read of the embedded store.
    bool asks_embedded(const environment::ReadTable::Item& read);
    /// Runs `action` within the limits of the request and within `time`, if that is not 0. Throws
    /// base::PuppetError if it exceeds them.
    template <class Action>
    auto bounded(std::chrono::milliseconds time, Action&& action);

    Parts parts_;
    base::LogSink& log_;
    NodeRequest asked_;
    std::shared_ptr<environment::Trace> trace_;
    compiler::Request request_;
    std::unique_ptr<compiler::SystemInputs> inputs_;
    std::unique_ptr<hiera::Lookup> lookup_;
    std::unique_ptr<templates::Templates> templates_;
    std::unique_ptr<View::Connection> store_;
    std::unique_ptr<compiler::ExportedSource>
        answers_;  ///< answers with the request's `collectors`
    std::unique_ptr<compiler::ExportedSource> recorded_;  ///< records queries of collectors
    std::set<std::string> collected_;
    std::shared_ptr<const catalog::Naming> naming_;
};

}  // namespace bunraku::site
