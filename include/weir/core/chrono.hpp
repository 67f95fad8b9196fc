#pragma once

// Durations, time points, clocks and literals. <thread> declares them, since sleep_for and sleep_until take them. The
// rest of <chrono>, calendars and time zones with their streams, would cost each file that includes weir 60 ms.

#include <thread>
