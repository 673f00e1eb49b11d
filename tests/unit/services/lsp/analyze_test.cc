// SPDX-License-Identifier: Apache-2.0
#include "services/lsp/analyze.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "services/lsp/cursor_context.h"
#include "services/lsp/data_context.h"
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
              "c::port@port d::e::a@a d::e::source@source package::title@title t@t t@t ");
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

TEST(AnalyzeTest, FindsNamesAfterAnchorsAndTags) {
    const std::string text =
        "&k a::p: &v 1\n"
        "!ruby/sym a::q: *v\n"
        "\"esc\\u0061ped\": 1\n"
        "? &x !!str # comment\n  'a::r'\n: &d {<<: *v}\n"
        "classes: [&c a::b, !!str &e 'a::c', *c]\n"
        "t: &t \"%{lookup('a::p')}\"\n";
    const auto symbols = symbols_of_hiera(text, FileKind::HieraData);
    EXPECT_EQ(occurrences(symbols, text, SymbolKind::HieraKey),
              "a::p@a::p a::q@a::q a::r@a::r classes@classes t@t a::p@a::p ");
    EXPECT_EQ(occurrences(symbols, text, SymbolKind::Class),
              "a@a a@a a@a a::b@a::b a::c@a::c a@a ");
    std::string types;
    for (const Definition& definition : symbols.definitions)
        types += definition.shown + "=" + definition.returns + " ";
    EXPECT_EQ(types, "a::p=Integer a::q= a::r=Hash classes=Array t=String ");
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

TEST(AnalyzeTest, FindsNamesInTexts) {
    const std::string text =
        "class m::c (Integer $p) {\n"
        "  $q = [getvar('m::c::p.x'), getvar('p'), defined('$p'), defined('m::d')]\n"
        "  $r = inline_template('<%= @p %>', \"<%= scope['m::c::q'] %>\")\n"
        "  $s = inline_epp('$no <%= $p %>')\n"
        "  $t = [1].m::f + call('m::f', 1) + Deferred('m::f', [1])\n"
        "  ['m::a', 'm::b'].include\n"
        "  m::d { 't': * => { 'size' => 1 } + { width => 2 } }\n"
        "  create_resources('m::d', { 't' => { size => 3 } }, { 'width' => 4 })\n"
        "  create_resources('class', { 'm::b' => { size => 3 } })\n"
        "  M::D <| size == 5 and title != 't' |>\n"
        "  $u = [M::D['t']['size'], Class['m::a']['size']]\n"
        "  Class['m::a'] { size => 6 }\n"
        "  $v = template(\"${module_name}/t.erb\", 'm/u.erb')\n"
        "  $w = epp('m/v', { 'size' => 7 })\n"
        "  $x = \"puppet:///modules/${module_name}/f\"\n"
        "}\n";
    const auto symbols = manifest(text);
    EXPECT_EQ(occurrences(symbols, text, SymbolKind::Variable),
              "m::c::p@p m::c::q@q m::c::p@p m::c::p@p m::c::p@p m::c::r@r m::c::p@p m::c::q@q "
              "m::c::s@s m::c::p@p m::c::t@t m::d::size@size m::d::width@width m::d::size@size "
              "m::d::width@width m::b::size@size m::d::size@size m::d::title@title m::c::u@u "
              "m::d::size@size m::a::size@size m::a::size@size m::c::v@v module_name@module_name "
              "m::c::w@w m::c::x@x module_name@module_name ");
    EXPECT_EQ(occurrences(symbols, text, SymbolKind::Class),
              "m::c@m::c m::c@m::c m::d@m::d m::c@m::c m::a@m::a m::b@m::b m::b@m::b m::a@m::a "
              "m::a@m::a ");
    EXPECT_EQ(
        occurrences(symbols, text, SymbolKind::Type),
        "integer@Integer m::d@m::d deferred@Deferred m::d@m::d m::d@m::d m::d@M::D m::d@M::D ");
    EXPECT_EQ(occurrences(symbols, text, SymbolKind::Template),
              "m/t.erb@/t.erb m/u.erb@m/u.erb m/v@m/v ");
    EXPECT_EQ(occurrences(symbols, text, SymbolKind::EppArgument), "m/v.epp::size@size ");
    EXPECT_EQ(occurrences(symbols, text, SymbolKind::File), "m/f@/f ");
    std::string functions = occurrences(symbols, text, SymbolKind::Function);
    EXPECT_EQ(functions,
              "getvar@getvar getvar@getvar defined@defined defined@defined "
              "inline_template@inline_template inline_epp@inline_epp m::f@m::f call@call m::f@m::f "
              "m::f@m::f include@include create_resources@create_resources "
              "create_resources@create_resources template@template epp@epp ");
}

TEST(AnalyzeTest, FindsNamesInData) {
    const std::string text =
        "lookup_options:\n  a::b::p: {merge: hash}\n  '^x': {merge: hash}\n"
        "role: a::b\nthings:\n  a::d: {}\n"
        "q: \"%{lookup(\\\"a::b::p\\\")} %{scope('a::b::v')}\"\n";
    const auto symbols = symbols_of_hiera(text, FileKind::HieraData);
    EXPECT_EQ(occurrences(symbols, text, SymbolKind::HieraKey),
              "lookup_options@lookup_options a::b::p@a::b::p role@role things@things q@q "
              "a::b::p@a::b::p ");
    EXPECT_EQ(occurrences(symbols, text, SymbolKind::Class),
              "a::b@a::b a::b@a::b a::d@a::d a::b@a::b a::b@a::b ");
    EXPECT_EQ(occurrences(symbols, text, SymbolKind::Type), "a::b@a::b a::d@a::d ");
    EXPECT_EQ(occurrences(symbols, text, SymbolKind::Variable), "a::b::p@p a::b::p@p a::b::v@v ");
    const std::string types =
        "s: text\ni: -1\nf: 1.5\nb: true\na: [1]\ne: []\nh:\n  k: 1\nn: {}\nu: ~\nq: '1'\n";
    std::string found;
    for (const auto& definition : symbols_of_hiera(types, FileKind::HieraData).definitions)
        found += definition.returns + " ";
    EXPECT_EQ(found, "String Integer Float Boolean Array Array Hash Hash Undef String ");
}

TEST(AnalyzeTest, FindsFunctionsInRuby) {
    const std::string erb =
        "<%= scope.call_function('a::f', 1) %><%= scope.function_g([1]) %><%= scope['x'] %>"
        "<% if has_variable?('y') %><%= scope.lookupvar('::a::z') %><% end %>";
    const auto symbols = symbols_of_erb(erb);
    EXPECT_EQ(occurrences(symbols, erb, SymbolKind::Function), "a::f@a::f g@g ");
    EXPECT_EQ(occurrences(symbols, erb, SymbolKind::ErbVariable), "x@x y@y ");
    EXPECT_EQ(occurrences(symbols, erb, SymbolKind::Variable), "a::z@z ");
    const std::string ruby =
        "Puppet::Functions.create_function(:'m::f') do\n  dispatch :f do\n    param 'M::T', :a\n"
        "    optional_param 'Integer', :b\n    optional_repeated_param 'Array[M::U]', :c\n"
        "    return_type 'M::T'\n  end\n  dispatch :g do\n  end\n"
        "  def f(a, b)\n    call_function('m::g', a)\n  end\nend\n";
    const auto function = symbols_of_ruby(ruby, "/m/lib/puppet/functions/m/f.rb");
    ASSERT_EQ(function.definitions.size(), 1u);
    const std::vector<std::string> overloads = {"M::T $a, Optional[Integer] $b, Array[M::U] *$c",
                                                ""};
    EXPECT_EQ(function.definitions[0].overloads, overloads);
    EXPECT_EQ(occurrences(function, ruby, SymbolKind::Function), "m::f@m::f m::g@m::g ");
    EXPECT_EQ(occurrences(function, ruby, SymbolKind::Type), "m::t@M::T m::u@M::U m::t@M::T ");
}

TEST(DataContextTest, FollowsFromTheLine) {
    const auto at = [](std::string text, FileKind kind) {
        const std::size_t cursor = text.find('|');
        text.erase(cursor, 1);
        const auto found = data_context(text, static_cast<std::uint32_t>(cursor), kind);
        return fmt::format("{} {}", static_cast<int>(found.expected),
                           text.substr(found.word.offset, found.word.length));
    };
    const auto expect = [](Expected expected, std::string_view word) {
        return fmt::format("{} {}", static_cast<int>(expected), word);
    };
    const FileKind data = FileKind::HieraData, config = FileKind::HieraConfig, erb = FileKind::Erb;
    EXPECT_EQ(at("|", data), expect(Expected::DataKey, ""));
    EXPECT_EQ(at("a::b|", data), expect(Expected::DataKey, "a::b"));
    EXPECT_EQ(at("a::b: x|", data), expect(Expected::AttributeValue, "x"));
    EXPECT_EQ(at("a::b:\n  - x|", data), expect(Expected::AttributeValue, "x"));
    EXPECT_EQ(at("# a|", data), expect(Expected::Nothing, "a"));
    EXPECT_EQ(at("my::classes:\n  # text\n  - a::|", data), expect(Expected::ClassName, "a::"));
    EXPECT_EQ(at("lookup_options:\n  a|", data), expect(Expected::HieraKey, "a"));
    EXPECT_EQ(at("a: %{|", data), expect(Expected::Interpolation, ""));
    EXPECT_EQ(at("a: %{facts.os.fa|", data), expect(Expected::FactKey, "fa"));
    EXPECT_EQ(at("a: %{lookup('b-c|", data), expect(Expected::HieraKey, "b-c"));
    EXPECT_EQ(at("a: %{b} c|", data), expect(Expected::AttributeValue, "c"));
    EXPECT_EQ(at("hierarchy:\n  - na|", config), expect(Expected::HieraSetting, "na"));
    EXPECT_EQ(at("  path: x|", config), expect(Expected::Nothing, "x"));
    EXPECT_EQ(at("  path: \"%{facts.ro|", config), expect(Expected::FactKey, "ro"));
    EXPECT_EQ(at("<%= @a|", erb), expect(Expected::TemplateVariable, "a"));
    EXPECT_EQ(at("<%= scope['a::|", erb), expect(Expected::Variable, "a::"));
    EXPECT_EQ(at("<%= @a %> @b|", erb), expect(Expected::Nothing, "b"));
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
        {"file('m/|", Expected::FileName},
        {"file { '/x': source => 'puppet:///modules/m/|", Expected::ServedFile},
        {"File['/x|", Expected::ResourceTitle},
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
