// SPDX-License-Identifier: Apache-2.0
#include "services/lsp/framing.h"

#include <charconv>
#include <fmt/format.h>

#include "core/base/text.h"

namespace bunraku::lsp {

namespace {

/// Returns the value of Content-Length in a header. Other fields have no effect, as the only
/// permitted charset is UTF-8.
base::Result<std::size_t> content_length(std::string_view header) {
    std::optional<std::size_t> found;
    for (std::string_view line : base::split(header, '\n')) {
        line = base::trim(line);
        if (line.empty()) continue;
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos)
            return base::failure(fmt::format("Invalid header line '{}'", line.substr(0, 80)));
        if (!base::same_ignoring_case(base::trim(line.substr(0, colon)), "content-length"))
            continue;
        const std::string_view digits = base::trim(line.substr(colon + 1));
        std::size_t value = 0;
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (error != std::errc() || end != digits.data() + digits.size())
            return base::failure(fmt::format("Invalid Content-Length '{}'", digits.substr(0, 80)));
        found = value;
    }
    if (!found) return base::failure("A message has no Content-Length");
    if (*found > FrameReader::kMaxContent) {
        return base::failure(fmt::format("A message of {} bytes exceeds the limit of {} bytes",
                                         *found, FrameReader::kMaxContent));
    }
    return *found;
}

}  // namespace

void FrameReader::drop_consumed() {
    if (at_ == buffer_.size() || at_ > (std::size_t{1} << 20)) {
        buffer_.erase(0, at_);
        at_ = 0;
    }
}

base::Result<std::optional<std::string>> FrameReader::next() {
    const std::string_view rest = std::string_view(buffer_).substr(at_);
    constexpr std::string_view kEnd = "\r\n\r\n";
    const std::size_t end = rest.substr(0, kMaxHeader).find(kEnd);
    if (end == std::string_view::npos) {
        if (rest.size() >= kMaxHeader)
            return base::failure(fmt::format("A header exceeds {} bytes", kMaxHeader));
        return std::nullopt;
    }
    const std::size_t length = BUNRAKU_TRY(content_length(rest.substr(0, end)));
    const std::size_t begin = end + kEnd.size();
    if (rest.size() - begin < length) return std::nullopt;
    std::string content(rest.substr(begin, length));
    at_ += begin + length;
    drop_consumed();
    return content;
}

std::string framed(std::string_view content) {
    return fmt::format("Content-Length: {}\r\n\r\n{}", content.size(), content);
}

}  // namespace bunraku::lsp
