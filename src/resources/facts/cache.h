// Facts that are kept between runs: files of JSON, one of a group, as Facter 4 has them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "resources/facts/context.h"
#include "resources/facts/fact_groups.h"

namespace bunraku::facts {

/// What is looked for: a fact or part of one, a pattern of legacy ones, a file of external ones.
struct Searched {
    std::string name;
    Origin origin = Origin::Core;
    std::string query;
    std::string file;
};

class FactCache {
public:
    FactCache(Context& context, const Options& options, const FactGroups& groups)
        : context_(context), options_(options), groups_(groups) {}

    /// Takes from `searched` what is kept and not too old, and gives that.
    std::vector<Resolved> answer(std::vector<Searched>& searched);
    /// Keeps what is to be kept of a run. Where that fails a warning says so.
    void keep(std::span<const Resolved> facts);
    bool keeps(std::string_view name) const { return groups_.kept(name).has_value(); }

private:
    std::optional<std::vector<Resolved>> answer_one(const Searched& searched);
    /// False where it is not kept at all; a file that is too old is removed.
    bool check_age(const std::string& group, std::int64_t seconds);
    const Value& read_group(const std::string& group);
    void remove(const std::string& group);
    std::string path(const std::string& group) const;
    void debug(std::string text);

    Context& context_;
    const Options& options_;
    const FactGroups& groups_;
    std::map<std::string, Value> read_;
};

}  // namespace bunraku::facts
