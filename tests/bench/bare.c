// SPDX-License-Identifier: MIT
/*
 * A bare HTTP handler of libevent (evhttp) that answers each request with the bytes of standard
 * input: what the service is compared with. bare THREADS; prints its port.
 * make bench
 */
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/util.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define BODY_MAX 1048576

struct bare {
    char *body;
    size_t length;
    int socket;
};

static void on_request(struct evhttp_request *request, void *context)
{
    const struct bare *const bare = context;
    struct evbuffer *const body = evbuffer_new();
    if (body == NULL) {
        abort();
    }
    evbuffer_add(body, bare->body, bare->length);
    evhttp_add_header(evhttp_request_get_output_headers(request), "Content-Type",
                      "application/json");
    evhttp_send_reply(request, 200, "OK", body);
    evbuffer_free(body);
}

static void *work(void *context)
{
    struct bare *const bare = context;
    struct event_base *const base = event_base_new();
    struct evhttp *const http = base == NULL ? NULL : evhttp_new(base);
    if (http == NULL || evhttp_accept_socket(http, bare->socket) != 0) {
        abort();
    }
    evhttp_set_gencb(http, on_request, bare);
    event_base_dispatch(base);
    return NULL;
}

int main(int argc, char **argv)
{
    struct bare bare = {.body = malloc(BODY_MAX)};
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof address;
    pthread_t thread;
    const int threads = argc > 1 ? atoi(argv[1]) : 1;
    if (bare.body == NULL) {
        return 1;
    }
    bare.length = fread(bare.body, 1, BODY_MAX, stdin);
    bare.socket = socket(AF_INET, SOCK_STREAM, 0);
    if (bare.socket < 0 || evutil_make_socket_nonblocking(bare.socket) != 0 ||
        bind(bare.socket, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(bare.socket, 1024) != 0 ||
        getsockname(bare.socket, (struct sockaddr *)&address, &length) != 0) {
        perror("bare");
        return 1;
    }
    printf("http://127.0.0.1:%d/\n", ntohs(address.sin_port));
    fflush(stdout);
    for (int i = 1; i < threads; i++) {
        if (pthread_create(&thread, NULL, work, &bare) != 0) {
            return 1;
        }
    }
    (void)work(&bare);
    return 0;
}
