// SPDX-License-Identifier: Apache-2.0
#include "compile/insight/read_cache.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/codec/digest.h"
#include "core/codec/packed.h"
#include "core/codec/random.h"
#include "core/sys/change_times.h"
#include "core/sys/clock.h"
#include "core/sys/disk.h"
#include "core/sys/shared_secret.h"
#include "language/environment/read_answer.h"

namespace bunraku::insight {

using codec::put_packed;
using environment::IdSet;
using environment::Read;
using environment::ReadId;

namespace {

/// Maximum size of a cache file, and maximum number of cache files.
constexpr std::size_t kLargestFile = 64U << 20, kMostFiles = 16;
constexpr std::size_t kSumDigits = 16;

std::string text_of_sources(const std::vector<SourceOf>& sources) {
    std::string out;
    for (const auto& each : sources) {
        // Other sources are not compared, and might contain private data.
        if (std::ranges::none_of(each.sources, [](const auto& s) { return of_modules(s); }))
            continue;
        put_packed(out, each.reference);
        put_packed(out, each.sources.size());
        for (const auto& source : each.sources)
            put_packed(out, of_modules(source) ? source : std::string_view());
    }
    return out;
}

std::vector<SourceOf> sources_of_text(std::string_view text) {
    std::vector<SourceOf> out;
    codec::PackedReader reader(text);
    while (!reader.ended()) {
        SourceOf one;
        one.reference = reader.text();
        for (auto n = reader.number(); n > 0 && reader.good(); --n)
            one.sources.emplace_back(reader.text());
        if (reader.good()) out.push_back(std::move(one));
    }
    return out;
}

std::string packed_ids(const std::vector<std::uint32_t>& ids) {
    IdSet set;
    for (const auto id : ids) set.add(id);
    return set.pack();
}

std::vector<std::uint32_t> ids_of(std::string_view packed) {
    std::vector<std::uint32_t> out;
    IdSet::unpack(packed).for_each([&](std::uint32_t id) { out.push_back(id); });
    return out;
}

}  // namespace

CacheFile::CacheFile(const std::string& folder, std::string_view key, std::string_view ending)
    : folder_(folder) {
    if (folder.empty() || !sys::disk().make_directories(folder, 0700)) return;
    secret_ = sys::shared_secret(folder + "/secret", codec::random_hex(32).value_or(""));
    header_ = fmt::format("bunraku kept 1 {}\n", fingerprint(sys::own_program_stamp()));
    path_ = fmt::format("{}/{}.{}", folder, codec::short_digest(key), ending);
}

std::string CacheFile::fingerprint(std::string_view text) const {
    std::string keyed;
    keyed.reserve(secret_.size() + text.size());
    keyed.append(secret_).append(text);
    return codec::short_digest(keyed, kSumDigits);
}

std::optional<std::string> CacheFile::read(std::string* why) const {
    if (!usable()) return std::nullopt;
    auto content = sys::disk().read(path_);
    if (!content) return std::nullopt;
    const std::string_view all = *content;
    const auto end = all.find('\n');
    if (!all.starts_with("bunraku kept ") || end == std::string_view::npos ||
        all.size() < end + 1 + kSumDigits) {
        if (why) *why = fmt::format("{} is not a cache file of Bunraku and is not used", path_);
        return std::nullopt;
    }
    // Ignores the cache of another program version.
    if (all.substr(0, end + 1) != header_) return std::nullopt;
    const auto text = all.substr(end + 1 + kSumDigits);
    if (fingerprint(text) != all.substr(end + 1, kSumDigits)) {
        if (why) *why = fmt::format("{} is damaged and is not used", path_);
        return std::nullopt;
    }
    return std::string(text);
}

bool CacheFile::write(const std::string& text) const {
    if (!usable() || text.size() > kLargestFile) return false;
    auto& disk = sys::disk();
    if (!disk.replace(path_, header_ + fingerprint(text) + text, {.mode = 0600})) return false;
    const auto names = disk.list(folder_);
    if (!names) return true;
    std::vector<std::pair<std::int64_t, std::string>> files;
    for (const auto& name : *names) {
        if (!name.ends_with(".reads") && !name.ends_with(".facts")) continue;
        const auto path = folder_ + '/' + name;
        if (const auto status = disk.lstat(path)) files.emplace_back(status->mtime_ns, path);
    }
    std::ranges::sort(files, std::greater<>());
    for (std::size_t i = kMostFiles; i < files.size(); ++i) (void)disk.remove(files[i].second);
    return true;
}

site::FactIndex cached_fact_index(const std::string& folder, const std::string& source) {
    site::FactIndex out;
    const auto text = CacheFile(folder, source, "facts").read();
    if (!text) return out;
    codec::PackedReader reader(*text);
    while (!reader.ended()) {
        site::FactFile file;
        file.name = reader.text();
        file.stamp = reader.text();
        file.node = reader.text();
        if (reader.good()) out.files.push_back(std::move(file));
    }
    return out;
}

void cache_fact_index(const std::string& folder, const std::string& source,
                      const site::FactIndex& index) {
    std::string text;
    for (const auto& file : index.files) {
        put_packed(text, file.name);
        put_packed(text, file.stamp);
        put_packed(text, file.node);
    }
    CacheFile(folder, source, "facts").write(text);
}

ReadCache::ReadCache(const std::string& folder, std::string_view key, Snapshot before,
                     Snapshot after, std::function<bool(const std::vector<SourceOf>&)> same)
    : file_(folder, key, "reads"),
      before_(std::move(before)),
      after_(std::move(after)),
      same_(std::move(same)) {
    for (const auto i : {0, 1}) {
        snapshots_[i].environment = i == 0 ? before_ : after_;
        snapshots_[i].data = std::make_shared<hiera::DataCache>();
    }
    if (!file_.usable()) return;
    absent_print_ = file_.fingerprint("-");
    if (const auto text = file_.read(&note_)) load(*text);
}

void ReadCache::load(std::string_view text) {
    codec::PackedReader reader(text);
    auto fits = [&](std::uint64_t id, const auto& in) { return id < in.size(); };
    for (auto n = reader.number(); n > 0 && reader.good(); --n) {
        One one;
        one.kind = environment::read_kind(reader.text());
        one.name = reader.text();
        one.detail = reader.text();
        one.answer = reader.text();
        reads_.push_back(std::move(one));
    }
    bool good = true;
    for (auto n = reader.number(); n > 0 && reader.good(); --n) {
        Set set;
        set.ids = ids_of(reader.text());
        for (const auto id : set.ids) {
            good = good && fits(id, reads_);
            if (good && of_node(reads_[id].kind)) set.of_node.push_back(id);
        }
        sets_.push_back(std::move(set));
    }
    for (auto n = reader.number(); n > 0 && reader.good(); --n) {
        Sources sources;
        sources.text = reader.text();
        sources.all = sources_of_text(sources.text);
        sources_.push_back(std::move(sources));
    }
    const auto nodes = reader.number();
    nodes_.reserve(std::min<std::uint64_t>(nodes, text.size()));
    for (auto n = nodes; n > 0 && reader.good(); --n) {
        std::string name(reader.text());
        Known known;
        known.stamp = reader.text();
        known.print = reader.text();
        known.set = static_cast<std::uint32_t>(reader.number());
        known.sources = static_cast<std::uint32_t>(reader.number());
        known.own = ids_of(reader.text());
        good = good && fits(known.set, sets_) && fits(known.sources, sources_) &&
               std::ranges::all_of(known.own, [&](auto id) { return fits(id, reads_); });
        if (good) nodes_.emplace(std::move(name), std::move(known));
    }
    if (!good || !reader.good() || !reader.ended()) {
        nodes_.clear();
        sets_.clear();
        sources_.clear();
        reads_.clear();
    }
    states_.assign(reads_.size(), State::Unchecked);
}

bool ReadCache::of_node(Read kind) {
    return kind == Read::Fact || kind == Read::Trusted || kind == Read::ServerFact ||
           kind == Read::Parameter || kind == Read::Setting;
}

/// Reports whether a path certainly does not exist. Most nodes have no data file; one folder
/// listing answers this for all of them.
bool ReadCache::absent(int side, const std::string& path) {
    const auto slash = path.rfind('/');
    if (slash == std::string::npos || slash == 0) return false;
    const auto folder = std::string_view(path).substr(0, slash);
    auto& known = listings_[side];
    if (!known.listing || known.last != folder) {
        known.last = folder;
        auto [it, fresh] = known.known.try_emplace(known.last);
        if (fresh) {
            const auto& files = this->side(side).files();
            const auto names = files.list(known.last);
            // An unreadable folder may contain anything.
            if (!names.empty() || !files.stat(known.last).exists)
                it->second.emplace(names.begin(), names.end());
        }
        known.listing = &it->second;
    }
    return *known.listing && !(*known.listing)->contains(path.substr(slash + 1));
}

std::string ReadCache::answer(int side, const One& read) {
    return compiler::answer_to(snapshots_[side], read.item());
}

ReadCache::State ReadCache::state_of(std::uint32_t id) {
    State& state = states_[id];
    if (state != State::Unchecked) return state;
    const One& read = reads_[id];
    if (of_node(read.kind)) return state = State::Same;
    if (read.kind == Read::Exists && read.answer == absent_print_ && absent(0, read.name) &&
        absent(1, read.name))
        return state = State::Same;
    const auto now = answer(0, read);
    if (file_.fingerprint(now) != read.answer) return state = State::Stale;
    return state = now == answer(1, read) ? State::Same : State::Touched;
}

ReadCache::State ReadCache::state_of(Set& set) {
    if (set.state != State::Unchecked) return set.state;
    State worst = State::Same;
    for (const auto id : set.ids) worst = std::max(worst, state_of(id));
    return set.state = worst;
}

std::string ReadCache::print_of(const site::FleetNode& node, const std::vector<One>& reads,
                                const std::vector<std::uint32_t>& ids) const {
    std::vector<std::string> lines;
    for (const auto id : ids) {
        const auto& read = reads[id];
        if (read.kind == Read::Fact)
            lines.push_back("f" + read.name + "=" +
                            environment::facts_answer(node.facts, read.name));
        else if (read.kind == Read::Trusted)
            lines.push_back("t" + read.name + "=" +
                            environment::facts_answer(node.trusted, read.name));
    }
    std::ranges::sort(lines);
    return file_.fingerprint(fmt::format("{}", fmt::join(lines, "\n")));
}

ReadCache::Look ReadCache::look(const site::FleetNode& node,
                                const std::function<const site::FleetNode&()>& whole) {
    const auto it = nodes_.find(node.name);
    if (it == nodes_.end()) return {};
    Known& known = it->second;
    auto unknown = [&]() -> Look {
        known.good = false;
        dirty_ = true;
        return {};
    };
    Set& set = sets_[known.set];
    State worst = state_of(set);
    for (const auto id : known.own) worst = std::max(worst, state_of(id));
    if (worst == State::Stale) return unknown();
    if (node.stamp.empty() || node.stamp != known.stamp) {
        auto ids = set.of_node;
        for (const auto id : known.own)
            if (of_node(reads_[id].kind)) ids.push_back(id);
        if (print_of(whole(), reads_, ids) != known.print) return unknown();
        if (known.stamp != node.stamp) dirty_ = true;
        known.stamp = node.stamp;
    }
    auto& sources = sources_[known.sources];
    if (sources.state == State::Unchecked)
        sources.state = same_(sources.all) ? State::Same : State::Touched;
    if (sources.state == State::Touched) worst = State::Touched;
    return {worst == State::Same ? Answer::Same : Answer::Touched, known.set};
}

std::uint32_t ReadCache::number(Read kind, std::string_view name, std::string_view detail) {
    std::string key(1, static_cast<char>(kind));
    key.append(name).append(1, '\0').append(detail);
    const auto [it, fresh] =
        fresh_numbers_.try_emplace(std::move(key), static_cast<std::uint32_t>(fresh_reads_.size()));
    if (fresh)
        fresh_reads_.push_back(
            {.kind = kind, .name = std::string(name), .detail = std::string(detail), .answer = {}});
    return it->second;
}

void ReadCache::add(const site::FleetNode& node, const environment::Trace& trace,
                    const std::vector<SourceOf>& sources) {
    if (!file_.usable()) return;
    const auto& table = *trace.table();
    const auto items = table.items(trace.ids());
    const std::lock_guard lock(mutex_);
    // A node with valid cached reads has the same reads again.
    if (const auto it = nodes_.find(node.name); it != nodes_.end() && it->second.good) return;
    Fresh out;
    std::vector<std::uint32_t> ids;
    for (const auto& item : items) ids.push_back(number(item.kind, item.name, item.detail));
    out.print = print_of(node, fresh_reads_, ids);
    out.stamp = node.stamp;
    out.ids = packed_ids(ids);
    for (const auto& [file, keys] : trace.data()) {
        const auto [it, fresh] =
            key_sets_.try_emplace(keys.pack(), static_cast<std::uint32_t>(keys_of_.size()));
        if (fresh) {
            auto& names = keys_of_.emplace_back();
            keys.for_each([&](ReadId key) {
                names.push_back(number(Read::Opaque, {}, table.item(key).detail));
            });
        }
        out.data.emplace_back(number(Read::Exists, table.item(file).name, {}), it->second);
    }
    out.sources = text_of_sources(sources);
    fresh_.insert_or_assign(node.name, std::move(out));
    dirty_ = true;
}

/// The steps of saving the cache.
class ReadCache::Saving {
public:
    Saving(ReadCache& cache, std::int64_t began_ns)
        : cache_(cache), files_(cache.before_->files()), began_ns_(began_ns) {}

