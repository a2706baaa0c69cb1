-- SPDX-License-Identifier: GPL-2.0
-- Dissectors of Wireshark and tshark for the headers of hopcc: CSIG's tags, XCP's congestion header,
-- HPCC++'s telemetry (INT), its probes and answers, the TCP options of CSIG and INT, and the one by which all
-- carriers negotiate; also for IFA 2.0, and for INT-MD 2.1 in front of a probe. Wireshark knows IOAM. TCP below
-- the headers is dissected as TCP. `make install` puts this file where Wireshark looks for it; without:
--
--	tshark -X lua_script:tools/wireshark/hopcc.lua -r FILE -Y hopcc.csig.locator
--
-- The formats are those of include/hopcc/wire. Numbers that modules take as parameters are
-- preferences of the protocols here.

local TCP, EXPERIMENT, NEGOTIATION = 6, 253, 254
local CSIG_EXID, INT_EXID = 0x4353, 0x4849
-- The first option of TCP in a probe and in an answer, and what is behind the header in each
local MARKS = { [0xfd044850] = 12, [0xfd044841] = 0 }
local ethertypes = DissectorTable.get("ethertype")
local ip_protocols = DissectorTable.get("ip.proto")
local data_dissector = Dissector.get("data")

-- Hand the rest of a packet to the dissector of its protocol. Where that one finds the packet cut
-- short, it has said so itself, and that is no error of this script.
local function pass_on(dissectors, number, rest, pinfo, tree)
	if rest:len() == 0 then
		return
	end
	local whole, used = pcall(dissectors.try, dissectors, number, rest:tvb(), pinfo, tree)
	if whole and used == 0 then
		data_dissector:call(rest:tvb(), pinfo, tree)
	end
end

-- CSIG ------------------------------------------------------------------------------------------------

local csig = Proto("hopcc.csig", "hopcc CSIG tag")
local option = Proto("hopcc.csig_option", "hopcc CSIG option")
local forms = { [1] = "compact", [2] = "expanded" }
local signals = { [0] = "min(ABW)", [1] = "min(ABW/C)", [2] = "max(PD)" }
local option_kinds = { [4] = "no tag", [6] = "compact tag", [10] = "expanded tag" }

-- The fields of a tag, below the name of a protocol.
local function tag_fields(name)
	return {
		form = ProtoField.uint8(name .. ".form", "Form", base.DEC, forms),
		signal = ProtoField.uint8(name .. ".type", "Signal type", base.DEC, signals),
		reserved = ProtoField.uint8(name .. ".reserved", "Reserved", base.HEX),
		value = ProtoField.uint32(name .. ".value", "Value, in the tag's units", base.DEC),
		locator = ProtoField.uint16(name .. ".locator", "Locator", base.HEX_DEC),
	}
end

local tag_field, option_field = tag_fields("hopcc.csig"), tag_fields("hopcc.csig_option")
local tpid = ProtoField.uint16("hopcc.csig.tpid", "TPID", base.HEX)
local inner_type = ProtoField.uint16("hopcc.csig.ethertype", "EtherType", base.HEX)
local option_kind = ProtoField.uint8("hopcc.csig_option.length", "Option length", base.DEC, option_kinds)

csig.fields = { tpid, inner_type, tag_field.form, tag_field.signal, tag_field.reserved, tag_field.value,
	tag_field.locator }
option.fields = { option_kind, option_field.form, option_field.signal, option_field.reserved,
	option_field.value, option_field.locator }
csig.prefs.compact = Pref.uint("TPID of compact tags", 0x88b5, "Parameter tpid_compact of net_csig_tag")
csig.prefs.expanded = Pref.uint("TPID of expanded tags", 0x88b6, "Parameter tpid_expanded of net_csig_tag")

