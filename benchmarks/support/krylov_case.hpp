// Which iterations the programs of Krylov methods time: SOLVER:CELLS:ITERATIONS[:EARTH[:HERTZ[:METRES]]].
//
// EARTH: land, that of tests/support/land.hpp; marine, a sea of 3.3 S/m, four cells deep, over sediments of
// 0.5 S/m with a reservoir of 0.01 S/m under twelve of them, as surveys over the Troll field meet them. Both
// grow by 1.3 in their outer quarters and have air of 1e-8 S/m. METRES: the width of the other cells, 100.
#pragma once

#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/land.hpp"

namespace terrane::benchmarks {

struct KrylovCase {
  std::string solver;
  int cells = 0, iterations = 0;
  std::string earth = "land";
  double hertz = 1, metres = 100;

  static KrylovCase parse(const std::string& text) {
    std::vector<std::string> words;
    std::istringstream stream(text);
    for (std::string word; std::getline(stream, word, ':');) words.push_back(word);
    if (words.size() < 3 || words.size() > 6)
      throw std::invalid_argument(text + ": write SOLVER:CELLS:ITERATIONS[:EARTH[:HERTZ[:METRES]]]");
    KrylovCase made{words[0], std::atoi(words[1].c_str()), std::atoi(words[2].c_str())};
    if (words.size() > 3) made.earth = words[3];
    if (words.size() > 4) made.hertz = std::atof(words[4].c_str());
    if (words.size() > 5) made.metres = std::atof(words[5].c_str());
    if (made.earth != "land" && made.earth != "marine")
      throw std::invalid_argument(text + ": the earth is land or marine");
    return made;
  }

  test::Land land() const {
    auto made = test::land(cells, 1.3);
    auto faces = made.mesh.easting();
    for (double& face : faces) face *= metres / 100;
    made.mesh = TensorMesh(faces, faces, faces);
    if (earth == "land") return made;
    std::size_t n = 0;
    for (int k = 0; k < cells; ++k)
      for (int j = 0; j < cells; ++j)
        for (int i = 0; i < cells; ++i, ++n) {
          const int x = i - cells / 2, y = j - cells / 2, z = k - cells / 2;
          double& sigma = made.sigma[n];
          sigma = z >= 4 ? 1e-8 : z >= 0 ? 3.3 : 0.5;
          if (x >= -10 && x < 10 && y >= -10 && y < 10 && z >= -14 && z < -12) sigma = 0.01;
        }
    return made;
  }
};

}  // namespace terrane::benchmarks
