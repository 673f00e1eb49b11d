// SPDX-License-Identifier: Apache-2.0
// Waits for a PostgreSQL server that may hang. A stopped server, or one on a frozen disk or
// machine, keeps its connections open and answers nothing. TCP's own limits do not detect this,
// because the kernel still acknowledges.
#include <chrono>
#include <errno.h>
#include <poll.h>

#include "store/db/libpq.h"
#include "store/db/postgresql.h"

namespace bunraku::store {

bool PgConnection::wait(short events) {
    if (lost) return false;
    using std::chrono::milliseconds;
    milliseconds waited{0};
    for (;;) {
        // At the end of the program, a slow server still has a second to answer.
        const std::chrono::seconds limit(stop.stop_requested() ? 1 : silence_s);
        pollfd waiting{libpq().socket(raw), events, 0};
        const int ready = ::poll(&waiting, 1, static_cast<int>(kStopSlice.count()));
        if (ready > 0) return true;
        if (ready < 0 && errno == EINTR) continue;
        waited += kStopSlice;
        if (ready == 0 && waited < limit) continue;
        if (ready == 0 && server_answers(raw, static_cast<int>(limit.count()),
                                         stop.stop_requested() ? std::stop_token() : stop)) {
            waited = milliseconds(0);  // A long statement.
            continue;
        }
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
