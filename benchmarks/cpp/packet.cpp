// The packet engine once more, by hand: what a C++ programmer would write for the same
// algorithm on the same tables. It exists to be compared with: for speed, and bit for bit.
//
// tables.h is written by benchmarks/packet.py from the dtypes of weft.engines.packet.tables,
// and with it struct State: a pointer for each table and the number of rows of the pool.
// Known here: no flow control, PFC, credits; none and DCQCN; ECMP and spraying.

#include <algorithm>
#include <cstdint>

#include "tables.h"

namespace {

using std::max;
using std::min;

enum EventKind { ARRIVE, START, CONTROL, TIMER };
enum PacketKind { DATA, ACK, CNP, NACK, TRIMMED, GRANT, LOST };
enum FlowControl { NO_FLOW_CONTROL, PFC, CREDITS };
enum Feedback { NO_FEEDBACK, BY_CNP, BY_ACK };
enum Stop { DONE, UNTIL, POOL_LOW };
enum Blocked { AWAKE, ASLEEP, WAKING };
enum Pause { RESUME, PAUSE };

constexpr int64_t LEAF_BITS = 20;
constexpr int64_t LEAF_MASK = (int64_t{1} << LEAF_BITS) - 1;
constexpr int64_t NEVER = int64_t{1} << 62;
constexpr int64_t WAIT = -1, NOTHING = -2;
constexpr int64_t SIXTEEN_MILLION = 1 << 24;
constexpr int64_t CROWDED = RING - 64, CROWD_SHIFT = 5;
constexpr int64_t POOL_RESERVE = 4096;

class Simulation {
 public:
  explicit Simulation(State &given)
      : state(given), settings(*given.settings), counts(*given.counts), tree(given.tree) {}

  Stop run(int64_t until);

 private:
  State &state;
  const Settings &settings;
  Counts &counts;
  int64_t *const tree;

  // --- the next event
  void climb(int64_t place, int64_t root) {
    int64_t key = tree[place];
    while (place > root) {
      key = min(min(tree[place ^ 1], key), min(tree[place ^ 2], tree[place ^ 3]));
      place >>= 2;
      tree[place] = key;
    }
  }
  void set(int64_t link_id, EventKind kind, int64_t key) {
    const int64_t place = state.links[link_id].place[kind];
    tree[place] = key;
    climb(place, counts.root);
  }
  static int64_t key_of(int64_t link_id, EventKind kind, int64_t time) {
    return time << LEAF_BITS | (link_id * 4 + kind);
  }
  void schedule(int64_t link_id, EventKind kind, int64_t time) {
    const int64_t key = key_of(link_id, kind, time);
    int64_t place = state.links[link_id].place[kind];
    tree[place] = key;
    while (place > 1) {
      place >>= 2;
      if (tree[place] <= key) break;
      tree[place] = key;
    }
  }
  void replace(int64_t link_id, EventKind kind, int64_t time) {
    set(link_id, kind, key_of(link_id, kind, time));
  }
  void drop(int64_t link_id, EventKind kind) { set(link_id, kind, NEVER); }

  // --- asking for memory before it is needed; inlined by force: otherwise g++ 12 finds that it
  // changes nothing and leaves it out
  template <typename Row>
  __attribute__((always_inline)) static void prefetch(const Row *rows, int64_t row, int line) {
    __builtin_prefetch(reinterpret_cast<const char *>(rows + row) + 64 * line);
  }
  __attribute__((always_inline)) void fetch(const Part &part) {
    if (part.events < part.last - part.first) return;
    for (int64_t level = 1; level <= part.levels; ++level) {
      const int64_t first = part.root << 2 * level;
      const int64_t last = first + min<int64_t>(int64_t{1} << 2 * level, part.often);
      for (int64_t place = first; place < last; place += 8) __builtin_prefetch(tree + place);
    }
    for (int64_t place = part.first; place < part.last; ++place)
      for (int line = 0; line < 2; ++line) prefetch(state.links, state.part_links[place], line);
    for (int64_t place = part.first; place < part.last; ++place) {
      const Link &link = state.links[state.part_links[place]];
      prefetch(state.packets, max(0, link.wire_head), 0);
      prefetch(state.packets, max(0, link.data_head), 0);
      prefetch(state.packets, max(0, link.data_tail), 0);
      prefetch(state.packets, max(0, link.wire_tail), 0);
      if (link.target < settings.hosts) prefetch(state.hosts, link.target, 0);
    }
    for (int64_t place = part.first; place < part.last; ++place) {
      const Link &link = state.links[state.part_links[place]];
      const int32_t head = max(0, link.wire_head);
      prefetch(state.packets, max(0, state.packets[head].next), 0);
      prefetch(state.packets, max(0, state.packets[max(0,link.data_head)].next), 0);
      if (link.source < settings.hosts) fetch_flow(state.hosts[link.source].turn);
      if (link.target < settings.hosts) fetch_flow(state.packets[head].flow);
    }
  }
  __attribute__((always_inline)) void fetch_flow(int32_t flow_id) {
    for (int line = 0; line < 2; ++line) prefetch(state.flows, max(0, flow_id), line);
  }

