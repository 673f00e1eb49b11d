// SPDX-License-Identifier: Apache-2.0
// A pool of connections for reading.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/sys/executor.h"
#include "store/db/database.h"

namespace bunraku::store {

class Pool {
public:
    Pool(std::string where, std::size_t most, sys::Runtime& runtime, WaitLimits limits = {})
        : where_(std::move(where)), most_(most), limits_(std::move(limits)), free_(runtime) {}

    class Lease {
    public:
        Lease(Lease&& other) noexcept = default;
        Lease& operator=(Lease&&) = delete;
        ~Lease();
        Database& operator*() { return *db_; }
        Database* operator->() { return db_.get(); }

    private:
        friend class Pool;
        Lease(Pool* pool, std::unique_ptr<Database> db) : pool_(pool), db_(std::move(db)) {}
        Pool* pool_;
        std::unique_ptr<Database> db_;
    };

    /// Waits up to ten seconds for a free connection, then fails with Failure::Retry.
    Result<Lease> take();

private:
    void give_back(std::unique_ptr<Database> db);
    std::string where_;
    std::size_t most_, open_ = 0;
    WaitLimits limits_;
    std::mutex mutex_;
    sys::Condition free_;
    std::vector<std::unique_ptr<Database>> idle_;
};

}  // namespace bunraku::store
