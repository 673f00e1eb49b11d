// SPDX-License-Identifier: Apache-2.0
// The base protocol of LSP: messages with a header that contains their length.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace bunraku::lsp {

/// Splits a stream of bytes into messages.
class FrameReader {
public:
    /// Largest content of a message, and largest header, in bytes. A larger message ends the
    /// stream, because its end cannot be found without reading it.
    static constexpr std::size_t kMaxContent = std::size_t{64} << 20;
    static constexpr std::size_t kMaxHeader = 4096;

    void append(std::string_view bytes) { buffer_ += bytes; }
    /// Returns the content of the next complete message, or nullopt if more bytes are needed. The
    /// error describes a header that is invalid; the stream cannot be read any further.
    base::Result<std::optional<std::string>> next();

private:
    void drop_consumed();
    std::string buffer_;
    std::size_t at_ = 0;
};

/// Returns the message with its header.
std::string framed(std::string_view content);

}  // namespace bunraku::lsp