  // --- packets between their places
  int64_t take_packet() {
    int64_t id = counts.free_packet;
    if (id >= 0)
      counts.free_packet = state.packets[id].next;
    else
      id = counts.fresh_packet++;
    ++counts.packets_alive;
    return id;
  }
  void give_back(int64_t id) {
    state.packets[id].next = static_cast<int32_t>(counts.free_packet);
    counts.free_packet = id;
    --counts.packets_alive;
  }
  static int64_t serialisation(int64_t size_bytes, const Link &link) {
    return static_cast<int64_t>(static_cast<double>(size_bytes) * link.ps_per_byte + 0.5);
  }
  void put_on_wire(int64_t link_id, int64_t packet_id, int64_t now) {
    Link &link = state.links[link_id];
    Packet &packet = state.packets[packet_id];
    int64_t duration = serialisation(packet.wire_bytes, link);
    link.sent_bytes += packet.wire_bytes;
    if (link.faulty) __builtin_trap();  // no bit errors here
    link.busy = now + duration;
    if (link.target >= settings.hosts && settings.cut_through_bytes < packet.wire_bytes)
      duration = serialisation(settings.cut_through_bytes, link);
    packet.time = now + duration + link.propagation;
    packet.next = -1;
    if (link.wire_head < 0) {
      link.wire_head = static_cast<int32_t>(packet_id);
      schedule(link_id, ARRIVE, packet.time);
    } else {
      state.packets[link.wire_tail].next = static_cast<int32_t>(packet_id);
    }
    link.wire_tail = static_cast<int32_t>(packet_id);
  }
  void queue_control(Link &link, int64_t packet_id) {
    state.packets[packet_id].next = -1;
    if (link.control_head < 0)
      link.control_head = static_cast<int32_t>(packet_id);
    else
      state.packets[link.control_tail].next = static_cast<int32_t>(packet_id);
    link.control_tail = static_cast<int32_t>(packet_id);
  }
  bool queue_data(Link &link, int64_t packet_id) {
    Packet &packet = state.packets[packet_id];
    packet.next = -1;
    link.queue_bytes += packet.wire_bytes;
    link.largest_queue_bytes = max(link.largest_queue_bytes, link.queue_bytes);
    const bool empty = link.data_head < 0;
    if (empty)
      link.data_head = static_cast<int32_t>(packet_id);
    else
      state.packets[link.data_tail].next = static_cast<int32_t>(packet_id);
    link.data_tail = static_cast<int32_t>(packet_id);
    return empty;
  }

