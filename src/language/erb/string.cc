// SPDX-License-Identifier: Apache-2.0
// The methods of String.
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fmt/format.h>

#include "core/base/text_view.h"
#include "core/value/ruby_format.h"
#include "language/erb/methods.h"

namespace bunraku::erb {

namespace {

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || c == '\0'; }

/// Falls back for text beyond ASCII, for methods that follow Unicode's rules for letters.
void need_ascii(std::string_view text) {
    if (!ascii_only(text)) fall_back("letters beyond ASCII");
}

std::string_view stripped(base::TextView text BUNRAKU_LIFETIMEBOUND, bool left, bool right) {
    // Since Ruby 2.6, lstrip removes NULs as rstrip does.
    while (left && !text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (right && !text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

std::string_view chomped(base::TextView text BUNRAKU_LIFETIMEBOUND) {
    if (text.ends_with("\r\n")) return text.substr(0, text.size() - 2);
    if (text.ends_with('\n') || text.ends_with('\r')) return text.substr(0, text.size() - 1);
    return text;
}

std::string mapped_case(std::string_view text, M method) {
    need_ascii(text);
    std::string out(text);
    for (std::size_t i = 0; i < out.size(); ++i) {
        char& c = out[i];
        const bool upper = c >= 'A' && c <= 'Z', lower = c >= 'a' && c <= 'z';
        const bool up = method == M::upcase || (method == M::capitalize && i == 0) ||
                        (method == M::swapcase && lower);
        const bool down = method == M::downcase || (method == M::capitalize && i > 0) ||
                          (method == M::swapcase && upper);
        if (up && lower) c = static_cast<char>(c - 32);
        if (down && upper) c = static_cast<char>(c + 32);
    }
    return out;
}

std::int64_t to_integer(std::string_view text, int base) {
    text = stripped(text, true, false);
    bool negative = false;
    if (text.starts_with('-') || text.starts_with('+')) {
        negative = text[0] == '-';
        text.remove_prefix(1);
    }
    if (base != 10) {
        if (text.starts_with("0x") || text.starts_with("0b") || text.starts_with("0o"))
            fall_back("to_i of an odd string");
    }
    std::string digits;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '_' && i > 0 && i + 1 < text.size() && text[i - 1] != '_') continue;
        digits += text[i];
    }
    std::int64_t n = 0;
    const auto [p, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n, base);
    if (error == std::errc::result_out_of_range) fall_back("a large number");
    if (digits.starts_with('-')) return 0;
    return negative ? -n : n;
}

double to_float(std::string_view text) {
    text = stripped(text, true, false);
    std::size_t i = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
    const auto digits = [&] {
        const auto from = i;
        while (i < text.size() && text[i] >= '0' && text[i] <= '9') ++i;
        return i - from;
    };
    if (text.find('_') != std::string_view::npos) fall_back("to_f of an odd string");
    const bool point =
        i + 1 < text.size() && text[i] == '.' && text[i + 1] >= '0' && text[i + 1] <= '9';
    if (digits() == 0 && !point) return 0.0;
    if (i < text.size() && (text[i] == 'x' || text[i] == 'X')) fall_back("to_f of an odd string");
    if (i + 1 < text.size() && text[i] == '.' && text[i + 1] >= '0' && text[i + 1] <= '9') {
        ++i;
        digits();
    }
    const auto mantissa = i;
    if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
        ++i;
        if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
        if (digits() == 0) i = mantissa;
    }
    return std::strtod(std::string(text.substr(0, i)).c_str(), nullptr);
}

/// Returns the characters in a set of `tr`, `delete`, `squeeze` or `count`: "a-z", "^a-z".
std::vector<unsigned char> char_set(std::string_view spec) {
    need_ascii(spec);
    std::vector<unsigned char> out;
    for (std::size_t i = 0; i < spec.size(); ++i) {
        char c = spec[i];
        if (c == '\\' && i + 1 < spec.size()) c = spec[++i];
        if (i + 2 < spec.size() && spec[i + 1] == '-') {
            char to = spec[i + 2];
            i += 2;
            if (to == '\\') fall_back("an odd set of characters");
            if (to < c) fall_back("an odd set of characters");
            for (int each = c; each <= to; ++each) out.push_back(static_cast<unsigned char>(each));
            continue;
        }
        out.push_back(static_cast<unsigned char>(c));
    }
    return out;
}

}  // namespace

