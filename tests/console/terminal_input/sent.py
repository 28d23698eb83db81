"""What terminals send, by the documents that say so, and what each is to mean.

Sources: xterm's ctlseqs, kitty's keyboard and graphics protocols, ECMA-48, console_codes(4),
urxvt(7), VTE's and foot's answers.
"""

from typing import NamedTuple

NOTHING: tuple[str, ...] = ()


class Sent(NamedTuple):
    """Bytes, and the names of the events that they mean."""

    raw: bytes
    means: tuple[str, ...] = NOTHING


ESC = b"\x1b"
CSI = b"\x1b["

REPLIES = tuple(
    Sent(raw)
    for raw in (
        # Attributes: DA1 of xterm, kitty, foot, VTE, mlterm, tmux; DA2; DA3.
        *(
            CSI + b"?" + one + b"c"
            for one in (b"62", b"62;4;22", b"64;1;2;6;9;15;18;21;22", b"61;1;21;22", b"1;2", b"6")
        ),
        *(
            CSI + b">" + one + b"c"
            for one in (b"41;379;0", b"1;4000;26", b"0;276;0", b"65;7006;1", b"84;0;0", b"24;279;0")
        ),
        CSI + b"=00000000c",
        ESC + b"P!|7E565445\x1b\\",
        ESC + b"P!|00000000\x1b\\",
        # Status and cursor: DSR, CPR, DECXCPR, keyboard, printer, colour scheme.
        *(
            CSI + one
            for one in (
                b"0n",
                b"3n",
                b"?10n",
                b"?13n",
                b"?27;1;0;0n",
                b"?20n",
                b"?50n",
                b"?53n",
                b"?57;1n",
                b"?997;1n",
                b"?997;2n",
            )
        ),
        *(CSI + one for one in (b"1;1R", b"24;80R", b"1;5R", b"1;2R", b"?1;1R", b"?24;80;1R")),
        # Modes: DECRPM.
        *(
            CSI + b"?%d;%d$y" % pair
            for pair in (
                (2026, 0),
                (2026, 4),
                (2004, 1),
                (1004, 2),
                (1016, 0),
                (2027, 3),
                (2031, 2),
                (7, 1),
                (69, 2),
            )
        ),
        *(CSI + b"%d;%d$y" % pair for pair in ((4, 2), (20, 2))),
        # kitty's keyboard protocol: the flags.
        *(CSI + b"?%du" % flags for flags in (0, 1, 5, 15, 25, 31)),
        CSI + b"?u",
        # Windows: XTWINOPS.
        *(
            CSI + one
            for one in (
                b"1t",
                b"2t",
                b"3;0;0t",
                b"4;720;1280t",
                b"5;1080;1920t",
                b"6;18;9t",
                b"8;40;140t",
                b"9;60;200t",
                b"48;40;140;720;1260t",
            )
        ),
        ESC + b"]Lbash\x1b\\",
        ESC + b"]lbash: ~\x1b\\",
        ESC + b"]lrm -rf x\rp\x1b\\",
        # Graphics: XTSMGRAPHICS, kitty's.
        *(CSI + b"?" + one + b"S" for one in (b"1;0;256", b"1;3;0", b"2;0;1000;1000", b"2;1")),
        *(
            ESC + b"_G" + one + b"\x1b\\"
            for one in (
                b"i=31;OK",
                b"i=31;EBADF:gone",
                b"i=1,p=2;ENOENT:no such image",
                b"i=31;EINVAL:x",
            )
        ),
        # Colours, clipboard, fonts, directories.
        *(
            ESC + b"]" + one + b"\x1b\\"
            for one in (
                b"10;rgb:ffff/ffff/ffff",
                b"11;rgb:0000/0000/0000",
                b"12;rgb:ff/ff/ff",
                b"4;1;rgb:cd00/0000/0000",
                b"4;255;rgb:ee/ee/ee",
                b"52;c;aGVsbG8=",
                b"52;p;",
                b"50;monospace",
                b"7;file://host/home",
                b"1337;ReportCellSize=17.5;8.0",
                b"99;i=1:p=?;a=focus",
                b"21;foreground=rgb:ff/ff/ff",
                b"8;;",
                b"133;A",
                b"66;w=1;x",
            )
        ),
        ESC + b"]11;rgb:ffff/0000/1234\x07",
        ESC + b"]4;7;rgb:e5e5/e5e5/e5e5\x07",
        # XTVERSION, XTGETTCAP, DECRQSS, XTGETXRES.
        *(
            ESC + b"P" + one + b"\x1b\\"
            for one in (
                b">|xterm(379)",
                b">|kitty(0.26.5)",
                b">|foot(1.13.1)",
                b">|tmux 3.3a",
                b"1+r544e=787465726d",
                b"0+r",
                b"1+r436f=323536;524742",
                b"1$r0m",
                b"1$r2 q",
                b"0$r",
                b"1$r1;24r",
                b"1+Rfoo=bar",
                b"0!u1;1;1;0;0;A@@;0;2;@;BB%5%5",
            )
        ),
        CSI + b">4;2m",
        CSI + b">4;0m",
        CSI + b"2;1;1;128;128;1;0x",
        CSI + b"3;1;1;128;128;1;0x",
        CSI + b"1*y",
        CSI + b"1;2;10;10;0&w",
        CSI + b"0&w",
        # Strings that no terminal is known to answer with.
        ESC + b"^private message\x1b\\",
        ESC + b"Xa string\x1b\\",
        ESC + b"_other application\x1b\\",
        ESC + b"]777;notify;a;b\x1b\\",
        ESC + b"]unknown\x1b\\",
        ESC + b"Pq#0;2;0;0;0~\x1b\\",
        ESC + b"^\x1b\\",
        ESC + b"]\x07",
        # The same in eight bits, and as characters in UTF-8.
        b"\x9b?62c",
        b"\x9b24;80R",
        b"\x9d11;rgb:00/00/00\x9c",
        b"\x90>|x\x9c",
        b"\xc2\x9b?1;2c",
        b"\xc2\x9d10;rgb:aa/bb/cc\xc2\x9c",
        b"\xc2\x9fGi=31;OK\xc2\x9c",
    )
)