  // --- flow control
  int64_t *ring(int64_t link_id, int32_t slot) {
    return state.rings + 2 * (link_id * RING + (slot & (RING - 1)));
  }
  void ring_append(int64_t link_id, int64_t time, int64_t value) {
    Link &link = state.links[link_id];
    int64_t *message = ring(link_id, link.ring_tail++);
    message[0] = time;
    message[1] = value;
  }
  void tell_pause(int64_t link_id, int64_t time, Pause value) {
    Link &link = state.links[link_id];
    const int32_t waiting = link.ring_tail - link.ring_head;
    if (waiting >= RING - 2) {
      const bool is_nothing = ring(link_id, link.ring_tail - 1)[0] == time;
      if (value == RESUME ? is_nothing : waiting >= RING - 1) {
        --link.ring_tail;
        return;
      }
    }
    if (waiting == 0) schedule(link_id, CONTROL, time);
    ring_append(link_id, time, value);
  }
  int64_t free_share(int64_t at) const {
    const int64_t free = settings.buffer_bytes - state.switches[at].used_bytes;
    return static_cast<int64_t>(settings.alpha * static_cast<double>(free));
  }
  int64_t xoff_bytes(const Link &link) const {
    if (!settings.shared) return settings.xoff_bytes;
    return min(settings.xoff_bytes, free_share(link.target - settings.hosts));
  }
  void record_pause(int64_t link_id, int64_t cause, int64_t now) {
    const int64_t row = counts.pauses_recorded;
    state.links[link_id].pause_row = -1;
    if (row >= state.pause_rows) return;
    ++counts.pauses_recorded;
    state.links[link_id].pause_row = static_cast<int32_t>(row);
    state.pauses[row] = {static_cast<int32_t>(link_id), static_cast<int32_t>(cause), now, -1};
  }
  void hold(int64_t link_id, Packet &packet, int64_t out_id, int64_t now) {
    Link &link = state.links[link_id];
    packet.ingress = static_cast<int32_t>(link_id);
    link.ingress_bytes += packet.wire_bytes;
    if (settings.flow_control == PFC && !link.xoff_sent &&
        link.ingress_bytes > xoff_bytes(link)) {
      link.xoff_sent = 1;
      ++counts.pauses;
      record_pause(link_id, out_id, now);
      tell_pause(link_id, now + link.propagation, PAUSE);
    }
  }
  void let_go(const Packet &packet, int64_t leaving_id, int64_t now) {
    const int64_t link_id = packet.ingress;
    if (link_id < 0) return;
    Link &link = state.links[link_id];
    link.ingress_bytes -= packet.wire_bytes;
    if (settings.flow_control == CREDITS) {
      const int64_t gone = now + serialisation(packet.wire_bytes, state.links[leaving_id]);
      return_credit(link_id, packet.wire_bytes, gone + link.propagation, now);
    } else if (link.xoff_sent) {
      const int64_t hysteresis = settings.xoff_bytes - settings.xon_bytes;
      if (link.ingress_bytes > max(int64_t{0}, xoff_bytes(link) - hysteresis)) return;
      link.xoff_sent = 0;
      if (link.pause_row >= 0) {
        state.pauses[link.pause_row].end = now;
        state.pauses[link.pause_row].cause = static_cast<int32_t>(leaving_id);
      }
      tell_pause(link_id, now + link.propagation, RESUME);
    }
  }
  void return_credit(int64_t link_id, int64_t size_bytes, int64_t time, int64_t now) {
    Link &link = state.links[link_id];
    if (link.ring_tail - link.ring_head >= CROWDED) {
      const int64_t ahead = link.part[0] == link.part[1] ? 0 : counts.lookahead;
      collect_credit(link_id, now - ahead);
    }
    const int32_t waiting = link.ring_tail - link.ring_head;
    const int64_t last = ring(link_id, link.ring_tail - 1)[0];
    bool joins = waiting == RING;
    if (waiting >= CROWDED) {
      joins |= last >= time;
      time = max(time, joins ? last : last + (link.propagation >> CROWD_SHIFT));
    } else if (waiting > 0) {
      time = max(time, last);
    }
    if (joins) size_bytes += ring(link_id, --link.ring_tail)[1];
    ring_append(link_id, time, size_bytes);
    if (link.blocked == ASLEEP) {
      link.blocked = WAKING;
      schedule(link_id, CONTROL, time);
    }
  }
  void collect_credit(int64_t link_id, int64_t now) {
    Link &link = state.links[link_id];
    while (link.ring_head != link.ring_tail && ring(link_id, link.ring_head)[0] <= now)
      link.credits += ring(link_id, link.ring_head++)[1];
  }
  bool has_credit(int64_t link_id, int64_t size_bytes, int64_t now) {
    Link &link = state.links[link_id];
    if (link.credits >= size_bytes) return true;
    collect_credit(link_id, now);
    if (link.credits >= size_bytes) return true;
    if (link.blocked) return false;
    ++link.pauses;
    link.blocked = ASLEEP;
    if (link.ring_head != link.ring_tail) {
      link.blocked = WAKING;
      schedule(link_id, CONTROL, ring(link_id, link.ring_head)[0]);
    }
    return false;
  }
  int64_t hear(int64_t link_id, int64_t now) {
    Link &link = state.links[link_id];
    if (settings.flow_control == CREDITS && link.target >= settings.hosts) {
      drop(link_id, CONTROL);
      link.blocked = AWAKE;
      collect_credit(link_id, now);
      return link_id;
    }
    const int64_t value = ring(link_id, link.ring_head++)[1];
    if (link.ring_head != link.ring_tail)
      replace(link_id, CONTROL, ring(link_id, link.ring_head)[0]);
    else
      drop(link_id, CONTROL);
    link.told_to_pause = static_cast<int32_t>(value);
    if (value == PAUSE) {
      link.paused = 1;
      ++link.pauses;
      link.paused_since = now;
      return -1;
    }
    link.paused_total += now - link.paused_since;
    link.paused = 0;
    link.watchdog_at = NEVER;
    return link_id;
  }

