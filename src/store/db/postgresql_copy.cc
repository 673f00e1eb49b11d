// SPDX-License-Identifier: Apache-2.0
// Copies many rows into a PostgreSQL table at once. This is cheaper than any INSERT, for the server
// too.
#include <algorithm>

#include "core/base/assert.h"
#include "store/db/database.h"
#include "store/db/libpq.h"
#include "store/db/postgresql.h"

namespace bunraku::store {

Result<void> Database::copy_in(const std::string& sql, std::string_view rows) {
    BUNRAKU_ASSERT(pg_ != nullptr);
    BUNRAKU_TRY_VOID(pg_->run_deferred());
    pg_->drain();
    PGconn* raw = pg_->raw;
    if (!libpq().sendQuery(raw, sql.c_str())) {
        return std::unexpected(pg_->error(nullptr));
    }
    PGresult* begun = pg_->receive_last();
    if (libpq().resultStatus(begun) != PGRES_COPY_IN) {
        base::Error e = pg_->error(begun);
        libpq().clear(begun);
        return std::unexpected(std::move(e));
    }
    libpq().clear(begun);
    constexpr std::size_t kPiece = 256 << 10;
    bool sent = true;
    for (std::size_t at = 0; sent && at < rows.size(); at += kPiece) {
        std::string_view piece = rows.substr(at, kPiece);
        sent = libpq().putCopyData(raw, piece.data(), static_cast<int>(piece.size())) == 1 &&
               pg_->flush();
    }
    sent = libpq().putCopyEnd(raw, sent ? nullptr : "the rows could not be sent") == 1 && sent;
    Result<void> out;
    if (!sent) out = std::unexpected(pg_->error(nullptr));
    while (PGresult* r = pg_->receive()) {
        if (out && libpq().resultStatus(r) != PGRES_COMMAND_OK) {
            out = std::unexpected(pg_->error(r));
        }
        bool still_copying = libpq().resultStatus(r) == PGRES_COPY_IN;
        libpq().clear(r);
        if (!still_copying) continue;
        pg_->lost = true;
        break;
    }
    if (out && pg_->lost) out = std::unexpected(pg_->error(nullptr));
    return out;
}

}  // namespace bunraku::store