std::size_t char_count(std::string_view text) {
    std::size_t n = 0;
    for (const char c : text) n += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    return n;
}

std::size_t char_offset(std::string_view text, std::size_t n) {
    std::size_t i = 0;
    for (; i < text.size(); ++i) {
        if ((static_cast<unsigned char>(text[i]) & 0xC0) == 0x80) continue;
        if (n-- == 0) return i;
    }
    return i;
}

RV Renderer::string_index(const RV& self, Args args) {
    const auto text = self.s->view();
    const auto cut = [&](std::int64_t from, std::int64_t count) {
        const auto size = static_cast<std::int64_t>(char_count(text));
        if (from < 0) from += size;
        if (from < 0 || from > size || count < 0) return RV::nil();
        count = std::min(count, size - from);
        const auto begin = char_offset(text, static_cast<std::size_t>(from));
        const auto end = char_offset(text.substr(begin), static_cast<std::size_t>(count));
        return str(text.substr(begin, end));
    };
    if (args.size() == 2 && args[0].is(T::Int) && args[1].is(T::Int))
        return cut(args[0].i, args[1].i);
    if (args.size() == 2 && args[0].is(T::Regex) && args[1].is(T::Int) && args[1].i >= 0) {
        if (!match(*args[0].re->regex, self)) return RV::nil();
        return group(static_cast<std::size_t>(args[1].i));
    }
    if (args.size() != 1) unknown(self, M::op_index);
    switch (args[0].t) {
        case T::Int: {
            const auto size = static_cast<std::int64_t>(char_count(text));
            const std::int64_t at = args[0].i < 0 ? args[0].i + size : args[0].i;
            return at < 0 || at >= size ? RV::nil() : cut(at, 1);
        }
        case T::Range: {
            const auto size = static_cast<std::int64_t>(char_count(text));
            std::int64_t from = args[0].r->from.i, to = args[0].r->to.i;
            if (from < 0) from += size;
            if (to < 0) to += size;
            if (from < 0 || from > size) return RV::nil();
            return cut(from, std::max<std::int64_t>(to - from + (args[0].r->exclusive ? 0 : 1), 0));
        }
        case T::Str:
            return text.find(args[0].s->view()) == std::string_view::npos ? RV::nil()
                                                                          : str(args[0].s->view());
        case T::Regex: return match(*args[0].re->regex, self) ? group(0) : RV::nil();
        default: unknown(self, M::op_index);
    }
}

/// Runs sub and gsub.
RV Renderer::substitute(const RV& self, Args args, const Block* block, bool all) {
    const M method = all ? M::gsub : M::sub;
    const bool fits = block ? args.size() == 1 : args.size() == 2 && args[1].is(T::Str);
    if (!fits || !(args[0].is(T::Str) || args[0].is(T::Regex))) unknown(self, method);
    const std::string text(self.s->view());
    std::string out;
    std::size_t at = 0, copied = 0;
    bool found = false;
    std::optional<regex::Match> last;
    const std::string_view kept = heap_.arena().copy(std::string_view(text));
    while (at <= kept.size()) {
        regex::Match m;
        if (args[0].is(T::Str)) {
            const auto needle = args[0].s->view();
            const auto where = kept.find(needle, at);
            if (where == std::string_view::npos) break;
            m.groups.emplace_back(std::pair(where, where + needle.size()));
        } else {
            auto hit = args[0].re->regex->search(kept, at);
            if (!hit) break;
            m = std::move(*hit);
        }
        found = true;
        const auto [from, to] = *m.groups[0];
        out += kept.substr(copied, from - copied);
        if (block) {
            match_subject_ = kept;
            match_ = m;
            RV v;
            const RV whole = str(kept.substr(from, to - from));
            if (!yield1(*block, whole, v)) return v;
            heap_.print(out, v);
        } else {
            const auto with = args[1].s->view();
            for (std::size_t i = 0; i < with.size(); ++i) {
                if (with[i] != '\\' || i + 1 == with.size()) {
                    out += with[i];
                    continue;
                }
                const char c = with[++i];
                if (c >= '0' && c <= '9') {
                    out += m.group(kept, static_cast<std::size_t>(c - '0'));
                } else if (c == '&') {
                    out += m.group(kept, 0);
                } else if (c == '\\') {
                    out += '\\';
                } else if (c == 'k' || c == '`' || c == '\'') {
                    fall_back("a rare escape in a replacement");
                } else {
                    out += '\\';
                    out += c;
                }
            }
        }
        copied = to;
        last = std::move(m);
        if (!all) break;
        if (to > from) {
            at = to;
        } else {
            // After an empty match, one character is copied unchanged.
            const auto width = to < kept.size() ? char_offset(kept.substr(to), 1) : 1;
            out += kept.substr(to, width);
            at = copied = to + width;
        }
        if (out.size() > (64u << 20)) fall_back("too much memory");
    }
    if (copied < kept.size()) out += kept.substr(copied);
    match_subject_ = kept;
    match_ = std::move(last);
    if (!found) return RV::nil();
    return str(out);
}

