// SPDX-License-Identifier: Apache-2.0
// The record of everything that a compile read from outside. Every distinct read of an
// environment's compiles has an id, and the trace of a compile is the set of its ids. Unchanged
// reads mean the same catalog (docs/design/0054).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/arena.h"
#include "language/environment/id_set.h"

namespace bunraku::environment {

/// The kinds of reads. An absence is an answer like any other.
enum class Read : std::uint8_t {
    File,        ///< Content of a file.
    Exists,      ///< Whether a path exists, and whether it is a folder.
    Folder,      ///< Names in a folder.
    Glob,        ///< Paths that a pattern matches.
    Names,       ///< Names of a manifest's definitions, and its code outside of definitions.
    Definition,  ///< Text of one definition of a manifest; detail: "class a::b".
    Data,        ///< Root key of a Hiera data file; detail: the key.
    Fact,        ///< Dotted path, such as "os.family"; "" means all facts.
    Trusted,     ///< Dotted path in $trusted.
    ServerFact,  ///< Dotted path in $server_facts.
    Parameter,   ///< Parameter of the node from the classifier or the caller; "" means all.
    Setting,     ///< Value of a setting.
    Variable,    ///< Environment variable; "*" means all of them.
    Command,     ///< Output of a program.
    Query,       ///< Result of a query to the store.
    Export,      ///< Resources of a type that other nodes export and a query selects.
    Clock,
    Random,
    Host,    ///< Name service or network.
    Opaque,  ///< Read that cannot be tracked; the name is the reason.
};

/// Returns the name that `compile --inputs` uses: "file", "exists", and so on.
std::string_view read_name(Read kind);
/// Returns the kind with that name; Opaque if there is none.
Read read_kind(std::string_view name);

using ReadId = std::uint32_t;

/// The ids of reads. Thread-safe. The table only grows and outlives the snapshots of its
/// environment.
class ReadTable {
public:
    ReadTable();
    ReadTable(const ReadTable&) = delete;
    ReadTable& operator=(const ReadTable&) = delete;

    struct Item {
        Read kind = Read::Opaque;
        std::string_view name;
        std::string_view detail;
    };
    ReadId id(Read kind, std::string_view name, std::string_view detail = {});
    /// Returns one id for a group of reads that always occur together, such as a lookup in every
    /// module.
    ReadId together(std::vector<ReadId> ids);
    /// Returns the read with that id, whose texts live as long as the table. Returns an empty item
    /// for the id of a group.
    Item item(ReadId id) const;
    /// Returns the ids with every group replaced by its members.
    IdSet expand_groups(const IdSet& ids) const;
    /// Returns the reads of many ids, in the order of the ids.
    std::vector<Item> items(const IdSet& ids) const;
    std::size_t size() const;

private:
    struct Hash {
        std::size_t operator()(const Item& item) const;
    };
    struct Equal {
        bool operator()(const Item& a, const Item& b) const {
            return a.kind == b.kind && a.name == b.name && a.detail == b.detail;
        }
    };
    mutable std::shared_mutex mutex_;
    base::Arena arena_;
    std::unordered_map<Item, ReadId, Hash, Equal> ids_;
    std::vector<Item> items_;
    std::map<std::vector<ReadId>, ReadId> groups_;
    std::unordered_map<ReadId, const std::vector<ReadId>*> parts_;
};

/// An observer that is notified of every read of a compile, repeated reads included.
class ReadWatcher {
public:
    virtual ~ReadWatcher() = default;
    /// Called for each read. The id of a group (ReadTable::together) is passed as it is.
    virtual void on_read(ReadId id) = 0;
    /// Called when a root key is looked up in a data file. The ids are those of Trace::data.
    virtual void on_data(ReadId file, ReadId key) = 0;
};

/// The reads of one compile. Only the compiling thread uses it.
class Trace {
public:
    explicit Trace(std::shared_ptr<ReadTable> table) : table_(std::move(table)) {}
    Trace(const Trace&) = delete;
    Trace& operator=(const Trace&) = delete;

    /// Returns the trace of this thread's compile; null if reads are not recorded.
    static Trace* current() { return current_; }
    /// Records one read of this thread if a trace is active.
    static void record(Read kind, std::string_view name, std::string_view detail = {}) {
        if (current_) [[unlikely]]
            current_->note(kind, name, detail);
    }

