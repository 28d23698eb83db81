"""An OpenID provider on loopback, on Authlib's server side: discovery, JWKS, the device flow.

It runs in a thread, or as a process: `python -m tests.oidc.provider`, which prints its address. Its
own doors, under `/test/`, stand for the person at the browser and for the provider's administrator.
"""

import json
import os
import sys
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

from authlib.oauth2.rfc6749 import AuthorizationServer, ClientMixin, OAuth2Request
from authlib.oauth2.rfc6749.requests import BasicOAuth2Payload
from authlib.oauth2.rfc8628 import (
    DeviceAuthorizationEndpoint,
    DeviceCodeGrant,
    DeviceCredentialDict,
)
from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey

CLIENT = "switchboard-tests"
SECRET_CLIENT, SECRET = "switchboard-confidential", "client-secret-0d1f"


class Client(ClientMixin):
    def __init__(self, client_id: str, secret: str = "") -> None:
        self.client_id, self.secret = client_id, secret

    def get_client_id(self) -> str:
        return self.client_id

    def check_client_secret(self, client_secret: str) -> bool:
        return client_secret == self.secret

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method == ("client_secret_basic" if self.secret else "none")

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type == DeviceCodeGrant.GRANT_TYPE


class _Request(OAuth2Request):
    @property
    def form(self) -> dict[str, str]:
        found: dict[str, str] = self.payload.data
        return found


class Provider(AuthorizationServer):
    """What the provider knows: clients, keys, device codes, and who has allowed which."""

    def __init__(self) -> None:
        super().__init__(scopes_supported=["openid", "email"])
        self.issuer = ""
        self.clients = {CLIENT: Client(CLIENT), SECRET_CLIENT: Client(SECRET_CLIENT, SECRET)}
        self.keys: list[Any] = [RSAKey.generate_key(2048, {"kid": "first", "use": "sig"})]
        self.devices: dict[str, DeviceCredentialDict] = {}
        self.allowed: dict[str, dict[str, Any]] = {}
        self.keeps_nonce = True
        self.interval = 1
        self.expires_in = 60
        self.to_slow_down = 0
        self.polls: list[float] = []
        self.asked: list[str] = []
        self.register_grant(_Grant)
        self.register_endpoint(_Endpoint(self))
        self.register_token_generator("default", self._tokens)

    # --- what Authlib asks ----------

    def query_client(self, client_id: str) -> Client | None:
        return self.clients.get(client_id)

    def save_token(self, token: Any, request: Any) -> None:
        pass

    def send_signal(self, name: str, *args: Any, **kwargs: Any) -> None:
        pass

    def create_oauth2_request(self, request: Any) -> OAuth2Request:
        if isinstance(request, OAuth2Request):
            return request
        path, body, headers = request
        made = _Request("POST", self.issuer + path, headers=headers)
        made.payload = BasicOAuth2Payload(body)
        return made

    def handle_response(self, status: int, body: Any, headers: Any) -> tuple[int, Any]:
        return status, body

    def _tokens(self, client: Any, user: Any, **_: Any) -> dict[str, Any]:
        nonce = user.pop("_nonce", "")
        claims = {"nonce": nonce} if nonce and self.keeps_nonce else {}
        claims |= {key: value for key, value in user.items() if not key.startswith("_")}
        return {
            "access_token": "access-token-of-the-provider",
            "token_type": "Bearer",
            "expires_in": 300,
            "id_token": self.id_token(client.get_client_id(), **claims),
        }

    # --- what it does ----------

    def id_token(self, client_id: str = CLIENT, **claims: Any) -> str:
        """Sign an ID token by the newest key; claims stand over the usual ones, None drops one."""
        now = int(time.time())
        said = {"iss": self.issuer, "aud": client_id, "iat": now, "exp": now + 300} | claims
        kept = {name: value for name, value in said.items() if value is not None}
        return self.signed(kept)

    def signed(self, claims: dict[str, Any], **header: Any) -> str:
        key = self.keys[-1]
        algorithm = "ES256" if isinstance(key, ECKey) else "RS256"
        said = {"alg": algorithm, "kid": key.kid} | header
        return jwt.encode(
            {name: value for name, value in said.items() if value is not None}, claims, key
        )

    def rotate(self, *, forget: bool = True, ec: bool = False) -> None:
        """Sign by a new key from now on, and forget the old ones."""
        made: Any
        named = {"kid": f"key-{len(self.keys)}-{time.time_ns()}", "use": "sig"}
        made = ECKey.generate_key("P-256", named) if ec else RSAKey.generate_key(2048, named)
        self.keys = [made] if forget else [*self.keys, made]

    def jwks(self) -> dict[str, Any]:
        return {"keys": [key.as_dict(private=False) for key in self.keys]}

    def metadata(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "jwks_uri": f"{self.issuer}/jwks",
            "token_endpoint": f"{self.issuer}/token",
            "device_authorization_endpoint": f"{self.issuer}/device",
        }

    def get(self, path: str) -> tuple[int, Any]:
        self.asked.append(path)
        match path:
            case "/.well-known/openid-configuration":
                return 200, self.metadata()
            case "/jwks":
                return 200, self.jwks()
            case _:
                return 404, {"error": "not_found"}

    def post(self, path: str, body: dict[str, str], headers: dict[str, str]) -> tuple[int, Any]:
        self.asked.append(path)
        match path:
            case "/device":
                return self.create_endpoint_response(_Endpoint.ENDPOINT_NAME, (path, body, headers))
            case "/token":
                self.polls.append(time.monotonic())
                return self.create_token_response((path, body, headers))
            case "/test/allow":
                self.allowed[body.pop("user_code")] = {
                    key: value == "true" if value in ("true", "false") else value
                    for key, value in body.items()
                }
            case "/test/deny":
                self.allowed[body["user_code"]] = {"_denied": True}
            case "/test/rotate":
                self.rotate(ec="ec" in body)
            case "/test/set":
                for name, value in body.items():
                    setattr(self, name, json.loads(value))
            case _:
                return 404, {"error": "not_found"}
        return 200, {}


