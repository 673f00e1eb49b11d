// SPDX-License-Identifier: Apache-2.0
// Content from files of this machine.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "resources/apply/content_source.h"
#include "resources/apply/context.h"

namespace bunraku::apply {

/// The source of "file:" URIs. Derived classes may map other URIs to local paths.
class LocalContent : public ContentSource {
public:
    explicit LocalContent(Context& context) : LocalContent(context, context.system.files) {}
    LocalContent(Context& context, sys::FileSystem& files) : context_(context), files_(files) {}
    base::Result<std::optional<ContentMetadata>> metadata(const std::string& uri,
                                                          const ContentQuery& query) override;
    base::Result<std::optional<std::vector<ContentMetadata>>> search(
        const std::string& uri, const ContentSearch& search) override;
    base::Result<std::unique_ptr<sys::Reader>> open(const std::string& uri) override;

protected:
    /// Returns the local path of a URI, or nullopt if this source does not serve the URI.
    virtual std::optional<std::string> local_path(std::string_view uri);

private:
    base::Result<std::optional<ContentMetadata>> look(const std::string& uri,
                                                      const std::string& path, bool follow);
    Context& context_;
    sys::FileSystem& files_;
};

/// Returns the source for a URI. Throws if its scheme is not supported.
ContentSource& content_source(Context& context, const std::string& uri);

}  // namespace bunraku::apply
