// Tests which releases a mirror takes from a feed, and how it resumes downloads that were
// interrupted.
#include "modules/module/feed.h"

#include <arpa/inet.h>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "core/codec/digest.h"
#include "modules/forge/http_api.h"
#include "modules/forge/service.h"
#include "modules/forge/sync.h"
#include "net/http/server.h"
#include "unit/modules/module/support.h"

namespace bunraku::forge {
namespace {

/// Returns the given responses in order. Each uses a new connection, which the server closes
/// afterwards.
class CannedResponses {
public:
    explicit CannedResponses(std::vector<std::string> answers)
        : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address), size), 0);
        EXPECT_EQ(::listen(socket_, 10), 0);
        EXPECT_EQ(::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size), 0);
        url = fmt::format("http://127.0.0.1:{}/file", ntohs(address.sin_port));
        thread_ = std::thread([this, answers = std::move(answers)] {
            for (const std::string& answer : answers) {
                const int fd = ::accept(socket_, nullptr, nullptr);
                if (fd < 0) return;
                std::string head;
                char buffer[4096];
                while (head.find("\r\n\r\n") == std::string::npos) {
                    const ssize_t n = ::recv(fd, buffer, sizeof buffer, 0);
                    if (n <= 0) break;
                    head.append(buffer, static_cast<std::size_t>(n));
                }
                asked.push_back(std::move(head));
                ::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL);
                ::close(fd);
            }
        });
    }
    ~CannedResponses() { end(); }
    void end() {
        if (!thread_.joinable()) return;
        ::shutdown(socket_, SHUT_RDWR);
        thread_.join();
        ::close(socket_);
    }
    std::string url;
    std::vector<std::string> asked;  ///< available after end()

private:
    int socket_;
    std::thread thread_;
};

std::string answer(std::string_view status, std::size_t length, std::string_view fields,
                   std::string_view body) {
    return fmt::format("HTTP/1.1 {}\r\nContent-Length: {}\r\n{}\r\n{}", status, length, fields,
                       body);
}

TEST(InterruptedDownloads, AreResumed) {
    const std::string whole = "0123456789abcdefghijABCDEFGHIJ";
    constexpr const char* kTag = "ETag: \"one\"\r\n";
    const std::string cut = answer("200 OK", 30, kTag, whole.substr(0, 10));
    struct Case {
        const char* name;
        std::vector<std::string> answers;
        std::string body;  ///< empty if the download must fail
        /// expected Range header of the second request; empty for the whole file
        std::string range;
        bool resume = true;
    };
    const auto part = [&](std::size_t from, std::size_t size, std::string_view said = {}) {
        return answer("206 Partial Content", 30 - from,
                      fmt::format("Content-Range: bytes {}-29/30\r\n",
                                  said.empty() ? std::to_string(from) : std::string(said)),
                      whole.substr(from, size));
    };
    const std::string other = answer("200 OK", 3, "ETag: \"two\"\r\n", "new");
    const std::vector<Case> cases = {
        {"the rest", {cut, part(10, 20)}, whole, "bytes=10-"},
        {"the rest, cut again", {cut, part(10, 5), part(15, 15)}, whole, "bytes=10-"},
        {"no ranges there", {cut, answer("200 OK", 30, kTag, whole)}, whole, "bytes=10-"},
        {"another file by now", {cut, other}, "new", "bytes=10-"},
        {"the file is shorter now",
         {cut, answer("416 Range Not Satisfiable", 0, "", ""), other},
         "new",
         "bytes=10-"},
        {"a mark that promises nothing",
         {answer("200 OK", 30, "ETag: W/\"one\"\r\n", whole.substr(0, 10)),
          answer("200 OK", 30, "", whole)},
         whole,
         ""},
        {"another part than was asked for", {cut, part(5, 25, "5")}, "", "bytes=10-"},
        {"what has no digest", {cut, answer("200 OK", 30, kTag, whole)}, whole, "", false},
    };
    // Each case waits a second, so all run in parallel.
    std::vector<std::thread> threads;
    for (const Case& c : cases) {
        threads.emplace_back([&c] {
            CannedResponses server(c.answers);
            module::FeedOptions options;
            options.attempts = 3;
            module::Fetcher fetcher(options);
            auto got = fetcher.get(server.url, 1000, c.resume);
            server.end();
            EXPECT_EQ(got ? *got : "", c.body) << c.name << (got ? "" : got.error().message);
            ASSERT_EQ(server.asked.size(), c.answers.size()) << c.name;
            const std::string& second = server.asked[1];
            EXPECT_EQ(second.find("Range:") != std::string::npos, !c.range.empty()) << c.name;
            EXPECT_NE(second.find(c.range), std::string::npos) << c.name << second;
            if (!c.range.empty()) {
                EXPECT_NE(second.find("If-Range: \"one\""), std::string::npos) << c.name << second;
            }
        });
    }
    // The size of a response without an end is limited. If the combined parts are wrong, the digest
    // does not match.
    threads.emplace_back([&] {
        CannedResponses server(
            {cut, answer("206 Partial Content", 25, "Content-Range: bytes 10-34/35\r\n",
                         std::string(25, 'x'))});
        module::FeedOptions options;
        options.attempts = 3;
        module::Fetcher fetcher(options);
        module::Offer offer{
            .name = *module::parse_release_name("a-b-1.0.0"), .url = server.url, .other_url = {}};
        offer.sha256 = codec::hex_digest(codec::DigestKind::Sha256, whole);
        auto got = module::fetch_offer(fetcher, offer);
        ASSERT_FALSE(got);
        EXPECT_NE(got.error().message.find("checksum mismatch"), std::string::npos)
            << got.error().message;
    });
    threads.emplace_back([&] {
        CannedResponses server({cut, part(10, 20)});
        module::FeedOptions options;
        options.attempts = 3;
        module::Fetcher fetcher(options);
        auto got = fetcher.get(server.url, 20, true);
        ASSERT_FALSE(got);
        EXPECT_NE(got.error().message.find("more than 20 bytes"), std::string::npos);
    });
    for (std::thread& t : threads) t.join();
}

