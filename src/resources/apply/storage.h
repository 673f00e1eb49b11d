// state.yaml: when resources were looked at and changed, and the audited values.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "resources/apply/context.h"

namespace bunraku::apply {

/// One resource's memory. What is not known here is kept as it was written.
struct StateEntry {
    std::int64_t checked_ns = 0, synced_ns = 0;               ///< 0: never
    std::vector<std::pair<std::string, std::string>> others;  ///< key and YAML text

    const std::string* find(std::string_view key) const;
};

class Storage {
public:
    explicit Storage(Context& context) : context_(context) {}
    void load();
    base::Result<void> store();
    /// Made where there is none yet; it stays where it is.
    StateEntry& entry(std::string_view ref);
    /// Audited values; undef: never recorded.
    Value recorded(const StateEntry& entry, std::string_view property) const;
    /// `symbol`: it is written as Ruby's symbols are.
    void record(StateEntry& entry, std::string_view property, const Value& v, bool symbol);

private:
    struct Kept {
        std::string_view ref;
        std::string_view written;  ///< the same as it stands in the file; empty: it is new
        StateEntry state;
    };
    bool parse(std::string_view text);
    StateEntry& add(std::string_view ref, std::string_view written);
    void forget();
    Context& context_;
    std::string text_;  ///< of the file: what is kept of it points there
    std::deque<Kept> entries_;
    std::size_t next_ = 0;  ///< runs ask in the order of the last one
    std::unordered_map<std::string_view, std::size_t> index_;
    bool indexed_ = false;
    std::size_t out_of_turn_ = 0;
};

/// A YAML scalar as Psych writes it.
std::string yaml_scalar(std::string_view text);
/// "2026-01-31 10:20:30.123456789 +01:00"
std::string yaml_time(std::int64_t ns);
/// "2026-01-31T10:20:30.123456789+01:00": Ruby's Time#iso8601(9).
std::string iso8601_local(std::int64_t ns);

}  // namespace bunraku::apply
