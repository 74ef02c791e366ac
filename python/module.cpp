// What Python cannot say by itself: programs are loaded and run, values go in and come out; tessera/__init__.py uses
// it.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <tessera/library.hpp>

namespace py = pybind11;
using namespace pybind11::literals;

namespace {

using tessera::Argument;
using tessera::Input;
using tessera::Results;

// A result that is an array or holds bytes: Python reads its memory, and may give it to the next run as it is.
struct Block {
  std::shared_ptr<const Results> results;  // which it lives in
  const Input* input;
};

py::object scalar_or_block(const std::shared_ptr<const Results>& results, const std::string& name) {
  const Input& v = (*results)[name];
  switch (v.type()) {
    case tessera::abi::Type::integer:
    case tessera::abi::Type::longint:
      return py::int_(v.get<std::int64_t>());
    case tessera::abi::Type::real:
      return py::float_(v.get<double>());
    case tessera::abi::Type::string: {
      const auto text = v.get<std::string_view>();
      PyObject* decoded = PyUnicode_DecodeUTF8(text.data(), static_cast<py::ssize_t>(text.size()), "surrogateescape");
      if (decoded == nullptr) throw py::error_already_set();
      return py::reinterpret_steal<py::object>(decoded);
    }
    default:
      return py::cast(Block{results, &v});
  }
}

Argument whole_number(py::handle given) {
  const auto v = given.cast<std::int64_t>();
  if (v == static_cast<std::int32_t>(v)) return static_cast<std::int32_t>(v);
  return v;
}

// Contiguous memory; __init__.py has seen to that.
Argument bytes_of(const py::buffer& given) {
  const py::buffer_info all = given.request();
  return std::span(static_cast<const std::byte*>(all.ptr), static_cast<std::size_t>(all.size * all.itemsize));
}

Argument argument(py::handle given) {
  if (py::isinstance<Block>(given)) return *given.cast<const Block&>().input;
  if (py::isinstance<py::int_>(given)) return whole_number(given);
  if (py::isinstance<py::float_>(given)) return given.cast<double>();
  if (py::isinstance<py::str>(given)) return given.cast<std::string>();
  return bytes_of(given.cast<py::buffer>());
}

std::shared_ptr<const Results> run(const tessera::Program& program, const py::list& given, int ranks, int threads,
                                   const std::string& balancer, const std::string& more, bool quiet,
                                   std::optional<std::int32_t> communicator, bool everywhere) {
  std::vector<Argument> arguments;
  for (const py::handle a : given) arguments.push_back(argument(a));
  tessera::Options o;
  o.ranks = ranks;
  o.threads = threads;
  o.balancer = balancer;
  o.more = more;
  o.quiet = quiet;
  o.communicator = communicator;
  o.results_everywhere = everywhere;
  const py::gil_scoped_release others_go_on;
  return std::make_shared<const Results>(tessera::run(program, arguments, o));
}

}  // namespace

PYBIND11_MODULE(_tessera, m) {
  // With its exit code, which pybind11's own translation of exceptions has no room for.
  static PyObject* run_error = nullptr;
  m.def("raise_as", [](const py::object& type) { run_error = type.inc_ref().ptr(); });
  py::register_exception_translator([](std::exception_ptr p) {
    try {
      if (p) std::rethrow_exception(p);
    } catch (const tessera::RunError& e) {
      const py::object error = py::handle(run_error)(py::str(e.what()), e.exit_code());
      PyErr_SetObject(run_error, error.ptr());
    }
  });

  py::class_<Block>(m, "Block", py::buffer_protocol())
      .def_buffer([](const Block& b) {
        const auto bytes = b.input->bytes();
        return py::buffer_info(const_cast<std::byte*>(bytes.data()), 1, py::format_descriptor<std::uint8_t>::format(),
                               1, {bytes.size()}, {1}, true);
      })
      .def_property_readonly("name", [](const Block& b) { return b.input->name(); })
      .def("__len__", [](const Block& b) { return b.input->bytes().size(); });
  py::class_<Results, std::shared_ptr<Results>>(m, "Results")
      .def("value", [](const std::shared_ptr<Results>& r, const std::string& name) { return scalar_or_block(r, name); })
      .def_property_readonly("names", &Results::names)
      .def_property_readonly("here", &Results::here)
      .def_property_readonly("summary", &Results::summary);
  py::class_<tessera::Program>(m, "Program").def(py::init(&tessera::Program::load), "file"_a).def("run", run);
}
