#include "core/base/arena.h"

#include <algorithm>
#include <mutex>

#include "core/base/work_limit.h"

namespace bunraku::base {

namespace {

constexpr std::size_t kLargestBlock = 1024 * 1024;

/// The largest blocks of dead arenas, kept for the next ones of any thread: fresh pages from the
/// system cost more than what a compile does with them. One stock for the process, however many
/// threads it has; a block is taken a thousand times more rarely than memory out of it. (Not under
/// AddressSanitizer, which is to see what reaches into a dead arena.)
#if defined(__has_feature)  // clang's way to say so
#if __has_feature(address_sanitizer)
#define BUNRAKU_WATCHED
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define BUNRAKU_WATCHED
#endif
#ifdef BUNRAKU_WATCHED
constexpr std::size_t kMostSpares = 0;
#else
constexpr std::size_t kMostSpares = 16;
#endif
struct Spare {
    std::mutex mutex;
    std::vector<std::unique_ptr<char[]>> blocks;
};
/// Never destroyed: arenas may die after everything else.
Spare& spare() {
    static auto* stock = new Spare();
    return *stock;
}

/// A block's size stands in front of its bytes.
constexpr std::size_t kHead = alignof(std::max_align_t);

std::size_t size_of(const std::unique_ptr<char[]>& block) {
    std::size_t size = 0;
    std::memcpy(&size, block.get(), sizeof size);
    return size;
}

std::unique_ptr<char[]> make_block(std::size_t size) {
    if (size == kLargestBlock) {
        Spare& stock = spare();
        const std::lock_guard lock(stock.mutex);
        if (!stock.blocks.empty()) {
            auto block = std::move(stock.blocks.back());
            stock.blocks.pop_back();
            return block;
        }
    }
    auto block = std::make_unique_for_overwrite<char[]>(kHead + size);
    std::memcpy(block.get(), &size, sizeof size);
    return block;
}

}  // namespace

Arena::~Arena() {
    for (auto it = owned_.rbegin(); it != owned_.rend(); ++it) it->destroy(it->object);
    for (auto& block : blocks_) {
        if (size_of(block) != kLargestBlock) continue;
        Spare& stock = spare();
        const std::lock_guard lock(stock.mutex);
        if (stock.blocks.size() >= kMostSpares) break;
        stock.blocks.push_back(std::move(block));
    }
    if (bytes_ <= kLargeWork) return;
    blocks_.clear();
    release_memory();
}

void* Arena::allocate_slow(std::size_t size, std::size_t align) {
    const std::size_t need = size + align;
    const std::size_t block = std::max(need, next_block_);
    if (block > most_ - std::min(bytes_, most_)) throw std::bad_alloc();
    next_block_ = std::min(next_block_ * 2, kLargestBlock);
    blocks_.push_back(make_block(block));
    bytes_ += block;
    char* start = blocks_.back().get() + kHead;
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
