# Evaluates the lines of one section of api.txt and writes their results to a file. PROBES is the
# file of probes, PROBE_RESULTS the folder of the results.
module ProbeRunner
  module_function

  def run(section, &evaluate)
    probes = File.read(ENV.fetch('PROBES'), encoding: 'UTF-8').split(/^== /).find { |s| s.start_with?("#{section}\n") }
    return unless probes

    lines = probes.lines(chomp: true).drop(1).reject { |l| l.empty? || l.match?(/\A(#|=> |differs: )/) }
    results = lines.map { |line| outcome(line, evaluate) }
    File.write("#{ENV.fetch('PROBE_RESULTS')}/#{section}", results.map { |r| "#{r}\n" }.join)
  end

  def outcome(line, evaluate)
    plain(describe(evaluate.call(line)))
  rescue Exception => e # rubocop:disable Lint/RescueException: the error of a probe is its result
    plain("raises #{e.class}: #{e.message.lines.first.to_s.chomp.sub(/ for (#<|\S+:0x).*/m, '')}")
  end

  # Describes data by its content, and any other object by its class.
  def describe(value)
    case value
    when nil, true, false, Numeric, Symbol, Regexp, Module then value.inspect
    when String then value.to_s.inspect
    when Array then "[#{value.map { |v| describe(v) }.join(', ')}]"
    when Hash then "{#{value.map { |k, v| "#{describe(k)}=>#{describe(v)}" }.join(', ')}}"
    else "a #{value.class}"
    end
  end

  # Removes parts that differ from run to run.
  def plain(text)
    text = text.gsub(ENV.fetch('PROBE_RESULTS'), 'SCRATCH').gsub(/0x[0-9a-f]{8,}/, '0x')
    text.gsub(%r{/[^ "']*/tests/ruby/probes}, 'PROBES').gsub("\n", '\n').scrub
  end
end
