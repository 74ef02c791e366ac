// Fragmented programs as functions: what tessera/library.hpp declares.
#include "tessera/library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <mutex>
#include <thread>

#include "runtime/launch/options.hpp"
#include "runtime/node/arguments.hpp"
#include "runtime/node/node.hpp"
#include "runtime/start/caller.hpp"

// What the sub around `main` calls for each of its names (compiler/semantics/resolve_program.cpp): on rank 0.
extern "C" void tessera_result(int parameter, const tessera::abi::Df& x) {
  tessera::runtime::Caller* caller = tessera::runtime::thread_worker->node.facts.options.caller;
  caller->results[static_cast<std::size_t>(parameter)] = tessera::runtime::ValueRef(tessera::abi::retain(x.value));
}

namespace tessera {
namespace {

using abi::Type;
using runtime::Caller;

std::string signature(const abi::Program& p) { return "main(" + runtime::parameters_of_main(p) + ")"; }

// Text of a scalar as the runtime reads it, or nothing: it does not fit the parameter.
std::optional<std::string> text_for(char kind, const abi::Value& v) {
  const bool whole = v.type == Type::integer || v.type == Type::longint;
  const std::int64_t n = v.type == Type::integer ? v.i : v.l;
  if (kind == 'i' && whole && n == static_cast<std::int32_t>(n)) return std::to_string(n);
  if (kind == 'l' && whole) return std::to_string(n);
  if (kind == 'r' && whole) return std::to_string(n);
  if (kind == 'r' && v.type == Type::real) return fmt::format("{}", v.r);
  if (kind == 's' && v.type == Type::string) return std::string(static_cast<const char*>(v.data), v.size);
  return std::nullopt;
}

// Fills in what `main` gets; returns what is wrong with it, for a person.
std::string give(const abi::Program& p, const std::vector<Argument>& arguments, Caller& caller,
                 std::vector<std::string>& texts) {
  caller.given.resize(p.main_params);
  caller.results.resize(p.main_params);
  texts.resize(p.main_params);
  std::size_t next = 0;
  for (std::uint32_t i = 0; i < p.main_params; ++i) {
    const char kind = p.main_layout[i];
    if (kind == 'n') continue;
    if (next++ >= arguments.size()) continue;
    const DF& given = arguments[next - 1].value();
    if (kind == 'v') {
      caller.given[i] = runtime::ValueRef(abi::retain(given.value));
    } else if (auto text = text_for(kind, *given.value)) {
      texts[i] = std::move(*text);
    } else {
      const bool scalar = given.value->type != Type::bytes;
      return fmt::format("{}: argument {} of {} is {}{}, but `{}` needs {}", p.name, next, signature(p),
                         type_name(given.value->type), scalar ? " (" + given.cast_string() + ")" : "", p.main_names[i],
                         runtime::wanted_by(kind));
    }
  }
  if (next == arguments.size()) return {};
  return fmt::format("{}: {} takes {} argument{}, but {} {} given (its names are results, and not given)", p.name,
                     signature(p), next, next == 1 ? "" : "s", arguments.size(),
                     arguments.size() == 1 ? "was" : "were");
}

runtime::RunOptions run_options(const Options& o) {
  runtime::RunOptions r = launch::parse_options(o.more);
  if (!r.journal.empty()) throw launch::OptionsError("--journal: not for a program that another one calls");
  if (o.ranks < 1) throw launch::OptionsError("there must be at least one rank, not " + std::to_string(o.ranks));
  if (o.threads < 0) throw launch::OptionsError("there can't be " + std::to_string(o.threads) + " threads");
  r.transport = "inproc";
  r.ranks = o.ranks;
  if (o.threads != 0) r.threads = o.threads;
  if (!o.balancer.empty()) {
    if (o.balancer.find('\'') != std::string::npos) throw launch::OptionsError("unknown balancer `" + o.balancer + "`");
    const runtime::RunOptions named = launch::parse_options("--balancer '" + o.balancer + "'");
    r.balancer = named.balancer;
  }
  r.quiet = r.quiet || o.quiet;
  r.progress = false;
  return r;
}

}  // namespace

Program Program::load(const std::string& file) {
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw RunError(dlerror(), runtime::kExitUsage);
  void* program = dlsym(library, "tessera_program");
  if (program == nullptr) {
    throw RunError(file + " is no program: `tessera build --library` makes them", runtime::kExitUsage);
  }
  return Program(reinterpret_cast<const abi::Program* (*)()>(program)());
}

const Input& Results::operator[](std::string_view name) const {
  const auto found = values_.find(name);
  if (found != values_.end()) return *found->second;
  std::string text = "no result `" + std::string(name) + "`: ";
  if (!here()) {
    text += "rank 0 has the results; Options::results_everywhere gives them to all";
  } else if (names_.empty()) {
    text += "`main` has no parameter that is a name";
  } else {
    text += "the names among the parameters of `main` are";
    for (const std::string& n : names_) text += " `" + n + "`";
  }
  throw std::out_of_range(text);
}

Results run(const Program& program, const std::vector<Argument>& arguments, const Options& options) {
  static std::mutex one_at_a_time;
  const std::lock_guard hold(one_at_a_time);
  const abi::Program& p = program.table();
  Caller caller;
  caller.communicator = options.communicator;
  caller.everywhere = options.results_everywhere;
  runtime::RunOptions o;
  std::vector<std::string> texts;
  std::string wrong;  // of rank 0's counts: it tells the others
  try {
    o = run_options(options);
    // What another version means by its table, it alone knows; run() says so.
    if (p.abi_version == abi::kAbiVersion) wrong = give(p, arguments, caller, texts);
  } catch (const launch::OptionsError& e) {
    wrong = e.what();
  }
  o.caller = &caller;
  int code = 0;
  // A thread of its own: what the runtime keeps of a thread is gone with it.
  std::thread([&] { code = runtime::run(p, o, texts, wrong); }).join();
  if (code != runtime::kExitOk) {
    if (caller.report.empty()) caller.report = fmt::format("the run has ended with exit code {}", code);
    throw RunError(caller.report, code);
  }
  Results r;
  r.summary_ = std::move(caller.summary);
  for (std::uint32_t i = 0; i < p.main_params; ++i) {
    if (p.main_layout[i] != 'n') continue;
    r.names_.emplace_back(p.main_names[i]);
    if (i >= caller.results.size() || !caller.results[i]) continue;
    DF value;
    value.label = p.main_names[i];
    value.value = caller.results[i].take();
    r.values_.emplace(p.main_names[i], std::make_shared<const Input>(value));
  }
  return r;
}

}  // namespace tessera
