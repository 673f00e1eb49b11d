// SPDX-License-Identifier: Apache-2.0
#include "core/regex/regex.h"

#include <algorithm>
#include <fmt/format.h>
#include <mutex>
#include <oniguruma.h>
#include <unordered_map>

#include "core/base/assert.h"
#include "core/base/work_limit.h"
#include "core/regex/ruby_dialect.h"

namespace bunraku::regex {

namespace {

// A search that backtracks beyond these limits counts as "no match", so that it cannot use
// unbounded time and memory.
constexpr unsigned long kRetryLimit = 10'000'000;
constexpr unsigned int kStackLimit = 20'000'000;
constexpr unsigned int kNestingLimit = 1000;
// A search up to the limit takes a tenth of a second, so the limits of a compile are checked every
// few searches.
constexpr int kStepsOfSearch = 16;

void count_search() {
    for (int i = 0; i < kStepsOfSearch; ++i) base::step();
}

/// Ruby's syntax plus the option letters W, D and S, which the rewritten patterns need.
OnigSyntaxType& ruby_syntax() {
    static OnigSyntaxType syntax = [] {
        OnigEncoding encodings[] = {ONIG_ENCODING_UTF8};
        onig_initialize(encodings, 1);
        onig_set_retry_limit_in_match(kRetryLimit);
        onig_set_retry_limit_in_search(kRetryLimit);
        onig_set_match_stack_limit_size(kStackLimit);
        onig_set_parse_depth_limit(kNestingLimit);
        OnigSyntaxType copy;
        onig_copy_syntax(&copy, ONIG_SYNTAX_RUBY);
        onig_set_syntax_op2(&copy, onig_get_syntax_op2(&copy) | ONIG_SYN_OP2_OPTION_ONIGURUMA);
        return copy;
    }();
    return syntax;
}

const OnigUChar* bytes(const char* p) { return reinterpret_cast<const OnigUChar*>(p); }

/// The matcher advances by the length in a lead byte. A truncated last character would take it past
/// the end of the subject.
bool ends_inside_character(std::string_view s) {
    for (std::size_t back = 1; back <= 3 && back <= s.size(); ++back) {
        auto c = static_cast<unsigned char>(s[s.size() - back]);
        std::size_t length = c < 0xC0 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : c < 0xF8 ? 4 : 6;
        if (length > back) return true;
    }
    return false;
}

struct RegionHolder {
    OnigRegion* region = onig_region_new();
    ~RegionHolder() { onig_region_free(region, 1); }
};

/// Ruby's error texts have the options after the closing slash.
std::string ruby_literal(std::string_view pattern, std::uint32_t options) {
    // Ruby's inspect shows slashes escaped.
    std::string shown;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] == '/') shown += '\\';
        shown += pattern[i];
        if (pattern[i] == '\\' && i + 1 < pattern.size()) shown += pattern[++i];
    }
    return fmt::format("/{}/{}{}{}", shown, options & kMultiline ? "m" : "",
                       options & kIgnoreCase ? "i" : "", options & kExtended ? "x" : "");
}

}  // namespace

struct Regex::Impl {
    regex_t* compiled = nullptr;
    std::string pattern;
    std::uint32_t options = 0;
    std::vector<std::pair<std::string, int>> names;
    ~Impl() {
        if (compiled) onig_free(compiled);
    }
};

