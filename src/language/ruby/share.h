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
    std::string_view name;    ///< "0_boot.rb"
    std::string_view digest;  ///< of the text
    std::string_view text;
};
/// Made by tools/embed_ruby.cmake.
std::span<const ShareFile> embedded_files();

/// All of them as children are given them: a child that has them compiled reads no text.
struct Library {
    struct Part {
        std::string name;  ///< "bunraku/0_boot.rb"
        std::size_t offset = 0, size = 0;
        std::string digest;  ///< of the text; empty where it is not known
    };
    std::vector<Part> parts;  ///< in order of their names
    sys::Descriptor text;     ///< theirs, in memory, which nobody can change any more
};
/// Those that are built in, made once; of a folder where one is given. The first file, 0_boot.rb,
/// is run at once and runs those with a number; the others when they are first needed.
base::Result<std::shared_ptr<const Library>> share_files(const std::string& folder);

/// The folder in which children keep the parts compiled, made where it is not there; empty where it
/// cannot be had or others than this user may write there: what is read from it is run.
std::string compiled_folder(const std::string& wanted);

}  // namespace bunraku::ruby
