// Symbols that the static libraries of a newer C library need, if the program is linked with an
// older one (script/package --tarball).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

// glibc 2.29: variants of these functions that do not look at _LIB_VERSION. The older ones give the
// same results.
#ifdef __aarch64__
#define OLDEST "GLIBC_2.17"
#else
#define OLDEST "GLIBC_2.2.5"
#endif
#define OLDER(name) __asm__(".symver old_" #name "," #name "@" OLDEST)
double old_exp(double);
double old_log(double);
double old_pow(double, double);
OLDER(exp);
OLDER(log);
OLDER(pow);

// Libraries that the program opens later use those of their C library.
#pragma GCC visibility push(hidden)

double exp(double x) { return old_exp(x); }
double log(double x) { return old_log(x); }
double pow(double x, double y) { return old_pow(x, y); }

// glibc 2.30: waits until a time of any clock. The condition variables of libstdc++ have the real-time
// clock. If that clock is set meanwhile, the wait ends early or late; its callers measure again.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* until) {
    struct timespec now, real;
    if (clock == CLOCK_REALTIME) return pthread_cond_timedwait(condition, mutex, until);
    if (clock_gettime(clock, &now) != 0 || clock_gettime(CLOCK_REALTIME, &real) != 0) return EINVAL;
    real.tv_sec += until->tv_sec - now.tv_sec;
    real.tv_nsec += until->tv_nsec - now.tv_nsec;
    if (real.tv_nsec < 0) {
        real.tv_sec -= 1;
        real.tv_nsec += 1000000000;
    } else if (real.tv_nsec >= 1000000000) {
        real.tv_sec += 1;
        real.tv_nsec -= 1000000000;
    }
    return pthread_cond_timedwait(condition, mutex, &real);
}

// glibc 2.32: lets a process with a single thread omit locks. Always false here.
char __libc_single_threaded = 0;

// glibc 2.36.
void arc4random_buf(void* out, size_t size) {
    for (char* at = out; size;) {
        const ssize_t n = getrandom(at, size < 256 ? size : 256, 0);
        if (n <= 0) abort();
        at += n;
        size -= (size_t)n;
    }
}
uint32_t arc4random(void) {
    uint32_t out;
    arc4random_buf(&out, sizeof out);
    return out;
}

// glibc 2.35, for the unwinder of GCC 12: finds the object that contains an address, and its unwind
// table.
struct search {
    uintptr_t address;
    struct dl_find_object* out;
};

static int look(struct dl_phdr_info* info, size_t size, void* data) {
    (void)size;
    struct search* s = data;
    uintptr_t low = 0, high = 0;
    void* table = NULL;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)* p = &info->dlpi_phdr[i];
        const uintptr_t at = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_GNU_EH_FRAME) table = (void*)at;
        if (p->p_type == PT_LOAD && s->address >= at && s->address < at + p->p_memsz) {
            low = at;
            high = at + p->p_memsz;
        }
    }
    if (!high || !table) return 0;
    s->out->dlfo_flags = 0;
    s->out->dlfo_map_start = (void*)low;
    s->out->dlfo_map_end = (void*)high;
    s->out->dlfo_link_map = NULL;
    s->out->dlfo_eh_frame = table;
    return 1;
}

int _dl_find_object(void* address, struct dl_find_object* out) {
    struct search s = {(uintptr_t)address, out};
    return dl_iterate_phdr(look, &s) == 1 ? 0 : -1;
}