SILENT_KEYS = tuple(
    Sent(raw)
    for raw in (
        # Releases, of every form.
        CSI + b"13;1:3u",
        CSI + b"13;129:3u",
        CSI + b"97;1:3u",
        CSI + b"97:65;1:3;97u",
        CSI + b"120;5:3u",
        CSI + b"27;1:3u",
        CSI + b"1;1:3A",
        CSI + b"1;5:3D",
        CSI + b"1;1:3P",
        CSI + b"3;1:3~",
        CSI + b"15;2:3~",
        CSI + b"57399;1:3u",
        CSI + b"1080::112;5:3u",
        # Locks and modifiers alone.
        CSI + b"57358u",
        CSI + b"57358;65;65u",
        CSI + b"57358;1:1;65u",
        CSI + b"57359;;83u",
        CSI + b"57360;129u",
        *(CSI + b"%d;%du" % (code, 2) for code in range(57441, 57455)),
        CSI + b"57442;5:3u",
        # Keys that are no key here, and numbers that are none.
        CSI + b"57500u",
        CSI + b"63743;5u",
        CSI + b"0u",
        CSI + b"1u",
        CSI + b"97;1:9u",
        CSI + b"97;999u",
        CSI + b"1114112u",
        CSI + b"55296u",
        CSI + b"99999999999999999999u",
        CSI + b"97;1;97;98;99u",
        CSI + b"::::u",
        CSI + b";;;u",
        CSI + b"99;2~",
        CSI + b"1;2;3;4A",
        CSI + b"?1;2A",
        # No sequences of keys or answers at all.
        CSI + b"?25h",
        CSI + b"2J",
        CSI + b"0;1m",
        CSI + b"?1049l",
        CSI + b"1 q",
        CSI + b"46$p",
        CSI + b"3$p",
        CSI + b"!p",
        CSI + b"38:2::1:2:3m",
        CSI + b">1u",
        CSI + b"<1u",
        CSI + b"=1;2u",
        CSI + b"12;34;56x",
        CSI + b"5 @",
        CSI + b'"q',
    )
)

