// What a run fetches from its server: contents of `puppet:` sources, and its filebucket.
#pragma once

#include <map>
#include <string>

#include "core/value/value.h"
#include "resources/apply/content_source.h"
#include "resources/apply/types/file/bucket.h"
#include "services/agent/server_link.h"

namespace bunraku::agent {

/// "puppet:///MOUNT/PATH" of the run's server, "puppet://SERVER[:PORT]/.." of another one.
class ServerContent final : public apply::ContentSource {
public:
    explicit ServerContent(ServerLink& link) : link_(link) {}

    base::Result<std::optional<apply::ContentMetadata>> metadata(
        const std::string& uri, const apply::ContentQuery& query) override;
    base::Result<std::optional<std::vector<apply::ContentMetadata>>> search(
        const std::string& uri, const apply::ContentSearch& search) override;
    base::Result<std::unique_ptr<sys::Reader>> open(const std::string& uri) override;

    /// Takes over what a static catalog says of its sources (`metadata`, `recursive_metadata`).
    /// The server is not asked for it again: a source that the catalog does not name for a
    /// resource did not exist when it was compiled. Contents are those of its code_id.
    void know(const value::Value& catalog);

private:
    struct Address {
        std::string server;  ///< empty: the run's
        std::string path;    ///< "modules/ntp/ntp.conf"
    };
    static std::optional<Address> address_of(const std::string& uri);
    /// What is known of a file, by kind of checksum. Of one that is not there: one of kind "".
    using Answers = std::map<std::string, std::optional<apply::ContentMetadata>>;
    /// What a search found; nullopt: there is no such folder.
    using Listing = std::optional<std::vector<apply::ContentMetadata>>;
    void know_file(const value::Value& resource, const value::Value& said);
    void know_folders(const value::Value& resource, const value::Value& said);

    ServerLink& link_;
    std::map<std::string, Answers> known_;    ///< by URI and how links are looked at
    std::map<std::string, Listing> folders_;  ///< by URI and how it is searched
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
