// SPDX-License-Identifier: Apache-2.0
#include "net/http/proxy.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "net/http/client.h"

namespace bunraku::http {
namespace {

using Environment = std::map<std::string, std::string>;

std::string proxy_for(const Environment& environment, const ProxySettings& settings,
                      const std::string& url) {
    const ProxyRules rules(settings, [&](const char* name) -> const char* {
        auto it = environment.find(name);
        return it == environment.end() ? nullptr : it->second.c_str();
    });
    const Proxy* p = rules.of(*parse_url(url));
    if (!p) return "straight";
    return fmt::format("{}{}{}:{}", p->user, p->user.empty() ? "" : "@", p->host, p->port);
}

TEST(Proxy, EnvironmentOverridesSettings) {
    const ProxySettings none{"none", "3128", "none", "none", "localhost, 127.0.0.1"};
    const ProxySettings set{"squid", "8080", "u", "p", "localhost, 127.0.0.1"};
    struct Case {
        Environment environment;
        ProxySettings settings;
        std::string url, want;
    };
    const Case cases[] = {
        {{}, none, "http://a.example.com/", "straight"},
        {{}, set, "http://a.example.com/", "u:p@squid:8080"},
        {{}, set, "https://a.example.com/", "u:p@squid:8080"},
        {{}, set, "http://localhost/", "straight"},
        {{}, set, "http://127.0.0.1:80/", "straight"},
        {{{"http_proxy", "http://e:1"}}, none, "http://a/", "e:1"},
        {{{"HTTP_PROXY", "e:1"}}, none, "http://a/", "e:1"},
        {{{"http_proxy", "http://x%40:y@e:1/"}}, set, "https://a/", "x@:y@e:1"},
        {{{"http_proxy", "http://e:1"}, {"https_proxy", "http://s:2"}}, none, "https://a/", "s:2"},
        {{{"https_proxy", "http://s:2"}}, none, "http://a/", "straight"},
        {{{"http_proxy", "http://e:1"}}, none, "http://localhost/", "straight"},
        {{{"no_proxy", ".example.com"}}, set, "http://a.example.com/", "straight"},
        {{{"no_proxy", ".example.com"}}, set, "http://A.EXAMPLE.COM/", "straight"},
        {{{"no_proxy", "*.example.com"}}, set, "http://a.example.com/", "straight"},
        {{{"no_proxy", "example.com"}}, set, "http://a.example.com/", "straight"},
        {{{"no_proxy", "example.org"}}, set, "http://a.example.com/", "u:p@squid:8080"},
        {{{"no_proxy", "a:81, b"}}, set, "http://a/", "u:p@squid:8080"},
        {{{"no_proxy", "a:81,b"}}, set, "http://a:81/", "straight"},
        {{{"no_proxy", "*"}}, set, "https://anything/", "straight"},
        {{{"no_proxy", "[::1]:80"}}, set, "http://[::1]/", "straight"},
        {{{"no_proxy", ""}}, set, "http://localhost/", "u:p@squid:8080"},
        {{{"http_proxy", "not a url"}}, set, "http://a/", "u:p@squid:8080"},
    };
    for (const Case& c : cases) {
        EXPECT_EQ(proxy_for(c.environment, c.settings, c.url), c.want) << c.url;
    }
}

/// Accepts one connection, records the request and sends one response.
class OneAnswer {
public:
    explicit OneAnswer(std::string answer) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address), size), 0);
        EXPECT_EQ(::listen(socket_, 1), 0);
        EXPECT_EQ(::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size), 0);
        port = ntohs(address.sin_port);
        thread_ = std::thread([this, answer] {
            const int fd = ::accept(socket_, nullptr, nullptr);
            char buffer[4096];
            while (head.find("\r\n\r\n") == std::string::npos) {
                const ssize_t n = ::recv(fd, buffer, sizeof buffer, 0);
                if (n <= 0) break;
                head.append(buffer, static_cast<std::size_t>(n));
            }
            EXPECT_EQ(::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL),
                      static_cast<ssize_t>(answer.size()));
            ::close(fd);
        });
    }
    void end() {
        thread_.join();
        ::close(socket_);
    }
    int port = 0;
    std::string head;

private:
    int socket_;
    std::thread thread_;
};

ClientOptions through(int port) {
    ClientOptions options;
    options.proxies = ProxyRules({"127.0.0.1", std::to_string(port), "u", "p", "none"},
                                 [](const char*) -> const char* { return nullptr; });
    return options;
}

TEST(Proxy, ReceivesTheWholeUrl) {
    OneAnswer proxy("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi");
    auto answer = Client(through(proxy.port)).get("http://far.example.com/a?b=c");
    proxy.end();
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->body, "hi");
    EXPECT_EQ(proxy.head.substr(0, proxy.head.find("User-Agent")),
              "GET http://far.example.com/a?b=c HTTP/1.1\r\nHost: far.example.com\r\n"
              "Proxy-Authorization: Basic dTpw\r\n");
}

TEST(Proxy, ErrorNamesProxyThatRefusesTunnel) {
    OneAnswer proxy("HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n");
    auto answer = Client(through(proxy.port)).get("https://far.example.com/");
    proxy.end();
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().message,
              fmt::format("GET https://far.example.com/: the proxy 127.0.0.1:{} refuses "
                          "far.example.com:443: 407 \"Proxy Authentication Required\"",
                          proxy.port));
    EXPECT_EQ(proxy.head,
              "CONNECT far.example.com:443 HTTP/1.1\r\nHost: far.example.com:443\r\n"
              "Proxy-Authorization: Basic dTpw\r\n\r\n");
}

TEST(Proxy, DataAfterProxyResponseIsRefused) {
    OneAnswer proxy("HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n");
    auto answer = Client(through(proxy.port)).get("https://far.example.com/");
    proxy.end();
    ASSERT_FALSE(answer);
    EXPECT_NE(answer.error().message.find("sent data after its response"), std::string::npos);
}

}  // namespace
}  // namespace bunraku::http