KEYS = (
    *(Sent(bytes([one]), (chr(one),)) for one in b"aZ19"),
    Sent("é".encode(), ("é",)),
    Sent("👍".encode(), ("thumbs_up_sign",)),
    Sent("ж".encode(), ("ж",)),
    Sent(b"\r", ("enter",)),
    Sent(b"\t", ("tab",)),
    Sent(b"\x7f", ("backspace",)),
    Sent(b"\x08", ("backspace",)),
    Sent(b"\x18", ("ctrl+x",)),
    Sent(b"\x11", ("ctrl+q",)),
    Sent(b"\x00", ("ctrl+@",)),
    Sent(b" ", ("space",)),
    *(
        Sent(CSI + one, (name,))
        for one, name in (
            (b"A", "up"),
            (b"B", "down"),
            (b"C", "right"),
            (b"D", "left"),
            (b"H", "home"),
            (b"F", "end"),
            (b"Z", "shift+tab"),
        )
    ),
    *(
        Sent(ESC + b"O" + one, (name,))
        for one, name in (
            (b"A", "up"),
            (b"P", "f1"),
            (b"Q", "f2"),
            (b"S", "f4"),
            (b"M", "enter"),
            (b"p", "0"),
            (b"y", "9"),
            (b"H", "home"),
            (b"5A", "ctrl+up"),
            (b"1;2P", "shift+f1"),
        )
    ),
    *(
        Sent(CSI + b"%d~" % code, (name,))
        for code, name in (
            (1, "home"),
            (2, "insert"),
            (3, "delete"),
            (4, "end"),
            (5, "pageup"),
            (6, "pagedown"),
            (11, "f1"),
            (15, "f5"),
            (24, "f12"),
        )
    ),
    Sent(CSI + b"[A", ("f1",)),
    Sent(CSI + b"[E", ("f5",)),
    Sent(CSI + b"3$\r", ("shift+delete", "enter")),
    Sent(CSI + b"3^", ("ctrl+delete",)),
    Sent(CSI + b"a", ("shift+up",)),
    Sent(CSI + b"1;5A", ("ctrl+up",)),
    Sent(CSI + b"1;2D", ("shift+left",)),
    Sent(CSI + b"1;3C", ("alt+right",)),
    Sent(CSI + b"3;5~", ("ctrl+delete",)),
    Sent(CSI + b"1;2P", ("shift+f1",)),
    # kitty's keyboard protocol: presses and repeats, alternates, text, locks.
    Sent(CSI + b"13u", ("enter",)),
    Sent(CSI + b"13;1:1u", ("enter",)),
    Sent(CSI + b"13;1:2u", ("enter",)),
    Sent(CSI + b"27u", ("escape",)),
    Sent(CSI + b"27;129u", ("escape",)),
    Sent(CSI + b"97u", ("a",)),
    Sent(CSI + b"97;;97u", ("a",)),
    Sent(CSI + b"97;1;97u", ("a",)),
    Sent(CSI + b"97;2;65u", ("A",)),
    Sent(CSI + b"97:65;2;65u", ("A",)),
    Sent(CSI + b"97:65;2u", ("A",)),
    Sent(CSI + b"97:65:97;2:1;65u", ("A",)),
    Sent(CSI + b"97;65;65u", ("A",)),
    Sent(CSI + b"49:33;2;33u", ("exclamation_mark",)),
    Sent(CSI + b"120;5u", ("ctrl+x",)),
    Sent(CSI + b"120;69u", ("ctrl+x",)),
    Sent(CSI + b"120;133u", ("ctrl+x",)),
    Sent(CSI + b"120:88;6u", ("ctrl+shift+x",)),
    Sent(CSI + b"120;5:2u", ("ctrl+x",)),
    Sent(CSI + b"1095::120;5u", ("ctrl+ч",)),
    Sent(CSI + b"112;3u", ("alt+p",)),
    Sent(CSI + b"0;;229u", ("å",)),
    Sent(CSI + b"0;;104:105u", ("h", "i")),
    Sent(CSI + b"32;;32u", ("space",)),
    Sent(CSI + b"57400;;49u", ("1",)),
    Sent(CSI + b"57414u", ("enter",)),
    Sent(CSI + b"57419u", ("up",)),
    Sent(CSI + b"1;1:1A", ("up",)),
    Sent(CSI + b"1;1:2B", ("down",)),
    Sent(CSI + b"1;129A", ("up",)),
    Sent(CSI + b"5;1:1~", ("pageup",)),
    Sent(CSI + b"113;7;64u", ("at",)),
    Sent(CSI + b"13;1;13u", ("enter",)),
    Sent(CSI + b"97;1;1u", ("a",)),
    Sent(CSI + b"97;1;1114112u", ("a",)),
    Sent(CSI + b"97;1;55296u", ("a",)),
    # xterm's modifyOtherKeys.
    Sent(CSI + b"27;5;120~", ("ctrl+x",)),
    Sent(CSI + b"27;2;65~", ("A",)),
    Sent(CSI + b"27;5;13~", ("ctrl+enter",)),
    Sent(b"\x9bA", ("up",)),
    Sent(b"\xc2\x9bB", ("down",)),
)

