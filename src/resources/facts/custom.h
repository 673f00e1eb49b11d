// Custom facts: Ruby files of modules, of FACTERLIB and of --custom-dir, run by the plugin host.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "resources/facts/external.h"

namespace bunraku::facts {

/// The folders among Options::custom_directories that hold any.
std::vector<std::string> custom_fact_folders(Context& context, const Options& options);

/// The custom facts of one run. Each has a time limit: the process of one that is stuck is ended,
/// the fact told by name, and all others arrive.
class CustomFacts {
public:
    /// What custom facts ask of those that are built in: a query; "" for all.
    using Ask = std::function<Value(std::string_view query)>;

    CustomFacts(Context& context, const Options& options, std::vector<std::string> folders,
                std::span<const ExternalFact> external, Ask ask);
    ~CustomFacts();

    /// Their names. Nothing is resolved yet.
    std::vector<std::string> load();
    /// The value of a custom or external one; undef where it finds none.
    Value value(const std::string& name);

private:
    class Callbacks;
    struct Host;
    /// Ruby's answer; nullopt where it is given up.
    std::optional<Value> call(std::string_view verb, std::span<const Value> args,
                              std::string_view what);
    Value load_options();

    Context& context_;
    const Options& options_;
    std::vector<std::string> folders_;
    std::span<const ExternalFact> external_;
    Ask ask_;
    std::set<std::string> skipped_;   // what was stuck
    std::set<std::string> reported_;  // warnings and errors
    std::unique_ptr<Host> host_;
    bool loaded_ = false;
    int deaths_ = 0;
};

}  // namespace bunraku::facts
