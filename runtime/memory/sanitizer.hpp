// AddressSanitizer in a process whose runtime was built without it: `tessera run --sanitize address` compiles the
// kernels with it, and has its library loaded first.
#pragma once

namespace tessera::runtime {

bool sanitizer_loaded();
// Who touches these bytes is reported, where kernels are compiled with it. Until they are freed.
void forbid(const void* from, const void* to);
// What to call when it has reported something and is about to end the process.
void on_sanitizer_report(void (*callback)());

}  // namespace tessera::runtime
