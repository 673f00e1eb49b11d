// SPDX-License-Identifier: Apache-2.0
// A minimal HTTP client for a metadata service, which is one network hop away and must respond
// quickly.
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/assert.h"
#include "resources/facts/context.h"

namespace bunraku::facts {

namespace {

constexpr double kConnectSeconds = 0.6;
constexpr std::size_t kMostBytes = 4 * 1024 * 1024;

double now_seconds() {
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

bool wait_for(int fd, short events, double until) {
    while (true) {
        const double left = until - now_seconds();
        if (left <= 0) return false;
        BUNRAKU_ASSERT(fd >= 0 && left > 0);
        pollfd p{fd, events, 0};
        const int n = ::poll(&p, 1, static_cast<int>(left * 1000) + 1);
        if (n > 0) return true;
        if (n < 0 && errno != EINTR) return false;
    }
}

int connect_to(const std::string& host) {
    addrinfo hints{}, *found = nullptr;
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    if (::getaddrinfo(host.c_str(), "80", &hints, &found) != 0) return -1;
    int fd = -1;
    for (const addrinfo* a = found; a && fd < 0; a = a->ai_next) {
        fd = ::socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0) continue;
        int error = 0;
        socklen_t size = sizeof error;
        if (::connect(fd, a->ai_addr, a->ai_addrlen) != 0 &&
            (errno != EINPROGRESS || !wait_for(fd, POLLOUT, now_seconds() + kConnectSeconds) ||
             ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0)) {
            ::close(fd);
            fd = -1;
        }
    }
    ::freeaddrinfo(found);
    return fd;
}

}  // namespace

std::string fetch_metadata(const MetadataRequest& request) {
    const int fd = connect_to(request.host);
    if (fd < 0) return {};
    // With HTTP 1.0 the response ends when the server closes the connection.
    std::string text =
        fmt::format("{} {} HTTP/1.0\r\nHost: {}\r\n", request.method, request.path, request.host);
    for (const auto& [name, value] : request.headers)
        text += fmt::format("{}: {}\r\n", name, value);
    if (request.method == "PUT") text += "Content-Length: 0\r\n";
    text += "Connection: close\r\n\r\n";
    const double until = now_seconds() + request.timeout;
    bool good = true;
    for (std::string_view rest = text; good && !rest.empty();) {
        const auto n = ::send(fd, rest.data(), rest.size(), MSG_NOSIGNAL);
        if (n > 0) {
            rest.remove_prefix(static_cast<std::size_t>(n));
        } else if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
            good = wait_for(fd, POLLOUT, until);
        } else {
            good = false;
        }
    }
    std::string answer;
    char buffer[16384];
    while (good && answer.size() < kMostBytes) {
        const auto n = ::recv(fd, buffer, sizeof buffer, 0);
        if (n > 0) {
            answer.append(buffer, static_cast<std::size_t>(n));
        } else if (n == 0) {
            break;
        } else if (errno == EAGAIN || errno == EINTR) {
            good = wait_for(fd, POLLIN, until);
        } else {
            good = false;
        }
    }
    ::close(fd);
    const auto body = answer.find("\r\n\r\n");
    const auto status = answer.find(' ');
    if (!good || body == std::string::npos || status == std::string::npos ||
        answer.compare(status + 1, 3, "200") != 0)
        return {};
    return answer.substr(body + 4);
}

}  // namespace bunraku::facts