-- Add the 2 or 6 bytes behind the TPID. Return: a summary.
local function add_tag_data(data, field, tree)
	local compact = data:len() == 2
	local first = data(0, 2)
	local signal, value, locator
	tree:add(field.form, compact and 1 or 2):set_generated()
	if compact then
		signal, value, locator = first:bitfield(0, 3), first:bitfield(4, 5), first:bitfield(9, 7)
		tree:add(field.signal, first, signal)
		tree:add(field.reserved, first, first:bitfield(3, 1))
		tree:add(field.value, first, value)
		tree:add(field.locator, first, locator)
	else
		local second = data(2, 4)
		signal, value, locator = second:bitfield(0, 4), second:bitfield(4, 20), first:uint()
		tree:add(field.locator, first)
		tree:add(field.signal, second, signal)
		tree:add(field.value, second, value)
		tree:add(field.reserved, data(5, 1))
	end
	return string.format("%s = %d, locator %d", signals[signal] or "type " .. signal, value, locator)
end

-- The dissector of one form: buffer starts behind the TPID, which Ethernet's dissector has read.
local function tag_dissector(bytes, preference)
	return function(buffer, pinfo, tree)
		if buffer:len() < bytes + 2 then
			return 0
		end
		local number = csig.prefs[preference]
		local branch = tree:add(csig, buffer(0, bytes + 2))
		branch:add(tpid, number):set_generated()
		branch:append_text(": " .. add_tag_data(buffer(0, bytes), tag_field, branch))
		branch:add(inner_type, buffer(bytes, 2))
		pass_on(ethertypes, buffer(bytes, 2):uint(), buffer(bytes + 2), pinfo, tree)
		return buffer:len()
	end
end

local compact_tag = Proto("hopcc.csig_compact", "hopcc CSIG tag, compact")
local expanded_tag = Proto("hopcc.csig_expanded", "hopcc CSIG tag, expanded")
compact_tag.dissector = tag_dissector(2, "compact")
expanded_tag.dissector = tag_dissector(6, "expanded")

-- XCP -------------------------------------------------------------------------------------------------

local xcp = Proto("hopcc.xcp", "hopcc XCP congestion header")
local formats = { [1] = "Standard, RTT in ms", [2] = "Minimal", [3] = "RTT in us" }
local xcp_field = {
	version = ProtoField.uint8("hopcc.xcp.version", "Version", base.DEC, nil, 0xf0),
	format = ProtoField.uint8("hopcc.xcp.format", "Format", base.DEC, formats, 0x0f),
	protocol = ProtoField.uint8("hopcc.xcp.protocol", "Protocol", base.DEC),
	length = ProtoField.uint8("hopcc.xcp.length", "Length", base.DEC),
	flags = ProtoField.uint8("hopcc.xcp.flags", "Flags", base.HEX),
	e2e = ProtoField.bool("hopcc.xcp.flags.e2e_limited", "Limited by end-to-end control", 8, nil, 0x01),
	try = ProtoField.bool("hopcc.xcp.flags.try", "Copy that tries the path", 8, nil, 0x02),
	rtt = ProtoField.uint32("hopcc.xcp.rtt", "RTT", base.DEC),
	rtt_us = ProtoField.uint64("hopcc.xcp.rtt_us", "RTT (us)", base.DEC),
	throughput = ProtoField.uint32("hopcc.xcp.throughput", "Throughput (bytes/ms)", base.DEC),
	delta = ProtoField.int32("hopcc.xcp.delta", "Delta_Throughput (bytes/s)", base.DEC),
	reverse = ProtoField.int32("hopcc.xcp.reverse", "Reverse_Feedback (bytes/s)", base.DEC),
}
xcp.fields = xcp_field
xcp.prefs.protocol = Pref.uint("IP protocol", 63, "Parameter protocol of net_xcp")

