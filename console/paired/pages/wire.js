// How a request gets to the computer: straight, where the page comes from it, or sealed through a relay's
// boxes, by a secret that came in the fragment of the address and was sent to nobody.
import { newId } from "./signing.js";

const INFO = "switchboard relay 1 ", NONCE_BYTES = 12, POLL_MS = 30000, AGAIN_MS = 1000;
const text = new TextEncoder();

export function bytesOf(base64url) {
  return Uint8Array.from(atob(base64url.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
}

export async function straight(body, boundMs) {
  const answer = await fetch("speak", {
    method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" }, cache: "no-store", credentials: "omit",
    signal: AbortSignal.timeout(boundMs),
  });
  if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
  return answer.json();
}

// The secret as a key that only derives others, and cannot be read again.
export function secretOf(bytes) {
  return crypto.subtle.importKey("raw", bytes, "HKDF", false, ["deriveBits", "deriveKey"]);
}

async function way(secret, name) {
  const derive = (what) => ({ name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info: text.encode(`${INFO}${name} ${what}`) });
  const box = new Uint8Array(await crypto.subtle.deriveBits(derive("box"), secret, 128));
  const key = await crypto.subtle.deriveKey(derive("key"), secret, { name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]);
  return { box: Array.from(box, (one) => one.toString(16).padStart(2, "0")).join(""), key };
}

const sealing = (to, iv) => ({ name: "AES-GCM", iv, additionalData: text.encode(to.box) });

export async function through(secret) {
  const up = await way(secret, "up"), down = await way(secret, "down"), waiting = new Map();
  let after = 0, isPolling = false;

  async function open(sealed) {
    const bytes = new Uint8Array(sealed);
    const plain = await crypto.subtle.decrypt(sealing(down, bytes.slice(0, NONCE_BYTES)), down.key, bytes.slice(NONCE_BYTES));
    const letter = JSON.parse(new TextDecoder().decode(plain));
    waiting.get(letter.id)?.(JSON.parse(letter.body));
  }

  // One reader at a time: it asks for what comes after what it has, so that a reply that is lost on the way comes again.
  async function poll() {
    if (isPolling) return;
    isPolling = true;
    while (waiting.size) {
      try {
        const answer = await fetch(`box/${down.box}?after=${after}`, { cache: "no-store", credentials: "omit", signal: AbortSignal.timeout(POLL_MS) });
        if (answer.status === 200) {
          after = Number(answer.headers.get("Message-Number"));
          await open(await answer.arrayBuffer());
        } else if (answer.status !== 204) throw new Error(`HTTP ${answer.status}`);
      } catch {
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    }
    isPolling = false;
  }

  return async (body, boundMs) => {
    const id = newId(), iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
    const plain = text.encode(JSON.stringify({ id, body: JSON.stringify(body) }));
    const sealed = new Uint8Array(await crypto.subtle.encrypt(sealing(up, iv), up.key, plain));
    const reply = new Promise((resolve, reject) => {
      waiting.set(id, resolve);
      setTimeout(() => reject(new Error("No reply came.")), boundMs);
    });
    reply.catch(() => {});
    try {
      const laid = await fetch(`box/${up.box}`, { method: "POST", body: new Blob([iv, sealed]), credentials: "omit", signal: AbortSignal.timeout(boundMs) });
      if (!laid.ok) throw new Error(`HTTP ${laid.status}`);
      poll();
      return await reply;
    } finally {
      waiting.delete(id);
    }
  };
}
