require 'puppet/provider/parsedfile'
Puppet::Type.type(:row).provide(:parsed, parent: Puppet::Provider::ParsedFile,
                                         default_target: "#{ENV.fetch('WORK')}/rows", filetype: :flat) do
  text_line :comment, match: /^\s*#/
  text_line :blank, match: /^\s*$/
  record_line :parsed, fields: %w[name val note], optional: %w[note], match: /^(\S+)\s*=\s*(\S+)(?:\s+# (.*))?$/,
                       to_line: ->(r) { "#{r[:name]} = #{r[:val]}#{" # #{r[:note]}" if r[:note] && r[:note] != :absent}" }
end
