// The outcome of a study as a picture: time and efficiency against ranks, and for the largest
// number of ranks how busy each rank was over time.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "balancer/units.hpp"
#include "cli/simulate/interval.hpp"
#include "cli/simulate/study.hpp"

namespace tessera::cli {
namespace {

constexpr double kWidth = 900, kLeft = 70, kRight = 160, kChart = 260, kTop = 40, kGap = 70;
// Tell each other apart also without colours seen well (Okabe and Ito).
constexpr const char* kColours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                    "#E69F00", "#56B4E9", "#000000", "#999999"};

std::string colour(std::size_t i) { return kColours[i % std::size(kColours)]; }

std::string text(double x, double y, const std::string& words, const std::string& more = "") {
  std::string safe;
  for (const char c : words) {
    safe += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  }
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", x, y, more, safe);
}

// A chart of one quantity against the number of ranks; both axes are logarithmic, or y goes from 0
// to 1.
class Chart {
 public:
  Chart(const std::vector<StudyRow>& rows, double top, bool efficiency) : top_(top), efficiency_(efficiency) {
    for (const StudyRow& r : rows) {
      if (!r.outcome) continue;
      least_ranks_ = std::min(least_ranks_, static_cast<double>(r.ranks));
      most_ranks_ = std::max(most_ranks_, static_cast<double>(r.ranks));
      low_ = std::min(low_, value(r));
      high_ = std::max(high_, value(r));
      if (!efficiency_ && r.outcome->bound > 0) low_ = std::min(low_, static_cast<double>(r.outcome->bound) / 1e9);
    }
    if (efficiency_) {
      low_ = 0;
      high_ = 1;
    } else {
      low_ = std::pow(10, std::floor(std::log10(std::max(low_, 1e-9))));
      high_ = std::pow(10, std::ceil(std::log10(std::max(high_, 1e-9) * 1.0001)));
    }
  }

  double x(double ranks) const {
    const double span = std::log2(most_ranks_ / least_ranks_);
    const double part = span > 0 ? std::log2(ranks / least_ranks_) / span : 0.5;
    return kLeft + part * (kWidth - kLeft - kRight);
  }
  double y(double v) const {
    const double part = efficiency_ ? v : std::log10(std::max(v, low_) / low_) / std::log10(high_ / low_);
    return top_ + kChart * (1 - part);
  }
  double value(const StudyRow& r) const {
    return efficiency_ ? r.outcome->efficiency() : static_cast<double>(r.outcome->finished) / 1e9;
  }

  std::string axes(const std::vector<std::int32_t>& counts) const {
    std::string out = text(kLeft, top_ - 12, efficiency_ ? "efficiency against the bound" : "time");
    const auto line = [&](double at, const std::string& label) {
      out += fmt::format("<line x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>\n", kLeft,
                         kWidth - kRight, at, at);
      out += text(kLeft - 8, at + 4, label, " text-anchor=\"end\"");
    };
    if (efficiency_) {
      for (int tenth = 0; tenth <= 10; tenth += 2) line(y(tenth / 10.0), fmt::format("{} %", tenth * 10));
    } else {
      for (double v = low_; v <= high_ * 1.001; v *= 10) {
        line(y(v), balancer::duration_text(static_cast<balancer::Time>(v * 1e9 + 0.5)));
      }
    }
    double last = -100;
    for (const std::int32_t c : counts) {
      if (x(c) - last < 34) continue;
      last = x(c);
      out += text(last, top_ + kChart + 18, std::to_string(c), " text-anchor=\"middle\"");
    }
    return out + text((kLeft + kWidth - kRight) / 2, top_ + kChart + 36, "ranks", " text-anchor=\"middle\"");
  }