    /// Collects the nodes whose reads are still valid.
    void collect() {
        add_known_nodes();
        add_fresh_nodes();
        std::ranges::sort(nodes_, {}, &Node::name);
        count_.resize(cache_.fresh_reads_.size());
        for (auto& node : nodes_) {
            std::ranges::sort(node.ids);
            node.ids.erase(std::unique(node.ids.begin(), node.ids.end()), node.ids.end());
            for (const auto id : node.ids) ++count_[id];
        }
    }

    /// Returns the content of the file. Returns nullopt if a file that was read may have changed
    /// during the run.
    std::optional<std::string> text() {
        std::string out;
        if (!put_reads(out)) return std::nullopt;
        put_nodes(out);
        return out;
    }

    std::size_t node_count() const { return nodes_.size(); }

private:
    struct Node {
        std::string name, stamp, print, sources;
        std::vector<std::uint32_t> ids;
    };

    /// Adds the nodes of the loaded file that were not compiled again.
    void add_known_nodes() {
        // Maps the ids of the loaded file to the ids of the new one.
        std::vector<std::optional<std::uint32_t>> moved(cache_.reads_.size());
        auto move = [&](std::uint32_t id) {
            const auto& read = cache_.reads_[id];
            if (!moved[id]) moved[id] = cache_.number(read.kind, read.name, read.detail);
            return *moved[id];
        };
        for (auto& [name, known] : cache_.nodes_) {
            if (!known.good || cache_.fresh_.contains(name)) continue;
            Set& set = cache_.sets_[known.set];
            if (cache_.state_of(set) == State::Stale ||
                std::ranges::any_of(known.own,
                                    [&](auto id) { return cache_.state_of(id) == State::Stale; })) {
                continue;
            }
            Node node{name, known.stamp, known.print, cache_.sources_[known.sources].text, {}};
            for (const auto id : set.ids) node.ids.push_back(move(id));
            for (const auto id : known.own) node.ids.push_back(move(id));
            nodes_.push_back(std::move(node));
        }
    }

