// The door to libpq, which is opened on first need. The functions are libpq's own without "PQ".
#pragma once

#include <libpq-fe.h>

#include "core/base/result.h"

namespace bunraku::store {

#define BUNRAKU_LIBPQ(X)  \
    X(cancel)             \
    X(clear)              \
    X(cmdTuples)          \
    X(conninfoFree)       \
    X(conninfoParse)      \
    X(connectdbParams)    \
    X(errorMessage)       \
    X(exec)               \
    X(execParams)         \
    X(execPrepared)       \
    X(finish)             \
    X(fname)              \
    X(freeCancel)         \
    X(ftype)              \
    X(getCancel)          \
    X(getResult)          \
    X(getisnull)          \
    X(getlength)          \
    X(getvalue)           \
    X(nfields)            \
    X(ntuples)            \
    X(prepare)            \
    X(putCopyData)        \
    X(putCopyEnd)         \
    X(resultErrorField)   \
    X(resultErrorMessage) \
    X(resultStatus)       \
    X(sendQueryParams)    \
    X(sendQueryPrepared)  \
    X(setNoticeProcessor) \
    X(setSingleRowMode)   \
    X(socket)             \
    X(status)             \
    X(transactionStatus)

struct LibPq {
#define BUNRAKU_MEMBER(name) decltype(&::PQ##name) name = nullptr;
    BUNRAKU_LIBPQ(BUNRAKU_MEMBER)
#undef BUNRAKU_MEMBER
};

/// Opens the library, once. Fails where it is not installed: "PostgreSQL support needs the library
/// libpq.so.5: ...". Opening a connection asks this first.
base::Result<void> load_libpq();

/// Its functions; only after load_libpq() went well.
const LibPq& libpq();

}  // namespace bunraku::store
