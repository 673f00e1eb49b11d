#include "cli/http_content.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>

#include "codec/base64.h"
#include "site/store_access.h"
#include "sys/clock.h"

namespace bunraku::cli {

using apply::ContentMetadata;
using base::Result;

namespace {

struct Close {
    void operator()(std::FILE* f) const { std::fclose(f); }
};
using Temporary = std::unique_ptr<std::FILE, Close>;

/// A file without a name: it is gone with its reader.
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

std::string hex_of(std::string_view bytes) {
    std::string out;
    for (const char c : bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
    return out;
}

}  // namespace

HttpContent::HttpContent(const config::Settings& settings, std::string user_agent,
                         std::function<bool()> stopped)
    : settings_(settings), user_agent_(std::move(user_agent)), stopped_(std::move(stopped)) {}

http::Client& HttpContent::client() {
    if (!client_) {
        auto options = site::tls_options(settings_, user_agent_);
        options.system_authorities = true;
        options.stopped = stopped_;
        client_ = std::make_unique<http::Client>(std::move(options));
    }
    return *client_;
}

Result<std::optional<HttpContent::Checksums>> HttpContent::ask(const std::string& uri) {
    if (const auto it = known_.find(uri); it != known_.end()) return it->second;
    http::ClientRequest request{.method = "HEAD", .url = uri};
    auto answer = BUNRAKU_TRY(client().send(request));
    if (answer.status == 403 || answer.status == 405) {
        request.method = "GET";
        request.headers.set("Range", "bytes=0-0");
        // Who does not know ranges sends all of it, and nothing of it is kept.
        answer = BUNRAKU_TRY(client().download(request, [](std::string_view) { return true; }));
    }
    if (answer.status / 100 != 2) return std::nullopt;
    Checksums found;
    if (const auto md5 = codec::base64_decode(answer.headers.get("Content-MD5"));
        md5 && !md5->empty())
        found["md5"] = "{md5}" + hex_of(*md5);
    for (const char* kind : {"md5", "sha1", "sha256"}) {
        const auto header = answer.headers.get(fmt::format("X-Checksum-{}", kind));
        if (!header.empty()) found[kind] = fmt::format("{{{}}}{}", kind, header);
    }
    const auto changed = http::parse_http_date(answer.headers.get("Last-Modified"));
    const auto ns = changed ? *changed * 1'000'000'000 : sys::make_real_clock()->now_ns();
    found["mtime"] = "{mtime}" + sys::local_text(ns);
    known_[uri] = found;
    return found;
}

Result<std::optional<ContentMetadata>> HttpContent::metadata(const std::string& uri,
                                                             const apply::ContentQuery& query) {
    auto found = BUNRAKU_TRY(ask(uri));
    if (!found) return std::nullopt;
    ContentMetadata out{.uri = uri, .relative = ".", .status = {}, .has_owner = false};
    out.status.kind = sys::FileKind::File;
    if (query.checksum.empty()) return out;
    for (const std::string& kind : {query.checksum, std::string("sha256"), std::string("sha1"),
                                    std::string("md5"), std::string("mtime")}) {
        if (const auto it = found->find(kind); it != found->end()) {
            out.checksum = it->second;
            break;
        }
    }
    return out;
}

Result<std::optional<std::vector<ContentMetadata>>> HttpContent::search(
    const std::string&, const apply::ContentSearch&) {
    return base::failure("cannot lookup multiple files");
}

Result<std::unique_ptr<sys::Reader>> HttpContent::open(const std::string& uri) {
    Temporary file(std::tmpfile());
    if (!file) return base::failure(std::strerror(errno), errno);
    int error = 0;
    auto answer = client().download({.url = uri}, [&](std::string_view part) {
        if (std::fwrite(part.data(), 1, part.size(), file.get()) == part.size()) return true;
        error = errno;
        return false;
    });
    if (error != 0) return base::failure(std::strerror(error), error);
    if (!answer) return std::unexpected(std::move(answer).error());
    if (answer->status / 100 != 2) {
        const std::string_view said = answer->body;
        return base::failure(
            fmt::format("Error {} on SERVER: {}", answer->status,
                        said.empty() ? http::reason(answer->status) : said.substr(0, 1000)));
    }
    if (std::fflush(file.get()) != 0) return base::failure(std::strerror(errno), errno);
    return std::make_unique<Downloaded>(std::move(file));
}

}  // namespace bunraku::cli