    /// Adds the nodes that were compiled. Records a data file that several nodes read by its keys.
    /// Records it as a whole if only one node reads it or if it does not exist.
    void add_fresh_nodes() {
        std::unordered_map<std::uint32_t, std::uint32_t> readers;
        for (const auto& [name, fresh] : cache_.fresh_)
            for (const auto& [file, keys] : fresh.data) ++readers[file];
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> spelled;
        for (auto& [name, fresh] : cache_.fresh_) {
            Node node{name, fresh.stamp, fresh.print, fresh.sources, ids_of(fresh.ids)};
            for (const auto& [file, keys] : fresh.data) {
                auto [it, first] = spelled.try_emplace({file, keys});
                if (first) it->second = reads_of_data(file, keys, readers[file]);
                node.ids.insert(node.ids.end(), it->second.begin(), it->second.end());
            }
            nodes_.push_back(std::move(node));
        }
    }

    std::vector<std::uint32_t> reads_of_data(std::uint32_t file, std::uint32_t keys,
                                             std::uint32_t readers) {
        const std::string path = cache_.fresh_reads_[file].name;
        if (cache_.absent(0, path) || !files_.stat(path).exists) return {file};
        if (readers == 1) return {cache_.number(Read::File, path, {})};
        std::vector<std::uint32_t> out;
        for (const auto key : cache_.keys_of_[keys]) {
            const std::string detail = cache_.fresh_reads_[key].detail;
            out.push_back(cache_.number(Read::Data, path, detail));
        }
        return out;
    }

