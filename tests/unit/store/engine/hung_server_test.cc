// SPDX-License-Identifier: Apache-2.0
// A PostgreSQL server that hangs: it keeps its connections, accepts new ones, and answers nothing.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <list>
#include <mutex>
#include <poll.h>
#include <stop_token>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "backends.h"
#include "store/engine/service.h"

namespace bunraku::store {
namespace {

sockaddr_un address_of(const std::string& path) {
    sockaddr_un out{};
    out.sun_family = AF_UNIX;
    path.copy(out.sun_path, sizeof out.sun_path - 1);
    return out;
}

/// Forwards connections to the socket of a server until it is frozen, like a stopped process.
class Proxy {
public:
    Proxy(const std::string& folder, std::string server) : server_(std::move(server)) {
        std::filesystem::create_directories(folder);
        listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const sockaddr_un here = address_of(folder + "/.s.PGSQL.5432");
        EXPECT_EQ(::bind(listener_, reinterpret_cast<const sockaddr*>(&here), sizeof here), 0);
        EXPECT_EQ(::listen(listener_, 16), 0);
        EXPECT_EQ(::pipe2(wake_, O_CLOEXEC), 0);
        thread_ = std::thread([this] { run(); });
    }
    ~Proxy() {
        freeze();
        for (const auto& [client, server] : pairs_) ::close(client), ::close(server);
        for (int fd : {listener_, wake_[0], wake_[1]}) ::close(fd);
    }
    void freeze() {
        if (!thread_.joinable()) return;
        EXPECT_EQ(::write(wake_[1], "x", 1), 1);
        thread_.join();
    }

private:
    /// Returns false at the end of the connection.
    bool copy(int from, int to) const {
        char bytes[65536];
        const ssize_t n = ::read(from, bytes, sizeof bytes);
        for (ssize_t sent = 0; sent < n;) {
            // freeze() must not wait for a client that does not read.
            pollfd both[] = {{wake_[0], POLLIN, 0}, {to, POLLOUT, 0}};
            if (::poll(both, 2, -1) < 0) continue;
            if (both[0].revents) return true;
            const ssize_t part = ::send(to, bytes + sent, static_cast<std::size_t>(n - sent),
                                        MSG_NOSIGNAL | MSG_DONTWAIT);
            if (part < 0 && errno != EAGAIN) return false;
            sent += std::max<ssize_t>(part, 0);
        }
        return n > 0;
    }
    void run() {
        for (;;) {
            std::vector<pollfd> all = {{wake_[0], POLLIN, 0}, {listener_, POLLIN, 0}};
            for (const auto& [client, server] : pairs_) {
                all.push_back({client, POLLIN, 0});
                all.push_back({server, POLLIN, 0});
            }
            if (::poll(all.data(), all.size(), -1) < 0) continue;
            if (all[0].revents) return;
            std::size_t i = 2;
            for (auto pair = pairs_.begin(); pair != pairs_.end(); i += 2) {
                const auto [client, server] = *pair;
                const bool open = (!all[i].revents || copy(client, server)) &&
                                  (!all[i + 1].revents || copy(server, client));
                if (!open) ::close(client), ::close(server);
                pair = open ? std::next(pair) : pairs_.erase(pair);
            }
            if (!all[1].revents) continue;
            const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            const int server = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
            const sockaddr_un there = address_of(server_);
            EXPECT_EQ(::connect(server, reinterpret_cast<const sockaddr*>(&there), sizeof there),
                      0);
            pairs_.emplace_back(client, server);
        }
    }
    std::string server_;
    int listener_ = -1, wake_[2] = {-1, -1};
    std::list<std::pair<int, int>> pairs_;
    std::thread thread_;
};

class HungServer : public testing::Test {
protected:
    void SetUp() override {
        auto url = fresh_postgresql();
        if (!url) GTEST_SKIP() << "no PostgreSQL (BUNRAKU_TEST_POSTGRESQL, or its programs)";
        const std::size_t at = url->find("host=/");
        if (at == std::string::npos) GTEST_SKIP() << "the server has no Unix socket";
        const std::size_t begin = at + 5, end = std::min(url->find('&', begin), url->size());
        const std::string server = url->substr(begin, end - begin), folder = folder_ / "proxy";
        proxy_.emplace(folder, server + "/.s.PGSQL.5432");
        // The proxy is the first host, and the server itself the second one.
        where_ =
            url->substr(0, begin) + folder + "," + server + url->substr(end) + "&connect_timeout=2";
    }
    TempFolder folder_;
    std::optional<Proxy> proxy_;
    std::string where_;
};

TEST_F(HungServer, WriterLeavesIt) {
    auto writer = Writer::open(where_, {});
    ASSERT_TRUE(writer) << writer.error().message;
    put_facts(**writer, "before", R"({"a":1})", 1);
    proxy_->freeze();
    auto begun = (*writer)->begin();
    ASSERT_FALSE(begun);
    EXPECT_EQ(failure_of(begun.error()), Failure::Unavailable);
    EXPECT_TRUE(begun.error().message.ends_with(": the server does not respond"))
        << begun.error().message;
    EXPECT_FALSE((*writer)->db().healthy());
    // Every further statement fails at once.
    EXPECT_FALSE((*writer)->db().execute("SELECT 1"));
    writer->reset();
    auto again = Writer::open(where_, {});
    ASSERT_TRUE(again) << again.error().message;
    put_facts(**again, "after", R"({"a":1})", 2);
    auto s = (*again)->db().prepare_once("SELECT count(*) FROM factsets");
    ASSERT_TRUE(s && s->step());
    EXPECT_EQ(s->integer(0), 2);
}

TEST_F(HungServer, ReaderLeavesItWithinARow) {
    auto reader = Database::open(where_, Database::Access::Read, 1000);
    ASSERT_TRUE(reader) << reader.error().message;
    {
        // More rows than the buffers of the sockets hold.
        auto s =
            (*reader)->prepare_once("SELECT repeat('x', 10000) FROM generate_series(1, 100000)");
        ASSERT_TRUE(s);
        s->stream();
        auto row = s->step();
        ASSERT_TRUE(row && *row);
        proxy_->freeze();
        while (row && *row) row = s->step();
        ASSERT_FALSE(row);
        EXPECT_EQ(failure_of(row.error()), Failure::Unavailable);
    }
    EXPECT_FALSE((*reader)->healthy());
}

TEST_F(HungServer, CopyIntoItFails) {
    auto writer = Database::open(where_, Database::Access::ReadWrite, 1000);
    ASSERT_TRUE(writer) << writer.error().message;
    ASSERT_TRUE((*writer)->execute("CREATE TABLE t (v text)"));
    proxy_->freeze();
    auto copied = (*writer)->copy_in("COPY t FROM STDIN", std::string(64 << 20, 'x') + "\n");
    ASSERT_FALSE(copied);
    EXPECT_EQ(failure_of(copied.error()), Failure::Unavailable);
}

TEST_F(HungServer, SlowStatementIsNotAbandoned) {
    auto reader = Database::open(where_, Database::Access::Read, 1000);
    ASSERT_TRUE(reader) << reader.error().message;
    // Longer than the time after which the server is checked.
    auto s = (*reader)->prepare_once("SELECT 7 FROM pg_sleep(2.5)");
    ASSERT_TRUE(s);
    auto row = s->step();
    ASSERT_TRUE(row && *row);
    EXPECT_EQ(s->integer(0), 7);
}

TEST_F(HungServer, StopEndsTheWaitForAStatement) {
    std::stop_source stop;
    Writer::Options options;
    options.limits.stop = stop.get_token();
    // Without the stop, the server would be checked after half an hour.
    where_.replace(where_.find("connect_timeout=2"), 17, "connect_timeout=1800");
    auto writer = Writer::open(where_, options);
    ASSERT_TRUE(writer) << writer.error().message;
    proxy_->freeze();
    std::jthread stopper([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        stop.request_stop();
    });
    auto begun = (*writer)->begin();
    ASSERT_FALSE(begun);
    EXPECT_EQ(failure_of(begun.error()), Failure::Unavailable);
    EXPECT_TRUE(begun.error().message.ends_with(": the server does not respond"))
        << begun.error().message;
}

/// A server that accepts connections and never answers.
class SilentServer : public testing::Test {
protected:
    void SetUp() override {
        listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const sockaddr_un here = address_of(folder_ / ".s.PGSQL.5432");
        ASSERT_EQ(::bind(listener_, reinterpret_cast<const sockaddr*>(&here), sizeof here), 0);
        ASSERT_EQ(::listen(listener_, 64), 0);
        // A connection would wait for half an hour.
        where_ = "postgresql:///store?user=u&connect_timeout=1800&host=" + folder_.path();
    }
    void TearDown() override { ::close(listener_); }
    TempFolder folder_;
    int listener_ = -1;
    std::string where_;
};

TEST_F(SilentServer, StopEndsTheConnection) {
    std::stop_source stop;
    std::jthread stopper([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        stop.request_stop();
    });
    auto opened = Database::open(where_, Database::Access::Read, 1000, {.stop = stop.get_token()});
    ASSERT_FALSE(opened);
    EXPECT_EQ(failure_of(opened.error()), Failure::Unavailable);
    EXPECT_TRUE(opened.error().message.ends_with(": the server is stopping"))
        << opened.error().message;
}

TEST_F(SilentServer, HostHasALimit) {
    auto opened = Database::open(where_, Database::Access::Read, 1000, {.connect_s = 1});
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().message, "Could not open the store " + where_ + ": " + folder_.path() +
                                          ": the server does not respond");
}

TEST_F(SilentServer, ServiceStartsAndStops) {
    ServiceOptions options;
    options.database = where_;
    options.queue_folder = folder_ / "queue";
    auto service = Service::start(std::move(options));
    ASSERT_TRUE(service) << service.error().message;
    EXPECT_FALSE((*service)->health().database_up);
    // Other parts of the server do not wait again while it starts.
    EXPECT_FALSE((*service)->reader());
    EXPECT_FALSE((*service)->with_writer([](Writer&) -> Result<void> { return {}; }));
    // A reader waits for the server until the service stops.
    std::jthread user([&] {
        for (bool waits = true; waits;) {
            auto lease = (*service)->reader();
            waits = !lease && !lease.error().message.ends_with(": the server is stopping");
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    (*service)->request_stop();
    user.join();
    (*service)->stop();
}

}  // namespace
}  // namespace bunraku::store
