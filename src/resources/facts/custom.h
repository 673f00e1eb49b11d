// SPDX-License-Identifier: Apache-2.0
// Custom facts: Ruby files from modules, FACTERLIB and --custom-dir, which the plugin host runs.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "resources/facts/external.h"

namespace bunraku::facts {

/// Returns the folders among Options::custom_directories that contain custom facts.
std::vector<std::string> custom_fact_folders(Context& context, const Options& options);

/// The custom facts of one run. Each fact has a time limit. If a fact exceeds it, its process is
/// ended, an error names the fact, and all other facts are still resolved.
class CustomFacts {
public:
    /// Resolves a query of a custom fact for built-in facts; an empty query asks for all of them.
    using Ask = std::function<Value(std::string_view query)>;

    CustomFacts(Context& context, const Options& options, std::vector<std::string> folders,
                std::span<const ExternalFact> external, Ask ask);
    ~CustomFacts();

    /// Loads the files and returns the names of their facts. Does not resolve any fact.
    std::vector<std::string> load();
    /// Returns the value of a custom or external fact, or undef if it has none.
    Value value(const std::string& name);

private:
    class Callbacks;
    struct Host;
    /// Returns the plugin host's response; nullopt if the call is abandoned.
    std::optional<Value> call(std::string_view verb, std::span<const Value> args,
                              std::string_view what);
    Value load_options();

    Context& context_;
    const Options& options_;
    std::vector<std::string> folders_;
    std::span<const ExternalFact> external_;
    Ask ask_;
    std::set<std::string> skipped_;   // names of facts that exceeded their time limit
    std::set<std::string> reported_;  // warnings and errors already logged
    std::unique_ptr<Host> host_;
    bool loaded_ = false;
    int deaths_ = 0;
};

}  // namespace bunraku::facts
