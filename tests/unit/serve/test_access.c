// SPDX-License-Identifier: MIT
#include "support.h"

static int access_of(const char *host, const char *origin, const char *authorization,
                     const char *token)
{
    const char *message = NULL;
    const struct roof_http_request request = {
        .host = {host, strlen(host)},
        .origin = {origin, origin == NULL ? 0 : strlen(origin)},
        .authorization = {authorization, authorization == NULL ? 0 : strlen(authorization)}};
    const int status = roof_access("a.test,b.test", token, &request, &message);
    assert_true((message == NULL) == (status == 0));
    return status;
}

static void test_hosts(void **unused)
{
    static const char *const good[] = {"localhost", "LOCALHOST:1", "127.0.0.1", "10.0.0.1:80",
                                       "[::1]",     "[fe80::1]:8", "b.test",    "A.test:9"};
    static const char *const bad[] = {"",           ":",        "evil.test",     "a.test.evil.test",
                                      "xlocalhost", "a.test:x", "a.test:1:2",    "[::1",
                                      "::1",        "b",        "a.test,b.test", "1.2.3.4.evil"};
    (void)unused;
    for (size_t i = 0; i < COUNT(good); i++) {
        assert_int_equal(access_of(good[i], NULL, NULL, NULL), 0);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(access_of(bad[i], NULL, NULL, NULL), 403);
    }
}

static void test_origins(void **unused)
{
    (void)unused;
    assert_int_equal(access_of("localhost:8080", "http://localhost:8080", NULL, NULL), 0);
    assert_int_equal(access_of("a.test", "https://A.test", NULL, NULL), 0);
    assert_int_equal(access_of("localhost:8080", "http://localhost", NULL, NULL), 403);
    assert_int_equal(access_of("localhost", "http://localhost.evil.test", NULL, NULL), 403);
    assert_int_equal(access_of("localhost", "ftp://localhost", NULL, NULL), 403);
    assert_int_equal(access_of("localhost", "null", NULL, NULL), 403);
    assert_int_equal(access_of("localhost", "", NULL, NULL), 403);
}

static void test_tokens(void **unused)
{
    (void)unused;
    assert_int_equal(access_of("localhost", NULL, "Bearer abc", "abc"), 0);
    assert_int_equal(access_of("localhost", NULL, "bearer abc", "abc"), 0);
    assert_int_equal(access_of("localhost", NULL, "Bearer abC", "abc"), 401);
    assert_int_equal(access_of("localhost", NULL, "Bearer abcd", "abc"), 401);
    assert_int_equal(access_of("localhost", NULL, "Bearer  abc", "abc"), 401);
    assert_int_equal(access_of("localhost", NULL, "Basic  abc", "abc"), 401);
    assert_int_equal(access_of("localhost", NULL, NULL, "abc"), 401);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hosts), cmocka_unit_test(test_origins),
                                       cmocka_unit_test(test_tokens)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
