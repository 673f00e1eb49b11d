// SPDX-License-Identifier: Apache-2.0
// Waits for a PostgreSQL server that may hang. A stopped server, or one on a frozen disk or
// machine, keeps its connections open and answers nothing. TCP's own limits do not detect this,
// because the kernel still acknowledges.
#include <algorithm>
#include <errno.h>
#include <fmt/format.h>
#include <poll.h>
#include <string>

#include "core/base/assert.h"
#include "store/db/libpq.h"
#include "store/db/postgresql.h"

namespace bunraku::store {

namespace {

/// Reports whether the server of the connection accepts new connections, or at least refuses them.
bool responds(PGconn* raw, int seconds) {
    const std::string limit = std::to_string(std::max(seconds, 2));
    const char* keys[] = {"host", "hostaddr", "port", "connect_timeout", nullptr};
    const char* values[] = {libpq().host(raw), libpq().hostaddr(raw), libpq().port(raw),
                            limit.c_str(), nullptr};
    const PGPing answer = libpq().pingParams(keys, values, 0);
    return answer == PQPING_OK || answer == PQPING_REJECT;
}

}  // namespace

bool PgConnection::wait(short events) {
    if (lost) return false;
    for (;;) {
        pollfd waiting{libpq().socket(raw), events, 0};
        const int ready = ::poll(&waiting, 1, silence_s * 1000);
        if (ready > 0) return true;
        if (ready < 0 && errno == EINTR) continue;
        if (ready == 0 && responds(raw, silence_s)) continue;  // A long statement.
        lost = true;
        silent = ready == 0;
        return false;
    }
}

bool PgConnection::flush() {
    for (;;) {
        const int rest = libpq().flush(raw);
        if (rest <= 0) return rest == 0;
        if (!wait(POLLIN | POLLOUT)) return false;
        // The server may be waiting until its answers are read.
        if (!libpq().consumeInput(raw)) return false;
    }
}

pg_result* PgConnection::receive() {
    if (!flush()) return nullptr;
    while (libpq().isBusy(raw)) {
        if (!wait(POLLIN) || !libpq().consumeInput(raw)) break;
    }
    // After a failure of the connection, libpq returns an error without waiting.
    return lost ? nullptr : libpq().getResult(raw);
}

pg_result* PgConnection::receive_last() {
    pg_result* last = nullptr;
    while (pg_result* next = receive()) {
        if (last) libpq().clear(last);
        last = next;
        const ExecStatusType status = libpq().resultStatus(last);
        if (status == PGRES_COPY_IN || libpq().status(raw) == CONNECTION_BAD) break;
    }
    return last;
}

}  // namespace bunraku::store
