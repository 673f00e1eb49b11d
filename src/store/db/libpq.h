// SPDX-License-Identifier: Apache-2.0
// Interface to libpq, which is loaded on first use. The functions have libpq's names without "PQ".
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
    X(connectPoll)        \
    X(connectStartParams) \
    X(consumeInput)       \
    X(errorMessage)       \
    X(finish)             \
    X(flush)              \
    X(fname)              \
    X(freeCancel)         \
    X(ftype)              \
    X(getCancel)          \
    X(getResult)          \
    X(getisnull)          \
    X(getlength)          \
    X(getvalue)           \
    X(host)               \
    X(hostaddr)           \
    X(isBusy)             \
    X(nfields)            \
    X(ntuples)            \
    X(port)               \
    X(putCopyData)        \
    X(putCopyEnd)         \
    X(resultErrorField)   \
    X(resultErrorMessage) \
    X(resultStatus)       \
    X(sendPrepare)        \
    X(sendQuery)          \
    X(sendQueryParams)    \
    X(sendQueryPrepared)  \
    X(setNoticeProcessor) \
    X(setSingleRowMode)   \
    X(setnonblocking)     \
    X(socket)             \
    X(status)             \
    X(transactionStatus)
// Functions since version 14; null in older libraries.
#define BUNRAKU_LIBPQ_14(X) \
    X(enterPipelineMode)    \
    X(exitPipelineMode)     \
    X(pipelineSync)

struct LibPq {
#define BUNRAKU_MEMBER(name) decltype(&::PQ##name) name = nullptr;
    BUNRAKU_LIBPQ(BUNRAKU_MEMBER)
    BUNRAKU_LIBPQ_14(BUNRAKU_MEMBER)
#undef BUNRAKU_MEMBER
};

/// Loads the library once; called before a connection is opened. If it is not installed, fails with
/// "PostgreSQL support needs the library libpq.so.5: ...".
base::Result<void> load_libpq();

/// Returns the functions of the library. load_libpq() must have succeeded before.
const LibPq& libpq();

}  // namespace bunraku::store
