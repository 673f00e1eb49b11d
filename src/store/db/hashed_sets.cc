// SPDX-License-Identifier: Apache-2.0
#include "store/db/hashed_sets.h"

#include <fmt/format.h>

namespace bunraku::store {

Result<std::int64_t> find_set(Database& db, std::string_view table, const Digest& hash) {
    Statement s = BUNRAKU_TRY(db.prepare(fmt::format("SELECT id FROM {} WHERE hash = ?", table)));
    s.bind_blob(bytes_of(hash));
    return BUNRAKU_TRY(s.step()) ? s.integer(0) : 0;
}

Result<MadeSet> make_set(Database& db, std::string_view table, const Digest& hash) {
    {
        Statement s = BUNRAKU_TRY(
            db.prepare(fmt::format("INSERT INTO {} (hash) VALUES (?) ON CONFLICT (hash) DO NOTHING"
                                   " RETURNING id",
                                   table)));
        s.bind_blob(bytes_of(hash));
        if (BUNRAKU_TRY(s.step())) {
            MadeSet made{s.integer(0), true};
            BUNRAKU_TRY_VOID(s.run());
            return made;
        }
    }
    return MadeSet{BUNRAKU_TRY(find_set(db, table, hash)), false};
}

}  // namespace bunraku::store
