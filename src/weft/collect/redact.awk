# Hides who and where, and keeps what a diagnosis needs: one thing has one substitute in every
# file of every bundle that this script writes, because the substitute is made of the thing and
# of the secret below. Addresses of one subnet stay in one subnet; loopback, link-local, netmasks,
# private ranges and the last byte of an IPv4 address stay as they are.
# Names are learned first (pass=learn), from what the host knows of itself and of its neighbours,
# and hidden then (pass=hide). Who has this script can test guesses: keep it, or throw it away.
function prime(    i) {
    modulus = 67108859 # the largest prime below 2^26: products stay exact
    for (i = 1; i < 256; i++) code[sprintf("%c", i)] = i
    power[0] = 1
    for (i = 1; i < 8; i++) power[i] = 2 * power[i - 1]
    for (i = 1; i <= 8; i++) key[i] = 1000003 + i * 7919
    for (i = 1; i <= 8; i++) key[i] = 1000 + stir(secret ":" i, 1)
}
function rest(number) {
    number -= int(number / modulus) * modulus
    if (number < 0) return number + modulus
    return number < modulus ? number : number - modulus
}
function stir(text, lane,    i, value) {
    value = key[lane]
    for (i = length(text); i > 0; i--) value = rest(value * key[lane + 1] + code[substr(text, i, 1)])
    for (i = 0; i < 4; i++) value = rest(value * value + key[lane + 2])
    return rest(value * key[lane + 3])
}
function digest(text, digits) { # up to 12 hexadecimal digits
    if (!(text in digests)) digests[text] = sprintf("%06x%06x", stir(text, 1) % 16777216, stir(text, 5) % 16777216)
    return substr(digests[text], 1, digits)
}
function hex(text,    i, value) {
    value = 0
    for (i = 1; i <= length(text); i++)
        value = value * 16 + index("0123456789abcdef", tolower(substr(text, i, 1))) - 1
    return value
}

# ---- addresses ----

