// What a process knows about compiling, for as long as it lives: snapshots of environments, parsed
// Hiera data, connections to the store, children that run Ruby, threads to compile on
// (docs/design/0092-site.md).
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
    /// What concerns no single compile (what is odd about an environment) is told here; null:
    /// nobody is. It must outlive the site, and is used by one thread at a time.
    base::LogSink* log = nullptr;
    /// The machine's files, where a request names no others; null: environment::disk_files().
    std::shared_ptr<const environment::Files> files;
    /// How long a snapshot of an environment is good for, as the setting environment_timeout has
    /// it. Empty: until the end, whatever environment.conf says, for a process that answers one
    /// question.
    std::string environment_timeout;
    /// Errors of compiles say what may have been meant (compiler::ExplainedError).
    bool explain_errors = false;
    std::string user_agent = "Puppet";  ///< for services of others
    StoreAccess::Embedded store;        ///< this process's own
    std::size_t threads = 0;            ///< 0: as many as there are cores
    std::size_t queue = 1024;           ///< requests that may wait for a thread
    /// Children that run Ruby, of all environments together; 0: twice the threads.
    std::size_t ruby_children = 0;
    /// Bytes that one compile may use.
    std::size_t memory = std::size_t{4} << 30;
    /// Time that a compile may take from its submission on.
    std::optional<std::chrono::milliseconds> time;
};

/// Thread-safe. Compiles of different environments, settings and nodes know nothing of each other.
class Site {
public:
    explicit Site(config::Settings settings, Options options = {});
    ~Site();

    const config::Settings& settings() const;
    const Options& options() const;

    /// The name a request is compiled under.
    std::string node_name(const NodeRequest& request) const;

    /// Classifies the node, opens its environment and gathers its facts. Throws base::PuppetError.
    /// `log` must outlive the session.
    std::unique_ptr<Session> session(NodeRequest request, base::LogSink& log);
    /// The catalog of a node, on this thread. Throws base::PuppetError.
    Compiled compile(NodeRequest request, base::LogSink& log);
    /// The same on one of the site's threads. Where too many wait already the error says so at
    /// once.
    std::future<Compiled> submit(NodeRequest request, std::shared_ptr<base::LogSink> log);

    /// The environment that a request without a classifier's answer is compiled in. Throws.
    std::shared_ptr<const environment::Environment> environment(const NodeRequest& request);
    /// Remembers a catalog, so that other nodes may collect from it. Throws.
    void store(const Compiled& compiled, base::LogSink& log);
    /// The settings as compiles with this overlay see them.
    std::shared_ptr<const View> view(const Overlay& overlay = {});
    /// A connection to the store that the settings name.
    View::Connection store(base::LogSink& log, const Overlay& overlay = {});

    Workers& workers();
    /// Snapshots are dropped: what is asked for next is read anew.
    void clear();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace bunraku::site
