// SPDX-License-Identifier: Apache-2.0
#include "resources/apply/types/augeas/libaugeas.h"

#include <cstdlib>
#include <dlfcn.h>
#include <fmt/format.h>
#include <mutex>

#include "core/base/plain_error.h"
#include "core/base/shared_library.h"

namespace bunraku::apply {

namespace {

struct augeas;

/// The functions in use, declared as in augeas.h, which requires libxml2's headers.
struct Functions {
    augeas* (*init)(const char* root, const char* load_path, unsigned flags);
    void (*close)(augeas*);
    int (*get)(const augeas*, const char* path, const char** value);
    int (*match)(const augeas*, const char* path, char*** matches);
    int (*set)(augeas*, const char* path, const char* value);
    int (*setm)(augeas*, const char* base, const char* sub, const char* value);
    int (*rm)(augeas*, const char* path);
    int (*insert)(augeas*, const char* path, const char* label, int before);
    int (*mv)(augeas*, const char* from, const char* to);
    int (*rename)(augeas*, const char* path, const char* label);
    int (*defvar)(augeas*, const char* name, const char* path);
    int (*defnode)(augeas*, const char* name, const char* path, const char* value, int* created);
    int (*load)(augeas*);
    int (*save)(augeas*);
};

/// The library of Debian and others, and that of Puppet's own packages, which has its own lenses.
constexpr const char* kFiles[] = {"libaugeas.so.0", "/opt/puppetlabs/puppet/lib/libaugeas.so.0"};

struct Opened {
    base::SharedLibrary library;
    Functions call{};

    explicit Opened(const char* file) : library(file, "The type augeas") {
        library.find("aug_init", call.init);
        library.find("aug_close", call.close);
        library.find("aug_get", call.get);
        library.find("aug_match", call.match);
        library.find("aug_set", call.set);
        library.find("aug_setm", call.setm);
        library.find("aug_rm", call.rm);
        library.find("aug_insert", call.insert);
        library.find("aug_mv", call.mv);
        library.find("aug_rename", call.rename);
        library.find("aug_defvar", call.defvar);
        library.find("aug_defnode", call.defnode);
        library.find("aug_load", call.load);
        library.find("aug_save", call.save);
    }
};

// Reports whether libaugeas gets its regular expression functions from the C library. Oniguruma
// exports functions with the same names, and libaugeas would crash with those. The link order of
// the program decides which are used.
bool has_own_expressions() {
    static const bool good = [] {
        void* const c = ::dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
        return c && ::dlsym(c, "re_compile_pattern") == ::dlsym(RTLD_DEFAULT, "re_compile_pattern");
    }();
    return good;
}

base::Result<const Functions*> functions() {
    static std::mutex one_at_a_time;
    static std::unique_ptr<Opened> opened;
    const std::lock_guard lock(one_at_a_time);
    if (opened) return &opened->call;
    if (!has_own_expressions()) {
        return base::failure(
            "The type augeas needs the regular expressions of the C library, but this program is "
            "linked so that other functions of the same names take precedence");
    }
    std::optional<base::Error> error;
    for (const char* file : kFiles) {
        auto next = std::make_unique<Opened>(file);
        if (const auto found = next->library.loaded(); found) {
            opened = std::move(next);
            return &opened->call;
        } else if (!error) {
            error = found.error();
        }
    }
    return std::unexpected(*error);
}

const Functions& use() {
    const auto found = functions();
    if (!found) throw base::plain_error(found.error().message);
    return **found;
}

const char* c_text(const std::string& text) {
    if (text.find('\0') != std::string::npos) throw base::plain_error("string contains null byte");
    return text.c_str();
}
const char* c_text(const std::optional<std::string>& text) {
    return text ? c_text(*text) : nullptr;
}

}  // namespace

struct AugeasTree::Handle {
    const Functions& call;
    augeas* tree;
};

base::Result<void> load_libaugeas() {
    const auto found = functions();
    if (!found) return std::unexpected(found.error());
    return {};
}

AugeasTree::AugeasTree(const std::string& root, const std::string& load_path, unsigned flags)
    : handle_(nullptr) {
    const Functions& call = use();
    augeas* const tree = call.init(c_text(root), c_text(load_path), flags);
    // Ruby's message for a system error without an error number.
    if (!tree) throw base::plain_error("unknown error - Failed to initialize Augeas");
    handle_ = new Handle{call, tree};
}

AugeasTree::~AugeasTree() {
    handle_->call.close(handle_->tree);
    delete handle_;
}

std::optional<std::string> AugeasTree::get(const std::string& path) const {
    const char* value = nullptr;
    if (handle_->call.get(handle_->tree, c_text(path), &value) != 1 || !value) return std::nullopt;
    return value;
}

std::vector<std::string> AugeasTree::match(const std::string& path) const {
    char** found = nullptr;
    const int count = handle_->call.match(handle_->tree, c_text(path), &found);
    if (count < 0) {
        throw base::plain_error(
            fmt::format("unknown error - Matching path expression '{}' failed", path));
    }
    std::vector<std::string> out;
    for (int i = 0; i < count; ++i) {
        out.emplace_back(found[i]);
        std::free(found[i]);
    }
    std::free(found);
    return out;
}

bool AugeasTree::set(const std::string& path, const std::optional<std::string>& value) {
    return handle_->call.set(handle_->tree, c_text(path), c_text(value)) == 0;
}
bool AugeasTree::set_all(const std::string& base, const std::string& sub,
                         const std::optional<std::string>& value) {
    return handle_->call.setm(handle_->tree, c_text(base), c_text(sub), c_text(value)) >= 0;
}
bool AugeasTree::remove(const std::string& path) {
    return handle_->call.rm(handle_->tree, c_text(path)) >= 0;
}
bool AugeasTree::insert(const std::string& path, const std::string& label, bool before) {
    return handle_->call.insert(handle_->tree, c_text(path), c_text(label), before ? 1 : 0) == 0;
}
bool AugeasTree::move(const std::string& from, const std::string& to) {
    return handle_->call.mv(handle_->tree, c_text(from), c_text(to)) == 0;
}
bool AugeasTree::rename(const std::string& path, const std::string& label) {
    return handle_->call.rename(handle_->tree, c_text(path), c_text(label)) >= 0;
}
bool AugeasTree::define(const std::string& name, const std::string& path) {
    return handle_->call.defvar(handle_->tree, c_text(name), c_text(path)) >= 0;
}
bool AugeasTree::define_node(const std::string& name, const std::string& path,
                             const std::string& value) {
    return handle_->call.defnode(handle_->tree, c_text(name), c_text(path), c_text(value),
                                 nullptr) >= 0;
}
bool AugeasTree::load() { return handle_->call.load(handle_->tree) == 0; }
bool AugeasTree::save() { return handle_->call.save(handle_->tree) == 0; }

}  // namespace bunraku::apply
