// The phone's key, which never leaves the browser, and what it signs. Kept in IndexedDB, because only
// there a key that cannot be exported outlives the page.

const CURVE = { name: "ECDSA", namedCurve: "P-256" }, SIGNS = { name: "ECDSA", hash: "SHA-256" };
const WORDS = "switchboard phone 1\n";

export function base64(bytes) {
  return btoa(String.fromCharCode(...new Uint8Array(bytes)));
}

export function newId() {
  return base64(crypto.getRandomValues(new Uint8Array(18))).replaceAll("+", "-").replaceAll("/", "_");
}

function done(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

async function store(mode) {
  const asked = indexedDB.open("switchboard", 1);
  asked.onupgradeneeded = () => asked.result.createObjectStore("kept");
  return (await done(asked)).transaction("kept", mode).objectStore("kept");
}

export async function kept(name) { return done((await store("readonly")).get(name)); }
export async function keep(name, value) { return done((await store("readwrite")).put(value, name)); }
export async function forget(name) { return done((await store("readwrite")).delete(name)); }

async function sign(key, whose, text) {
  return base64(await crypto.subtle.sign(SIGNS, key, new TextEncoder().encode(`${WORDS}${whose}\n${text}`)));
}

// What pairs this phone. The key is kept before its code is sent: the reply may be lost.
export async function pairing(code) {
  let made = await kept("pairing");
  if (made?.code !== code) {
    const pair = await crypto.subtle.generateKey(CURVE, false, ["sign"]);
    made = { code, key: pair.privateKey, open: base64(await crypto.subtle.exportKey("raw", pair.publicKey)) };
    await keep("pairing", made);
  }
  return { key: made.key, body: { type: "pair", code, public: made.open, signature: await sign(made.key, code, "pair") } };
}

// A statement as it is sent, and sent again: signed once, so that again does nothing new.
export async function signed(phone, said, atMs) {
  const statement = JSON.stringify({ ...said, id: newId(), at_ms: Math.round(atMs) });
  return { type: "signed", phone_id: phone.id, statement, signature: await sign(phone.key, phone.id, statement) };
}