  // --- congestion control: DCQCN
  enum Slot { RATE, TARGET, ALPHA, ALPHA_AT, RATE_AT, BYTES, TIMER_STAGE, BYTE_STAGE };
  enum Knob { GAIN, ALPHA_TIMER, RATE_TIMER, BYTE_COUNTER, STAGES, ADDITIVE, HYPER, MINIMUM };
  void increase(Flow &flow, double line) {
    double *cc = flow.cc;
    const double stages = settings.knobs[STAGES];
    if (max(cc[TIMER_STAGE], cc[BYTE_STAGE]) >= stages) {
      const bool both = min(cc[TIMER_STAGE], cc[BYTE_STAGE]) >= stages;
      const double step = settings.knobs[both ? HYPER : ADDITIVE];
      cc[TARGET] = min(line, cc[TARGET] + step * line);
    }
    cc[RATE] = 0.5 * (cc[RATE] + cc[TARGET]);
    if (cc[RATE] > 0.999 * line) cc[RATE] = cc[TARGET] = line;
  }
  void catch_up(Flow &flow, double line, int64_t at) {
    double *cc = flow.cc;
    const double now = static_cast<double>(at);
    if (cc[RATE] >= line && cc[TARGET] >= line) {
      cc[ALPHA_AT] = cc[RATE_AT] = now;
      cc[TIMER_STAGE] = cc[BYTE_STAGE] = 0;
      return;
    }
    while (cc[ALPHA_AT] + settings.knobs[ALPHA_TIMER] <= now) {
      cc[ALPHA_AT] += settings.knobs[ALPHA_TIMER];
      cc[ALPHA] *= 1.0 - settings.knobs[GAIN];
    }
    while (cc[RATE_AT] + settings.knobs[RATE_TIMER] <= now) {
      cc[RATE_AT] += settings.knobs[RATE_TIMER];
      cc[TIMER_STAGE] += 1;
      increase(flow, line);
    }
  }
  void on_begin(Flow &flow, int64_t now) {
    flow.window_bytes = 1e18;
    flow.pace_ps_per_byte = 0;
    if (!state.dcqcn) return;
    flow.pace_ps_per_byte = settings.line_ps_per_byte;
    flow.cc[RATE] = flow.cc[TARGET] = 1.0 / settings.line_ps_per_byte;
    flow.cc[ALPHA] = 1;
    flow.cc[ALPHA_AT] = flow.cc[RATE_AT] = static_cast<double>(now);
    flow.cc[BYTES] = flow.cc[TIMER_STAGE] = flow.cc[BYTE_STAGE] = 0;
  }
  void on_send(Flow &flow, int64_t payload_bytes, int64_t now) {
    if (!state.dcqcn) return;
    const double line = 1.0 / settings.line_ps_per_byte;
    catch_up(flow, line, now);
    flow.cc[BYTES] += static_cast<double>(payload_bytes);
    if (flow.cc[BYTES] >= settings.knobs[BYTE_COUNTER]) {
      flow.cc[BYTES] -= settings.knobs[BYTE_COUNTER];
      flow.cc[BYTE_STAGE] += 1;
      increase(flow, line);
    }
    flow.pace_ps_per_byte = 1.0 / flow.cc[RATE];
  }
  void on_cnp(Flow &flow, int64_t now) {
    if (!state.dcqcn) return;
    double *cc = flow.cc;
    const double line = 1.0 / settings.line_ps_per_byte, gain = settings.knobs[GAIN];
    catch_up(flow, line, now);
    cc[TARGET] = cc[RATE];
    cc[RATE] = max(settings.knobs[MINIMUM] * line, cc[RATE] * (1.0 - 0.5 * cc[ALPHA]));
    cc[ALPHA] = (1.0 - gain) * cc[ALPHA] + gain;
    cc[ALPHA_AT] = cc[RATE_AT] = static_cast<double>(now);
    cc[BYTES] = cc[TIMER_STAGE] = cc[BYTE_STAGE] = 0;
  }

