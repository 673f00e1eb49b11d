// SPDX-License-Identifier: Apache-2.0
#include "store/db/libpq.h"

#include "core/base/shared_library.h"

namespace bunraku::store {

namespace {

struct Opened {
    base::SharedLibrary library{"libpq.so.5", "PostgreSQL support"};
    LibPq functions;

    Opened() {
#define BUNRAKU_FIND(name) library.find("PQ" #name, functions.name);
        BUNRAKU_LIBPQ(BUNRAKU_FIND)
#undef BUNRAKU_FIND
#define BUNRAKU_FIND(name) library.find_optional("PQ" #name, functions.name);
        BUNRAKU_LIBPQ_14(BUNRAKU_FIND)
#undef BUNRAKU_FIND
    }
};

const Opened& opened() {
    static const Opened it;
    return it;
}

}  // namespace

base::Result<void> load_libpq() { return opened().library.loaded(); }

const LibPq& libpq() { return opened().functions; }

}  // namespace bunraku::store
