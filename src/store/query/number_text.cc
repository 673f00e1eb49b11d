// SPDX-License-Identifier: Apache-2.0
#include "store/query/number_text.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <vector>

#include "core/base/assert.h"
#include "core/base/text.h"

namespace bunraku::query {

namespace {

constexpr std::size_t kMaxSlots = 512;
/// Maximum number of digits after the point, and of places by which V shifts.
constexpr int kMaxDigits = 20;

/// One element of a number format.
struct NumberSlot {
    enum class Kind {
        Nine,
        Zero,
        Point,
        Comma,
        Sign,      ///< S
        Minus,     ///< MI
        Plus,      ///< PL
        SignHere,  ///< SG
        Bracket,   ///< PR
        Ordinal,   ///< TH
        SmallOrdinal,
        Text,
    };
    Kind kind;
    std::string text;
};
using SlotKind = NumberSlot::Kind;

/// A parsed number format.
struct NumberFormat {
    enum class Form { Digits, Roman, SmallRoman, Exponent };

    Form form = Form::Digits;
    std::vector<NumberSlot> slots;
    bool fill = true;           ///< pads with blanks; FM turns it off
    bool sign_written = false;  ///< the format has a position for the sign
    bool anchored = false;      ///< the sign directly precedes the first printed digit
    int before = 0, after = 0;  ///< digits before and after the point
    int shift = 0;              ///< digits after V

    bool bracketed() const {
        return std::ranges::find(slots, SlotKind::Bracket, &NumberSlot::kind) != slots.end();
    }
};

class NumberFormatParser {
public:
    explicit NumberFormatParser(std::string_view format) : text_(format) {}

    NumberFormat parse() {
        while (at_ < text_.size() && out_.slots.size() < kMaxSlots &&
               out_.form == NumberFormat::Form::Digits) {
            const std::string up = base::upper(text_.substr(at_, 4));
            if (!two_letters(up) && !whole_form(up) && !one_letter(up[0])) quoted_or_plain();
        }
        return std::move(out_);
    }

private:
    void add(SlotKind kind, std::size_t length, std::string text = {}) {
        out_.slots.push_back({kind, std::move(text)});
        at_ += length;
    }
    /// Adds a slot that has a position for the sign.
    void add_sign(SlotKind kind, std::size_t length) {
        out_.sign_written = true;
        add(kind, length);
    }

    bool two_letters(std::string_view up) {
        if (up.starts_with("FM")) {
            out_.fill = false;
            at_ += 2;
        } else if (up.starts_with("MI")) {
            add_sign(SlotKind::Minus, 2);
        } else if (up.starts_with("PL")) {
            add(SlotKind::Plus, 2);
        } else if (up.starts_with("SG")) {
            add_sign(SlotKind::SignHere, 2);
        } else if (up.starts_with("PR")) {
            add_sign(SlotKind::Bracket, 2);
        } else if (up.starts_with("TH")) {
            add(text_[at_] == 'T' ? SlotKind::Ordinal : SlotKind::SmallOrdinal, 2);
        } else {
            return false;
        }
        return true;
    }

    /// Reads the patterns that determine the whole output.
    bool whole_form(std::string_view up) {
        if (up.starts_with("RN")) {
            out_.form =
                text_[at_] == 'r' ? NumberFormat::Form::SmallRoman : NumberFormat::Form::Roman;
        } else if (up == "EEEE") {
            out_.form = NumberFormat::Form::Exponent;
        } else {
            return false;
        }
        return true;
    }

    bool one_letter(char c) {
        switch (c) {
            case '9':
            case '0': digit(c); return true;
            case '.':
            case 'D':
                if (point_) return false;
                point_ = true;
                add(SlotKind::Point, 1);
                return true;
            case ',':
            case 'G': add(SlotKind::Comma, 1); return true;
            case 'B': ++at_; return true;
            case 'L': add(SlotKind::Text, 1, " "); return true;
            case 'S': sign(); return true;
            case 'V':
                shifting_ = true;
                ++at_;
                return true;
            default: return false;
        }
    }

