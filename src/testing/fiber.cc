// SPDX-License-Identifier: Apache-2.0
#include "testing/fiber.h"

#include <boost/context/fiber.hpp>
#include <cxxabi.h>
#include <memory>
#include <new>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

// The sanitizers need notice of the stack that a thread uses.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BUNRAKU_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define BUNRAKU_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define BUNRAKU_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define BUNRAKU_TSAN 1
#endif

#ifdef BUNRAKU_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef BUNRAKU_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace bunraku::sys {

namespace {

/// The C++ library's exception state of a thread. Each stack has its own.
struct Exceptions {
    void* caught = nullptr;
    unsigned int uncaught = 0;
};

void exchange(Exceptions& with) {
    auto* now = reinterpret_cast<Exceptions*>(abi::__cxa_get_globals());
    std::swap(now->caught, with.caught);
    std::swap(now->uncaught, with.uncaught);
}

/// Leaves the stack to the Fiber, which unmaps it.
struct BorrowedStack {
    static boost::context::stack_context allocate() { return {}; }
    static void deallocate(boost::context::stack_context&) {}
};

}  // namespace

struct Fiber::Impl {
    std::move_only_function<void()> body;
    boost::context::fiber outside;
    /// Not destroyed: Boost would unwind the stack of a body that has not ended, and the body could
    /// catch that exception.
    union {
        boost::context::fiber inside;
    };
    void* memory = nullptr;  ///< an inaccessible guard page, then the stack
    std::size_t size = 0, page = 0;
    Exceptions exceptions;
    bool ended = true;
#ifdef BUNRAKU_ASAN
    void *fake_inside = nullptr, *fake_outside = nullptr;
    const void* outer_stack = nullptr;
    std::size_t outer_size = 0;
#endif
#ifdef BUNRAKU_TSAN
    void *tsan_inside = nullptr, *tsan_outside = nullptr;
#endif

    Impl() {}
    ~Impl() {}

    char* stack() const { return static_cast<char*>(memory) + page; }
    /// Runs one body after the other on the same stack.
    [[noreturn]] void run() {
        arrived_inside();
        for (;;) {
            body();
            body = nullptr;
            ended = true;
            go_outside();
        }
    }
    void arrived_inside() {
#ifdef BUNRAKU_ASAN
        __sanitizer_finish_switch_fiber(fake_inside, &outer_stack, &outer_size);
#endif
    }
    void go_outside() {
#ifdef BUNRAKU_ASAN
        __sanitizer_start_switch_fiber(&fake_inside, outer_stack, outer_size);
#endif
#ifdef BUNRAKU_TSAN
        __tsan_switch_to_fiber(tsan_outside, 0);
#endif
        outside = std::move(outside).resume();
        arrived_inside();
    }
};

Fiber::Fiber(std::size_t stack_bytes) : impl_(std::make_unique<Impl>()) {
    Impl& f = *impl_;
    f.page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    f.size = (stack_bytes + f.page - 1) / f.page * f.page;
    f.memory = ::mmap(nullptr, f.size + f.page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (f.memory == MAP_FAILED) throw std::bad_alloc();
    ::mprotect(f.memory, f.page, PROT_NONE);
    boost::context::stack_context stack;
    stack.sp = f.stack() + f.size;
    stack.size = f.size;
    const boost::context::preallocated whole(stack.sp, stack.size, stack);
    ::new (&f.inside) boost::context::fiber(std::allocator_arg, whole, BorrowedStack{},
                                            [&f](boost::context::fiber&& outside) {
                                                f.outside = std::move(outside);
                                                f.run();
                                                return boost::context::fiber();
                                            });
#ifdef BUNRAKU_TSAN
    f.tsan_inside = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() {
#ifdef BUNRAKU_TSAN
    __tsan_destroy_fiber(impl_->tsan_inside);
#endif
    ::munmap(impl_->memory, impl_->size + impl_->page);
}

void Fiber::begin(std::move_only_function<void()> body) {
    impl_->body = std::move(body);
    impl_->ended = false;
    impl_->exceptions = {};
}

void Fiber::enter() {
    Impl& f = *impl_;
    exchange(f.exceptions);
#ifdef BUNRAKU_ASAN
    __sanitizer_start_switch_fiber(&f.fake_outside, f.stack(), f.size);
#endif
#ifdef BUNRAKU_TSAN
    f.tsan_outside = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(f.tsan_inside, 0);
#endif
    f.inside = std::move(f.inside).resume();
#ifdef BUNRAKU_ASAN
    __sanitizer_finish_switch_fiber(f.fake_outside, nullptr, nullptr);
#endif
    exchange(f.exceptions);
}

void Fiber::leave() { impl_->go_outside(); }

bool Fiber::ended() const { return impl_->ended; }

}  // namespace bunraku::sys
