#!/bin/bash
# The functions of share/tarball/old_libc.c, which replace newer ones of the C library in portable
# packages, behave like those of this machine, and need only glibc 2.28.
. "${0%/*}/lib.sh"
for program in cc objdump; do
    command -v "$program" >/dev/null || { echo "skipped: $program is not installed"; exit 0; }
done
cd "$scratch" || exit 1
cat >test.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int failures;
#define CHECK(what) ((what) ? 0 : (++failures, printf("FAILED: %s\n", #what)))
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ready;

static void* signal_it(void* unused) {
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static struct timespec after(clockid_t clock, long seconds, long nanoseconds) {
    struct timespec out;
    clock_gettime(clock, &out);
    out.tv_sec += seconds;
    out.tv_nsec = nanoseconds;
    return out;
}

int main(void) {
    const clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC};
    for (int i = 0; i < 2; ++i) {
        // Both carries of the nanoseconds.
        struct timespec past = after(clocks[i], -5, i ? 0 : 999999999);
        pthread_mutex_lock(&mutex);
        CHECK(pthread_cond_clockwait(&condition, &mutex, clocks[i], &past) == ETIMEDOUT);
        past.tv_nsec = 999999999;
        CHECK(pthread_cond_clockwait(&condition, &mutex, clocks[i], &past) == ETIMEDOUT);
        ready = 0;
        pthread_t thread;
        pthread_create(&thread, NULL, signal_it, NULL);
        const struct timespec far = after(clocks[i], 3600, 0);
        while (!ready) CHECK(pthread_cond_clockwait(&condition, &mutex, clocks[i], &far) == 0);
        pthread_mutex_unlock(&mutex);
        pthread_join(thread, NULL);
    }
    pthread_mutex_lock(&mutex);
    const struct timespec any = {0};
    CHECK(pthread_cond_clockwait(&condition, &mutex, 12345, &any) == EINVAL);
    pthread_mutex_unlock(&mutex);

    // The functions of the C library itself.
    void* library = dlopen("libm.so.6", RTLD_NOW);
    double (*their_exp)(double) = (double (*)(double))dlsym(library, "exp");
    double (*their_log)(double) = (double (*)(double))dlsym(library, "log");
    double (*their_pow)(double, double) = (double (*)(double, double))dlsym(library, "pow");
    CHECK(their_exp != exp && their_log != log && their_pow != pow);
    volatile double values[] = {0, -0.0, 1, -1, 0.5, 2.5, 1e-300, 1e300, 709, 710, -745, INFINITY, -INFINITY, NAN};
    for (unsigned i = 0; i < sizeof values / sizeof *values; ++i) {
        double a = exp(values[i]), b = their_exp(values[i]);
        CHECK(memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b)));
        a = log(values[i]), b = their_log(values[i]);
        CHECK(memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b)));
        for (unsigned k = 0; k < sizeof values / sizeof *values; ++k) {
            a = pow(values[i], values[k]), b = their_pow(values[i], values[k]);
            CHECK(memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b)));
        }
    }
    return failures > 0;
}
C
cc -O2 -Wall -Wextra -Werror -c "$SOURCE/share/tarball/old_libc.c" -o old_libc.o || { echo 'FAILED: old_libc.c'; finish; }
cc -O2 -fno-builtin test.c old_libc.o -o test -lm -lpthread -ldl || { echo 'FAILED: test.c'; finish; }
./test || failures=$((failures + 1))
# Nothing is exported to libraries that the program opens, and the older functions are used.
symbols=$(objdump -T test)
lacks "$symbols" ' (Base|g +DF \.text).* (exp|log|pow|pthread_cond_clockwait|arc4random|_dl_find_object)$'
lacks "$symbols" 'UND.*GLIBC_2\.(29|30)\) +(exp|log|pow|pthread_cond_clockwait)$'
# shellcheck source=tools/package/portable.sh
. "$SOURCE/tools/package/portable.sh"
[ "$(newest_libc "$scratch/test" | sed 's/\..*//')" = 2 ] || { echo "FAILED: newest_libc: $(newest_libc "$scratch/test")"; failures=$((failures + 1)); }
finish
