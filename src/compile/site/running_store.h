// A server that has the store open: commands that write ask it, instead of writing to its SQLite
// file beside it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "net/http/client.h"
#include "store/db/command.h"

namespace bunraku::site {

class RunningStore {
public:
    /// Returns the server that owns `database`, null if there is none (or if it is PostgreSQL,
    /// which any number of processes write to). Waits for a server that starts or ends; fails if
    /// one owns the file and does not answer.
    static base::Result<std::unique_ptr<RunningStore>> find(const std::string& database);
    ~RunningStore();

    /// Sends a command, and returns once it is processed.
    base::Result<void> submit(const store::CommandHeader& header, std::string body);
    /// Runs an admin command (see services/server/pdb_admin.cc) with `payload`, a JSON value, and
    /// returns the answer.
    base::Result<std::string> admin(std::string_view command, std::string_view payload);
    /// Records what collectors of `certname` ask for.
    base::Result<void> remember_collections(std::string_view certname,
                                            const std::vector<std::string>& names);

private:
    explicit RunningStore(std::string socket);
    base::Result<std::string> post(std::string target, std::string body);
    std::unique_ptr<http::Network> network_;
    http::Client client_;
};

}  // namespace bunraku::site
