"""Record every frame that comes out of a network namespace: AF_PACKET on the other end of a veth.

What counts is what was sent, whether anybody answers: a SYN to a closed port, a datagram, a ping.
"""

import socket
import struct
import threading
from collections import Counter

_ALL = 0x0003  # ETH_P_ALL of linux/if_ether.h
_IPV4, _ARP = 0x0800, 0x0806
_OUTGOING = 4  # PACKET_OUTGOING of packet(7): our own frames
_PROTOCOLS = {1: "icmp", 6: "tcp", 17: "udp"}


class Recorder:
    """Counts bytes by protocol and destination; frames of ARP, which name no data, are left out."""

    def __init__(self, interface: str) -> None:
        self.bytes: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ALL))
        self._socket.bind((interface, 0))
        threading.Thread(target=self._read, daemon=True).start()

    def counts_so_far(self) -> dict[str, int]:
        """Return what was counted so far, and begin anew."""
        with self._lock:
            found = dict(self.bytes)
            self.bytes.clear()
        return found

    def _read(self) -> None:
        while True:
            try:
                frame, address = self._socket.recvfrom(65_535)
            except OSError:
                # The cable is gone: the namespace at its other end has ended.
                return
            if address[2] == _OUTGOING:
                continue
            name = _name_of(frame)
            if name:
                with self._lock:
                    self.bytes[name] += len(frame)


def _name_of(frame: bytes) -> str:
    (kind,) = struct.unpack("!H", frame[12:14])
    if kind == _ARP:
        return ""
    if kind != _IPV4:
        return f"ethertype {kind:#06x}"
    header = (frame[14] & 0x0F) * 4
    protocol = _PROTOCOLS.get(frame[23], str(frame[23]))
    target = socket.inet_ntoa(frame[30:34])
    if protocol in {"tcp", "udp"}:
        (port,) = struct.unpack("!H", frame[14 + header + 2 : 14 + header + 4])
        return f"{protocol} {target}:{port}"
    return f"{protocol} {target}"
