// The door to libarchive (tar and gzip), which is opened on first need. The functions are
// libarchive's own without "archive_"; its headers say what they do.
#pragma once

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>

#include "core/base/result.h"

namespace bunraku::codec {

#define BUNRAKU_LIBARCHIVE(X)          \
    X(error_string)                    \
    X(entry_clear)                     \
    X(entry_filetype)                  \
    X(entry_free)                      \
    X(entry_hardlink)                  \
    X(entry_new)                       \
    X(entry_pathname)                  \
    X(entry_pathname_utf8)             \
    X(entry_perm)                      \
    X(entry_set_filetype)              \
    X(entry_set_mtime)                 \
    X(entry_set_pathname)              \
    X(entry_set_perm)                  \
    X(entry_set_size)                  \
    X(entry_size)                      \
    X(entry_symlink)                   \
    X(read_data)                       \
    X(read_data_block)                 \
    X(read_free)                       \
    X(read_new)                        \
    X(read_next_header)                \
    X(read_open_filename)              \
    X(read_open_memory)                \
    X(read_set_options)                \
    X(read_support_filter_gzip)        \
    X(read_support_format_gnutar)      \
    X(read_support_format_tar)         \
    X(write_add_filter_gzip)           \
    X(write_close)                     \
    X(write_data)                      \
    X(write_free)                      \
    X(write_header)                    \
    X(write_new)                       \
    X(write_open)                      \
    X(write_open2)                     \
    X(write_set_bytes_in_last_block)   \
    X(write_set_filter_option)         \
    X(write_set_format_pax_restricted) \
    X(write_set_options)

struct LibArchive {
#define BUNRAKU_MEMBER(name) decltype(&::archive_##name) name = nullptr;
    BUNRAKU_LIBARCHIVE(BUNRAKU_MEMBER)
#undef BUNRAKU_MEMBER
};

/// Opens the library, once. Fails where it is not installed: "Reading and writing tar archives
/// needs the library libarchive.so.13: ...". Whatever uses libarchive() asks this first.
base::Result<void> load_libarchive();

/// Its functions; only after load_libarchive() went well.
const LibArchive& libarchive();

/// While it lives, libarchive takes this thread's file names for UTF-8: it asks the locale, and in
/// the "C" locale, which we run in, it cannot write any name that is not ASCII.
class Utf8Names {
public:
    Utf8Names();
    ~Utf8Names();
    Utf8Names(const Utf8Names&) = delete;
    Utf8Names& operator=(const Utf8Names&) = delete;

private:
    locale_t made_, before_;
};

}  // namespace bunraku::codec
