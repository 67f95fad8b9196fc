#pragma once

// select(op...): waits for the first of several operations.

#include <weir/wait/select.hpp>
