#include "terrane/cli/command.hpp"

int main(int argc, char** argv) { return terrane::cli::command(argc, argv); }