    /// Directs this thread's reads to the trace during its lifetime.
    class Recording {
    public:
        explicit Recording(Trace* trace) : before_(current_) { current_ = trace; }
        ~Recording() { current_ = before_; }
        Trace* before() const { return before_; }
        Recording(const Recording&) = delete;
        Recording& operator=(const Recording&) = delete;

    private:
        Trace* before_;
    };

    void note(ReadId id) {
        ids_.add(id);
        if (watcher_) [[unlikely]]
            watcher_->on_read(id);
    }
    void note(Read kind, std::string_view name, std::string_view detail = {}) {
        note(table_->id(kind, name, detail));
    }
    /// Records the lookup of a root key in these data files (ids of Read::Data without a detail).
    void note_data(std::span<const ReadId> files, ReadId key) {
        for (const ReadId file : files) {
            data_[file].add(key);
            if (watcher_) [[unlikely]]
                watcher_->on_data(file, key);
        }
    }
    /// Sets the observer of all further reads; null removes it. It must outlive the compile.
    void watch(ReadWatcher* watcher) { watcher_ = watcher; }
    /// Records the answer of a command or of the store, because no file shows whether it has
    /// changed.
    void note_answer(Read kind, std::string_view name, std::string_view answer);

    const std::shared_ptr<ReadTable>& table() const { return table_; }
    /// Returns the ids of all reads except those of data keys.
    IdSet ids() const { return table_->expand_groups(ids_); }
    /// Returns, for each data file, the keys that were looked up in it (ids of Read::Data without a
    /// name).
    const std::map<ReadId, IdSet>& data() const { return data_; }
    /// Returns, for each id, the first 16 digits of the SHA-256 of the answer.
    const std::map<ReadId, std::string>& answers() const { return answers_; }
    /// Returns every read with the digest of its answer. Data files appear with their keys as
    /// Read::Data.
    std::vector<std::pair<ReadTable::Item, std::string>> items() const;
    /// Returns the compact form of the trace for storage.
    std::string pack() const;

private:
    static thread_local constinit Trace* current_;

    std::shared_ptr<ReadTable> table_;
    IdSet ids_;
    std::map<ReadId, IdSet> data_;
    std::map<ReadId, std::string> answers_;
    ReadWatcher* watcher_ = nullptr;
};

/// The reads that a cached result depends on. They are recorded again each time the result is used.
class DependencyRecorder {
public:
    void add(ReadId id) { ids_.push_back(id); }
    void note() const {
        if (Trace* trace = Trace::current())
            for (const ReadId id : ids_) trace->note(id);
        if (DependencyRecorder* outer = collecting_)
            outer->ids_.insert(outer->ids_.end(), ids_.begin(), ids_.end());
    }

    /// Records one read in the trace and in the active collections.
    static void note(ReadId id) {
        if (Trace* trace = Trace::current()) trace->note(id);
        if (collecting_) collecting_->ids_.push_back(id);
    }
    /// Adds this thread's reads to `into` as well during its lifetime.
    class Collecting {
    public:
        explicit Collecting(DependencyRecorder& into) : outer_(collecting_), into_(into) {
            collecting_ = &into;
        }
        ~Collecting() {
            collecting_ = outer_;
            if (outer_)
                outer_->ids_.insert(outer_->ids_.end(), into_.ids_.begin(), into_.ids_.end());
        }
        Collecting(const Collecting&) = delete;
        Collecting& operator=(const Collecting&) = delete;

    private:
        DependencyRecorder* outer_;
        DependencyRecorder& into_;
    };
    /// Like Collecting, but its destructor records all reads under one id.
    class ReadGroup {
    public:
        ReadGroup(ReadTable& table, DependencyRecorder& into) : table_(table), into_(into) {
            collecting_ = &into;
        }
        ~ReadGroup();
        ReadGroup(const ReadGroup&) = delete;
        ReadGroup& operator=(const ReadGroup&) = delete;

    private:
        Trace::Recording silent_{nullptr};
        DependencyRecorder* outer_ = collecting_;
        Trace* trace_ = silent_.before();
        ReadTable& table_;
        DependencyRecorder& into_;
    };
    const std::vector<ReadId>& ids() const { return ids_; }

private:
    static thread_local constinit DependencyRecorder* collecting_;
    std::vector<ReadId> ids_;
};

/// Appends a segment to the dotted path of a fact. A segment that contains a dot is quoted.
void append_segment(std::string& path, std::string_view segment);

}  // namespace bunraku::environment
