"""Which headers pass the gateway, and how the head that a service gets is written."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.types import Scope

from app.web.errors import Malformed
from app.web.gateway.headers import passed_out, passes_in, passes_out
from app.web.gateway.request_head import RequestHeads, framing_of
from app.web.origins import Origin

HEADS = RequestHeads(authority=b"127.0.0.1:9", origin=Origin("https", "chopho.example", 443))

SPOOFED = [
    "X-User",
    "X-User-Id",
    "x-userid",
    "X-USER-EMAIL",
    "X_User",
    "X-User_Id",
    "x_user_id",
    "X-Account",
    "X-Account-Id",
    "X-Internal",
    "X-Internal-Token",
    "X-Internal-User",
    "x_internal_token",
    "X-Remote-User",
    "Remote-User",
    "REMOTE_USER",
    "X-Remote-Addr",
    "X-Auth-User",
    "X-Authenticated-User",
    "X-Auth-Request-Email",
    "X-Forwarded-User",
    "X-Forwarded-Email",
    "X-Role",
    "X-Roles",
    "X-Groups",
    "X-Tenant-Id",
    "X-Admin",
    "X-Is-Admin",
    "X-Principal",
    "X-MS-Client-Principal",
    "X-Subject",
    "X-Sub",
    "X-Uid",
    "X-Scopes",
    "X-Session",
    "X-Session-Id",
    "X-Impersonate",
    "X-On-Behalf-Of",
    "X-Customer-Id",
    "X-Owner",
    "X-Operator",
    "X-Identity",
    "X-Amzn-Oidc-Identity",
    "X-JWT-Claim-Sub",
    "X-SSO-User",
    "Tenant",
    "User",
    "Identity",
    "From",
    "Cookie",
    "cookie2",
    "X-Original-URL",
    "X-Rewrite-Url",
    "X-Http-Method-Override",
    "X-HTTP-Method",
    "X-Method-Override",
    "X-Host",
    "X-Original-Host",
    "X-Forward-For",
    "Forwarded-For",
    "X-Originating-IP",
    "CF-Connecting-IP",
    "CF-Connecting-IPv6",
    "X-Azure-SocketIP",
    "X-Envoy-External-Address",
    "X-Caller",
    "X-Caller-Id",
    "X-Actor",
    "X-Member-Id",
    "X-Person-Id",
    "X-Staff",
    "X-Is-Staff",
    "X-Consumer-Id",
    "X-Spiffe-Id",
    "X-Sudo",
    "X-Privilege",
    "X-Entitlements",
    "X-Sid",
    "X-Org-Id",
    "X-Request-URI",
    "X-Url",
    "X-Path",
    "X-Real-Host",
    "X-Query-String",
    "X-Middleware-Subrequest",
    "Front-End-Https",
    "X-Scheme",
    "X-Url-Scheme",
    "X-Server-Name",
    "X-Server-Port",
    "X-Port",
    "X-Script-Name",
    "X-Client-IP",
    "True-Client-IP",
    "X-Real-IP",
    "X-Chopho-Account",
    "X-Forwarded-Proto",
    "X-Forwarded-Host",
    "X-Forwarded-For",
    "Forwarded",
    "Via",
    "X-Request-Id",
    "X-Request-Start",
    "X-Request-Deadline-Ms",
    "Proxy-Authorization",
    "Proxy-Connection",
    "Proxy",
    "TE",
    "Trailer",
    "Trailers",
    "Transfer-Encoding",
    "Upgrade",
    "Keep-Alive",
    "Connection",
    "HTTP2-Settings",
    "Expect",
    "Host",
    "Content-Length",
]

PASSING = [
    "Authorization",
    "User-Agent",
    "Accept",
    "Accept-Language",
    "Accept-Encoding",
    "Content-Type",
    "Content-Encoding",
    "Range",
    "If-None-Match",
    "If-Modified-Since",
    "Idempotency-Key",
    "Origin",
    "Referer",
    "Cache-Control",
    "Last-Event-Id",
    "Traceparent",
    "Tracestate",
    "X-Custom",
    "X-Api-Version",
    "X-Api-Key",
    "X-Access-Token",
    "Upgrade-Insecure-Requests",
    "X-Device-Id",
    "Sec-Fetch-Site",
    "Sec-CH-UA-Platform",
    "X-Transport",
    "X-Shipping",
    "X-Description",
    "Prefer",
]


@pytest.mark.parametrize("name", SPOOFED)
def test_a_header_that_says_who_calls_or_is_for_one_hop_does_not_pass(name: str) -> None:
    assert not passes_in(name.lower().encode())


@pytest.mark.parametrize("name", PASSING)
def test_every_other_header_passes(name: str) -> None:
    assert passes_in(name.lower().encode())


@pytest.mark.parametrize("name", ["x.custom", "x custom", "x_custom", "x\tcustom", "é", "", "x" * 65, "x:y"])
def test_a_name_that_another_program_could_read_as_another_does_not_pass(name: str) -> None:
    assert not passes_in(name.encode())
    assert not passes_out(name.encode())


def scope(*headers: tuple[bytes, bytes], **more: Any) -> Scope:
    base = {"method": "GET", "query_string": b"", "state": {"request_id": "r1"}, "client": ("203.0.113.7", 1)}
    return {**base, "headers": list(headers), **more}


def head(*headers: tuple[bytes, bytes], **more: Any) -> list[bytes]:
    written = HEADS.head(scope(*headers, **more), b"/echo", more=b"", token=None)
    assert written.endswith(b"\r\n\r\n")
    return written[:-4].split(b"\r\n")


def test_what_the_gateway_says_itself_is_in_every_head() -> None:
    assert head() == [
        b"GET /echo HTTP/1.1",
        b"host: 127.0.0.1:9",
        b"x-forwarded-proto: https",
        b"x-forwarded-host: chopho.example",
        b"x-forwarded-for: 203.0.113.7",
        b"x-request-id: r1",
    ]


def test_connection_strips_what_it_names_and_nothing_of_ours() -> None:
    named = b"close, X-Custom, authorization,X-Forwarded-For, host, X-Request-Id, x-internal-token"
    written = head(
        (b"connection", named), (b"x-custom", b"1"), (b"authorization", b"Bearer x"), (b"x-b", b"2")
    )
    assert b"x-b: 2" in written
    assert not any(line.startswith((b"x-custom", b"authorization", b"connection")) for line in written)
    assert {b"host: 127.0.0.1:9", b"x-forwarded-for: 203.0.113.7", b"x-request-id: r1"} <= set(written)


def test_two_connection_lines_are_one_list() -> None:
    written = head((b"connection", b"x-a"), (b"connection", b"X-B"), (b"x-a", b"1"), (b"x-b", b"1"))
    assert len(written) == 6


@pytest.mark.parametrize(
    "value", [b"a\r\nx-internal-token: forged", b"a\nb", b"a\rb", b"a\0b", b"\x1b[31m", b"\x7f"]
)
def test_a_value_that_could_end_a_line_is_refused(value: bytes) -> None:
    with pytest.raises(Malformed):
        head((b"x-custom", value))


def test_other_bytes_pass_as_they_are() -> None:
    assert b"x-custom: \xe9 \xf0\x9f\xa7\xa7\t" in head((b"x-custom", b"\xe9 \xf0\x9f\xa7\xa7\t"))


def test_a_query_passes_as_it_is_and_in_plain_characters() -> None:
    assert head(query_string="q=áo&x=%00/../".encode())[0] == b"GET /echo?q=%C3%A1o&x=%00/../ HTTP/1.1"


FORWARDED: list[tuple[bool, list[bytes], bytes]] = [
    (True, [], b"127.0.0.1"),
    (True, [b"203.0.113.9"], b"203.0.113.9, 127.0.0.1"),
    (True, [b"1.1.1.1, 2.2.2.2", b"3.3.3.3"], b"1.1.1.1, 2.2.2.2, 3.3.3.3, 127.0.0.1"),
    (True, [b"1.1.1.1, evil, 3.3.3.3"], b"3.3.3.3, 127.0.0.1"),
    (True, [b"[2001:db8::1]:443"], b"2001:db8::1, 127.0.0.1"),
    (True, [b",".join([b"1.1.1.1"] * 500)], b", ".join([b"1.1.1.1"] * 20 + [b"127.0.0.1"])),
    (False, [b"1.1.1.1"], b"127.0.0.1"),
]


@pytest.mark.parametrize(("is_vouched", "lines", "said"), FORWARDED)
def test_the_chain_of_addresses_is_appended_to_and_believed_from_trusted_proxies_alone(
    *, is_vouched: bool, lines: list[bytes], said: bytes
) -> None:
    headers = [(b"x-forwarded-for", line) for line in lines]
    more = {"chopho.vouched": is_vouched, "chopho.peer": "127.0.0.1"}
    assert b"x-forwarded-for: " + said in head(*headers, **more)


@pytest.mark.parametrize(
    "headers",
    [
        [(b"content-length", b"5"), (b"transfer-encoding", b"chunked")],
        [(b"content-length", b"5"), (b"content-length", b"5")],
        [(b"transfer-encoding", b"chunked"), (b"transfer-encoding", b"identity")],
        [(b"transfer-encoding", b"gzip, chunked")],
        [(b"transfer-encoding", b"xchunked")],
        [(b"content-length", b"+5")],
        [(b"content-length", b"5, 5")],
        [(b"content-length", b"9" * 30)],
        [(b"content-length", b"\xb2")],
    ],
)
def test_a_body_whose_length_is_told_in_two_ways_is_refused(headers: list[tuple[bytes, bytes]]) -> None:
    with pytest.raises(Malformed):
        framing_of(scope(*headers, method="POST"))


def test_a_get_has_no_body() -> None:
    assert framing_of(scope((b"content-length", b"0"))) == b""
    for told in ((b"content-length", b"1"), (b"transfer-encoding", b"chunked")):
        with pytest.raises(Malformed):
            framing_of(scope(told))


def test_of_an_answer_passes_what_a_service_may_say() -> None:
    closed = [
        *(b"set-cookie", b"server", b"x-powered-by", b"location", b"connection", b"keep-alive", b"x-private"),
        *(
            b"access-control-allow-origin",
            b"content-security-policy",
            b"x-internal-debug",
            b"x-accel-redirect",
        ),
        *(
            b"transfer-encoding",
            b"content-length",
            b"strict-transport-security",
            b"clear-site-data",
            b"x_odd",
        ),
    ]
    values = {b"connection": b"X-Private"}
    headers = [(name, values.get(name, b"1")) for name in closed]
    kept = [(b"content-type", b"text/plain"), (b"etag", b'"1"'), (b"retry-after", b"2"), (b"x-total", b"3")]
    assert passed_out([*headers, *kept, (b"x-bad", b"a\nb")]) == kept
