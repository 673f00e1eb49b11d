// The Ruby side of the plugin host, share/ruby, as it is built into the binary.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bunraku::ruby {

struct ShareFile {
    std::string_view name;  ///< "0_host.rb"
    std::string_view text;
};
/// Made by tools/embed_ruby.cmake.
std::span<const ShareFile> embedded_files();

/// What a child is given: (name, text) in order of their names; of a folder where one is given.
/// The first file, 0_*.rb, is run at once; the others when they are first needed.
std::vector<std::pair<std::string, std::string>> share_files(const std::string& folder);

}  // namespace bunraku::ruby
