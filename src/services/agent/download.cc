// SPDX-License-Identifier: Apache-2.0
#include "services/agent/download.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>

#include "core/base/arena.h"
#include "core/value/rich_data.h"

namespace bunraku::agent {

using base::Result;

namespace {

struct Close {
    void operator()(std::FILE* f) const { std::fclose(f); }
};
using Temporary = std::unique_ptr<std::FILE, Close>;

/// A file without a name, which disappears with its reader.
class Downloaded final : public sys::Reader {
public:
    explicit Downloaded(Temporary file) : file_(std::move(file)) { std::rewind(file_.get()); }
    Result<std::size_t> read(std::span<char> into) override {
        const std::size_t n = std::fread(into.data(), 1, into.size(), file_.get());
        if (n == 0 && std::ferror(file_.get())) return base::failure("Could not read it", EIO);
        return n;
    }

private:
    Temporary file_;
};

}  // namespace

std::string refusal_text(const http::ClientResponse& answer) {
    std::string explanation = answer.body.substr(0, 64 * 1024);
    if (answer.headers.get("Content-Type").starts_with("application/json")) {
        base::Arena arena;
        const auto data = value::parse_json(arena, answer.body);
        if (data && data->is_hash()) {
            const auto* message = data->as_hash().find("message");
            if (message && message->is_string()) explanation = message->as_string();
        }
    }
    if (explanation.empty()) explanation = http::reason(answer.status);
    return fmt::format("Error {} on SERVER: {}", answer.status, explanation);
}

Result<std::unique_ptr<sys::Reader>> download(http::Client& client,
                                              const http::ClientRequest& request) {
    Temporary file(std::tmpfile());
    if (!file) return base::failure(std::strerror(errno), errno);
    int error = 0;
    auto answer = client.download(request, [&](std::string_view part) {
        if (std::fwrite(part.data(), 1, part.size(), file.get()) == part.size()) return true;
        error = errno;
        return false;
    });
    if (error != 0) return base::failure(std::strerror(error), error);
    if (!answer) return std::unexpected(std::move(answer).error());
    if (answer->status / 100 != 2) return base::failure(refusal_text(*answer), answer->status);
    if (std::fflush(file.get()) != 0) return base::failure(std::strerror(errno), errno);
    return std::make_unique<Downloaded>(std::move(file));
}

}  // namespace bunraku::agent
