// SPDX-License-Identifier: Apache-2.0
#include "core/sys/service_manager.h"

#include <array>
#include <cstddef>
#include <cstdlib>
#include <gtest/gtest.h>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace bunraku::sys {
namespace {

// The name is abstract and has the pid, so that nothing is left and parallel tests do not meet.
TEST(ServiceManager, ReceivesTheState) {
    const auto name = "@bunraku-notify-" + std::to_string(::getpid());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    name.copy(address.sun_path, sizeof address.sun_path);
    address.sun_path[0] = '\0';
    const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    ASSERT_GE(fd, 0);
    ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address),
                     static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size())),
              0);
    ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
    notify_service_manager("READY=1");
    // A relative name is ignored.
    ::setenv("NOTIFY_SOCKET", "relative", 1);
    notify_service_manager("STOPPING=1");
    ::unsetenv("NOTIFY_SOCKET");
    notify_service_manager("STOPPING=1");
    std::array<char, 64> buffer{};
    const auto size = ::recv(fd, buffer.data(), buffer.size(), 0);
    ASSERT_GT(size, 0);
    EXPECT_EQ(std::string(buffer.data(), static_cast<std::size_t>(size)), "READY=1");
    EXPECT_EQ(::recv(fd, buffer.data(), buffer.size(), 0), -1);
    ::close(fd);
}

}  // namespace
}  // namespace bunraku::sys