function xcp.dissector(buffer, pinfo, tree)
	-- Others use the protocols for experiments, too.
	if buffer:len() < 20 or buffer(0, 1):bitfield(0, 4) ~= 1 or buffer(2, 1):uint() ~= 20 then
		data_dissector:call(buffer, pinfo, tree)
		return buffer:len()
	end
	local format = buffer(0, 1):bitfield(4, 4)
	local branch = tree:add(xcp, buffer(0, 20))
	branch:add(xcp_field.version, buffer(0, 1))
	branch:add(xcp_field.format, buffer(0, 1))
	branch:add(xcp_field.protocol, buffer(1, 1))
	branch:add(xcp_field.length, buffer(2, 1))
	local flags = branch:add(xcp_field.flags, buffer(3, 1))
	flags:add(xcp_field.e2e, buffer(3, 1))
	flags:add(xcp_field.try, buffer(3, 1))
	branch:add(xcp_field.rtt, buffer(4, 4))
	if format ~= 2 then
		local rtt_us = UInt64(buffer(4, 4):uint()) * (format == 1 and 1000 or 1)
		branch:add(xcp_field.rtt_us, buffer(4, 4), rtt_us):set_generated()
	end
	branch:add(xcp_field.throughput, buffer(8, 4))
	branch:add(xcp_field.delta, buffer(12, 4))
	branch:add(xcp_field.reverse, buffer(16, 4))
	branch:append_text(string.format(": delta %d, reverse %d bytes/s", buffer(12, 4):int(), buffer(16, 4):int()))
	pass_on(ip_protocols, buffer(1, 1):uint(), buffer(20), pinfo, tree)
	return buffer:len()
end

-- INT -------------------------------------------------------------------------------------------------

local int = Proto("hopcc.int", "hopcc INT")
local types = { [2] = "data", [3] = "probe", [4] = "answer" }
local answers = { [0] = "records", [1] = "summary", [2] = "ratio", [3] = "window" }
-- Code: rate in Mbit/s, and the unit of txBytes and queue length in bytes.
local speeds = {
	[1] = { 10, 1 }, [2] = { 100, 1 }, [3] = { 1000, 4 }, [4] = { 2500, 16 }, [5] = { 10000, 64 },
	[6] = { 25000, 128 }, [7] = { 40000, 256 }, [8] = { 50000, 256 }, [9] = { 100000, 512 },
	[10] = { 200000, 1024 }, [11] = { 400000, 2048 }, [12] = { 800000, 4096 }, [13] = { 1600000, 8192 },
	[14] = { 5000, 32 },
}
local speed_names = { [0] = "unknown", [15] = "reserved" }
for code, speed in pairs(speeds) do
	speed_names[code] = speed[1] .. " Mbit/s"
end
local int_field = {
	next = ProtoField.uint8("hopcc.int.next", "Next protocol", base.DEC),
	words = ProtoField.uint8("hopcc.int.words", "Length (words)", base.DEC),
	type = ProtoField.uint8("hopcc.int.type", "Type", base.DEC, types),
	flags = ProtoField.uint8("hopcc.int.flags", "Flags", base.HEX),
	flag = ProtoField.bool("hopcc.int.flags.small", "Small window", 8, nil, 0x40),
	flags_value = ProtoField.uint8("hopcc.int.flags.value", "Index or hops", base.DEC, nil, 0x3f),
	hops = ProtoField.uint16("hopcc.int.nhop", "nHop", base.DEC, nil, 0xf000),
	path = ProtoField.uint16("hopcc.int.path_id", "pathID", base.HEX, nil, 0x0fff),
	record = ProtoField.uint64("hopcc.int.record", "Record", base.HEX),
	speed = ProtoField.uint8("hopcc.int.record.speed", "Speed code", base.DEC, speed_names),
	stamp = ProtoField.uint32("hopcc.int.record.timestamp", "Timestamp (ns)", base.DEC),
	tx = ProtoField.uint32("hopcc.int.record.tx", "txBytes (units)", base.DEC),
	tx_bytes = ProtoField.uint64("hopcc.int.record.tx_bytes", "txBytes (bytes)", base.DEC),
	queue = ProtoField.uint16("hopcc.int.record.qlen", "Queue length (units)", base.DEC),
	queue_bytes = ProtoField.uint32("hopcc.int.record.qlen_bytes", "Queue length (bytes)", base.DEC),
	slots = ProtoField.uint32("hopcc.int.slots", "Slots", base.DEC, nil, 0xf0000000),
	port = ProtoField.uint32("hopcc.int.port_id", "Port ID of the longest queue", base.DEC, nil, 0x0ffff000),
	cookie = ProtoField.uint64("hopcc.int.cookie", "Cookie", base.HEX),
	cookie_low = ProtoField.uint32("hopcc.int.cookie_low", "Cookie, lower half", base.HEX),
	id = ProtoField.uint32("hopcc.int.id", "ID", base.HEX),
	seq = ProtoField.uint32("hopcc.int.seq", "SND.NXT", base.DEC),
	t_ns = ProtoField.uint32("hopcc.int.t_ns", "T, tau or arrival (ns)", base.DEC),
	window = ProtoField.uint32("hopcc.int.window", "Window (bytes) or u (2^-20)", base.DEC),
	kind = ProtoField.uint16("hopcc.int.kind", "Kind of answer", base.DEC, answers),
	flows = ProtoField.uint16("hopcc.int.flows", "N", base.DEC),
	tag = ProtoField.uint64("hopcc.int.tag", "Tag", base.HEX),
	window_max = ProtoField.uint32("hopcc.int.window_max", "Maximum window (bytes)", base.DEC),
	eta = ProtoField.uint32("hopcc.int.eta", "eta (2^-20)", base.DEC),
	stage = ProtoField.uint16("hopcc.int.max_stage", "maxStage", base.DEC),
	terms_flows = ProtoField.uint16("hopcc.int.terms_flows", "N of the sender", base.DEC),
	option_id = ProtoField.uint16("hopcc.int.option_id", "ID, lower 12 bits", base.HEX, nil, 0xfff0),
	option_index = ProtoField.uint16("hopcc.int.option_index", "Index of the hop", base.DEC, nil, 0x000f),
}
int.fields = int_field
int.prefs.protocol = Pref.uint("IP protocol", 254, "Parameter protocol of net_int")

