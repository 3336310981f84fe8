// SPDX-License-Identifier: MIT
/* The functions of libevent for the service, loaded when it begins: loading libevent at every start
 * would take 0.1 ms of each command. Each function here has the name and the type of a libevent
 * function and forwards the call. In a program that is linked with libevent this file is empty. */
#include "server.h"

#ifndef ROOF_EVENT_LIBRARY
enum roof_status cli_event_load(struct roof_error *error)
{
    (void)error;
    return ROOF_OK;
}
#else
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/util.h>
#include <stdarg.h>

#include "base/base.h"
#include "measure/library.h"

/* F(type, name, parameters, arguments) is for functions that return a value, and P for others. */
#define FUNCTIONS(F, P)                                                                            \
    F(struct event_base *, event_base_new, (void), ())                                             \
    F(int, event_base_dispatch, (struct event_base * base), (base))                                \
    F(int, event_base_loopbreak, (struct event_base * base), (base))                               \
    P(event_base_free, (struct event_base * base), (base))                                         \
    F(struct event *, event_new,                                                                   \
      (struct event_base * base, evutil_socket_t socket, short what, event_callback_fn call,       \
       void *context),                                                                             \
      (base, socket, what, call, context))                                                         \
    F(int, event_add, (struct event * event, const struct timeval *time), (event, time))           \
    F(int, event_del, (struct event * event), (event))                                             \
    P(event_free, (struct event * event), (event))                                                 \
    F(int, evutil_closesocket, (evutil_socket_t socket), (socket))                                 \
    F(int, evutil_make_listen_socket_reuseable, (evutil_socket_t socket), (socket))                \
    F(int, evutil_make_socket_closeonexec, (evutil_socket_t socket), (socket))                     \
    F(int, evutil_make_socket_nonblocking, (evutil_socket_t socket), (socket))                     \
    F(int, evutil_parse_sockaddr_port, (const char *text, struct sockaddr *out, int *length),      \
      (text, out, length))                                                                         \
    F(struct bufferevent *, bufferevent_socket_new,                                                \
      (struct event_base * base, evutil_socket_t socket, int options), (base, socket, options))    \
    P(bufferevent_free, (struct bufferevent * buffer), (buffer))                                   \
    P(bufferevent_setcb,                                                                           \
      (struct bufferevent * buffer, bufferevent_data_cb read, bufferevent_data_cb write,           \
       bufferevent_event_cb event, void *context),                                                 \
      (buffer, read, write, event, context))                                                       \
    F(int, bufferevent_enable, (struct bufferevent * buffer, short what), (buffer, what))          \
    P(bufferevent_setwatermark,                                                                    \
      (struct bufferevent * buffer, short what, size_t low, size_t high),                          \
      (buffer, what, low, high))                                                                   \
    F(int, bufferevent_set_timeouts,                                                               \
      (struct bufferevent * buffer, const struct timeval *read, const struct timeval *write),      \
      (buffer, read, write))                                                                       \
    P(bufferevent_trigger, (struct bufferevent * buffer, short what, int options),                 \
      (buffer, what, options))                                                                     \
    F(int, bufferevent_write, (struct bufferevent * buffer, const void *data, size_t size),        \
      (buffer, data, size))                                                                        \
    F(evutil_socket_t, bufferevent_getfd, (struct bufferevent * buffer), (buffer))                 \
    F(struct evbuffer *, bufferevent_get_input, (struct bufferevent * buffer), (buffer))           \
    F(struct evbuffer *, bufferevent_get_output, (struct bufferevent * buffer), (buffer))          \
    F(size_t, evbuffer_get_length, (const struct evbuffer *buffer), (buffer))                      \
    F(unsigned char *, evbuffer_pullup, (struct evbuffer * buffer, ev_ssize_t size),               \
      (buffer, size))                                                                              \
    F(int, evbuffer_drain, (struct evbuffer * buffer, size_t size), (buffer, size))                \
    F(int, evbuffer_add, (struct evbuffer * buffer, const void *data, size_t size),                \
      (buffer, data, size))                                                                        \
    F(int, evbuffer_add_reference,                                                                 \
      (struct evbuffer * buffer, const void *data, size_t size, evbuffer_ref_cleanup_cb cleanup,   \
       void *context),                                                                             \
      (buffer, data, size, cleanup, context))                                                      \
    F(int, evbuffer_add_vprintf, (struct evbuffer * buffer, const char *format, va_list values),   \
      (buffer, format, values))

#define POINTER(type_, name_, parameters_, arguments_) type_(*name_) parameters_;
#define POINTER_OF_NONE(name_, parameters_, arguments_) void(*name_) parameters_;
static struct calls {
    FUNCTIONS(POINTER, POINTER_OF_NONE)
} calls;

#define ROW(type_, name_, parameters_, arguments_) ROOF_SYMBOL(calls, name_),
#define ROW_OF_NONE(name_, parameters_, arguments_) ROOF_SYMBOL(calls, name_),
static const struct roof_symbol symbols[] = {FUNCTIONS(ROW, ROW_OF_NONE)};

#define PASS(type_, name_, parameters_, arguments_)                                                \
    type_ name_ parameters_                                                                        \
    {                                                                                              \
        return calls.name_ arguments_;                                                             \
    }
#define PASS_TO_NONE(name_, parameters_, arguments_)                                               \
    void name_ parameters_                                                                         \
    {                                                                                              \
        calls.name_ arguments_;                                                                    \
    }
/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): libevent has other names */
FUNCTIONS(PASS, PASS_TO_NONE)

int evbuffer_add_printf(struct evbuffer *buffer, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    const int added = calls.evbuffer_add_vprintf(buffer, format, values);
    va_end(values);
    return added;
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

enum roof_status cli_event_load(struct roof_error *error)
{
    static const char *const names[] = {ROOF_EVENT_LIBRARY, NULL};
    struct roof_library library; /* stays open */
    TRY(roof_library_open(&library, names, "libevent", error));
    return roof_library_find(&library, &calls, symbols, COUNT(symbols), error);
}
#endif
