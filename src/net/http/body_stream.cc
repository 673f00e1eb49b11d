// SPDX-License-Identifier: Apache-2.0
#include "net/http/body_stream.h"

#include <utility>

#include "core/base/assert.h"

namespace bunraku::http {

namespace {

/// Marks a response whose producer is a stream. The connection takes the stream instead of calling
/// it, so a response needs no member for this rare case.
struct StreamedBody {
    std::shared_ptr<BodyStream> stream;
    bool operator()(std::string&) const {
        BUNRAKU_ASSERT(false);
        return false;
    }
};

}  // namespace

void set_stream(Response& response, std::shared_ptr<BodyStream> stream) {
    BUNRAKU_ASSERT(stream);
    response.producer = StreamedBody{std::move(stream)};
}

std::shared_ptr<BodyStream> stream_of(const Response& response) {
    const auto* body = response.producer.target<StreamedBody>();
    return body ? body->stream : nullptr;
}

/// Called with the lock, so that detach() waits for the end of the call.
void BodyStream::wake_up() {
    if (const auto wake = std::exchange(wake_, nullptr)) wake();
}

bool BodyStream::push(std::string_view bytes) {
    const std::lock_guard lock(mutex_);
    if (finished_ || detached_ || overflow_) return false;
    if (bytes.empty()) return true;
    overflow_ = bytes.size() > limit_ - waiting_.size();
    if (!overflow_) waiting_ += bytes;
    wake_up();
    BUNRAKU_ASSERT(waiting_.size() <= limit_);
    return !overflow_;
}

void BodyStream::finish() {
    const std::lock_guard lock(mutex_);
    if (std::exchange(finished_, true) || detached_) return;
    wake_up();
}

bool BodyStream::ended() const {
    const std::lock_guard lock(mutex_);
    return finished_ || detached_ || overflow_;
}

std::size_t BodyStream::waiting() const {
    const std::lock_guard lock(mutex_);
    return waiting_.size();
}

BodyStream::Taken BodyStream::take(std::string& out, std::function<void()> wake) {
    BUNRAKU_ASSERT(out.empty());
    const std::lock_guard lock(mutex_);
    BUNRAKU_ASSERT(!detached_ && !wake_);
    if (overflow_) return Taken::Overflow;
    if (!waiting_.empty()) {
        out = std::exchange(waiting_, {});
        return Taken::Bytes;
    }
    if (finished_) return Taken::End;
    wake_ = std::move(wake);
    return Taken::Nothing;
}

void BodyStream::detach() {
    const std::lock_guard lock(mutex_);
    detached_ = true;
    wake_ = nullptr;
    waiting_ = {};
}

}  // namespace bunraku::http
