// The Ruby side of the plugin host, share/ruby, as it is built into the binary.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/sys/descriptor.h"

namespace bunraku::ruby {

struct ShareFile {
    std::string_view name;    ///< "boot.rb"
    std::string_view digest;  ///< of the text
    std::string_view text;
};
/// Made by tools/embed_ruby.cmake.
std::span<const ShareFile> embedded_files();

/// All of them as children are given them: a child that has them compiled reads no text.
struct Library {
    struct Part {
        std::string name;  ///< "bunraku/boot.rb"
        std::size_t offset = 0, size = 0;
        std::string digest;  ///< of the text; empty where it is not known
    };
    std::vector<Part> parts;  ///< boot.rb first
    sys::Descriptor text;     ///< theirs, in memory, which nobody can change any more
};
/// Returns the files that are built in, or those of `folder` if it is not empty. boot.rb is the
/// first part: a child evaluates it, and it loads the others.
base::Result<std::shared_ptr<const Library>> share_files(const std::string& folder);

/// The folder in which children keep the parts compiled, made where it is not there; empty where it
/// cannot be had or others than this user may write there: what is read from it is run.
std::string compiled_folder(const std::string& wanted);

}  // namespace bunraku::ruby
