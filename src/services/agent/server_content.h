// SPDX-License-Identifier: Apache-2.0
// Data that a run requests from its server: contents of `puppet:` sources, and its filebucket.
#pragma once

#include <map>
#include <string>

#include "core/value/value.h"
#include "resources/apply/content_source.h"
#include "resources/apply/types/file/bucket.h"
#include "services/agent/server_link.h"

namespace bunraku::agent {

/// "puppet:///MOUNT/PATH" refers to the run's server, "puppet://SERVER[:PORT]/.." to another one.
class ServerContent final : public apply::ContentSource {
public:
    explicit ServerContent(ServerLink& link) : link_(link) {}

    base::Result<std::optional<apply::ContentMetadata>> metadata(
        const std::string& uri, const apply::ContentQuery& query) override;
    base::Result<std::optional<std::vector<apply::ContentMetadata>>> search(
        const std::string& uri, const apply::ContentSearch& search) override;
    base::Result<std::unique_ptr<sys::Reader>> open(const std::string& uri) override;

    /// Records the metadata of sources in a static catalog (`metadata`, `recursive_metadata`), so
    /// that the server is not asked for it again. A source that the catalog does not list for a
    /// resource did not exist when it was compiled. The contents are those of the catalog's
    /// code_id.
    void know(const value::Value& catalog);

private:
    struct Address {
        std::string server;  ///< the run's server if empty
        std::string path;    ///< for example "modules/ntp/ntp.conf"
    };
    static std::optional<Address> address_of(const std::string& uri);
    /// Metadata of a file by kind of checksum. A file that does not exist has one entry with the
    /// kind "".
    using Answers = std::map<std::string, std::optional<apply::ContentMetadata>>;
    /// The result of a search. nullopt if the folder does not exist.
    using Listing = std::optional<std::vector<apply::ContentMetadata>>;
    void know_file(const value::Value& resource, const value::Value& described);
    void know_folders(const value::Value& resource, const value::Value& described);

    ServerLink& link_;
    std::map<std::string, Answers> known_;    ///< by URI and link mode
    std::map<std::string, Listing> folders_;  ///< by URI and search options
    std::map<std::string, std::string> content_uris_;
    std::string code_id_;
};

/// Files that are backed up on a server.
class ServerBucket final : public apply::BucketServer {
public:
    explicit ServerBucket(ServerLink& link, const config::Settings& settings)
        : link_(link), settings_(settings) {}
    base::Result<bool> has(const Key& key) override;
    base::Result<void> save(const Key& key, const std::string& path,
                            const std::string& content) override;
    base::Result<std::optional<std::string>> content(const Key& key) override;

private:
    std::string url(const Key& key, std::string_view path) const;
    ServerLink& link_;
    const config::Settings& settings_;
};

}  // namespace bunraku::agent
