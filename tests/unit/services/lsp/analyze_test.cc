// SPDX-License-Identifier: Apache-2.0
#include "services/lsp/analyze.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "services/lsp/cursor_context.h"
#include "services/lsp/recovery.h"

namespace bunraku::lsp {
namespace {

/// Returns the occurrences of a kind as "name@text", in order.
std::string occurrences(const FileSymbols& symbols, std::string_view text, SymbolKind kind) {
    std::string out;
    for (const auto& occurrence : symbols.occurrences) {
        if (occurrence.key.kind != kind) continue;
        out += fmt::format("{}@{} ", occurrence.key.name.view(),
                           text.substr(occurrence.span.offset, occurrence.span.length));
    }
    return out;
}

FileSymbols manifest(std::string_view text, bool epp = false) {
    const auto parsed = parse_with_recovery("a.pp", text, epp);
    EXPECT_FALSE(parsed.error) << parsed.error->message();
    return symbols_of_manifest(*parsed.tree);
}

TEST(AnalyzeTest, NamesVariablesByTheirScope) {
    const std::string text =
        "# @param p text\n"
        "class a::b(String $p = 'x') inherits a {\n"
        "  $q = $p\n"
        "  $r = $inherited\n"
        "  [1].each |$i| { notice($i, $q, $::top, $facts['os']['family']) }\n"
        "  notice(\"${q} $p ${a::b::p}\")\n"
        "}\n";
    const auto symbols = manifest(text);
    EXPECT_EQ(occurrences(symbols, text, SymbolKind::Variable),
              "a::b::p@p a::b::p@p a::b::q@q a::b::p@p a::b::r@r a::b::inherited@inherited ~1::i@i "
              "~1::i@i a::b::q@q top@top facts@facts a::b::q@q a::b::p@p a::b::p@p ");
    EXPECT_EQ(occurrences(symbols, text, SymbolKind::Fact), "os@os os.family@family ");
    EXPECT_EQ(occurrences(symbols, text, SymbolKind::Class), "a::b@a::b a@a a::b@a::b ");
}

TEST(AnalyzeTest, FindsResourcesClassesAndKeys) {
    const std::string text =
        "include ::x::y, 'z'\n"
        "class { 'c': port => lookup('k.sub') }\n"
        "d::e { 't': a => File['/f'], source => 'puppet:///modules/m/s' }\n"
        "Class['C'] -> Package <| title == 'p' |>\n"
        "$t = epp('m/t.epp')\n"
        "notice(\"puppet:///modules/m/${t}\")\n";
    const auto symbols = manifest(text);
    EXPECT_EQ(occurrences(symbols, text, SymbolKind::Class), "x::y@x::y z@z c@c c@C ");
    EXPECT_EQ(occurrences(symbols, text, SymbolKind::HieraKey), "k@k ");
    EXPECT_EQ(occurrences(symbols, text, SymbolKind::Type), "d::e@d::e file@File package@Package ");
    EXPECT_EQ(occurrences(symbols, text, SymbolKind::Variable),
              "c::port@port d::e::a@a d::e::source@source t@t t@t ");
    EXPECT_EQ(occurrences(symbols, text, SymbolKind::Resource), "d::e[t]@t file[/f]@/f ");
    EXPECT_EQ(occurrences(symbols, text, SymbolKind::File), "m/s@m/s ");
    EXPECT_EQ(occurrences(symbols, text, SymbolKind::Template), "m/t.epp@m/t.epp ");
}

TEST(AnalyzeTest, FindsKeysOfHieraData) {
    const std::string text =
        "---\n"
        "'a::b::p': \"%{lookup('other.x')} %{facts.os.family} %{::top}\"\n"
        "classes:\n  - a::b\n"
        "plain: {nested: 1}\n";
    const auto symbols = symbols_of_hiera(text, FileKind::HieraData);
    EXPECT_EQ(occurrences(symbols, text, SymbolKind::HieraKey),
              "a::b::p@a::b::p other@other classes@classes plain@plain ");
    EXPECT_EQ(occurrences(symbols, text, SymbolKind::Class), "a::b@a::b a::b@a::b ");
    EXPECT_EQ(occurrences(symbols, text, SymbolKind::Fact), "os.family@os.family ");
    ASSERT_EQ(symbols.definitions.size(), 3u);
    EXPECT_EQ(text.substr(symbols.definitions[1].span.offset, symbols.definitions[1].span.length),
              "classes:\n  - a::b");
}

TEST(AnalyzeTest, FindsKeysOfDataInOneLine) {
    const std::string text =
        "{\"a::p\": \"\xC3\xA4 %{lookup('other')}\", 'b::q': [x, {c: '%{facts.os.name}'}], d: 1}\n";
    const auto symbols = symbols_of_hiera(text, FileKind::HieraData);
    EXPECT_EQ(occurrences(symbols, text, SymbolKind::HieraKey),
              "a::p@a::p other@other b::q@b::q d@d ");
    EXPECT_EQ(occurrences(symbols, text, SymbolKind::Fact), "os.name@os.name ");
}

TEST(AnalyzeTest, FindsNamesInRubyAndErb) {
    const std::string type =
        "Puppet::Type.newtype(:thing) do\n  ensurable\n  newparam(:name)\n  "
        "newproperty('size')\nend\n";
    const auto ruby = symbols_of_ruby(type, "/m/lib/puppet/type/thing.rb");
    ASSERT_EQ(ruby.definitions.size(), 1u);
    EXPECT_EQ(ruby.definitions[0].shown, "thing");
    ASSERT_EQ(ruby.definitions[0].parameters.size(), 2u);
    EXPECT_EQ(ruby.definitions[0].parameters[1].name, "size");
    const std::string function = "Puppet::Functions.create_function(:'m::f') do\nend\n";
    EXPECT_EQ(symbols_of_ruby(function, "/m/lib/puppet/functions/m/f.rb").definitions[0].shown,
              "m::f");
    const std::string erb = "<%# @no %>a@b <%= @yes %> <%= scope['a::b'] %>";
    const auto symbols = symbols_of_erb(erb);
    EXPECT_EQ(occurrences(symbols, erb, SymbolKind::ErbVariable), "yes@yes ");
    EXPECT_EQ(occurrences(symbols, erb, SymbolKind::Variable), "a::b@b ");
}

/// Returns what is expected at "|" in the text.
CursorContext at_cursor(std::string text) {
    const std::size_t at = text.find('|');
    text.erase(at, 1);
    return context_at(text, static_cast<std::uint32_t>(at), false);
}

TEST(CursorContextTest, FollowsFromTheTokensBefore) {
    const std::pair<std::string, Expected> cases[] = {
        {"|", Expected::Statement},
        {"class a {\n  fi|", Expected::Statement},
        {"include |", Expected::ClassName},
        {"include a, b::|", Expected::ClassName},
        {"class a inherits b|", Expected::ClassName},
        {"class { 'a|", Expected::ClassName},
        {"Class['a|", Expected::ClassName},
        {"$x = $|", Expected::Variable},
        {"\"a ${fo|", Expected::Variable},
        {"file { '/x':\n  |", Expected::Attribute},
        {"file { '/x':\n  ensure => file,\n  mo|", Expected::Attribute},
        {"file { '/x': ensure => |", Expected::AttributeValue},
        {"file { '/x': ensure => 'fi|", Expected::AttributeValue},
        {"File { |", Expected::Attribute},
        {"class a(Str|", Expected::TypeName},
        {"$facts['os']['fa|", Expected::FactKey},
        {"lookup('a|", Expected::HieraKey},
        {"epp('m/|", Expected::TemplateName},
        {"# text |", Expected::Nothing},
        {"$x = 'text |", Expected::Nothing},
        {"$x = fo|", Expected::Expression},
    };
    for (const auto& [text, expected] : cases)
        EXPECT_EQ(static_cast<int>(at_cursor(text).expected), static_cast<int>(expected)) << text;
    const auto value = at_cursor("class { 'a::b': port => |");
    EXPECT_EQ(value.type, "class");
    EXPECT_EQ(value.title, "a::b");
    EXPECT_EQ(value.attribute, "port");
    EXPECT_EQ(at_cursor("$facts['os']['fa|").fact_path, "os");
    const auto call = at_cursor("$x = join([1, 2], |");
    EXPECT_EQ(call.function, "join");
    EXPECT_EQ(call.argument, 1);
}

}  // namespace
}  // namespace bunraku::lsp