/// A forge with a few modules, and a repository that mirrors some of them.
class Requests : public testing::Test {
protected:
    Requests() : up({.root = scratch.path + "/up"}), forge_store(scratch.path + "/mirror") {
        EXPECT_TRUE(up.forge_store().create("up"));
        const std::string lib = R"([{"name":"a/lib","version_requirement":">= 1.0.0 < 2.0.0"}])";
        for (const char* v : {"1.0.0", "1.2.0", "2.0.0", "2.1.0-rc1"}) {
            put("a-web", v, lib);
        }
        for (const char* v : {"1.0.0", "1.9.0", "1.10.0", "2.0.0"}) {
            put("a-lib", v, R"([{"name":"b-deep"}])");
        }
        put("b-deep", "0.1.0", R"([{"name":"a-web"},{"name":"no-where"}])");
        put("c-lonely", "3.0.0");
        EXPECT_TRUE(up.forge_store().publish("up"));
        http::Router router;
        mount(router, up);
        http::ServerOptions options;
        options.listeners.push_back({});
        auto started = http::Server::start(std::move(router), options);
        EXPECT_TRUE(started) << started.error().message;
        server = std::move(*started);
        url = server->urls()[0] + "/pulp_puppet/forge/repository/up";
    }
    void put(const std::string& name, const std::string& version, const std::string& needs = "[]") {
        EXPECT_TRUE(up.forge_store().upload("up", module::test::release(name, version, needs)));
    }
    /// Returns the content of a new mirror; `said` receives its error messages.
    std::string mirrored(SyncOptions o) {
        said.clear();
        (void)forge_store.remove_repository("r");
        EXPECT_TRUE(forge_store.create("r"));
        if (o.feed.empty()) o.feed = url;
        o.warn = [&](const std::string& text) { said += text + "\n"; };
        auto done = sync(forge_store, "r", o);
        if (!done) return "! " + done.error().message;
        std::string out;
        for (const Unit& u : forge_store.units("r"))
            out += (out.empty() ? "" : " ") + u.name.slug();
        return out;
    }
    static SyncRequest requested(const char* module, const char* range = "") {
        return {*module::parse_module_name(module), range};
    }
    module::test::Scratch scratch;
    ForgeService up;
    ForgeStore forge_store;
    std::unique_ptr<http::Server> server;
    std::string url, said;
};

