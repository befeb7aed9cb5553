"""``rails.tsv`` of weft: the address and the gateway of every NIC of every host."""

from collections.abc import Iterator

from weft.lint.facts import Address, Fact, Flaw, RailTable, Side
from weft.lint.reader import File, Reader

_COLUMNS = 5


def _claims(file: File) -> bool:
    return file.head.startswith("#host\tdevice\taddress\tgateway")


def _read(file: File) -> Iterator[Fact]:
    for number, line in file.lines():
        if not line.strip() or line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) != _COLUMNS:
            yield Flaw(
                at=file.at(number),
                rule="broken_line",
                message=f"{len(fields)} columns in place of {_COLUMNS}",
                fix="write host, device, address, gateway, table, with tabs between",
            )
        else:
            host, device, address, gateway, table = fields
            yield Address(
                at=file.at(number),
                device=host,
                side=Side.HOST,
                port=device,
                address=address,
                gateway=gateway,
            )
            yield RailTable(at=file.at(number), device=host, port=device, table=table)


rails = Reader(title="addresses of the rails", claims=_claims, read=_read)
