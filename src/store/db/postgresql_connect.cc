// SPDX-License-Identifier: Apache-2.0
// Opens connections to PostgreSQL. libpq's blocking call cannot be interrupted, and its
// asynchronous calls have no timeout, so they could wait for one host forever. Therefore this code
// tries the hosts of the URL and their addresses one after the other.
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include "core/base/assert.h"
#include "store/db/libpq.h"
#include "store/db/postgresql.h"

namespace bunraku::store {

namespace {

using Milliseconds = std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

/// A host of the URL. Empty members are not changed.
struct Host {
    std::string name, address, port;
};

std::vector<std::string> list_of(std::string_view text) {
    std::vector<std::string> out;
    for (std::size_t at = 0; !text.empty();) {
        const std::size_t comma = std::min(text.find(',', at), text.size());
        out.emplace_back(text.substr(at, comma - at));
        if (comma == text.size()) break;
        at = comma + 1;
    }
    return out;
}

/// Adds the host, with each of its addresses.
void add_host(std::vector<Host>& out, Host host) {
    const bool local = host.name.empty() || host.name.front() == '/' || host.name.front() == '@';
    addrinfo hints{}, *found = nullptr;
    hints.ai_socktype = SOCK_STREAM;
    if (local || !host.address.empty() ||
        ::getaddrinfo(host.name.c_str(), nullptr, &hints, &found) != 0) {
        out.push_back(std::move(host));
        return;
    }
    for (const addrinfo* a = found; a; a = a->ai_next) {
        char text[NI_MAXHOST];
        if (::getnameinfo(a->ai_addr, a->ai_addrlen, text, sizeof text, nullptr, 0,
                          NI_NUMERICHOST) == 0) {
            out.push_back({host.name, text, host.port});
        }
    }
    ::freeaddrinfo(found);
}

/// Returns the hosts of the URL; one with empty members if libpq has to find the host, or to report
/// an error of the URL.
std::vector<Host> hosts_of(const std::string& url) {
    std::vector<std::string> names, addresses, ports;
    PQconninfoOption* all = libpq().conninfoParse(url.c_str(), nullptr);
    for (const PQconninfoOption* o = all; o && o->keyword; ++o) {
        if (!o->val) continue;
        const std::string_view keyword = o->keyword;
        if (keyword == "host") names = list_of(o->val);
        if (keyword == "hostaddr") addresses = list_of(o->val);
        if (keyword == "port") ports = list_of(o->val);
    }
    if (all) libpq().conninfoFree(all);
    const std::size_t count = std::max(names.size(), addresses.size());
    const auto fits = [&](const std::vector<std::string>& list) {
        return list.empty() || (list.size() == count && std::ranges::find(list, "") == list.end());
    };
    if (count == 0 || !fits(names) || !fits(addresses) || (ports.size() != 1 && !fits(ports))) {
        return {Host{}};
    }
    std::vector<Host> out;
    for (std::size_t i = 0; i < count; ++i) {
        const auto at = [&](const std::vector<std::string>& list) {
            return list.empty() ? "" : list[std::min(i, list.size() - 1)];
        };
        add_host(out, {at(names), at(addresses), at(ports)});
    }
    return out.empty() ? std::vector<Host>{Host{}} : out;
}

enum class Until : std::uint8_t { Answer, Connected };
enum class Ended : std::uint8_t { Done, Failed, Silent, Stopped };

/// Waits until the server has sent something, or the connection is complete.
Ended wait_for_server(PGconn* raw, int seconds, const std::stop_token& stop, Until until) {
    const auto end = SteadyClock::now() + std::chrono::seconds(seconds);
    auto wanted = PGRES_POLLING_WRITING;
    while (wanted == PGRES_POLLING_READING || wanted == PGRES_POLLING_WRITING) {
        const auto left = std::chrono::duration_cast<Milliseconds>(end - SteadyClock::now());
        if (stop.stop_requested()) return Ended::Stopped;
        if (left.count() <= 0) return Ended::Silent;
        const bool reading = wanted == PGRES_POLLING_READING;
        pollfd waiting{libpq().socket(raw), static_cast<short>(reading ? POLLIN : POLLOUT), 0};
        const auto slice = std::min<Milliseconds>(left + Milliseconds(1), kStopSlice);
        if (::poll(&waiting, 1, static_cast<int>(slice.count())) <= 0) continue;
        char byte = 0;
        if (until == Until::Answer && reading && ::recv(waiting.fd, &byte, 1, MSG_PEEK) > 0) {
            return Ended::Done;
        }
        wanted = libpq().connectPoll(raw);
    }
    return wanted == PGRES_POLLING_OK ? Ended::Done : Ended::Failed;
}

PGconn* start(const Parameters& parameters) {
    std::vector<const char*> keys, values;
    for (const auto& [key, value] : parameters) {
        keys.push_back(key);
        values.push_back(value);
    }
    keys.push_back(nullptr);
    values.push_back(nullptr);
    return libpq().connectStartParams(keys.data(), values.data(), 1);
}

}  // namespace

Result<pg_conn*> connect_to(const std::string& url, const Parameters& parameters, int seconds,
                            const std::stop_token& stop) {
    std::string errors;
    for (const Host& host : hosts_of(url)) {
        Parameters all = parameters;
        if (!host.name.empty()) all.emplace_back("host", host.name.c_str());
        if (!host.address.empty()) all.emplace_back("hostaddr", host.address.c_str());
        if (!host.port.empty()) all.emplace_back("port", host.port.c_str());
        PGconn* raw = start(all);
        Ended ended = Ended::Failed;
        if (raw && libpq().status(raw) != CONNECTION_BAD) {
            ended = wait_for_server(raw, seconds, stop, Until::Connected);
        }
        if (ended == Ended::Done) return raw;
        std::string why = raw ? libpq().errorMessage(raw) : "out of memory";
        libpq().finish(raw);
        if (ended == Ended::Stopped) return base::failure("the server is stopping");
        if (ended == Ended::Silent) {
            why = fmt::format("{}{}the server does not respond", host.name,
                              host.name.empty() ? "" : ": ");
        }
        if (!errors.empty() && errors.back() != '\n') errors += '\n';
        errors += why;
    }
    return base::failure(errors);
}

bool server_answers(pg_conn* connection, int seconds, const std::stop_token& stop) {
    const Parameters parameters = {{"host", libpq().host(connection)},
                                   {"hostaddr", libpq().hostaddr(connection)},
                                   {"port", libpq().port(connection)}};
    PGconn* raw = start(parameters);
    const bool answers = raw && libpq().status(raw) != CONNECTION_BAD &&
                         wait_for_server(raw, seconds, stop, Until::Answer) == Ended::Done;
    libpq().finish(raw);
    return answers;
}

}  // namespace bunraku::store
