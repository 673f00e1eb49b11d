// What a compile read from outside. Every read that compiles of an environment ever made has a
// number; the trace of one compile is the set of those it asked for. Unchanged reads mean the same
// catalog (docs/design/0054).
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

/// What is asked of the world. An absence is an answer as any other.
enum class Read : std::uint8_t {
    File,        ///< a file's content
    Exists,      ///< whether a path is there, and whether as a folder
    Folder,      ///< the names in a folder
    Glob,        ///< the paths that a pattern matches
    Names,       ///< what a manifest defines, and its code outside of definitions
    Definition,  ///< the text of one definition of a manifest; detail: "class a::b"
    Data,        ///< a root key of a Hiera data file; detail: the key
    Fact,        ///< a path of segments with dots, "os.family"; "": all of them
    Trusted,     ///< the same of $trusted
    ServerFact,  ///< the same of $server_facts
    Parameter,   ///< what the classifier or the caller says of the node; "": all of it
    Setting,     ///< a setting's value
    Variable,    ///< an environment variable; "*": all of them
    Command,     ///< what a program wrote
    Query,       ///< the store's answer to a query
    Export,      ///< what other nodes export of a type that a query picks
    Clock,
    Random,
    Host,    ///< a name service, the network
    Opaque,  ///< what cannot be seen; the name says why
};

/// "file", "exists", ...: the names that `compile --inputs` uses.
std::string_view read_name(Read kind);
/// The kind of that name; Opaque where there is none.
Read read_kind(std::string_view name);

using ReadId = std::uint32_t;

/// Numbers for reads. Thread-safe; it only grows, and outlives the snapshots of its environment.
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
    /// One number for reads that are made together again and again, such as a look into every
    /// module.
    ReadId together(std::vector<ReadId> ids);
    /// What a number stands for; its texts live as long as the table. None of several.
    Item item(ReadId id) const;
    /// The same numbers, without those that stand for several.
    IdSet apart(const IdSet& ids) const;
    /// The same of many, in the order of their numbers.
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
    std::map<std::vector<ReadId>, ReadId> together_;
    std::unordered_map<ReadId, const std::vector<ReadId>*> parts_;
};

/// Told of every read of a compile as it is made, again and again.
class ReadWatcher {
public:
    virtual ~ReadWatcher() = default;
    /// Numbers that stand for several (ReadTable::together) come as they are.
    virtual void on_read(ReadId id) = 0;
    /// A root key is looked for in a data file: numbers as in Trace::data.
    virtual void on_data(ReadId file, ReadId key) = 0;
};

/// The reads of one compile. Used by the thread that compiles.
class Trace {
public:
    explicit Trace(std::shared_ptr<ReadTable> table) : table_(std::move(table)) {}
    Trace(const Trace&) = delete;
    Trace& operator=(const Trace&) = delete;

    /// The trace of what this thread compiles now; null: nobody wants to know.
    static Trace* current() { return current_; }
    /// Notes one read of this thread, where anybody wants to know.
    static void record(Read kind, std::string_view name, std::string_view detail = {}) {
        if (current_) [[unlikely]]
            current_->note(kind, name, detail);
    }

    /// While it lives, this thread's reads go into the trace.
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
    /// A root key, looked for in these data files (numbers of Read::Data without a detail).
    void note_data(std::span<const ReadId> files, ReadId key) {
        for (const ReadId file : files) {
            data_[file].add(key);
            if (watcher_) [[unlikely]]
                watcher_->on_data(file, key);
        }
    }
    /// Who is told of reads from now on; null: nobody. It must outlive the compile.
    void watch(ReadWatcher* watcher) { watcher_ = watcher; }
    /// What a command or the store answered: a change of it cannot be seen in a file.
    void note_answer(Read kind, std::string_view name, std::string_view answer);

    const std::shared_ptr<ReadTable>& table() const { return table_; }
    /// The numbers of what was read, without those of data.
    IdSet ids() const { return table_->apart(ids_); }
    /// By data file, the keys that were looked for in it (numbers of Read::Data without a name).
    const std::map<ReadId, IdSet>& data() const { return data_; }
    /// By number, the first 16 digits of the SHA-256 of the answer.
    const std::map<ReadId, std::string>& answers() const { return answers_; }
    /// Every read with what it stands for, data files with their keys as Read::Data.
    std::vector<std::pair<ReadTable::Item, std::string>> items() const;
    /// What is kept of the trace, in bytes.
    std::string pack() const;

private:
    static thread_local constinit Trace* current_;

    std::shared_ptr<ReadTable> table_;
    IdSet ids_;
    std::map<ReadId, IdSet> data_;
    std::map<ReadId, std::string> answers_;
    ReadWatcher* watcher_ = nullptr;
};

/// What a remembered answer was made from: noted again each time it is given.
class DependencyRecorder {
public:
    void add(ReadId id) { ids_.push_back(id); }
    void note() const {
        if (Trace* trace = Trace::current())
            for (const ReadId id : ids_) trace->note(id);
        if (DependencyRecorder* outer = collecting_)
            outer->ids_.insert(outer->ids_.end(), ids_.begin(), ids_.end());
    }

    /// Notes one read in the trace and in what is being collected.
    static void note(ReadId id) {
        if (Trace* trace = Trace::current()) trace->note(id);
        if (collecting_) collecting_->ids_.push_back(id);
    }
    /// While it lives, this thread's reads are added to `into` as well.
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
    /// The same, but the reads are noted under one number, when its life ends.
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

/// A path of a fact: segments with dots; one that holds a dot itself stands in quotes.
void append_segment(std::string& path, std::string_view segment);

}  // namespace bunraku::environment
