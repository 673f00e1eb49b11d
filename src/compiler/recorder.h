// What one compile read from outside, for those who want to know which changes touch it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "compiler/compile.h"

namespace bunraku::compiler {

/// Stands between a compile and its doors: evaluator::Inputs and the lookup. Manifests, templates
/// and Ruby code are noted by the environment itself (Environment::noted).
class Recorder {
public:
    Recorder();
    ~Recorder();
    /// Puts itself into the request; keep it alive as long as the request is used.
    void attach(Request& request);

    std::map<std::string, bool, std::less<>> files;  ///< asked for; false: was not there
    std::set<std::string, std::less<>> globs, commands, settings;
    std::set<std::string, std::less<>> hiera;  ///< keys that were looked up
    std::size_t store_queries = 0;
    bool time = false;  ///< the clock was asked

    /// {"node", "environment", "files", "missing", "hiera", "commands", ...}, each list sorted;
    /// compact JSON.
    std::string to_json(const Request& request) const;

private:
    class Door;
    class Keys;
    std::unique_ptr<Door> door_;
    std::unique_ptr<Keys> keys_;
};

}  // namespace bunraku::compiler