 private:
  double top_;
  bool efficiency_;
  double least_ranks_ = 1e9, most_ranks_ = 1;
  double low_ = 1e300, high_ = 0;
};

// Names at the ends of the lines, pushed apart where they would lie over each other.
std::string legend(std::vector<std::pair<double, std::size_t>> ends, const std::vector<std::string>& names) {
  std::sort(ends.begin(), ends.end());
  std::string out;
  double last = -100;
  for (const auto& [y, i] : ends) {
    last = std::max(y, last + 14);
    out += text(kWidth - kRight + 10, last + 4, names[i],
                fmt::format(" fill=\"{}\"", i + 1 == names.size() ? "#555" : colour(i)));
  }
  return out;
}

// By number of ranks, what each seed gave under one balancer.
std::map<std::int32_t, std::vector<double>> values_of(const Chart& c, const std::vector<StudyRow>& rows,
                                                      const std::string& balancer) {
  std::map<std::int32_t, std::vector<double>> values;
  for (const StudyRow& r : rows) {
    if (r.balancer == balancer && r.outcome) values[r.ranks].push_back(c.value(r));
  }
  return values;
}

// What no schedule can beat: the least of the seeds.
std::string bound_line(const Chart& c, const std::vector<StudyRow>& rows,
                       std::vector<std::pair<double, std::size_t>>& ends, std::size_t number) {
  std::map<std::int32_t, double> bounds;
  for (const StudyRow& r : rows) {
    if (!r.outcome) continue;
    const double bound = static_cast<double>(r.outcome->bound) / 1e9;
    const auto [at, fresh] = bounds.try_emplace(r.ranks, bound);
    if (!fresh) at->second = std::min(at->second, bound);
  }
  std::string points;
  for (const auto& [ranks, bound] : bounds) points += fmt::format("{:.1f},{:.1f} ", c.x(ranks), c.y(bound));
  if (bounds.empty()) return "";
  ends.emplace_back(c.y(bounds.rbegin()->second), number);
  return fmt::format(
      "<polyline class=\"bound\" points=\"{}\" fill=\"none\" stroke=\"#555\" stroke-width=\"1.5\" "
      "stroke-dasharray=\"5 4\"/>\n",
      points);
}

std::string chart(const Study& study, const std::vector<StudyRow>& rows, const std::vector<std::string>& names,
                  double top, bool efficiency) {
  const Chart c(rows, top, efficiency);
  std::vector<std::int32_t> counts;
  for (const StudyRow& r : rows) counts.push_back(r.ranks);
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  std::string out = c.axes(counts);
  std::vector<std::pair<double, std::size_t>> ends;
  // Bands below all lines: where the median is, of several seeds.
  std::string bands, lines;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::string points, lower, upper;
    double end = -1;
    bool several = false;
    for (const auto& [ranks, values] : values_of(c, rows, names[i])) {
      const MedianInterval m = median_interval(values);
      end = c.y(m.median);
      points += fmt::format("{:.1f},{:.1f} ", c.x(ranks), end);
      lower += fmt::format("{:.1f},{:.1f} ", c.x(ranks), c.y(m.low));
      upper = fmt::format("{:.1f},{:.1f} ", c.x(ranks), c.y(m.high)) + upper;
      lines += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n", c.x(ranks), end, colour(i));
      if (values.size() > 1) {
        several = true;
        lines += fmt::format("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\" stroke=\"{3}\"/>\n",
                             c.x(ranks), c.y(m.low), c.y(m.high), colour(i));
      }
    }
    if (end < 0) continue;
    if (several) {
      bands += fmt::format("<polygon class=\"band\" points=\"{}{}\" fill=\"{}\" fill-opacity=\"0.2\"/>\n", lower, upper,
                           colour(i));
    }
    lines +=
        fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", points, colour(i));
    ends.emplace_back(end, i);
  }
  if (!efficiency) bands += bound_line(c, rows, ends, names.size());
  std::vector<std::string> labels = names;
  labels.emplace_back("bound");
  return out + bands + lines + legend(std::move(ends), labels);
}

// Where a time is, on the axis that all strips have together.
class TimeAxis {
 public:
  explicit TimeAxis(balancer::Time end) : end_(std::max<balancer::Time>(1, end)) {}
  double x(balancer::Time t) const {
    return kLeft + (kWidth - kLeft - kRight) * static_cast<double>(t) / static_cast<double>(end_);
  }
  // Ticks at 1, 2 or 5 times a power of ten, with lines through all strips.
  std::string ticks(double top, double bottom) const {
    double step = std::pow(10, std::floor(std::log10(static_cast<double>(end_) / 4)));
    for (const double more : {2.0, 2.5, 2.0}) {
      if (static_cast<double>(end_) / step <= 8) break;
      step *= more;
    }
    std::string out;
    for (double t = 0; t <= static_cast<double>(end_); t += step) {
      const double at = x(static_cast<balancer::Time>(t));
      out += fmt::format(
          "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\" stroke=\"#bbb\" "
          "stroke-width=\"0.5\"/>\n",
          at, top, bottom);
      out += text(at, bottom + 14, t == 0 ? "0" : balancer::duration_text(static_cast<balancer::Time>(t)),
                  " text-anchor=\"middle\"");
    }
    return out;
  }

 private:
  balancer::Time end_;
};

