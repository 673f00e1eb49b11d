// SPDX-License-Identifier: Apache-2.0
// Filebuckets: file contents stored by digest, with their original paths.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "resources/apply/context.h"

namespace bunraku::apply {

/// File contents stored on a server. Errors give the reason why the request failed.
class BucketServer {
public:
    struct Key {
        std::string server;  ///< empty for the run's own server
        int port = 0;        ///< 0 for the run's own port
        std::string kind, digest;
    };
    virtual ~BucketServer() = default;
    virtual base::Result<bool> has(const Key& key) = 0;
    virtual base::Result<void> save(const Key& key, const std::string& path,
                                    const std::string& content) = 0;
    /// Returns nullopt if the server has no content with this digest.
    virtual base::Result<std::optional<std::string>> content(const Key& key) = 0;
};

class Bucket {
public:
    /// Creates a bucket in a local folder.
    Bucket(Context& context, std::string name, std::string directory)
        : context_(context), name_(std::move(name)), directory_(std::move(directory)) {}
    /// Creates a bucket on the context's server or on another one.
    Bucket(Context& context, std::string name, std::string server, int port)
        : context_(context),
          name_(std::move(name)),
          remote_(true),
          server_(std::move(server)),
          port_(port) {}
    const std::string& name() const { return name_; }
    /// Stores a file and returns its digest in hexadecimal. Throws on failure.
    std::string backup(const std::string& path);
    /// Returns the content with this digest (of any kind). Throws "File not found" if there is
    /// none.
    std::string get(std::string_view digest);

private:
    std::string folder_of(std::string_view digest) const;
    std::string store(const std::string& path);
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
