# Removes secrets from what a command prints, before it is kept: `name = secret` becomes
# `name = <removed:kind>`. Keys of partitions get a substitute of the same membership, the same
# one on every host that ran this printed script. What was removed is counted in `report`.
function partition(value,    number, member) {
    number = hex(substr(value, 3))
    member = number >= 32768 ? 32768 : 0
    number -= member
    if (number == 0 || number == 32767) return value # an empty row, the default partition
    return sprintf("0x%04x", member + 4096 + stir("partition " number, 1) % 28000)
}
function harmless(value) {
    value = tolower(value)
    return value ~ /^<removed:/ || value ~ /^(none|null|nil|unset|yes|no|true|false|on|off|enabled|disabled|required|optional|failed|accepted|hidden|[*x]+|0x0*|authentication|prompt|expired|changed?|policy|incorrect|mismatch|for|is|was|and|not|set|to|from|of)$/
}
function scrub(kind, before, value, turn,    after, result, found, start, kept, secret_text) {
    result = ""
    after = line
    while (match(after, before value)) {
        start = RSTART
        found = substr(after, RSTART, RLENGTH)
        result = result substr(after, 1, start - 1)
        after = substr(after, start + length(found))
        kept = before != "" && match(found, "^(" before ")") ? RLENGTH : 0
        if (kept == length(found)) kept = 0 # the longest name took the secret with it
        secret_text = substr(found, kept + 1)
        result = result substr(found, 1, kept)
        if (harmless(secret_text)) result = result secret_text
        else {
            if (turn == "partition") turned_to = partition(secret_text)
            else turned_to = "<removed:" kind ">"
            if (turned_to != secret_text) removed[kind]++
            result = result turned_to
        }
    }
    line = result after
}
function block(    at) { # a private key or a licence of many lines
    if (within > 0) {
        if (line ~ /-----END/) { within = 0; sub(/^.*-----END[^-]*-----/, "", line); return line == "" }
        within--
        return 1
    }
    at = match(line, /-----BEGIN [A-Z0-9 ]*(PRIVATE KEY|LICEN[CS]E)[A-Z ]*-----/)
    if (!at) return 0
    removed["private key"]++
    if (substr(line, at + RLENGTH) ~ /-----END/) {
        sub(/-----BEGIN [A-Z0-9 ]*(PRIVATE KEY|LICEN[CS]E).*-----END[^-]*-----/, "<removed:private key>", line)
        return 0
    }
    line = substr(line, 1, at - 1) "<removed:private key>"
    within = 400
    return 0
}
BEGIN { prime() }
{
    line = $0
    if (block()) next
    # <rows>
    print line
}
END { for (kind in removed) print "# removed:", removed[kind], kind, "in", file >> report }
