#include "sys/wording.h"

#include <fmt/format.h>

namespace bunraku::sys {

std::string plain_text(const base::Error& error) {
    const std::string& text = error.message;
    const std::size_t at = text.find(" @ ");
    const std::size_t path = at == std::string::npos ? at : text.find(" - ", at);
    if (path == std::string::npos) return text;
    return text.substr(path + 3) + ": " + text.substr(0, at);
}

std::string seconds_text(double seconds) {
    return seconds > 0 && seconds < 0.005 ? fmt::format("{:.4f}", seconds)
                                          : fmt::format("{:.2f}", seconds);
}

}  // namespace bunraku::sys