function turned(byte, bits, before,    i, left, bit, result) {
    # the last bits of a byte, each turned or not as the bits before it say: subnets stay subnets
    result = 0
    left = byte
    for (i = 7; i >= 0; i--) {
        bit = left >= power[i]
        left -= bit * power[i]
        if (i < bits && stir("v4 " before, 1) % 2) result += (1 - bit) * power[i]
        else result += bit * power[i]
        before = before bit
    }
    return result
}
function ipv4(address,    part, first, second, prefix) {
    split(address, part, ".")
    first = part[1] + 0
    second = part[2] + 0
    if (first == 0 || first == 127 || first >= 224 || first == 169 && second == 254) return address
    prefix = first "." second "." part[3]
    if (!(prefix in networks)) {
        if (first == 10) networks[prefix] = "10." turned(second, 8, "10 ")
        else if (first == 172 && int(second / 16) == 1) networks[prefix] = "172." turned(second, 4, "172 ")
        else if (first == 192 && second == 168) networks[prefix] = "192.168"
        else {
            networks[prefix] = turned(first, 5, "")
            if (networks[prefix] ~ /^(0|10|127)$/) networks[prefix] = first
            networks[prefix] = networks[prefix] "." turned(second, 8, first " ")
        }
        networks[prefix] = networks[prefix] "." turned(part[3], 8, first "." second " ")
    }
    return networks[prefix] "." part[4]
}
function dotted(found, before,    part, count, i) {
    # numbers with dots: an address has four, and a version number is none
    count = split(found, part, ".")
    if (count != 4 || before ~ /[A-Za-z_.\/-]$/ && before !~ /(\/\/|ip-|[a-z]:\/?)$/) return found
    if (tolower(substr(before, length(before) - 15)) ~ /(version|firmware|driver|release|ofed|fw|ver)[^0-9]*$/) return found
    for (i = 1; i <= 4; i++) if (length(part[i]) > 3 || part[i] > 255) return found
    return ipv4(found)
}
function card(lower) { # a hardware address, twelve digits
    if (lower ~ /^(0+|f+|01005e.*|3333.*|0180c2.*)$/) return lower
    return "02" digest("mac " lower, 10)
}
function guid(lower) { # sixteen digits, of a node, a port, a system or half an address
    if (lower ~ /^(0+|f+)$/ || lower ~ /^000000/) return lower
    if (substr(lower, 7, 4) == "fffe") return eui(lower)
    return "0200" digest("guid " lower, 12)
}
function eui(lower,    first, mac) { # made of a hardware address, the second lowest bit turned
    first = hex(substr(lower, 1, 2))
    first += int(first / 2) % 2 ? -2 : 2
    mac = card(sprintf("%02x", first) substr(lower, 3, 4) substr(lower, 11, 6))
    return "00" substr(mac, 3, 4) "fffe" substr(mac, 7, 6)
}
function grouped(digits, width, mark,    i, result) {
    for (i = 1; i <= length(digits); i += width) result = result (i > 1 ? mark : "") substr(digits, i, width)
    return result
}
function bytes(part, from, to,    i, result) {
    for (i = from; i <= to; i++) result = result part[i]
    return tolower(result)
}
function decimals(part,    i, result, half, tail) {
    # sixteen decimal bytes: a GID as perftest prints it
    for (i = 1; i <= 16; i++) if (part[i] !~ /^[0-9]+$/ || part[i] > 255) return ""
    if (part[11] == 255 && part[12] == 255 && part[9] + part[10] == 0) {
        split(ipv4(part[13] + 0 "." part[14] + 0 "." part[15] + 0 "." part[16] + 0), tail, ".")
        for (i = 1; i <= 16; i++) result = result (i > 1 ? ":" : "") (i > 12 ? sprintf("%02d", tail[i - 12]) : part[i])
        return result
    }
    for (i = 9; i <= 16; i++) half = half sprintf("%02x", part[i])
    half = guid(half)
    for (i = 1; i <= 16; i++) result = result (i > 1 ? ":" : "") (i > 8 ? sprintf("%02d", hex(substr(half, 2 * (i - 8) - 1, 2))) : part[i])
    return result
}
function ipv6(found,    halves, left, right, count, more, i, all, wide, result, half, short) {
    # eight groups, some of them left out between two colons
    wide = found !~ /::/ && found ~ /^[0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f]:/ && length(found) == 39
    if (split(found, halves, "::") > 2) return found
    count = split(halves[1], left, ":")
    more = found ~ /::/ ? split(halves[2], right, ":") : 0
    if (count + more > 8 || found !~ /::/ && count != 8) return found
    for (i = 1; i <= 8; i++) {
        all[i] = i <= count ? left[i] : (i > 8 - more ? right[i - 8 + more] : "0")
        if (length(all[i]) > 4) return found
        all[i] = substr("0000" tolower(all[i]), length(all[i]) + 1)
        if (i < 5) short = short all[i]
    }
    half = all[5] all[6] all[7] all[8]
    if (short ~ /^0+$/ && half ~ /^00000000/ && half !~ /^00000000..../) return found
    if (short ~ /^0+$/ && half ~ /^0000ffff/) {
        split(ipv4(hex(substr(half, 9, 2)) "." hex(substr(half, 11, 2)) "." hex(substr(half, 13, 2)) "." hex(substr(half, 15, 2))), left, ".")
        half = sprintf("0000ffff%02x%02x%02x%02x", left[1], left[2], left[3], left[4])
    } else if (short half ~ /^0+.?$/ || short ~ /^ff/) {
        return found
    } else {
        result = ""
        for (i = 1; i < 5; i++) {
            result = result all[i]
            if (all[i] != "0000" && !(i == 1 && all[i] ~ /^fe[89ab]/))
                all[i] = (i == 1 ? "fd" : "") digest("v6 " result, i == 1 ? 2 : 4)
        }
        if (half ~ /^000000000000/) half = substr(half, 1, 12) digest("v6 " result half, 4)
        else half = guid(half)
        if (half !~ /^0000000/ && substr(half, 1, 4) == "0000" && found ~ /::/) half = "0001" substr(half, 5)
    }
    for (i = 5; i <= 8; i++) all[i] = substr(half, 4 * i - 19, 4)
    result = ""
    for (i = 1; i <= 8; i++) {
        if (!wide) sub(/^0+/, "", all[i])
        if (i > count && i <= 8 - more) {
            result = result (i == count + 1 ? (count ? ":" : "::") : "")
            if (all[i] != "") return found # never: what was left out is nothing
        } else result = result (all[i] == "" ? "0" : all[i]) (i < 8 ? ":" : "")
    }
    return result
}
function colons(found, before,    part, count, i, narrow, wide, tail) {
    # hexadecimal groups with colons: a hardware address, a GUID, a GID, IPv6, or a time of day
    if (before ~ /[A-Za-z0-9_]$/) return found
    tail = ""
    if (found ~ /[^:]:$/) { tail = ":"; found = substr(found, 1, length(found) - 1) }
    count = split(found, part, ":")
    narrow = wide = 1
    for (i = 1; i <= count; i++) {
        if (length(part[i]) != 2) narrow = 0
        if (length(part[i]) != 4) wide = 0
    }
    if (narrow && count == 6) return grouped(card(bytes(part, 1, 6)), 2, ":") tail
    if (narrow && count == 8) return grouped(guid(bytes(part, 1, 8)), 2, ":") tail
    if (narrow && count == 20) return grouped(bytes(part, 1, 12), 2, ":") ":" grouped(guid(bytes(part, 13, 20)), 2, ":") tail
    if (count == 16 && (narrow = decimals(part)) != "") return narrow tail
    if (wide && count == 4) return grouped(guid(bytes(part, 1, 4)), 4, ":") tail
    if (wide && count == 5 && part[1] == "0000") return found tail # a PCI address
    if (found ~ /::/ && found ~ /[0-9a-fA-F]/ || count == 8) return ipv6(found) tail
    return found tail
}
function run(found, before, after,    lower) {
    # a row of hexadecimal digits
    lower = tolower(found)
    if (before ~ /(^|[^A-Za-z0-9_])(0[xX]|[SHR]-|i-)$/ || before !~ /[A-Za-z0-9_]$/) {
        if (length(found) == 16 && (before ~ /(0[xX]|[SHR]-)$/ || lower ~ /[a-f]/ || tolower(line) ~ /guid/)) return guid(lower)
        if (length(found) == 17 && before ~ /i-$/) return digest("id " lower, 12) "00000"
        if (length(found) == 32 && lower ~ /^fe80000000000000/) return "fe80000000000000" guid(substr(lower, 17))
        if (length(found) == 32 && lower ~ /[a-f]/ && before !~ /0[xX]$/) return digest("id " lower, 12) digest("id2 " lower, 12) substr(digest("id3 " lower, 12), 1, 8)
        if (length(found) == 12 && before ~ /(enx|0[xX])$/ && tolower(line) ~ /mac|ether|enx/) return card(lower)
    }
    if (length(found) == 12 && before ~ /(^|[^A-Za-z0-9])(enx|wlx)$/) return card(lower)
    return found
}
function uuid(found,    lower) {
    lower = tolower(found)
    if (lower ~ /^[0-]+$/) return found
    return digest("uuid " lower, 8) "-" digest("uuid2 " lower, 4) "-4000-8000-" digest("uuid3 " lower, 12)
}
function dashes(found) { return grouped(card(tolower(substr(found, 1, 2) substr(found, 4, 2) substr(found, 7, 2) substr(found, 10, 2) substr(found, 13, 2) substr(found, 16, 2))), 2, substr(found, 3, 1)) }
function dots(found) { return grouped(card(tolower(substr(found, 1, 4) substr(found, 6, 4) substr(found, 11, 4))), 4, ".") }

