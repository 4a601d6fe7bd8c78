"""Nobody to trust: each person randomises their own value, and the crowd still adds up.

A client randomises, a server estimates; docs/reference/local.md lists the calls. Every draw is exact and comes from the
operating system's randomness.
"""

from sfumato.local.device import Device
from sfumato.local.estimate import Estimate
from sfumato.local.mean import MeanEstimate
from sfumato.local.poison import Poisoning, poison, poisoning
from sfumato.local.protocol import Client, Protocol, Reports, Server
from sfumato.local.protocols import attributes, compare, heavy_hitters, load, mean, protocol
from sfumato.local.shuffle import shuffled

__all__ = [
    "Client",
    "Device",
    "Estimate",
    "MeanEstimate",
    "Poisoning",
    "Protocol",
    "Reports",
    "Server",
    "attributes",
    "compare",
    "heavy_hitters",
    "load",
    "mean",
    "poison",
    "poisoning",
    "protocol",
    "shuffled",
]
