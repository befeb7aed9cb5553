"""The vocabulary of things seen on a real cluster; no tool is named here.

A fact is a small frozen record of what one line, or a few lines, of some output said.
It judges nothing: a link that is down is a fact, that this matters is a finding.
Several tools may state the same fact, so a rule needs to know the facts only.

Conventions of all facts:

* text that was not there is ``""``, a number or a truth that was not there is ``None``;
* ``host`` is the host the output came from, ``""`` where the output does not say;
* words of state are those of the InfiniBand specification, whatever the tool writes:
  ``base.PortState`` and ``base.PhysicalState``;
* names of adapters, interfaces and counters are kept as the machine spells them.
"""
