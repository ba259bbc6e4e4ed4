// half: a header of the user's own whose name ricci has too.
#pragma once

inline int half_of(int x) { return x / 2; }