namespace {

/// Splits at blanks from `begin` on, until `full` returns true. Sets `begin` to the start of the
/// rest. Returns false if there is no rest; `keep_empty` decides whether an empty one counts.
template <class Full, class Push>
bool split_at_blanks(std::string_view text, std::size_t& begin, bool keep_empty, const Full& full,
                     const Push& push) {
    for (;;) {
        while (begin < text.size() && is_blank(text[begin])) ++begin;
        if (begin == text.size()) return keep_empty;
        if (full()) return true;
        std::size_t end = begin;
        while (end < text.size() && !is_blank(text[end])) ++end;
        push(text.substr(begin, end - begin));
        begin = end;
        if (end == text.size()) return false;
    }
}

/// Splits at the matches of a pattern from `begin` on, until `full` returns true. A null pattern
/// splits into characters. Sets `begin` to the start of the rest.
template <class Full, class Push>
void split_at_matches(std::string_view text, std::size_t& begin, const regex::Regex* pattern,
                      const Full& full, const Push& push) {
    std::size_t at = begin;
    while (!full()) {
        std::size_t from = at, to = at;
        regex::Match m;
        if (pattern) {
            auto hit = pattern->search(text, at);
            if (!hit) break;
            m = std::move(*hit);
            std::tie(from, to) = *m.groups[0];
        }
        if (from != to) {
            push(text.substr(begin, from - begin));
            begin = at = to;
        } else {
            if (from >= text.size()) break;
            const auto width = char_offset(text.substr(from), 1);
            if (from == begin) {
                // An empty match at the beginning of a part splits after one character.
                if (begin + width >= text.size()) break;
                if (pattern) {
                    auto again = pattern->search(text, begin + width);
                    if (!again) break;
                    if (again->groups[0]->first != begin + width ||
                        again->groups[0]->second != begin + width) {
                        at = begin + width;
                        continue;
                    }
                }
                push(text.substr(begin, width));
                begin = at = begin + width;
            } else {
                push(text.substr(begin, from - begin));
                begin = at = from;
            }
        }
        for (std::size_t i = 1; i < m.groups.size(); ++i)
            if (m.took_part(i)) push(m.group(text, i));
    }
}

}  // namespace

RV Renderer::split(std::string_view text, Args args) {
    RV out = heap_.array();
    std::int64_t limit = 0;
    if (args.size() > 2 || (args.size() == 2 && !args[1].is(T::Int))) fall_back("an odd split");
    if (args.size() == 2) limit = args[1].i;
    if (text.empty()) return out;
    if (limit == 1) {
        heap_.push(*out.a, str(text));
        return out;
    }
    const auto full = [&] {
        return limit > 0 && out.a->size + 1 >= static_cast<std::uint64_t>(limit);
    };
    const auto push = [&](std::string_view piece) { heap_.push(*out.a, str(piece)); };
    const bool blanks =
        args.empty() || args[0].is(T::Nil) || (args[0].is(T::Str) && args[0].s->view() == " ");
    std::size_t begin = 0;
    bool rest = true;
    if (blanks) {
        rest = split_at_blanks(text, begin, limit != 0, full, push);
    } else if (args[0].is(T::Str) && !args[0].s->view().empty()) {
        const auto by = args[0].s->view();
        while (!full()) {
            const auto end = text.find(by, begin);
            if (end == std::string_view::npos) break;
            push(text.substr(begin, end - begin));
            begin = end + by.size();
        }
    } else if (args[0].is(T::Str)) {
        split_at_matches(text, begin, nullptr, full, push);
    } else if (args[0].is(T::Regex)) {
        split_at_matches(text, begin, &*args[0].re->regex, full, push);
    } else {
        fall_back("split by something else");
    }
    if (rest) push(text.substr(begin));
    if (limit == 0)
        while (out.a->size > 0 && out.a->items[out.a->size - 1].s->size == 0) --out.a->size;
    return out;
}

