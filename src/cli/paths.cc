#include "cli/paths.h"

namespace bunraku::cli {

std::vector<std::string> split_path(std::string_view text) {
    std::vector<std::string> out;
    while (!text.empty()) {
        const auto at = text.find(':');
        if (const auto part = text.substr(0, at); !part.empty()) out.emplace_back(part);
        text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
    }
    return out;
}

std::vector<std::string> split_list(std::string_view text) {
    std::vector<std::string> out;
    while (!text.empty()) {
        const auto comma = text.find(',');
        std::string_view part = text.substr(0, comma);
        while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
        while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
        if (!part.empty()) out.emplace_back(part);
        text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    }
    return out;
}

}  // namespace bunraku::cli
