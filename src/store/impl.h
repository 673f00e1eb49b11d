// What the parts of Store share.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/packed.h"
#include "store/store.h"
#include "store/writer.h"
#include "sys/clock.h"

namespace bunraku::store {

struct Store::Impl {
    std::unique_ptr<Writer> writer;
    Database& db() { return writer->db(); }

    Result<ReplaceReport> replace(std::string_view certname, std::int64_t producer_timestamp,
                                  const catalog::Catalog& catalog,
                                  const catalog::WireEnvelope& envelope,
                                  const std::vector<catalog::Relation>& relations);
};

/// The same inside a transaction that is open already.
Result<ReplaceReport> replace_catalog(Writer& writer, std::string_view certname,
                                      std::int64_t producer_timestamp,
                                      const catalog::Catalog& catalog,
                                      const catalog::WireEnvelope& envelope,
                                      const std::vector<catalog::Relation>& relations);

/// Catalogs of a file of schema 1, which migrate() has put aside, become those of this one.
Result<void> convert_v1(Writer& writer);

/// Forgets the node wholly. False: unknown.
Result<bool> purge_node(Writer& writer, std::string_view certname);

/// Microseconds of the clock that only goes forward.
inline std::int64_t now_us(sys::Clock& clock) { return clock.monotonic_ns() / 1000; }

/// Says that something is under way, and takes it back however that ends.
class Busy {
public:
    explicit Busy(std::atomic<bool>& flag) : flag_(flag), mine_(!flag.exchange(true)) {}
    ~Busy() {
        if (mine_) flag_ = false;
    }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;
    explicit operator bool() const { return mine_; }  ///< false: it was already

private:
    std::atomic<bool>& flag_;
    bool mine_;
};

constexpr std::chrono::seconds kReplicaPause{1};   ///< between two looks at a standby
constexpr std::chrono::seconds kIncomingPause{5};  ///< until what could not be taken in is tried
constexpr std::chrono::seconds kContentPause{20};  ///< between two removals of unused content

/// Texts as a JSON array and back.
std::string strings_to_json(const std::vector<std::string>& items);
std::vector<std::string> strings_from_json(std::string_view json);

/// How a parameter's value is looked for: its JSON with sorted keys, or its hash where it is long.
std::string match_text(const catalog::Value& v);

}  // namespace bunraku::store
