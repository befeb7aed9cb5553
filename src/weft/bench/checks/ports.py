"""State, rate and packet size of the ports."""

from weft.bench.check import Check

ports = Check(
    title="state and packet size of every port", command="ibstat; ibv_devinfo; ip link"
)
