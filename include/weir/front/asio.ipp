// What both Asio headers share. They bind weir::net to their Asio, its error types, and the names of the two templates
// that are specialized here.

#include <weir/front/service.ipp>
#include <weir/front/target.ipp>

#include <weir/front/handler_wait.ipp>
#include <weir/front/running.ipp>
#include <weir/front/use_task.ipp>
