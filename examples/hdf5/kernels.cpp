// HDF5 in kernels. The library may be in one thread at a time only: `hdf5` is the process's lock.
#include <hdf5.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <string>
#include <tessera.hpp>
#include <vector>

namespace {

std::mutex hdf5;

// One of HDF5's handles, with the function that closes it.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t), const std::string &what) : id_(id), close_(close) {
    if (id < 0) throw std::runtime_error("HDF5 can't " + what);
  }
  ~Handle() { close_(id_); }
  Handle(const Handle &) = delete;
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

void check(herr_t status, const std::string &what) {
  if (status < 0) throw std::runtime_error("HDF5 can't " + what);
}

std::string strip_file(const std::string &file, int k) { return file + "." + std::to_string(k); }

Handle create(const std::string &file) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // what fails is thrown, not printed
  return {H5Fcreate(file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose, "create " + file};
}

}  // namespace

extern "C" void waves(int first, int rows, int columns, int all, tessera::Output &strip) {
  const auto out = strip.create<double>(static_cast<std::size_t>(rows) * columns);
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c)
      out[r * columns + c] = std::sin(20.0 * (first + r) / all) * std::cos(20.0 * c / columns);
  }
}

extern "C" void write_strip(const char *file, int k, int columns, const tessera::Input &strip, tessera::Output &written) {
  const auto data = strip.span<double>();
  const std::string name = strip_file(file, k);
  const std::lock_guard alone(hdf5);
  const Handle h = create(name);
  const hsize_t size[] = {data.size() / columns, static_cast<hsize_t>(columns)};
  const Handle space(H5Screate_simple(2, size, nullptr), H5Sclose, "describe a strip");
  const Handle set(H5Dcreate2(h, "field", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose,
                   "create a dataset in " + name);
  check(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data()), "write " + name);
  written = static_cast<int>(data.size());
}

// One dataset that is those of all strips, one below the other: nothing is copied.
extern "C" void join_strips(const char *file, int rows, int columns, int strips, int, tessera::Output &joined) {
  const std::lock_guard alone(hdf5);
  const hsize_t all[] = {static_cast<hsize_t>(rows), static_cast<hsize_t>(columns)};
  const Handle space(H5Screate_simple(2, all, nullptr), H5Sclose, "describe the field");
  const Handle how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "describe the field");
  for (int k = 0; k < strips; ++k) {
    const hsize_t first = rows * k / strips, count = rows * (k + 1) / strips - first;
    const hsize_t at[] = {first, 0}, size[] = {count, all[1]};
    const Handle source(H5Screate_simple(2, size, nullptr), H5Sclose, "describe a strip");
    check(H5Sselect_hyperslab(space, H5S_SELECT_SET, at, nullptr, size, nullptr), "choose rows");
    // Found beside the file, wherever both are.
    const std::string name = std::filesystem::path(strip_file(file, k)).filename();
    check(H5Pset_virtual(how, space, name.c_str(), "field", source), "map a strip");
  }
  H5Sselect_all(space);
  const Handle h = create(file);
  const Handle set(H5Dcreate2(h, "field", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, how, H5P_DEFAULT), H5Dclose,
                   std::string("create the dataset of ") + file);
  joined = 1;
}

extern "C" void look(const char *file, int) {
  const std::lock_guard alone(hdf5);
  const Handle h(H5Fopen(file, H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, std::string("open ") + file);
  const Handle set(H5Dopen2(h, "field", H5P_DEFAULT), H5Dclose, std::string("open the dataset of ") + file);
  const Handle space(H5Dget_space(set), H5Sclose, "describe the field");
  std::vector<double> all(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  check(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data()), std::string("read ") + file);
  const auto [least, most] = std::minmax_element(all.begin(), all.end());
  printf("%zu numbers from %.3f to %.3f\n", all.size(), *least, *most);
}