local function add_record(record, tree)
	local speed = record:bitfield(0, 4)
	local tx, queue = record:bitfield(28, 20), record:bitfield(48, 16)
	local branch = tree:add(int_field.record, record)
	branch:add(int_field.speed, record(0, 1), speed)
	branch:add(int_field.stamp, record(0, 4), record:bitfield(4, 24))
	branch:add(int_field.tx, record(3, 3), tx)
	branch:add(int_field.queue, record(6, 2), queue)
	if speeds[speed] then
		branch:add(int_field.tx_bytes, record(3, 3), UInt64(tx) * speeds[speed][2]):set_generated()
		branch:add(int_field.queue_bytes, record(6, 2), queue * speeds[speed][2]):set_generated()
	end
end

-- Return: the length of a header that starts at buffer; 0 if it is not one.
local function int_bytes(buffer)
	if buffer:len() < 12 then
		return 0
	end
	local words = buffer(1, 1):uint()
	local bytes = words * 4
	if not types[buffer(2, 1):uint()] or words < 3 or words % 2 == 0 or bytes > buffer:len() or
	   buffer(bytes - 4, 1):bitfield(0, 4) ~= (words - 3) / 2 then
		return 0
	end
	return bytes
end

-- Add a header; buffer has nothing behind it.
local function add_header(buffer, tree)
	local slots = (buffer(1, 1):uint() - 3) / 2
	local hops = buffer(4, 2):bitfield(0, 4)
	local last = buffer(buffer:len() - 4, 4)
	tree:add(int_field.next, buffer(0, 1))
	tree:add(int_field.words, buffer(1, 1))
	tree:add(int_field.type, buffer(2, 1))
	local flags = tree:add(int_field.flags, buffer(3, 1))
	flags:add(int_field.flag, buffer(3, 1))
	flags:add(int_field.flags_value, buffer(3, 1))
	tree:add(int_field.hops, buffer(4, 2))
	tree:add(int_field.path, buffer(4, 2))
	for slot = 0, math.min(slots, hops) - 1 do
		add_record(buffer(8 + 8 * slot, 8), tree)
	end
	tree:add(int_field.slots, last)
	tree:add(int_field.port, last)
	tree:append_text(string.format(": %s, %d hops, %d slots", types[buffer(2, 1):uint()], hops, slots))
end

-- The header in front of TCP, with its two words behind it. Return: false if it is not one.
local function dissect_shim(buffer, pinfo, tree)
	local bytes = int_bytes(buffer)
	if bytes == 0 or buffer:len() < bytes + 8 then
		return false
	end
	local branch = tree:add(int, buffer(0, bytes + 8))
	add_header(buffer(0, bytes), branch)
	branch:add(int_field.id, buffer(bytes, 4))
	branch:add(int_field.cookie_low, buffer(bytes + 4, 4))
	pass_on(ip_protocols, buffer(0, 1):uint(), buffer(bytes + 8), pinfo, tree)
	return true
