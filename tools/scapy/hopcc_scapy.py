# SPDX-License-Identifier: GPL-2.0
"""Layers of scapy for the headers of hopcc. To import this module is enough:

    >>> import hopcc_scapy as hopcc
    >>> Ether(frame)[hopcc.CsigExpanded].locator
    >>> IP(dst="192.0.2.1") / hopcc.Xcp(delta=1000) / TCP(dport=80)
    >>> hopcc.options(packet[TCP])

CsigCompact, CsigExpanded       a tag, with the EtherType behind it
Xcp                             the congestion header
Int                             the telemetry header in front of TCP, with the two words behind it
IntMessage, IntHeader, IntTerms a probe or an answer: TCP's payload
CsigOption, IntOption, HopOption  TCP options; as_option() makes a pair for TCP(options=[...])
Ifa, IfaMetadata                IFA 2.0: in front of TCP's header, and behind it
IntMd                           INT-MD 2.1 in front of a probe's message

The formats are those of include/hopcc/wire.
"""
import struct

from scapy.fields import BitEnumField, BitField, ByteEnumField, ByteField, FieldLenField, FlagsField, \
    IntField, PacketListField, ShortEnumField, ShortField, SignedIntField, StrLenField, XByteField, XIntField, \
    XLongField, XShortEnumField, XShortField
from scapy.layers.inet import GRE, IP, TCP, UDP, in4_chksum
from scapy.layers.inet6 import IPv6, in6_chksum
from scapy.layers.l2 import ARP, CookedLinux, Dot1AD, Dot1Q, Ether
from scapy.packet import Packet, bind_layers

TPID_COMPACT, TPID_EXPANDED = 0x88b5, 0x88b6
PROTOCOL_XCP, PROTOCOL_IFA, PROTOCOL_INT = 63, 253, 254
OPTION, EXID_CSIG, EXID_INT = 253, 0x4353, 0x4849
OPTION_HOP, EXID_HOP = 254, 0x484f
CARRIERS = ["int", "csig", "xcp"]
SIGNALS = {0: "min_abw", 1: "min_abw_c", 2: "max_pd"}
TYPES = {2: "data", 3: "probe", 4: "answer"}
KINDS = {0: "records", 1: "summary", 2: "ratio", 3: "window"}
SPEEDS = dict(enumerate(("unknown", "10M", "100M", "1G", "2.5G", "10G", "25G", "40G", "50G", "100G", "200G",
                         "400G", "800G", "1.6T", "5G", "reserved")))
# The first TCP option of a probe and of an answer, and what is behind the header in each
MARKS = {b"\xfd\x04HP": 12, b"\xfd\x04HA": 0}


def transport_sum(underlayer, data):
    """Return the checksum of a TCP segment below a header of ours; None if it is not below IP."""
    if isinstance(underlayer, IP):
        alone = underlayer.copy()
        alone.len = None
        return in4_chksum(6, alone, data)
    return in6_chksum(6, underlayer, data) if isinstance(underlayer, IPv6) else None


class Shim(Packet):
    """A header between IP and TCP: scapy computes TCP's checksum directly below IP only."""
    def with_sum(self, payload):
        if not isinstance(self.payload, TCP) or self.payload.chksum is not None:
            return payload
        value = transport_sum(self.underlayer, payload)
        return payload if value is None else payload[:16] + struct.pack("!H", value) + payload[18:]


class CsigCompact(Packet):
    name = "CSIG compact"
    fields_desc = [BitEnumField("type", 0, 3, SIGNALS), BitField("reserved", 0, 1), BitField("value", 0, 5),
                   BitField("locator", 0, 7), XShortEnumField("ethertype", 0x800, {})]


class CsigExpanded(Packet):
    name = "CSIG expanded"
    fields_desc = [ShortField("locator", 0), BitEnumField("type", 0, 4, SIGNALS), BitField("value", 0, 20),
                   XByteField("reserved", 0), XShortEnumField("ethertype", 0x800, {})]


class Xcp(Shim):
    name = "XCP"
    fields_desc = [BitField("version", 1, 4),
                   BitEnumField("format", 3, 4, {1: "standard", 2: "minimal", 3: "micro"}),
                   ByteField("protocol", 6), ByteField("length", 20), XByteField("flags", 0),
                   IntField("rtt", 0), IntField("throughput", 0), SignedIntField("delta", 0),
                   SignedIntField("reverse", 0)]

    def post_build(self, pkt, pay):
        return pkt + self.with_sum(pay)


