// A local filebucket: file contents by their digest, with the paths they came from.
#pragma once

#include <string>
#include <string_view>

#include "apply/context.h"

namespace bunraku::apply {

class Bucket {
public:
    Bucket(Context& context, std::string name, std::string directory)
        : context_(context), name_(std::move(name)), directory_(std::move(directory)) {}
    const std::string& name() const { return name_; }
    /// Stores a file; gives its digest in hexadecimal. Throws where it cannot.
    std::string backup(const std::string& path);
    /// The content of a digest (of any kind); throws "File not found".
    std::string get(std::string_view digest);

private:
    std::string folder_of(std::string_view digest) const;
    Context& context_;
    std::string name_, directory_;
};

}  // namespace bunraku::apply
