#compdef awsretry
# Completion for zsh. To use it, after compinit: source <(awsretry completion zsh)
_awsretry() {
    local -a candidates
    candidates=("${(@f)$("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    candidates=("${(@)candidates:#}")
    if (( ${#candidates} )); then
        compadd -a candidates
    else
        _files
    fi
}
if [[ ${funcstack[1]} == _awsretry ]]; then
    _awsretry "$@"
else
    compdef _awsretry awsretry
fi
