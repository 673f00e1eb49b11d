#include "ruby/share.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace bunraku::ruby {

std::vector<std::pair<std::string, std::string>> share_files(const std::string& folder) {
    std::vector<std::pair<std::string, std::string>> out;
    if (folder.empty()) {
        for (const auto& file : embedded_files())
            out.emplace_back("bunraku/" + std::string(file.name), file.text);
        return out;
    }
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
        if (entry.path().extension() != ".rb") continue;
        std::ifstream in(entry.path(), std::ios::binary);
        std::ostringstream text;
        text << in.rdbuf();
        out.emplace_back("bunraku/" + entry.path().filename().string(), text.str());
    }
    std::sort(out.begin(), out.end());
    return out;
}

}  // namespace bunraku::ruby
