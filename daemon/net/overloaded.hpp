// SPDX-License-Identifier: Apache-2.0
// One function out of several, for std::visit: one for each alternative of a variant.
#pragma once

namespace planed {

template <class... Fs>
struct Overloaded : Fs... {
    using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

}  // namespace planed
