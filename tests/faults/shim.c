// Makes the N-th system call of a process fail. A preload library for tests/faults/run.
//   FAULT_CALLS=FILE   lists every call that can be made to fail ("NAME PATH-or-DESCRIPTOR" a line)
//   FAULT_AT=N         the N-th of them (from 1) fails with FAULT_ERRNO: a number, or "short"
//                      to read or write only one byte
// Child processes are not affected.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static int active, list = -1, is_short;
static long at, count;
static int error_number;

__attribute__((constructor)) static void begin(void) {
    const char *owner = getenv("FAULT_OWNER");
    if (owner) return;
    char own[32];
    snprintf(own, sizeof own, "%ld", (long)getpid());
    setenv("FAULT_OWNER", own, 1);
    const char *calls = getenv("FAULT_CALLS"), *n = getenv("FAULT_AT"), *e = getenv("FAULT_ERRNO");
    if (calls) list = (int)syscall(SYS_openat, AT_FDCWD, calls, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (n) at = atol(n);
    if (e) {
        is_short = strcmp(e, "short") == 0;
        error_number = atoi(e);
    }
    active = calls || at > 0;
}

// Returns 1 if the call must fail, and 2 if it must transfer one byte.
static int hit(const char *name, const char *what, int fd) {
    if (!active) return 0;
    char own[32];
    snprintf(own, sizeof own, "%ld", (long)syscall(SYS_getpid));
    const char *owner = getenv("FAULT_OWNER");
    if (!owner || strcmp(owner, own) != 0) return 0;
    long n = __sync_add_and_fetch(&count, 1);
    if (list >= 0) {
        char line[600];
        int size = what ? snprintf(line, sizeof line, "%s %s\n", name, what)
                        : snprintf(line, sizeof line, "%s #%d\n", name, fd);
        if (size > (int)sizeof line) size = sizeof line;
        syscall(SYS_write, list, line, (size_t)size);
    }
    if (n != at) return 0;
    if (is_short) return 2;
    errno = error_number;
    return 1;
}

#define REAL(name) \
    static __typeof__(&name) real; \
    if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

#define OPENS(name) \
    int name(const char *path, int flags, ...) { \
        REAL(name); \
        va_list list_; va_start(list_, flags); mode_t mode = va_arg(list_, mode_t); va_end(list_); \
        return hit(flags & (O_CREAT | O_TRUNC) ? "create" : "open", path, -1) == 1 ? -1 : real(path, flags, mode); \
    }
#define OPENS_AT(name) \
    int name(int dir, const char *path, int flags, ...) { \
        REAL(name); \
        va_list list_; va_start(list_, flags); mode_t mode = va_arg(list_, mode_t); va_end(list_); \
        return hit(flags & (O_CREAT | O_TRUNC) ? "create" : "open", path, -1) == 1 ? -1 : real(dir, path, flags, mode); \
    }
OPENS(open)
OPENS(open64)
OPENS_AT(openat)
OPENS_AT(openat64)

#define PATH(result, fails, name, parameters, path, ...) \
    result name parameters { \
        REAL(name); \
        return hit(#name, path, -1) == 1 ? fails : real(__VA_ARGS__); \
    }
#define HANDLE(result, name, parameters, fd, ...) \
    result name parameters { \
        REAL(name); \
        return hit(#name, NULL, fd) == 1 ? -1 : real(__VA_ARGS__); \
    }
#define SIZED(result, name, parameters, fd, size, ...) \
    result name parameters { \
        REAL(name); \
        switch (hit(#name, NULL, fd)) { \
            case 1: return -1; \
            case 2: size = size > 1 ? 1 : size; \
        } \
        return real(__VA_ARGS__); \
    }
SIZED(ssize_t, read, (int fd, void *to, size_t size), fd, size, fd, to, size)
SIZED(ssize_t, pread64, (int fd, void *to, size_t size, off64_t from), fd, size, fd, to, size, from)
SIZED(ssize_t, write, (int fd, const void *from, size_t size), fd, size, fd, from, size)
HANDLE(int, fsync, (int fd), fd, fd)
HANDLE(int, fdatasync, (int fd), fd, fd)
HANDLE(int, fchmod, (int fd, mode_t mode), fd, fd, mode)
HANDLE(int, fchown, (int fd, uid_t u, gid_t g), fd, fd, u, g)
HANDLE(int, ftruncate, (int fd, off_t size), fd, fd, size)
HANDLE(int, futimens, (int fd, const struct timespec t[2]), fd, fd, t)
HANDLE(int, fstat, (int fd, struct stat *s), fd, fd, s)
HANDLE(int, flock, (int fd, int how), fd, fd, how)
PATH(int, -1, rename, (const char *from, const char *to), to, from, to)
PATH(int, -1, renameat, (int a, const char *from, int b, const char *to), to, a, from, b, to)
PATH(int, -1, renameat2, (int a, const char *from, int b, const char *to, unsigned f), to, a, from, b, to, f)
PATH(int, -1, link, (const char *from, const char *to), to, from, to)
PATH(int, -1, symlink, (const char *from, const char *to), to, from, to)
PATH(int, -1, symlinkat, (const char *from, int b, const char *to), to, from, b, to)
PATH(int, -1, unlink, (const char *path), path, path)
PATH(int, -1, unlinkat, (int dir, const char *path, int flags), path, dir, path, flags)
PATH(int, -1, rmdir, (const char *path), path, path)
PATH(int, -1, mkdir, (const char *path, mode_t mode), path, path, mode)
PATH(int, -1, mkdirat, (int dir, const char *path, mode_t mode), path, dir, path, mode)
PATH(int, -1, chmod, (const char *path, mode_t mode), path, path, mode)
PATH(int, -1, fchmodat, (int dir, const char *path, mode_t mode, int flags), path, dir, path, mode, flags)
PATH(int, -1, chown, (const char *path, uid_t u, gid_t g), path, path, u, g)
PATH(int, -1, lchown, (const char *path, uid_t u, gid_t g), path, path, u, g)
PATH(int, -1, fchownat, (int dir, const char *path, uid_t u, gid_t g, int flags), path, dir, path, u, g, flags)
PATH(int, -1, utimensat, (int dir, const char *path, const struct timespec t[2], int flags), path, dir, path, t, flags)
PATH(int, -1, stat, (const char *path, struct stat *s), path, path, s)
PATH(int, -1, lstat, (const char *path, struct stat *s), path, path, s)
PATH(int, -1, fstatat, (int dir, const char *path, struct stat *s, int flags), path, dir, path, s, flags)
PATH(int, -1, statx, (int dir, const char *path, int flags, unsigned mask, struct statx *s), path, dir, path, flags, mask, s)
PATH(ssize_t, -1, readlink, (const char *path, char *to, size_t size), path, path, to, size)
PATH(ssize_t, -1, readlinkat, (int dir, const char *path, char *to, size_t size), path, dir, path, to, size)
PATH(int, -1, access, (const char *path, int how), path, path, how)
PATH(DIR *, NULL, opendir, (const char *path), path, path)
PATH(int, -1, mkstemp, (char *path), path, path)
PATH(int, -1, mkostemp, (char *path, int flags), path, path, flags)
PATH(char *, NULL, mkdtemp, (char *path), path, path)
PATH(char *, NULL, realpath, (const char *restrict path, char *restrict to), path, path, to)
PATH(FILE *, NULL, fopen, (const char *restrict path, const char *restrict how), path, path, how)
PATH(FILE *, NULL, fopen64, (const char *restrict path, const char *restrict how), path, path, how)

int pipe2(int to[2], int flags) {
    REAL(pipe2);
    return hit("pipe2", NULL, -1) == 1 ? -1 : real(to, flags);
}
pid_t fork(void) {
    REAL(fork);
    return hit("fork", NULL, -1) == 1 ? -1 : real();
}
int clone(int (*begin_)(void *), void *stack, int flags, void *argument, ...) {
    REAL(clone);
    return hit("fork", NULL, -1) == 1 ? -1 : real(begin_, stack, flags, argument);
}
