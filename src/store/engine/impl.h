// What the parts of Store share.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/db/packed.h"
#include "store/db/support.h"
#include "store/db/writer.h"
#include "store/engine/store.h"

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

/// Forgets the node wholly. False: unknown.
Result<bool> purge_node(Writer& writer, std::string_view certname);

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

constexpr std::chrono::seconds kIncomingPause{5};  ///< until what could not be taken in is tried
constexpr std::chrono::seconds kContentPause{20};  ///< between two removals of unused content

}  // namespace bunraku::store
