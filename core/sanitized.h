// Which sanitizers a file is compiled with, in the words of gcc and of clang: 1 or 0.
#ifndef PERMC_CORE_SANITIZED_H
#define PERMC_CORE_SANITIZED_H

#ifdef __has_feature
#define SANITIZED_ADDRESS __has_feature(address_sanitizer)
#define SANITIZED_THREAD __has_feature(thread_sanitizer)
#else
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED_ADDRESS 1
#else
#define SANITIZED_ADDRESS 0
#endif
#ifdef __SANITIZE_THREAD__
#define SANITIZED_THREAD 1
#else
#define SANITIZED_THREAD 0
#endif
#endif
#define SANITIZED (SANITIZED_ADDRESS || SANITIZED_THREAD)

#endif
