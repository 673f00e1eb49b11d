// What checks jumps takes one to another stack for a mistake.
#undef _FORTIFY_SOURCE
#include "core/sys/fiber.h"

#include <csetjmp>
#include <cstdint>
#include <cstring>
#include <cxxabi.h>
#include <new>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <utility>

// The sanitizers must be told on which stack the thread is.
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

/// What the C++ library keeps of exceptions a thread: each stack has its own.
struct Exceptions {
    void* caught = nullptr;
    unsigned int uncaught = 0;
};

void exchange(Exceptions& with) {
    auto* now = reinterpret_cast<Exceptions*>(abi::__cxa_get_globals());
    std::swap(now->caught, with.caught);
    std::swap(now->uncaught, with.uncaught);
}

}  // namespace

#if defined(BUNRAKU_ASAN) || defined(BUNRAKU_TSAN)
/// A place to go on from.
class Place {
public:
    ucontext_t& beginning() { return context_; }
    void go(Place& to) { ::swapcontext(&context_, &to.context_); }

private:
    ucontext_t context_{};
};
#else
/// A place to go on from. Only the first way to it is swapcontext's, which asks the kernel for the
/// signals each time: of a simulation that would be a quarter.
class Place {
public:
    ucontext_t& beginning() { return context_; }
    void go(Place& to) {
        if (::_setjmp(left_) != 0) return;
        if (std::exchange(to.begun_, true)) ::_longjmp(to.left_, 1);
        begun_ = true;
        ::swapcontext(&context_, &to.context_);
    }

private:
    ucontext_t context_{};
    ::jmp_buf left_{};
    bool begun_ = false;
};
#endif

struct Fiber::Impl {
    std::move_only_function<void()> body;
    Place inside, outside;
    void* memory = nullptr;  ///< a page that nobody may touch, then the stack
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

    char* stack() const { return static_cast<char*>(memory) + page; }
    /// One body after the other, each on the same stack.
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
        inside.go(outside);
        arrived_inside();
    }
};

Fiber::Fiber(std::size_t stack_bytes) : impl_(std::make_unique<Impl>()) {
    impl_->page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    impl_->size = (stack_bytes + impl_->page - 1) / impl_->page * impl_->page;
    impl_->memory = ::mmap(nullptr, impl_->size + impl_->page, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (impl_->memory == MAP_FAILED) throw std::bad_alloc();
    ::mprotect(impl_->memory, impl_->page, PROT_NONE);
    Impl& f = *impl_;
    ucontext_t& inside = f.inside.beginning();
    ::getcontext(&inside);
    inside.uc_stack.ss_sp = f.stack();
    inside.uc_stack.ss_size = f.size;
    inside.uc_link = nullptr;
    // makecontext() hands on ints.
    auto address = reinterpret_cast<std::uint64_t>(&f);
    auto entry = +[](unsigned int high, unsigned int low) {
        reinterpret_cast<Impl*>((static_cast<std::uint64_t>(high) << 32) | low)->run();
    };
    ::makecontext(&inside, reinterpret_cast<void (*)()>(entry), 2,
                  static_cast<unsigned int>(address >> 32), static_cast<unsigned int>(address));
#ifdef BUNRAKU_TSAN
    impl_->tsan_inside = __tsan_create_fiber(0);
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
    f.outside.go(f.inside);
#ifdef BUNRAKU_ASAN
    __sanitizer_finish_switch_fiber(f.fake_outside, nullptr, nullptr);
#endif
    exchange(f.exceptions);
}

void Fiber::leave() { impl_->go_outside(); }

bool Fiber::ended() const { return impl_->ended; }

}  // namespace bunraku::sys
