// Symbols that the static libraries of a newer C library need, if the program is linked with an
// older one (script/package --tarball).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

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
