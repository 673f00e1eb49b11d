// SPDX-License-Identifier: Apache-2.0
// The state of a process that compiles catalogs: snapshots of environments, parsed Hiera data,
// connections to the store, Ruby child processes, compile threads
// (docs/design/0092-site-and-compile-requests.md).
#pragma once

#include <chrono>
#include <cstddef>
#include <future>
#include <limits>
#include <memory>
#include <string>

#include "compile/site/request.h"
#include "compile/site/session.h"
#include "compile/site/workers.h"
#include "core/base/diagnostic.h"
#include "core/config/settings.h"
#include "language/environment/files.h"

namespace bunraku::site {

struct Options {
    /// Receives messages that do not belong to a single compile, such as problems of an
    /// environment. May be null. Must outlive the site; used by one thread at a time.
    base::LogSink* log = nullptr;
    /// Files of requests that name no others. If null, environment::disk_files() is used.
    std::shared_ptr<const environment::Files> files;
    /// Lifetime of a snapshot of an environment, in the form of the setting environment_timeout. If
    /// empty, snapshots never expire, whatever environment.conf contains. This is for processes
    /// that answer one request.
    std::string environment_timeout;
    /// Whether errors of compiles contain suggestions (compiler::ExplainedError).
    bool explain_errors = false;
    std::string user_agent = "Puppet";  ///< for requests to other services
    StoreAccess::Embedded store;        ///< store of this process
    std::size_t threads = 0;            ///< 0 means one per core
    std::size_t queue = 1024;           ///< maximum number of waiting requests
    /// Maximum number of Ruby child processes for all environments; 0 means twice the number of
    /// threads.
    std::size_t ruby_children = 0;
    /// Memory limit of one compile in bytes. 0 means that of the setting max-compile-memory, which
    /// is 4 GiB if it is not set.
    std::size_t memory = 0;
    /// Time limit of a compile, counted from its submission; 0 means unlimited. If it is not set,
    /// the setting compile-timeout applies, which is unlimited if it is not set either.
    std::optional<std::chrono::milliseconds> time;
};

/// Compiles catalogs. Thread-safe. Compiles of different environments, settings and nodes are
/// isolated from each other.
class Site {
public:
    explicit Site(config::Settings settings, Options options = {});
    ~Site();

    const config::Settings& settings() const;
    const Options& options() const;

    /// Returns the node name under which a request is compiled.
    std::string node_name(const NodeRequest& request) const;

    /// Classifies the node, opens its environment and gathers its facts. Throws base::PuppetError.
    /// `log` must outlive the session.
    std::unique_ptr<Session> session(NodeRequest request, base::LogSink& log);
    /// Compiles the catalog of a node on the current thread. Throws base::PuppetError.
    Compiled compile(NodeRequest request, base::LogSink& log);
    /// Like compile, on one of the site's threads. Fails immediately if the queue is full.
    std::future<Compiled> submit(NodeRequest request, std::shared_ptr<base::LogSink> log);

    /// Returns the environment of a request without a classification. Throws.
    std::shared_ptr<const environment::Environment> environment(const NodeRequest& request);
    /// Stores a catalog, so that other nodes can collect from it. Throws.
    void store(const Compiled& compiled, base::LogSink& log);
    /// Returns the settings for compiles with this overlay.
    std::shared_ptr<const View> view(const Overlay& overlay = {});
    /// Returns a connection to the store that the settings name.
    View::Connection store(base::LogSink& log, const Overlay& overlay = {});

    Workers& workers();
    /// Returns the number of Ruby child processes, idle ones included.
    std::size_t ruby_workers() const;
    /// Drops the snapshots of environments that were opened with `files`.
    void forget(const environment::Files& files);
    /// Drops all snapshots; the next request reads its environment again.
    void clear();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace bunraku::site
