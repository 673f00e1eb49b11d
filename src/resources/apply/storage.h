// SPDX-License-Identifier: Apache-2.0
// state.yaml: the times when resources were checked and changed, and the audited values.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "resources/apply/context.h"

namespace bunraku::apply {

/// The stored state of one resource. Keys that Bunraku does not know are preserved.
struct StateEntry {
    std::int64_t checked_ns = 0, synced_ns = 0;               ///< 0 means never
    std::vector<std::pair<std::string, std::string>> others;  ///< keys and their YAML text

    const std::string* find(std::string_view key) const;
};

class Storage {
public:
    explicit Storage(Context& context) : context_(context) {}
    void load();
    base::Result<void> store();
    /// Returns the entry and creates it if necessary. The reference remains valid.
    StateEntry& entry(std::string_view ref);
    /// Returns the audited value, or undef if it was never recorded.
    Value recorded(const StateEntry& entry, std::string_view property) const;
    /// Records an audited value. If `symbol` is true, it is written as a Ruby symbol.
    void record(StateEntry& entry, std::string_view property, const Value& v, bool symbol);

private:
    struct StoredEntry {
        std::string_view ref;
        std::string_view written;  ///< the reference as written in the file; empty for a new entry
        StateEntry state;
    };
    bool parse(std::string_view text);
    StateEntry& add(std::string_view ref, std::string_view written);
    void forget();
    Context& context_;
    std::string text_;  ///< the text of the file, to which entries refer
    std::deque<StoredEntry> entries_;
    /// the expected next entry; runs request entries in the order of the previous run
    std::size_t next_ = 0;
    std::unordered_map<std::string_view, std::size_t> index_;
    bool indexed_ = false;
    std::size_t out_of_turn_ = 0;
};

/// Returns a YAML scalar as Psych writes it.
std::string yaml_scalar(std::string_view text);
/// Formats a time as "2026-01-31 10:20:30.123456789 +01:00".
std::string yaml_time(std::int64_t ns);
/// Formats a time as "2026-01-31T10:20:30.123456789+01:00", like Ruby's Time#iso8601(9).
std::string iso8601_local(std::int64_t ns);

}  // namespace bunraku::apply