class _Endpoint(DeviceAuthorizationEndpoint):
    server: Provider

    def get_verification_uri(self) -> str:
        return f"{self.server.issuer}/activate"

    def create_endpoint_response(self, request: Any) -> Any:
        self.INTERVAL, self.EXPIRES_IN = self.server.interval, self.server.expires_in
        self.nonce = request.payload.data.get("nonce", "")
        return super().create_endpoint_response(request)

    def save_device_credential(self, client_id: str, scope: str, data: dict[str, Any]) -> None:
        kept = {"client_id": client_id, "scope": scope, "nonce": self.nonce}
        ends = time.time() + data["expires_in"]
        self.server.devices[data["device_code"]] = DeviceCredentialDict(
            data | kept | {"expires_at": ends}
        )


class _Grant(DeviceCodeGrant):
    server: Provider

    def query_device_credential(self, device_code: str) -> DeviceCredentialDict | None:
        return self.server.devices.get(device_code)

    def query_user_grant(self, user_code: str) -> tuple[dict[str, Any], bool] | None:
        found = self.server.allowed.get(user_code)
        if found is None:
            return None
        nonce = next(
            one["nonce"] for one in self.server.devices.values() if one["user_code"] == user_code
        )
        return dict(found) | {"_nonce": nonce}, "_denied" not in found

    def should_slow_down(self, credential: Any) -> bool:
        self.server.to_slow_down -= 1
        return self.server.to_slow_down >= 0


class _Handler(BaseHTTPRequestHandler):
    provider: Provider

    def do_GET(self) -> None:
        self._answer(*self.provider.get(urlsplit(self.path).path))

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        headers = dict(self.headers.items())
        self._answer(*self.provider.post(self.path, dict(parse_qsl(data)), headers))

    def _answer(self, status: int, body: Any) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def provider() -> Iterator[Provider]:
    """Serve a provider on a free port of loopback for the length of a `with` block."""
    made = Provider()
    handler = type("Handler", (_Handler,), {"provider": made})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        made.issuer = f"http://127.0.0.1:{server.server_address[1]}"
        serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        serving.start()
        try:
            yield made
        finally:
            server.shutdown()
            serving.join()


def b64(data: bytes | dict[str, Any]) -> str:
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


if __name__ == "__main__":
    with provider() as one:
        print(one.issuer, flush=True)
        sys.stdin.read()
