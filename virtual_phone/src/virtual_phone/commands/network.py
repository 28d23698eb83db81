"""`ip`, `ifconfig`, `ping`: the network that the phone says it has."""

from virtual_phone.shell.call import Call, CommandError, command

WLAN_ADDRESS = "10.0.2.16"
WLAN_MAC = "02:15:b2:00:00:10"
_LOOPBACK = """1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN group default qlen 1000
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
    inet 127.0.0.1/8 scope host lo
       valid_lft forever preferred_lft forever"""  # noqa: E501


def _wlan(call: Call) -> bool:
    return call.phone.settings.flag("global", "wifi_on")


@command("ip")
async def ip(call: Call) -> int:
    """Show addresses and routes."""
    words = [word for word in call.args if not word.startswith("-")]
    subject = words[0] if words else ""
    device = next((word for word in words if word in ("wlan0", "lo")), "")
    if subject.startswith("a"):
        if device in ("", "lo"):
            await call.line(_LOOPBACK)
        if device in ("", "wlan0"):
            await call.line(_wlan_lines(_wlan(call)))
    elif subject.startswith("r"):
        if _wlan(call):
            await call.line(f"10.0.2.0/24 dev wlan0 proto kernel scope link src {WLAN_ADDRESS} ")
    else:
        raise CommandError("Usage: ip [ OPTIONS ] OBJECT { COMMAND | help }", 255)
    return 0


def _wlan_lines(up: bool) -> str:
    flags = "BROADCAST,MULTICAST,UP,LOWER_UP" if up else "BROADCAST,MULTICAST"
    rows = [
        f"2: wlan0: <{flags}> mtu 1500 qdisc mq state {'UP' if up else 'DOWN'} group default "
        "qlen 3000",
        f"    link/ether {WLAN_MAC} brd ff:ff:ff:ff:ff:ff",
    ]
    if up:
        rows += [
            f"    inet {WLAN_ADDRESS}/24 brd 10.0.2.255 scope global wlan0",
            "       valid_lft forever preferred_lft forever",
        ]
    return "\n".join(rows)


@command("ifconfig")
async def ifconfig(call: Call) -> int:
    """Show interfaces."""
    device = call.args[0] if call.args else ""
    if device not in ("", "wlan0", "lo"):
        raise CommandError(f"ifconfig: {device}: No such device")
    if device in ("", "wlan0"):
        inet = f"inet addr:{WLAN_ADDRESS}  Bcast:10.0.2.255  Mask:255.255.255.0 "
        address = f"          {inet}\n"
        await call.line(f"wlan0     Link encap:Ethernet  HWaddr {WLAN_MAC}")
        await call.out(address if _wlan(call) else "")
        await call.line("          UP BROADCAST RUNNING MULTICAST  MTU:1500  Metric:1\n")
    if device in ("", "lo"):
        await call.line("lo        Link encap:Local Loopback  ")
        await call.line("          inet addr:127.0.0.1  Mask:255.0.0.0 ")
        await call.line("          UP LOOPBACK RUNNING  MTU:65536  Metric:1\n")
    return 0


@command("ping")
async def ping(call: Call) -> int:
    """Reach nothing but the phone itself."""
    words = [word for word in call.args if not word.startswith("-")]
    host = words[-1] if words else ""
    if host in ("localhost", "127.0.0.1", WLAN_ADDRESS):
        await call.line(
            f"PING {host} ({host}) 56(84) bytes of data.\n"
            f"64 bytes from {host}: icmp_seq=1 ttl=64 time=0.031 ms"
        )
        return 0
    if host.replace(".", "").isdigit():
        raise CommandError("connect: Network is unreachable", 2)
    raise CommandError(f"ping: unknown host {host}", 2)
