// SPDX-License-Identifier: Apache-2.0
// Tests stdlib's functions against results of the module's Ruby code. The results were recorded
// from version 8.5.0 of Debian, under Puppet 8.11 on Ruby 3.1: String(EXPRESSION, '%p'), or "!" and
// the error message.
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "core/base/arena.h"
#include "core/base/diagnostic.h"
#include "core/value/rich_data.h"
#include "core/value/value.h"
#include "language/evaluator/interpreter.h"
#include "language/function/table.h"
#include "language/syntax/parser.h"

namespace bunraku::function {
namespace {

struct Case {
    const char *code, *expected;
};

const Case kCases[] = {
    // clang-format off
    {R"~(any2array({'a'=>1,'b'=>2}))~",
     R"~(['a', 1, 'b', 2])~"},
    {R"~(any2array(''))~",
     R"~([])~"},
    {R"~(any2array(1,2))~",
     R"~([1, 2])~"},
    {R"~(any2bool('5.5'))~",
     R"~(true)~"},
    {R"~(any2bool('yes'))~",
     R"~(true)~"},
    {R"~(any2bool([]))~",
     R"~(true)~"},
    {R"~(bool2num('f'))~",
     R"~(0)~"},
    {R"~(bool2str(false))~",
     R"~('false')~"},
    {R"~(base64('encode','thestring'))~",
     R"~("dGhlc3RyaW5n\n")~"},
    {R"~(base64('decode','dGhlc3RyaW5n','strict'))~",
     R"~('thestring')~"},
    {R"~(basename('/a/b/c.rb','.rb'))~",
     R"~('c')~"},
    {R"~(basename('/a/b/'))~",
     R"~('b')~"},
    {R"~(basename('c.tar.gz','.*'))~",
     R"~('c.tar')~"},
    {R"~(clamp('24',[575,187]))~",
     R"~(187)~"},
    {R"~(clamp('123456789012345678901234567890',[-1e19,7]))~",
     R"~(7)~"},
    {R"~(clamp(1e19,2e19,7))~",
     R"~(!clamp(): the result is outside the range of Integer)~"},
    {R"~(concat([1],[2,[3]],4,{'a'=>1}))~",
     R"~([1, 2, [3], 4, {'a' => 1}])~"},
    {R"~(convert_base('254','16'))~",
     R"~('fe')~"},
    {R"~(convert_base('123456789012345678901234567890',36))~",
     R"~('byw97um9s91dlz68tsi')~"},
    {R"~(convert_base(-9223372036854775807,'16'))~",
     R"~('-7fffffffffffffff')~"},
    {R"~(convert_base(1,'99999999999999999999'))~",
     R"~(!convert_base(): base must be at least 2 and must not be greater than 36)~"},
    {R"~(count([1,2,'',undef,4]))~",
     R"~(3)~"},
    {R"~(count(['a','b','a'],'a'))~",
     R"~(2)~"},
    {R"~(deep_merge({'a'=>{'x'=>1}},{'a'=>{'y'=>2}},'',{'b'=>undef}))~",
     R"~({'a' => {'x' => 1, 'y' => 2}, 'b' => undef})~"},
    {R"~(delete('abracadabra','bra'))~",
     R"~('acada')~"},
    {R"~(delete({'a'=>1,'b'=>2},['a']))~",
     R"~({'b' => 2})~"},
    {R"~(delete(['a','b','c'],['a','c']))~",
     R"~(['b'])~"},
    {R"~(delete_at(['a','b'],'0'))~",
     R"~(['b'])~"},
    {R"~(delete_regex(['abf','ab','ac'],'a.*'))~",
     R"~([])~"},
    {R"~(delete_undef_values({'a'=>undef,'b'=>''}))~",
     R"~({'b' => ''})~"},
    {R"~(delete_values({'a'=>'B','b'=>'C'},'B'))~",
     R"~({'b' => 'C'})~"},
    {R"~(difference(['a','b','c'],['b']))~",
     R"~(['a', 'c'])~"},
    {R"~(dig44({'a'=>[1,{'b'=>'c'}]},['a','1','b']))~",
     R"~('c')~"},
    {R"~(dig44({'a'=>1},['z'],'dflt'))~",
     R"~('dflt')~"},
    {R"~(dirname('/a/b/c/'))~",
     R"~('/a/b')~"},
    {R"~(dirname('c'))~",
     R"~('.')~"},
    {R"~(dos2unix("a\r\nb"))~",
     R"~("a\nb")~"},
    {R"~(enclose_ipv6(['127.0.0.1','fe80::1:2','*']))~",
     R"~(['127.0.0.1', '[fe80::1:2]', '*'])~"},
    {R"~(grep(['aaa','bbb','aaaddd'],'aaa'))~",
     R"~(['aaa', 'aaaddd'])~"},
    {R"~(has_key({'a'=>1},'a'))~",
     R"~(true)~"},
    {R"~(hash(['a',1,['b',2]]))~",
     R"~({'a' => 1, 'b' => 2})~"},
    {R"~(intersection([1,1,2],[2,1,3]))~",
     R"~([1, 2])~"},
    {R"~(is_integer('5'))~",
     R"~(true)~"},
    {R"~(is_domain_name('foo.example.com'))~",
     R"~(true)~"},
    {R"~(is_domain_name('foo.example.9'))~",
     R"~(false)~"},
    {R"~(is_email_address('a@b.co'))~",
     R"~(true)~"},
    {R"~(is_mac_address('01:02:03:04:05:06'))~",
     R"~(true)~"},
    {R"~(is_hash({}))~",
     R"~(true)~"},
    {R"~(join_keys_to_values({'a'=>1,'b'=>[2,3],'c'=>undef},' is '))~",
     R"~(['a is 1', 'b is 2', 'b is 3', 'c is '])~"},
    {R"~(member(['a','b'],['a','c']))~",
     R"~(false)~"},
    {R"~(merge({'a'=>1},undef,{'a'=>2}))~",
     R"~({'a' => 2})~"},
    {R"~(merge([1,2,3]) |$memo,$x| {{"k${x}"=>$memo.length}})~",
     R"~({'k1' => 0, 'k2' => 1, 'k3' => 2})~"},
    {R"~(num2bool('0'))~",
     R"~(false)~"},
    {R"~(parsejson('{"a":[1,2.5,null]}'))~",
     R"~({'a' => [1, 2.5, undef]})~"},
    {R"~(parsejson('{bad','dflt'))~",
     R"~('dflt')~"},
    {R"~(parseyaml("a: ~\nb: [1, on]"))~",
     R"~({'a' => undef, 'b' => [1, true]})~"},
    {R"~(parseyaml("a: [",'d'))~",
     R"~('d')~"},
    {R"~(pick(undef,'','x'))~",
     R"~('x')~"},
    {R"~(pick_default('',''))~",
     R"~('')~"},
    {R"~(prefix(['a',1],'p'))~",
     R"~(['pa', 'p1'])~"},
    {R"~(prefix({'a'=>1},'p'))~",
     R"~({'pa' => 1})~"},
    {R"~(suffix(['a'],'s'))~",
     R"~(['as'])~"},
    {R"~(pw_hash('password','sha-512','salt'))~",
     R"~('$6$salt$IxDD3jeSOb5eB1CX5LBsqZFVkJdido3OUILO5Ifz5iwMuTS4XMS130MTSuDDl3aCI6WouIL9AjRbLCelDCy.g.')~"},
    {R"~(pw_hash('p','md5','saltsalt'))~",
     R"~('$1$saltsalt$oVkV3EDq8KTkLj17vu4OM0')~"},
    {R"~(range('1','5'))~",
     R"~([1, 2, 3, 4, 5])~"},
    {R"~(range('a','e'))~",
     R"~(['a', 'b', 'c', 'd', 'e'])~"},
    {R"~(range('host01','host04'))~",
     R"~(['host01', 'host02', 'host03', 'host04'])~"},
    {R"~(range('1..4'))~",
     R"~([1, 2, 3, 4])~"},
    {R"~(range('0','9','2'))~",
     R"~([0, 2, 4, 6, 8])~"},
    {R"~(range('az','bc'))~",
     R"~(['az', 'ba', 'bb', 'bc'])~"},
    {R"~(regexpescape('a.b*c d-e'))~",
     R"~('a\.b\*c\ d\-e')~"},
    {R"~(reject(['aaa','bbb'],'a'))~",
     R"~(['bbb'])~"},
    {R"~(reverse('abc'))~",
     R"~('cba')~"},
    {R"~(seeded_rand(1000,'foo'))~",
     R"~(641)~"},
    {R"~(seeded_rand_string(8,'x'))~",
     R"~('CwEfZmtE')~"},
    {R"~(shell_escape('a b$c=é'))~",
     R"~('a\ b\$c\=\é')~"},
    {R"~(shell_join(['a','b c','']))~",
     R"~('a b\ c \'\'')~"},
    {R"~(shell_split("a 'b c' d\\ e \"f\\\"g\""))~",
     R"~(['a', 'b c', 'd e', 'f"g'])~"},
    {R"~(squeeze('aabbccaa'))~",
     R"~('abca')~"},
    {R"~(squeeze('aabbccaa','a-b'))~",
     R"~('abcca')~"},
    {R"~(str2bool('Y'))~",
     R"~(true)~"},
    {R"~(str2bool(''))~",
     R"~(false)~"},
    {R"~(swapcase('aBéÉ'))~",
     R"~('AbÉé')~"},
    {R"~(to_bytes('4.5 MB'))~",
     R"~(4718592)~"},
    {R"~(to_bytes('10'))~",
     R"~(10)~"},
    {R"~(to_json({'a'=>[1,undef,1.5,"x\"\n"],'b'=>{}}))~",
     R"~('{"a":[1,null,1.5,"x\"\n"],"b":{}}')~"},
    {R"~(to_json_pretty({'a'=>[1,undef],'b'=>{},'c'=>[]}))~",
     R"~("{\n  \"a\": [\n    1,\n    null\n  ],\n  \"b\": {\n  },\n  \"c\": [\n\n  ]\n}\n")~"},
    {R"~(to_json_pretty({'a'=>undef,'b'=>1},true))~",
     R"~("{\n  \"b\": 1\n}\n")~"},
    {R"~(to_json_pretty({'a'=>[1]},false,{'indent'=>'    ','space'=>''}))~",
     R"~("{\n    \"a\":[\n        1\n    ]\n}\n")~"},
    {R"~(to_python({'a'=>[true,undef,1.0],'b'=>Sensitive('x')}))~",
     R"~('{"a": [True, None, 1.0], "b": {"__ptype": "Sensitive", "__pvalue": "x"}}')~"},
    {R"~(to_python({'a'=>[true,undef,1.0,"it's #{x}"]}))~",
     R"~('{"a": [True, None, 1.0, "it\'s \#{x}"]}')~"},
    {R"~(to_ruby({'a'=>[true,undef,1.0,"it's"],'b'=>default}))~",
     R"~('{"a" => [true, nil, 1.0, "it\'s"], "b" => {"__ptype" => "Default"}}')~"},
    {R"~(to_toml({'b'=>1,'a'=>{'x'=>'y','l'=>[1,2]},'t'=>[{'n'=>1},{'n'=>2}],'q r'=>true}))~",
     R"~("b = 1\n\"q r\" = true\n[a]\nl = [1, 2]\nx = \"y\"\n[[t]]\nn = 1\n[[t]]\nn = 2\n")~"},
    {R"~(to_yaml({'a'=>[1,'two',undef,true,1.5],'b'=>{'c'=>'no','d'=>"multi\nline\n",'e'=>'2020-01-01','f'=>'1e3','g'=>'a: b','h'=>'','i'=>' x','j'=>'0123','k'=>'0.1','l'=>'12:30','m'=>'*x','n'=>'y','o'=>"x\n",'p'=>'null','q'=>'08','r'=>'- a','s'=>'é','t'=>'10.0.0.1','u'=>'1_000','v'=>'@x','w'=>'a #b','x'=>'a"b','z'=>'-1'},'e'=>[],'f'=>{}}))~",
     R"~("---\na:\n- 1\n- two\n-\n- true\n- 1.5\nb:\n  c: 'no'\n  d: |\n    multi\n    line\n  e: '2020-01-01'\n  f: 1e3\n  g: 'a: b'\n  h: ''\n  i: \" x\"\n  j: '0123'\n  k: '0.1'\n  l: '12:30'\n  m: \"*x\"\n  \"n\": \"y\"\n  o: 'x\n\n    '\n  p: 'null'\n  q: '08'\n  r: \"- a\"\n  s: é\n  t: 10.0.0.1\n  u: '1_000'\n  v: \"@x\"\n  w: 'a #b'\n  x: a\"b\n  z: \"-1\"\ne: []\nf: {}\n")~"},
    {R"~(to_yaml([1,[2,[3,{'a'=>[4]}]]]))~",
     R"~("---\n- 1\n- - 2\n  - - 3\n    - a:\n      - 4\n")~"},
    {R"~(to_yaml({'a'=>':"""','b'=>':s'}))~",
     R"~("---\na: ':\"\"\"'\nb: \":s\"\n")~"},
    {R"~(to_yaml('x'))~",
     R"~("--- x\n")~"},
    {R"~(to_yaml({'a'=>'word word word word word word word word word word word word word word word word word word word word word'}))~",
     R"~("---\na: word word word word word word word word word word word word word word word word\n  word word word word word\n")~"},
    {R"~(to_yaml({'a'=>{'b'=>'c'}},{'indentation'=>4}))~",
     R"~("---\na:\n    b: c\n")~"},
    {R"~(type_of([1,'a']))~",
     R"~(Tuple[Integer[1, 1], String])~"},
    {R"~(union(['a','b'],['b','c']))~",
     R"~(['a', 'b', 'c'])~"},
    {R"~(unix2dos("a\nb\r\n"))~",
     R"~("a\r\nb\r\n")~"},
    {R"~(uriescape('a b?c=é'))~",
     R"~('a%20b?c=%C3%A9')~"},
    {R"~(values_at(['a','b','c','d'],['1-2','0']))~",
     R"~(['b', 'c', 'a'])~"},
    {R"~(zip([1,2],[3]))~",
     R"~([[1, 3], [2, undef]])~"},
    {R"~(zip([1,2],[3,4],true))~",
     R"~([1, 3, 2, 4])~"},
    {R"~(batch_escape('a"b$c\\d'))~",
     R"~('"a""b\$c\\d"')~"},
    {R"~(powershell_escape("a b'c\""))~",
     R"~('a` b`\'c\`"')~"},
    {R"~(stdlib::extname('a/b.tar.gz'))~",
     R"~('.gz')~"},
    {R"~(stdlib::extname('.bashrc'))~",
     R"~('')~"},
    {R"~(stdlib::start_with('abc',['x','ab']))~",
     R"~(true)~"},
    {R"~(stdlib::end_with('abc','x'))~",
     R"~(false)~"},
    {R"~(stdlib::ip_in_range('10.0.0.5',['192.168.0.0/16','10.0.0.0/24']))~",
     R"~(true)~"},
    {R"~(stdlib::xml_encode('<a "b"&>'))~",
     R"~('&lt;a "b"&amp;&gt;')~"},
    {R"~(stdlib::xml_encode('<a "b"&>','attr'))~",
     R"~('"&lt;a &quot;b&quot;&amp;&gt;"')~"},
    {R"~(is_a('x',String))~",
     R"~(true)~"},
    {R"~(validate_domain_name('-x'))~",
     R"~(!"-x" is not a syntactically correct domain name)~"},
    {R"~(validate_email_address('x'))~",
     R"~(!"x" is not a valid email address)~"},
    {R"~(bool2str('x'))~",
     R"~(!bool2str(): Requires a boolean to work with)~"},
    {R"~(str2bool('x'))~",
     R"~(!str2bool(): Unknown type of boolean given)~"},
    {R"~(pick(undef))~",
     R"~(!pick(): must receive at least one non empty value)~"},
    {R"~(concat('a',[1]))~",
     R"~(!concat(): Requires array to work with)~"},
    {R"~(union('a',['b']))~",
     R"~(!union(): Every parameter must be an array)~"},
    {R"~(member('a','b'))~",
     R"~(!member(): Requires array to work with)~"},
    {R"~(has_key('a','b'))~",
     R"~(!has_key(): expects the first argument to be a hash, got "a" which is of type String)~"},
    {R"~(delete_at(['a'],5))~",
     R"~(!delete_at(): Given index exceeds size of array given)~"},
    {R"~(range('a-'))~",
     R"~(!range(): Unable to compute range from the value: a-)~"},
    {R"~(values_at(['a'],'5'))~",
     R"~(!values_at(): Given index exceeds array size)~"},
    {R"~(hash(['a']))~",
     R"~(!hash(): Unable to compute hash from array given)~"},
    {R"~(pw_hash('p','x','s'))~",
     R"~(!pw_hash(): x is not a valid hash type)~"},
    {R"~(pw_hash('p','md5','s!'))~",
     R"~(!pw_hash(): characters in salt must be in the set [a-zA-Z0-9./])~"},
    {R"~(num2bool('xyz'))~",
     R"~(!num2bool(): 'xyz' does not look like a number: invalid value for Float(): "xyz")~"},
    {R"~(to_bytes('4 zB'))~",
     R"~(!to_bytes(): Unknown prefix z)~"},
    {R"~(difference('a',[1]))~",
     R"~(!difference(): Requires 2 arrays)~"},
    {R"~(merge('a'))~",
     R"~(!The function 'merge' was called with arguments it does not accept. It expects one of:
  (Variant[Hash[Scalar, Any], Undef, String[0, 0]] args*)
    rejected: parameter 'args' expects a value of type Undef, Hash[Scalar, Any], or String[0, 0], got String
  (Iterable args*, Callable[3, 3] block)
    rejected: expects a block
  (Iterable args*, Callable[2, 2] block)
    rejected: expects a block)~"},
    {R"~(prefix('a','b'))~",
     R"~(!prefix(): expected first argument to be an Array or a Hash, got "a")~"},
    {R"~(join_keys_to_values('a','b'))~",
     R"~(!join_keys_to_values(): The first argument must be a hash, but a String was given.)~"},
    {R"~(delete_values(1,2))~",
     R"~(!delete_values(): First argument must be a Hash. Given an argument of class Integer.)~"},
    {R"~(deep_merge({},1))~",
     R"~(!deep_merge: unexpected argument type Integer, only expects hash arguments)~"},
    {R"~(shell_split("a 'b"))~",
     R"~(!Unmatched quote: "a 'b")~"},
    {R"~(seeded_rand(0,'x'))~",
     R"~(!seeded_rand(): first argument must be a positive integer)~"},
    {R"~(base64('x','y'))~",
     R"~(!base64(): the first argument must be one of 'encode' or 'decode')~"},
    {R"~(dirname(''))~",
     R"~(!dirname(): Requires a non-empty string as argument)~"},
    {R"~(enclose_ipv6('x'))~",
     R"~(!enclose_ipv6(): Wrong argument given x is not an ip address.)~"},
    {R"~(clamp(1,2))~",
     R"~(!clamp(): Wrong number of arguments, need three to clamp)~"},
    {R"~(count([1],2,3))~",
     R"~(!count(): Wrong number of arguments given 3 for 1 or 2.)~"},
    {R"~(to_toml('x'))~",
     R"~(!'to_toml' parameter 'data' expects a Hash value, got String)~"},
    {R"~(zip([1],'a'))~",
     R"~(!zip(): Requires array to work with)~"},
    {R"~(type3x('1.5'))~",
     R"~('float')~"},
    {R"~(shuffle(['a']))~",
     R"~(['a'])~"},
    // clang-format on
};

TEST(Stdlib, MatchesModule) {
    for (const Case& c : kCases) {
        base::Arena arena;
        base::NullSink log;
        evaluator::Interpreter in(arena, log, builtin_functions(), {}, {});
        std::string got;
        std::shared_ptr<const syntax::Tree> tree;
        try {
            tree = syntax::parse("", std::string("String(") + c.code + ", '%p')");
            got = value::to_text(in.evaluate_program(*tree->program, in.top_scope()));
        } catch (const base::PuppetError& error) {
            got = "!" + error.message();
            const std::string prefix = "Error while evaluating a Function Call, ";
            if (got.compare(1, prefix.size(), prefix) == 0) got.erase(1, prefix.size());
        }
        EXPECT_EQ(got, c.expected) << c.code;
    }
}

// Strings that are ASCII-8BIT in Ruby, as the catalog shows them; recorded with stdlib 9.7 under
// Puppet 8.11.
const Case kBytes[] = {
    // clang-format off
    {R"~(base64('decode','YWJj'))~", R"~({"__ptype":"Binary","__pvalue":"YWJj"})~"},
    {R"~(base64('decode','aMOp'))~", R"~({"__ptype":"Binary","__pvalue":"aMOp"})~"},
    {R"~(base64('encode',$x))~", R"~("YWJj\n")~"},
    {R"~(pw_hash('a','SHA-512','salt'))~", R"~({"__ptype":"Binary","__pvalue":"JDYkc2FsdCRUZmJQMEdlMWdxTkpteFpZdk5odkRtbUt4OUJpZ2tNTDZiM3cxa2ZFaUFIcGtLcENSdS5TS0lZVjcwd2xjV0dtYmRoMWtvSDNhMFVtQzBiMEFjV0RRMA=="})~"},
    {R"~(pick($x,'b'))~", R"~({"__ptype":"Binary","__pvalue":"YWJj"})~"},
    {R"~(delete([$x,'b'],'b'))~", R"~([{"__ptype":"Binary","__pvalue":"YWJj"}])~"},
    {R"~(delete($x,'b'))~", R"~({"__ptype":"Binary","__pvalue":"YWM="})~"},
    {R"~(prefix([$x],'p'))~", R"~(["pabc"])~"},
    {R"~(suffix([$x],'p'))~", R"~([{"__ptype":"Binary","__pvalue":"YWJjcA=="}])~"},
    {R"~(any2array($x))~", R"~([{"__ptype":"Binary","__pvalue":"YWJj"}])~"},
    {R"~(shell_escape($x))~", R"~({"__ptype":"Binary","__pvalue":"YWJj"})~"},
    {R"~(shell_join([$x,'b']))~", R"~({"__ptype":"Binary","__pvalue":"YWJjIGI="})~"},
    {R"~(shell_split("${x} b"))~", R"~([{"__ptype":"Binary","__pvalue":"YWJj"},{"__ptype":"Binary","__pvalue":"Yg=="}])~"},
    {R"~(regexpescape($x))~", R"~("abc")~"},
    {R"~(swapcase($x))~", R"~({"__ptype":"Binary","__pvalue":"QUJD"})~"},
    {R"~(squeeze($x))~", R"~({"__ptype":"Binary","__pvalue":"YWJj"})~"},
    {R"~(reverse($x))~", R"~({"__ptype":"Binary","__pvalue":"Y2Jh"})~"},
    {R"~(concat([$x],'b'))~", R"~([{"__ptype":"Binary","__pvalue":"YWJj"},"b"])~"},
    {R"~(bool2str(true,$x,'no'))~", R"~({"__ptype":"Binary","__pvalue":"YWJj"})~"},
    {R"~(dirname($x))~", R"~(".")~"},
    {R"~(basename($x))~", R"~({"__ptype":"Binary","__pvalue":"YWJj"})~"},
    {R"~(stdlib::extname($x))~", R"~({"__ptype":"Binary","__pvalue":""})~"},
    {R"~(dirname("/a/${x}"))~", R"~("/a")~"},
    {R"~(basename("/a/${x}"))~", R"~("abc")~"},
    {R"~(dirname("${x}/b"))~", R"~({"__ptype":"Binary","__pvalue":"YWJj"})~"},
    {R"~(basename("${x}.rb",'.rb'))~", R"~({"__ptype":"Binary","__pvalue":"YWJj"})~"},
    {R"~(grep([$x],'b'))~", R"~([{"__ptype":"Binary","__pvalue":"YWJj"}])~"},
    {R"~(member([$x],'abc'))~", R"~(true)~"},
    {R"~(difference([$x],['b']))~", R"~([{"__ptype":"Binary","__pvalue":"YWJj"}])~"},
    {R"~(union([$x],['abc']))~", R"~([{"__ptype":"Binary","__pvalue":"YWJj"}])~"},
    {R"~(join_keys_to_values({$x=>$x},'='))~", R"~([{"__ptype":"Binary","__pvalue":"YWJjPWFiYw=="}])~"},
    {R"~(join_keys_to_values({'a'=>$x},'='))~", R"~(["a=abc"])~"},
    {R"~(dos2unix($x))~", R"~({"__ptype":"Binary","__pvalue":"YWJj"})~"},
    {R"~(unix2dos($x))~", R"~({"__ptype":"Binary","__pvalue":"YWJj"})~"},
    {R"~(to_json($x))~", R"~("\"abc\"")~"},
    {R"~(parsejson("[\"${x}\"]"))~", R"~(["abc"])~"},
    {R"~(to_python($x))~", R"~("{\"__ptype\": \"Binary\", \"__pvalue\": \"YWJj\"}")~"},
    {R"~(to_ruby($x))~", R"~("{\"__ptype\" => \"Binary\", \"__pvalue\" => \"YWJj\"}")~"},
    {R"~(delete_values({'a'=>$x},'b'))~", R"~({"a":{"__ptype":"Binary","__pvalue":"YWJj"}})~"},
    {R"~(merge({'a'=>$x},{'b'=>1}))~", R"~({"a":{"__ptype":"Binary","__pvalue":"YWJj"},"b":1})~"},
    // clang-format on
};

TEST(Stdlib, PreservesBinaryStrings) {
    for (const Case& c : kBytes) {
        base::Arena arena;
        base::NullSink log;
        evaluator::Interpreter in(arena, log, builtin_functions(), {}, {});
        const auto tree =
            syntax::parse("", std::string("$x = base64('decode', 'YWJj')\n") + c.code);
        const auto v = in.evaluate_program(*tree->program, in.top_scope());
        EXPECT_EQ(value::to_json(value::to_rich_data(arena, v)), c.expected) << c.code;
    }
}

TEST(Stdlib, EveryFunctionIsDocumentedOnce) {
    std::string_view before;
    for (const auto* function : builtin_functions().all()) {
        EXPECT_FALSE(function->doc.empty()) << function->name;
        EXPECT_NE(function->name, before);
        before = function->name;
    }
}

}  // namespace
}  // namespace bunraku::function