TEST_F(Requests, Table) {
    struct Case {
        std::vector<SyncRequest> requests;
        std::vector<std::string> queries;
        bool dependencies = false;
        int latest = 0;
        const char* have;
        const char* said = "";
    };
    const std::vector<Case> cases = {
        {{requested("a-web", "1.2.0")}, {}, false, 0, "a-web-1.2.0"},
        {{requested("a-web", "latest")}, {}, false, 0, "a-web-2.0.0"},
        {{requested("a-web", "latest")}, {}, false, 1, "a-web-2.0.0"},
        {{requested("a-web", "< 2.0.0")}, {}, false, 0, "a-web-1.2.0"},
        {{requested("a-web")}, {}, false, 0, "a-web-1.0.0 a-web-1.2.0 a-web-2.0.0 a-web-2.1.0-rc1"},
        {{requested("a-web")}, {}, false, 2, "a-web-2.0.0 a-web-2.1.0-rc1"},
        // Takes the newest matching release of each dependency, and its dependencies. Cyclic
        // dependencies end.
        {{requested("a-web", "1.2.0")},
         {},
         true,
         0,
         "a-lib-1.10.0 a-web-1.2.0 a-web-2.0.0 b-deep-0.1.0",
         "has no no-where"},
        {{requested("c-lonely", "latest")}, {}, true, 0, "c-lonely-3.0.0"},
        {{requested("a-web", "9.x"), requested("c-lonely", "3.0.0")},
         {},
         false,
         0,
         "c-lonely-3.0.0",
         "has no a-web 9.x"},
        {{requested("no-where", "latest")}, {}, false, 0, "", "has no no-where latest"},
        {{}, {}, false, 1, "a-lib-2.0.0 a-web-2.1.0-rc1 b-deep-0.1.0 c-lonely-3.0.0"},
        {{}, {"deep"}, false, 0, "b-deep-0.1.0"},
        {{}, {"deep"}, true, 0, "a-lib-1.10.0 a-web-2.0.0 b-deep-0.1.0", "has no no-where"},
    };
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const Case& c = cases[i];
        SyncOptions o;
        o.requests = c.requests;
        o.queries = c.queries;
        o.with_dependencies = c.dependencies;
        o.latest = c.latest;
        EXPECT_EQ(mirrored(o), c.have) << "case " << i;
        EXPECT_NE(said.find(c.said), std::string::npos) << "case " << i << ": " << said;
        EXPECT_EQ(said.empty(), !*c.said) << "case " << i << ": " << said;
    }
}

TEST_F(Requests, OfAPuppetfile) {
    const std::string path = scratch.path + "/Puppetfile";
    const auto read = [&](const std::string& text) {
        std::ofstream(path) << text;
        auto requests = requests_of_puppetfile(path);
        if (!requests) return "! " + requests.error().message;
        SyncOptions o;
        o.requests = std::move(*requests);
        return mirrored(o);
    };
    EXPECT_EQ(read("forge 'https://x'\nmod 'a-web', '1.0.0'\nmod 'a/lib', :latest\n"
                   "mod 'b-deep'\nmod 'tool', git: 'https://h/tool'\n"),
              "a-lib-2.0.0 a-web-1.0.0 b-deep-0.1.0");
    EXPECT_NE(read("mod 'tool', git: 'https://h/tool'\n").find("names no module of a forge"),
              std::string::npos);
    EXPECT_NE(read("mod 'a-web', '1.0\n").find("! "), std::string::npos);
    EXPECT_FALSE(requests_of_puppetfile(scratch.path + "/nowhere"));
}

TEST_F(Requests, FolderIsAFeed) {
    namespace fs = std::filesystem;
    const std::string folder = scratch.path + "/a folder";
    const auto put_file = [&](const std::string& name, const std::string& bytes) {
        fs::create_directories(fs::path(folder + "/" + name).parent_path());
        std::ofstream(folder + "/" + name) << bytes;
    };
    put_file("a-b-1.0.0.tar.gz", module::test::release("a-b", "1.0.0"));
    put_file("deep/er/c-d-2.0.0.tar.gz", module::test::release("c-d", "2.0.0"));
    put_file("deep/c-d-2.1.0.tar.gz", module::test::release("c-d", "2.1.0"));
    put_file(".hidden/e-f-1.0.0.tar.gz", module::test::release("e-f", "1.0.0"));
    put_file("notes.txt", "no archive");
    SyncOptions o;
    o.feed = folder;
    EXPECT_EQ(mirrored(o), "a-b-1.0.0 c-d-2.0.0 c-d-2.1.0");
    EXPECT_EQ(said, "");
    o.feed = "file://" + scratch.path + "/a%20folder/";
    o.latest = 1;
    EXPECT_EQ(mirrored(o), "a-b-1.0.0 c-d-2.1.0");
    // Files with a wrong name and files that are not modules are reported and skipped; the other
    // files are mirrored.
    put_file("x-y-1.0.0.tar.gz", module::test::release("other-name", "1.0.0"));
    put_file("w-z-1.0.0.tar.gz", "no archive");
    put_file("nonsense.tar.gz", "x");
    EXPECT_EQ(mirrored(o), "a-b-1.0.0 c-d-2.1.0");
    for (const char* what : {"'other-name-1.0.0'", "w-z-1.0.0", "nonsense.tar.gz"}) {
        EXPECT_NE(said.find(what), std::string::npos) << said;
    }
    fs::create_directories(scratch.path + "/empty");
    o.feed = scratch.path + "/empty";
    EXPECT_NE(mirrored(o).find("is neither a v3 forge nor a tree"), std::string::npos);
    // A folder that contains a link to itself does not cause an endless loop.
    fs::create_directory_symlink(folder, folder + "/deep/again");
    o.feed = folder;
    EXPECT_EQ(mirrored(o), "a-b-1.0.0 c-d-2.1.0");
}

}  // namespace
}  // namespace bunraku::forge
