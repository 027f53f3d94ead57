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
  # In tests' own code accesses through a pointer are left to the address sanitizer, which sees the null and the freed
  # ones as well: UBSan's checks of them are a third of the time that compiling tests takes. They come after the words
  # above, which would ask for them again.
  if(PLANED_SANITIZE MATCHES "address.*undefined")
    set(left_out null,alignment,object-size,vptr,pointer-overflow,nonnull-attribute,returns-nonnull-attribute)
    target_compile_options(planed_options INTERFACE
      "$<$<BOOL:$<TARGET_PROPERTY:PLANED_OWN_CODE_OF_TESTS>>:-fno-sanitize=${left_out}>")
  endif()
endif()
