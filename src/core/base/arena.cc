// SPDX-License-Identifier: Apache-2.0
#include "core/base/arena.h"

#include <algorithm>
#include <mutex>

#include "core/base/assert.h"
#include "core/base/work_limit.h"

namespace bunraku::base {

namespace {

constexpr std::size_t kLargestBlock = 1024 * 1024;

/// The largest blocks of destroyed arenas, which later arenas of any thread reuse. Fresh pages from
/// the system cost more than the work that a compile does with them. The whole process shares one
/// stock, because arenas take blocks a thousand times less often than memory from a block. Unused
/// under AddressSanitizer, so that it detects accesses to destroyed arenas.
#if defined(__has_feature)  // the form that clang has
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
/// Never destroyed, because arenas may outlive every other static object.
Spare& spare() {
    static auto* stock = new Spare();
    return *stock;
}

/// The size of a block is stored in front of its bytes.
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
            BUNRAKU_ASSERT(size_of(block) == kLargestBlock);
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
        BUNRAKU_ASSERT(stock.blocks.size() <= kMostSpares);
    }
    if (bytes_ <= kLargeWork) return;
    blocks_.clear();
    release_memory();
}

void* Arena::allocate_slow(std::size_t size, std::size_t align) {
    BUNRAKU_ASSERT(align != 0 && (align & (align - 1)) == 0);
    BUNRAKU_ASSERT(cursor_ <= end_);
    const std::size_t need = size + align;
    const std::size_t block = std::max(need, next_block_);
    if (block > most_ - std::min(bytes_, most_)) throw std::bad_alloc();
    next_block_ = std::min(next_block_ * 2, kLargestBlock);
    blocks_.push_back(make_block(block));
    bytes_ += block;
    BUNRAKU_ASSERT(bytes_ <= most_);
    BUNRAKU_ASSERT(size_of(blocks_.back()) == block);
    char* start = blocks_.back().get() + kHead;
    const auto at = (reinterpret_cast<std::uintptr_t>(start) + align - 1) & ~(align - 1);
    char* after = reinterpret_cast<char*>(at + size);
    BUNRAKU_ASSERT(at % align == 0 && after <= start + block);
    // A large request gets a separate block, and the current block stays in use.
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
