#include "runtime/balance/outside_load.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "runtime/cores/allowance.hpp"

namespace tessera::runtime {
namespace {

constexpr auto kInterval = std::chrono::seconds(1);
// A rank that ran for less than this share of the time is mostly idle: what it says is noise.
constexpr double kBusyEnough = 0.05;

std::int32_t cores() { return std::max(1, static_cast<std::int32_t>(cores::find_allowance().mask.count())); }

}  // namespace

std::optional<double> Competitors::sample(const ThreadTimes& now, std::int64_t interval) {
  const ThreadTimes d{now.ran - last_.ran, now.waited - last_.waited};
  last_ = now;
  if (static_cast<double>(d.ran) < kBusyEnough * static_cast<double>(interval)) return std::nullopt;
  const double ratio = static_cast<double>(d.waited) / static_cast<double>(d.ran);
  const double tasks = std::max(0.0, ratio - own_);
  const double change = std::abs(tasks - told_);
  if (change <= 0.25 || change <= 0.2 * told_) return std::nullopt;
  // A quarter of a task is no competitor: the noise of system and communication threads.
  told_ = tasks > 0.25 ? tasks : 0;
  return told_;
}

OutsideLoad::OutsideLoad(std::int32_t count, std::function<std::vector<std::int32_t>()> threads, Result result)
    : threads_(std::move(threads)), competitors_(count, cores()), result_(std::move(result)), last_(Clock::now()) {}

void OutsideLoad::open_files() {
  opened_ = true;
  for (const std::int32_t tid : threads_()) {
    const std::string file = "/proc/self/task/" + std::to_string(tid) + "/schedstat";
    const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd >= 0) files_.push_back(fd);
  }
}

OutsideLoad::~OutsideLoad() {
  for (const int fd : files_) close(fd);
}

ThreadTimes OutsideLoad::read() const {
  ThreadTimes sum;
  for (const int fd : files_) {
    char text[128];
    const ssize_t n = pread(fd, text, sizeof text - 1, 0);
    if (n <= 0) continue;
    text[n] = '\0';
    long long ran = 0, waited = 0;
    if (std::sscanf(text, "%lld %lld", &ran, &waited) != 2) continue;
    sum.ran += ran;
    sum.waited += waited;
  }
  return sum;
}

void OutsideLoad::turn(Clock::time_point now) {
  if (now < next(now)) return;
  if (!opened_) open_files();
  const auto interval = std::chrono::duration_cast<std::chrono::nanoseconds>(now - last_).count();
  last_ = now;
  if (const std::optional<double> tasks = competitors_.sample(read(), interval)) result_(*tasks);
}

Clock::time_point OutsideLoad::next(Clock::time_point now) const {
  return opened_ && files_.empty() ? now + std::chrono::hours(1) : last_ + kInterval;
}

}  // namespace tessera::runtime