RV Renderer::scan(const RV& self, Args args, const Block* block) {
    if (args.size() != 1 || !args[0].is(T::Regex)) unknown(self, M::scan);
    RV out = heap_.array();
    const auto text = heap_.arena().copy(self.s->view());
    std::size_t at = 0;
    std::optional<regex::Match> last;
    while (at <= text.size()) {
        auto m = args[0].re->regex->search(text, at);
        if (!m) break;
        const auto [from, to] = *m->groups[0];
        RV item;
        if (m->groups.size() == 1) {
            item = str(m->group(text, 0));
        } else {
            item = heap_.array();
            for (std::size_t i = 1; i < m->groups.size(); ++i)
                heap_.push(*item.a, m->took_part(i) ? str(m->group(text, i)) : RV::nil());
        }
        at = to > from ? to : to + (to < text.size() ? char_offset(text.substr(to), 1) : 1);
        if (block) {
            match_subject_ = text;
            match_ = *m;
            RV v;
            if (!yield1(*block, item, v)) return v;
        } else {
            heap_.push(*out.a, item);
        }
        last = std::move(m);
    }
    match_subject_ = text;
    match_ = std::move(last);
    return block ? self : out;
}

/// Runs tr.
std::string Renderer::translate(std::string_view text, std::string_view from, std::string_view to) {
    need_ascii(text);
    const bool negated = from.size() > 1 && from[0] == '^';
    const auto set = char_set(negated ? from.substr(1) : from);
    const auto with = char_set(to);
    std::string out;
    for (const char c : text) {
        const auto at = std::ranges::find(set, static_cast<unsigned char>(c));
        const bool hit = (at != set.end()) != negated;
        if (!hit) {
            out += c;
        } else if (!with.empty()) {
            auto i = negated ? with.size() - 1 : static_cast<std::size_t>(at - set.begin());
            out += static_cast<char>(with[std::min(i, with.size() - 1)]);
        }
    }
    return out;
}

/// Runs the % operator of strings.
RV Renderer::format(std::string_view text, const RV& args) {
    std::string out;
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        if (++i == text.size()) fall_back("an odd format");
        if (text[i] == '%') {
            out += '%';
            continue;
        }
        value::RubyDirective d;
        for (; i < text.size(); ++i) {
            if (text[i] == '-')
                d.minus = true;
            else if (text[i] == '0')
                d.zero = true;
            else if (text[i] == '+')
                d.plus = true;
            else if (text[i] == ' ')
                d.space = true;
            else if (text[i] == '#')
                d.alternative = true;
            else
                break;
        }
        const auto number = [&] {
            int n = 0;
            while (i < text.size() && text[i] >= '0' && text[i] <= '9' && n < 10000)
                n = n * 10 + (text[i++] - '0');
            if (n >= 10000) fall_back("an odd format");
            return n;
        };
        d.width = number();
        if (i < text.size() && text[i] == '.') {
            ++i;
            d.precision = number();
        }
        if (i >= text.size()) fall_back("an odd format");
        RV v;
        const char kind = text[i];
        if (kind == '{' || kind == '<') {
            fall_back("a format with names");
        } else {
            if (!args.is(T::Array) || next >= args.a->size) ruby_error("too few arguments");
            v = heap_.items(args).items[next++];
        }
        d.letter = kind;
        switch (kind) {
            case 's': {
                if (v.is(T::Opaque) || d.zero || d.alternative) fall_back("an odd format");
                std::string field = heap_.to_s(v);
                if (d.precision >= 0)
                    field.resize(char_offset(field, static_cast<std::size_t>(d.precision)));
                const auto have = char_count(field), width = static_cast<std::size_t>(d.width);
                const std::string pad(width > have ? width - have : 0, ' ');
                out += d.minus ? field + pad : pad + field;
                break;
            }
            case 'd':
            case 'i':
            case 'u':
            case 'x':
            case 'X':
            case 'o':
            case 'b':
            case 'B':
                if (!v.is(T::Int)) fall_back("an odd format");
                out += value::format_ruby_integer(d, value::BigInteger(v.i));
                break;
            case 'f':
            case 'e':
            case 'E':
            case 'g':
            case 'G': {
                // Ruby prints all digits of a large integer.
                constexpr std::int64_t kExact = 1LL << 53;
                if (v.is(T::Int) && (v.i > kExact || v.i < -kExact)) fall_back("an odd format");
                if (!v.is(T::Float) && !v.is(T::Int)) fall_back("an odd format");
                out += value::format_ruby_float(d, v.is(T::Int) ? static_cast<double>(v.i) : v.f);
                break;
            }
            default: fall_back("an odd format");
        }
    }
    return str(out);
}

