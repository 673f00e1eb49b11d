// SPDX-License-Identifier: Apache-2.0
// Each allocation of a submission fails in turn. The submitter must get an error, and the next
// submitter must be able to continue. This replaces the allocation operators of the whole program.
#include <atomic>
#include <cstdlib>
#include <future>
#include <new>
#include <thread>

#include "store/db/queue.h"
#include "support.h"

namespace {
/// Number of allocations of this thread until one fails; never if negative.
thread_local long left = -1;

void* take_memory(std::size_t size) {
    if (left >= 0 && left-- == 0) throw std::bad_alloc();
    if (void* out = std::malloc(size ? size : 1)) return out;
    throw std::bad_alloc();
}
}  // namespace

void* operator new(std::size_t size) { return take_memory(size); }
void* operator new[](std::size_t size) { return take_memory(size); }
// std::stable_sort uses this operator; the memory is freed like all other memory.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return std::malloc(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace bunraku::store {
namespace {

TEST(QueueMemory, NextSubmitterContinues) {
    TempFolder folder;
    QueueOptions options;
    options.folder = folder / "q";
    options.segment_bytes = 4096;
    options.durable = false;
    auto queue = Queue::open(options);
    ASSERT_TRUE(queue);
    const CommandHeader header{CommandKind::ReplaceFacts, 8, "a-name-that-is-longer-than-others",
                               1700000000000, 1700000000000};
    std::size_t failed = 0;
    for (long n = 0;; ++n) {
        bool through = false;
        std::string body(300, 'b');
        std::string late(300, 'l');
        left = n;
        try {
            auto id = (*queue)->add(header, std::move(body));
            left = -1;
            through = id.has_value();
            if (!through) {
                EXPECT_EQ(failure_of(id.error()), Failure::Unavailable);
            }
        } catch (const std::bad_alloc&) {
            left = -1;
        }
        // Uses another thread, so that a missed turn fails the test instead of blocking it.
        auto next = std::async(std::launch::async, [&, late = std::move(late)]() mutable {
            return (*queue)->add(header, std::move(late)).has_value();
        });
        ASSERT_EQ(next.wait_for(std::chrono::seconds(10)), std::future_status::ready)
            << "allocation " << n;
        ASSERT_TRUE(next.get()) << "allocation " << n;
        // Every returned command has a body, and finish() may fail too.
        for (const auto& command : (*queue)->take(100, std::chrono::milliseconds(0))) {
            EXPECT_TRUE((*queue)->body(command.id));
            left = n % 7;
            try {
                (*queue)->finish({command.id});
            } catch (const std::bad_alloc&) {
                left = -1;
                (*queue)->finish({command.id});
            }
            left = -1;
        }
        if (through) break;
        ++failed;
    }
    EXPECT_GT(failed, 5U);
    EXPECT_EQ((*queue)->figures().depth, 0U);
}

}  // namespace
}  // namespace bunraku::store