# ---- names ----

function alias(name,    lower) {
    lower = tolower(name)
    if (lower in user) return "user-" digest("user " lower, 6)
    if (lower in area) return "area-" digest("area " lower, 6)
    sub(/[.].*/, "", lower)
    return "host-" digest("host " lower, 8)
}
function known_area(name,    at) { # of a name below a domain of this site
    for (at = index(name, "."); at > 0; at = index(name, ".")) {
        name = substr(name, at + 1)
        if (tolower(name) in area) return 1
    }
    return 0
}
function renamed(found,    parts, marks, count, i, from, to, part, result, text, hit) {
    # the longest known name that begins and ends at the marks in a word
    if (tolower(found) in host || tolower(found) in user || tolower(found) in area || known_area(found)) return alias(found)
    if (found !~ /[._-]/) return found
    count = 0
    text = found
    while (match(text, /[._-]+/)) {
        parts[++count] = substr(text, 1, RSTART - 1)
        marks[count] = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
    }
    parts[++count] = text
    marks[count] = ""
    if (count > 12) return found
    result = ""
    for (from = 1; from <= count; from++) {
        hit = 0
        for (to = count; to >= from && !hit; to--) {
            part = parts[from]
            for (i = from + 1; i <= to; i++) part = part marks[i - 1] parts[i]
            if (part != "" && (tolower(part) in host || tolower(part) in user)) hit = to
        }
        if (hit) {
            part = parts[from]
            for (i = from + 1; i <= hit; i++) part = part marks[i - 1] parts[i]
            result = result alias(part) marks[hit]
            from = hit
        } else result = result parts[from] marks[from]
    }
    return result
}
function home(found,    at) {
    at = match(found, /[^\/]+$/)
    return substr(found, 1, at - 1) "user-" digest("user " tolower(substr(found, at)), 6)
}
function after_mark(found, mark, kind) { # what follows a label
    match(found, mark)
    return substr(found, 1, RLENGTH) kind "-" digest(kind " " substr(found, RLENGTH + 1), 8)
}
function one_line_down(name) { # a name that is worth learning
    gsub(/^[ \t".]+|[ \t",.]+$/, "", name)
    return name
}
function is_name(name) {
    return length(name) > 2 && length(name) < 200 && name ~ /^[A-Za-z][A-Za-z0-9._-]*$/ && name ~ /[0-9.-]/ && \
        tolower(name) !~ /^(localhost|ip6-|mlx[45]_|hca-|ib[0-9]|eth[0-9]|ethernet[0-9\/]|swp[0-9]|ens?[0-9]|eno[0-9])/
}
function learn(kind, name,    short) {
    name = one_line_down(name)
    if (kind == "h" && !is_name(name)) return
    print kind, tolower(name)
    short = name
    if (kind == "h" && sub(/[.].*/, "", short) && is_name(short)) print kind, tolower(short)
}
function learn_line(    rest_of, name, at) {
    # The name of the host with a domain, wherever a tool prints it, gives the domain away.
    at = index(tolower($0), tolower(own) ".")
    if (at && own != "") {
        name = substr($0, at + length(own) + 1)
        if (match(name, /^[A-Za-z0-9-]+[.][A-Za-z0-9.-]*[A-Za-z]/)) {
            name = tolower(substr(name, 1, RLENGTH))
            if (name !~ /(^|[.])(local|localdomain|internal|log|txt|service)$/) print "d", name
        }
    }
    if (match($0, /SysName: *[^ ]+/)) learn("h", substr($0, RSTART + 8, RLENGTH - 8))
    if (match($0, /"kubernetes.io\/hostname": *"[^"]+"/)) { name = substr($0, RSTART, RLENGTH - 1); sub(/.*"/, "", name); learn("h", name) }
    if (FILENAME ~ /show_lldp_(table|neighbors)/ && NF > 3) learn("h", $2)
    if (match($0, /"MF0;[^:"]+:/)) learn("h", substr($0, RSTART + 5, RLENGTH - 6))
    rest_of = $0
    while (match(rest_of, /"[A-Za-z][A-Za-z0-9.-]* (HCA-|mlx|ibp|hfi|bnxt|roce)/)) {
        name = substr(rest_of, RSTART + 1, RLENGTH - 1)
        sub(/ .*/, "", name)
        learn("h", name)
        rest_of = substr(rest_of, RSTART + RLENGTH)
    }
}

