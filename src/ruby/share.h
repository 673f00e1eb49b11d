// The Ruby side of the plugin host, share/ruby, as it is built into the binary.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bunraku::ruby {

struct ShareFile {
    std::string_view name;    ///< "0_boot.rb"
    std::string_view digest;  ///< of the text
    std::string_view text;
};
/// Made by tools/embed_ruby.cmake.
std::span<const ShareFile> embedded_files();

/// One of them as a child is given it.
struct Part {
    std::string name;  ///< "bunraku/0_boot.rb"
    std::string text;
    std::string digest;  ///< of the text; empty where it is not known
};
/// What a child is given, in order of their names; of a folder where one is given. The first file,
/// 0_boot.rb, is run at once and runs those with a number; the others when they are first needed.
std::vector<Part> share_files(const std::string& folder);

/// The folder in which children keep the parts compiled, made where it is not there; empty where it
/// cannot be had or others than this user may write there: what is read from it is run.
std::string compiled_folder(const std::string& wanted);

}  // namespace bunraku::ruby