    /// Reports whether the file belongs to a commit: those have no modification time, unlike files
    /// of a disk.
    bool fixed(std::string path) const {
        while (true) {
            const auto stamp = files_.stat(path);
            if (stamp.exists) return stamp.mtime_ns == 0;
            const auto slash = path.rfind('/');
            if (slash == std::string::npos || slash == 0) return false;
            path.resize(slash);
        }
    }

    /// Reports whether the file has not changed since the run began. A file that changed may have
    /// been read in its old form.
    bool settled(const std::string& path) {
        if (fixed(path)) return true;
        // If a path is mapped to another folder, the disk may have other content under it, so the
        // mapped file is checked first.
        if (files_.stat(path).mtime_ns > began_ns_ - sys::kTimesTick) return false;
        for (const auto& each : {path, path.substr(0, path.rfind('/'))}) {
            const auto [it, first] = looked_.try_emplace(each, true);
            if (!first) {
                if (!it->second) return false;
                continue;
            }
            const auto status = sys::disk().stat(each);
            it->second = !status || status->ctime_ns <= began_ns_ - sys::kTimesTick;
            if (!it->second) return false;
        }
        return true;
    }

    bool put_reads(std::string& text) {
        auto& reads = cache_.fresh_reads_;
        put_packed(text, reads.size());
        for (std::size_t id = 0; id < reads.size(); ++id) {
            auto& read = reads[id];
            const bool used = count_[id] > 0;
            if (used && !of_node(read.kind)) {
                if (read.name.starts_with('/') && !settled(read.name)) return false;
                read.answer = cache_.file_.fingerprint(cache_.answer(0, read));
            }
            put_packed(text, environment::read_name(read.kind));
            put_packed(text, used ? std::string_view(read.name) : std::string_view());
            put_packed(text, used ? std::string_view(read.detail) : std::string_view());
            put_packed(text, read.answer);
        }
        return true;
    }