  // --- the sending host
  static bool may_send(const Flow &flow) {
    return flow.to_send_bytes > 0 &&
           static_cast<double>(flow.in_flight_bytes) < flow.window_bytes &&
           (flow.next_sequence < flow.send_limit || flow.resends > 0);
  }
  int64_t wait_until(int64_t host) {
    const int64_t first = state.hosts[host].turn;
    int64_t earliest = NEVER;
    if (first < 0) return earliest;
    int64_t id = first;
    do {
      const Flow &flow = state.flows[id];
      if (may_send(flow)) earliest = min(earliest, flow.next_send);
      id = flow.next;
    } while (id != first);
    return earliest;
  }
  int64_t next_flow(int64_t host, int64_t now) {
    const int64_t first = state.hosts[host].turn;
    if (first < 0) return -1;
    int64_t id = first;
    do {
      const Flow &flow = state.flows[id];
      if (flow.next_send <= now && may_send(flow)) return id;
      id = flow.next;
    } while (id != first);
    return -1;
  }
  int64_t pull_packet(int64_t host, int64_t now) {
    const int64_t flow_id = next_flow(host, now);
    if (flow_id < 0) return -1;
    Flow &flow = state.flows[flow_id];
    const int64_t sequence = 0;  // trimming numbers nothing
    const int64_t left =
        min(flow.to_send_bytes, flow.total_bytes - sequence * settings.mtu_bytes);
    const int64_t payload = min(left, settings.mtu_bytes);
    const int64_t packet_id = take_packet();
    Packet &packet = state.packets[packet_id];
    packet.flow = static_cast<int32_t>(flow_id);
    packet.target = flow.target;
    packet.sequence = static_cast<int32_t>(sequence);
    packet.payload_bytes = static_cast<int32_t>(payload);
    packet.wire_bytes = static_cast<int32_t>(payload + settings.header_bytes);
    packet.ingress = -1;
    packet.kind = DATA;
    packet.marked = 0;
    packet.sent_at = now;
    packet.telemetry = 0;
    flow.to_send_bytes -= payload;
    flow.in_flight_bytes += payload;
    on_send(flow, payload, now);
    flow.next_send = now + static_cast<int64_t>(packet.wire_bytes * flow.pace_ps_per_byte);
    state.hosts[host].turn = flow.next;
    if (flow.to_send_bytes <= 0 && !settings.keeps_sender) leave_ring(host, flow_id);
    return packet_id;
  }
  void join_ring(int64_t host, int64_t flow_id) {
    Flow &flow = state.flows[flow_id];
    if (flow.active) return;
    flow.active = 1;
    const int32_t turn = state.hosts[host].turn, self = static_cast<int32_t>(flow_id);
    if (turn < 0) {
      flow.next = flow.previous = state.hosts[host].turn = self;
      return;
    }
    flow.next = turn;
    flow.previous = state.flows[turn].previous;
    state.flows[flow.previous].next = self;
    state.flows[turn].previous = self;
  }
  void leave_ring(int64_t host, int64_t flow_id) {
    Flow &flow = state.flows[flow_id];
    const int32_t follower = flow.next;
    flow.active = 0;
    if (follower == flow_id) {
      state.hosts[host].turn = -1;
      return;
    }
    state.flows[flow.previous].next = follower;
    state.flows[follower].previous = flow.previous;
    if (state.hosts[host].turn == flow_id) state.hosts[host].turn = follower;
  }