struct Renderer::StringCall : Call {
    using Call::Call;

    std::string_view text = self.s->view();
    std::string_view arg(std::size_t i = 0) const { return args[i].s->view(); }

    RV op_add() {
        if (args[0].is(T::Nil)) ruby_error("no implicit conversion of nil into String");
        if (args[0].is(T::Int)) ruby_error("no implicit conversion of Integer into String");
        if (!args[0].is(T::Str)) return unknown();
        return str(std::string(text) + std::string(arg()));
    }
    RV op_mul() {
        if (args[0].i < 0) return unknown();
        if (static_cast<std::uint64_t>(args[0].i) * std::max<std::size_t>(text.size(), 1) >
            (16u << 20))
            fall_back("too much memory");
        std::string out;
        for (std::int64_t i = 0; i < args[0].i; ++i) out += text;
        return str(out);
    }
    RV op_mod() {
        if (args[0].is(T::Array)) heap.items(args[0]);
        if (args[0].is(T::Array) || args[0].is(T::Hash)) return renderer.format(text, args[0]);
        RV list = heap.array(1);
        heap.push(*list.a, args[0]);
        return renderer.format(text, list);
    }
    RV concat() {
        heap.append(*self.s, std::string(arg()));
        return self;
    }
    RV replace() {
        heap.assign(*self.s, arg());
        return self;
    }
    RV prepend() {
        heap.assign(*self.s, std::string(arg()) + std::string(text));
        return self;
    }
    RV compared() {
        const int c = text.compare(arg());
        return RV::boolean(method == M::op_lt   ? c < 0
                           : method == M::op_le ? c <= 0
                           : method == M::op_gt ? c > 0
                                                : c >= 0);
    }
    RV match() {
        if (args[0].is(T::Regex)) {
            renderer.match(*args[0].re->regex, self);
        } else {
            if (method != M::match || !args[0].is(T::Str)) return unknown();
            auto compiled = regex::Regex::cached(arg());
            if (!compiled) return unknown();
            auto kept = std::make_unique<std::shared_ptr<const regex::Regex>>(*compiled);
            renderer.match(**heap.arena().own(std::move(kept)), self);
        }
        const auto& found = renderer.match_;
        const std::string_view subject = renderer.match_subject_;
        if (!found) return RV::nil();
        if (method == M::op_match)
            return RV::integer(
                static_cast<std::int64_t>(char_count(subject.substr(0, found->groups[0]->first))));
        RV out;
        out.t = T::Match;
        out.m = heap.arena().own(std::make_unique<MatchData>(subject, *found));
        return out;
    }
    RV match_p() { return RV::boolean(args[0].re->regex->search(text).has_value()); }
    RV op_index() { return renderer.string_index(self, args); }
    RV substitute() {
        const RV v = renderer.substitute(self, args, block, method == M::gsub);
        return v.is(T::Nil) ? str(text) : v;
    }
    RV substitute_bang() {
        const RV v = renderer.substitute(self, args, nullptr, method == M::gsub_bang);
        if (!v.is(T::Nil)) heap.assign(*self.s, v.s->view());
        return v;
    }
    RV split() { return renderer.split(text, args); }
    RV scan() { return renderer.scan(self, args, block); }
    RV tr() { return str(renderer.translate(text, arg(), arg(1))); }
    RV delete_() { return arg().empty() ? unknown() : str(renderer.translate(text, arg(), "")); }
    RV squeeze() {
        need_ascii(text);
        std::string out(text);
        out.erase(std::ranges::unique(out).begin(), out.end());
        return str(out);
    }
    RV start_with() {
        for (const RV& each : args) {
            if (!each.is(T::Str)) return unknown();
            if (method == M::start_with ? text.starts_with(each.s->view())
                                        : text.ends_with(each.s->view()))
                return RV::boolean(true);
        }
        return RV::boolean(false);
    }
    RV include() { return RV::boolean(text.find(arg()) != std::string_view::npos); }
    RV index() {
        const auto at = method == M::index ? text.find(arg()) : text.rfind(arg());
        if (at == std::string_view::npos) return RV::nil();
        return RV::integer(static_cast<std::int64_t>(char_count(text.substr(0, at))));
    }
    RV partition() {
        const bool first = method == M::partition;
        const auto at = first ? text.find(arg()) : text.rfind(arg());
        const bool none = at == std::string_view::npos;
        RV out = heap.array(3);
        heap.push(*out.a, str(none ? (first ? text : std::string_view()) : text.substr(0, at)));
        heap.push(*out.a, str(none ? std::string_view() : arg()));
        heap.push(*out.a,
                  str(none ? (first ? std::string_view() : text) : text.substr(at + arg().size())));
        return out;
    }
    RV justify() {
        const auto with = args.size() == 2 ? arg(1) : std::string_view(" ");
        if (with.empty() || args[0].i > 1'000'000) return unknown();
        const auto have = static_cast<std::int64_t>(char_count(text));
        if (args[0].i <= have) return str(text);
        const auto pad = static_cast<std::size_t>(args[0].i - have);
        const auto fill = [&](std::size_t n) {
            const auto size = char_count(with);
            std::string out;
            for (std::size_t i = 0; i < n / size; ++i) out += with;
            out += with.substr(0, char_offset(with, n % size));
            return out;
        };
        const std::string body(text);
        if (method == M::ljust) return str(body + fill(pad));
        if (method == M::rjust) return str(fill(pad) + body);
        return str(fill(pad / 2) + body + fill(pad - pad / 2));
    }
    RV delete_prefix() { return str(text.starts_with(arg()) ? text.substr(arg().size()) : text); }
    RV delete_suffix() {
        return str(text.ends_with(arg()) ? text.substr(0, text.size() - arg().size()) : text);
    }
    RV chomp() {
        if (args.empty()) return str(chomped(text));
        return arg().empty() || arg() == "\n" ? unknown() : delete_suffix();
    }
    RV casecmp() {
        const int c = mapped_case(text, M::downcase).compare(mapped_case(arg(), M::downcase));
        return method == M::casecmp_p ? RV::boolean(c == 0) : RV::integer(c < 0 ? -1 : c > 0);
    }
    RV to_i() {
        if (args.empty()) return RV::integer(to_integer(text, 10));
        if (args[0].i < 2 || args[0].i > 36) return unknown();
        return RV::integer(to_integer(text, static_cast<int>(args[0].i)));
    }
    RV count() {
        if (arg().size() != 1) return unknown();
        need_ascii(arg());
        return RV::integer(std::ranges::count(text, arg()[0]));
    }
    RV insert() {
        if (args[0].i < 0 || static_cast<std::size_t>(args[0].i) > char_count(text))
            return unknown();
        std::string out(text);
        out.insert(char_offset(text, static_cast<std::size_t>(args[0].i)), arg(1));
        heap.assign(*self.s, out);
        return self;
    }
    RV length() { return RV::integer(static_cast<std::int64_t>(char_count(text))); }
    RV bytesize() { return RV::integer(static_cast<std::int64_t>(text.size())); }
    RV empty() { return RV::boolean(text.empty()); }
    RV cased() { return str(mapped_case(text, method)); }
    RV strip() { return str(stripped(text, method != M::rstrip, method != M::lstrip)); }
    RV chop() {
        if (text.ends_with("\r\n")) return str(text.substr(0, text.size() - 2));
        return str(text.substr(0, text.empty() ? 0 : char_offset(text, char_count(text) - 1)));
    }
    RV to_str() { return self; }
    RV to_sym() { return heap.symbol(text); }
    RV to_f() { return RV::floating(to_float(text)); }
    RV reverse() {
        need_ascii(text);
        return str(std::string(text.rbegin(), text.rend()));
    }
    RV ord() {
        if (text.empty() || static_cast<unsigned char>(text[0]) >= 0x80) return unknown();
        return RV::integer(text[0]);
    }
    /// Returns the lines or the characters.
    RV parts() {
        const bool by_line = method == M::lines || method == M::each_line;
        RV out = heap.array();
        for (std::size_t at = 0; at < text.size();) {
            const auto end = by_line ? text.find('\n', at) : 0;
            const auto size = !by_line                        ? char_offset(text.substr(at), 1)
                              : end == std::string_view::npos ? text.size() - at
                                                              : end + 1 - at;
            heap.push(*out.a, str(text.substr(at, size)));
            at += size;
        }
        return out;
    }
    RV each_piece() {
        const RV list = parts();
        for (std::uint32_t i = 0; i < list.a->size; ++i) {
            RV out;
            if (!yield1(list.a->items[i], out)) return out;
        }
        return self;
    }
};

