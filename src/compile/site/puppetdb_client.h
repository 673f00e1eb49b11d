// SPDX-License-Identifier: Apache-2.0
// A client of a PuppetDB-compatible service: exported resources, queries and commands over HTTP,
// with the settings and the failover rules of PuppetDB's terminus.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compile/compiler/exported_source.h"
#include "core/base/diagnostic.h"
#include "core/base/result.h"
#include "net/http/client.h"

namespace bunraku::site {

/// The section [main] of puppetdb.conf.
struct PuppetdbConfig {
    std::vector<std::string> server_urls = {"https://puppetdb:8081"};
    std::vector<std::string> submit_only_server_urls;
    int server_url_timeout = 30;  ///< seconds
    int min_successful_submissions = 1;
    bool soft_write_failure = false;
    bool command_broadcast = false;
    bool sticky_read_failover = false;
    bool include_unchanged_resources = false;
    bool include_catalog_edges = true;
    bool verify_client_certificate = true;

    /// Parses puppetdb.conf. Returns the errors of the terminus; `name` is the file name in them.
    static base::Result<PuppetdbConfig> parse(std::string_view text, const std::string& name);
};

/// Returns PuppetDB's query for a collector, a JSON array.
std::string collector_query_json(std::string_view type, const compiler::CollectorQuery* query,
                                 std::string_view except_certname);

/// A client for use by one thread at a time.
class PuppetdbClient final : public compiler::ExportedSource {
public:
    /// `tls` contains the files for https. `config` sets the timeouts and the verification.
    PuppetdbClient(PuppetdbConfig config, http::ClientOptions tls, base::LogSink& log);
    ~PuppetdbClient() override;
    const PuppetdbConfig& config() const { return config_; }
    /// From now on, returns every error instead of logging it.
    void fail_hard() { config_.soft_write_failure = false; }

    base::Result<std::vector<compiler::ExportedResource>> find(
        std::string_view type, const compiler::CollectorQuery* query,
        std::string_view except_certname, base::Arena& arena,
        const value::TypedFactory& make_typed) override;
    /// Runs PQL text or a syntax tree in arrays, and returns the rows.
    base::Result<value::Value> query(const value::Value& query, base::Arena& arena);
    /// Sends a command such as "replace catalog". With soft_write_failure, logs an error instead of
    /// returning it. The code of an error is the status of the response, if there was one.
    base::Result<void> submit(std::string_view command, int version, const std::string& certname,
                              std::int64_t producer_timestamp, const std::string& payload);

private:
    struct Answer;
    enum class Mode { Query, Command };
    base::Result<http::ClientResponse> action(Mode mode, const std::string& path,
                                              http::ClientRequest request);
    /// Asks one server. Logs an error and returns nullopt if the server cannot answer.
    std::optional<http::ClientResponse> ask(const std::string& url, const std::string& path,
                                            http::ClientRequest& request, bool* not_found);

    PuppetdbConfig config_;
    http::Client client_;
    base::LogSink& log_;
    std::size_t last_good_ = 0;
};

}  // namespace bunraku::site
