#!/bin/sh
# Build the API server that tests/tools/test_kubernetes_api.py asks: Kubernetes' own
# apiextensions-apiserver, and etcd, from Debian's packages in a folder of their own.
# It takes root, 2 GB and some minutes, so it is run by hand and not by tools.sh.
# Usage: sh scripts/apiserver.sh FOLDER; then PATH=FOLDER/bin:$PATH pytest tests/tools
set -eu
folder=${1:?usage: sh scripts/apiserver.sh FOLDER}
root=$folder/root
mirror=${MIRROR:-http://deb.debian.org/debian}
source=/usr/share/gocode/src/k8s.io/apiextensions-apiserver

mkdir -p "$folder/bin"
if [ ! -d "$root/usr" ]; then
    mmdebstrap --quiet --variant=apt --include=ca-certificates \
        --aptopt='Acquire::Check-Valid-Until "false"' sid "$root" "$mirror"
fi
# Nothing here has to outlive a loss of power; waiting for the disk takes most of the time.
echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe"
chroot "$root" apt-get update -qq -o Acquire::Check-Valid-Until=false
DEBIAN_FRONTEND=noninteractive chroot "$root" apt-get install -y -qq --no-install-recommends \
    golang-go golang-k8s-apiextensions-apiserver-dev golang-k8s-apiserver-dev etcd-server
chroot "$root" env HOME=/root CGO_ENABLED=0 GOPATH=/usr/share/gocode GO111MODULE=off \
    sh -c "cd $source && go build -o /root/apiextensions-apiserver ."
cp "$root/root/apiextensions-apiserver" "$root/usr/bin/etcd" "$folder/bin/"