RV Renderer::string_method(const RV& self, M method, Args args, const Block* block) {
    using C = StringCall;
    using enum Blocks;
    static constexpr MethodTable<C> kMethods{
        {{M::op_add}, "v", None, &C::op_add},
        {{M::op_mul}, "i", None, &C::op_mul},
        {{M::op_mod}, "v", None, &C::op_mod},
        {{M::op_shl, M::concat}, "s", None, &C::concat},
        {{M::replace}, "s", None, &C::replace},
        {{M::prepend}, "s", None, &C::prepend},
        {{M::op_lt, M::op_le, M::op_gt, M::op_ge}, "s", None, &C::compared},
        {{M::op_match, M::match}, "v", None, &C::match},
        {{M::match_p}, "r", None, &C::match_p},
        {{M::op_index, M::slice}, "*", None, &C::op_index},
        {{M::gsub, M::sub}, "*", Allowed, &C::substitute},
        {{M::gsub_bang, M::sub_bang}, "*", None, &C::substitute_bang},
        {{M::split}, "*", None, &C::split},
        {{M::scan}, "*", Allowed, &C::scan},
        {{M::tr}, "ss", None, &C::tr},
        {{M::delete_}, "s", None, &C::delete_},
        {{M::squeeze}, "", None, &C::squeeze},
        {{M::start_with, M::end_with}, "*", None, &C::start_with},
        {{M::include_}, "s", None, &C::include},
        {{M::index, M::rindex}, "s", None, &C::index},
        {{M::partition, M::rpartition}, "s", None, &C::partition},
        {{M::ljust, M::rjust, M::center}, "i?s", None, &C::justify},
        {{M::delete_prefix}, "s", None, &C::delete_prefix},
        {{M::delete_suffix}, "s", None, &C::delete_suffix},
        {{M::chomp}, "?s", None, &C::chomp},
        {{M::casecmp, M::casecmp_p}, "s", None, &C::casecmp},
        {{M::to_i}, "?i", None, &C::to_i},
        {{M::count}, "s", None, &C::count},
        {{M::insert}, "is", None, &C::insert},
        {{M::length, M::size}, "", None, &C::length},
        {{M::bytesize}, "", None, &C::bytesize},
        {{M::empty}, "", None, &C::empty},
        {{M::upcase, M::downcase, M::capitalize, M::swapcase}, "", None, &C::cased},
        {{M::strip, M::lstrip, M::rstrip}, "", None, &C::strip},
        {{M::chop}, "", None, &C::chop},
        {{M::to_str}, "", None, &C::to_str},
        {{M::to_sym}, "", None, &C::to_sym},
        {{M::to_f}, "", None, &C::to_f},
        {{M::reverse}, "", None, &C::reverse},
        {{M::ord}, "", None, &C::ord},
        {{M::lines, M::chars}, "", None, &C::parts},
        {{M::each_line, M::each_char}, "", Needed, &C::each_piece},
        // Methods that String does not have fall back, because Ruby's error message shows the
        // object, which may be long or contain unusual characters.
    };
    StringCall call(*this, self, method, args, block);
    return kMethods.run(call);
}

}  // namespace bunraku::erb