end

function int.dissector(buffer, pinfo, tree)
	if not dissect_shim(buffer, pinfo, tree) then
		data_dissector:call(buffer, pinfo, tree)
	end
	return buffer:len()
end

-- IFA 2.0 ----------------------------------------------------------------------------------------------

local ifa = Proto("hopcc.ifa", "Inband Flow Analyzer 2.0")
local ifa_field = {
	version = ProtoField.uint8("hopcc.ifa.version", "Version", base.DEC, nil, 0xf0),
	gns = ProtoField.uint8("hopcc.ifa.gns", "Global namespace", base.DEC, nil, 0x0f),
	next = ProtoField.uint8("hopcc.ifa.next", "Next header", base.DEC),
	flags = ProtoField.uint8("hopcc.ifa.flags", "Flags", base.HEX),
	most = ProtoField.uint8("hopcc.ifa.max_words", "Maximum length, words", base.DEC),
	request = ProtoField.uint8("hopcc.ifa.request", "Request vector", base.HEX),
	action = ProtoField.uint8("hopcc.ifa.action", "Action vector", base.HEX),
	limit = ProtoField.uint8("hopcc.ifa.hop_limit", "Hop limit", base.DEC),
	words = ProtoField.uint8("hopcc.ifa.words", "Current length, words", base.DEC),
	stack = ProtoField.bytes("hopcc.ifa.stack", "Metadata, the newest hop first"),
}
ifa.fields = ifa_field
local IFA = 253

-- The length of TCP's or UDP's header behind the one of IFA; 0 if it is not there.
local function ifa_transport_bytes(buffer)
	local next = buffer(1, 1):uint()
	if next == 17 then
		return 8
	end
	return next == TCP and buffer:len() >= 24 and buffer(16, 1):bitfield(0, 4) * 4 or 0
end

-- Positions of the metadata's header and of its end; 0 if the packet is no IFA, is cut, or has the metadata
-- at its end (flag TS).
local function ifa_places(buffer)
	if buffer:len() < 8 or buffer(0, 1):bitfield(0, 4) ~= 2 or buffer(2, 1):bitfield(4) == 1 then
		return 0, 0
	end
	local transport = ifa_transport_bytes(buffer)
	-- A word each for the flags C and MF
	local at = 4 + transport + 4 * (buffer(2, 1):bitfield(7) + buffer(2, 1):bitfield(3))
	if transport == 0 or buffer:len() < at + 4 then
		return 0, 0
	end
	local stop = at + 4 + buffer(at + 3, 1):uint() * 4
	return buffer:len() >= stop and at or 0, stop
end

function ifa.dissector(buffer, pinfo, tree)
	local at, stop = ifa_places(buffer)
	if at == 0 then
		return 0
	end
	local branch = tree:add(ifa, buffer(0, stop))
	branch:add(ifa_field.version, buffer(0, 1))
	branch:add(ifa_field.gns, buffer(0, 1))
	branch:add(ifa_field.next, buffer(1, 1))
	branch:add(ifa_field.flags, buffer(2, 1))
	branch:add(ifa_field.most, buffer(3, 1))
	branch:add(ifa_field.request, buffer(at, 1))
	branch:add(ifa_field.action, buffer(at + 1, 1))
	branch:add(ifa_field.limit, buffer(at + 2, 1))
	branch:add(ifa_field.words, buffer(at + 3, 1))
	if stop > at + 4 then
		branch:add(ifa_field.stack, buffer(at + 4, stop - at - 4))
	end
	-- TCP with its data, as it was without IFA
	local whole = buffer(4, ifa_transport_bytes(buffer)):bytes()
	if buffer:len() > stop then
		whole:append(buffer(stop):bytes())
	end
	pass_on(ip_protocols, buffer(1, 1):uint(), whole:tvb("Without IFA")(), pinfo, tree)
	return buffer:len()
end

-- INT-MD 2.1 in front of a probe's message ----------------------------------------------------------------

