#include "ruby/share.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

#include "sys/disk.h"

namespace bunraku::ruby {

std::vector<Part> share_files(const std::string& folder) {
    std::vector<Part> out;
    if (folder.empty()) {
        for (const auto& file : embedded_files())
            out.push_back({"bunraku/" + std::string(file.name), std::string(file.text),
                           std::string(file.digest)});
        return out;
    }
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
        if (entry.path().extension() != ".rb") continue;
        std::ifstream in(entry.path(), std::ios::binary);
        std::ostringstream text;
        text << in.rdbuf();
        out.push_back({"bunraku/" + entry.path().filename().string(), text.str(), {}});
    }
    std::ranges::sort(out, {}, &Part::name);
    return out;
}

std::string compiled_folder(const std::string& wanted) {
    if (wanted.empty()) return {};
    (void)sys::disk().make_directories(wanted, 0700);
    const auto status = sys::disk().lstat(wanted);
    const bool ours = status && status->kind == sys::FileKind::Directory &&
                      status->uid == ::geteuid() && (status->mode & 022) == 0;
    return ours ? wanted : std::string();
}

}  // namespace bunraku::ruby