    void digit(char c) {
        ++(shifting_ ? out_.shift : point_ ? out_.after : out_.before);
        if (c == '0') zero_seen_ = true;
        // All digits from the first 0 to the point are printed as zeros.
        const bool zero = c == '0' || (zero_seen_ && !point_);
        add(zero ? SlotKind::Zero : SlotKind::Nine, 1);
    }

    void sign() {
        // A sign before the digits moves to the first printed digit.
        if (out_.before == 0 && !point_) {
            out_.sign_written = out_.anchored = true;
            ++at_;
        } else {
            add_sign(SlotKind::Sign, 1);
        }
    }

    void quoted_or_plain() {
        if (text_[at_] != '"') {
            add(SlotKind::Text, 1, std::string(1, text_[at_]));
            return;
        }
        const std::size_t end = std::min(text_.find('"', at_ + 1), text_.size());
        std::string quoted(text_.substr(at_ + 1, end - at_ - 1));
        add(SlotKind::Text, end + 1 - at_, std::move(quoted));
    }

    std::string_view text_;
    std::size_t at_ = 0;
    NumberFormat out_;
    bool point_ = false, zero_seen_ = false, shifting_ = false;
};

/// Writes one number in a format that consists of digits.
class NumberWriter {
public:
    NumberWriter(const NumberFormat& format, double number)
        : format_(format),
          magnitude_(std::fabs(number) * std::pow(10, std::min(format.shift, kMaxDigits))),
          bracketed_(format.bracketed()) {
        const std::string digits =
            fmt::format("{:.{}f}", magnitude_, std::min(format.after, kMaxDigits));
        const std::size_t point = digits.find('.');
        whole_ = digits.substr(0, point);
        if (point != std::string::npos) fraction_ = digits.substr(point + 1);
        // A number that is rounded to zero has no sign.
        negative_ = number < 0 && digits.find_first_not_of("0.") != std::string::npos;
        const int places = format.before + format.shift;
        const int length = static_cast<int>(whole_.size());
        overflow_ = length > places && !(places == 0 && whole_ == "0");
        lead_ = places - length;
        last_needed_ = fraction_.find_last_not_of('0');
    }

    std::string write() {
        for (const NumberSlot& slot : format_.slots) add(slot);
        return lead_text_ + number_text_;
    }

private:
    void add(const NumberSlot& slot) {
        switch (slot.kind) {
            case SlotKind::Nine:
            case SlotKind::Zero:
                if (in_fraction_) {
                    add_fraction_digit(slot.kind);
                } else {
                    add_whole_digit(slot.kind);
                }
                break;
            case SlotKind::Point:
                open_number();
                in_fraction_ = true;
                number_text_ += '.';
                break;
            case SlotKind::Comma:
                if (started_) {
                    number_text_ += ',';
                } else {
                    lead_text_ += blank();
                }
                break;
            case SlotKind::Sign:
            case SlotKind::SignHere: current() += negative_ ? '-' : '+'; break;
            case SlotKind::Minus: current() += negative_ ? "-" : blank(); break;
            case SlotKind::Plus: current() += negative_ ? blank() : "+"; break;
            case SlotKind::Ordinal:
            case SlotKind::SmallOrdinal:
                if (!negative_ && !overflow_) {
                    number_text_ +=
                        ordinal_suffix(std::llround(magnitude_), slot.kind == SlotKind::Ordinal);
                }
                break;
            case SlotKind::Bracket: number_text_ += negative_ ? ">" : blank(); break;
            case SlotKind::Text: current() += slot.text; break;
        }
    }

    std::string_view blank() const { return format_.fill ? " " : ""; }
    std::string& current() { return started_ ? number_text_ : lead_text_; }

