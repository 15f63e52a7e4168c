# Completion for bash. To use it: source <(awsretry completion bash)
_awsretry() {
    local candidate
    COMPREPLY=()
    while IFS= read -r candidate; do
        COMPREPLY+=("$(printf '%q' "$candidate")")
    done < <("$1" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _awsretry awsretry
