# Completion for fish. To use it: awsretry completion fish | source
function __awsretry_candidates
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    $program __complete $words "$current" 2>/dev/null
end
complete -c awsretry -f -n 'count (__awsretry_candidates) >/dev/null' -a '(__awsretry_candidates)'
