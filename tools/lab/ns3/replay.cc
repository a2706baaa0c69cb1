// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a network of the lab in ns-3: `lab ns3` writes the plan, and reads what this program prints.
 *
 *     replay PLAN
 *
 * A plan has lines of words: config, node, link, route, flow; write_plan() of hoplab/ns3.py says which.
 * Printed is a line a flow: its number, the bytes received until the end of the warm-up, the bytes
 * received in all, and the time of the last byte, nanoseconds.
 */
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

// One transfer: both ends of its connection. The connection is open before the data starts.
struct Flow
{
	unsigned number;
	std::string from, to, cc;
	uint16_t port;
	uint32_t initcwnd;
	Time opens, starts;
	uint64_t bytes; // 0: without end
	Ptr<Socket> source;
	uint64_t sent = 0, received = 0, warm = 0;
	Time last;

	void Open();
	void Start();
	void Send(Ptr<Socket>, uint32_t);
	void Receive(Ptr<Socket>);
	void Accept(Ptr<Socket>, const Address&);
};

struct Plan
{
	uint64_t durationNs, warmupNs;
	uint32_t mss;
	std::map<std::string, Ptr<Node>> nodes;
	// Of node and peer: the interface of the node, and the peer's address.
	std::map<std::string, std::map<std::string, std::pair<uint32_t, Ipv4Address>>> next;
	std::map<std::string, Ipv4Address> addresses; // of hosts
	std::vector<Flow*> flows;
	Ipv4AddressHelper subnets{"10.0.0.0", "255.255.255.252"};
};

Plan g_plan;
constexpr uint32_t CHUNK_BYTES = 1 << 16;

void
Flow::Send(Ptr<Socket> socket, uint32_t)
{
	while (!bytes || sent < bytes)
	{
		uint32_t size = bytes ? std::min<uint64_t>(bytes - sent, CHUNK_BYTES) : CHUNK_BYTES;

		size = std::min(size, socket->GetTxAvailable());
		if (!size || socket->Send(Create<Packet>(size)) < 0)
			return;
		sent += size;
	}
}

void
Flow::Start()
{
	source->SetSendCallback(MakeCallback(&Flow::Send, this));
	Send(source, 0);
}

void
Flow::Receive(Ptr<Socket> socket)
{
	for (Ptr<Packet> packet; (packet = socket->Recv()) && packet->GetSize();)
		received += packet->GetSize();
	last = Simulator::Now();
}

void
Flow::Accept(Ptr<Socket> socket, const Address&)
{
	socket->SetRecvCallback(MakeCallback(&Flow::Receive, this));
}

Ptr<Socket>
NewSocket(const Flow* flow, const std::string& node)
{
	Ptr<Node> at = g_plan.nodes.at(node);

	at->GetObject<TcpL4Protocol>()->SetAttribute("SocketType", TypeIdValue(TypeId::LookupByName(flow->cc)));
	Ptr<Socket> socket = Socket::CreateSocket(at, TcpSocketFactory::GetTypeId());
	socket->SetAttribute("InitialCwnd", UintegerValue(flow->initcwnd));
	return socket;
}

void
Flow::Open()
{
	Ptr<Socket> sink = NewSocket(this, to);

	sink->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
	sink->Listen();
	sink->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
				MakeCallback(&Flow::Accept, this));
	source = NewSocket(this, from);
	source->Bind();
	source->Connect(InetSocketAddress(g_plan.addresses.at(to), port));
	Simulator::Schedule(starts - Simulator::Now(), &Flow::Start, this);
}

void
EndWarmup()
{
	for (Flow* flow : g_plan.flows)
		flow->warm = flow->received;
}

// "mark K LIMIT" marks from K bytes of queue on; "fifo LIMIT" drops only.
void
SetQueue(Ptr<NetDevice> device, std::istream& words)
{
	TrafficControlHelper queue;
	std::string kind, k = "0", limit;

	words >> kind;
	if (kind == "mark")
		words >> k;
	words >> limit;
	if (kind == "mark")
		// Instantaneous: the weight of the average is 1; the thresholds differ by one byte.
		queue.SetRootQueueDisc("ns3::RedQueueDisc", "MaxSize", StringValue(limit + "B"), "UseEcn",
				       BooleanValue(true), "UseHardDrop", BooleanValue(false), "Gentle",
				       BooleanValue(false), "QW", DoubleValue(1), "MinTh",
				       DoubleValue(std::stod(k)), "MaxTh", DoubleValue(std::stod(k) + 1));
	else
		queue.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue(limit + "B"));
	queue.Install(device);
}

