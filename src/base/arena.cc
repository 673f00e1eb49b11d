#include "base/arena.h"

#include <algorithm>

namespace bunraku::base {

namespace {
constexpr std::size_t kLargestBlock = 1024 * 1024;
}

Arena::~Arena() {
    for (auto it = owned_.rbegin(); it != owned_.rend(); ++it) it->destroy(it->object);
}

void* Arena::allocate_slow(std::size_t size, std::size_t align) {
    const std::size_t need = size + align;
    const std::size_t block = std::max(need, next_block_);
    next_block_ = std::min(next_block_ * 2, kLargestBlock);
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(block));
    bytes_ += block;
    char* start = blocks_.back().get();
    const auto at = (reinterpret_cast<std::uintptr_t>(start) + align - 1) & ~(align - 1);
    char* after = reinterpret_cast<char*>(at + size);
    // A large request gets a block of its own; the current one stays in use.
    if (block == need && cursor_ != nullptr && static_cast<std::size_t>(end_ - cursor_) > 64) {
        return reinterpret_cast<void*>(at);
    }
    cursor_ = after;
    end_ = start + block;
    return reinterpret_cast<void*>(at);
}

std::string_view Arena::copy(std::string_view text) {
    char* p = static_cast<char*>(allocate(text.size() + 1, 1));
    if (!text.empty()) std::memcpy(p, text.data(), text.size());
    p[text.size()] = '\0';
    return {p, text.size()};
}

}  // namespace bunraku::base