// One row of pixels per rank (or per some), time from left to right; dark is busy. A line where no schedule could end.
std::string strip(const Study& study, const StudyRow& r, const TimeAxis& axis, double top, double& height) {
  const balancer::simulator::Outcome& o = *r.outcome;
  constexpr std::size_t kMostLines = 64;
  const auto ranks = static_cast<std::size_t>(r.ranks);
  const std::size_t lines = std::min(ranks, kMostLines);
  const double line_height = std::max(3.0, std::min(14.0, 200.0 / static_cast<double>(lines)));
  const auto slices = std::max<std::size_t>(
      1, std::min(study.slices, static_cast<std::size_t>(o.finished / std::max<balancer::Time>(o.slice, 1) + 1)));
  std::string out =
      text(kLeft, top - 6,
           fmt::format("{} on {} ranks: busy (dark) and not; {}, no schedule before {} (dashed)", r.balancer, r.ranks,
                       balancer::duration_text(o.finished), balancer::duration_text(o.bound)));
  for (std::size_t l = 0; l < lines; ++l) {
    const std::size_t first = l * ranks / lines, end = (l + 1) * ranks / lines;
    const double y = top + static_cast<double>(l) * line_height;
    if (l == 0 || l + 1 == lines) {
      out += text(kLeft - 8, y + line_height, std::to_string(l == 0 ? first : end - 1),
                  " text-anchor=\"end\" font-size=\"10\"");
    }
    for (std::size_t s = 0; s < slices; ++s) {
      double busy = 0;
      for (std::size_t k = first; k < end; ++k) {
        busy += static_cast<double>(o.utilisation[k * study.slices + s]);
      }
      const auto begin = static_cast<balancer::Time>(s) * o.slice;
      const balancer::Time length = std::min(o.slice, o.finished - begin);
      const double share =
          length <= 0 ? 0
                      : busy / static_cast<double>(length) / study.cluster.threads / static_cast<double>(end - first);
      if (share < 0.005) continue;
      out += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\" "
          "fill=\"#0072B2\" fill-opacity=\"{:.2f}\"/>\n",
          axis.x(begin), y, axis.x(begin + length) - axis.x(begin) + 0.1, line_height - 0.5, std::min(1.0, share));
    }
  }
  height = static_cast<double>(lines) * line_height;
  out += fmt::format(
      "<rect x=\"{}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"none\" "
      "stroke=\"#aaa\"/>\n",
      kLeft, top, axis.x(o.finished) - kLeft, height);
  return out + fmt::format(
                   "<line class=\"bound\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\" "
                   "stroke=\"#D55E00\" stroke-width=\"1.5\" stroke-dasharray=\"5 4\"/>\n",
                   axis.x(o.bound), top - 2, top + height + 2);
}

// The first run of the balancer on the largest number of ranks that it ran on.
const StudyRow* largest_of(const std::vector<StudyRow>& rows, const std::string& name) {
  const StudyRow* largest = nullptr;
  for (const StudyRow& r : rows) {
    if (r.balancer == name && r.outcome && (largest == nullptr || r.ranks > largest->ranks)) largest = &r;
  }
  return largest;
}

}  // namespace

std::string svg_text(const Study& study, const std::vector<StudyRow>& rows) {
  std::vector<std::string> names;
  for (const StudyRow& r : rows) {
    if (std::find(names.begin(), names.end(), r.balancer) == names.end()) names.push_back(r.balancer);
  }
  std::string body =
      text(kLeft, 24, study.workload + " on " + study.cluster_name, " font-size=\"16\" font-weight=\"bold\"");
  double top = kTop + 30;
  if (study.counts.size() > 1) {
    body += chart(study, rows, names, top, false);
    top += kChart + kGap;
    body += chart(study, rows, names, top, true);
    top += kChart + kGap;
  }
  std::vector<const StudyRow*> largest;
  balancer::Time end = 0;
  for (const std::string& name : names) {
    if (const StudyRow* r = largest_of(rows, name); r != nullptr) {
      largest.push_back(r);
      end = std::max({end, r->outcome->finished, r->outcome->bound});
    }
  }
  const TimeAxis axis(end);
  std::string strips;
  const double first = top;
  for (const StudyRow* r : largest) {
    double height = 0;
    strips += strip(study, *r, axis, top, height);
    top += height + 34;
  }
  if (!largest.empty()) body += axis.ticks(first, top - 28) + strips;
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1:.0f}\" "
             "viewBox=\"0 0 {0} {1:.0f}\" font-family=\"sans-serif\" font-size=\"12\">\n"
             "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
             kWidth, top) +
         body + "</svg>\n";
}

}  // namespace tessera::cli
