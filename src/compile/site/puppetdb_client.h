// A PuppetDB-compatible service somewhere else: exported resources, queries and commands over HTTP,
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

/// puppetdb.conf, section [main].
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

    /// Errors are the terminus' own; `name` is the file's.
    static base::Result<PuppetdbConfig> parse(std::string_view text, const std::string& name);
};

/// PuppetDB's query for a collector: an array in JSON.
std::string collector_query_json(std::string_view type, const compiler::CollectorQuery* query,
                                 std::string_view except_certname);

/// For one thread at a time.
class PuppetdbClient final : public compiler::ExportedSource {
public:
    /// `tls` has the files for https; its timeouts and verification follow `config`.
    PuppetdbClient(PuppetdbConfig config, http::ClientOptions tls, base::LogSink& log);
    ~PuppetdbClient() override;
    const PuppetdbConfig& config() const { return config_; }
    /// From now on every error is given.
    void fail_hard() { config_.soft_write_failure = false; }

    base::Result<std::vector<compiler::ExportedResource>> find(
        std::string_view type, const compiler::CollectorQuery* query,
        std::string_view except_certname, base::Arena& arena,
        const value::TypedFactory& make_typed) override;
    /// PQL text or a syntax tree in arrays; gives the rows.
    base::Result<value::Value> query(const value::Value& query, base::Arena& arena);
    /// "replace catalog". With soft_write_failure an error is logged, and none is given. An error's
    /// code is the answer's status, where there was one.
    base::Result<void> submit(std::string_view command, int version, const std::string& certname,
                              std::int64_t producer_timestamp, const std::string& payload);

private:
    struct Answer;
    enum class Mode { Query, Command };
    base::Result<http::ClientResponse> action(Mode mode, const std::string& path,
                                              http::ClientRequest request);
    /// One server; nullopt: it cannot serve, which was logged.
    std::optional<http::ClientResponse> ask(const std::string& url, const std::string& path,
                                            http::ClientRequest& request, bool* not_found);

    PuppetdbConfig config_;
    http::Client client_;
    base::LogSink& log_;
    std::size_t last_good_ = 0;
};

}  // namespace bunraku::site
