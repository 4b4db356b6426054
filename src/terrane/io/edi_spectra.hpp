// Impedance and tipper from the spectra of an EDI file.
//
// A block has a real matrix of all channels: powers on its diagonal, of channels i > j the real part of ⟨i
// j*⟩ in row i and the imaginary part in row j. With R the magnetic field of a remote site, or else that of
// the site, ⟨E R*⟩ = Z ⟨H R*⟩ and ⟨H_z R*⟩ = T ⟨H R*⟩ (Gamble, Goubau and Clarke 1979). What a channel has
// beside that, of power σ², gives Z_l the variance σ² Σ_km w_kl w*_ml ⟨R_m R*_k⟩ / (N − 2), where w = ⟨H
// R*⟩⁻¹; half of it is that of each part. N, of independent estimates, is AVGT, or BW AVGT where it is a
// time: the smaller one that is above 4, as files differ in which they mean. Without one there are no errors.
#pragma once

#include "terrane/io/edi_file.hpp"
#include "terrane/io/magnetotellurics.hpp"

namespace terrane::io::edi {

/// Numbers of the channels in the order of the spectra; −1: not there.
struct SpectraChannels {
  int hx = -1, hy = -1, hz = -1, ex = -1, ey = -1, rx = -1, ry = -1;
  std::size_t count = 0;
};
/// Throws InputError: a channel of the list is not defined, or there is no horizontal magnetic field.
SpectraChannels channels_of_spectra(const TextReader& in, const File& file);

/// The transfer function of one frequency, in the axes and units of the file. Throws InputError: a wrong
/// count of numbers.
magnetotelluric::Transfer transfer_of(const TextReader& in, const Block& spectra,
                                      const SpectraChannels& channels);

}  // namespace terrane::io::edi
