// Where the code stood that first read something: for those who are to be told, not for every
// compile.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "language/environment/trace.h"

namespace bunraku::compiler {

/// What a compile evaluates at a moment.
struct Reader {
    std::string what;  ///< "class ntp", "define a::b", "node web1"; empty: the main manifest
    std::string file;  ///< empty: not known
    int line = 0;
    /// How it came there, the nearest first: "profile::base" at its place.
    std::vector<Reader> via;
};

/// For one compile. Used by the thread that compiles.
class ReadLocations final : public environment::ReadWatcher {
public:
    void on_read(environment::ReadId id) override { note(id); }
    void on_data(environment::ReadId file, environment::ReadId key) override {
        note((std::uint64_t{file} + 1) << 32 | key);
    }
    /// Who says what is evaluated; the compile sets it for as long as it runs.
    void ask(std::function<Reader()> where) { where_ = std::move(where); }

    /// Who read this first; null: nobody did, or nobody knows. The table is the trace's.
    const Reader* first(environment::ReadTable& table, environment::Read kind,
                        std::string_view name, std::string_view detail = {});

private:
    void note(std::uint64_t id) {
        if (!where_ || first_.contains(id)) return;
        first_.emplace(id, where_());
    }
    std::function<Reader()> where_;
    std::unordered_map<std::uint64_t, Reader> first_;
    std::unordered_map<std::uint64_t, std::uint64_t> parts_;  ///< of numbers for several
    bool parted_ = false;
};

}  // namespace bunraku::compiler
