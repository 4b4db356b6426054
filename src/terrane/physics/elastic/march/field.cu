#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "terrane/base/error.hpp"
#include "terrane/base/free_memory.hpp"
#include "terrane/parallel/device/graph.hpp"
#include "terrane/parallel/device/launch.hpp"
#include "terrane/parallel/partition/exchange.hpp"
#include "terrane/parallel/partition/peer_rows.hpp"
#include "terrane/parallel/reduce/reduce.hpp"
#include "terrane/parallel/simd/no_denormals.hpp"
#include "terrane/parallel/threads/filled.hpp"
#include "terrane/parallel/threads/search.hpp"
#include "terrane/physics/elastic/element/plain.hpp"
#include "terrane/physics/elastic/kernels/forces.hpp"
#include "terrane/physics/elastic/kernels/lanes.hpp"
#include "terrane/physics/elastic/kernels/points.hpp"
#include "terrane/physics/elastic/march/field.hpp"
#include "terrane/physics/elastic/medium/attenuation.hpp"
#include "terrane/physics/elastic/mesh/margin.hpp"

namespace terrane::elastic {

namespace {

/// The numbers that describe an element's shape, in the layout that kernels read (numbers.hpp).
std::vector<double> shape_of_kernel(const Hexahedron& element, Shape shape, const Basis& basis,
                                    bool by_points) {
  std::vector<double> all;
  if (shape == Shape::curved) {  // by_points: [points][10], else [10][points]
    const auto p = static_cast<std::size_t>(basis.points()), each = p * p * p;
    all.resize(10 * each);
    for (std::size_t n = 0; n < each; ++n) {
      const auto map = element.map({basis.x[n % p], basis.x[n / p % p], basis.x[n / p / p]});
      for (std::size_t m = 0; m < 10; ++m)
        all[by_points ? 10 * n + m : m * each + n] = m < 9 ? map.cofactor[m / 3][m % 3] : 1 / map.det;
    }
    return all;
  }
  if (shape == Shape::trilinear) {
    for (std::size_t m = 1; m < 8; ++m)
      all.insert(all.end(), element.monomial[m].begin(), element.monomial[m].end());
    return all;
  }
  const auto map = element.map({0, 0, 0});
  for (const auto& c : map.cofactor)
    for (const double x : c) all.push_back(x / map.det);
  all.push_back(map.det);
  return all;
}
/// The medium of an element in a matched layer, and the coefficients of damping for each axis at the points
/// of the basis.
std::vector<double> margin_of_kernel(const Problem& problem, const Basis& basis, std::size_t element) {
  const auto& mesh = problem.mesh;
  const auto medium =
      elastic_at(mesh.medium_of(element), problem.fading_frequency, problem.relaxation_middle);
  const auto constants = constants_of(medium);
  std::vector<double> all(constants.begin(), constants.end());
  all.push_back(medium.density);
  const auto shape = mesh.element(element);
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (std::size_t i = 0; i < static_cast<std::size_t>(basis.points()); ++i) {
      Vector xi{};
      xi[axis] = basis.x[i];
      const bool fades = mesh.fading_axes(element) >> axis & 1;
      const auto fading =
          fades ? fading_at(mesh, axis, shape.at(xi)[axis], problem.fading_frequency) : Fading{};
      const auto numbers = filters_of(fading, problem.step);
      all.insert(all.end(), numbers.begin(), numbers.end());
    }
  return all;
}
/// The medium at the `each` points of an element; with attenuation also the fractions of the moduli that
/// mechanisms relax.
std::vector<double> varying_medium_of_kernel(const Medium& medium, const PointRock* rock, std::size_t each,
                                             Rheology rheology) {
  std::vector<double> all;
  if (attenuates(rheology)) {
    for (const double taken : medium.taken_kappa) all.push_back(taken / medium.kappa());
    for (const double taken : medium.taken_mu) all.push_back(taken / medium.mu());
  }
  const std::size_t before = all.size();
  all.resize(before + static_cast<std::size_t>(point_numbers(rheology)) * each);
  for (std::size_t n = 0; n < each; ++n) {
    const auto [density, lambda, mu] = rock[n];
    all[before + n] = rheology == Rheology::varying_fluid ? 1 / density : lambda;
    if (point_numbers(rheology) == 2) all[before + each + n] = mu;
  }
  return all;
}
std::vector<double> medium_of_kernel(const Medium& medium, Rheology rheology) {
  if (rheology == Rheology::fluid) return {1 / medium.density};
  std::vector<double> all{medium.lambda(), medium.mu()};
  if (hooke_numbers(rheology) == 21) {
    const auto constants = constants_of(medium);
    all.assign(constants.begin(), constants.end());
  }
  if (attenuates(rheology)) {
    all.insert(all.end(), medium.taken_kappa.begin(), medium.taken_kappa.end());
    all.insert(all.end(), medium.taken_mu.begin(), medium.taken_mu.end());
  }
  return all;
}

/// Elements of one kind, with the numbers that describe their shape and medium, and their memory variables;
/// in blocks of one element per lane. Unused lanes of the last block repeat the last element.
template <class T>
struct Batch {
  Segment kind;
  std::size_t first_block = 0, blocks = 0;
  std::size_t first_force = 0;  // index of the first element's first force; on devices only
  Buffer<T> shape, medium, memory;
};

template <class T>
class FieldOf final : public Field {
 public:
  FieldOf(const Problem& problem, Part part, const FieldOptions& options, Comm& comm);

