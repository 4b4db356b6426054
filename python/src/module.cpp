// terrane._core: the engine as Python sees it. Everything public is in the Python layer above.
#include "module.hpp"

#include <new>

#include "terrane/base/error.hpp"
#include "terrane/base/version.hpp"
#include "terrane/parallel/device/device.hpp"

namespace terrane::python {

namespace {

/// A class of terrane.errors with the three parts of the message.
void raise(const char* name, const Error& error) {
  nb::object type = nb::module_::import_("terrane.errors").attr(name);
  PyErr_SetObject(type.ptr(), type(error.where(), error.problem(), error.next()).ptr());
}

}  // namespace

void bind_errors(nb::module_&) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Cancelled&) {
      PyErr_SetNone(PyExc_KeyboardInterrupt);
    } catch (const ShapeError& error) {
      raise("ShapeError", error);
    } catch (const InputError& error) {
      raise("InputError", error);
    } catch (const FileError& error) {
      raise("FileError", error);
    } catch (const MemoryError& error) {
      raise("MemoryError", error);
    } catch (const UnsupportedError& error) {
      raise("UnsupportedError", error);
    } catch (const Error& error) {
      raise("Error", error);
    }
  });
}

}  // namespace terrane::python

NB_MODULE(_core, m) {
  using namespace terrane::python;
  nb::set_leak_warnings(false);
  m.attr("version") = std::string(terrane::version());
  m.attr("commit") = std::string(terrane::commit());
  m.def("version_line", [] { return terrane::version_line(); });
  m.def("devices", [] {
    nb::list all;
    all.append("cpu");
    for (int i = 0, count = terrane::gpu_count(); i < count; ++i)
      all.append(terrane::to_string(terrane::Device{terrane::Device::Kind::cuda, i}));
    return all;
  });
  bind_errors(m);
  bind_files(m);
  bind_datasets(m);
  bind_jobs(m);
  bind_physics(m);
}
