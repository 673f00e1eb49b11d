// SPDX-License-Identifier: Apache-2.0
// The members that the parts of Store share.
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

/// Replaces the catalog inside a transaction that is already open.
Result<ReplaceReport> replace_catalog(Writer& writer, std::string_view certname,
                                      std::int64_t producer_timestamp,
                                      const catalog::Catalog& catalog,
                                      const catalog::WireEnvelope& envelope,
                                      const std::vector<catalog::Relation>& relations);

/// Removes the node and all its data. Returns false if the node is unknown.
Result<bool> purge_node(Writer& writer, std::string_view certname);

/// Marks an operation as running for the lifetime of the object.
class Busy {
public:
    explicit Busy(std::atomic<bool>& flag) : flag_(flag), mine_(!flag.exchange(true)) {}
    ~Busy() {
        if (mine_) flag_ = false;
    }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;
    explicit operator bool() const { return mine_; }  ///< false if it was running already

private:
    std::atomic<bool>& flag_;
    bool mine_;
};

/// delay before rejected commands are tried again
constexpr std::chrono::seconds kIncomingPause{5};
/// interval between two removals of unused content
constexpr std::chrono::seconds kContentPause{20};

}  // namespace bunraku::store
