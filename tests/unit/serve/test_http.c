// SPDX-License-Identifier: MIT
#include "support.h"

#define GET "GET /a?b=c HTTP/1.1\r\nHost: h\r\n"

static int status_of(const char *text)
{
    struct roof_http_request request;
    return roof_http_read(&request, text, strlen(text));
}

static void test_parts(void **unused)
{
    static const char text[] = "POST /a%20b?c=d&e HTTP/1.1\r\nhOST: name:80\r\nAccept:  x/y \t\r\n"
                               "Origin: http://o\r\nAuthorization: Bearer t\r\n"
                               "Content-Length: 12\r\nExpect: 100-Continue\r\n\r\nbody";
    struct roof_http_request r;
    (void)unused;
    assert_int_equal(roof_http_read(&r, text, sizeof text - 1), 0);
    assert_true(roof_span_is(r.method, "POST"));
    assert_true(roof_span_is(r.path, "/a%20b"));
    assert_true(roof_span_is(r.query, "c=d&e"));
    assert_true(roof_span_is(r.host, "name:80"));
    assert_true(roof_span_is(r.accept, "x/y"));
    assert_true(roof_span_is(r.origin, "http://o"));
    assert_true(roof_span_is(r.authorization, "Bearer t"));
    assert_int_equal(r.body_length, 12);
    assert_int_equal(r.head_length, sizeof text - 1 - 4);
    assert_true(r.minor && r.keep && r.expects);
}

/* A head is whole with its last byte, and not before. */
static void test_beginnings(void **unused)
{
    static const char text[] = GET "\r\n";
    (void)unused;
    for (size_t length = 0; length < sizeof text - 1; length++) {
        struct roof_http_request r;
        assert_int_equal(roof_http_read(&r, text, length), 100);
    }
    assert_int_equal(status_of(text), 0);
}

static void test_connections(void **unused)
{
    static const struct {
        const char *text;
        bool keep;
    } rows[] = {{"GET / HTTP/1.1\r\nHost: h\r\n\r\n", true},
                {"GET / HTTP/1.0\r\nHost: h\r\n\r\n", false},
                {"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", false},
                {"GET / HTTP/1.1\r\nHost: h\r\nConnection: x, Close , keep-alive\r\n\r\n", false},
                {"GET / HTTP/1.0\r\nHost: h\r\nConnection: Keep-Alive\r\n\r\n", true}};
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct roof_http_request r;
        assert_int_equal(roof_http_read(&r, rows[i].text, strlen(rows[i].text)), 0);
        assert_int_equal(r.keep, rows[i].keep);
    }
}

static void test_refused(void **unused)
{
    static const struct {
        int status;
        const char *text;
    } rows[] = {
        {400, "\r\n\r\n"},
        {400, "GET / HTTP/1.1\r\n\r\n"},
        {400, "GET /  HTTP/1.1\r\nHost: h\r\n\r\n"},
        {400, "GET a HTTP/1.1\r\nHost: h\r\n\r\n"},
        {400, "G(T / HTTP/1.1\r\nHost: h\r\n\r\n"},
        {400, "GET / HTTP/1.1 \r\nHost: h\r\n\r\n"},
        {400, "GET / http/1.1\r\nHost: h\r\n\r\n"},
        {400, "G{T / HTTP/1.1\r\nHost: h\r\n\r\n"},
        {400, "G[T / HTTP/1.1\r\nHost: h\r\n\r\n"},
        {400, "GET /\x7f HTTP/1.1\r\nHost: h\r\n\r\n"},
        {400, "GET /\t HTTP/1.1\r\nHost: h\r\n\r\n"},
        {400, "GET / HTTP/x.1\r\nHost: h\r\n\r\n"},
        {400, "GET / HTTP/1-1\r\nHost: h\r\n\r\n"},
        {400, "GET / HTTP/1.x\r\nHost: h\r\n\r\n"},
        {400, "GET /\r\nHost: h\r\n\r\n"},
        {400, "GET\r\nHost: h\r\n\r\n"},
        {0, "a|Z~9 / HTTP/1.1\r\nHost:\th\t\r\n\r\n"},
        {505, "GET / HTTP/2.0\r\nHost: h\r\n\r\n"},
        {400, GET "Host: h\r\n\r\n"},
        {400, GET "Origin: a\r\nOrigin: a\r\n\r\n"},
        {400, GET " folded\r\n\r\n"},
        {400, GET "a : b\r\n\r\n"},
        {400, GET ": b\r\n\r\n"},
        {400, GET "a: \x01\r\n\r\n"},
        {400, GET "a: b\nc: d\r\n\r\n"},
        {400, GET "a: b\rc\r\n\r\n"},
        {400, GET "Content-Length: 1\r\nContent-Length: 1\r\n\r\n"},
        {400, GET "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"},
        {411, GET "Transfer-Encoding: chunked\r\n\r\n"},
        {400, GET "Content-Length: 1 1\r\n\r\n"},
        {400, GET "Content-Length: +1\r\n\r\n"},
        {400, GET "Content-Length: \r\n\r\n"},
        {0, GET "Content-Length: 1048576\r\n\r\n"},
        {413, GET "Content-Length: 1048577\r\n\r\n"},
        {413, GET "Content-Length: 18446744073709551617\r\n\r\n"},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(status_of(rows[i].text), rows[i].status);
    }
}

/* Fills a text with a head of so many bytes, of which the target has so many. */
static void test_lengths(void **unused)
{
    static char text[ROOF_HTTP_HEAD_MAX + 8];
    struct roof_http_request r;
    (void)unused;
    for (int more = 0; more < 2; more++) {
        const int target = ROOF_HTTP_TARGET_MAX - 1 + more;
        (void)snprintf(text, sizeof text, "GET /%0*d HTTP/1.1\r\nHost: h\r\n\r\n", target, 0);
        assert_int_equal(roof_http_read(&r, text, strlen(text)), more == 0 ? 0 : 414);
        const int used = (int)strlen(GET "a: \r\n\r\n");
        (void)snprintf(text, sizeof text, GET "a: %0*d\r\n\r\n", ROOF_HTTP_HEAD_MAX - used + more,
                       0);
        assert_int_equal(strlen(text), ROOF_HTTP_HEAD_MAX + more);
        assert_int_equal(roof_http_read(&r, text, strlen(text)), more == 0 ? 0 : 431);
    }
}

static void test_decode(void **unused)
{
    static const struct {
        const char *text;
        const char *decoded; /* NULL: refused */
    } rows[] = {
        {"/a%41%2f", "/aA/"}, {"%c3%a9", "\xc3\xa9"}, {"", ""},       {"%00", NULL},
        {"%0a", NULL},        {"%7f", NULL},          {"%4", NULL},   {"%", NULL},
        {"%g1", NULL},        {"12345678", NULL},     {"+%2B", "++"}, {"1234567", "1234567"}};
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char out[8];
        const struct roof_span span = {rows[i].text, strlen(rows[i].text)};
        assert_int_equal(roof_http_decode(out, sizeof out, span), rows[i].decoded != NULL);
        if (rows[i].decoded != NULL) {
            assert_string_equal(out, rows[i].decoded);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),       cmocka_unit_test(test_beginnings),
        cmocka_unit_test(test_connections), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_lengths),     cmocka_unit_test(test_decode)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
