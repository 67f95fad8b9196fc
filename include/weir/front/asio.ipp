// The part that both Asio headers share, in this order. Each header first binds weir::net to its Asio and the error
// types, and defines macros with the names of the two templates that are specialized here.

// clang-format off
#include <weir/front/context_timers.ipp>
#include <weir/front/resumption.ipp>
#include <weir/front/service.ipp>
#include <weir/front/target.ipp>
#include <weir/front/signature.ipp>
#include <weir/front/place.ipp>
#include <weir/front/handler_wait.ipp>
#include <weir/front/running.ipp>
#include <weir/front/use_task.ipp>
// clang-format on
