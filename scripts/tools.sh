#!/bin/sh
# Install the tools that tests/tools asks about rendered configurations. Quick when they are
# there, and never a failure: a test without its tool is skipped and says so.
# Usage: sh scripts/tools.sh   (from the repository root)
set -u
VENV="${VENV:-.venv}"
# Without a network pip would try for minutes.
export PIP_RETRIES="${PIP_RETRIES:-1}" PIP_DEFAULT_TIMEOUT="${PIP_DEFAULT_TIMEOUT:-15}"
PACKAGES="opensm ibsim-utils infiniband-diags slurmctld slurmd slurm-client slurm-wlm-basic-plugins
openssh-client openssh-server
shellcheck libyang2-dev libpcre2-dev gcc python3-dev frr iproute2 iputils-ping procps
ansible-core ansible-lint openmpi-bin iperf3 postgresql
gawk original-awk busybox mksh
prometheus prometheus-alertmanager prometheus-node-exporter libsimgrid-dev python3-simgrid"

lacking() {
    for package in $PACKAGES; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
            printf ' %s' "$package"
    done
}

missing=$(lacking)
if [ -n "$missing" ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        # Daemons of these packages are for tests alone: nothing may start them here.
        if [ ! -e /usr/sbin/policy-rc.d ]; then
            printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
            chmod +x /usr/sbin/policy-rc.d
            trap 'rm -f /usr/sbin/policy-rc.d' EXIT
            trap 'exit 130' INT TERM
        fi
        apt_get() {
            DEBIAN_FRONTEND=noninteractive timeout 300 apt-get -qq \
                -o Acquire::Retries=1 -o Acquire::http::Timeout=15 "$@" >/dev/null 2>&1
        }
        apt_get update # where a part of the archive cannot be reached, the rest is used
        # shellcheck disable=SC2086 # a list of names
        if ! apt_get install -y --no-install-recommends $missing; then
            # One that cannot be had does not keep the others away.
            until=$(($(date +%s) + 600))
            for package in $(lacking); do
                [ "$(date +%s)" -lt "$until" ] || break
                DEBIAN_FRONTEND=noninteractive timeout 120 dpkg --configure -a >/dev/null 2>&1
                apt_get install -y --no-install-recommends "$package"
            done
        fi
        missing=$(lacking)
        [ -z "$missing" ] ||
            echo "could not install$missing; tests that need them are skipped" >&2
    else
        echo "not installed:$missing; tests that need them are skipped" >&2
    fi
fi
# Arista's schema and renderer of EOS.
if [ -x "$VENV/bin/python" ] && ! "$VENV/bin/python" -c 'import pyavd' 2>/dev/null; then
    timeout 120 "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check \
        'pyavd==4.8.0' >/dev/null 2>&1 ||
        echo "could not install pyavd; tests of EOS are skipped" >&2
fi
# The binding that fits the libyang of Debian 12.
if [ -x "$VENV/bin/python" ] && ! "$VENV/bin/python" -c 'import libyang' 2>/dev/null; then
    timeout 120 "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check \
        cffi 'libyang==2.8.0' >/dev/null 2>&1 ||
        echo "could not build libyang; tests of SONiC's models are skipped" >&2
fi
# Grafana's own types of a dashboard, and the compiler that checks them.
if command -v npm >/dev/null 2>&1 && [ ! -x "$VENV/grafana/node_modules/.bin/tsc" ]; then
    timeout 200 npm install --silent --no-audit --no-fund --prefix "$VENV/grafana" \
        '@grafana/schema@11.6.0' 'typescript@5.8.3' >/dev/null 2>&1 ||
        echo "could not install @grafana/schema; the test of dashboards is skipped" >&2
fi
# PyTorch for CPUs, for collectives between network namespaces: 0.8 GB unpacked, half a minute.
# Not what plain "torch" is, which brings 5 GB of CUDA.
if [ -x "$VENV/bin/python" ] && ! "$VENV/bin/python" -c 'import torch' 2>/dev/null; then
    pip_install() { timeout 300 "$VENV/bin/python" -m pip install --quiet \
        --disable-pip-version-check "$@" >/dev/null 2>&1; }
    pip_install 'torch==2.13.0+cpu' ||
        pip_install torch --index-url https://download.pytorch.org/whl/cpu ||
        echo "could not install PyTorch for CPUs; tests that need it are skipped" >&2
fi
exit 0
