# Hides who and where, and keeps what a diagnosis needs: the same address becomes the same
# substitute in every file, addresses of one /24 stay in one /24, loopback and link-local stay.
function hex(text,    i, value) {
    value = 0
    for (i = 1; i <= length(text); i++)
        value = value * 16 + index("0123456789abcdef", tolower(substr(text, i, 1))) - 1
    return value
}
function network(prefix) {
    if (!(prefix in networks)) {
        networks[prefix] = known
        known++
    }
    return "10." int(networks[prefix] / 256) "." networks[prefix] % 256
}
function ipv4(address,    part) {
    split(address, part, ".")
    if (part[1] == 127 || part[1] == 0 || part[1] == 255 || part[1] "." part[2] == "169.254")
        return address
    return network(part[1] "." part[2] "." part[3]) "." part[4]
}
function mapped(address,    part, count, high, low, bytes) {
    # the end of ::ffff:aabb:ccdd, an IPv4 address in a GID
    count = split(address, part, ":")
    high = hex(part[count - 1])
    low = hex(part[count])
    split(ipv4(int(high / 256) "." high % 256 "." int(low / 256) "." low % 256), bytes, ".")
    return sprintf("ffff:%02x%02x:%02x%02x", bytes[1], bytes[2], bytes[3], bytes[4])
}
function hardware(address,    lower) {
    lower = tolower(address)
    if (lower ~ /^(00:00:00:00:00:00|ff:ff:ff:ff:ff:ff)$/) return address
    if (!(lower in cards)) cards[lower] = sprintf("02:00:00:%02x:%02x:%02x", int(++card / 65536), int(card / 256) % 256, card % 256)
    return cards[lower]
}
function port(address,    part, count) {
    # the interface half of an address that was made from a hardware address
    if (!(address in ports)) ports[address] = sprintf("0200:00ff:fe%02x:%04x", int(++seen / 65536), seen % 65536)
    return ports[address]
}
function replace(pattern, kind,    before, found, after, result) {
    result = ""
    after = line
    while (match(after, pattern)) {
        before = substr(after, 1, RSTART - 1)
        found = substr(after, RSTART, RLENGTH)
        after = substr(after, RSTART + RLENGTH)
        if (kind == "ipv4") found = ipv4(found)
        else if (kind == "mapped") found = mapped(found)
        else if (kind == "hardware") found = hardware(found)
        else if (kind == "port") found = port(tolower(found))
        else found = "[redacted]"
        result = result before found
    }
    line = result after
}
function rename(    before, after, result) {
    result = ""
    after = line
    while ((before = index(after, host)) > 0) {
        result = result substr(after, 1, before - 1) alias
        after = substr(after, before + length(host))
    }
    line = result after
}
{
    line = $0
    if (host != "" && host != alias) rename()
    replace("[0-9]+[.][0-9]+[.][0-9]+[.][0-9]+", "ipv4")
    replace("ffff:[0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F]:[0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F]", "mapped")
    replace("[0-9a-fA-F]+:[0-9a-fA-F]+[fF][fF]:[fF][eE][0-9a-fA-F]+:[0-9a-fA-F]+", "port")
    replace("[0-9a-fA-F][0-9a-fA-F](:[0-9a-fA-F][0-9a-fA-F])(:[0-9a-fA-F][0-9a-fA-F])(:[0-9a-fA-F][0-9a-fA-F])(:[0-9a-fA-F][0-9a-fA-F])(:[0-9a-fA-F][0-9a-fA-F])", "hardware")
    replace("GPU-[0-9a-f]+-[0-9a-f]+-[0-9a-f]+-[0-9a-f]+-[0-9a-f]+", "serial")
    if (line ~ /Serial [Nn]umber|[Ss]erial:|machine-id|UUID/) sub(/:[ \t]*[^ \t].*$/, ": [redacted]", line)
    print line > (FILENAME ".redacted")
}
FNR == 1 && last != "" { close(last ".redacted") }
{ last = FILENAME }
