// Archives and temporary folders for the tests of modules and of the forge.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <unistd.h>
#include <vector>

#include "net/http/message.h"

namespace bunraku::module::test {

/// An entry of a tar archive; `type` as in ustar: '0' file, '5' folder, '2' link, '1' hard link.
struct Entry {
    std::string path, content;
    char type = '0';
    std::string link;
};

inline std::string tar(const std::vector<Entry>& entries) {
    std::string out;
    for (const Entry& e : entries) {
        char head[512] = {};
        std::memcpy(head, e.path.data(), std::min<std::size_t>(e.path.size(), 99));
        std::snprintf(head + 100, 8, "%07o", e.type == '5' ? 0755U : 0644U);
        std::snprintf(head + 108, 8, "%07o", 0U);
        std::snprintf(head + 116, 8, "%07o", 0U);
        std::snprintf(head + 124, 12, "%011lo", static_cast<unsigned long>(e.content.size()));
        std::snprintf(head + 136, 12, "%011lo", 1500000000UL);
        std::memset(head + 148, ' ', 8);
        head[156] = e.type;
        std::memcpy(head + 157, e.link.data(), std::min<std::size_t>(e.link.size(), 99));
        std::memcpy(head + 257, "ustar\00000", 8);
        unsigned sum = 0;
        for (char c : head) sum += static_cast<unsigned char>(c);
        std::snprintf(head + 148, 8, "%06o", sum);
        out.append(head, 512);
        out += e.content;
        out.append((512 - e.content.size() % 512) % 512, '\0');
    }
    return out.append(1024, '\0');
}

inline std::string metadata(const std::string& name, const std::string& version,
                            const std::string& dependencies = "[]", const std::string& more = "") {
    return fmt::format(
        R"({{"name":"{}","version":"{}","author":"a","summary":"Makes {} work","license":"MIT",)"
        R"("source":"","dependencies":{}{}}})",
        name, version, name, dependencies, more);
}

/// Returns a valid release; `dependencies` is JSON.
inline std::string release(const std::string& name, const std::string& version,
                           const std::string& dependencies = "[]", const std::string& more = "") {
    const std::string top = name + "-" + version;
    return http::gzip(tar({{top + "/", "", '5'},
                           {top + "/metadata.json", metadata(name, version, dependencies, more)},
                           {top + "/README.md", "# " + top + "\n"},
                           {top + "/tasks/init.json", R"({"description":"Say hello"})"},
                           {top + "/tasks/init.sh", "#!/bin/sh\n"},
                           {top + "/plans/init.pp", "# Do it\n# @param x What\nplan x($x) {}\n"}}));
}

/// A temporary folder; the destructor removes it.
class Scratch {
public:
    Scratch() {
        std::string name = std::filesystem::temp_directory_path().string() + "/bunraku-XXXXXX";
        path = ::mkdtemp(name.data());
    }
    ~Scratch() { std::filesystem::remove_all(path); }
    std::string path;
};

}  // namespace bunraku::module::test