    /// Writes the sign before the first digit, unless it has its own position.
    void open_number() {
        if (started_) return;
        started_ = true;
        if (format_.anchored) {
            number_text_ += negative_ ? '-' : '+';
        } else if (bracketed_) {
            number_text_ += negative_ ? "<" : blank();
        } else if (!format_.sign_written) {
            number_text_ += negative_ ? "-" : blank();
        }
    }

    void add_fraction_digit(SlotKind kind) {
        open_number();
        const bool needed = format_.fill || kind == SlotKind::Zero ||
                            (last_needed_ != std::string::npos && fraction_at_ <= last_needed_);
        const char digit = overflow_                         ? '#'
                           : fraction_at_ < fraction_.size() ? fraction_[fraction_at_]
                                                             : '0';
        if (needed) number_text_ += digit;
        ++fraction_at_;
    }

    void add_whole_digit(SlotKind kind) {
        const int index = index_++;
        if (overflow_) {
            open_number();
            number_text_ += '#';
        } else if (index < lead_) {
            if (kind == SlotKind::Zero) {
                open_number();
                number_text_ += '0';
            } else {
                lead_text_ += blank();
            }
        } else {
            const auto at = static_cast<std::size_t>(index - lead_);
            BUNRAKU_ASSERT(at < whole_.size());
            const bool only_zero =
                whole_ == "0" && format_.after > 0 && kind == SlotKind::Nine && !started_;
            if (only_zero) {
                lead_text_ += blank();
            } else {
                open_number();
                number_text_ += whole_[at];
            }
        }
    }

    const NumberFormat& format_;
    double magnitude_;
    bool bracketed_, negative_ = false;
    bool overflow_ = false;  ///< the number has more digits than the format
    std::string whole_, fraction_;
    int lead_ = 0;   ///< positions before the first digit of the number
    int index_ = 0;  ///< index among the digit positions before the point
    std::size_t fraction_at_ = 0, last_needed_ = 0;
    bool started_ = false, in_fraction_ = false;
    std::string lead_text_, number_text_;
};

/// Formats a Roman numeral like RN: 15 characters wide, or filled with '#' if the number has no
/// Roman numeral.
std::string roman(double number, bool fill, bool small) {
    constexpr int kWidth = 15;
    double rounded = std::nearbyint(number);
    if (!(rounded >= 1 && rounded <= 3999)) return std::string(kWidth, '#');
    static constexpr std::pair<int, std::string_view> kSteps[] = {
        {1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"},
        {40, "XL"},  {10, "X"},   {9, "IX"},  {5, "V"},    {4, "IV"},  {1, "I"}};
    std::string out;
    int left = static_cast<int>(rounded);
    for (const auto& [value, letters] : kSteps) {
        for (; left >= value; left -= value) out += letters;
    }
    BUNRAKU_ASSERT(left == 0 && !out.empty());
    if (small) out = base::lower(out);
    return fill ? fmt::format("{:>{}}", out, kWidth) : out;
}

std::string exponent(double number, const NumberFormat& format) {
    std::string text = fmt::format("{:+.{}e}", number, std::min(format.after, kMaxDigits));
    if (text[0] == '+') text[0] = ' ';
    return text;
}

}  // namespace

std::string ordinal_suffix(std::int64_t n, bool capitals) {
    std::int64_t last = n % 100;
    std::string_view end = "th";
    if (last < 11 || last > 13) {
        if (n % 10 == 1) end = "st";
        if (n % 10 == 2) end = "nd";
        if (n % 10 == 3) end = "rd";
    }
    return capitals ? base::upper(end) : std::string(end);
}

std::string number_to_char(double number, std::string_view format) {
    const NumberFormat parsed = NumberFormatParser(format).parse();
    switch (parsed.form) {
        case NumberFormat::Form::Roman: return roman(number, parsed.fill, false);
        case NumberFormat::Form::SmallRoman: return roman(number, parsed.fill, true);
        case NumberFormat::Form::Exponent: return exponent(number, parsed);
        case NumberFormat::Form::Digits: break;
    }
    return NumberWriter(parsed, number).write();
}

}  // namespace bunraku::query
