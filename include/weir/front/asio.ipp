// The part that both Asio headers share. Each header first binds weir::net to its Asio and the error types, and defines
// macros with the names of the two templates that are specialized here.

#include <weir/front/service.ipp>
#include <weir/front/target.ipp>

#include <weir/front/handler_wait.ipp>
#include <weir/front/running.ipp>
#include <weir/front/use_task.ipp>