# ---- the passes ----

function replace(pattern, kind,    before, found, after, result) {
    result = ""
    after = line
    while (match(after, pattern)) {
        before = result substr(after, 1, RSTART - 1)
        found = substr(after, RSTART, RLENGTH)
        after = substr(after, RSTART + RLENGTH)
        if (kind == "dotted") found = dotted(found, before)
        else if (kind == "colons") found = after ~ /^[A-Za-z_]/ ? found : colons(found, before)
        else if (kind == "run") found = after ~ /^[A-Za-z_]/ ? found : run(found, before, after)
        else if (kind == "uuid") found = uuid(found)
        else if (kind == "dashes") found = before after ~ /[0-9A-Fa-f]$/ && before ~ /[0-9A-Za-z_-]$/ || after ~ /^[0-9A-Za-z_-]/ ? found : dashes(found)
        else if (kind == "dots") found = before ~ /[0-9A-Za-z_.]$/ || after ~ /^[0-9A-Za-z_.]/ ? found : dots(found)
        else if (kind == "home") found = home(found)
        else if (kind == "at") found = "user-" digest("user " tolower(substr(found, 1, length(found) - 1)), 6) "@"
        else if (kind == "serial") found = after_mark(found, "^([Ss]erial[ _]?([Nn]umber)?|S[Nn])\"?[ \t]*[:=][ \t]*\"?", "serial")
        else if (kind == "amazon") found = "host-" digest("host " tolower(found), 8)
        else if (kind == "word") found = renamed(found)
        result = before found
    }
    line = result after
}
BEGIN {
    prime()
    h = "[0-9A-Fa-f]"
    two = h h
    four = two two
    eight = four four
    if (pass == "hide") while ((getline line < names) > 0) {
        split(line, field, " ")
        if (field[1] == "h") host[field[2]]
        else if (field[1] == "u") user[field[2]]
        else if (field[1] == "d") area[field[2]]
        some = 1
    }
}
pass == "learn" { learn_line(); next }
{
    line = $0
    replace(eight "-" four "-" four "-" four "-" eight four, "uuid")
    if (line ~ /[Ss]erial|S[Nn]/) replace("([Ss]erial[ _]?([Nn]umber)?|S[Nn])\"?[ \t]*[:=][ \t]*\"?[A-Za-z0-9][A-Za-z0-9.-]*", "serial")
    if (line ~ /:/) replace(h "*:[0-9A-Fa-f:]*:" h "*", "colons")
    if (line ~ /[.]/) {
        replace(four "[.]" four "[.]" four, "dots")
        replace("[0-9]+[.][0-9.]*[0-9]", "dotted")
    }
    if (line ~ /-/) replace(two "-" two "-" two "-" two "-" two "-" two, "dashes")
    replace(eight four h "*", "run")
    if (line ~ /\/(home|Users)\//) replace("/(home|Users)/[A-Za-z0-9._-]+", "home")
    if (line ~ /@/) replace("[A-Za-z_][A-Za-z0-9._-]*@", "at")
    if (line ~ /ip-[0-9]/) replace("ip-[0-9]+-[0-9]+-[0-9]+-[0-9]+", "amazon")
    if (some) replace("[A-Za-z][A-Za-z0-9._-]*", "word")
    print line > (FILENAME ".redacted")
}
FNR == 1 && last != "" && last != FILENAME { close(last ".redacted") }
{ last = FILENAME }