local intmd = Proto("hopcc.intmd", "INT-MD 2.1")
local intmd_field = {
	words = ProtoField.uint8("hopcc.intmd.words", "Length without the shim, words", base.DEC),
	original = ProtoField.uint16("hopcc.intmd.original", "Original value", base.HEX),
	flags = ProtoField.uint8("hopcc.intmd.flags", "D, E, M", base.HEX, nil, 0x0e),
	hop_words = ProtoField.uint8("hopcc.intmd.hop_words", "Length of a hop, words", base.DEC, nil, 0x1f),
	remaining = ProtoField.uint8("hopcc.intmd.remaining_hops", "Remaining hops", base.DEC),
	bitmap = ProtoField.uint16("hopcc.intmd.bitmap", "Instructions", base.HEX),
	domain = ProtoField.uint16("hopcc.intmd.domain", "Domain", base.DEC),
	stack = ProtoField.bytes("hopcc.intmd.stack", "Metadata, the newest hop first"),
}
intmd.fields = intmd_field

-- Return: the offset of the message behind INT-MD; 0 if there is none: the slots in the last word of the
-- message's header are then those of the packet's length. behind: bytes behind that header
local function add_intmd(payload, behind, tree)
	local slots = payload(payload:len() - behind - 4, 1):bitfield(0, 4)
	if payload:len() == 48 + slots * 8 + behind then
		return 0
	end
	local stop = (payload(1, 1):uint() + 1) * 4
	if stop < 16 or payload:len() < stop + 4 then
		return 0
	end
	local branch = tree:add(intmd, payload(0, stop))
	branch:add(intmd_field.words, payload(1, 1))
	branch:add(intmd_field.original, payload(2, 2))
	branch:add(intmd_field.flags, payload(4, 1))
	branch:add(intmd_field.hop_words, payload(6, 1))
	branch:add(intmd_field.remaining, payload(7, 1))
	branch:add(intmd_field.bitmap, payload(8, 2))
	branch:add(intmd_field.domain, payload(10, 2))
	if stop > 16 then
		branch:add(intmd_field.stack, payload(16, stop - 16))
	end
	return stop
end

-- The option by which carriers negotiate -----------------------------------------------------------------

local negotiation = Proto("hopcc.option", "hopcc negotiation")
local carriers = { [0x01] = "int", [0x02] = "csig", [0x04] = "xcp" }
local negotiation_field = {
	asks = ProtoField.uint8("hopcc.option.asks", "Carriers that ask", base.HEX),
	answers = ProtoField.uint8("hopcc.option.answers", "Carriers that take part", base.HEX),
	cookie = ProtoField.uint64("hopcc.option.cookie", "Cookie of net_int", base.HEX),
}
for bit, name in pairs(carriers) do
	for _, set in ipairs({ "asks", "answers" }) do
		negotiation_field[set .. bit] = ProtoField.bool("hopcc.option." .. set .. "." .. name, name, 8, nil, bit)
	end
end
negotiation.fields = negotiation_field
negotiation.prefs.exid = Pref.uint("ExID", 0x484f, "Parameter option_exid of hop_core")