void
ReadLink(std::istream& words)
{
	std::string a, b;
	uint64_t bps, delayNs;
	PointToPointHelper link;

	words >> a >> b >> bps >> delayNs;
	link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(bps)));
	link.SetChannelAttribute("Delay", TimeValue(NanoSeconds(delayNs)));
	// The queue discipline holds the queue, not the device.
	link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1p"));
	NetDeviceContainer ends = link.Install(g_plan.nodes.at(a), g_plan.nodes.at(b));
	SetQueue(ends.Get(0), words);
	SetQueue(ends.Get(1), words);
	Ipv4InterfaceContainer at = g_plan.subnets.Assign(ends);
	g_plan.subnets.NewNetwork();
	g_plan.next[a][b] = {at.Get(0).second, at.GetAddress(1)};
	g_plan.next[b][a] = {at.Get(1).second, at.GetAddress(0)};
	g_plan.addresses[a] = at.GetAddress(0);
	g_plan.addresses[b] = at.GetAddress(1);
}

void
ReadRoute(std::istream& words)
{
	std::string node, host, peer;

	words >> node >> host >> peer;
	const auto& [interface, gateway] = g_plan.next.at(node).at(peer);
	Ptr<Ipv4StaticRouting> table =
		Ipv4StaticRoutingHelper().GetStaticRouting(g_plan.nodes.at(node)->GetObject<Ipv4>());
	table->AddHostRouteTo(g_plan.addresses.at(host), gateway, interface);
}

void
ReadFlow(std::istream& words)
{
	auto* flow = new Flow;
	uint64_t opensNs, startsNs;

	words >> flow->number >> flow->from >> flow->to >> flow->port >> opensNs >> startsNs >> flow->bytes >>
		flow->initcwnd >> flow->cc;
	flow->opens = NanoSeconds(opensNs);
	flow->starts = NanoSeconds(startsNs);
	g_plan.flows.push_back(flow);
	Simulator::Schedule(flow->opens, &Flow::Open, flow);
}

void
ReadNode(std::istream& words)
{
	std::string name;
	InternetStackHelper stack;

	words >> name;
	Ptr<Node> node = CreateObject<Node>();
	stack.SetRoutingHelper(Ipv4StaticRoutingHelper());
	stack.SetIpv6StackInstall(false);
	stack.Install(node);
	g_plan.nodes[name] = node;
}

void
ReadConfig(std::istream& words)
{
	words >> g_plan.durationNs >> g_plan.warmupNs >> g_plan.mss;
	Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(g_plan.mss));
	Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 24));
	Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 24));
	// 200 ms at least, as Linux. An ACK a segment: ns-3 has no quick ACKs, and with delayed ones a window of one
	// segment waits for their timer.
	Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
	Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
	Config::SetDefault("ns3::TcpSocketBase::UseEcn", EnumValue(TcpSocketState::AcceptOnly));
}

void
ReadPlan(const char* file)
{
	const std::map<std::string, void (*)(std::istream&)> readers = {
		{"config", ReadConfig}, {"node", ReadNode}, {"link", ReadLink},
		{"route", ReadRoute},	{"flow", ReadFlow},
	};
	std::ifstream lines(file);

	for (std::string line, word; std::getline(lines, line);)
	{
		std::istringstream words(line);

		words >> word;
		readers.at(word)(words);
		NS_ABORT_MSG_IF(words.fail(), "plan: " << line);
	}
}

} // namespace

int
main(int argc, char** argv)
{
	NS_ABORT_MSG_IF(argc != 2, "usage: replay PLAN");
	ReadPlan(argv[1]);
	Simulator::Schedule(NanoSeconds(g_plan.warmupNs), &EndWarmup);
	Simulator::Stop(NanoSeconds(g_plan.durationNs));
	Simulator::Run();
	for (const Flow* flow : g_plan.flows)
		std::cout << flow->number << ' ' << flow->warm << ' ' << flow->received << ' '
			  << flow->last.GetNanoSeconds() << '\n';
	return 0;
}
