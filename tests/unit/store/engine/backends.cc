// SPDX-License-Identifier: Apache-2.0
#include "backends.h"

#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "store/db/command.h"

namespace bunraku::store {

namespace {

namespace fs = std::filesystem;

std::string programs_folder() {
    for (const char* path : {"/usr/lib/postgresql", "/usr/pgsql"}) {
        std::error_code ignored;
        std::vector<fs::path> versions;
        for (const auto& entry : fs::directory_iterator(path, ignored)) {
            if (fs::exists(entry.path() / "bin/postgres", ignored)) versions.push_back(entry);
        }
        std::sort(versions.begin(), versions.end());
        if (!versions.empty()) return versions.back() / "bin";
    }
    return fs::exists("/usr/bin/initdb") ? "/usr/bin" : "";
}

/// Returns an unprivileged user, because PostgreSQL refuses to run as root.
const passwd* unprivileged() {
    if (geteuid() != 0) return nullptr;
    for (const char* name : {"postgres", "nobody"}) {
        if (const passwd* found = getpwnam(name)) return found;
    }
    return nullptr;
}

int run(const std::vector<std::string>& command, pid_t* background = nullptr) {
    const passwd* user = unprivileged();
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR);
        dup2(null, 0), dup2(null, 1), dup2(null, 2);
        if (user && (setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0)) _exit(126);
        std::vector<char*> argv;
        for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
        argv.push_back(nullptr);
        execv(argv[0], argv.data());
        _exit(127);
    }
    if (background) {
        *background = pid;
        return 0;
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

class Server {
public:
    Server() {
        if (const char* given = getenv("BUNRAKU_TEST_POSTGRESQL")) {
            admin_ = given;
            return;
        }
        std::string programs = programs_folder();
        if (programs.empty()) return;
        folder_ = std::make_unique<TempFolder>();
        if (const passwd* user = unprivileged()) {
            if (chown(folder_->path().c_str(), user->pw_uid, user->pw_gid) != 0) return;
        }
        std::string data = *folder_ / "data";
        if (run({programs + "/initdb", "-D", data, "-A", "trust", "-U", "bunraku", "-E", "UTF8",
                 "--no-sync", "--locale=C.UTF-8"}) != 0) {
            return;
        }
        // Listens only on a socket in our folder: other users have no access, and no port is used.
        run({programs + "/postgres", "-D", data, "-c", "listen_addresses=", "-k", folder_->path(),
             "-c", "fsync=off", "-c", "max_connections=60"},
            &pid_);
        std::string url =
            fmt::format("postgresql:///postgres?host={}&user=bunraku", folder_->path());
        for (int i = 0; i < 200; ++i) {
            usleep(50000);
            if (Database::open(url, Database::Access::ReadWrite, 1000)) {
                admin_ = url;
                return;
            }
        }
    }
    ~Server() {
        if (pid_ <= 0) return;
        kill(pid_, SIGINT);
        int status;
        waitpid(pid_, &status, 0);
    }

    std::optional<std::string> fresh() {
        if (admin_.empty()) return std::nullopt;
        auto db = Database::open(admin_, Database::Access::ReadWrite, 1000);
        if (!db) return std::nullopt;
        std::string name = fmt::format("bunraku_test_{}_{}", getpid(), ++count_);
        if (!(*db)->execute("DROP DATABASE IF EXISTS " + name)) return std::nullopt;
        if (!(*db)->execute("CREATE DATABASE " + name)) return std::nullopt;
        std::size_t path = admin_.find('/', admin_.find("://") + 3);
        std::size_t query = std::min(admin_.find('?'), admin_.size());
        if (path == std::string::npos || path > query) return admin_.substr(0, query) + "/" + name;
        return admin_.substr(0, path + 1) + name + admin_.substr(query);
    }

private:
    std::unique_ptr<TempFolder> folder_;
    std::string admin_;
    pid_t pid_ = 0;
    int count_ = 0;
};

}  // namespace

std::optional<std::string> fresh_postgresql() {
    static Server server;
    return server.fresh();
}

namespace {

void put(Writer& writer, CommandKind kind, int version, const std::string& node,
         const std::string& body, std::int64_t received) {
    CommandHeader header;
    header.kind = kind;
    header.version = version;
    header.certname = node;
    header.received = received;
    auto prepared = prepare_command(header, body, {});
    ASSERT_TRUE(prepared) << prepared.error().message;
    auto transaction = writer.begin();
    ASSERT_TRUE(transaction);
    auto applied = (*prepared)->apply(writer);
    ASSERT_TRUE(applied) << applied.error().message;
    ASSERT_TRUE(transaction->commit());
}

}  // namespace

void put_catalog(Writer& writer, const std::string& node, const std::string& body,
                 std::int64_t received) {
    put(writer, CommandKind::ReplaceCatalog, 9, node, body, received);
}

void put_facts(Writer& writer, const std::string& node, const std::string& values,
               std::int64_t received) {
    std::string body =
        R"({"name":")" + node + R"(","environment":"production","values":)" + values + "}";
    put(writer, CommandKind::ReplaceFacts, 3, node, body, received);
}

}  // namespace bunraku::store
