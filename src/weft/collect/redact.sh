    echo "weft collect: $host: hiding who and where" >&2
    # shellcheck disable=SC2016 # awk's own dollar signs
    program='
# <program>
'
    names=$folder/.names
    {
        echo "h $host itself"
        echo "h ${host%%.*} itself"
        # The site's own domain: of the host's name, of its lines in /etc/hosts, of its searches.
        case $host in *.*.*) echo "d ${host#*.}" ;; esac
        if [ -r /etc/hosts ]; then
            awk -v own="${host%%.*}" '/^[0-9a-f]/ { for (i = 2; i <= NF && $i !~ /^#/; i++) if (index($i, own ".") == 1 && $i ~ /[.].*[.]/) { sub(/^[^.]*[.]/, "", $i); print "d " $i } }' /etc/hosts
        fi
        if [ -r /etc/resolv.conf ]; then
            awk '/^(search|domain)/ { for (i = 2; i <= NF; i++) if ($i ~ /[.]/ && $i !~ /cluster[.]local$/) print "d " $i }' /etc/resolv.conf
        fi
        if [ -r /etc/hosts ]; then
            awk '/^[0-9a-f]/ { for (i = 2; i <= NF && $i !~ /^#/; i++) if ($i ~ /[0-9-]/ && $i !~ /^(ip6-|localhost)/) { print "h " $i; sub(/[.].*/, "", $i); print "h " $i } }' /etc/hosts
        fi
        awk -F: '$3 >= 1000 && $3 < 60000 { print "u " $1 }' /etc/passwd
        for path in /home/*; do [ ! -d "$path" ] || printf 'u %s\n' "${path##*/}"; done
        find "$folder" -type f ! -name .names -exec awk -v pass=learn -v own="${host%%.*}" -v secret=- "$program" {} +
    } 2>/dev/null | tr "[:upper:]" "[:lower:]" | sort -u | awk '
        # Words that are also words of tools are no names to hide.
        $2 ~ /^(localhost|sonic|cumulus|switch|host|node|root|ubuntu|debian|centos|rocky|core|admin|user|nvidia|cloud-user|ec2-user|opc|test|guest|docker|kube|none|unknown)$/ { next }
        length($2) > 2 || $3 == "itself"' >"$names"
    (
        cd "$folder" || exit 1
        find . -type f ! -name .names >.before
        find . -type f ! -name '.[nb]*' -exec awk -v pass=hide -v secret='<secret>' -v names=.names "$program" {} +
        awk -v pass=hide -v secret='<secret>' -v names=.names "$program" .before
        while read -r old <&4 && read -r new <&5; do
            mkdir -p "${new%/*}"
            if [ -e "$old.redacted" ]; then
                rm -f "$old"
                old=$old.redacted
            fi
            [ "$old" = "$new" ] || mv "$old" "$new"
        done 4<.before 5<.before.redacted
        rm -f .names .before .before.redacted
        # What is left of the old names are empty folders.
        find . -depth -type d -exec rmdir {} + 2>/dev/null
    )
