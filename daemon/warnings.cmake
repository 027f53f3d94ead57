# SPDX-License-Identifier: Apache-2.0
# One interface target that every target of ours links: warnings, hardening, sanitizers.
add_library(planed_options INTERFACE)
target_compile_options(planed_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast
  -Wnon-virtual-dtor -Woverloaded-virtual -Werror)
target_compile_definitions(planed_options INTERFACE _GLIBCXX_ASSERTIONS)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(planed_options INTERFACE -Wduplicated-cond -Wlogical-op)
endif()
# What Debian builds its own packages with.
if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo" AND NOT PLANED_SANITIZE)
  target_compile_options(planed_options INTERFACE -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  target_link_options(planed_options INTERFACE -Wl,-z,relro,-z,now)
endif()
if(PLANED_SANITIZE)
  # -Wmaybe-uninitialized is unreliable under sanitizers (GCC bug 105562).
  target_compile_options(planed_options INTERFACE
    -fsanitize=${PLANED_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(planed_options INTERFACE -fsanitize=${PLANED_SANITIZE})
endif()