  // --- ports
  void kick(int64_t link_id, int64_t now) {
    Link &link = state.links[link_id];
    int64_t when = link.busy;
    if (link.start_at <= when) return;
    if (when <= now) when = transmit(link_id, now);
    if (when < link.start_at) {
      link.start_at = when;
      schedule(link_id, START, when);
    }
  }
  int64_t transmit(int64_t link_id, int64_t now) {
    Link &link = state.links[link_id];
    const bool from_host = link.source < settings.hosts;
    int64_t packet_id = link.control_head;
    if (packet_id >= 0) {
      link.control_head = state.packets[packet_id].next;
      ++counts.control_hops;
    } else {
      if (link.paused) return NEVER;
      packet_id = from_host ? next_from_host(link_id, now) : next_from_queue(link_id, now);
      if (packet_id < 0) return packet_id == WAIT ? wait_until(link.source) : NEVER;
      ++counts.data_hops;
    }
    put_on_wire(link_id, packet_id, now);
    const bool more = from_host ? state.hosts[link.source].turn >= 0 : link.data_head >= 0;
    return more || link.control_head >= 0 ? link.busy : NEVER;
  }
  int64_t next_from_host(int64_t link_id, int64_t now) {
    Link &link = state.links[link_id];
    if (settings.flow_control != CREDITS) return pull_packet(link.source, now);
    if (!has_credit(link_id, settings.mtu_bytes + settings.header_bytes, now)) return NOTHING;
    const int64_t packet_id = pull_packet(link.source, now);
    if (packet_id >= 0) link.credits -= state.packets[packet_id].wire_bytes;
    return packet_id;
  }
  int64_t next_from_queue(int64_t link_id, int64_t now) {
    Link &link = state.links[link_id];
    const int64_t packet_id = link.data_head;
    if (packet_id < 0) return NOTHING;
    Packet &packet = state.packets[packet_id];
    if (settings.flow_control == CREDITS && link.target >= settings.hosts) {
      if (!has_credit(link_id, packet.wire_bytes, now)) return NOTHING;
      link.credits -= packet.wire_bytes;
    }
    link.data_head = packet.next;
    prefetch(state.packets, max(0, packet.next), 0);
    mark(link, packet);
    link.queue_bytes -= packet.wire_bytes;
    if (settings.shared)
      state.switches[link.source - settings.hosts].used_bytes -= packet.wire_bytes;
    if (settings.flow_control != NO_FLOW_CONTROL) let_go(packet, link_id, now);
    return packet_id;
  }
  static int64_t scramble(int64_t value) {
    uint64_t x = static_cast<uint64_t>(value);
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return static_cast<int64_t>(x);
  }
  static int64_t top_bits(int64_t x) { return x >> 33 & 0x3FFFFFFF; }
  static int64_t choose(int64_t bits, int64_t count) { return bits * count >> 30; }
  static int64_t next_random(int64_t &stream) {
    stream = scramble(stream);
    return top_bits(stream);
  }
  void mark(Link &link, Packet &packet) {
    const int64_t queue = link.queue_bytes;
    if (!settings.marking || packet.marked || queue <= settings.kmin_bytes) return;
    if (queue < settings.kmax_bytes) {
      const double rise = static_cast<double>(queue - settings.kmin_bytes) /
                          static_cast<double>(settings.kmax_bytes - settings.kmin_bytes);
      const int64_t draw = next_random(link.random_out) & (SIXTEEN_MILLION - 1);
      if (static_cast<double>(draw) >= SIXTEEN_MILLION * settings.pmax * rise) return;
    }
    packet.marked = 1;
    ++link.marks;
    ++counts.marks;
  }
  int64_t route(int64_t link_id, const Packet &packet) {
    const int32_t host = packet.target;
    Link &link = state.links[link_id];
    const int64_t at = link.target - settings.hosts;
    const int64_t group = state.groups[at * settings.leaves + state.leaf_of[host]];
    if (group < 0) return state.last_link[host];
    const int64_t first = state.group_start[group];
    const int64_t count = state.group_start[group + 1] - first;
    if (count == 1) return state.group_links[first];
    if (state.spray) return state.group_links[first + choose(next_random(link.random), count)];
    constexpr int64_t LOW = 0x7FFFFFFF, GROUP_STEP = 0x61C88647, SPREAD = 0x4F1BBCDD;
    const int64_t here = (group + 1) * GROUP_STEP & LOW;
    const int64_t mixed = (state.flows[packet.flow].hash & LOW ^ here) * SPREAD & LOW;
    return state.group_links[first + choose(mixed >> 1, count)];
  }
  bool is_too_much(const Link &link, const Packet &packet, const Link &out) const {
    const int64_t queue = out.queue_bytes + packet.wire_bytes;
    if (out.bounded && queue > out.limit_bytes) return true;
    if (settings.flow_control != NO_FLOW_CONTROL)
      return link.ingress_bytes + packet.wire_bytes > settings.ingress_limit_bytes;
    return settings.shared && queue > free_share(out.source - settings.hosts);
  }
  int64_t receive_at_switch(int64_t link_id, int64_t packet_id, int64_t now) {
    Packet &packet = state.packets[packet_id];
    const int64_t out_id = route(link_id, packet);
    Link &out = state.links[out_id];
    if (packet.kind == DATA && is_too_much(state.links[link_id], packet, out)) {
      ++out.drops;
      if (!settings.trims) {
        ++counts.drops;
        give_back(packet_id);
        return -1;
      }
      ++counts.trims;
      packet.kind = TRIMMED;
      packet.wire_bytes = static_cast<int32_t>(settings.control_bytes);
    }
    if (packet.kind != DATA) {
      queue_control(out, packet_id);
      return out_id;
    }
    if (settings.shared) {
      Switch &here = state.switches[out.source - settings.hosts];
      here.used_bytes += packet.wire_bytes;
      here.largest_used_bytes = max(here.largest_used_bytes, here.used_bytes);
    }
    if (settings.flow_control != NO_FLOW_CONTROL) hold(link_id, packet, out_id, now);
    return queue_data(out, packet_id) ? out_id : -1;
  }

