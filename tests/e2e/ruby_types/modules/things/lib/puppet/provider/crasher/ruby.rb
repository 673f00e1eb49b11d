Puppet::Type.type(:crasher).provide(:ruby) do
  def how = 'not'

  def how=(value)
    case value
    when 'exit' then exit 3
    when 'kill' then Process.kill(:KILL, $$)
    when 'throw' then throw :nothing
    when 'raise' then raise 'said so'
    when 'missing' then nothing_there(1)
    when 'command' then Puppet::Util::Execution.execute(['sh', '-c', 'echo out; echo err >&2; exit 4'], failonfail: true, combine: true)
    when 'output' then notice Puppet::Util::Execution.execute(['sh', '-c', 'echo $LANG $HOME out; echo err >&2; exit 4']) rescue notice($!.message)
    end
  end
end
