// Impedance and tipper from the spectra of an EDI file.
//
// A block contains all channels' spectra in one real matrix: the powers on its diagonal; for channels i > j,
// the real part of ⟨i j*⟩ in row i, column j and the imaginary part in row j, column i. ⟨⟩ is the mean over
// estimates, * the complex conjugate.
//
// E and H are the horizontal electric and magnetic fields, H_z is the vertical magnetic field, and R is the
// horizontal magnetic field of a remote site, or H if there is none. The impedance Z and the tipper T follow
// from ⟨E R*⟩ = Z ⟨H R*⟩ and ⟨H_z R*⟩ = T ⟨H R*⟩ (Gamble, Goubau and Clarke 1979).
//
// If the residual of a channel has power σ², the variance of its transfer function from component l of H is
// σ² Σ_km w_kl w*_ml ⟨R_m R*_k⟩ / (N − 2) with w = ⟨H R*⟩⁻¹ and components k, m of R; half of it belongs to
// the real and half to the imaginary part. The number N of independent estimates is the block's option AVGT
// or, if AVGT is a time, AVGT times the bandwidth BW. Files do not say which, so N is the smaller of the two
// values, among those above 4. Without N there are no errors.
#pragma once

#include "terrane/io/edi_file.hpp"
#include "terrane/io/magnetotellurics.hpp"

namespace terrane::io::edi {

/// Indices of the channels in the order of the spectra; −1: the channel is missing.
struct SpectraChannels {
  int hx = -1, hy = -1, hz = -1, ex = -1, ey = -1, rx = -1, ry = -1;
  std::size_t count = 0;
};
/// Throws InputError: a channel of the list is not defined, or there is no horizontal magnetic field.
SpectraChannels channels_of_spectra(const TextReader& in, const File& file);

/// The transfer function at one frequency, in the axes and units of the file. Throws InputError: a wrong
/// number of values.
magnetotelluric::Transfer transfer_of(const TextReader& in, const Block& spectra,
                                      const SpectraChannels& channels);

}  // namespace terrane::io::edi
