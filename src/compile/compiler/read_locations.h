// SPDX-License-Identifier: Apache-2.0
// Records the code location that first read each input. Only compiles whose reads are shown to a
// user need it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "language/environment/trace.h"

namespace bunraku::compiler {

/// The code that a compile evaluates at one moment.
struct Reader {
    /// such as "class ntp", "define a::b" or "node web1"; empty for the main manifest
    std::string what;
    std::string file;  ///< empty if unknown
    int line = 0;
    /// Call chain, innermost first: for example "profile::base" with its location.
    std::vector<Reader> via;
};

/// The read locations of one compile. Used only by the thread that compiles.
class ReadLocations final : public environment::ReadWatcher {
public:
    void on_read(environment::ReadId id) override { note(id); }
    void on_data(environment::ReadId file, environment::ReadId key) override {
        note((std::uint64_t{file} + 1) << 32 | key);
    }
    /// Sets the function that returns the current reader. The compile sets it while it runs.
    void ask(std::function<Reader()> where) { where_ = std::move(where); }

    /// Returns the first reader of an input, or null if there is none or it is unknown. `table`
    /// must be the table of the trace.
    const Reader* first(environment::ReadTable& table, environment::Read kind,
                        std::string_view name, std::string_view detail = {});

private:
    void note(std::uint64_t id) {
        if (!where_ || first_.contains(id)) return;
        first_.emplace(id, where_());
    }
    std::function<Reader()> where_;
    std::unordered_map<std::uint64_t, Reader> first_;
    /// read id to the id of the combined read that contains it
    std::unordered_map<std::uint64_t, std::uint64_t> parts_;
    bool parted_ = false;
};

}  // namespace bunraku::compiler
