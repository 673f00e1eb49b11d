// Content out of this machine's files.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "resources/apply/content_source.h"
#include "resources/apply/context.h"

namespace bunraku::apply {

/// "file:" addresses; who derives from it may know the paths of others.
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
    /// The path on this machine; nullopt where nothing is served there.
    virtual std::optional<std::string> local_path(std::string_view uri);

private:
    base::Result<std::optional<ContentMetadata>> look(const std::string& uri,
                                                      const std::string& path, bool follow);
    Context& context_;
    sys::FileSystem& files_;
};

/// Who gives what stands at an address; throws for addresses that nobody knows.
ContentSource& content_source(Context& context, const std::string& uri);

}  // namespace bunraku::apply
