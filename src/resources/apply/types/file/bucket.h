// Filebuckets: file contents by their digest, with the paths they came from.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "resources/apply/context.h"

namespace bunraku::apply {

/// Contents that a server keeps. Errors say why it could not be asked.
class BucketServer {
public:
    struct Key {
        std::string server;  ///< empty: the run's own
        int port = 0;        ///< 0: the run's own
        std::string kind, digest;
    };
    virtual ~BucketServer() = default;
    virtual base::Result<bool> has(const Key& key) = 0;
    virtual base::Result<void> save(const Key& key, const std::string& path,
                                    const std::string& content) = 0;
    /// nullopt: it has none of that digest.
    virtual base::Result<std::optional<std::string>> content(const Key& key) = 0;
};

class Bucket {
public:
    /// A folder of this machine.
    Bucket(Context& context, std::string name, std::string directory)
        : context_(context), name_(std::move(name)), directory_(std::move(directory)) {}
    /// The context's server, or another one.
    Bucket(Context& context, std::string name, std::string server, int port)
        : context_(context),
          name_(std::move(name)),
          remote_(true),
          server_(std::move(server)),
          port_(port) {}
    const std::string& name() const { return name_; }
    /// Stores a file; gives its digest in hexadecimal. Throws where it cannot.
    std::string backup(const std::string& path);
    /// The content of a digest (of any kind); throws "File not found".
    std::string get(std::string_view digest);

private:
    std::string folder_of(std::string_view digest) const;
    std::string keep(const std::string& path);
    BucketServer& server();
    BucketServer::Key key(std::string kind, std::string_view digest) const {
        return {server_, port_, std::move(kind), std::string(digest)};
    }
    Context& context_;
    std::string name_, directory_;
    bool remote_ = false;
    std::string server_;
    int port_ = 0;
};

}  // namespace bunraku::apply
