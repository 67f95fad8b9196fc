#pragma once

// Durations, time points, clocks and literals, which <thread> brings: sleep_for and sleep_until take them. The rest of
// <chrono>, calendars and time zones and the streams that they need, would cost each file that includes weir 60 ms.

#include <thread>