OTHERS = (
    Sent(CSI + b"I", ("AppFocus",)),
    Sent(CSI + b"O", ("AppBlur",)),
    Sent(CSI + b"<0;10;5M", ("MouseDown",)),
    Sent(CSI + b"<0;10;5m", ("MouseUp",)),
    Sent(CSI + b"<2;1;1M", ("MouseDown",)),
    Sent(CSI + b"<35;10;7M", ("MouseMove",)),
    Sent(CSI + b"<32;10;7M", ("MouseMove",)),
    Sent(CSI + b"<64;10;7M", ("MouseScrollUp",)),
    Sent(CSI + b"<65;10;7M", ("MouseScrollDown",)),
    Sent(CSI + b"<80;10;7M", ("MouseScrollUp",)),
    Sent(CSI + b"<35;1260;700M", ("MouseMove",)),
    Sent(CSI + b"<64;10;7m"),
    Sent(CSI + b"<128;10;7M"),
    Sent(CSI + b"<0;-3;5M"),
    Sent(CSI + b"<0;0;0M"),
    Sent(CSI + b"<0;999999999;1M"),
    Sent(CSI + b"<;;M"),
    Sent(CSI + b"<0;1M"),
    Sent(CSI + b"M !!", ("MouseDown",)),
    Sent(CSI + b"M#!!", ("MouseUp",)),
    Sent(CSI + b"MC!!", ("MouseMove",)),
    Sent(CSI + b"M`!!", ("MouseScrollUp",)),
    Sent(CSI + b"M \xff\xfe", ("MouseDown",)),
    Sent(CSI + b"32;10;5M", ("MouseDown",)),
    Sent(CSI + b"35;10;5M", ("MouseUp",)),
    Sent(CSI + b"200~pasted\x1b[201~", ("Paste",)),
    Sent(CSI + b"200~one\rtwo\nthree\x1b[201~", ("Paste",)),
    Sent(CSI + b"200~\x1b[A\x18\x1b[13;1:3u\x1b[201~", ("Paste",)),
    Sent(CSI + b"200~" + "häß 👍".encode() + b"\x1b[201~", ("Paste",)),
    Sent(CSI + b"200~\xff\xfe\x1b[201~", ("Paste",)),
    Sent(CSI + b"201~"),
    Sent(ESC + b"\\"),
    Sent(b"\x9c"),
    Sent(b"\xff"),
    Sent(b"\xc0\xaf"),
    Sent(b"\xed\xa0\x80"),
    Sent(b"\xf5\x80\x80\x80"),
    Sent(CSI + b"?2026;1$y", ("TerminalSupportsSynchronizedOutput",)),
    Sent(CSI + b"?2026;2$y", ("TerminalSupportsSynchronizedOutput",)),
)

ALL = (*REPLIES, *SILENT_KEYS, *KEYS, *OTHERS)
