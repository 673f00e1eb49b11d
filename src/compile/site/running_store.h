// SPDX-License-Identifier: Apache-2.0
// A running server that owns the store. Commands that write send their changes to it, instead of
// writing to its SQLite file at the same time.
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
    /// Returns the server that owns `database`. Returns null if there is none, or if the database
    /// is PostgreSQL, which any number of processes may write to. Waits for a server that is
    /// starting or ending. Fails if the owner of the file does not answer.
    static base::Result<std::unique_ptr<RunningStore>> find(const std::string& database);
    ~RunningStore();

    /// Sends a command, and returns once it is processed.
    base::Result<void> submit(const store::CommandHeader& header, std::string body);
    /// Runs an admin command (see services/server/pdb_admin.cc) with the JSON value `payload`, and
    /// returns the response.
    base::Result<std::string> admin(std::string_view command, std::string_view payload);
    /// Records the queries of the collectors of `certname`.
    base::Result<void> remember_collections(std::string_view certname,
                                            const std::vector<std::string>& names);

private:
    explicit RunningStore(std::string socket);
    base::Result<std::string> post(std::string target, std::string body);
    std::unique_ptr<http::Network> network_;
    http::Client client_;
};

}  // namespace bunraku::site