local function add_carriers(set, byte, tree)
	local branch, names = tree:add(negotiation_field[set], byte), {}
	for bit = 0, 2 do
		if byte:bitfield(7 - bit, 1) == 1 then
			names[#names + 1] = carriers[2 ^ bit]
		end
		branch:add(negotiation_field[set .. 2 ^ bit], byte)
	end
	return #names > 0 and string.format(", %s: %s", set, table.concat(names, " ")) or ""
end

local function add_negotiation(one, tree)
	if one:len() ~= 16 then
		return
	end
	local branch = tree:add(negotiation, one)
	branch:append_text(add_carriers("asks", one(4, 1), branch) .. add_carriers("answers", one(5, 1), branch))
	branch:add(negotiation_field.cookie, one(8, 8))
end

-- TCP: messages and options ---------------------------------------------------------------------------

-- Probes and answers are TCP segments of old bytes, and options have experimental numbers that TCP's
-- dissector shares with others: both are added behind all other protocols.
local messages = Proto("hopcc", "hopcc in TCP")
local payloads, option_fields = Field.new("tcp.payload"), Field.new("tcp.options")

local function add_message(payload, behind, pinfo, tree)
	if payload:len() < 48 + behind then
		return
	end
	payload = payload(add_intmd(payload, behind, tree))
	if payload:len() < 48 then
		return
	end
	local header = payload(36):tvb()
	local bytes = int_bytes(header)
	if bytes == 0 then
		return
	end
	local branch = tree:add(int, payload)
	branch:add(int_field.id, payload(0, 4))
	branch:add(int_field.cookie, payload(4, 8))
	branch:add(int_field.seq, payload(12, 4))
	branch:add(int_field.t_ns, payload(16, 4))
	branch:add(int_field.window, payload(20, 4))
	branch:add(int_field.kind, payload(24, 2))
	branch:add(int_field.flows, payload(26, 2))
	branch:add(int_field.tag, payload(28, 8))
	add_header(header(0, bytes), branch)
	pinfo.cols.info:prepend("INT " .. types[header(2, 1):uint()] .. ": ")
	if header(2, 1):uint() == 3 and header:len() >= bytes + 12 then
		local terms = header(bytes, 12)
		branch:add(int_field.window_max, terms(0, 4))
		branch:add(int_field.eta, terms(4, 4))
		branch:add(int_field.stage, terms(8, 2))
		branch:add(int_field.terms_flows, terms(10, 2))
	end
end

local function add_csig_option(one, tree)
	local branch = tree:add(option, one)
	branch:add(option_kind, one(1, 1))
	if one:len() == 6 or one:len() == 10 then
		branch:append_text(": " .. add_tag_data(one(4), option_field, branch))
	else
		branch:append_text(": " .. (option_kinds[one:len()] or "of no valid length"))
	end
end

local function add_int_option(one, tree)
	if one:len() ~= 16 then
		return
	end
	local branch = tree:add(int, one)
	branch:append_text(": option")
	branch:add(int_field.option_id, one(4, 2))
	branch:add(int_field.option_index, one(4, 2))
	branch:add(int_field.hops, one(6, 2))
	branch:add(int_field.path, one(6, 2))
	add_record(one(8, 8), branch)
end

local function add_options(options, tree)
	local at = 0
	while at < options:len() do
		local kind = options(at, 1):uint()
		local bytes = 1
		if kind == 0 then
			return
		elseif kind ~= 1 then
			bytes = at + 2 <= options:len() and options(at + 1, 1):uint() or 0
			if bytes < 2 or at + bytes > options:len() then
				return
			end
		end
		if bytes >= 4 then
			local exid = options(at + 2, 2):uint()
			if kind == EXPERIMENT and exid == CSIG_EXID then
				add_csig_option(options(at, bytes), tree)
			elseif kind == EXPERIMENT and exid == INT_EXID then
				add_int_option(options(at, bytes), tree)
			elseif kind == NEGOTIATION and exid == negotiation.prefs.exid then
				add_negotiation(options(at, bytes), tree)
			end
		end
		at = at + bytes
	end
end

function messages.dissector(_, pinfo, tree)
	local behind
	for _, field in ipairs({ option_fields() }) do
		add_options(field.range, tree)
		behind = MARKS[field.range:len() >= 4 and field.range(0, 4):uint() or 0]
	end
	for _, field in ipairs({ payloads() }) do
		if behind then
			add_message(field.range, behind, pinfo, tree)
		end
	end
end

register_postdissector(messages)

-- Numbers, which preferences change -------------------------------------------------------------------

local function register(dissectors, proto, number, before)
	if before then
		dissectors:remove(before, proto)
	end
	dissectors:add(number, proto)
	return number
end

local numbers = {}
local function register_all()
	numbers.compact = register(ethertypes, compact_tag, csig.prefs.compact, numbers.compact)
	numbers.expanded = register(ethertypes, expanded_tag, csig.prefs.expanded, numbers.expanded)
	numbers.xcp = register(ip_protocols, xcp, xcp.prefs.protocol, numbers.xcp)
	numbers.int = register(ip_protocols, int, int.prefs.protocol, numbers.int)
	ip_protocols:add(IFA, ifa)
end

csig.prefs_changed, xcp.prefs_changed, int.prefs_changed = register_all, register_all, register_all
register_all()