  // --- the receiving host
  void reply(int64_t packet_id, PacketKind kind, int64_t host) {
    Packet &packet = state.packets[packet_id];
    packet.kind = static_cast<int16_t>(kind);
    packet.target = state.flows[packet.flow].source;
    packet.wire_bytes = static_cast<int32_t>(settings.control_bytes);
    packet.ingress = -1;
    queue_control(state.links[state.hosts[host].uplink], packet_id);
  }
  void notify(int64_t flow_id, int64_t host, int64_t now) {
    Flow &flow = state.flows[flow_id];
    if (now - flow.last_cnp < settings.cnp_gap) return;
    flow.last_cnp = now;
    ++counts.cnps;
    const int64_t packet_id = take_packet();
    Packet &packet = state.packets[packet_id];
    packet.flow = static_cast<int32_t>(flow_id);
    packet.payload_bytes = 0;
    packet.marked = 0;
    reply(packet_id, CNP, host);
  }
  void begin(int64_t flow_id, int64_t now) {
    Flow &flow = state.flows[flow_id];
    flow.begin = now;
    flow.next_send = now;
    on_begin(flow, now);
    join_ring(flow.source, flow_id);
  }
  void begin_later(int64_t flow_id, int64_t time) {
    Flow &flow = state.flows[flow_id];
    Host &host = state.hosts[flow.source];
    const int32_t self = static_cast<int32_t>(flow_id);
    flow.begin = time;
    int32_t before = host.waiting_head >= 0 ? host.waiting_tail : -1;
    if (before >= 0 && state.flows[before].begin > time) {
      before = -1;
      for (int32_t id = host.waiting_head; id >= 0 && state.flows[id].begin <= time;
           id = state.flows[id].next)
        before = id;
    }
    if (before < 0) {
      flow.next = host.waiting_head;
      host.waiting_head = self;
      schedule(host.uplink, TIMER, time);
    } else {
      flow.next = state.flows[before].next;
      state.flows[before].next = self;
    }
    if (flow.next < 0) host.waiting_tail = self;
  }
  void end(int64_t flow_id, int64_t host, int64_t now) {
    state.flows[flow_id].end = now;
    ++counts.flows_done;
    counts.last_end = max(counts.last_end, now);
    const int64_t gap = settings.gap_between_operations;
    const int32_t last = state.successor_start[flow_id + 1];
    for (int32_t place = state.successor_start[flow_id]; place < last; ++place) {
      const int32_t follower = state.successors[place];
      if (--state.flows[follower].waits_for > 0) continue;
      if (gap == 0 && state.flows[follower].source == host)
        begin(follower, now);
      else
        begin_later(follower, now + gap);
    }
  }
  void take_data(int64_t packet_id, int64_t host, int64_t now) {
    const Packet &packet = state.packets[packet_id];
    const int64_t flow_id = packet.flow;
    Flow &flow = state.flows[flow_id];
    const bool marked = packet.marked;
    flow.received_bytes += packet.payload_bytes;
    if (settings.feedback == BY_ACK)
      reply(packet_id, ACK, host);
    else
      give_back(packet_id);
    if (marked && settings.feedback == BY_CNP) notify(flow_id, host, now);
    if (flow.received_bytes >= flow.total_bytes) end(flow_id, host, now);
  }
  void take_ack(const Packet &packet, int64_t host, int64_t now) {
    Flow &flow = state.flows[packet.flow];
    flow.progress_at = now;
    flow.telemetry = packet.telemetry;
    flow.in_flight_bytes -= packet.payload_bytes;
    go_on(flow, packet.flow, host);
  }
  void go_on(Flow &flow, int64_t flow_id, int64_t host) {
    if (flow.to_send_bytes > 0)
      join_ring(host, flow_id);
    else if (flow.active && flow.in_flight_bytes <= 0)
      leave_ring(host, flow_id);
  }
  void send_again(const Packet &packet, int64_t host, int64_t now) {
    Flow &flow = state.flows[packet.flow];
    flow.progress_at = now;
    flow.to_send_bytes += packet.payload_bytes;
    flow.in_flight_bytes -= packet.payload_bytes;
    go_on(flow, packet.flow, host);
  }
  int64_t receive_at_host(int64_t link_id, int64_t packet_id, int64_t now) {
    const Packet &packet = state.packets[packet_id];
    const int64_t host = state.links[link_id].target;
    if (packet.kind == DATA) {
      take_data(packet_id, host, now);
    } else if (packet.kind == TRIMMED) {
      reply(packet_id, NACK, host);
    } else {
      if (packet.kind == ACK)
        take_ack(packet, host, now);
      else if (packet.kind == CNP)
        on_cnp(state.flows[packet.flow], now);
      else
        send_again(packet, host, now);
      give_back(packet_id);
    }
    return state.hosts[host].uplink;
  }