  void load_courses(std::span<const double> courses) override;
  void step() override;
  void steps(std::size_t count) override;
  std::vector<double> take_series() override;
  void watch(const std::vector<std::uint32_t>& points) override {
    watched_ = numbers(points);
    seen_ = Buffer<Vec4<T>>(stream_.device(), points.size());
  }
  std::vector<double> watched(Of what) override;
  std::array<double, 2> largest() override;
  State state() override;
  void set_state(const State& state) override;
  std::vector<double> forces() override;
  void wait() override;
  std::string transport() const override;
  const Part& part() const noexcept override { return part_; }

 private:
  bool on_cpu() const { return stream_.device().kind == Device::Kind::cpu; }
  std::size_t blocks_of_rows() const { return (most_rows_ + SumPushes<T>::steps - 1) / SumPushes<T>::steps; }
  /// Number of points that leap() advances by a time step; on devices it leaves out points within elements,
  /// which the kernels of forces advance.
  std::size_t leaping() const { return on_cpu() ? part_.points : part_.meeting; }
  void upload_elements(const Problem& problem);
  void upload_tables(const Problem& problem);
  std::size_t blocks_of_part() const;
  void upload_factors();
  void upload_points();
  void upload_places();
  void upload_sources();
  void upload_receivers();
  std::uint32_t slot(std::size_t contribution) const;
  std::uint32_t fits(std::size_t number) const;

  bool can_record() const { return stream_.device().has_own_memory() && (!exchange_ || exchange_->direct()); }
  Vec4<T>* quads() { return reinterpret_cast<Vec4<T>*>(force_.view().data); }
  void share_points(bool through_peers);
  void begin_to_share();
  void end_sharing();
  void compute(Vec4<T>* inner_force = nullptr);
  void compute(Stream& on, bool outer, Vec4<T>* inner_force);
  void compute_lanes(Batch<T>& batch);
  void compute_plain(const Batch<T>& batch);
  void compute_groups(Stream& on, Batch<T>& batch, Vec4<T>* inner_force);
  template <class Sum>
  void leap(const Sum& sum);
  void push_and_record();
  template <class Use>
  void with_sum(const Use& use);
  template <class Use>
  void each_memory(const Use& use);
  Buffer<std::uint32_t> numbers(std::span<const std::uint32_t> all) {
    return Buffer<std::uint32_t>(stream_, all);
  }
  Buffer<T> values(const std::vector<double>& all) {
    const std::vector<T> rounded(all.begin(), all.end());
    return Buffer<T>(stream_, rounded);
  }

  Part part_;
  Comm& comm_;
  Stream stream_;
  Basis basis_;
  std::size_t each_, sources_;
  int lanes_ = 1;
  bool fixed_, plain_;
  std::vector<PlainElement> plain_elements_;
  std::vector<Batch<T>> batches_;
  LaneTables<T> lane_tables_;
  DeviceTables<T> device_tables_{};
  Buffer<DeviceTables<T>> spread_;
  Buffer<std::uint32_t> point_;  // [blocks][points of an element][lanes]
  std::size_t own_ = 0;          // number of forces that own elements store, including unused lanes
  Buffer<T> force_;              // CPU: [blocks][points][3][lanes]; devices: Vec4 [elements][forces_kept()]
  Buffer<Vec4<T>> u_, w_;
  Buffer<ContributionPlaces> places_;
  Buffer<std::uint32_t> list_, absorbing_, contacts_;
  Buffer<T> leaving_, in_contact_;

  Buffer<std::uint32_t> pushed_, push_first_, push_source_;
  Buffer<T> push_change_, courses_, pushes_;

  Buffer<std::uint32_t> receiver_points_;
  Buffer<T> receiver_weight_, series_;
  std::size_t receivers_ = 0, in_solid_ = 0, rows_ = 0;
  bool apart_ = true;  // whether no source acts on a point that a receiver reads

  Alone alone_;  // a Comm of this rank alone, for reductions over its own points
  std::optional<Reduction<1>> looks_;
  Buffer<std::uint8_t> in_fluid_;  // [points] whether the point is in a fluid; empty: none is

  Buffer<std::uint32_t> watched_;
  Buffer<Vec4<T>> seen_;

