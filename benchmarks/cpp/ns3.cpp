// A permutation over a leaf-spine in ns-3: UDP at line rate, every packet on a random path,
// queues without limit. benchmarks/ns3.py compiles it against the libraries of the ns3 wheel
// and runs the same in weft.
//
// ns3 LEAVES HOSTS_PER_LEAF SPINES PACKETS PARTNER...  prints: received bytes, end in ps, seconds

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

namespace {

constexpr uint32_t PAYLOAD_BYTES = 4096, HEADER_BYTES = 30;  // UDP, IPv4, PPP
constexpr uint16_t PORT = 9;
uint64_t received_bytes = 0;
Time last_end;

void receive(Ptr<Socket> socket) {
  while (Ptr<Packet> packet = socket->Recv()) received_bytes += packet->GetSize();
  last_end = Simulator::Now();
}

void send(Ptr<Socket> socket, uint64_t packets, Time gap) {
  socket->Send(Create<Packet>(PAYLOAD_BYTES));
  if (packets > 1) Simulator::Schedule(gap, &send, socket, packets - 1, gap);
}

}  // namespace

int main(int count, char **words) {
  const uint32_t leaves = std::atoi(words[1]), per_leaf = std::atoi(words[2]);
  const uint32_t spines = std::atoi(words[3]), hosts = leaves * per_leaf;
  const uint64_t packets = std::atoll(words[4]);
  if (count != static_cast<int>(5 + hosts)) return 2;
  Time::SetResolution(Time::PS);
  Config::SetDefault("ns3::Ipv4GlobalRouting::RandomEcmpRouting", BooleanValue(true));
  Config::SetDefault("ns3::DropTailQueue<Packet>::MaxSize", StringValue("100000000p"));

  NodeContainer ends, leaf, spine;
  ends.Create(hosts);
  leaf.Create(leaves);
  spine.Create(spines);
  InternetStackHelper stack;
  for (const NodeContainer &nodes : {ends, leaf, spine}) stack.Install(nodes);

  PointToPointHelper cable;
  cable.SetDeviceAttribute("DataRate", StringValue("400Gbps"));
  cable.SetDeviceAttribute("Mtu", UintegerValue(PAYLOAD_BYTES + HEADER_BYTES));
  cable.SetChannelAttribute("Delay", TimeValue(NanoSeconds(500)));
  Ipv4AddressHelper subnets("10.0.0.0", "255.255.255.252");
  TrafficControlHelper control;
  const auto join = [&](Ptr<Node> one, Ptr<Node> other) {
    const NetDeviceContainer devices = cable.Install(one, other);
    const Ipv4InterfaceContainer interfaces = subnets.Assign(devices);
    control.Uninstall(devices);  // the device's own queue is the only one
    subnets.NewNetwork();
    return interfaces.GetAddress(0);
  };
  std::vector<Ipv4Address> address;
  for (uint32_t host = 0; host < hosts; ++host)
    address.push_back(join(ends.Get(host), leaf.Get(host / per_leaf)));
  for (uint32_t low = 0; low < leaves; ++low)
    for (uint32_t high = 0; high < spines; ++high) join(leaf.Get(low), spine.Get(high));
  Ipv4GlobalRoutingHelper::PopulateRoutingTables();

  const TypeId udp = UdpSocketFactory::GetTypeId();
  const Time gap = PicoSeconds((PAYLOAD_BYTES + HEADER_BYTES) * 20);
  for (uint32_t host = 0; host < hosts; ++host) {
    Ptr<Socket> sink = Socket::CreateSocket(ends.Get(host), udp);
    sink->SetAttribute("RcvBufSize", UintegerValue(1u << 30));
    sink->Bind(InetSocketAddress(Ipv4Address::GetAny(), PORT));
    sink->SetRecvCallback(MakeCallback(&receive));
    Ptr<Socket> source = Socket::CreateSocket(ends.Get(host), udp);
    source->Bind();
    source->Connect(InetSocketAddress(address[std::atoi(words[5 + host])], PORT));
    Simulator::ScheduleWithContext(host, Seconds(0), &send, source, packets, gap);
  }
  const auto begin = std::chrono::steady_clock::now();
  Simulator::Run();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  std::printf("%lu %ld %.6f\n", received_bytes, last_end.GetPicoSeconds(), wall.count());
}
