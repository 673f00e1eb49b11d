// SPDX-License-Identifier: Apache-2.0
#include "core/codec/libarchive.h"

#include "core/base/shared_library.h"

namespace bunraku::codec {

namespace {

struct Opened {
    base::SharedLibrary library{"libarchive.so.13", "Reading and writing tar archives"};
    LibArchive functions;

    Opened() {
#define BUNRAKU_FIND(name) library.find("archive_" #name, functions.name);
        BUNRAKU_LIBARCHIVE(BUNRAKU_FIND)
#undef BUNRAKU_FIND
    }
};

const Opened& opened() {
    static const Opened it;
    return it;
}

}  // namespace

base::Result<void> load_libarchive() { return opened().library.loaded(); }

const LibArchive& libarchive() { return opened().functions; }

// If the system does not have this locale, names that are not ASCII are written unchanged, and
// marked so.
Utf8Names::Utf8Names()
    : made_(::newlocale(LC_CTYPE_MASK, "C.UTF-8", locale_t{})),
      before_(made_ ? ::uselocale(made_) : locale_t{}) {}

Utf8Names::~Utf8Names() {
    if (!made_) return;
    ::uselocale(before_);
    ::freelocale(made_);
}

}  // namespace bunraku::codec