  // --- the loop; each handler returns the link whose sender may have work now, or -1
  int64_t arrive(int64_t link_id, int64_t now) {
    Link &link = state.links[link_id];
    const int64_t packet_id = link.wire_head;
    const int32_t follower = state.packets[packet_id].next;
    link.wire_head = follower;
    if (follower >= 0) {
      replace(link_id, ARRIVE, state.packets[follower].time);
      prefetch(state.packets, max(0, state.packets[follower].next), 0);
    } else {
      drop(link_id, ARRIVE);
    }
    if (state.packets[packet_id].kind >= LOST) __builtin_trap();
    if (link.target < settings.hosts) return receive_at_host(link_id, packet_id, now);
    return receive_at_switch(link_id, packet_id, now);
  }
  int64_t start(int64_t link_id, int64_t now) {
    Link &link = state.links[link_id];
    drop(link_id, START);
    if (link.start_at != now) return -1;
    link.start_at = NEVER;
    return link_id;
  }
  int64_t timer(int64_t link_id, int64_t now) {
    Link &link = state.links[link_id];
    if (link.source >= settings.hosts) __builtin_trap();  // no retransmission timer here
    Host &host = state.hosts[link.source];
    const int64_t flow_id = host.waiting_head;
    const int32_t follower = state.flows[flow_id].next;
    host.waiting_head = follower;
    if (follower >= 0)
      replace(link_id, TIMER, state.flows[follower].begin);
    else
      drop(link_id, TIMER);
    begin(flow_id, now);
    return link_id;
  }
  int64_t handle(int64_t kind, int64_t link_id, int64_t now) {
    switch (kind) {
      case ARRIVE: return arrive(link_id, now);
      case START: return start(link_id, now);
      case CONTROL: return hear(link_id, now);
      default: return timer(link_id, now);
    }
  }
};

Stop Simulation::run(int64_t until) {
  const int64_t enough = state.pool - POOL_RESERVE;
  for (;;) {
    int64_t key = tree[1], now = key >> LEAF_BITS;
    if (now > until) return key == NEVER ? DONE : UNTIL;
    Part &part = state.parts[state.links[(key & LEAF_MASK) >> 2].part[min<int64_t>(key & 3, 1)]];
    const int64_t root = counts.root = part.root, begun = counts.events;
    fetch(part);
    const int64_t end = min(now + counts.lookahead, until + 1) << LEAF_BITS;
    while (key < end && counts.packets_alive <= enough) {
      now = key >> LEAF_BITS;
      ++counts.events;
      counts.now = now;
      const int64_t wake = handle(key & 3, (key & LEAF_MASK) >> 2, now);
      if (wake >= 0) kick(wake, now);
      key = tree[root];
    }
    counts.root = 1;
    climb(root, 1);
    part.events = counts.events - begun;
    counts.latest = max(counts.latest, now);
    if (counts.packets_alive > enough) return POOL_LOW;
  }
}

}  // namespace

extern "C" int64_t run(State *state, int64_t until) { return Simulation(*state).run(until); }