  Buffer<std::uint32_t> send_at_, receive_at_;
  Stream outer_;  // urgent stream, for outer elements
  Event ready_, shared_;
  // If there are other ranks, either peers_ or exchange_ exists, not both.
  std::unique_ptr<PeerRows<T>> peers_;
  std::optional<Exchange<T>> exchange_;
  std::size_t most_rows_;
  bool graphs_, all_rows_once_ = false;
  std::optional<Graph> all_rows_;
};

template <class T>
FieldOf<T>::FieldOf(const Problem& problem, Part part, const FieldOptions& options, Comm& comm)
    : part_(std::move(part)),
      comm_(comm),
      stream_(options.device, false, options.threads),
      basis_(problem.degree),
      each_(problem.points_of_element()),
      sources_(problem.sources.size()),
      fixed_(problem.sums == Sums::fixed || on_cpu()),
      plain_(options.plain),
      lane_tables_(lane_tables<T>(basis_)),
      outer_(options.device, true, options.threads),
      ready_(options.device),
      shared_(options.device),
      most_rows_(options.most_rows),
      graphs_(options.graphs) {
  if (!fixed_ && comm.size() > 1)
    throw InputError("elastic: sums", "fast sums are for one rank", "Take sums = \"fixed\".");
  const bool loses = std::any_of(part_.segments.begin(), part_.segments.end(),
                                 [](const Segment& s) { return memory_numbers_of(s.rheology, s.axes) > 0; });
  if (plain_ && loses)
    throw InputError("elastic: plain", "the slow twin knows no attenuation and no margins");
  if (plain_ && !on_cpu()) throw InputError("elastic: plain", "the slow twin runs on the CPU");
  if (on_cpu() && !plain_) lanes_ = lane_kernels<T>().lanes;
  upload_elements(problem);
  upload_tables(problem);
  upload_points();
  upload_sources();
  upload_receivers();
  if (comm.size() > 1) share_points(options.through_peers);
  series_ = Buffer<T>(stream_.device(), 3 * receivers_ * options.most_rows);
  courses_ = Buffer<T>(stream_.device(), sources_ * blocks_of_rows() * SumPushes<T>::steps);
  pushes_ = Buffer<T>(stream_.device(), 3 * pushed_.size() * blocks_of_rows() * SumPushes<T>::steps);
}

template <class T>
std::uint32_t FieldOf<T>::fits(std::size_t number) const {
  if (number >= ContributionPlaces::many)
    throw InputError("elastic: mesh", "a rank's part has more than two thousand million forces",
                     "Take more ranks.");
  return static_cast<std::uint32_t>(number);
}

/// Index in force_ of a contribution's first component; on devices, index of the force (Vec4).
template <class T>
std::uint32_t FieldOf<T>::slot(std::size_t contribution) const {
  const auto w = static_cast<std::size_t>(lanes_);
  if (contribution >= part_.own()) {
    const std::size_t n = contribution - part_.own();
    return fits(on_cpu() ? 3 * (own_ * w + n / w * w) + n % w : own_ + n);
  }
  const std::size_t element = contribution / each_, n = contribution % each_;
  for (const auto& batch : batches_)
    if (element < batch.kind.first + batch.kind.count) {
      const std::size_t inside = element - batch.kind.first, block = batch.first_block + inside / w;
      if (!on_cpu()) {
        const int p = basis_.points(), at = static_cast<int>(n);
        const bool used = uses_inner(batch.kind.rheology);
        return fits(batch.first_force + inside * static_cast<std::size_t>(forces_kept(p, used)) +
                    static_cast<std::size_t>(used ? place_of_force(at % p, at / p % p, at / p / p, p) : at));
      }
      return fits((block * each_ + n) * 3 * w + inside % w);
    }
  return 0;
}

template <class T>
std::size_t FieldOf<T>::blocks_of_part() const {
  const auto w = static_cast<std::size_t>(lanes_);
  std::size_t blocks = 0;
  for (const auto& segment : part_.segments) blocks += (segment.count + w - 1) / w;
  return blocks;
}

template <class T>
void FieldOf<T>::upload_elements(const Problem& problem) {
  const auto w = static_cast<std::size_t>(lanes_);
  // On devices, which have no lanes, the indices of points are those of Part::point.
  UnsetList<std::uint32_t> points(on_cpu() ? blocks_of_part() * each_ * w : 0);
  std::size_t blocks = 0;
  for (const auto& segment : part_.segments) {
    Batch<T> batch{segment, blocks, (segment.count + w - 1) / w, own_, {}, {}, {}};
    blocks += batch.blocks;
    own_ +=
        segment.count * static_cast<std::size_t>(forces_kept(basis_.points(), uses_inner(segment.rheology)));
    const auto shapes = static_cast<std::size_t>(shape_numbers(segment.shape, basis_.points_of_element())),
               media = static_cast<std::size_t>(medium_numbers(segment.rheology, basis_.points())),
               kept = static_cast<std::size_t>(memory_numbers_of(segment.rheology, segment.axes));
    batch.shape = Buffer<T>(stream_.device(), batch.blocks * shapes * w);
    batch.medium = Buffer<T>(stream_.device(), batch.blocks * media * w);
    // Converts at most 64 MB of numbers at a time, because a curved element has five thousand bytes.
    const std::size_t at_once = std::max<std::size_t>(1, (std::size_t{1} << 24) / ((shapes + media) * w));
    UnsetList<T> shape(std::min(at_once, batch.blocks) * shapes * w),
        medium(std::min(at_once, batch.blocks) * media * w);
    std::size_t done = 0;
    const auto fill_lane = [&](std::size_t n) {
      const std::size_t element = segment.first + std::min(n, segment.count - 1), block = n / w, lane = n % w;
      const auto number = part_.elements[element];
      const auto s = shape_of_kernel(problem.mesh.element(number), segment.shape, basis_, on_cpu());
      const auto& own = problem.mesh.medium_of(number);
      const auto* const rock = problem.mesh.rock_of(number, each_);
      const auto r = segment.rheology == Rheology::matched ? margin_of_kernel(problem, basis_, number)
                     : rock ? varying_medium_of_kernel(own, rock, each_, segment.rheology)
                            : medium_of_kernel(own, segment.rheology);
      const auto b = block - done;
      for (std::size_t k = 0; k < shapes; ++k) shape[(b * shapes + k) * w + lane] = static_cast<T>(s[k]);
      for (std::size_t k = 0; k < media; ++k) medium[(b * media + k) * w + lane] = static_cast<T>(r[k]);
      for (std::size_t k = 0; k < each_ && !points.empty(); ++k)
        points[((batch.first_block + block) * each_ + k) * w + lane] = part_.point[element * each_ + k];
    };
    constexpr std::size_t elements_at_once = 512;  // elements that a thread processes at a time
    for (; done < batch.blocks; done += at_once) {
      const auto count = std::min(at_once, batch.blocks - done);
      for_each_stretch(
          count * w, stream_.threads(),
          [&](std::size_t first, std::size_t last) {
            for (std::size_t n = first; n < last; ++n) fill_lane(done * w + n);
          },
          elements_at_once);
      batch.shape.upload(stream_, std::span<const T>(shape).first(count * shapes * w), done * shapes * w);
      batch.medium.upload(stream_, std::span<const T>(medium).first(count * media * w), done * media * w);
    }
    if (kept > 0) {
      batch.memory = Buffer<T>(stream_.device(), batch.blocks * w * each_ * kept);
      batch.memory.fill_zero(stream_);
    }
    batches_.push_back(std::move(batch));
  }
  point_ = numbers(on_cpu() ? std::span<const std::uint32_t>(points) : part_.point);
  if (on_cpu()) own_ = blocks * each_;
  if (plain_)
    for (const auto number : part_.elements)
      plain_elements_.emplace_back(basis_, problem.mesh.element(number), problem.mesh.medium_of(number),
                                   problem.mesh.rock_of(number, each_));
}

/// Uploads derivatives, points and weights of the basis, and coefficients of attenuation's recursion.
template <class T>
void FieldOf<T>::upload_tables(const Problem& problem) {
  device_tables_.points = basis_.points();
  for (std::size_t i = 0; i < most_points; ++i) {
    device_tables_.x[i] = static_cast<T>(basis_.x[i]);
    device_tables_.w[i] = static_cast<T>(basis_.weight[i]);
    for (std::size_t j = 0; j < most_points; ++j)
      device_tables_.d[i][j] = static_cast<T>(basis_.derivative[i][j]);
  }
  for (std::size_t l = 0; l < relaxations; ++l) {  // coefficients a, b, c of the recursion in attenuation.hpp
    const double x = relaxation(problem.relaxation_middle)[l] * problem.step, a = std::exp(-x),
                 r = -std::expm1(-x) / x;
    lane_tables_.recursion.a[l] = static_cast<T>(a);
    lane_tables_.recursion.b[l] = static_cast<T>(r - a);
    lane_tables_.recursion.c[l] = static_cast<T>(1 - r);
  }
  device_tables_.recursion = lane_tables_.recursion;
  spread_ = Buffer<DeviceTables<T>>(stream_, std::span<const DeviceTables<T>>(&device_tables_, 1));
}

/// Sets w to zero, and its fourth number to Δt² / m, but to 0 for absorbing points and points of contacts,
/// which are advanced by LeapAndLeave and LeapInContact.
template <class T>
void FieldOf<T>::upload_factors() {
  UnsetList<T> factor(part_.points);
  for_each_stretch(part_.points, stream_.threads(), [&](std::size_t first, std::size_t last) {
    for (std::size_t p = first; p < last; ++p) factor[p] = static_cast<T>(part_.factor[p]);
  });
  for (const auto p : part_.absorbing) factor[p] = 0;
  for (const auto& c : part_.contacts) factor[c.fluid] = factor[c.solid] = 0;
  const Buffer<T> there(stream_, factor);
  w_ = Buffer<Vec4<T>>(stream_.device(), part_.points);
  for_each(stream_, part_.points, RestWithFactor<T>{there.view().data, w_.view().data});
  stream_.wait();
}

template <class T>
void FieldOf<T>::upload_points() {
  const auto w = static_cast<std::size_t>(lanes_);
  upload_factors();
  UnsetList<T> leaving(7 * part_.absorbing.size());
  for_each_stretch(part_.absorbing.size(), stream_.threads(), [&](std::size_t first, std::size_t last) {
    for (std::size_t n = first; n < last; ++n) {
      for (std::size_t k = 0; k < 6; ++k) leaving[7 * n + k] = static_cast<T>(part_.leaving[n][k]);
      leaving[7 * n + 6] = static_cast<T>(part_.factor[part_.absorbing[n]]);
    }
  });
  std::vector<std::uint32_t> contacts;
  std::vector<double> in_contact;
  for (const auto& c : part_.contacts) {
    contacts.insert(contacts.end(), {c.fluid, c.solid});
    const auto& a = c.area;
    const auto& r = c.leaving_solid;
    const double m = c.mass_solid;
    in_contact.insert(in_contact.end(),
                      {a[0], a[1], a[2], c.leaving_fluid, part_.factor[c.fluid], a[0] / m, a[1] / m, a[2] / m,
                       part_.factor[c.solid], r[0], r[1], r[2], r[3], r[4], r[5]});
  }
  contacts_ = numbers(contacts);
  in_contact_ = values(in_contact);
  absorbing_ = numbers(part_.absorbing);
  leaving_ = Buffer<T>(stream_, leaving);
  u_ = Buffer<Vec4<T>>(stream_.device(), part_.points);
  u_.fill_zero(stream_);
  if (!fixed_) {
    force_ = Buffer<T>(stream_.device(), 4 * part_.points);
    force_.fill_zero(stream_);
    return;
  }
  force_ = Buffer<T>(stream_.device(), on_cpu() ? 3 * (own_ * w + (part_.received + w - 1) / w * w)
                                                : 4 * (own_ + part_.received));
  force_.fill_zero(stream_);
  upload_places();
}

/// Uploads the indices of the forces that are summed at each point.
template <class T>
void FieldOf<T>::upload_places() {
  const auto count = [&](std::size_t p) { return part_.first[p + 1] - part_.first[p]; };
  const auto listed = [&](std::size_t p) { return count(p) > 2 ? count(p) : 0; };
  const int threads = stream_.threads();
  const auto before = sums_before_stretches(part_.meeting, threads, listed);
  UnsetList<ContributionPlaces> places(leaping());
  UnsetList<std::uint32_t> list(before.back());
  for_each_stretch(part_.meeting, threads, [&](std::size_t first, std::size_t last) {
    auto next = before[first / stretch_length];
    for (std::size_t p = first; p < last; ++p) {
      const auto* const from = &part_.contribution[part_.first[p]];
      if (listed(p) == 0) {
        places[p] = {slot(from[0]), count(p) == 2 ? slot(from[1]) : ContributionPlaces::none};
        continue;
      }
      places[p] = {fits(next), static_cast<std::uint32_t>(count(p)) | ContributionPlaces::many};
      for (std::size_t n = 0; n < count(p); ++n) list[next++] = slot(from[n]);
    }
  });
  // If leap() advances all points, points within elements have a single contribution.
  const std::size_t leaping_elements = leaping() > part_.meeting ? part_.elements.size() : 0;
  for_each_stretch(leaping_elements, threads, [&](std::size_t first, std::size_t last) {
    for (std::size_t c = first * each_; c < last * each_; ++c)
      if (const auto p = part_.point[c]; p >= part_.meeting) places[p] = {slot(c), ContributionPlaces::none};
  });
  places_ = Buffer<ContributionPlaces>(stream_, places);
  list_ = numbers(list);
  free_memory(part_.first);
  free_memory(part_.contribution);
}

/// Sets up the exchange of contributions to shared points with other ranks; they are sent individually, not
/// summed.
template <class T>
void FieldOf<T>::share_points(bool through_peers) {
  std::vector<std::uint32_t> send, receive;
  std::vector<typename PeerRows<T>::Parcel> rows_out, rows_in;
  for (const auto& neighbour : part_.neighbours) {
    const auto index = [](std::size_t n) { return static_cast<Index>(n); };
    rows_out.push_back({neighbour.rank, index(send.size()), index(neighbour.send.size())});
    rows_in.push_back({neighbour.rank, index(neighbour.first_received), index(neighbour.received)});
    for (const auto c : neighbour.send) send.push_back(slot(c));
  }
  if (through_peers) peers_ = PeerRows<T>::make(stream_, send, rows_out, rows_in, comm_);
  if (peers_) return;
  for (std::size_t n = 0; n < part_.received; ++n) receive.push_back(slot(part_.own() + n));
  if (!on_cpu())
    for (auto* const places : {&send, &receive})
      for (auto& place : *places) place = fits(std::size_t{4} * place);
  send_at_ = numbers(send);
  receive_at_ = numbers(receive);
  const auto numbers_of = [](const auto& rows) {
    std::vector<typename Exchange<T>::Parcel> all;
    for (const auto& parcel : rows) all.push_back({parcel.rank, 0, 3 * parcel.first, 3 * parcel.count});
    return all;
  };
  exchange_.emplace(stream_, numbers_of(rows_out), numbers_of(rows_in), 1, comm_);
}

/// Begins to send contributions to shared points, after the outer elements, on their stream.
template <class T>
void FieldOf<T>::begin_to_share() {
  if (peers_) {
    peers_->bring(outer_, force_.view().data, force_.view().data + 4 * own_);
    return shared_.record(outer_);
  }
  const auto w = static_cast<std::size_t>(on_cpu() ? lanes_ : 1);
  exchange_->begin(outer_, 1, [&](Stream& on, T* packed) {
    for_each(on, send_at_.size(), PackRows<T>{force_.view().data, w, send_at_.view().data, packed});
  });
}
template <class T>
void FieldOf<T>::end_sharing() {
  if (peers_) return stream_.wait_for(shared_);
  const auto w = static_cast<std::size_t>(on_cpu() ? lanes_ : 1);
  exchange_->end(stream_, 1, [&](Stream& on, T* packed) {
    for_each(on, receive_at_.size(), UnpackRows<T>{packed, receive_at_.view().data, force_.view().data, w});
  });
}

template <class T>
void FieldOf<T>::wait() {
  if (exchange_) return exchange_->wait(stream_);
  stream_.wait();
  if (peers_) peers_->check();
}
template <class T>
std::string FieldOf<T>::transport() const {
  if (peers_) return "go from device to device by kernels";
  return exchange_ ? exchange_->transport() : std::string();
}

template <class T>
void FieldOf<T>::upload_sources() {
  std::vector<std::uint32_t> points, first, source;
  std::vector<double> change;
  for (const auto& s : part_.sources) {
    if (points.empty() || points.back() != s.point) {
      points.push_back(s.point);
      first.push_back(static_cast<std::uint32_t>(source.size()));
    }
    source.push_back(s.source);
    change.insert(change.end(), s.change.begin(), s.change.end());
  }
  first.push_back(static_cast<std::uint32_t>(source.size()));
  pushed_ = numbers(points);
  push_first_ = numbers(first);
  push_source_ = numbers(source);
  push_change_ = values(change);
}

template <class T>
void FieldOf<T>::upload_receivers() {
  std::vector<std::uint32_t> points;
  std::vector<double> weight;
  for (const auto& r : part_.receivers) {
    for (std::size_t n = 0; n < each_; ++n) points.push_back(part_.point[r.element * each_ + n]);
    weight.insert(weight.end(), r.weight.begin(), r.weight.end());
    if (!r.in_fluid) ++in_solid_;
  }
  std::vector<std::uint8_t> pushed(part_.points, 0);
  for (const auto& s : part_.sources) pushed[s.point] = 1;
  apart_ = std::none_of(points.begin(), points.end(), [&](auto point) { return pushed[point] != 0; });
  receivers_ = part_.receivers.size();
  receiver_points_ = numbers(points);
  receiver_weight_ = values(weight);
}

template <class T>
void FieldOf<T>::compute_lanes(Batch<T>& batch) {
  const auto& kernels = lane_kernels<T>();
  const auto kernel = kernels.kernel[basis_.degree == 4][static_cast<int>(batch.kind.shape)]
                                    [static_cast<int>(batch.kind.rheology)];
  const auto w = static_cast<std::size_t>(lanes_), before = batch.first_block * each_ * w;
  const LaneWork<T> work{u_.view().data,           point_.view().data + before,     batch.shape.view().data,
                         batch.medium.view().data, force_.view().data + 3 * before, batch.memory.view().data,
                         batch.kind.axes};
  constexpr std::size_t chunk = 8;  // blocks per task: a tenth of a millisecond of work
  for_each((batch.blocks + chunk - 1) / chunk, stream_.threads(), [&](std::size_t c) {
    const NoDenormals zero;
    kernel(lane_tables_, work, c * chunk, std::min((c + 1) * chunk, batch.blocks));
  });
}

template <class T>
void FieldOf<T>::compute_plain(const Batch<T>& batch) {
  for_each(batch.kind.count, stream_.threads(), [&](std::size_t n) {
    const std::size_t element = batch.kind.first + n;
    std::vector<double> u(3 * each_), f(3 * each_, 0.0);
    const auto* const points = &part_.point[element * each_];
    for (std::size_t k = 0; k < each_; ++k) {
      const auto& v = u_.view()[points[k]];
      u[3 * k] = v.x, u[3 * k + 1] = v.y, u[3 * k + 2] = v.z;
    }
    plain_elements_[element].subtract_forces(u.data(), f.data());
    T* const to = force_.view().data + 3 * element * each_;
    for (std::size_t k = 0; k < 3 * each_; ++k) to[k] = static_cast<T>(f[k]);
  });
}

template <class T>
void FieldOf<T>::compute_groups(Stream& on, Batch<T>& batch, Vec4<T>* inner_force) {
  const ElementsOfDevice<T> all{batch.kind.first,
                                point_.view().data,
                                batch.shape.view().data,
                                batch.medium.view().data,
                                batch.memory.view().data,
                                batch.kind.axes,
                                u_.view().data,
                                w_.view().data,
                                quads() + (fixed_ ? batch.first_force : 0),
                                inner_force,
                                fixed_};
  begin_forces(on, GroupForcesWork<T>{basis_.degree, batch.kind.shape, batch.kind.rheology, batch.kind.count,
                                      device_tables_, spread_.view().data, all});
}

template <class T>
void FieldOf<T>::compute(Stream& on, bool outer, Vec4<T>* inner_force) {
  for (auto& batch : batches_) {
    if (batch.kind.outer != outer) continue;
    if (plain_) compute_plain(batch);
    else if (on_cpu()) compute_lanes(batch);
    else compute_groups(on, batch, inner_force);
  }
}

/// Computes the forces of all elements. Outer elements are first: their contributions to shared points are
/// sent while inner elements are computed. On devices points within elements are advanced by a step, or, if
/// inner_force is given, their forces are stored there.
template <class T>
void FieldOf<T>::compute(Vec4<T>* inner_force) {
  const bool shares = peers_ || exchange_;
  if (shares) {
    ready_.record(stream_);
    outer_.wait_for(ready_);
    compute(outer_, true, inner_force);
    begin_to_share();
  }
  compute(stream_, false, inner_force);
  if (shares) end_sharing();
}

template <class T>
template <class Use>
void FieldOf<T>::with_sum(const Use& use) {
  const auto* places = places_.view().data;
  const auto* list = list_.view().data;
  if (on_cpu())
    use(Contributions<ForceRows<T>, T>{places, list, {force_.view().data, static_cast<std::size_t>(lanes_)}});
  else if (fixed_) use(Contributions<ForceQuads<T>, T>{places, list, {quads()}});
  else use(AddedForces<T>{quads()});
}

template <class T>
template <class Sum>
void FieldOf<T>::leap(const Sum& sum) {
  for_each(stream_, leaping(), Leap<Sum, T>{sum, w_.view().data, u_.view().data});
  for_each(stream_, absorbing_.size(),
           LeapAndLeave<Sum, T>{sum, absorbing_.view().data, leaving_.view().data, w_.view().data,
                                u_.view().data});
  for_each(stream_, part_.contacts.size(),
           LeapInContact<Sum, T>{sum, contacts_.view().data, in_contact_.view().data, w_.view().data,
                                 u_.view().data});
}

/// Adds the sources, then records the change of displacement at receivers as a row of the series.
template <class T>
void FieldOf<T>::push_and_record() {
  const Push<T> push{pushed_.view().data, pushes_.view().data + 3 * rows_ * pushed_.size(), w_.view().data,
                     u_.view().data};
  T* const row = series_.view().data + 3 * receivers_ * rows_;
  const auto* points = receiver_points_.view().data;
  const auto* weight = receiver_weight_.view().data;
  const auto* w = w_.view().data;
  const Record<T> solid{points, weight, each_, w, row};
  const RecordPotential<T> fluid{points + each_ * in_solid_, weight + each_ * in_solid_, each_, w,
                                 row + 3 * in_solid_};
  const RecordByGroups<T> record{solid, fluid, in_solid_};
  if (!on_cpu() && apart_) {
    const PushAndRecord<T> both{record, push, receivers_, pushed_.size()};
    return for_each_group(stream_, both.groups(), both);
  }
  for_each(stream_, pushed_.size(), push);
  if (!on_cpu()) return for_each_group(stream_, receivers_, record);
  for_each(stream_, in_solid_, solid);
  for_each(stream_, receivers_ - in_solid_, fluid);
}

/// One time step: w += Δt²/m (F − K u), u += w (problem.hpp).
template <class T>
void FieldOf<T>::step() {
  compute();
  with_sum([&](const auto& sum) { leap(sum); });
  push_and_record();
  ++rows_;
}

/// The second time that the full number of rows is requested, these steps are recorded together in a Graph.
template <class T>
void FieldOf<T>::steps(std::size_t count) {
  const auto one_by_one = [&] {
    for (std::size_t n = 0; n < count; ++n) step();
  };
  if (!graphs_ || !can_record() || rows_ > 0 || count != most_rows_ || !all_rows_once_) {
    all_rows_once_ = true;
    return one_by_one();
  }
  if (!all_rows_) all_rows_.emplace(stream_, one_by_one);
  all_rows_->launch(stream_);
  rows_ = count;
}

template <class T>
void FieldOf<T>::load_courses(std::span<const double> courses) {
  rows_ = 0;
  if (pushed_.size() == 0) return;
  const std::size_t steps = SumPushes<T>::steps, blocks = (courses.size() / sources_ + steps - 1) / steps;
  std::vector<T> rounded(courses.begin(), courses.end());
  rounded.resize(sources_ * blocks * steps);  // unused rows are zero
  courses_.upload(stream_, rounded);
  for_each(stream_, pushed_.size() * blocks,
           SumPushes<T>{push_first_.view().data, push_source_.view().data, push_change_.view().data,
                        courses_.view().data, sources_, pushed_.size(), blocks, pushes_.view().data});
}

template <class T>
std::vector<double> FieldOf<T>::take_series() {
  std::vector<T> rows(3 * receivers_ * rows_);
  wait();
  series_.download(stream_, rows);
  rows_ = 0;
  return {rows.begin(), rows.end()};
}

template <class T>
std::vector<double> FieldOf<T>::watched(Of what) {
  const auto& from = what == Of::displacement ? u_ : w_;
  for_each(stream_, watched_.size(), Pick<T>{watched_.view().data, from.view().data, seen_.view().data});
  std::vector<Vec4<T>> values(watched_.size());
  wait();
  seen_.download(stream_, values);
  std::vector<double> all;
  all.reserve(3 * values.size());
  for (const auto& v : values) all.insert(all.end(), {v.x, v.y, v.z});
  return all;
}

/// |w|² of a point; 0 for points in the other kind of medium.  fluid: whether points in fluids are wanted, or
/// in solids
template <class T>
struct Squared {
  const Vec4<T>* w;
  const std::uint8_t* in_fluid;
  bool fluid;
  TERRANE_FN double operator()(Index n) const {
    if (in_fluid && (in_fluid[n] != 0) != fluid) return 0;
    const double x = w[n].x, y = w[n].y, z = w[n].z;
    return x * x + y * y + z * z;
  }
};

template <class T>
std::array<double, 2> FieldOf<T>::largest() {
  if (part_.points == 0) return {};
  if (!looks_) {
    const auto all = index_box(part_.points);
    looks_.emplace(stream_, all, all, alone_);
    std::vector<std::uint8_t> in_fluid(part_.points, 0);
    bool any = false;
    for (const auto& s : part_.segments)
      for (std::size_t n = s.first * each_; is_potential(s.rheology) && n < (s.first + s.count) * each_; ++n)
        in_fluid[part_.point[n]] = any = true;
    if (any) in_fluid_ = Buffer<std::uint8_t>(stream_, in_fluid);
  }
  wait();
  const bool wet = in_fluid_.size() > 0;
  const auto most = [&](bool fluid) {
    return std::sqrt(
        looks_->highest(Squared<T>{w_.view().data, wet ? in_fluid_.view().data : nullptr, fluid}));
  };
  return {most(false), wet ? most(true) : 0};
}

/// Calls use(batch, memory variables of the batch, number, place) for each batch: the n-th variable has the
/// index number(n) in Field::State, and place(n) in the batch.
template <class T>
template <class Use>
void FieldOf<T>::each_memory(const Use& use) {
  const auto w = static_cast<std::size_t>(lanes_);
  std::size_t before = 0;  // number of memory variables in preceding batches
  for (auto& batch : batches_) {
    const auto m = static_cast<std::size_t>(memory_numbers_of(batch.kind.rheology, batch.kind.axes));
    if (m == 0) continue;
    std::vector<T> kept(batch.memory.size(), T(0));
    // n is an index [elements, all lanes of all blocks][points][numbers]; unused lanes of the last block
    // repeat the last element.
    const auto number = [&](std::size_t n) {
      return before + std::min(n / (each_ * m), batch.kind.count - 1) * each_ * m + n % (each_ * m);
    };
    const auto p2 = each_ / static_cast<std::size_t>(basis_.points());
    const auto place = [&](std::size_t n) {
      const std::size_t e = n / (each_ * m), k = n / m % each_, at = n % m;
      return on_cpu() ? ((e / w * each_ + k) * m + at) * w + e % w
                      : (e * each_ + k / p2 * p2) * m + at * p2 + k % p2;
    };
    use(batch, kept, number, place);
    before += batch.kind.count * each_ * m;
  }
}

template <class T>
Field::State FieldOf<T>::state() {
  std::vector<Vec4<T>> values(part_.points);
  State state;
  const auto take = [&](const Buffer<Vec4<T>>& from, std::vector<double>& to) {
    from.download(stream_, values);
    for (const auto& v : values) to.insert(to.end(), {v.x, v.y, v.z});
  };
  take(u_, state.displacement);
  take(w_, state.change);
  each_memory([&](Batch<T>& batch, std::vector<T>& kept, const auto& number, const auto& place) {
    state.memory.resize(std::max(state.memory.size(), number(kept.size() - 1) + 1), 0.0);
    batch.memory.download(stream_, kept);
    for (std::size_t n = 0; n < kept.size(); ++n)
      state.memory[number(n)] = static_cast<double>(kept[place(n)]);
  });
  return state;
}

template <class T>
void FieldOf<T>::set_state(const State& state) {
  std::vector<Vec4<T>> values(part_.points);
  const auto put = [&](const std::vector<double>& from, Buffer<Vec4<T>>& to) {
    to.download(stream_, values);
    for (std::size_t p = 0; p < part_.points; ++p) {
      values[p].x = static_cast<T>(from[3 * p]);
      values[p].y = static_cast<T>(from[3 * p + 1]);
      values[p].z = static_cast<T>(from[3 * p + 2]);
    }
    to.upload(stream_, values);
  };
  put(state.displacement, u_);
  put(state.change, w_);
  each_memory([&](Batch<T>& batch, std::vector<T>& kept, const auto& number, const auto& place) {
    for (std::size_t n = 0; n < kept.size() && !state.memory.empty(); ++n)
      kept[place(n)] = static_cast<T>(state.memory[number(n)]);
    batch.memory.upload(stream_, kept);
  });
}

/// Sums the contributions at each point.
template <class Sum, class T>
struct JustSum {
  Sum forces;
  Vec4<T>* out;
  TERRANE_FN void operator()(std::size_t point) const {
    forces.sum(point, out[point].x, out[point].y, out[point].z);
    out[point].w = 0;
  }
};

template <class T>
std::vector<double> FieldOf<T>::forces() {
  Buffer<Vec4<T>> out(stream_.device(), part_.points);
  compute(out.view().data);
  with_sum([&](const auto& sum) {
    for_each(stream_, leaping(), JustSum<std::decay_t<decltype(sum)>, T>{sum, out.view().data});
  });
  std::vector<Vec4<T>> values(part_.points);
  out.download(stream_, values);
  std::vector<double> all;
  for (const auto& v : values) all.insert(all.end(), {v.x, v.y, v.z});
  return all;
}

}  // namespace

std::unique_ptr<Field> make_field(const Problem& problem, Part part, const FieldOptions& options,
                                  Comm& comm) {
  if (problem.precision == Precision::single_precision)
    return std::make_unique<FieldOf<float>>(problem, std::move(part), options, comm);
  return std::make_unique<FieldOf<double>>(problem, std::move(part), options, comm);
}

}  // namespace terrane::elastic