    void put_nodes(std::string& text) {
        std::map<std::string, std::uint32_t> sets, sources;
        std::vector<const std::string*> set_texts, source_texts;
        auto counted = [](auto& known, auto& texts, const std::string& one) {
            const auto [it, fresh] =
                known.try_emplace(one, static_cast<std::uint32_t>(texts.size()));
            if (fresh) texts.push_back(&it->first);
            return it->second;
        };
        std::string rest;
        for (const auto& node : nodes_) {
            std::vector<std::uint32_t> shared, own;
            for (const auto id : node.ids)
                (count_[id] == 1 && nodes_.size() > 1 ? own : shared).push_back(id);
            put_packed(rest, node.name);
            put_packed(rest, node.stamp);
            put_packed(rest, node.print);
            put_packed(rest, counted(sets, set_texts, packed_ids(shared)));
            put_packed(rest, counted(sources, source_texts, node.sources));
            put_packed(rest, packed_ids(own));
        }
        for (const auto* texts : {&set_texts, &source_texts}) {
            put_packed(text, texts->size());
            for (const auto* one : *texts) put_packed(text, *one);
        }
        put_packed(text, nodes_.size());
        text += rest;
    }

    ReadCache& cache_;
    const environment::Files& files_;
    std::int64_t began_ns_;
    std::vector<Node> nodes_;
    std::vector<std::uint32_t> count_;    ///< by read, the number of nodes that have it
    std::map<std::string, bool> looked_;  ///< by path, whether it is settled
};

void ReadCache::save(std::int64_t began_ns) {
    const std::lock_guard lock(mutex_);
    if (!dirty_ || !file_.usable()) return;
    Saving saving(*this, began_ns);
    saving.collect();
    const auto text = saving.text();
    if (!text || !before_->unchanged()) return;
    if (!file_.write(*text) && note_.empty())
        note_ = fmt::format("Could not cache the reads of {} nodes for the next run",
                            saving.node_count());
}

}  // namespace bunraku::insight
