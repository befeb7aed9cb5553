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
function guid(digits,    lower) {
    # 16 hexadecimal digits: of a node, a port or a system, made from a hardware address
    lower = tolower(digits)
    if (lower ~ /^(0+|f+)$/) return digits
    if (!(lower in guids)) guids[lower] = sprintf("0200000000%06x", ++nodes)
    return guids[lower]
}
function half(address,    digits) {
    # the last four groups of a GID are the GUID of its port; those of IPv4 are done already
    if (address ~ /^0000:0000:/ || tolower(address) ~ /^0000:ffff:/ || tolower(address) ~ /fe[0-9a-f][0-9a-f]:[0-9a-f]+$/) return address
    digits = address
    gsub(":", "", digits)
    digits = guid(digits)
    return substr(digits, 1, 4) ":" substr(digits, 5, 4) ":" substr(digits, 9, 4) ":" substr(digits, 13, 4)
}
function ipv6(address,    lower) {
    lower = tolower(address)
    if (!(lower in sites)) sites[lower] = sprintf("fd00::%x", ++site)
    return sites[lower]
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
        else if (kind == "guid") found = substr(found, 1, length(found) - 16) guid(substr(found, length(found) - 15))
        else if (kind == "gid") found = substr(found, 1, 20) half(substr(found, 21))
        else if (kind == "ipv6") found = ipv6(found)
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
    replace("[fF][eE]80:0000:0000:0000:[0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F]:[0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F]:[0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F]:[0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F]", "gid")
    replace("(0x|S-|H-|R-)[0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F]", "guid")
    replace("([23][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F]|[fF][cCdD][0-9a-fA-F][0-9a-fA-F]):[0-9a-fA-F]*:[0-9a-fA-F:]*", "ipv6")
    replace("GPU-[0-9a-f]+-[0-9a-f]+-[0-9a-f]+-[0-9a-f]+-[0-9a-f]+", "serial")
    if (line ~ /Serial [Nn]umber|[Ss]erial:|machine-id|UUID/) sub(/:[ \t]*[^ \t].*$/, ": [redacted]", line)
    print line > (FILENAME ".redacted")
}
FNR == 1 && last != "" { close(last ".redacted") }
{ last = FILENAME }