class Part(Packet):
    """A part of a packet, with nothing behind it."""

    def extract_padding(self, s):
        return b"", s


class IntRecord(Part):
    name = "INT record"
    fields_desc = [BitEnumField("speed", 0, 4, SPEEDS), BitField("timestamp", 0, 24), BitField("tx", 0, 20),
                   BitField("qlen", 0, 16)]


def slots_of(packet):
    return max(0, (packet.words - 3) // 2)


# The common part. `words` None: from the records.
HEADER = [ByteField("next", 6), ByteField("words", None), ByteEnumField("type", 2, TYPES),
          XByteField("flags", 0), BitField("nhop", 0, 4), BitField("path_id", 0, 12), ShortField("padding", 0),
          PacketListField("records", [], IntRecord, count_from=slots_of),
          BitField("slots", None, 4), BitField("port_id", 0, 16), BitField("zero", 0, 12)]


class IntHeader(Packet):
    """The header alone, as it is in a message."""
    name = "INT header"
    fields_desc = HEADER

    def completed(self, pkt):
        """Write the length and the number of slots where they were left out."""
        count = len(self.records)
        if self.words is None:
            pkt = pkt[:1] + bytes([3 + 2 * count]) + pkt[2:]
        if self.slots is None:
            at = 8 + 8 * count
            pkt = pkt[:at] + bytes([count << 4 | pkt[at] & 15]) + pkt[at + 1:]
        return pkt

    def post_build(self, pkt, pay):
        return self.completed(pkt) + pay

    def guess_payload_class(self, payload):
        return IntTerms if self.type == 3 else Packet.guess_payload_class(self, payload)


class Int(Shim, IntHeader):
    """The header in front of TCP."""
    name = "INT"
    fields_desc = HEADER + [IntField("id", 0), XIntField("cookie_low", 0)]

    def post_build(self, pkt, pay):
        return self.completed(pkt) + self.with_sum(pay)

    def guess_payload_class(self, payload):
        return Packet.guess_payload_class(self, payload)


class IntMessage(Packet):
    name = "INT message"
    fields_desc = [XIntField("id", 0), XLongField("cookie", 0), IntField("seq", 0),
                   IntField("t_ns", 0), IntField("window", 0), ShortEnumField("kind", 0, KINDS),
                   ShortField("flows", 0), XLongField("tag", 0)]


class IntTerms(Packet):
    name = "INT terms"
    fields_desc = [IntField("window_max", 0), IntField("eta", 0), ShortField("max_stage", 0),
                   ShortField("flows", 0)]


class Ifa(Packet):
    """The header behind IP; TCP's checksum is that of the packet without IFA."""
    name = "IFA"
    fields_desc = [BitField("version", 2, 4), BitField("gns", 0, 4), ByteField("next", 6), XByteField("flags", 0),
                   ByteField("max_words", 0)]


class IfaMetadata(Packet):
    """What follows TCP's header: without the checksum and the fragment's word that flags announce."""
    name = "IFA metadata"
    fields_desc = [XByteField("request", 0), XByteField("action", 0), ByteField("hop_limit", 255),
                   FieldLenField("words", None, length_of="stack", fmt="B", adjust=lambda _, size: size // 4),
                   StrLenField("stack", b"", length_from=lambda packet: packet.words * 4)]

    def guess_payload_class(self, payload):
        tcp = self.underlayer
        marked = isinstance(tcp, TCP) and terms_bytes(tcp) is not None
        return IntMessage if marked else Packet.guess_payload_class(self, payload)


class IntMd(Packet):
    name = "INT-MD"
    fields_desc = [BitField("type", 1, 4), BitField("npt", 0, 2), BitField("reserved", 0, 2),
                   FieldLenField("words", None, length_of="stack", fmt="B", adjust=lambda _, size: size // 4 + 3),
                   XShortField("original", 0), BitField("version", 2, 4), BitField("flags", 0, 3),
                   BitField("reserved_2", 0, 12), BitField("hop_words", 6, 5), ByteField("remaining_hops", 0),
                   XShortField("bitmap", 0xd500), ShortField("domain", 0), XShortField("domain_bitmap", 0),
                   XShortField("domain_flags", 0),
                   StrLenField("stack", b"", length_from=lambda packet: max(0, packet.words - 3) * 4)]

    def guess_payload_class(self, payload):
        return IntMessage if payload else Packet.guess_payload_class(self, payload)


class CsigOption(Part):
    """A TCP option from its kind on: data is empty, or the data of a tag."""
    name = "CSIG option"
    fields_desc = [ByteField("kind", OPTION), ByteField("length", 4), XShortEnumField("exid", EXID_CSIG, {}),
                   PacketListField("tag", [], None, next_cls_cb=lambda packet, *_: packet.tag_class())]

    def tag_class(self):
        return {6: CompactData, 10: ExpandedData}.get(self.length) if not self.tag else None


class CompactData(Part):
    name = "CSIG data, compact"
    fields_desc = CsigCompact.fields_desc[:-1]


class ExpandedData(Part):
    name = "CSIG data, expanded"
    fields_desc = CsigExpanded.fields_desc[:-1]


class IntOption(Part):
    """A TCP option from its kind on."""
    name = "INT option"
    fields_desc = [ByteField("kind", OPTION), ByteField("length", 16), XShortEnumField("exid", EXID_INT, {}),
                   BitField("id", 0, 12), BitField("index", 0, 4), BitField("nhop", 0, 4),
                   BitField("path_id", 0, 12), PacketListField("records", [], IntRecord, count_from=lambda _: 1)]


class HopOption(Part):
    """A TCP option from its kind on, by which all carriers negotiate."""
    name = "hopcc option"
    fields_desc = [ByteField("kind", OPTION_HOP), ByteField("length", 16), XShortEnumField("exid", EXID_HOP, {}),
                   FlagsField("asks", 0, 8, CARRIERS), FlagsField("answers", 0, 8, CARRIERS), ShortField("zero", 0),
                   XLongField("cookie", 0)]


LAYERS = {(OPTION, EXID_CSIG): CsigOption, (OPTION, EXID_INT): IntOption, (OPTION_HOP, EXID_HOP): HopOption}


def options(tcp):
    """Return the options of ours that a TCP header has, as packets."""
    found = []
    for kind, data in tcp.options:
        layer = LAYERS.get((kind, int.from_bytes(data[:2], "big"))) if isinstance(data, bytes) else None
        if layer:
            found.append(layer(bytes([kind, len(data) + 2]) + data))
    return found


def as_option(packet):
    """Return an option as TCP(options=[...]) wants it."""
    return packet.kind, bytes(packet)[2:]


for link, field in ((Ether, "type"), (Dot1Q, "type"), (Dot1AD, "type"), (CookedLinux, "proto")):
    bind_layers(link, CsigCompact, **{field: TPID_COMPACT})
    bind_layers(link, CsigExpanded, **{field: TPID_EXPANDED})
for tag_layer in (CsigCompact, CsigExpanded):
    for ethertype, network in ((0x800, IP), (0x86dd, IPv6), (0x806, ARP)):
        bind_layers(tag_layer, network, ethertype=ethertype)
for shim, number in ((Xcp, PROTOCOL_XCP), (Int, PROTOCOL_INT)):
    bind_layers(IP, shim, proto=number, frag=0)
    bind_layers(IPv6, shim, nh=number)
for shim, field in ((Xcp, "protocol"), (Int, "next")):
    for number, transport in ((6, TCP), (17, UDP), (47, GRE), (4, IP), (41, IPv6)):
        bind_layers(shim, transport, **{field: number})
bind_layers(IntMessage, IntHeader)

bind_layers(IP, Ifa, proto=PROTOCOL_IFA, frag=0)
bind_layers(IPv6, Ifa, nh=PROTOCOL_IFA)
bind_layers(Ifa, TCP, next=6)
bind_layers(Ifa, UDP, next=17)

guess_by_port = TCP.guess_payload_class


def terms_bytes(tcp):
    """Return the bytes behind the header of a probe or of an answer, by TCP's mark; None for other segments."""
    first = tcp.options[0] if tcp.options else (0, None)
    return MARKS.get(bytes([first[0], 4]) + first[1]) if isinstance(first[1], bytes) else None


def guess_message(self, payload):
    """A probe and an answer are found whatever the ports are; INT-MD only in front of one."""
    if isinstance(self.underlayer, Ifa):
        return IfaMetadata
    behind = terms_bytes(self)
    if behind is None or len(payload) < 48 + behind:
        return guess_by_port(self, payload)
    # The slots in the header's last word are those of the packet's length, unless INT-MD is in front.
    slots = payload[len(payload) - behind - 4] >> 4
    return IntMessage if len(payload) == 48 + slots * 8 + behind else IntMd


TCP.guess_payload_class = guess_message