Regex::Regex(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {
    BUNRAKU_ASSERT(impl_->compiled != nullptr);
}
Regex::~Regex() = default;

base::Result<std::shared_ptr<const Regex>> Regex::compile(std::string_view pattern,
                                                          std::uint32_t options) {
    OnigSyntaxType& syntax = ruby_syntax();
    auto impl = std::make_unique<Impl>();
    impl->pattern = pattern;
    impl->options = options;
    if (!is_valid_utf8(pattern)) {
        return base::failure(
            fmt::format("invalid multibyte character: {}", ruby_literal(pattern, options)));
    }
    std::string rewritten = to_oniguruma(pattern, (options & kExtended) != 0);

    OnigOptionType flags = ONIG_OPTION_NONE;
    flags |= ONIG_OPTION_WORD_IS_ASCII | ONIG_OPTION_DIGIT_IS_ASCII | ONIG_OPTION_SPACE_IS_ASCII;
    if (options & kIgnoreCase) flags |= ONIG_OPTION_IGNORECASE;
    if (options & kExtended) flags |= ONIG_OPTION_EXTEND;
    if (options & kMultiline) flags |= ONIG_OPTION_MULTILINE;

    BUNRAKU_ASSERT(impl->compiled == nullptr);
    OnigErrorInfo info{};
    const char* begin = rewritten.data();
    int rc = onig_new(&impl->compiled, bytes(begin), bytes(begin + rewritten.size()), flags,
                      ONIG_ENCODING_UTF8, &syntax, &info);
    if (rc != ONIG_NORMAL) {
        impl->compiled = nullptr;
        OnigUChar text[ONIG_MAX_ERROR_MESSAGE_LEN];
        int length = onig_error_code_to_str(text, rc, &info);
        std::string_view message(reinterpret_cast<char*>(text),
                                 static_cast<std::size_t>(std::max(length, 0)));
        return base::failure(
            fmt::format("{}: {}", ruby_message(rc, message), ruby_literal(pattern, options)), rc);
    }
    onig_foreach_name(
        impl->compiled,
        [](const OnigUChar* name, const OnigUChar* end, int count, int* groups, regex_t*,
           void* arg) {
            auto* names = static_cast<std::vector<std::pair<std::string, int>>*>(arg);
            for (int i = 0; i < count; ++i) {
                names->emplace_back(std::string(name, end), groups[i]);
            }
            return 0;
        },
        &impl->names);
    std::sort(impl->names.begin(), impl->names.end(),
              [](const auto& a, const auto& b) { return a.second < b.second; });
    return std::shared_ptr<const Regex>(new Regex(std::move(impl)));
}

base::Result<std::shared_ptr<const Regex>> Regex::cached(std::string_view pattern,
                                                         std::uint32_t options) {
    // The cache has two generations. An entry that is used again moves to the young generation. The
    // old generation is dropped as a whole.
    static constexpr std::size_t kGeneration = 1024;
    struct Cache {
        std::mutex mutex;
        std::unordered_map<std::string, std::shared_ptr<const Regex>> young, old;
    };
    static auto* cache = new Cache();
    std::string key;
    key.reserve(pattern.size() + 1);
    key += static_cast<char>('0' + (options & 7));
    key += pattern;
    {
        std::scoped_lock lock(cache->mutex);
        if (auto it = cache->young.find(key); it != cache->young.end()) {
            BUNRAKU_ASSERT(it->second->pattern() == pattern);
            return it->second;
        }
        if (auto it = cache->old.find(key); it != cache->old.end()) {
            auto found = it->second;
            BUNRAKU_ASSERT(found->pattern() == pattern);
            cache->old.erase(it);
            cache->young.emplace(std::move(key), found);
            return found;
        }
    }
    auto made = compile(pattern, options);
    if (!made) return made;
    std::scoped_lock lock(cache->mutex);
    if (cache->young.size() >= kGeneration) {
        cache->old = std::move(cache->young);
        cache->young.clear();
    }
    BUNRAKU_ASSERT(cache->young.size() < kGeneration);
    cache->young.emplace(std::move(key), *made);
    return made;
}

std::optional<Match> Regex::search(std::string_view subject, std::size_t start) const {
    if (start > subject.size() || ends_inside_character(subject)) return std::nullopt;
    count_search();
    thread_local RegionHolder holder;
    // An empty view may have a null pointer, which the matcher treats as an error.
    const char* text = subject.data() ? subject.data() : "";
    const OnigUChar* begin = bytes(text);
    const OnigUChar* end = begin + subject.size();
    int at = onig_search(impl_->compiled, begin, end, begin + start, end, holder.region,
                         ONIG_OPTION_NONE);
    if (at < 0) return std::nullopt;
    Match match;
    match.groups.resize(static_cast<std::size_t>(holder.region->num_regs));
    for (int i = 0; i < holder.region->num_regs; ++i) {
        if (holder.region->beg[i] < 0) continue;
        // \K in a lookahead sets the start beyond the end. Ruby moves it back to the end.
        const int group_end = holder.region->end[i];
        match.groups[static_cast<std::size_t>(i)] = {
            static_cast<std::size_t>(std::min(holder.region->beg[i], group_end)),
            static_cast<std::size_t>(group_end)};
    }
    return match;
}

bool Regex::matches(std::string_view subject) const {
    if (ends_inside_character(subject)) return false;
    count_search();
    const char* text = subject.data() ? subject.data() : "";
    const OnigUChar* begin = bytes(text);
    const OnigUChar* end = begin + subject.size();
    return onig_search(impl_->compiled, begin, end, begin, end, nullptr, ONIG_OPTION_NONE) >= 0;
}

std::size_t Regex::group_count() const {
    return static_cast<std::size_t>(onig_number_of_captures(impl_->compiled));
}
const std::vector<std::pair<std::string, int>>& Regex::names() const { return impl_->names; }
const std::string& Regex::pattern() const { return impl_->pattern; }
std::uint32_t Regex::options() const { return impl_->options; }

}  // namespace bunraku::regex
