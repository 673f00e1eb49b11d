Gem::Specification.new do |s|
  s.name = 'rspec-puppet-bunraku'
  s.version = '1.0.0'
  s.summary = 'rspec-puppet on catalogs that Bunraku compiles'
  s.description = 'Examples, matchers, facts, Hiera data, pre_condition and coverage stay as they are; the catalogs ' \
                  'come from one `bunraku compile --worker`.'
  s.authors = ['The Bunraku authors']
  s.license = 'Apache-2.0'
  s.files = Dir['lib/**/*.rb'] + ['README.md']
  s.required_ruby_version = '>= 2.5'
  s.add_dependency 'rspec-puppet', '>= 2.9'
end
